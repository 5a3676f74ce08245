//! eBPF traces among the inputs: every row of SQLite is a row of Parquet, whatever state the file is in.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int32Type, Int64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use rusqlite::Connection;

use super::job::{Job, dump, gzip, rows, skipped};
use crate::{Dataset, Table};

/// The tables of SQLite and those made of them.
const TABLES: [(&str, Table); 12] = [
    ("events", Table::HostEvents),
    ("event_aggregates", Table::HostEventAggregates),
    ("nccl_events", Table::NcclCalls),
    ("tcp_events", Table::TcpRetransmits),
    ("sessions", Table::Sessions),
    ("process_names", Table::ProcessNames),
    ("system_snapshots", Table::SystemSnapshots),
    ("cgroup_metadata", Table::Cgroups),
    ("cgroup_schedstat", Table::CgroupOffCpu),
    ("causal_chains", Table::CausalChains),
    ("stack_traces", Table::StackTraces),
    ("tcp_events", Table::TcpOtherEvents),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/traces")
}

fn made(job: &Job, name: &str, sql: &str) -> PathBuf {
    let path = job.log(name);
    Connection::open(&path)
        .and_then(|db| db.execute_batch(sql))
        .expect("a database");
    path
}

fn count(db: &Connection, from: &str) -> u64 {
    // A table that isn't there has no rows.
    let sql = format!("SELECT count(*) FROM {from}");
    db.query_row(&sql, [], |r| r.get::<_, i64>(0))
        .map_or(0, |n| u64::try_from(n).expect("a count"))
}

/// Rows in the Parquet files of a table, as their footers count them.
fn in_parquet(dataset: &Dataset, table: Table) -> u64 {
    let rows = dataset.table(table).into_iter().map(|path| {
        let reader = SerializedFileReader::new(File::open(path).expect("there")).expect("Parquet");
        reader.metadata().file_metadata().num_rows()
    });
    u64::try_from(rows.sum::<i64>()).expect("a count")
}

/// Compares all tables of a database with what SQLite counts in it. The two tables of TCP events hold between them those of one shape,
/// and the first also the retransmits among the events of the other.
fn compare(name: &str, db: &Connection, dataset: &Dataset, rejected: u64) {
    let retransmits = "events e JOIN ops o ON o.source_id = e.source AND o.op_id = e.op WHERE o.name LIKE 'tcp_retransmit%'";
    let tcp = count(db, "tcp_events") + count(db, retransmits);
    let of_tcp =
        in_parquet(dataset, Table::TcpRetransmits) + in_parquet(dataset, Table::TcpOtherEvents);
    assert_eq!(of_tcp, tcp, "{name}: TCP events");
    let mut missing = 0;
    for (from, table) in TABLES {
        if from != "tcp_events" {
            missing += count(db, from) - in_parquet(dataset, table);
        }
    }
    assert_eq!(missing, rejected, "{name}: rows that aren't in any table");
    assert_eq!(dataset.inputs().rejected.lines, rejected, "{name}");
    assert_eq!(
        dataset.inputs().lines,
        dataset.inputs().records.values().sum::<u64>() + rejected,
        "{name}: rows are records and rejected"
    );
}

fn copy_of(job: &Job, source: &Path) {
    let name = source.file_name().expect("a name");
    std::fs::copy(source, job.log(&name.to_string_lossy())).expect("copied");
}

#[test]
fn every_row_of_every_fixture_is_a_row_of_parquet() {
    for (name, rejected) in [
        ("gpu-001-nccl.db", 1),
        ("gpu-002.db", 0),
        ("trace.sqlite", 0),
    ] {
        let job = Job::new();
        copy_of(&job, &fixtures().join(name));
        let dataset = job.run();
        let db = Connection::open(fixtures().join(name)).expect("opens");
        compare(name, &db, &dataset, rejected);
        assert!(rows(&dataset) > 0);
    }
}

#[test]
fn every_row_of_every_genuine_database_is_a_row_of_parquet() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = [
        "../../../shared/samples/ebpf",
        "../../../../shared/samples/ebpf",
    ]
    .map(|below| here.join(below))
    .into_iter()
    .find(|folder| folder.is_dir());
    let Some(folder) = found else {
        #[expect(
            clippy::print_stderr,
            reason = "a test that checks nothing must say so"
        )]
        {
            eprintln!("SKIPPED: the genuine databases aren't there, nothing was checked");
        }
        return;
    };
    for entry in std::fs::read_dir(folder).expect("listed") {
        let path = entry.expect("an entry").path();
        let job = Job::new();
        copy_of(&job, &path);
        let dataset = job.run();
        let db = Connection::open(job.log(&path.file_name().expect("a name").to_string_lossy()))
            .expect("opens");
        compare(&path.display().to_string(), &db, &dataset, 0);
    }
}

