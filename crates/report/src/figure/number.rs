//! Numbers as a reader sees them: three significant digits, always with their unit.

use std::collections::BTreeMap;

use nccl_report_analyze::units::{ExecTime, MessageSize};

/// A number to three significant digits.
pub(crate) fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs();
    if !(1e-3..1e6).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    // Rounding may carry into the next power of ten, so the exponent is read after it.
    let exponent: i32 = format!("{magnitude:.2e}")
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    if exponent >= 3 {
        let unit = 10f64.powi(exponent - 2);
        let rounded = (magnitude / unit).round() * unit;
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(rounded as u64));
    }
    format!("{value:.*}", (2 - exponent).max(0) as usize)
}

/// A bandwidth.
pub(crate) fn gb_per_s(value: f64) -> String {
    format!("{} GB/s", significant(value))
}

/// A time, in the unit in which it is read best.
pub(crate) fn time(time: ExecTime) -> String {
    let micros = time.as_micros();
    let magnitude = micros.abs();
    let (divisor, unit) = if !magnitude.is_finite() || magnitude < 999.5 {
        (1.0, "µs")
    } else if magnitude < 999.5e3 {
        (1e3, "ms")
    } else if magnitude < 600e6 {
        (1e6, "s")
    } else if magnitude < 6.0 * 3600e6 {
        (60e6, "min")
    } else {
        (3600e6, "h")
    };
    format!("{} {unit}", significant(micros / divisor))
}

/// A share of 0..1 as a percentage.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.05 {
        return "<0.1%".to_owned();
    }
    if percent.is_finite() && percent.abs() < 1e6 {
        return format!("{percent:.1}%");
    }
    "–".to_owned()
}

/// A whole number, its thousands set apart.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things: "1 rank", "2 ranks".
pub(crate) fn counted(value: u64, noun: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(value))
}

/// A message size in IEC units.
pub(crate) fn size(size: MessageSize) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = size.as_bytes() as f64;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value.fract() == 0.0 {
        format!("{value} {}", UNITS[unit])
    } else {
        format!("{} {}", significant(value), UNITS[unit])
    }
}

/// Labels for sizes that stand side by side: exact bytes where rounding would make two alike.
#[derive(Debug, Clone)]
pub(crate) struct SizeLabels(BTreeMap<MessageSize, String>);

impl SizeLabels {
    pub(crate) fn of(sizes: impl IntoIterator<Item = MessageSize>) -> Self {
        let mut labels: BTreeMap<MessageSize, String> =
            sizes.into_iter().map(|s| (s, size(s))).collect();
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for label in labels.values() {
            *times.entry(label.clone()).or_default() += 1;
        }
        for (size, label) in &mut labels {
            if times.get(label).is_some_and(|n| *n > 1) {
                *label = format!("{} B", count(size.as_bytes()));
            }
        }
        Self(labels)
    }

    /// The label of one of the sizes.
    pub(crate) fn get(&self, of: MessageSize) -> String {
        self.0.get(&of).cloned().unwrap_or_else(|| size(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.00"),
            (12.345, "12.3"),
            (99.96, "100"),
            (9.996, "10.0"),
            (999.6, "1,000"),
            (1234.0, "1,230"),
            (-45_678.0, "-45,700"),
            (999_999.0, "1,000,000"),
            (1.5e7, "1.50e7"),
            (0.0123, "0.0123"),
            (0.000_123, "1.23e-4"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(significant(value), text, "{value}");
        }
    }

    #[test]
    fn times_and_shares() {
        let t = |micros| time(ExecTime::from_micros(micros));
        assert_eq!(t(12.5), "12.5 µs");
        assert_eq!(t(999.7), "1.00 ms");
        assert_eq!(t(2.5e6), "2.50 s");
        assert_eq!(t(900e6), "15.0 min");
        assert_eq!(t(86_400e6), "24.0 h");
        assert_eq!(percent(0.372), "37.2%");
        assert_eq!(percent(0.000_01), "<0.1%");
        assert_eq!(percent(0.0), "0.0%");
    }

    #[test]
    fn sizes_in_powers_of_1024() {
        let s = |bytes| size(MessageSize::from_bytes(bytes));
        assert_eq!(s(0), "0 B");
        assert_eq!(s(8192), "8 KiB");
        assert_eq!(s(64 << 20), "64 MiB");
        assert_eq!(s(1_500_000), "1.43 MiB");
        assert_eq!(s(1 << 30), "1 GiB");
        assert_eq!(s((1 << 30) - 1), "1.00 GiB");
        assert_eq!(s(u64::MAX), "16 EiB");
    }

    #[test]
    fn labels_side_by_side_differ() {
        let of = |bytes: &[u64]| -> Vec<String> {
            let sizes = || bytes.iter().copied().map(MessageSize::from_bytes);
            let labels = SizeLabels::of(sizes());
            sizes().map(|s| labels.get(s)).collect()
        };
        assert_eq!(
            of(&[67_108_864, 67_108_868, 1024]),
            ["64 MiB", "64.0 MiB", "1 KiB"]
        );
        assert_eq!(
            of(&[67_108_868, 67_108_872]),
            ["67,108,868 B", "67,108,872 B"]
        );
    }
}
