//! Files that the plugin itself wrote, on made-up GPU clocks, so that the right values are known. They aren't part of the repository:
//! without them the tests say so and pass.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use nccl_report_ingest::inspector::{Body, OperationKind};
use nccl_report_ingest::source::{Candidate, Opened, discover};
use serde_json::Value;

use crate::support::{Dump, read_from, reasons};

/// The folder of the genuine files.
fn samples() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/inspector");
    // Worktrees lie one folder deeper than a clone.
    let deeper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/samples/inspector");
    let found = [root, deeper].into_iter().find(|path| path.is_dir());
    if found.is_none() {
        #[expect(
            clippy::print_stderr,
            reason = "a test that checks nothing must say so"
        )]
        {
            eprintln!("SKIPPED: the genuine Inspector files aren't there, nothing was checked");
        }
    }
    found
}

fn read_file(candidate: &Candidate) -> Dump {
    let mut opened = Opened::open(&candidate.path).expect("opens");
    let dump = read_from(&mut opened);
    opened.finish().expect("reads to its end");
    dump
}

fn cases(root: &Path) -> Vec<(String, Candidate)> {
    let found = discover(&[root.to_owned()], &[]).expect("exists");
    assert_eq!(found.skipped, []);
    found
        .files
        .into_iter()
        .filter(|file| file.name.starts_with('v') && !file.name.ends_with("run.json"))
        .map(|file| {
            let case = file
                .name
                .rsplit_once('/')
                .expect("version/case/file")
                .0
                .to_owned();
            (case, file)
        })
        .collect()
}

/// Lines that aren't blank, counted in the plainest way.
fn lines(path: &Path) -> u64 {
    let mut bytes = Vec::new();
    let file = File::open(path).expect("opens");
    if path.extension().is_some_and(|e| e == "gz") {
        // Cut files give an error after the last byte.
        let _ = MultiGzDecoder::new(file).read_to_end(&mut bytes);
    } else {
        let mut file = file;
        file.read_to_end(&mut bytes).expect("reads");
    }
    bytes
        .split(|&b| b == b'\n')
        .filter(|line| !line.is_empty())
        .count() as u64
}

/// Case, reason, lines. The numbers are Python's (json and zlib), with the limits of the knowledge page: time 0 or over 30 days, size over
/// 2^50, text that json refuses, text that json refuses at the end of the file.
const REJECTED: &[(&str, &str, u64)] = &[
    // The CPU clock went back: 2^64 − 1,920,024 µs.
    ("v2.28.9-1/clock_step", "implausible", 1),
    ("v2.29.7-1/clock_step", "implausible", 1),
    ("v2.30.7-1/clock_step", "implausible", 1),
    // CPU-timed operations of less than a microsecond.
    ("v2.28.9-1/cpu_timing", "implausible", 2),
    ("v2.29.7-1/cpu_timing", "implausible", 3),
    ("v2.30.7-1/cpu_timing", "implausible", 3),
    ("v2.28.9-1/cpu_timing_required", "implausible", 5),
    ("v2.29.7-1/cpu_timing_required", "implausible", 5),
    ("v2.28.9-1/grouped", "implausible", 1),
    ("v2.29.7-1/grouped", "implausible", 1),
    ("v2.30.7-1/p2p_require0", "implausible", 2),
    ("v2.30.7-1/p2p_verbose", "implausible", 4),
    // 8-bit types, and times under a microsecond.
    ("v2.28.9-1/edge", "implausible", 3),
    ("v2.29.7-1/edge", "implausible", 4),
    ("v2.30.7-1/edge", "implausible", 2),
    ("v2.28.9-1/edge_require0", "implausible", 5),
    ("v2.29.7-1/edge_require0", "implausible", 2),
    ("v2.30.7-1/edge_require0", "implausible", 4),
    // Killed, or ended without destroying its communicators: the last line is cut.
    ("v2.28.9-1/killed", "truncated", 1),
    ("v2.29.7-1/killed", "truncated", 1),
    ("v2.30.7-1/killed", "truncated", 1),
    ("v2.28.9-1/killed_gz", "truncated", 1),
    ("v2.29.7-1/killed_gz", "truncated", 1),
    ("v2.30.7-1/killed_gz", "truncated", 1),
    ("v2.28.9-1/killed_plain", "truncated", 1),
    ("v2.29.7-1/killed_plain", "truncated", 1),
    ("v2.30.7-1/killed_plain", "truncated", 1),
    ("v2.30.7-1/exit_cut", "truncated", 1),
    ("v2.30.7-1/truncated_gz", "truncated", 1),
    // `"comm_name":,"metadata":`: rank and sizes were never written.
    ("v2.30.7-1/badname_ctrl_nodestroy", "invalid_json", 1),
    ("v2.30.7-1/badname_cututf8_nodestroy", "invalid_json", 1),
    ("v2.30.7-1/badname_latin1_nodestroy", "invalid_json", 1),
];