type Row = BTreeMap<String, Option<String>>;

/// A table's rows, each value as text.
fn table(dataset: &Dataset, table: Table) -> Vec<Row> {
    let mut out = Vec::new();
    for path in dataset.table(table) {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("there"));
        for batch in builder.expect("Parquet").build().expect("reads") {
            let batch = batch.expect("rows");
            for row in 0..batch.num_rows() {
                let value = |column: &dyn Array| -> Option<String> {
                    if column.is_null(row) {
                        return None;
                    }
                    if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
                        return Some(numbers.value(row).to_string());
                    }
                    let texts = column.as_dictionary_opt::<Int32Type>()?;
                    let key = usize::try_from(texts.keys().value(row)).expect("a key");
                    Some(texts.values().as_string::<i32>().value(key).to_owned())
                };
                out.push(
                    batch
                        .schema()
                        .fields()
                        .iter()
                        .zip(batch.columns())
                        .map(|(field, column)| (field.name().clone(), value(column)))
                        .collect(),
                );
            }
        }
    }
    out
}

fn of<'a>(row: &'a Row, column: &str) -> &'a str {
    row[column].as_deref().unwrap_or("null")
}

#[test]
fn codes_are_the_files_own_and_the_usual_ones_stand_in() {
    let job = Job::new();
    copy_of(&job, &fixtures().join("trace.sqlite"));
    let dataset = job.run();
    let events = table(&dataset, Table::HostEvents);
    // In this file (3, 1) is a retransmit, which usually is a switch.
    assert_eq!(
        (of(&events[0], "source"), of(&events[0], "op")),
        ("TCP", "tcp_retransmit")
    );
    assert_eq!(
        (of(&events[1], "source"), of(&events[1], "op")),
        ("HOST", "sched_switch")
    );
    assert_eq!(
        (
            of(&events[1], "event_number"),
            of(&events[1], "host"),
            of(&events[1], "process_name")
        ),
        ("2", "gpu-003", "python3")
    );
    let seen = dataset.files()[0].trace.clone().expect("a trace");
    assert_eq!(
        (seen.hosts["gpu-003"], seen.version.as_deref()),
        (50, Some("0.12"))
    );

    let job = Job::new();
    made(&job, "old.db", "CREATE TABLE events (id INTEGER PRIMARY KEY, timestamp INTEGER, pid INTEGER, source INTEGER, op INTEGER);
        INSERT INTO events VALUES (7, 5, 1, 3, 1), (8, 6, 0, 6, 1);");
    let dataset = job.run();
    let events = table(&dataset, Table::HostEvents);
    assert_eq!(
        (
            of(&events[0], "op"),
            of(&events[0], "event_number"),
            of(&events[0], "host")
        ),
        ("sched_switch", "7", "null")
    );
    assert_eq!(table(&dataset, Table::TcpRetransmits).len(), 1);
}

#[test]
fn packed_addresses_are_written_out() {
    let job = Job::new();
    copy_of(&job, &fixtures().join("trace.sqlite"));
    let retransmits = table(&job.run(), Table::TcpRetransmits);
    assert_eq!(retransmits.len(), 5);
    let first = &retransmits[0];
    let connection = [
        "source_address",
        "source_port",
        "destination_address",
        "destination_port",
    ]
    .map(|c| of(first, c));
    assert_eq!(connection, ["10.0.0.2", "40000", "200.1.0.3", "50000"]);
    assert_eq!(
        (of(first, "host"), of(first, "event")),
        ("gpu-003", "tcp_retransmit")
    );
}

#[test]
fn values_of_other_types_are_left_out_or_refuse_the_row() {
    let job = Job::new();
    made(&job, "a.db", "CREATE TABLE events (id, timestamp, pid, source, op, duration);
        INSERT INTO events VALUES (1, 10, 'x', 3, 1, 5), (2, NULL, 1, 3, 1, 5), (3, x'00', 1, 3, 1, 5), (4, 12.0, '7', 3, 1, 1.5);");
    let dataset = job.run();
    let events = table(&dataset, Table::HostEvents);
    let kept: Vec<_> = events
        .iter()
        .map(|r| (of(r, "timestamp_ns"), of(r, "pid"), of(r, "duration_ns")))
        .collect();
    assert_eq!(kept, [("10", "null", "5"), ("12", "7", "null")]);
    let inputs = dataset.inputs();
    assert_eq!(
        inputs.rejected.by_reason,
        BTreeMap::from([("missing_field".into(), 1), ("odd_type".into(), 1)])
    );
    assert_eq!((inputs.repaired.lines, inputs.lines), (2, 4));
    assert_eq!(
        (
            inputs.rejected.examples[0].path.as_str(),
            inputs.rejected.examples[0].line
        ),
        ("a.db", 2)
    );
}

#[test]
fn a_database_is_known_by_its_content_and_a_name_alone_makes_none() {
    let job = Job::new();
    std::fs::copy(fixtures().join("gpu-002.db"), job.log("trace")).expect("copied");
    job.put("text.db", "no database at all");
    job.put("empty.db", "");
    job.put(
        "packed.db.gz",
        gzip(std::fs::read(fixtures().join("trace.sqlite")).expect("read")),
    );
    made(&job, "other.db", "CREATE TABLE t (x); CREATE TABLE u (y);");
    made(
        &job,
        "none.db",
        "CREATE TABLE events (id, timestamp, source, op);",
    );
    job.put("trace-shm", "whatever");
    let dataset = job.run();
    let used: Vec<_> = dataset.files().iter().map(|f| f.path.as_str()).collect();
    assert_eq!(used, ["packed.db.gz", "trace"]);
    let skipped: BTreeMap<_, _> = skipped(&dataset).into_iter().collect();
    assert!(skipped["text.db"].contains("not SQLite's"), "{skipped:?}");
    assert!(skipped["other.db"].contains("it holds t, u"), "{skipped:?}");
    assert!(skipped["none.db"].contains("without a row"), "{skipped:?}");
    assert!(
        skipped.contains_key("empty.db") && skipped.len() == 4,
        "{skipped:?}"
    );
}

#[test]
fn what_lies_in_the_log_beside_a_database_is_read_and_nothing_is_left_there() {
    let job = Job::new();
    let path = job.beside("live.db");
    let writer = Connection::open(&path).expect("opens");
    writer
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE nccl_events (timestamp_ns INTEGER, duration_ns INTEGER, op TEXT); INSERT INTO nccl_events VALUES (1, 2, 'ALL_REDUCE'), (2, 2, 'ALL_REDUCE');")
        .expect("written");
    // Copied while in use: all but the header lies in the log.
    for suffix in ["", "-wal"] {
        std::fs::copy(
            job.beside(&format!("live.db{suffix}")),
            job.log(&format!("copy.db{suffix}")),
        )
        .expect("copied");
    }
    let dataset = job.run();
    assert_eq!(in_parquet(&dataset, Table::NcclCalls), 2);
    let mut names: Vec<_> = std::fs::read_dir(job.log(""))
        .expect("listed")
        .map(|e| e.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["copy.db", "copy.db-wal"]);
    // The log alone changes: that is another content.
    writer
        .execute_batch("INSERT INTO nccl_events VALUES (3, 2, 'ALL_REDUCE')")
        .expect("written");
    std::fs::copy(job.beside("live.db-wal"), job.log("copy.db-wal")).expect("copied");
    assert_eq!(in_parquet(&job.run(), Table::NcclCalls), 3);
}

#[test]
fn a_database_in_use_is_read_where_its_writer_lets_others_and_said_where_not() {
    let job = Job::new();
    let path = made(
        &job,
        "wal.db",
        "PRAGMA journal_mode = WAL; CREATE TABLE events (id, timestamp, source, op); INSERT INTO events VALUES (1, 1, 3, 1);",
    );
    let writer = Connection::open(&path).expect("opens");
    writer
        .execute_batch("BEGIN; INSERT INTO events VALUES (2, 2, 3, 1);")
        .expect("under way");
    assert_eq!(
        in_parquet(&job.run(), Table::HostEvents),
        1,
        "what is committed"
    );
    writer.execute_batch("COMMIT").expect("committed");
    assert_eq!(in_parquet(&job.run(), Table::HostEvents), 2);
}

#[test]
fn of_a_cut_database_what_is_left_is_used() {
    let job = Job::new();
    let path = made(&job, "cut.db", "PRAGMA page_size = 4096; CREATE TABLE events (id INTEGER PRIMARY KEY, timestamp INTEGER, source INTEGER, op INTEGER, comm TEXT);
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000) INSERT INTO events SELECT x, x, 3, 1, 'a process of sixteen' FROM n;");
    let whole = std::fs::read(&path).expect("read");
    std::fs::write(&path, &whole[..whole.len() * 6 / 10]).expect("cut");
    let dataset = job.run();
    let left = in_parquet(&dataset, Table::HostEvents);
    assert!((1000..3500).contains(&left), "{left} of 4000 rows");
    let damaged = &dataset.inputs().files_damaged;
    assert!(
        damaged.len() == 1 && damaged[0].reason.contains("damaged or cut off"),
        "{damaged:?}"
    );
    // A hole in the middle costs the rows in it.
    let mut holed = whole.clone();
    let middle = whole.len() / 2 / 4096 * 4096;
    holed[middle..middle + 4096].fill(0xff);
    std::fs::write(&path, &holed).expect("written");
    let left = in_parquet(&job.run(), Table::HostEvents);
    assert!((3800..4000).contains(&left), "{left} of 4000 rows");
}

#[test]
fn a_database_cut_within_its_first_page_is_cut_and_no_other_kind() {
    let whole = std::fs::read(fixtures().join("gpu-002.db")).expect("read");
    let page = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    // In the name of the format, in the header, behind it, and a byte before the page is whole.
    for cut in [7, 15, 16, 60, 100, 300, page - 1] {
        for (name, content) in [
            ("cut.db", whole[..cut].to_vec()),
            ("cut.gz", gzip(&whole[..cut])),
        ] {
            let job = Job::new();
            job.put(name, content);
            let dataset = job.run();
            let skipped = skipped(&dataset);
            assert!(
                skipped.len() == 1 && skipped[0].1.contains("damaged or cut off"),
                "{name} after {cut}: {skipped:?}"
            );
        }
    }
}

#[test]
fn views_and_virtual_tables_are_no_tables() {
    let job = Job::new();
    made(
        &job,
        "view.db",
        "CREATE VIEW events AS WITH RECURSIVE n(timestamp) AS (SELECT 1 UNION ALL SELECT timestamp + 1 FROM n) SELECT timestamp, 3 AS source, 1 AS op FROM n;",
    );
    let dataset = job.run();
    assert!(
        skipped(&dataset)[0].1.contains("without a table"),
        "{:?}",
        skipped(&dataset)
    );
}

#[test]
fn an_unchanged_database_is_not_read_again_and_one_that_is_gone_leaves_nothing() {
    let job = Job::new();
    job.put("gpu-1-pid1.log", dump(1, 5));
    copy_of(&job, &fixtures().join("gpu-002.db"));
    job.run();
    let before = job.files();
    let first = dataset_times(&job);
    job.run();
    assert_eq!(job.files(), before);
    assert_eq!(dataset_times(&job), first, "nothing is written again");
    std::fs::remove_file(job.log("gpu-002.db")).expect("removed");
    let dataset = job.run();
    assert_eq!(
        (
            dataset.files().len(),
            in_parquet(&dataset, Table::HostEvents)
        ),
        (1, 0)
    );
    assert_eq!(job.parquet_files().len(), 1);
}

/// When each file was last written: a rename keeps the time of the new file.
fn dataset_times(job: &Job) -> Vec<std::time::SystemTime> {
    let files = job.files().into_keys().map(|name| job.root().join(name));
    files
        .map(|path| path.metadata().and_then(|m| m.modified()).expect("a time"))
        .collect()
}

#[test]
fn twins_that_differ_in_their_logs_are_two() {
    let job = Job::new();
    for (name, rows) in [
        ("a.db", "(1, 1, 3, 1)"),
        ("b.db", "(1, 9, 3, 1), (2, 9, 3, 1)"),
    ] {
        let path = job.beside(name);
        let writer = Connection::open(&path).expect("opens");
        writer.execute_batch(&format!("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE events (id, timestamp, source, op); INSERT INTO events VALUES {rows};")).expect("written");
        for suffix in ["", "-wal"] {
            std::fs::copy(
                job.beside(&format!("{name}{suffix}")),
                job.log(&format!("{name}{suffix}")),
            )
            .expect("copied");
        }
    }
    assert_eq!(
        std::fs::read(job.log("a.db")).expect("read"),
        std::fs::read(job.log("b.db")).expect("read")
    );
    let dataset = job.run();
    assert_eq!(
        (
            dataset.files().len(),
            in_parquet(&dataset, Table::HostEvents)
        ),
        (2, 3)
    );
}
