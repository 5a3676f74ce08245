//! The numbers behind a finding, whatever the analysis put there, as names and values that a person can read.

use serde_json::{Map, Value};

use super::{quantity, text};

/// A name and its value.
#[derive(Debug, PartialEq)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) value: String,
}

/// Facts of one finding on the page.
const FACTS: usize = 40;
/// Elements of one list.
const ELEMENTS: usize = 8;

/// The evidence as names and values, and how many more there are.
pub(super) fn facts(evidence: &Map<String, Value>) -> (Vec<Fact>, usize) {
    let mut facts = Vec::new();
    for (key, value) in evidence {
        collect(&mut facts, &label(key), unit(key), value, 0);
    }
    let more = facts.len().saturating_sub(FACTS);
    facts.truncate(FACTS);
    (facts, more)
}

fn collect(facts: &mut Vec<Fact>, name: &str, of: Unit, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if depth < 2 => {
            for (key, value) in map {
                let inner = unit(key);
                let inner = if inner == Unit::None { of } else { inner };
                collect(
                    facts,
                    &format!("{name}, {}", label(key)),
                    inner,
                    value,
                    depth + 1,
                );
            }
        }
        Value::Array(list) if depth < 2 && list.iter().any(|v| v.is_object() || v.is_array()) => {
            for (index, value) in list.iter().take(ELEMENTS).enumerate() {
                facts.push(Fact {
                    name: format!("{name} {}", index + 1),
                    value: line(value, of, 0),
                });
            }
            if list.len() > ELEMENTS {
                facts.push(Fact {
                    name: format!("{name} …"),
                    value: format!("{} more in report.json", list.len() - ELEMENTS),
                });
            }
        }
        other => facts.push(Fact {
            name: name.to_owned(),
            value: line(other, of, 0),
        }),
    }
}