/// Both tags' `locale_de` hold nothing but decimal commas.
const REPAIRED: &[(&str, &str, u64)] = &[
    ("v2.28.9-1/locale_de", "decimal_comma", 40),
    ("v2.29.7-1/locale_de", "decimal_comma", 40),
    ("v2.30.7-1/locale_de", "decimal_comma", 40),
];

/// Files that are empty: nothing could be timed, or the interval meant "never".
const EMPTY: &[&str] = &["v2.28.9-1/interval_minus1", "v2.30.7-1/cpu_timing_required"];

#[test]
fn every_line_of_every_file_is_accounted_for() {
    let Some(root) = samples() else { return };
    let (mut rejected, mut repaired) = (BTreeMap::new(), BTreeMap::new());
    let mut files = 0;
    for (case, file) in cases(&root) {
        let dump = read_file(&file);
        files += 1;
        assert_eq!(dump.tally.lines, lines(&file.path), "{}", file.name);
        assert_eq!(dump.tally.unknown_kinds, BTreeMap::new(), "{}", file.name);
        let empty = dump.tally.skipped.as_deref() == Some("empty");
        assert_eq!(empty, EMPTY.contains(&case.as_str()), "{}", file.name);
        assert_eq!(
            dump.tally.damage.is_some(),
            case.ends_with("truncated_gz"),
            "{}",
            file.name
        );
        for (counts, all) in [
            (&dump.tally.rejected, &mut rejected),
            (&dump.tally.repaired, &mut repaired),
        ] {
            for (reason, n) in reasons(counts) {
                *all.entry((case.clone(), reason.to_owned())).or_insert(0) += n;
            }
        }
    }
    // All files of the three tags but the metadata and the Prometheus ones.
    assert!(files > 200, "{files}");
    let table = |rows: &[(&str, &str, u64)]| -> BTreeMap<(String, String), u64> {
        rows.iter()
            .map(|&(case, reason, n)| ((case.to_owned(), reason.to_owned()), n))
            .collect()
    };
    assert_eq!(rejected, table(REJECTED));
    assert_eq!(repaired, table(REPAIRED));
}

