//! Quantities as a person reads them: three significant digits, a unit, thousands separated. `–` is what isn't known.

use nccl_report_analyze::units::{ExecTime, Timestamp};

/// What stands where a number isn't known.
pub(super) const NONE: &str = "–";
/// Between a number and its unit: they stay on one line.
const SPACE: char = '\u{a0}';

/// A count, exact: `1,234,567`.
pub(super) fn count(value: u64) -> String {
    group(&value.to_string())
}

/// A measure with three significant digits: `0.0123`, `1.20`, `12,300`.
pub(super) fn significant(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let rounded = round(value);
    let magnitude = rounded.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let exponent = magnitude.log10().floor();
    // At most 6, for 1e-4.
    let decimals = (2.0 - exponent).max(0.0) as usize;
    group(&format!("{rounded:.decimals$}"))
}

/// The value with all but its three leading digits zero, as the decimal notation rounds it.
fn round(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Commas between the thousands of the whole part.
fn group(number: &str) -> String {
    let (sign, digits) = number
        .strip_prefix('-')
        .map_or(("", number), |rest| ("−", rest));
    let (whole, fraction) = digits
        .find('.')
        .map_or((digits, ""), |dot| digits.split_at(dot));
    let mut text = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text.push_str(fraction);
    text
}

/// A share of 0..1 as a percentage. Almost all isn't all and almost nothing isn't nothing.
pub(super) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return NONE.to_owned();
    }
    if share > 0.0 && share < 0.000_1 {
        return format!("<{SPACE}0.01{SPACE}%");
    }
    if share < 1.0 && share > 0.999 {
        let text = format!("{:.2}", (share * 10_000.0).floor() / 100.0);
        return format!("{text}{SPACE}%");
    }
    format!("{}{SPACE}%", significant(share * 100.0))
}

/// A duration: `12.3 µs`, `1.20 ms`, `3.40 s`, `5 min 3 s`, `2 h 5 min`, `3 d 4 h`.
pub(super) fn duration(time: ExecTime) -> String {
    micros(time.as_micros())
}

/// The same of a bare number of microseconds.
pub(super) fn micros(us: f64) -> String {
    if !us.is_finite() {
        return NONE.to_owned();
    }
    let rounded = round(us).abs();
    if rounded < 1e3 {
        return format!("{}{SPACE}µs", significant(us));
    }
    if rounded < 1e6 {
        return format!("{}{SPACE}ms", significant(us / 1e3));
    }
    if rounded < 120e6 {
        return format!("{}{SPACE}s", significant(us / 1e6));
    }
    if rounded >= 1e18 {
        return format!("{}{SPACE}d", significant(us / 86_400e6));
    }
    let sign = if us < 0.0 { "−" } else { "" };
    let seconds = (us.abs() / 1e6).round() as u64;
    let (minutes, hours) = (seconds / 60, (seconds + 1_800) / 3_600);
    let (large, small) = if seconds < 7_200 {
        (format!("{minutes}{SPACE}min"), part(seconds % 60, "s"))
    } else if seconds < 48 * 3_600 {
        let minutes = (seconds + 30) / 60;
        (
            format!("{}{SPACE}h", minutes / 60),
            part(minutes % 60, "min"),
        )
    } else {
        (
            format!("{}{SPACE}d", count(hours / 24)),
            part(hours % 24, "h"),
        )
    };
    format!("{sign}{large}{small}")
}

fn part(value: u64, unit: &str) -> String {
    if value == 0 {
        String::new()
    } else {
        format!(" {value}{SPACE}{unit}")
    }
}

/// A size with binary prefixes: `64 MiB`, `1.50 KiB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1_024 {
        return format!("{bytes}{SPACE}B");
    }
    let mut power = (bytes.ilog2() / 10) as usize;
    // 1023.9 KiB would round to 1,020 KiB, and 1023.9996 to 1,024.
    if power < UNITS.len() && bytes as f64 / 1_024_f64.powi(power as i32) >= 1_023.5 {
        power += 1;
    }
    let scaled = bytes as f64 / 1_024_f64.powi(power as i32);
    let whole = bytes.is_multiple_of(1 << (10 * power));
    let number = if whole {
        format!("{scaled:.0}")
    } else {
        trimmed(scaled)
    };
    format!("{number}{SPACE}{}", UNITS[power - 1])
}

/// Three significant digits, but never fewer digits than the whole part has: 1,023 and not 1,020.
fn trimmed(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        significant(value)
    }
}

/// A moment in UTC, to the second (RFC 3339).
pub(super) fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_unix_micros()).map_or_else(
        // Outside the years -9999 to 9999: no calendar has it, and the number is the truth.
        |_| format!("{}{SPACE}µs after 1970", at.as_unix_micros()),
        |at| {
            jiff::fmt::strtime::format("%Y-%m-%dT%H:%M:%SZ", at).unwrap_or_else(|_| at.to_string())
        },
    )
}

