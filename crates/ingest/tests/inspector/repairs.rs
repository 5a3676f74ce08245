//! Lines broken in a known way but whole in substance.

use nccl_report_ingest::inspector::Record;

use crate::support::{PLAIN, SEND, operation, read, reasons};

/// What the untouched lines give.
fn expected() -> Vec<Record<'static>> {
    read(format!("{PLAIN}\n{SEND}\n"))
        .records
        .into_iter()
        .map(|(_, record)| record)
        .collect()
}

#[track_caller]
fn assert_repaired(text: impl AsRef<[u8]>, repaired: &[(&str, u64)], lines: [u64; 2]) {
    let dump = read(text);
    assert_eq!(dump.tally.rejected.lines, 0, "{:?}", dump.tally.rejected);
    assert_eq!(dump.tally.lines, 2);
    assert_eq!(
        reasons(&dump.tally.repaired),
        repaired.iter().copied().collect()
    );
    let (places, records): (Vec<u64>, Vec<_>) = dump.records.into_iter().unzip();
    assert_eq!(records, expected());
    assert_eq!(places, lines);
}

#[test]
fn decimal_commas() {
    let text = format!("{PLAIN}\n{SEND}\n")
        .replace("0.210051", "0,210051")
        .replace("0.367590", "0,367590")
        .replace("65.536000", "65,536000");
    assert_repaired(text, &[("decimal_comma", 2)], [1, 2]);
}

#[test]
fn as_jq_leaves_it() {
    let pretty = |indent: &[u8]| {
        let mut text = Vec::new();
        for line in [PLAIN, SEND] {
            let value: serde_json::Value = serde_json::from_str(line).expect("valid");
            let formatter = serde_json::ser::PrettyFormatter::with_indent(indent);
            let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
            serde::Serialize::serialize(&value, &mut serializer).expect("serializes");
            text.push(b'\n');
        }
        text
    };
    for indent in [b"  ".as_slice(), b"\t", b" ", b"    "] {
        let text = pretty(indent);
        assert_eq!(bytecount(&text), 53);
        assert_repaired(&text, &[("spread_over_lines", 2)], [1, 27]);
        // The same with carriage returns.
        let text: Vec<u8> = text
            .iter()
            .flat_map(|&b| {
                if b == b'\n' {
                    vec![b'\r', b'\n']
                } else {
                    vec![b]
                }
            })
            .collect();
        assert_repaired(&text, &[("spread_over_lines", 2)], [1, 27]);
    }
    // Cut in the middle: one bad line.
    let text = pretty(b"  ");
    let dump = read(&text[..text.len() - 20]);
    assert_eq!(reasons(&dump.tally.rejected), [("truncated", 1)].into());
    assert_eq!(dump.records.len(), 1);
    // One record loses its end: it alone is lost.
    let text = String::from_utf8(text)
        .expect("text")
        .replacen("\n}\n{", "\n{", 1);
    let dump = read(text);
    assert_eq!(reasons(&dump.tally.rejected), [("invalid_json", 1)].into());
    assert_eq!(dump.records.len(), 1);
}

fn bytecount(text: &[u8]) -> usize {
    text.iter().filter(|&&b| b == b'\n').count()
}

#[test]
fn byte_order_mark_and_carriage_returns() {
    assert_repaired(
        format!("\u{feff}{PLAIN}\n{SEND}\n"),
        &[("byte_order_mark", 1)],
        [1, 2],
    );
    assert_repaired(
        format!("{PLAIN}\r\n\r\n{SEND}\r\n"),
        &[("carriage_return", 2)],
        [1, 3],
    );
    assert_repaired(format!("  {PLAIN} \n\t\n{SEND}"), &[], [1, 3]);
}

