//! Moments and stretches of time, in UTC.

use nccl_report_ingest::units::Timestamp;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// `2026-01-02 03:04:05`.
pub fn moment(t: Timestamp) -> String {
    let (date, time) = date_and_time(t);
    format!("{date} {time}")
}

/// `2026-01-02 03:04:05 – 03:14:08 UTC (10 min 3 s)`.
pub fn span(start: Timestamp, end: Timestamp) -> String {
    let (first_day, _) = date_and_time(start);
    let (last_day, time) = date_and_time(end);
    let end_shown = if first_day == last_day {
        time
    } else {
        moment(end)
    };
    let length = duration(end.as_unix_micros().saturating_sub(start.as_unix_micros()));
    format!("{} – {end_shown} UTC ({length})", moment(start))
}

/// A length in its two largest units: `3 d 4 h`, `10 min 3 s`, `12.3 s`, `850 ms`.
pub fn duration(micros: i64) -> String {
    let micros = micros.max(0);
    let seconds = micros / SECOND;
    let two = |n: i64, unit: &str, rest: i64, rest_unit: &str| match rest {
        0 => format!("{n} {unit}"),
        _ => format!("{n} {unit} {rest} {rest_unit}"),
    };
    match seconds {
        0 => format!("{} ms", micros / 1000),
        1..MINUTE => format!("{seconds}.{} s", micros % SECOND / 100_000),
        MINUTE..HOUR => two(seconds / MINUTE, "min", seconds % MINUTE, "s"),
        HOUR..DAY => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "min"),
        _ => two(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
    }
}

fn date_and_time(t: Timestamp) -> (String, String) {
    let seconds = t.as_unix_micros().div_euclid(SECOND);
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let of_day = seconds.rem_euclid(DAY);
    let (h, m, s) = (of_day / HOUR, of_day % HOUR / MINUTE, of_day % MINUTE);
    (
        format!("{year:04}-{month:02}-{day:02}"),
        format!("{h:02}:{m:02}:{s:02}"),
    )
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
///
/// Counts in cycles of 400 years, and in years that begin in March, so that the leap day comes last.
const fn civil(days: i64) -> (i64, i64, i64) {
    const CYCLE: i64 = 146_097;
    // Days from 0000-03-01 to 1970-01-01.
    let days = days + 719_468;
    let cycle = days.div_euclid(CYCLE);
    let of_cycle = days.rem_euclid(CYCLE);
    let year = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    // Months from March have 31 30 31 30 31 days in turn: 153 in five.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + cycle * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from `date -u -d @SECONDS`.
    #[test]
    fn moments_are_those_of_date() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_767_323_045, "2026-01-02 03:04:05"),
            (4_107_542_400, "2100-03-01 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
        ] {
            let t = Timestamp::from_unix_micros(seconds * SECOND);
            assert_eq!(moment(t), expected);
        }
    }

    #[test]
    fn no_moment_overflows() {
        for micros in [i64::MIN, i64::MAX] {
            assert!(!moment(Timestamp::from_unix_micros(micros)).is_empty());
        }
        let (first, last) = (i64::MIN, i64::MAX);
        let all = span(
            Timestamp::from_unix_micros(first),
            Timestamp::from_unix_micros(last),
        );
        assert!(all.contains("UTC"));
    }

    #[test]
    fn a_span_names_the_day_once_where_it_can() {
        let at = |s: i64| Timestamp::from_unix_micros(s * SECOND);
        assert_eq!(
            span(at(1_767_323_045), at(1_767_323_648)),
            "2026-01-02 03:04:05 – 03:14:08 UTC (10 min 3 s)"
        );
        assert_eq!(
            span(at(1_767_323_045), at(1_767_323_045 + DAY)),
            "2026-01-02 03:04:05 – 2026-01-03 03:04:05 UTC (1 d)"
        );
    }

    #[test]
    fn lengths_have_their_two_largest_units() {
        let shown = [850_000, 12_345_678, 603 * SECOND, 7_500 * SECOND, -5].map(duration);
        assert_eq!(
            shown,
            ["850 ms", "12.3 s", "10 min 3 s", "2 h 5 min", "0 ms"]
        );
    }
}