/// A value on one line.
fn line(value: &Value, of: Unit, depth: usize) -> String {
    match value {
        Value::Null => quantity::NONE.to_owned(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number_text(number, of),
        Value::String(text) => text::name(text),
        Value::Array(_) | Value::Object(_) if depth >= 3 => "…".to_owned(),
        Value::Array(list) => {
            let mut parts: Vec<String> = list
                .iter()
                .take(ELEMENTS)
                .map(|value| line(value, of, depth + 1))
                .collect();
            if list.len() > ELEMENTS {
                parts.push(format!("… ({} in all)", list.len()));
            }
            parts.join(", ")
        }
        Value::Object(map) => {
            let parts = map.iter().take(ELEMENTS).map(|(key, value)| {
                let inner = unit(key);
                let inner = if inner == Unit::None { of } else { inner };
                format!("{} {}", label(key), line(value, inner, depth + 1))
            });
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

fn number_text(number: &serde_json::Number, of: Unit) -> String {
    let value = number.as_f64().unwrap_or(f64::NAN);
    match of {
        Unit::Micros => quantity::micros(value),
        Unit::Bandwidth => format!("{}\u{a0}GB/s", quantity::significant(value)),
        Unit::Share => quantity::percent(value),
        Unit::Bytes => number
            .as_u64()
            .map_or_else(|| quantity::significant(value), quantity::size),
        Unit::Moment => number.as_i64().map_or_else(
            || quantity::significant(value),
            |us| quantity::moment(nccl_report_analyze::units::Timestamp::from_unix_micros(us)),
        ),
        Unit::Times => format!("{}\u{a0}×", quantity::significant(value)),
        Unit::Chance => chance(value),
        Unit::None => number
            .as_u64()
            .map_or_else(|| quantity::significant(value), quantity::count),
    }
}

/// What the end of a key says about its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    None,
    Micros,
    Bandwidth,
    Bytes,
    Share,
    Moment,
    Times,
    Chance,
}

/// A small probability: nobody reads 3.2e-11.
fn chance(value: f64) -> String {
    if !(value > 0.0 && value <= 1.0) {
        return if value == 0.0 { "none" } else { quantity::NONE }.to_owned();
    }
    if value < 1e-9 {
        return "less than 1 in a billion".to_owned();
    }
    format!("1 in {}", quantity::count((1.0 / value).round() as u64))
}

/// Keys end in their unit, as everywhere in `report.json`. Moments and durations both end in `_us`; moments are called
/// `start_us`, `end_us` or `at_us`.
fn unit(key: &str) -> Unit {
    let is = |ends: &[&str]| {
        ends.iter()
            .any(|end| key == end.trim_start_matches('_') || key.ends_with(end))
    };
    if is(&["_start_us", "_end_us", "_at_us", "_timestamp_us"]) {
        Unit::Moment
    } else if is(&["_us"]) || key.contains("_us_per_") {
        Unit::Micros
    } else if is(&["_gbs"]) {
        Unit::Bandwidth
    } else if is(&["_bytes"]) {
        Unit::Bytes
    } else if is(&["_share"]) || key.starts_with("share_") {
        Unit::Share
    } else if is(&["_ratio"]) || key.starts_with("times_") {
        Unit::Times
    } else if key.starts_with("chance_") {
        Unit::Chance
    } else {
        Unit::None
    }
}

/// What the analysis calls some numbers, and what a person does.
const LABELS: [(&str, &str); 27] = [
    ("chance_among_equals", "chance among equal ranks"),
    ("chance_of_coincidence", "chance of a coincidence"),
    ("events", "late arrivals"),
    ("events_expected_from_peers", "the same of a peer, expected"),
    ("events_longer_than_us", "counted if longer than"),
    (
        "fast_of_the_same_kind",
        "fast communicators and pairs of the same kind",
    ),
    (
        "kernel_starts_after_peers_us",
        "its kernels began after the others', mean",
    ),
    ("kernel_starts_as_late", "its kernels began that late"),
    (
        "kernel_starts_compared",
        "collectives whose starts were compared",
    ),
    ("kernel_starts_last_share", "its kernels began last"),
    ("late_us_per_operation", "late by, mean of an operation"),
    (
        "link_busbw_at_other_times_gbs",
        "link bandwidth at other times",
    ),
    ("link_busbw_gbs", "link bandwidth, median of the slow"),
    ("message_bytes", "message size"),
    (
        "next_latest_peer_us_per_operation",
        "the next latest peer is late by",
    ),
    ("peers", "peers compared with"),
    (
        "peers_link_busbw_gbs",
        "link bandwidth, median of the peers",
    ),
    ("peers_transfer_us", "transfer time, median of the peers"),
    (
        "share_of_communicator_time_lost",
        "share of the communicator's time lost",
    ),
    (
        "slow_communicators_and_pairs",
        "slow communicators and pairs",
    ),
    ("times_the_noise", "distance from the noise"),
    ("transfer_at_other_times_us", "transfer time at other times"),
    ("transfer_time_ratio", "transfer time, against peers"),
    ("transfer_us", "transfer time, median of the slow"),
    ("typical_event_us", "typical late arrival"),
    ("wait_of_a_send_us", "wait of a Send to it"),
    (
        "waited_elsewhere_us",
        "others wait elsewhere for whom it delays",
    ),
];

/// The key in words, without its unit.
fn label(key: &str) -> String {
    if let Some((_, words)) = LABELS.iter().find(|(known, _)| *known == key) {
        return (*words).to_owned();
    }
    let stem = ["_us", "_gbs", "_bytes"]
        .iter()
        .find_map(|end| key.strip_suffix(end))
        .unwrap_or(key);
    text::name(stem).replace('_', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(evidence: Value) -> Vec<(String, String)> {
        let Value::Object(map) = evidence else {
            panic!("an object");
        };
        let (facts, _) = facts(&map);
        facts
            .into_iter()
            .map(|f| (f.name, f.value.replace('\u{a0}', " ")))
            .collect()
    }

    #[test]
    fn units_come_from_the_key() {
        let pairs = shown(json!({
            "gap_us": 1234.5, "late_us_per_operation": 235.1, "link_busbw_gbs": 23.14, "late_share": 0.9411, "message_bytes": 67_108_864,
            "collectives": 12_345, "ratio": 0.61, "times_the_noise": 12.34, "chance_among_equals": 3.2e-5, "start_us": 1_773_480_413_589_793_i64, "clear": true, "cause": null,
        }));
        let expected = [
            ("cause", "–"),
            ("clear", "yes"),
            ("collectives", "12,345"),
            ("gap", "1.23 ms"),
            ("late share", "94.1 %"),
            ("link bandwidth, median of the slow", "23.1 GB/s"),
            ("late by, mean of an operation", "235 µs"),
            ("message size", "64 MiB"),
            ("ratio", "0.610 ×"),
            ("distance from the noise", "12.3 ×"),
            ("chance among equal ranks", "1 in 31,250"),
            ("start", "2026-03-14T09:26:53Z"),
        ];
        for (name, value) in expected {
            assert!(
                pairs.contains(&(name.into(), value.into())),
                "{name}: {value} not in {pairs:?}"
            );
        }
    }

    #[test]
    fn nesting_keeps_the_unit_of_the_outer_key() {
        let pairs = shown(
            json!({"gap_us": {"p50": 1210.0}, "by": [{"operation": "AllReduce", "gap_us": 3.0}]}),
        );
        assert!(
            pairs.contains(&("gap, p50".into(), "1.21 ms".into())),
            "{pairs:?}"
        );
        assert!(
            pairs
                .iter()
                .any(|(name, value)| name == "by 1" && value.contains("gap 3.00 µs")),
            "{pairs:?}"
        );
    }

    #[test]
    fn long_lists_and_deep_nests_are_cut() {
        let deep = json!({"a": [[[[[[1]]]]]]});
        assert!(shown(deep)[0].1.contains('…'));
        let many: Map<String, Value> = (0..100).map(|n| (format!("k{n:03}"), json!(n))).collect();
        let (facts, more) = facts(&many);
        assert_eq!((facts.len(), more), (FACTS, 60));
        assert_eq!(
            shown(json!({"a": (0..20).collect::<Vec<_>>()}))[0].1,
            "0, 1, 2, 3, 4, 5, 6, 7, … (20 in all)"
        );
    }
}
