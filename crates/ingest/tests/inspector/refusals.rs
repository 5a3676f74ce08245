//! Lines that give no record: each reason, and what is said.

use std::io::{self, Read};

use crate::support::{PLAIN, SEND, read, read_from, reasons, rejection};

fn plain_with(from: &str, to: &str) -> (String, String) {
    assert!(PLAIN.contains(from));
    rejection(&format!("{}\n", PLAIN.replace(from, to)))
}

#[track_caller]
fn assert_rejected((reason, detail): (String, String), expected: &str, words: &str) {
    assert_eq!(reason, expected, "{detail}");
    assert!(detail.contains(words), "{detail:?} should say {words:?}");
}

#[test]
fn invalid_json() {
    let cut = format!("{PLAIN}\n{}\n{PLAIN}\n", &PLAIN[..100]);
    assert_rejected(rejection(&cut), "invalid_json", "EOF");
    let foreign = format!("{PLAIN}\nNCCL WARN something else\n");
    assert_rejected(rejection(&foreign), "invalid_json", "not a JSON object");
    let list = format!("{PLAIN}\n[1,2,3]\n");
    assert_rejected(rejection(&list), "invalid_json", "not a JSON object");
    // As the plugin writes it for a name with a control character in it. Python's json names the same column.
    let name = format!(
        "{PLAIN}\n{}\n",
        PLAIN.replace(r#""default_pg","rank":0,"n_ranks":8,"nnodes":2},"#, ",")
    );
    assert_rejected(
        rejection(&name),
        "invalid_json",
        "expected value at byte 48",
    );
    let deep = format!("{PLAIN}\n{}\n", "{\"a\":".repeat(200));
    assert_rejected(rejection(&deep), "invalid_json", "");
}

#[test]
fn truncated() {
    for cut in 1..PLAIN.len() {
        let dump = read(format!("{SEND}\n{}", &PLAIN[..cut]));
        assert_eq!(
            reasons(&dump.tally.rejected),
            [("truncated", 1)].into(),
            "{cut}"
        );
        assert_eq!(dump.records.len(), 1);
    }
    assert_eq!(read(PLAIN).tally.rejected.lines, 0);
}

#[test]
fn a_stream_that_breaks_off() {
    struct Breaks<'a>(&'a [u8]);
    impl Read for Breaks<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("the disk is gone"));
            }
            self.0.read(buffer)
        }
    }
    let text = format!("{PLAIN}\n{SEND}\n{}", &PLAIN[..200]);
    let dump = read_from(&mut Breaks(text.as_bytes()));
    assert_eq!(dump.records.len(), 2);
    assert_eq!(reasons(&dump.tally.rejected), [("truncated", 1)].into());
    assert_eq!(dump.tally.damage.as_deref(), Some("the disk is gone"));
    let dump = read_from(&mut Breaks(b"sl"));
    assert_eq!(
        dump.tally.skipped.as_deref(),
        Some("no Inspector record before the damage: the disk is gone")
    );
}

#[test]
fn invalid_utf8() {
    let mut text = PLAIN.as_bytes().to_vec();
    let host = PLAIN.find("dgx").expect("host");
    text[host] = 0xff;
    text.extend_from_slice(format!("\n{PLAIN}\n").as_bytes());
    let dump = read(&text);
    assert_eq!(reasons(&dump.tally.rejected), [("invalid_utf8", 1)].into());
    assert_eq!(
        dump.tally.rejected.examples[0].detail,
        format!("not UTF-8 from byte {} on", host + 1)
    );
    assert_eq!(dump.records.len(), 1);
}