/// A stretch of time in UTC, to the second, or where it is short so exact that its length has three digits.
pub(super) fn stretch(from: Timestamp, to: Timestamp) -> String {
    let long = to.as_unix_micros().abs_diff(from.as_unix_micros());
    let format = match long {
        0..10_000_000 => "%Y-%m-%dT%H:%M:%S%.3fZ",
        10_000_000..100_000_000 => "%Y-%m-%dT%H:%M:%S%.1fZ",
        _ => "%Y-%m-%dT%H:%M:%SZ",
    };
    let text = |at: Timestamp| {
        jiff::Timestamp::from_microsecond(at.as_unix_micros())
            .ok()
            .and_then(|of| jiff::fmt::strtime::format(format, of).ok())
            .unwrap_or_else(|| moment(at))
    };
    format!("{} to {} ({})", text(from), text(to), micros(long as f64))
}

/// "1 rank", "2 ranks".
pub(super) fn plural(value: u64, one: &str, many: &str) -> String {
    format!(
        "{}{SPACE}{}",
        count(value),
        if value == 1 { one } else { many }
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str) -> String {
        text.replace(SPACE, " ")
    }

    #[test]
    fn three_significant_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.00"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (99.96, "100"),
            (123.456, "123"),
            (1_234.5, "1,230"),
            (999_600.0, "1,000,000"),
            (0.012_345, "0.0123"),
            (0.000_012_3, "1.23e-5"),
            (-12.34, "−12.3"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text, "{value}");
        }
    }

    #[test]
    fn counts_are_exact() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn durations_change_their_unit() {
        let cases = [
            (0.0, "0 µs"),
            (12.34, "12.3 µs"),
            (999.4, "999 µs"),
            (999.6, "1.00 ms"),
            (1_234.0, "1.23 ms"),
            (999_999.0, "1.00 s"),
            (119e6, "119 s"),
            (120e6, "2 min"),
            (303e6, "5 min 3 s"),
            (7_500e6, "2 h 5 min"),
            (7_199.6e6, "2 h"),
            (273_600e6, "3 d 4 h"),
            (-1_234.0, "−1.23 ms"),
            (8.64e20, "10,000,000,000 d"),
            (f64::NAN, "–"),
        ];
        for (us, text) in cases {
            assert_eq!(plain(&micros(us)), text, "{us}");
        }
    }

    #[test]
    fn sizes_are_binary() {
        let cases = [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1 KiB"),
            (1_536, "1.50 KiB"),
            (8_192, "8 KiB"),
            (64 << 20, "64 MiB"),
            (1_023 << 10, "1023 KiB"),
            ((1 << 20) - 1, "1.00 MiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(plain(&size(bytes)), text, "{bytes}");
        }
    }

    #[test]
    fn almost_all_is_not_all() {
        let cases = [
            (0.0, "0 %"),
            (0.000_01, "< 0.01 %"),
            (0.941_1, "94.1 %"),
            (0.999_99, "99.99 %"),
            (0.999_999_9, "99.99 %"),
            (1.0, "100 %"),
        ];
        for (share, text) in cases {
            assert_eq!(plain(&percent(share)), text, "{share}");
        }
    }

    /// `date -u -d @1773480413` says so.
    #[test]
    fn moments_are_utc() {
        let at = Timestamp::from_unix_micros(1_773_480_413_589_793);
        assert_eq!(moment(at), "2026-03-14T09:26:53Z");
        assert!(moment(Timestamp::from_unix_micros(i64::MAX)).contains("after 1970"));
        let later = |us: i64| Timestamp::from_unix_micros(1_773_480_413_589_793 + us);
        let stretches =
            [1_300_000, 20_000_000, 300_000_000].map(|us| plain(&stretch(at, later(us))));
        assert_eq!(
            stretches,
            [
                "2026-03-14T09:26:53.589Z to 2026-03-14T09:26:54.889Z (1.30 s)",
                "2026-03-14T09:26:53.5Z to 2026-03-14T09:27:13.5Z (20.0 s)",
                "2026-03-14T09:26:53Z to 2026-03-14T09:31:53Z (5 min)"
            ]
        );
    }

    proptest! {
        #[test]
        fn any_number_has_a_text(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assert!(!significant(value).is_empty());
            prop_assert!(!micros(value).is_empty());
            prop_assert!(!percent(value).is_empty());
            prop_assert!(!size(bits).is_empty());
            prop_assert!(!moment(Timestamp::from_unix_micros(bits as i64)).is_empty());
        }

        #[test]
        fn three_digits_are_close(value in 1e-4_f64..1e12) {
            let read: f64 = significant(value).replace(',', "").parse().expect("a number");
            prop_assert!((read - value).abs() <= value * 0.005_001);
        }
    }
}
