//! Time stamps.

use crate::units::NANOS_PER_SECOND;

/// Nanoseconds of a number such as `5` or `5.25` in a unit of so many nanoseconds, exactly; below
/// 10^10 s, which is the year 2286.
pub(super) fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    // What is finer than 10^-18 units is far below a nanosecond.
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10u128.pow(fraction.len() as u32);
    let part = fraction.parse::<u128>().ok()? * u128::from(unit) / scale;
    let nanos = u128::from(whole.parse::<u64>().ok()?) * u128::from(unit) + part;
    (nanos < 10_000_000_000 * u128::from(NANOS_PER_SECOND)).then_some(nanos as u64)
}

/// Nanoseconds since 1970 of `YYYY-MM-DD hh:mm:ss[.fraction][+hh[:mm]]`.
pub(super) fn date_time(text: &str) -> Option<u64> {
    let (date, clock) = text.split_once([' ', 'T'])?;
    let digits = |part: &&str| part.bytes().all(|b| b.is_ascii_digit());
    let mut date =
        date.splitn(3, '-').map(|part| part.parse::<u64>().ok().filter(|_| digits(&part)));
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, offset) = match clock.rfind(['+', '-']) {
        Some(sign) => (&clock[..sign], Some(&clock[sign..])),
        None => (clock.trim_end_matches('Z'), None),
    };
    let mut clock = clock.splitn(3, ':');
    let hour: u64 = clock.next()?.parse().ok()?;
    let minute: u64 = clock.next()?.parse().ok()?;
    let (second, fraction) = clock.next().map(|s| s.split_once('.').unwrap_or((s, "0")))?;
    let second: u64 = second.parse().ok()?;
    let digits = fraction.len();
    if digits > 9 || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let nanos = fraction.parse::<u64>().ok()? * 10u64.pow(9 - digits as u32);
    let local = days_since_1970(year, month, day)? * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(apply_offset(local, offset)? * NANOS_PER_SECOND + nanos)
}

fn apply_offset(local: u64, offset: Option<&str>) -> Option<u64> {
    let Some(offset) = offset else { return Some(local) };
    let (hours, minutes) = offset[1..].split_once(':').unwrap_or((&offset[1..], "00"));
    let two = |text: &str, below: u64| {
        let digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u64>().ok().filter(|n| digits && *n < below)
    };
    let seconds = two(hours, 24)? * 3_600 + two(minutes, 60)? * 60;
    if offset.starts_with('+') { local.checked_sub(seconds) } else { local.checked_add(seconds) }
}

/// Days from 1970-01-01 in the Gregorian calendar.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    if !(1970..=2200).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    let years: u64 = (1970..year).map(|y| 365 + u64::from(leap(y))).sum();
    let months: u64 = lengths[..month as usize - 1].iter().sum();
    Some(years + months + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let s = |text| decimal(text, NANOS_PER_SECOND);
        assert_eq!(s("5"), Some(5 * NANOS_PER_SECOND));
        assert_eq!(s("0.000000001"), Some(1));
        assert_eq!(s("61.114"), Some(61_114_000_000));
        assert_eq!(decimal("0.5", 1_000_000), Some(500_000));
        for bad in [
            "",
            ".",
            "5.",
            ".5",
            "-1",
            "+1",
            "1e3",
            "1_0",
            "nan",
            "10000000000",
            "99999999999999999999999",
        ] {
            assert_eq!(s(bad), None, "{bad}");
        }
    }

    #[test]
    fn time_stamps_are_counted_from_1970() {
        assert_eq!(date_time("1970-01-01 00:00:00"), Some(0));
        assert_eq!(date_time("2023-11-16 18:17:03.9799600"), Some(1_700_158_623_979_960_000));
        for end in ["Z", "", "+00", "+00:00"] {
            let text = format!("2024-02-29 00:00:00{end}");
            assert_eq!(date_time(&text), Some(1_709_164_800_000_000_000), "{end}");
        }
        for bad in
            ["2023-02-29 00:00:00", "2023-13-01 00:00:00", "18:17:03", "2023-11-16 24:00:00", ""]
        {
            assert_eq!(date_time(bad), None, "{bad}");
        }
    }
}
