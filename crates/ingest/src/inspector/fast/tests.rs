use proptest::prelude::*;

use super::*;
use crate::inspector::record::Operation;

const PLAIN: &str = r#"{"header":{"id":"0xe7da8e667b6d5e","comm_name":"default_pg","rank":0,"n_ranks":8,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.2","git_rev":"x","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1795953247245381,"hostname":"dgx-h01","pid":449},"coll_perf":{"coll":"AllReduce","coll_algo":"RING","coll_proto":"LL","coll_sn":10,"coll_msg_size_bytes":8192,"coll_exec_time_us":39,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":0.210051,"coll_busbw_gbs":0.367590}}"#;
const SEND: &str = r#"{"header":{"id":"0xb10cfe9892bb03","rank":0,"n_ranks":2,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1795953273933351,"hostname":"dgx-h01","pid":1311},"p2p_perf":{"p2p":"Send","p2p_sn":2,"p2p_peer":1,"p2p_msg_size_bytes":65536,"p2p_exec_time_us":1,"p2p_timing_source":"collective_cpu","p2p_algobw_gbs":65.536000,"p2p_busbw_gbs":65.536000}}"#;

const VERBOSE: &str = r#"{"header":{"id":"0xe0e9d54a40ee8c","comm_name":"unknown","rank":0,"n_ranks":2,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0","git_rev":"x","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1795953451115600,"hostname":"dgx-h01","pid":4747},"coll_perf":{"coll":"AllReduce","coll_sn":0,"coll_msg_size_bytes":4194304,"coll_exec_time_us":67,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":62.601552,"coll_busbw_gbs":62.601552,"event_trace_sn":{"coll_start_sn":1,"coll_stop_sn":2,"kernel_events":[{"channel_id":0,"kernel_start_sn":3,"kernel_stop_sn":8,"kernel_record_sn":7},{"channel_id":1,"kernel_start_sn":4,"kernel_stop_sn":10,"kernel_record_sn":9}]},"event_trace_ts":{"coll_start_ts":1795953451115010,"coll_stop_ts":1795953451115023,"kernel_events":[{"channel_id":0,"kernel_start_ts":1795953451115101,"kernel_stop_ts":1795953451115190,"kernel_record_ts":0},{"channel_id":1,"kernel_start_ts":1795953451115103,"kernel_stop_ts":1795953451115192,"kernel_record_ts":1795953451115191}]}}}"#;
const VERBOSE_SEND: &str = r#"{"header":{"id":"0xb10cfe9892bb03","rank":0,"n_ranks":2,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1795953273933351,"hostname":"dgx-h01","pid":1311},"p2p_perf":{"p2p":"Send","p2p_sn":2,"p2p_peer":1,"p2p_msg_size_bytes":65536,"p2p_exec_time_us":1,"p2p_timing_source":"collective_cpu","p2p_algobw_gbs":65.536000,"p2p_busbw_gbs":65.536000,"event_trace_sn":{"p2p_start_sn":3,"p2p_stop_sn":4,"kernel_events":[]},"event_trace_ts":{"p2p_start_ts":1795953273932494,"p2p_stop_ts":1795953273932500,"kernel_events":[{"channel_id":0,"kernel_start_ts":0,"kernel_stop_ts":0,"kernel_record_ts":0}]}}}"#;

const LINES: [&str; 4] = [PLAIN, SEND, VERBOSE, VERBOSE_SEND];

type Judged<'a> = (Context<'static>, Option<Operation<'a>>);

fn judge(mut payload: Payload<'_>, n_ranks: u32) -> Option<Operation<'_>> {
    match &mut payload {
        Payload::Collective(raw) => check::operation(raw, n_ranks),
        Payload::PointToPoint(raw) => check::operation(raw, n_ranks),
    }
    .ok()
    .map(|checked| checked.operation)
}

fn recognised<'a>(templates: &mut Templates, line: &'a [u8]) -> Option<Judged<'a>> {
    let mut payload = Payload::default();
    let found = templates.recognise(line, &mut payload, &mut Spare::default())?;
    let operation = judge(payload, found.context.n_ranks);
    Some((found.context.clone(), operation))
}

