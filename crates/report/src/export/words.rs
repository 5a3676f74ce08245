//! Words and numbers of a comparison as its texts for people write them.

use nccl_report_analyze::facts::{
    BucketComparison, BucketKey, BucketVerdict, Comparison, Level, Verdict,
};

/// What the verdict means, in a sentence.
pub(crate) fn meaning(of: &Comparison) -> &'static str {
    let changed = |b: &BucketComparison| {
        matches!(
            b.verdict,
            BucketVerdict::Regression | BucketVerdict::Improvement
        )
    };
    // What only the earlier runs say isn't said of the baseline.
    let by_history = of.history.as_ref().is_some_and(|h| h.verdict == of.verdict)
        && !of.buckets.iter().any(changed)
        && of.findings_new.is_empty();
    match (of.verdict, by_history) {
        (Verdict::Regression, true) => "The candidate is worse than the earlier runs.",
        (Verdict::Improvement, true) => "The candidate is better than the earlier runs.",
        (Verdict::Regression, false) => "The candidate is worse than the baseline.",
        (Verdict::Improvement, false) => "The candidate is better than the baseline.",
        (Verdict::Mixed, _) => "The candidate is worse in one thing and better in another.",
        (Verdict::Unchanged, _) => {
            "No change that matters, and one that mattered would have been seen."
        }
        (Verdict::Inconclusive, _) => "The data can't tell whether anything changed.",
    }
}

/// A relative change with its sign, "+4.0 %".
pub(crate) fn change(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "+" };
    format!("{sign}{:.1} %", 100.0 * value.abs())
}

/// A share, "12.3 %".
pub(crate) fn share(value: f64) -> String {
    if value > 0.0 && value < 0.000_5 {
        return "< 0.1 %".to_owned();
    }
    format!("{:.1} %", 100.0 * value)
}

/// A number with three significant digits or so.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        x if !x.is_finite() => "?".to_owned(),
        x if x >= 99.95 => format!("{value:.0}"),
        x if x >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A message size in binary units.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10) as usize;
    let unit = 1_u64 << (10 * power);
    if bytes.is_multiple_of(unit) {
        format!("{} {}", bytes / unit, UNITS[power])
    } else {
        format!("{:.1} {}", bytes as f64 / unit as f64, UNITS[power])
    }
}

/// The operation of a bucket.
pub(crate) fn operation(key: &BucketKey) -> String {
    match (key.operation.as_str(), key.crosses_network) {
        ("SendRecv", Some(true)) => "Send/Recv between hosts".to_owned(),
        ("SendRecv", Some(false)) => "Send/Recv within a host".to_owned(),
        ("SendRecv", None) => "Send/Recv".to_owned(),
        (other, _) => other.to_owned(),
    }
}

/// A bucket in a few words: "AllReduce 64 MiB, hca-only 2×2, DP Group".
pub(crate) fn bucket(key: &BucketKey) -> String {
    let family = key
        .family
        .as_deref()
        .filter(|f| !f.is_empty())
        .map(|f| format!(", {f}"))
        .unwrap_or_default();
    format!(
        "{} {}, {} {}×{}{family}",
        operation(key),
        size(key.size.as_bytes()),
        key.class,
        key.n_ranks,
        key.nnodes
    )
}

/// A level with its unit.
pub(crate) fn level(of: &BucketComparison, side: Option<&Level>) -> String {
    let Some(level) = side else {
        return "–".to_owned();
    };
    let unit = if of.metric.is_bandwidth() {
        "GB/s"
    } else {
        "µs"
    };
    format!("{} {unit}", number(level.median))
}

/// What is compared, "a → b".
pub(crate) fn runs(of: &Comparison) -> String {
    format!("{} → {}", of.baseline.title, of.candidate.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_signed() {
        assert_eq!(
            [0.0412, -0.07, f64::INFINITY].map(change),
            ["+4.1 %", "−7.0 %", "?"]
        );
        assert_eq!(
            [0.0, 0.0001, 0.5].map(share),
            ["0.0 %", "< 0.1 %", "50.0 %"]
        );
        assert_eq!(
            [371.2, 45.04, 9.994, 0.5].map(number),
            ["371", "45.0", "9.99", "0.50"]
        );
        assert_eq!(
            [0, 8_192, 13_107_200, u64::MAX].map(size),
            ["0 B", "8 KiB", "12.5 MiB", "16.0 EiB"]
        );
    }
}
