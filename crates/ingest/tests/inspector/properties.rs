//! What holds for any text: any cut, any byte flipped, any order of keys.

use std::io::{self, Read};

use nccl_report_ingest::inspector::Record;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::support::{Dump, PLAIN, SEND, bare, bare_send, marker, read, read_from};

/// A collective with context and values of its own.
fn collective(rank: u32, sn: u64, size: u64, time: u64, name: &str, verbose: bool) -> String {
    let name = serde_json::to_string(name).expect("serializes");
    let trace = if verbose {
        r#","event_trace_sn":{"coll_start_sn":1,"coll_stop_sn":2,"kernel_events":[{"channel_id":0,"kernel_start_sn":3,"kernel_stop_sn":5,"kernel_record_sn":4}]},"event_trace_ts":{"coll_start_ts":1000,"coll_stop_ts":1004,"kernel_events":[{"channel_id":0,"kernel_start_ts":1010,"kernel_stop_ts":1200,"kernel_record_ts":1201}]}"#
    } else {
        ""
    };
    format!(
        r#"{{"header":{{"id":"0xabc","comm_name":{name},"rank":{rank},"n_ranks":16,"nnodes":2}},"metadata":{{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1795953247245381,"hostname":"dgx-h01","pid":449}},"coll_perf":{{"coll":"AllReduce","coll_sn":{sn},"coll_msg_size_bytes":{size},"coll_exec_time_us":{time},"coll_timing_source":"kernel_gpu","coll_algobw_gbs":0.210051,"coll_busbw_gbs":0.367590{trace}}}}}"#
    )
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..16u32, 0..1000u64, 1..1u64 << 40, 1..100_000u64, "[ -~µé\t]{0,12}", any::<bool>())
            .prop_map(|(rank, sn, size, time, name, verbose)| collective(rank, sn, size, time, &name, verbose)),
        1 => Just(SEND.to_owned()),
        1 => Just(PLAIN.to_owned()),
        1 => Just("NCCL WARN something else".to_owned()),
        1 => Just(String::new()),
        1 => Just(r#"{"summary":{"n":1}}"#.to_owned()),
    ]
}

/// A dump whose lines carry their own context.
fn stateless() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 1..12).prop_map(|lines| lines.join("\n") + "\n")
}

/// A dump of v4.3, its communicators told apart by number.
fn stateful() -> impl Strategy<Value = String> {
    prop::collection::vec((0..4u64, 0..3u64), 1..5).prop_map(|dumps| {
        let mut text = String::new();
        for (number, (coll, p2p)) in dumps.into_iter().enumerate() {
            // Sequence numbers say to which dump a line belongs.
            let first = number as u64 * 100;
            text.push_str(&marker("v4.3", &format!("0xd{number}"), coll, p2p, None));
            text.push('\n');
            for sn in 0..coll {
                text.push_str(&bare(first + sn));
                text.push('\n');
            }
            for sn in 0..p2p {
                text.push_str(&bare_send(first + sn));
                text.push('\n');
            }
        }
        text
    })
}

/// Gives a text in reads of a few bytes.
struct Drip<'a>(&'a [u8], usize);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let step = self.1.min(buffer.len());
        self.0.read(&mut buffer[..step])
    }
}

fn line_of(text: &str, at: usize) -> u64 {
    text.as_bytes()[..at]
        .iter()
        .filter(|&&b| b == b'\n')
        .count() as u64
        + 1
}

fn on_other_lines(
    dump: &Dump,
    spoilt: std::ops::RangeInclusive<u64>,
) -> Vec<&(u64, Record<'static>)> {
    dump.records
        .iter()
        .filter(|(line, _)| !spoilt.contains(line))
        .collect()
}

