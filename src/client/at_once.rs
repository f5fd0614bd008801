//! How many of something may be under way at once.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// At most this many.
    Most(u32),
    /// Any number.
    Unlimited,
}

impl Serialize for AtOnce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AtOnce::Most(number) => number.serialize(serializer),
            AtOnce::Unlimited => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for AtOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AtOnce, D::Error> {
        deserializer.deserialize_any(NumberOrUnlimited)
    }
}

struct NumberOrUnlimited;

impl Visitor<'_> for NumberOrUnlimited {
    type Value = AtOnce;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, or \"unlimited\"")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<AtOnce, E> {
        let found = de::Unexpected::Signed(number);
        u32::try_from(number).map(AtOnce::Most).map_err(|_| E::invalid_value(found, &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<AtOnce, E> {
        match text {
            "unlimited" => Ok(AtOnce::Unlimited),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}
