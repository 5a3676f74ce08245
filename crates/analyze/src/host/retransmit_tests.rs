//! Whole databases, to the host that is named.

use std::path::Path;

use nccl_report_ingest::{NoProgress, Options as IngestOptions, ingest};
use rusqlite::Connection;

use crate::facts::{Finding, FindingKind};
use crate::{Options, analyze};

const MS: i64 = 1_000_000;

/// A host that calls every 60 ms; every 20th call takes 50 ms instead of 1, and holds a retransmit to `to`. One more retransmit lies
/// outside, from `own` to an address of its own.
fn host(folder: &Path, name: &str, own: &str, to: Option<&str>) {
    let db = Connection::open(folder.join(format!("{name}.db"))).expect("opens");
    db.execute_batch("CREATE TABLE nccl_events (timestamp_ns INTEGER, duration_ns INTEGER, pid INTEGER, op TEXT, rank INTEGER, nranks INTEGER, comm_id_hash INTEGER);
        CREATE TABLE tcp_events (timestamp_ns INTEGER, event TEXT, saddr TEXT, daddr TEXT); BEGIN;").expect("made");
    let retransmit = "INSERT INTO tcp_events VALUES (?1, 'tcp_retransmit_skb', ?2, ?3)";
    for k in 0..400_i64 {
        let (start, slow) = (k * 60 * MS, k % 20 == 7);
        let length = if slow { 50 * MS } else { MS };
        db.execute(
            "INSERT INTO nccl_events VALUES (?1, ?2, 7, 'ALL_REDUCE', 0, 8, 1)",
            [start, length],
        )
        .expect("put");
        if let Some(to) = to.filter(|_| slow) {
            db.execute(retransmit, rusqlite::params![start + 9 * MS, own, to])
                .expect("put");
        }
    }
    db.execute(retransmit, rusqlite::params![30 * MS, own, "10.0.0.99"])
        .expect("put");
    db.execute_batch("COMMIT").expect("done");
}

fn named(folder: &Path) -> Vec<Finding> {
    let tables = tempfile::tempdir().expect("a folder");
    let options = IngestOptions {
        inputs: vec![folder.to_owned()],
        dataset: tables.path().join("parquet"),
        exclude: Vec::new(),
        compression_level: 1,
        cancel: Default::default(),
        share: None,
    };
    let dataset = ingest(&options, &NoProgress).expect("ingested");
    let job = analyze(&dataset, &Options::default()).expect("analysed");
    job.findings
        .into_iter()
        .filter(|f| f.kind == FindingKind::TcpRetransmits)
        .collect()
}

#[test]
fn several_senders_to_one_address_name_the_receiver() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, own) in [("a", "10.0.0.1"), ("b", "10.0.0.2"), ("c", "10.0.0.3")] {
        host(folder.path(), name, own, Some("10.0.0.4"));
    }
    host(folder.path(), "d", "10.0.0.4", None);
    let found = named(folder.path());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subjects[0].host, "d");
    assert!(
        found[0].summary.contains("a, b and c send them again"),
        "{}",
        found[0].summary
    );
}

#[test]
fn one_sender_is_named_itself_and_so_are_several_to_an_address_of_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    host(folder.path(), "a", "10.0.0.1", Some("10.0.0.4"));
    host(folder.path(), "d", "10.0.0.4", None);
    let found = named(folder.path());
    assert_eq!((found.len(), found[0].subjects[0].host.as_str()), (1, "a"));
    host(folder.path(), "b", "10.0.0.2", Some("10.0.0.77"));
    host(folder.path(), "c", "10.0.0.3", Some("10.0.0.77"));
    let mut hosts: Vec<String> = named(folder.path())
        .iter()
        .map(|f| f.subjects[0].host.clone())
        .collect();
    hosts.sort();
    assert_eq!(hosts, ["a", "b", "c"]);
}
