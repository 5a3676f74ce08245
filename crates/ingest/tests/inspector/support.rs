//! Reads text and keeps what comes of it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Read;

use nccl_report_ingest::LineCounts;
use nccl_report_ingest::inspector::{Body, FileTally, Operation, Record, Sink, read_dump};

/// Keeps every record and its line.
#[derive(Default)]
pub struct Keep(pub Vec<(u64, Record<'static>)>);

impl Sink for Keep {
    type Error = Infallible;

    fn record(&mut self, record: &Record<'_>, line: u64) -> Result<(), Infallible> {
        self.0.push((line, record.clone().into_owned()));
        Ok(())
    }
}

/// What a dump gave.
pub struct Dump {
    pub records: Vec<(u64, Record<'static>)>,
    pub tally: FileTally,
}

pub fn read_from(input: &mut dyn Read) -> Dump {
    let mut keep = Keep::default();
    let mut progress = 0;
    let Ok(tally) = read_dump(input, "dump.log", &mut keep, &mut |n| progress += n);
    assert_eq!(progress, keep.0.len() as u64, "progress tells every record");
    assert_eq!(
        tally.lines,
        tally.records_total() + tally.rejected.lines,
        "{tally:?}"
    );
    for counts in [&tally.rejected, &tally.repaired] {
        assert_eq!(counts.lines, counts.by_reason.values().sum::<u64>());
        for (reason, &n) in &counts.by_reason {
            let examples = counts
                .examples
                .iter()
                .filter(|e| e.reason == *reason)
                .count() as u64;
            assert_eq!(examples, n.min(3), "{reason}: the first few are shown");
        }
    }
    if tally.skipped.is_none() {
        assert_eq!(tally.records_total(), keep.0.len() as u64);
    } else {
        assert_eq!(tally.lines, 0);
    }
    Dump {
        records: keep.0,
        tally,
    }
}

pub fn read(text: impl AsRef<[u8]>) -> Dump {
    read_from(&mut text.as_ref())
}

/// The one operation of a text that holds nothing else.
pub fn one(text: &str) -> (Record<'static>, Operation<'static>) {
    let mut dump = read(text);
    assert_eq!(dump.tally.rejected, LineCounts::default());
    assert_eq!(dump.records.len(), 1);
    let (_, record) = dump.records.remove(0);
    let operation = operation(&record).clone();
    (record, operation)
}

pub fn operation<'r>(record: &'r Record<'static>) -> &'r Operation<'static> {
    match &record.body {
        Body::Operation(operation) => operation,
        other => panic!("no operation: {other:?}"),
    }
}

/// Counts by reason, for comparison.
pub fn reasons(counts: &LineCounts) -> BTreeMap<&str, u64> {
    counts
        .by_reason
        .iter()
        .map(|(reason, &n)| (reason.as_str(), n))
        .collect()
}

/// The one reason and detail for which a line is rejected.
pub fn rejection(text: &str) -> (String, String) {
    let dump = read(text);
    assert_eq!(dump.tally.rejected.lines, 1, "{text}: {:?}", dump.tally);
    let example = &dump.tally.rejected.examples[0];
    (example.reason.clone(), example.detail.clone())
}

/// A line of v4.0, second behaviour, as the plugin writes it.
pub const PLAIN: &str = r#"{"header":{"id":"0xe7da8e667b6d5e","comm_name":"default_pg","rank":0,"n_ranks":8,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.0","git_rev":"nccl4py-v0.2.0-554-g73cf1122","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1795953247245381,"hostname":"dgx-h01","pid":449},"coll_perf":{"coll":"AllReduce","coll_sn":0,"coll_msg_size_bytes":8192,"coll_exec_time_us":39,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":0.210051,"coll_busbw_gbs":0.367590}}"#;

pub const SEND: &str = r#"{"header":{"id":"0xb10cfe9892bb03","comm_name":"pp pair","rank":0,"n_ranks":2,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.0","git_rev":"x","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1795953273933351,"hostname":"dgx-h01","pid":1311},"p2p_perf":{"p2p":"Send","p2p_sn":2,"p2p_peer":1,"p2p_msg_size_bytes":65536,"p2p_exec_time_us":1,"p2p_timing_source":"collective_cpu","p2p_algobw_gbs":65.536000,"p2p_busbw_gbs":65.536000}}"#;

/// A marker of a dump of `id` that promises so many lines.
pub fn marker(version: &str, id: &str, coll: u64, p2p: u64, proxy: Option<u64>) -> String {
    let proxy = proxy.map_or(String::new(), |n| format!(r#","proxy_records":{n}"#));
    format!(
        r#"{{"header":{{"id":"{id}","comm_name":"g","rank":1,"n_ranks":4,"nnodes":2}},"metadata":{{"inspector_output_format_version":"{version}","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1767225600000000,"hostname":"gpu-001","pid":7}},"dump_stats":{{"coll_records":{coll},"coll_dropped_total":5,"coll_dropped_since_last_dump":2,"p2p_records":{p2p},"p2p_dropped_total":0,"p2p_dropped_since_last_dump":0{proxy}}}}}"#
    )
}

/// A collective without context.
pub fn bare(sn: u64) -> String {
    format!(
        r#"{{"coll_perf":{{"coll":"AllReduce","coll_algo":"RING","coll_proto":"LL","coll_sn":{sn},"coll_msg_size_bytes":1048576,"coll_exec_time_us":100,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":10.485760,"coll_busbw_gbs":15.728640}}}}"#
    )
}

/// A Send without context.
pub fn bare_send(sn: u64) -> String {
    format!(
        r#"{{"p2p_perf":{{"p2p":"Send","p2p_sn":{sn},"p2p_peer":2,"p2p_msg_size_bytes":1000,"p2p_exec_time_us":10,"p2p_timing_source":"kernel_gpu","p2p_algobw_gbs":0.100000,"p2p_busbw_gbs":0.100000}}}}"#
    )
}

/// The communicator of each record, and its sequence number, marker lines left out.
pub fn origins(dump: &Dump) -> Vec<(String, i64)> {
    dump.records
        .iter()
        .filter_map(|(_, record)| match &record.body {
            Body::Operation(operation) => {
                Some((record.context.id.to_string(), operation.sequence_number))
            }
            _ => None,
        })
        .collect()
}