#[test]
fn files_beside_the_dumps_are_passed_over() {
    let Some(root) = samples() else { return };
    let found = discover(&[root], &[]).expect("exists");
    let mut seen = 0;
    for file in found
        .files
        .iter()
        .filter(|file| file.name.ends_with("run.json"))
    {
        seen += 1;
        let dump = read_file(file);
        assert_eq!(
            dump.tally.skipped.as_deref(),
            Some("no Inspector record"),
            "{}",
            file.name
        );
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn gzipped_copies_give_the_same_records() {
    let Some(root) = samples() else { return };
    let mut copies = 0;
    for (case, file) in cases(&root) {
        let Some(original) = case
            .strip_suffix("_gz")
            .filter(|case| !case.ends_with("truncated"))
        else {
            continue;
        };
        copies += 1;
        let file_name = file.path.file_stem().expect("name");
        let path = root.join(original).join(file_name);
        let plain = Candidate {
            name: String::new(),
            path,
            bytes: 0,
        };
        assert_eq!(
            read_file(&plain).records,
            read_file(&file).records,
            "{}",
            file.name
        );
    }
    assert!(copies >= 20, "{copies}");
}

/// What an operation is known by in the truth: host, rank, identity of the communicator as printed, function, sequence number.
type Key = (String, u64, String, String, i64);

#[derive(Debug, PartialEq, Eq)]
struct Fed {
    bytes: u64,
    exec_us: u64,
    peer: Option<i64>,
    comm_name: Option<String>,
    n_ranks: u64,
    nnodes: u64,
}

fn truth(root: &Path, case: &str) -> BTreeMap<Key, Fed> {
    let path = root.join("truth").join(format!("{case}.json.gz"));
    let file = MultiGzDecoder::new(File::open(path).expect("opens"));
    let truth: Value = serde_json::from_reader(file).expect("JSON");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let whole = |value: &Value| value.as_u64().expect("whole number");
    let mut fed = BTreeMap::new();
    for process in truth["procs"].as_array().expect("list") {
        let comms = process["comms"].as_array().expect("list");
        for op in process["ops"].as_array().expect("list") {
            let comm = comms
                .iter()
                .find(|c| c["comm"] == op["comm"])
                .expect("known communicator");
            // The plugin prints 14 digits of the hash.
            let id = text(&comm["hash"])[..16].to_owned();
            // Sends below the size limit have no number: they are never written.
            let Some(sequence_number) = op["sn"].as_i64() else {
                continue;
            };
            let key = (
                text(&process["host"]),
                whole(&op["rank"]),
                id,
                text(&op["func"]),
                sequence_number,
            );
            fed.insert(
                key,
                Fed {
                    bytes: whole(&op["bytes"]),
                    exec_us: whole(&op["exec_us"]),
                    peer: op["peer"].as_i64(),
                    comm_name: comm["comm_name"].as_str().map(str::to_owned),
                    n_ranks: whole(&comm["nranks"]),
                    nnodes: whole(&comm["nnodes"]),
                },
            );
        }
    }
    fed
}

#[test]
fn values_equal_what_was_fed_in() {
    let Some(root) = samples() else { return };
    let mut compared = BTreeMap::new();
    for (case, file) in cases(&root) {
        let (version, name) = case.split_once('/').expect("version/case");
        if !matches!(name, "plain" | "p2p" | "verbose") {
            continue;
        }
        let fed = truth(&root, name);
        for (line, record) in read_file(&file).records {
            let Body::Operation(operation) = &record.body else {
                panic!("only operations");
            };
            let context = &record.context;
            let key = (
                context.hostname.to_string(),
                u64::from(context.rank),
                context.id.to_string(),
                operation.function.to_string(),
                operation.sequence_number,
            );
            let read = Fed {
                bytes: operation.size_bytes,
                exec_us: operation.exec_time_us,
                peer: operation.peer,
                comm_name: context.comm_name.as_deref().map(str::to_owned),
                n_ranks: u64::from(context.n_ranks),
                nnodes: u64::from(context.nnodes),
            };
            let fed = fed
                .get(&key)
                .unwrap_or_else(|| panic!("{}:{line}: {key:?}", file.name));
            // The first behaviour writes no name; the second writes "unknown" where there is none.
            let expected = Fed {
                comm_name: (version == "v2.30.7-1").then(|| {
                    fed.comm_name
                        .clone()
                        .unwrap_or_else(|| "unknown".to_owned())
                }),
                peer: fed.peer,
                ..*fed
            };
            assert_eq!(read, expected, "{}:{line}", file.name);
            assert_eq!(operation.timing_source.as_deref(), Some("kernel_gpu"));
            let kind = match operation.kind {
                OperationKind::Collective => "collective",
                OperationKind::PointToPoint => "p2p",
            };
            *compared.entry((case.clone(), kind)).or_insert(0) += 1;
            if name == "verbose" {
                let trace = operation.trace.as_ref().expect("verbose");
                let (start, stop) = (trace.start_ts_us, trace.stop_ts_us);
                assert!(start.is_some() && start <= stop, "{}:{line}", file.name);
                assert!(!trace.channels.is_empty());
                for (index, channel) in trace.channels.iter().enumerate() {
                    assert_eq!(channel.channel_id, index as i32);
                    assert!(channel.kernel_start_ts_us <= channel.kernel_stop_ts_us);
                    assert!(channel.kernel_start_sn < channel.kernel_stop_sn);
                }
            }
        }
    }
    // As the table in the files' own README says.
    let expected = [
        ("v2.28.9-1/p2p", "collective", 12),
        ("v2.28.9-1/plain", "collective", 1599),
        ("v2.28.9-1/verbose", "collective", 164),
        ("v2.29.7-1/p2p", "collective", 12),
        ("v2.29.7-1/plain", "collective", 1600),
        ("v2.29.7-1/verbose", "collective", 164),
        ("v2.30.7-1/p2p", "collective", 12),
        ("v2.30.7-1/p2p", "p2p", 104),
        ("v2.30.7-1/plain", "collective", 1600),
        ("v2.30.7-1/verbose", "collective", 164),
    ];
    assert_eq!(
        compared,
        expected
            .map(|(case, kind, n)| ((case.to_owned(), kind), n))
            .into()
    );
}