/// What the parser, which is the reference, makes of a line.
fn reference(line: &[u8]) -> Option<Judged<'_>> {
    let mut parts = Parts::default();
    parts.read(line).ok()?;
    let context = check::context(&mut parts)?.ok()?.into_owned();
    let payload = match (parts.collective, parts.p2p) {
        (Slot::Object(raw), _) => Payload::Collective(raw),
        (_, Slot::Object(raw)) => Payload::PointToPoint(raw),
        _ => return None,
    };
    let operation = judge(payload, context.n_ranks);
    Some((context, operation))
}

fn learnt(lines: &[&str]) -> Templates {
    let mut templates = Templates::default();
    for line in lines {
        templates.learn(line.as_bytes());
    }
    templates
}

#[test]
fn a_line_is_recognised_once_its_head_is_known() {
    for line in LINES {
        let mut templates = Templates::default();
        assert!(recognised(&mut templates, line.as_bytes()).is_none());
        templates.learn(line.as_bytes());
        let other = line
            .replace("_us\":1795953", "_us\":1795954")
            .replace("coll_sn\":", "coll_sn\":7")
            .replace("p2p_sn\":", "p2p_sn\":7")
            .replace("kernel_stop_ts\":1", "kernel_stop_ts\":2");
        let found = recognised(&mut templates, other.as_bytes());
        assert!(found.is_some());
        assert_eq!(found, reference(other.as_bytes()));
    }
}

#[test]
fn another_rank_of_the_same_communicator_is_another_head() {
    let second = PLAIN.replace("\"rank\":0", "\"rank\":1");
    let mut templates = learnt(&[PLAIN, &second]);
    for line in [PLAIN, &second] {
        assert_eq!(
            recognised(&mut templates, line.as_bytes()),
            reference(line.as_bytes())
        );
    }
}

#[test]
fn a_head_has_a_number_of_its_own() {
    let second = PLAIN.replace("\"rank\":0", "\"rank\":1");
    let mut templates = learnt(&[PLAIN, &second, SEND]);
    let later = PLAIN.replace("_us\":1795953", "_us\":1795954");
    let mut number = |line: &str| {
        let found = templates.recognise(
            line.as_bytes(),
            &mut Payload::default(),
            &mut Spare::default(),
        );
        let found = found.expect("known");
        found.number
    };
    assert_eq!(number(PLAIN), number(&later));
    let numbers = std::collections::BTreeSet::from([PLAIN, &second, SEND].map(number));
    assert_eq!(numbers.len(), 3);
}

#[test]
fn heads_that_the_parser_sees_otherwise_are_not_kept() {
    for line in [
        // The time stamp that counts comes later.
        PLAIN.replace("\"pid\":449}", "\"pid\":449,\"dump_timestamp_us\":5}"),
        // It belongs to something else.
        PLAIN.replace(
            "\"metadata\":{",
            "\"x\":{\"a\":1,\"dump_timestamp_us\":9},\"metadata\":{",
        ),
        // What stands there isn't the context.
        PLAIN.replace("\"metadata\":{", "\"dump_stats\":{},\"metadata\":{"),
        PLAIN.replace("\"rank\":0", "\"rank\":9"),
    ] {
        let mut templates = learnt(&[&line]);
        assert!(
            recognised(&mut templates, line.as_bytes()).is_none(),
            "{line}"
        );
    }
}

#[test]
fn a_dump_that_never_repeats_stops_being_learnt() {
    let mut templates = Templates::default();
    for pid in 0..10_000 {
        templates.learn(PLAIN.replace("449", &pid.to_string()).as_bytes());
    }
    assert!(templates.credit < 2);
    assert!(templates.slots.iter().all(|slot| slot.len() <= PER_SLOT));
}