/// The same value with its keys in another order, decided by `seed`.
fn shuffled(value: &Value, seed: &mut u64) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<String> = map
                .iter()
                .map(|(key, value)| {
                    let key = serde_json::to_string(key).expect("serializes");
                    format!("{key}: {}", shuffled(value, seed))
                })
                .collect();
            for last in (1..entries.len()).rev() {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                entries.swap(last, (*seed >> 33) as usize % (last + 1));
            }
            format!("{{{}}}", entries.join(" , "))
        }
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(|value| shuffled(value, seed)).collect();
            format!("[{}]", list.join(","))
        }
        other => other.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_gives_the_records_before_it(text in prop_oneof![stateless(), stateful()], at in any::<prop::sample::Index>()) {
        let mut at = at.index(text.len() + 1);
        while !text.is_char_boundary(at) { at -= 1; }
        let whole = read(&text);
        let cut = read(&text[..at]);
        prop_assert!(cut.records.len() <= whole.records.len());
        // Before there is a record of the format, lines of other kinds alone don't make a dump; they are delivered all the same.
        prop_assert_eq!(&cut.records[..], &whole.records[..cut.records.len()]);
        prop_assert!(cut.tally.rejected.lines <= whole.tally.rejected.lines + 1);
    }

    #[test]
    fn a_cut_front_gives_the_records_behind_it(text in stateless(), at in any::<prop::sample::Index>()) {
        let mut at = at.index(text.len());
        while !text.is_char_boundary(at) { at -= 1; }
        let skipped = line_of(&text, at) - 1;
        let whole = read(&text);
        let cut = read(&text[at..]);
        let behind: Vec<_> = whole.records.iter().filter(|(line, _)| *line > skipped + 1).collect();
        let got: Vec<_> = cut.records.iter().map(|(line, record)| (line + skipped, record)).filter(|(line, _)| *line > skipped + 1).collect();
        prop_assert_eq!(got.len(), behind.len());
        for (one, other) in got.iter().zip(behind) {
            prop_assert_eq!((one.0, one.1), (other.0, &other.1));
        }
    }

    #[test]
    fn a_flipped_byte_changes_its_own_line_alone(text in stateless(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let at = at.index(text.len());
        let mut bytes = text.clone().into_bytes();
        let lost_feed = bytes[at] == b'\n';
        bytes[at] = byte;
        let new_feed = byte == b'\n' && !lost_feed;
        let whole = read(&text);
        let flipped = read(&bytes);
        let number = line_of(&text, at);
        // A line feed more or less moves the numbers of what follows.
        if lost_feed || new_feed {
            let count = |dump: &Dump| dump.records.iter().filter(|(line, _)| *line < number).count();
            let before = count(&whole);
            prop_assert_eq!(&flipped.records[..before], &whole.records[..before]);
            let behind = whole.records.iter().filter(|(line, _)| *line > number + 1).count();
            prop_assert!(flipped.records.len() >= behind);
            let tail = |dump: &Dump| -> Vec<Record<'static>> {
                dump.records[dump.records.len() - behind..].iter().map(|(_, record)| record.clone()).collect()
            };
            prop_assert_eq!(tail(&flipped), tail(&whole));
        } else {
            prop_assert_eq!(on_other_lines(&flipped, number..=number), on_other_lines(&whole, number..=number));
        }
    }

    #[test]
    fn a_flipped_byte_never_gives_a_line_the_context_of_another_dump(text in stateful(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let at = at.index(text.len());
        let mut bytes = text.clone().into_bytes();
        bytes[at] = byte;
        let number = line_of(&text, at);
        let flipped = read(&bytes);
        let whole = read(&text);
        let spoilt = text.lines().nth(number as usize - 1).unwrap_or_default().to_owned();
        // What a spoilt marker says about its own dump can't be known to be wrong; neither can what a spoilt line says of itself.
        let marked = spoilt.contains("dump_stats");
        for (line, record) in &flipped.records {
            if (number..=number + 1).contains(line) { continue; }
            let nccl_report_ingest::inspector::Body::Operation(operation) = &record.body else { continue };
            let dump = operation.sequence_number / 100;
            let expected = format!("0xd{dump}");
            if marked && spoilt.contains(&format!("\"{expected}\"")) { continue; }
            prop_assert_eq!(&*record.context.id, expected.as_str());
        }
        prop_assert!(flipped.records.len() <= whole.records.len() + 1);
    }

    #[test]
    fn any_order_of_keys_gives_the_same_record(
        rank in 0..16u32, sn in 0..1000u64, name in "[ -~µé\t]{0,12}", verbose in any::<bool>(), mut seed in any::<u64>(),
    ) {
        let line = collective(rank, sn, 4096, 77, &name, verbose);
        let value: Value = serde_json::from_str(&line).expect("valid");
        let (one, other) = (read(&line), read(shuffled(&value, &mut seed)));
        prop_assert_eq!(&one.records, &other.records);
        prop_assert_eq!(one.tally.rejected.lines + other.tally.rejected.lines, 0);
    }

    #[test]
    fn the_size_of_reads_changes_nothing(text in prop_oneof![stateless(), stateful()], step in 1..200usize) {
        let (one, other) = (read(&text), read_from(&mut Drip(text.as_bytes(), step)));
        prop_assert_eq!(one.records, other.records);
        prop_assert_eq!(one.tally, other.tally);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
    }

    #[test]
    fn any_json_is_survived(text in "[\\[\\]{}\",:a-f0-9\\\\ \n.e-]{0,200}") {
        read(&text);
    }

    /// Known keys with any values: wrong types are told, never a panic.
    #[test]
    fn any_value_under_any_known_key(which in any::<prop::sample::Index>(), value in prop_oneof![
        Just("null"), Just("-1"), Just("1e300"), Just("1.5"), Just("18446744073709551615"), Just("\"nan\""), Just("[]"), Just("{}"), Just("true"),
        Just("[{\"a\":[{}]}]"), Just("\"\""), Just("\"\\u0000\""), Just("0"), Just("-0.0"),
    ]) {
        let step = r#"{"proxy_trace":{"record_type":"proxy_step","rank":1,"peer":3,"n_steps":1,"steps":[{"step":1}],"total_us":40,"event_trace_ts":{"send_wait_ts":5}}}"#;
        let text = [PLAIN, SEND, &marker("v4.3", "0xa", 0, 0, Some(1)), step].join("\n");
        let places: Vec<usize> = text.match_indices("\":").map(|(at, _)| at + 2).collect();
        let start = places[which.index(places.len())];
        let length = text[start..].find([',', '}']).expect("a value ends");
        read(format!("{}{value}{}", &text[..start], &text[start + length..]));
    }
}

#[test]
fn maps_keep_what_they_are_given() {
    // `shuffled` relies on it: the number of keys doesn't change.
    let map: Map<String, Value> = serde_json::from_str("{\"a\":1,\"b\":2}").expect("valid");
    assert_eq!(
        shuffled(&Value::Object(map), &mut 1).len(),
        "{\"a\": 1 , \"b\": 2}".len()
    );
}
