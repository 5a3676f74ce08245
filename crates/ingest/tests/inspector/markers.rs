//! Context that a marker carries on: never another's.

use crate::support::{PLAIN, bare, bare_send, marker, origins, read, reasons};

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn of(pairs: &[(&str, i64)]) -> Vec<(String, i64)> {
    pairs.iter().map(|&(id, sn)| (id.to_owned(), sn)).collect()
}

#[test]
fn context_comes_from_the_marker_before() {
    let dump = read(lines(&[
        marker("v4.3", "0xa", 2, 1, None),
        bare(0),
        bare(1),
        bare_send(1),
        marker("v4.3", "0xb", 1, 0, None),
        bare(7),
    ]));
    assert_eq!(dump.tally.rejected.lines, 0);
    assert_eq!(dump.tally.truncated_dumps, 0);
    assert_eq!(
        origins(&dump),
        of(&[("0xa", 0), ("0xa", 1), ("0xa", 1), ("0xb", 7)])
    );
    let context = &dump.records[3].1.context;
    assert_eq!(
        (context.rank, context.n_ranks, context.nnodes, context.pid),
        (1, 4, 2, 7)
    );
    assert_eq!(context.dump_timestamp_us, 1_767_225_600_000_000);
    assert_eq!(
        (&*context.hostname, context.comm_name.as_deref()),
        ("gpu-001", Some("g"))
    );
}

#[test]
fn without_a_marker_lines_are_orphaned() {
    let dump = read(lines(&[
        bare(0),
        bare_send(1),
        marker("v4.3", "0xa", 1, 0, None),
        bare(2),
    ]));
    assert_eq!(reasons(&dump.tally.rejected), [("orphaned", 2)].into());
    assert_eq!(origins(&dump), of(&[("0xa", 2)]));
}

#[test]
fn beyond_the_promise_lines_are_orphaned() {
    let dump = read(lines(&[
        marker("v4.3", "0xa", 1, 1, None),
        bare(0),
        bare(1),
        bare_send(1),
    ]));
    assert_eq!(reasons(&dump.tally.rejected), [("orphaned", 2)].into());
    assert_eq!(origins(&dump), of(&[("0xa", 0)]));
}

#[test]
fn a_cut_marker_orphans_its_lines_and_the_earlier_one_gives_them_nothing() {
    let cut = &marker("v4.3", "0xb", 3, 0, None)[..120];
    let dump = read(lines(&[
        marker("v4.3", "0xa", 5, 0, None),
        bare(0),
        bare(1),
        cut.to_owned(),
        bare(70),
        bare(71),
        marker("v4.3", "0xc", 1, 0, None),
        bare(9),
    ]));
    assert_eq!(
        reasons(&dump.tally.rejected),
        [("invalid_json", 1), ("orphaned", 2)].into()
    );
    assert_eq!(origins(&dump), of(&[("0xa", 0), ("0xa", 1), ("0xc", 9)]));
    assert_eq!(dump.tally.truncated_dumps, 1);
}

#[test]
fn the_head_of_a_marker_cut_off() {
    let tail = &marker("v4.3", "0xb", 3, 0, None)[200..];
    let dump = read(lines(&[
        marker("v4.3", "0xa", 3, 0, None),
        bare(0),
        tail.to_owned(),
        bare(70),
    ]));
    assert_eq!(
        reasons(&dump.tally.rejected),
        [("invalid_json", 1), ("orphaned", 1)].into()
    );
    assert_eq!(origins(&dump), of(&[("0xa", 0)]));
}