#[test]
fn spellings_that_are_left_to_the_parser() {
    let mut templates = learnt(&[PLAIN]);
    for (usual, other) in [
        ("\"coll_sn\":10", "\"coll_sn\":010"),
        ("\"coll_sn\":10", "\"coll_sn\":-10"),
        ("\"coll_sn\":10", "\"coll_sn\":10.0"),
        ("\"coll_sn\":10", "\"coll_sn\":1000000000000000000"),
        ("\"coll_sn\":10", "\"coll_sn\": 10"),
        ("0.367590}}", "0.36759}}"),
        ("0.367590}}", "0.3675900}}"),
        ("0.367590}}", "0.367590} }"),
        ("0.367590}}", "0.367590}}}"),
        ("0.367590}}", "9007199254.740993}}"),
        ("\"AllReduce\"", "\"All\\u0052educe\""),
        ("17959532472", "0179595324"),
    ] {
        let line = PLAIN.replace(usual, other);
        assert_ne!(line, PLAIN);
        assert!(
            recognised(&mut templates, line.as_bytes()).is_none(),
            "{other}"
        );
    }
    assert!(recognised(&mut templates, PLAIN.as_bytes()).is_some());
}

#[test]
fn traces_of_another_shape_are_left_to_the_parser() {
    let mut templates = learnt(&[VERBOSE]);
    for (usual, other) in [
        ("\"coll_start_sn\"", "\"p2p_start_sn\""),
        ("\"coll_stop_sn\":2,", ""),
        ("\"channel_id\":1", "\"channel_id\":-1"),
        ("\"channel_id\":1", "\"channel_id\":01"),
        ("\"kernel_record_sn\":7}", "\"kernel_record_sn\":7,\"x\":1}"),
        ("},{\"channel_id\":1", "}, {\"channel_id\":1"),
        ("]},\"event_trace_ts\"", ",]},\"event_trace_ts\""),
        // Channels that the other list has not, or in another order.
        (
            "\"channel_id\":1,\"kernel_start_ts\"",
            "\"channel_id\":2,\"kernel_start_ts\"",
        ),
        (
            "{\"channel_id\":0,\"kernel_start_ts\":1795953451115101,\"kernel_stop_ts\":1795953451115190,\"kernel_record_ts\":0},",
            "",
        ),
        // No digits before any stamp that they could be like.
        (
            "\"kernel_start_ts\":17959534",
            "\"kernel_start_ts\":\0\0\0\0\0\0\0\0",
        ),
        ("]}}}", "]}},\"x\":1}"),
        ("]}}}", "]}}"),
    ] {
        let line = VERBOSE.replacen(usual, other, 1);
        assert_ne!(line, VERBOSE);
        assert!(
            recognised(&mut templates, line.as_bytes()).is_none(),
            "{other}"
        );
    }
    assert!(recognised(&mut templates, VERBOSE.as_bytes()).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is done to a line: what is recognised is what the parser sees.
    #[test]
    fn what_is_recognised_is_what_the_parser_sees(
        line in prop::sample::select(LINES.to_vec()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, prop_oneof![
            any::<u8>().prop_map(|b| vec![b]),
            "[0-9]{1,3}".prop_map(String::into_bytes),
            prop::sample::select(vec![",", "\"", "}", "{", ".", "-", "\\", "e", " ", ":", "null"]).prop_map(|s| s.as_bytes().to_vec()),
        ]), 0..3),
    ) {
        let mut line = line.as_bytes().to_vec();
        for (at, what, bytes) in edits {
            let at = at.index(line.len());
            match what {
                0 => { line.splice(at..at, bytes); }
                1 => { line.splice(at..=at, bytes); }
                _ => { line.remove(at); }
            }
        }
        let mut templates = learnt(&LINES);
        if let Some(found) = recognised(&mut templates, &line) {
            prop_assert_eq!(Some(found), reference(&line));
        }
        // Learnt from the edited line itself, it is recognised as the parser sees it, or not at all.
        templates.learn(&line);
        if let Some(found) = recognised(&mut templates, &line) {
            prop_assert_eq!(Some(found), reference(&line));
        }
    }

    #[test]
    fn six_decimals_are_the_nearest_float(millionths in 0..1u64 << 53) {
        let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
        let line = PLAIN.replace("0.367590", &text);
        let mut templates = learnt(&[PLAIN]);
        let (_, operation) = recognised(&mut templates, line.as_bytes()).expect("usual");
        let expected: f64 = text.parse().expect("a number");
        prop_assert_eq!(operation.map(|o| o.busbw_gbs), Some(expected));
        prop_assert_eq!(recognised(&mut templates, line.as_bytes()), reference(line.as_bytes()));
    }
}