#[test]
fn lists() {
    assert_repaired(format!("[{PLAIN},{SEND}]\n"), &[("json_array", 2)], [1, 1]);
    assert_repaired(
        format!("[\n{PLAIN},\n{SEND}\n]\n"),
        &[("json_array", 2)],
        [2, 3],
    );
    assert_repaired(format!("[{PLAIN}\n,{SEND}]"), &[("json_array", 2)], [1, 2]);
    let value: serde_json::Value =
        serde_json::from_str(&format!("[{PLAIN},{SEND}]")).expect("valid");
    let pretty = serde_json::to_string_pretty(&value).expect("serializes");
    assert_repaired(pretty, &[("spread_over_lines", 2)], [2, 28]);
}

#[test]
fn bandwidths_that_cannot_be_read() {
    for spoilt in [
        "\"nan\"", "\"-nan\"", "\"inf\"", "nan", "-nan", "inf", "null", "-1.0", "\"fast\"", "[]",
    ] {
        let text = format!("{PLAIN}\n{SEND}\n")
            .replace("0.367590", spoilt)
            .replace("65.536000", spoilt);
        let dump = read(text);
        assert_eq!(dump.tally.rejected.lines, 0, "{spoilt}");
        assert_eq!(
            reasons(&dump.tally.repaired),
            [("bandwidth", 2)].into(),
            "{spoilt}"
        );
        let collective = operation(&dump.records[0].1);
        // The written one is kept; the other is 8192 B / 39 µs × 2 × 7/8.
        assert_eq!(collective.algobw_gbs, 0.210051);
        assert!((collective.busbw_gbs - 0.367_589_743).abs() < 1e-9);
        let send = operation(&dump.records[1].1);
        assert_eq!((send.algobw_gbs, send.busbw_gbs), (65.536, 65.536));
    }
    let dump = read(PLAIN.replace(
        r#","coll_algobw_gbs":0.210051,"coll_busbw_gbs":0.367590"#,
        "",
    ));
    assert_eq!(reasons(&dump.tally.repaired), [("bandwidth", 1)].into());
}

#[test]
fn broken_bytes_in_a_name() {
    let mut text = PLAIN.as_bytes().to_vec();
    let name = PLAIN.find("default_pg").expect("name");
    text[name] = 0xfc;
    let dump = read(&text);
    assert_eq!(reasons(&dump.tally.repaired), [("invalid_utf8", 1)].into());
    assert_eq!(
        dump.records[0].1.context.comm_name.as_deref(),
        Some("\u{fffd}efault_pg")
    );
    assert_eq!(dump.records[0].1.body, expected()[0].body);
}

#[test]
fn a_record_behind_a_cut_one_is_saved() {
    let dump = read(format!("{}{SEND}\n{PLAIN}\n", &PLAIN[..100]));
    assert_eq!(dump.tally.lines, 3);
    assert_eq!(reasons(&dump.tally.rejected), [("invalid_json", 1)].into());
    assert_eq!(reasons(&dump.tally.repaired), [("joined_lines", 1)].into());
    assert_eq!(dump.records[0].1, expected()[1]);
    assert_eq!((dump.records[0].0, dump.records[1].0), (1, 2));
}

#[test]
fn labels_before_each_line() {
    assert_repaired(
        format!("0: {PLAIN}\n[node-1] {SEND}\n"),
        &[("text_before", 2)],
        [1, 2],
    );
}

#[test]
fn zeros_at_the_end() {
    let mut text = format!("{PLAIN}\n{SEND}\n").into_bytes();
    text.extend([0; 5000]);
    let dump = read(&text);
    assert_eq!(dump.records.len(), 2);
    assert_eq!(reasons(&dump.tally.rejected), [("invalid_json", 1)].into());
    assert!(
        dump.tally.rejected.examples[0]
            .detail
            .starts_with("5000 zero bytes")
    );
    // Without a line feed before them they are part of the last line.
    text.truncate(PLAIN.len() + 1 + SEND.len());
    text.extend([0; 5000]);
    assert_repaired(&text, &[], [1, 2]);
}
