//! The master seed, read in decimal or hex and written in hex.
//!
//! Hex strings, because readers of CSV and JSON lose whole numbers above 2^53.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The one number from which all random numbers follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Default for Seed {
    fn default() -> Seed {
        Seed(42)
    }
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Seed, String> {
        let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => text.parse(),
        };
        parsed.map(Seed).map_err(|_| {
            format!(
                "\"{text}\" is not a seed; write a whole number below 2^64, in decimal or as 0x…"
            )
        })
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seed, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = Seed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a seed such as 42 or \"0x2a\"")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Seed, E> {
                u64::try_from(number).map(Seed).map_err(|_| E::custom("a seed is not negative"))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Seed, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_in_both_bases_and_written_in_hex() {
        assert_eq!("42".parse(), Ok(Seed(42)));
        assert_eq!("0x2a".parse(), Ok(Seed(42)));
        assert_eq!("18446744073709551615".parse(), Ok(Seed(u64::MAX)));
        assert_eq!(Seed(u64::MAX).to_string(), "0xffffffffffffffff");
        for bad in ["-1", "1.5", "0xg", "", "18446744073709551616"] {
            assert!(bad.parse::<Seed>().is_err(), "{bad}");
        }
    }
}
