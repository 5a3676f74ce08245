//! How buckets and changes are called in sentences.

use super::bucket::SEND_RECV;
use crate::facts::{BucketKey, GroupKey};

/// "+4.0 %", "−4.0 %".
pub(crate) fn percent(change: f64) -> String {
    if !change.is_finite() {
        return "any".to_owned();
    }
    format!(
        "{}{:.1} %",
        if change < 0.0 { "−" } else { "+" },
        100.0 * change.abs()
    )
}

/// "`AllReduce` of 64 MiB, hca-only, 2 ranks on 2 nodes (DP Group)"
pub(crate) fn name(key: &BucketKey) -> String {
    let operation = match (key.operation.as_str(), key.crosses_network) {
        (SEND_RECV, Some(true)) => "Send/Recv between hosts",
        (SEND_RECV, Some(false)) => "Send/Recv within a host",
        (SEND_RECV, None) => "Send/Recv",
        (other, _) => other,
    };
    let family = key
        .family
        .as_ref()
        .filter(|f| !f.is_empty())
        .map(|f| format!(" ({f})"))
        .unwrap_or_default();
    format!(
        "{operation} of {}, {}, {} ranks on {} nodes{family}",
        size(key.size.as_bytes()),
        key.class,
        key.n_ranks,
        key.nnodes
    )
}

/// The same of a group.
pub(crate) fn group_name(key: &GroupKey) -> String {
    format!(
        "{} of {}, {}, {} ranks on {} nodes",
        key.operation,
        size(key.size.as_bytes()),
        key.class,
        key.n_ranks,
        key.nnodes
    )
}

/// A message size in binary units.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10) as usize;
    let unit = 1_u64 << (10 * power);
    if bytes.is_multiple_of(unit) {
        format!("{} {}", bytes / unit, UNITS[power])
    } else {
        format!("{:.1} {}", bytes as f64 / unit as f64, UNITS[power])
    }
}
