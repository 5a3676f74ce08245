//! Whole databases, to the host that is named, or nobody.

use std::path::Path;

use nccl_report_ingest::{NoProgress, Options as IngestOptions, ingest};
use rusqlite::Connection;

use crate::facts::{Finding, FindingKind, Severity};
use crate::{Options, analyze};

const MS: i64 = 1_000_000;

/// What a host does: a call every 60 ms, of which every 20th is slow.
#[derive(Clone, Copy)]
struct Host<'a> {
    name: &'a str,
    own: &'a str,
    /// Each slow call holds a retransmit to this address.
    to: Option<&'a str>,
    /// Retransmits a second to an address of its own, at any time.
    anyway: f64,
    /// Retransmits come every so many ms of a call, slow or not.
    each_ms: Option<i64>,
    /// Length of a call and of a slow one, ms.
    ms: (i64, i64),
}

const HOST: Host<'static> = Host {
    name: "a",
    own: "10.0.0.1",
    to: None,
    anyway: 0.05,
    each_ms: None,
    ms: (1, 50),
};

const CALLS: i64 = 400;

impl Host<'_> {
    fn write(self, folder: &Path) {
        let db = Connection::open(folder.join(format!("{}.db", self.name))).expect("opens");
        db.execute_batch("CREATE TABLE nccl_events (timestamp_ns INTEGER, duration_ns INTEGER, pid INTEGER, op TEXT, rank INTEGER, nranks INTEGER, comm_id_hash INTEGER);
            CREATE TABLE tcp_events (timestamp_ns INTEGER, event TEXT, saddr TEXT, daddr TEXT); BEGIN;").expect("made");
        let retransmit = |at: i64, to: &str| {
            let sql = "INSERT INTO tcp_events VALUES (?1, 'tcp_retransmit_skb', ?2, ?3)";
            db.execute(sql, rusqlite::params![at, self.own, to])
                .expect("put");
        };
        for k in 0..CALLS {
            let (start, slow) = (k * 60 * MS, k % 20 == 7);
            let length = if slow { self.ms.1 } else { self.ms.0 };
            db.execute(
                "INSERT INTO nccl_events VALUES (?1, ?2, 7, 'ALL_REDUCE', 0, 8, 1)",
                [start, length * MS],
            )
            .expect("put");
            if let Some(to) = self.to.filter(|_| slow) {
                // Two at a time: one loss seldom comes alone.
                retransmit(start + 9 * MS, to);
                retransmit(start + 9 * MS + k * 1000, to);
            }
            if let Some(each) = self.each_ms {
                (1..=length / each)
                    .for_each(|i| retransmit(start + i * each * MS - 1, "10.0.0.99"));
            }
        }
        // By the golden ratio: as even as chance, and in step with nothing.
        let all = (self.anyway * (CALLS * 60) as f64 / 1e3) as u32;
        for i in 1..=all {
            let part = (f64::from(i) * 0.618_033_988_749_894_9).fract();
            retransmit((part * (CALLS * 60 * MS) as f64) as i64, "10.0.0.99");
        }
        db.execute_batch("COMMIT").expect("done");
    }
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
    // However much is lost anyway.
    for anyway in [0.05, 5.0, 30.0] {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, own) in [("a", "10.0.0.1"), ("b", "10.0.0.2"), ("c", "10.0.0.3")] {
            let to = Some("10.0.0.4");
            Host {
                name,
                own,
                to,
                anyway,
                ..HOST
            }
            .write(folder.path());
        }
        let (name, own) = ("d", "10.0.0.4");
        Host {
            name,
            own,
            anyway,
            ..HOST
        }
        .write(folder.path());
        let found = named(folder.path());
        assert_eq!(found.len(), 1, "{anyway}: {found:?}");
        assert_eq!(found[0].subjects[0].host, "d");
        assert!(
            found[0].summary.contains("a, b and c send them again"),
            "{}",
            found[0].summary
        );
    }
}

#[test]
fn one_sender_is_named_itself_and_an_address_of_nobody_is_named_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let to = Some("10.0.0.4");
    Host { to, ..HOST }.write(folder.path());
    let (name, own) = ("d", "10.0.0.4");
    Host { name, own, ..HOST }.write(folder.path());
    let found = named(folder.path());
    assert_eq!((found.len(), found[0].subjects[0].host.as_str()), (1, "a"));
    for (name, own) in [("b", "10.0.0.2"), ("c", "10.0.0.3")] {
        let to = Some("10.0.0.77");
        Host {
            name,
            own,
            to,
            ..HOST
        }
        .write(folder.path());
    }
    let mut hosts: Vec<String> = named(folder.path())
        .iter()
        .map(|f| f.subjects[0].host.clone())
        .collect();
    hosts.sort();
    assert_eq!(hosts, ["10.0.0.77", "a"]);
}