#[test]
fn missing_field() {
    for (key, told) in [
        (r#""id":"0xe7da8e667b6d5e","#, "header.id is missing"),
        (r#""rank":0,"#, "header.rank is missing"),
        (r#""n_ranks":8,"#, "header.n_ranks is missing"),
        (r#","nnodes":2"#, "header.nnodes is missing"),
        (r#""hostname":"dgx-h01","#, "metadata.hostname is missing"),
        (r#","pid":449"#, "metadata.pid is missing"),
        (
            r#""dump_timestamp_us":1795953247245381,"#,
            "metadata.dump_timestamp_us is missing",
        ),
        (r#""coll":"AllReduce","#, "coll_perf.coll is missing"),
        (r#""coll_sn":0,"#, "coll_perf.coll_sn is missing"),
        (
            r#""coll_msg_size_bytes":8192,"#,
            "coll_perf.coll_msg_size_bytes is missing",
        ),
        (
            r#""coll_exec_time_us":39,"#,
            "coll_perf.coll_exec_time_us is missing",
        ),
    ] {
        assert_rejected(plain_with(key, ""), "missing_field", told);
    }
    assert_rejected(
        rejection(&SEND.replace(r#""p2p_peer":1,"#, "")),
        "missing_field",
        "p2p_perf.p2p_peer is missing",
    );
    assert_rejected(
        plain_with(r#""rank":0"#, r#""rank":null"#),
        "missing_field",
        "header.rank is missing",
    );
    assert_rejected(
        plain_with(r#""rank":0"#, r#""rank":"zero""#),
        "missing_field",
        "header.rank isn't a number",
    );
    assert_rejected(
        plain_with(r#""rank":0"#, r#""rank":[0]"#),
        "missing_field",
        "header.rank isn't a number",
    );
    assert_rejected(
        plain_with(r#""id":"0xe7da8e667b6d5e""#, r#""id":7"#),
        "missing_field",
        "header.id isn't text",
    );
    assert_rejected(
        plain_with(r#""hostname":"dgx-h01""#, r#""hostname":"""#),
        "missing_field",
        "metadata.hostname",
    );
    let empty = format!("{PLAIN}\n{{\"header\":{{}},\"metadata\":{{}},\"coll_perf\":{{}}}}\n");
    assert_rejected(rejection(&empty), "missing_field", "header.id is missing");
    let objects = PLAIN.replace(r#""coll_perf":{"#, r#""coll_perf":7,"x":{"#);
    assert_rejected(
        rejection(&objects),
        "missing_field",
        "coll_perf isn't an object",
    );
    let objects = PLAIN.replace(r#""metadata":{"#, r#""metadata":[],"x":{"#);
    assert_rejected(
        rejection(&objects),
        "missing_field",
        "metadata isn't an object",
    );
    let nothing = format!("{PLAIN}\n{{\"level\":\"info\"}}\n");
    assert_rejected(rejection(&nothing), "missing_field", "none of coll_perf");
}

#[test]
fn implausible() {
    for (from, to, told) in [
        (
            "_time_us\":39",
            "_time_us\":0",
            "coll_perf.coll_exec_time_us is 0: no kernel takes less than a microsecond",
        ),
        ("_time_us\":39", "_time_us\":0.7", "less than a microsecond"),
        ("_time_us\":39", "_time_us\":-39", "negative"),
        ("_time_us\":39", "_time_us\":-0.5", "negative"),
        ("_time_us\":39", "_time_us\":\"nan\"", "not a number"),
        ("_time_us\":39", "_time_us\":nan", "not a number"),
        ("_time_us\":39", "_time_us\":inf", "not a number"),
        (
            "_time_us\":39",
            "_time_us\":18446744073707631592",
            "18446744073707631592: more than 30 days",
        ),
        (
            "_time_us\":39",
            "_time_us\":2592000000001",
            "more than 30 days",
        ),
        (
            "_bytes\":8192",
            "_bytes\":18446744073708503040",
            "more than 2^50",
        ),
        ("_bytes\":8192", "_bytes\":-1", "negative"),
        ("_bytes\":8192", "_bytes\":0.5", "not a whole number"),
        ("_sn\":0", "_sn\":-1", "negative"),
        ("_sn\":0", "_sn\":9223372036854775808", "beyond 63 bits"),
        (
            "\"rank\":0",
            "\"rank\":8",
            "header.rank is 8, but header.n_ranks is 8",
        ),
        ("\"rank\":0", "\"rank\":-1", "negative"),
        ("\"n_ranks\":8", "\"n_ranks\":0", "a communicator has ranks"),
        (
            "\"n_ranks\":8",
            "\"n_ranks\":4294967296",
            "more than any job has",
        ),
        ("\"nnodes\":2", "\"nnodes\":0", "a communicator has nodes"),
        (
            "\"nnodes\":2",
            "\"nnodes\":9",
            "header.nnodes is 9, but header.n_ranks is 8",
        ),
        ("\"pid\":449", "\"pid\":-449", "negative"),
        (
            "_us\":1795953247245381",
            "_us\":1795953247245381000",
            "after the year 2200",
        ),
    ] {
        assert_rejected(plain_with(from, to), "implausible", told);
    }
    assert_rejected(
        rejection(&SEND.replace("_peer\":1", "_peer\":2")),
        "implausible",
        "p2p_perf.p2p_peer is 2, but header.n_ranks is 2",
    );
}

#[test]
fn the_largest_plausible_values_pass() {
    for (from, to) in [
        ("_time_us\":39", "_time_us\":2592000000000"),
        ("_time_us\":39", "_time_us\":1"),
        ("_bytes\":8192", "_bytes\":1125899906842624"),
        ("_bytes\":8192", "_bytes\":0"),
        ("\"rank\":0", "\"rank\":7"),
        ("\"nnodes\":2", "\"nnodes\":8"),
    ] {
        assert_eq!(read(PLAIN.replace(from, to)).records.len(), 1, "{to}");
    }
}

#[test]
fn too_long_costs_nothing_but_itself() {
    /// A line of 100 MB between two good ones.
    struct Giant {
        head: &'static [u8],
        filler: usize,
        tail: Vec<u8>,
        told: usize,
    }
    impl Read for Giant {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if !self.head.is_empty() {
                return self.head.read(buffer);
            }
            if self.filler > 0 {
                let n = self.filler.min(buffer.len());
                buffer[..n].fill(b'x');
                self.filler -= n;
                return Ok(n);
            }
            let n = (&self.tail[self.told..]).read(buffer)?;
            self.told += n;
            Ok(n)
        }
    }
    let mut giant = Giant {
        head: PLAIN.as_bytes(),
        filler: 0,
        tail: Vec::new(),
        told: 0,
    };
    giant.filler = 100_000_000;
    giant.tail = format!("\n{SEND}\n").into_bytes();
    let dump = read_from(&mut giant);
    // The first record has no line feed behind it, so the giant line swallows it.
    assert_eq!(reasons(&dump.tally.rejected), [("too_long", 1)].into());
    assert_eq!(
        dump.tally.bytes_inflated,
        (PLAIN.len() + SEND.len() + 2 + 100_000_000) as u64
    );
    assert_eq!(dump.records.len(), 1);
    assert_eq!(dump.records[0].0, 2);
}

#[test]
fn only_the_first_few_are_shown_by_file_and_line() {
    let mut text = format!("{PLAIN}\n\n");
    text.push_str(&"spam\n".repeat(10));
    let dump = read(text);
    assert_eq!(dump.tally.rejected.lines, 10);
    let places: Vec<(&str, u64)> = dump
        .tally
        .rejected
        .examples
        .iter()
        .map(|e| (e.path.as_str(), e.line))
        .collect();
    assert_eq!(places, [("dump.log", 3), ("dump.log", 4), ("dump.log", 5)]);
}