#[test]
fn a_marker_that_promises_nonsense_is_no_marker() {
    for spoilt in [
        marker("v4.3", "0xb", 3, 0, None).replace(r#""coll_records":3"#, r#""coll_records":-3"#),
        marker("v4.3", "0xb", 3, 0, None).replace(r#""rank":1"#, r#""rank":9"#),
        marker("v4.3", "0xb", 3, 0, None).replace("dump_stats", "dump_stqts"),
    ] {
        let dump = read(lines(&[
            marker("v4.3", "0xa", 2, 0, None),
            bare(0),
            spoilt,
            bare(70),
        ]));
        assert_eq!(origins(&dump), of(&[("0xa", 0)]));
        assert_eq!(reasons(&dump.tally.rejected)["orphaned"], 1);
    }
}

#[test]
fn truncated_dumps_are_counted_and_their_lines_are_good() {
    let dump = read(lines(&[
        marker("v4.4", "0xa", 3, 0, None),
        bare(0),
        marker("v4.4", "0xb", 2, 0, None),
        bare(5),
    ]));
    assert_eq!(dump.tally.truncated_dumps, 2);
    assert_eq!(dump.tally.rejected.lines, 0);
    assert_eq!(origins(&dump), of(&[("0xa", 0), ("0xb", 5)]));
}

#[test]
fn a_rejected_record_uses_up_its_place() {
    let zero = bare(1).replace("_time_us\":100", "_time_us\":0");
    let dump = read(lines(&[
        marker("v4.3", "0xa", 2, 0, None),
        bare(0),
        zero,
        bare(2),
    ]));
    assert_eq!(
        reasons(&dump.tally.rejected),
        [("implausible", 1), ("orphaned", 1)].into()
    );
    assert_eq!(dump.tally.truncated_dumps, 0);
    // So does one that isn't JSON, when it can only have been a record.
    let broken = bare(1).replace(":100,", ":1x0,");
    let dump = read(lines(&[
        marker("v4.3", "0xa", 3, 0, None),
        bare(0),
        broken,
        bare(2),
    ]));
    assert_eq!(reasons(&dump.tally.rejected), [("invalid_json", 1)].into());
    assert_eq!(origins(&dump), of(&[("0xa", 0), ("0xa", 2)]));
    assert_eq!(dump.tally.truncated_dumps, 0);
}

#[test]
fn strangers_between_the_lines_change_nothing() {
    let dump = read(lines(&[
        marker("v4.3", "0xa", 2, 0, None),
        "NCCL WARN something else".to_owned(),
        bare(0),
        "[1,2,3]".to_owned(),
        String::new(),
        r#"{"header":{},"metadata":{},"coll_perf":{}}"#.to_owned(),
        r#"{"summary":{"n":1}}"#.to_owned(),
        bare(1),
    ]));
    assert_eq!(origins(&dump), of(&[("0xa", 0), ("0xa", 1)]));
    assert_eq!(
        reasons(&dump.tally.rejected),
        [("invalid_json", 2), ("missing_field", 1)].into()
    );
}

#[test]
fn a_whole_record_of_its_own_ends_the_dump() {
    let dump = read(lines(&[
        marker("v4.1", "0xa", 2, 0, None),
        PLAIN.to_owned(),
        bare(0),
    ]));
    assert_eq!(reasons(&dump.tally.rejected), [("orphaned", 1)].into());
    assert_eq!(dump.tally.truncated_dumps, 0);
}

#[test]
fn zeros_in_the_middle_may_have_swallowed_a_marker() {
    let mut text = lines(&[marker("v4.3", "0xa", 3, 0, None), bare(0)]).into_bytes();
    text.extend([0; 300]);
    text.extend(lines(&[bare(70)]).into_bytes());
    let dump = read(text);
    assert_eq!(origins(&dump), of(&[("0xa", 0)]));
    assert_eq!(reasons(&dump.tally.rejected), [("orphaned", 1)].into());
}

#[test]
fn a_lost_line_feed_costs_nothing() {
    let dump = read(format!(
        "{}\n{}{}\n{}\n",
        marker("v4.3", "0xa", 3, 0, None),
        bare(0),
        bare(1),
        bare(2)
    ));
    assert_eq!(dump.tally.rejected.lines, 0);
    assert_eq!(origins(&dump), of(&[("0xa", 0), ("0xa", 1), ("0xa", 2)]));
    assert_eq!(reasons(&dump.tally.repaired), [("joined_lines", 2)].into());
}
