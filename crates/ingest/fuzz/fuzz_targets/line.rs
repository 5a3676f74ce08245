//! One line of any bytes between two good ones: it never panics, never costs them anything, and is always accounted for.
#![no_main]

use std::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use nccl_report_ingest::inspector::{Record, Sink, read_dump};

const GOOD: &[u8] = br#"{"header":{"id":"0xgood","rank":0,"n_ranks":8,"nnodes":2},"metadata":{"dump_timestamp_us":1795953247245381,"hostname":"dgx-h01","pid":449},"coll_perf":{"coll":"AllReduce","coll_sn":0,"coll_msg_size_bytes":8192,"coll_exec_time_us":39,"coll_algobw_gbs":0.210051,"coll_busbw_gbs":0.367590}}"#;

#[derive(Default)]
struct Keep(Vec<(u64, Record<'static>)>);

impl Sink for Keep {
    type Error = Infallible;

    fn record(&mut self, record: &Record<'_>, line: u64) -> Result<(), Infallible> {
        self.0.push((line, record.clone().into_owned()));
        Ok(())
    }
}

fuzz_target!(|line: &[u8]| {
    let line: Vec<u8> = line.iter().copied().filter(|&b| b != b'\n').collect();
    let text = [GOOD, b"\n", &line, b"\n", GOOD, b"\n"].concat();
    let mut keep = Keep::default();
    let Ok(tally) = read_dump(&mut &text[..], "fuzz", &mut keep, &mut |_| {});
    assert_eq!(tally.lines, tally.records_total() + tally.rejected.lines);
    assert_eq!(tally.records_total(), keep.0.len() as u64);
    // A lone brace opens an object over many lines, which the third line then breaks.
    let good: Vec<_> = keep.0.iter().filter(|(line, _)| *line != 2).collect();
    assert_eq!(good.len(), 2);
    assert_eq!(good[0].1, good[1].1);
    for (_, record) in &keep.0 {
        assert!(record.context.rank < record.context.n_ranks || record.context.n_ranks == 0);
    }
});