#[test]
fn without_addresses_one_is_named_and_of_several_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    // Each with a background of its own, else they would be copies of one file.
    let write = |name, to, anyway| {
        let host = Host {
            name,
            own: "",
            to,
            anyway,
            ..HOST
        };
        host.write(folder.path());
    };
    write("a", Some(""), 0.05);
    write("d", None, 0.1);
    let found = named(folder.path());
    assert_eq!((found.len(), found[0].subjects[0].host.as_str()), (1, "a"));
    assert!(!found[0].candidates_only);
    write("b", Some(""), 0.15);
    write("c", Some(""), 0.2);
    let found = named(folder.path());
    assert_eq!(found.len(), 1, "{found:?}");
    let mut hosts: Vec<&str> = found[0].subjects.iter().map(|s| s.host.as_str()).collect();
    // The one that sends none again may be whom the others send to.
    assert_eq!(hosts.pop(), Some("d"));
    hosts.sort_unstable();
    assert_eq!(hosts, ["a", "b", "c"]);
    assert!(found[0].candidates_only);
    assert_eq!(found[0].severity, Severity::Info);
}

#[test]
fn several_that_send_to_ends_of_their_own_are_named_each() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, own, to) in [("a", "10.0.0.1", "10.0.0.9"), ("b", "10.0.0.2", "10.0.0.8")] {
        let to = Some(to);
        Host {
            name,
            own,
            to,
            ..HOST
        }
        .write(folder.path());
    }
    let mut hosts: Vec<String> = named(folder.path())
        .iter()
        .map(|f| f.subjects[0].host.clone())
        .collect();
    hosts.sort();
    assert_eq!(hosts, ["a", "b"]);
}

#[test]
fn two_in_each_slow_call_show_through_thirty_a_second_and_are_counted() {
    for anyway in [0.05, 5.0, 30.0] {
        let folder = tempfile::tempdir().expect("a folder");
        let to = Some("10.0.0.99");
        Host { to, anyway, ..HOST }.write(folder.path());
        let (name, own) = ("b", "10.0.0.2");
        Host {
            name,
            own,
            anyway,
            ..HOST
        }
        .write(folder.path());
        let found = named(folder.path());
        assert_eq!(found.len(), 1, "{anyway}: {found:?}");
        assert_eq!(found[0].subjects[0].host, "a");
        let number = |key: &str| found[0].evidence[key].as_f64().expect("a number");
        // Twenty slow calls of 50 ms, two more in each; else as many as come anyway.
        let beyond = number("retransmits_beyond_the_expected");
        assert!((beyond - 40.0).abs() < 6.0, "{anyway}: {beyond}");
        let rate = number("retransmits_a_second_elsewhere");
        assert!((rate - anyway).abs() < 0.05 * anyway + 0.1, "{rate}");
        let lost = found[0].impact.time_lost.as_micros();
        // Twenty of 49 ms above the usual, as far as retransmits explain it.
        assert!(lost <= 20.0 * 49e3 && lost > 0.5 * 20.0 * 49e3, "{lost}");
    }
}

#[test]
fn what_comes_anyway_is_no_cause() {
    for anyway in [0.3, 5.0, 30.0, 500.0] {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, own) in [("a", "10.0.0.1"), ("b", "10.0.0.2")] {
            Host {
                name,
                own,
                anyway,
                ..HOST
            }
            .write(folder.path());
        }
        let found = named(folder.path());
        assert!(found.is_empty(), "{anyway}: {found:?}");
    }
}

#[test]
fn a_network_that_loses_what_it_carries_is_no_cause_of_slow_calls() {
    // One every 5 ms of any call: six times as often as in all other time, and no more often than in ordinary calls.
    let folder = tempfile::tempdir().expect("a folder");
    let (each_ms, ms) = (Some(5), (10, 55));
    Host {
        each_ms,
        ms,
        ..HOST
    }
    .write(folder.path());
    let found = named(folder.path());
    assert!(found.is_empty(), "{found:?}");
}
