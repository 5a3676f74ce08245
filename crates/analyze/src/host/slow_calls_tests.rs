//! The rows are those that SQLite itself gives.

use std::path::{Path, PathBuf};

use nccl_report_ingest::{NoProgress, Options as IngestOptions, ingest};
use proptest::prelude::*;
use rusqlite::Connection;

use crate::facts::{SlowLimit, Traces};
use crate::{Options, analyze};

/// The question as its users ask it, with all rows instead of the first 20.
const QUESTION: &str = "
    WITH slow_collectives AS (
      SELECT timestamp_ns, duration_ns, rank, nranks, comm_id_hash, pid FROM nccl_events
       WHERE op = 'ALL_REDUCE' AND duration_ns > 50000000)
    SELECT s.rank, s.duration_ns/1e6 AS ms, COUNT(t.timestamp_ns) AS retransmits_in_window
      FROM slow_collectives s LEFT JOIN tcp_events t
        ON t.timestamp_ns BETWEEN s.timestamp_ns AND s.timestamp_ns + s.duration_ns AND t.event = 'tcp_retransmit_skb'
     GROUP BY s.rank, s.duration_ns, s.timestamp_ns ORDER BY ms DESC";

type Row = (Option<i64>, f64, u64);

fn by_sqlite(path: &Path, limit: &str) -> Vec<Row> {
    let db = Connection::open(path).expect("opens");
    let mut statement = db.prepare(&format!("{QUESTION} {limit}")).expect("a query");
    let rows = statement.query_map([], |r| {
        Ok((r.get(0)?, r.get(1)?, r.get::<_, i64>(2)? as u64))
    });
    rows.expect("rows").collect::<Result<_, _>>().expect("rows")
}

fn traces(path: &Path, slow: SlowLimit) -> Traces {
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = ingest(
        &IngestOptions {
            inputs: vec![path.to_owned()],
            dataset: folder.path().join("parquet"),
            exclude: Vec::new(),
            compression_level: 1,
            cancel: Default::default(),
            share: None,
        },
        &NoProgress,
    )
    .expect("ingested");
    let options = Options {
        slow,
        ..Options::default()
    };
    let job = analyze(&dataset, &options).expect("analysed");
    job.traces.expect("a trace")
}

fn by_us(path: &Path) -> Vec<Row> {
    traces(path, SlowLimit::Milliseconds(50.0))
        .slow
        .rows
        .iter()
        .filter(|r| r.op == "ALL_REDUCE")
        .map(|r| (r.rank, r.duration_ns as f64 / 1e6, r.retransmits_in_window))
        .collect()
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/traces/gpu-001-nccl.db")
}

#[test]
fn the_fixture_gives_the_rows_of_sqlite_but_for_the_length_that_is_no_number() {
    let expected = by_sqlite(&fixture(), "");
    // SQLite takes a text for larger than any number; the account of the input names the row.
    let (strange, expected): (Vec<Row>, Vec<Row>) = expected.into_iter().partition(|r| r.1 == 0.0);
    assert_eq!(strange.len(), 1);
    assert_eq!(by_us(&fixture()), expected);
    assert_eq!(by_us(&fixture()).first(), Some(&(None, 80.0, 0)));
}

#[test]
fn by_host_connection_and_address_it_is_what_is_put_in() {
    let slow = traces(&fixture(), SlowLimit::Milliseconds(50.0)).slow;
    // 19 retransmits on the steps with k % 7 == 3, and two more of 10.0.0.3, of which one lies on the very end of a window.
    let db = Connection::open(fixture()).expect("opens");
    let total: i64 = db
        .query_row("SELECT count(*) FROM tcp_events WHERE event = 'tcp_retransmit_skb' AND timestamp_ns IS NOT NULL", [], |r| r.get(0))
        .expect("a count");
    let host = &slow.by_host[0];
    assert_eq!(
        (host.host.as_str(), host.retransmits as i64, host.inside),
        ("gpu-001-nccl", total, host.retransmits - 1)
    );
    let connections: Vec<_> = slow
        .by_connection
        .iter()
        .map(|c| (c.what.as_str(), c.retransmits, c.inside))
        .collect();
    assert_eq!(
        connections,
        [
            (
                "10.0.0.1 → 10.0.0.2",
                host.retransmits - 2,
                host.retransmits - 2
            ),
            ("10.0.0.1 → 10.0.0.3", 2, 1)
        ]
    );
    assert_eq!(
        (slow.by_address.len(), slow.by_address[0].what.as_str()),
        (1, "10.0.0.1")
    );
}

#[test]
fn slow_can_be_a_multiple_of_the_median() {
    let slow = traces(&fixture(), SlowLimit::TimesMedian(5.0)).slow;
    // The median all-reduce takes 2 ms, and 60 are more than ten of these.
    let reduces: Vec<_> = slow.rows.iter().filter(|r| r.op == "ALL_REDUCE").collect();
    assert_eq!(reduces.len(), by_us(&fixture()).len());
    assert_eq!(traces(&fixture(), SlowLimit::TimesMedian(1e6)).slow.slow, 0);
}

fn made(
    calls: &[(Option<i64>, Option<i64>, Option<i64>)],
    events: &[(Option<i64>, bool)],
) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("host.db");
    let db = Connection::open(&path).expect("opens");
    db.execute_batch("CREATE TABLE nccl_events (timestamp_ns INTEGER, duration_ns INTEGER, pid INTEGER, op TEXT, rank INTEGER, nranks INTEGER, comm_id_hash INTEGER);
        CREATE TABLE tcp_events (timestamp_ns INTEGER, event TEXT); BEGIN;").expect("made");
    for (start, length, rank) in calls {
        db.execute(
            "INSERT INTO nccl_events VALUES (?1, ?2, 7, 'ALL_REDUCE', ?3, 8, 1)",
            rusqlite::params![start, length, rank],
        )
        .expect("put");
    }
    for (at, is) in events {
        let event = if *is {
            "tcp_retransmit_skb"
        } else {
            "tcp_reset"
        };
        db.execute(
            "INSERT INTO tcp_events VALUES (?1, ?2)",
            rusqlite::params![at, event],
        )
        .expect("put");
    }
    db.execute_batch("COMMIT").expect("done");
    drop(db);
    (folder, path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Few distinct values, so that ties, doubles and edges are common; nulls everywhere.
    #[test]
    fn any_calls_and_retransmits_give_the_rows_of_sqlite(
        calls in prop::collection::vec((prop::option::weighted(0.9, 0_i64..6), prop::option::weighted(0.9, 4_i64..9), prop::option::weighted(0.8, 0_i64..3)), 1..40),
        events in prop::collection::vec((prop::option::weighted(0.9, 0_i64..16), any::<bool>()), 1..40),
    ) {
        let unit = 10_000_000;
        let calls: Vec<_> = calls.into_iter().map(|(s, l, r)| (s.map(|s| s * unit), l.map(|l| l * unit), r)).collect();
        let events: Vec<_> = events.into_iter().map(|(at, is)| (at.map(|at| at * unit), is)).collect();
        let (_folder, path) = made(&calls, &events);
        prop_assert_eq!(by_us(&path), by_sqlite(&path, ""));
        let first: Vec<Row> = by_us(&path).into_iter().take(20).collect();
        prop_assert_eq!(first, by_sqlite(&path, "LIMIT 20"));
    }
}
