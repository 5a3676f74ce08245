//! The summary as it is read.

use std::path::{Path, PathBuf};

use nccl_report_analyze::facts::{FindingKind, Severity};
use nccl_report_ingest::{LineCounts, LineExample, SkippedFile};
use nccl_report_render::Written;

use super::fixture;
use super::summary::{Places, summary};

fn shown(job: &nccl_report_analyze::facts::Job, width: usize) -> String {
    let out = PathBuf::from("job42-report");
    let written = Written {
        html: out.join("index.html"),
        json: out.join("report.json"),
        csv: out.join("summary.csv"),
        plots: vec![out.join("plots/a.svg"), out.join("plots/b.svg")],
    };
    let places = Places {
        written: &written,
        dataset: Path::new("job42-report/parquet"),
    };
    anstream::adapter::strip_str(&summary(job, &places, width)).to_string()
}

#[test]
fn a_healthy_job_says_what_it_is_and_names_nobody() {
    insta::assert_snapshot!(shown(&fixture::job(), 80), @r"
job42
  16 ranks on 2 hosts: gpu-001, gpu-002
  2026-01-02 03:04:05 – 03:14:08 UTC (10 min 3 s)
  Inspector format v4.0, timed by the GPU
  2,500,000 records in 16 files, 3 MiB

Findings
  nothing was found that slows the communication down

Where the time goes
  transfer 61.2 %, ordinary spread 38.8 %
  class        operation         size  ranks×nodes  count  link  felt    time
  mixed        AllReduce        1 GiB         16×2  1.2 M   371  45.0  80.0 %
  hca-only     AllReduce      128 MiB          2×2  1.2 M   371  45.0  13.9 %
  nvlink-only  ReduceScatter   8 KiB*          8×1  1.2 M   371  45.0   6.1 %
  link, felt: median bus bandwidth in GB/s, from the shortest and from the mean
  time of each collective. time: share of the kernel time, waiting included.
  The size of AllGather and ReduceScatter is per rank.
  * bound by latency: at this size the bandwidth says little.

Data
  99.9 % of the collectives seen have a record of every rank
  the plugin dropped 120 records before they were written

Report
  job42-report/index.html
  job42-report/report.json
  job42-report/summary.csv
  job42-report/plots/ (2 plots)
  job42-report/parquet/
");
}

#[test]
fn findings_and_bad_input_are_said() {
    let mut job = fixture::job();
    job.findings = vec![
        fixture::finding(FindingKind::LateRank, Severity::Critical),
        fixture::finding(FindingKind::LostRecords, Severity::Info),
    ];
    job.inputs.rejected = LineCounts {
        lines: 3,
        by_reason: [("invalid_json".to_owned(), 2), ("truncated".to_owned(), 1)].into(),
        examples: vec![LineExample {
            path: "n1/gpu-001-pid7.log".to_owned(),
            line: 17,
            reason: "invalid_json".to_owned(),
            detail: "expected value at column 12".to_owned(),
        }],
    };
    job.inputs.files_skipped = vec![SkippedFile {
        path: "train.log".to_owned(),
        reason: "no Inspector record".to_owned(),
    }];
    insta::assert_snapshot!(shown(&job, 60), @r"
job42
  16 ranks on 2 hosts: gpu-001, gpu-002
  2026-01-02 03:04:05 – 03:14:08 UTC (10 min 3 s)
  Inspector format v4.0, timed by the GPU
  2,500,000 records in 16 files, 3 MiB

Findings
  critical  Rank 5 (gpu-002, pid 4711) arrives late at 98 %
            of its collectives and makes the others wait 900
            µs each time.
            → Look at the clocks and the temperature of GPU
              5 of gpu-002.
  info      Rank 5 (gpu-002, pid 4711) arrives late at 98 %
            of its collectives and makes the others wait 900
            µs each time.
            → Look at the clocks and the temperature of GPU
              5 of gpu-002.

Where the time goes
  transfer 61.2 %, ordinary spread 38.8 %
  class        operation         size  link  felt    time
  mixed        AllReduce        1 GiB   371  45.0  80.0 %
  hca-only     AllReduce      128 MiB   371  45.0  13.9 %
  nvlink-only  ReduceScatter   8 KiB*   371  45.0   6.1 %
  link, felt: median bus bandwidth in GB/s, from the
  shortest and from the mean time of each collective. time:
  share of the kernel time, waiting included.
  The size of AllGather and ReduceScatter is per rank.
  * bound by latency: at this size the bandwidth says
  little.

Data
  99.9 % of the collectives seen have a record of every rank
  the plugin dropped 120 records before they were written

Input
  3 lines rejected: 2 invalid_json, 1 truncated
    n1/gpu-001-pid7.log:17 invalid_json: expected value at
    column 12
  1 file without a record
    train.log: no Inspector record

Report
  job42-report/index.html
  job42-report/report.json
  job42-report/summary.csv
  job42-report/plots/ (2 plots)
  job42-report/parquet/
");
}

#[test]
fn traces_alone_say_what_there_is() {
    let mut job = fixture::traces_alone();
    let head = |job: &nccl_report_analyze::facts::Job| {
        let shown = shown(job, 80);
        let lines = shown.lines().skip(1).take_while(|l| !l.is_empty());
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(head(&job), @r"
    eBPF traces of 2 hosts: gpu-001, gpu-002, no dump
    2026-01-02 03:04:05 – 03:14:08 UTC (10 min 3 s)
    1,200 NCCL calls (3 slow), 41 TCP retransmits, no event of the host
    1,241 records in 2 files, 3 MiB
    ");
    assert!(shown(&job, 80).contains("Data\n  There is no Inspector dump"));
    // Beside dumps they are one line more.
    job.overview = fixture::job().overview;
    assert!(head(&job).contains("16 ranks on 2 hosts: gpu-001, gpu-002\n"));
    assert!(head(&job).contains("eBPF traces of 2 hosts: gpu-001, gpu-002\n"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut job = fixture::job();
    job.overview.title = "x".repeat(500);
    job.overview.hosts = vec!["h".repeat(500); 9];
    job.groups[0].key.operation = "Op".repeat(200);
    job.findings = vec![fixture::finding(FindingKind::LateRank, Severity::Critical)];
    for width in [60, 80, 110] {
        let text = shown(&job, width);
        let too_wide = text.lines().find(|l| l.chars().count() > width);
        assert_eq!(too_wide, None, "at {width}");
    }
}

#[test]
fn what_a_dump_says_is_never_obeyed() {
    let mut job = fixture::job();
    let hostile = "\u{1b}[31m\u{9b}2J\u{7}\r";
    job.overview.title = hostile.to_owned();
    job.overview.hosts = vec![hostile.to_owned()];
    job.overview.dialects[0].version = hostile.to_owned();
    job.groups[0].key.operation = hostile.to_owned();
    job.inputs.unknown_kinds = [(hostile.to_owned(), 1)].into();
    job.inputs.files_damaged = vec![SkippedFile {
        path: hostile.to_owned(),
        reason: hostile.to_owned(),
    }];
    let mut finding = fixture::finding(FindingKind::LateRank, Severity::Warning);
    finding.summary = hostile.to_owned();
    finding.advice = hostile.to_owned();
    job.findings = vec![finding];
    let styled = {
        let written = Written {
            html: PathBuf::from(hostile),
            json: PathBuf::from(hostile),
            csv: PathBuf::from(hostile),
            plots: vec![PathBuf::from(hostile)],
        };
        let places = Places {
            written: &written,
            dataset: Path::new(hostile),
        };
        summary(&job, &places, 80)
    };
    // Our own styles are SGR sequences; after taking them away nothing that acts may be left.
    let mut rest = styled.as_str();
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = after.find('m').expect("a style ends");
        assert!(after[..end].chars().all(|c| c.is_ascii_digit() || c == ';'));
        rest = &after[end + 1..];
    }
    plain.push_str(rest);
    assert!(
        plain.chars().all(|c| !c.is_control() || c == '\n'),
        "{plain:?}"
    );
}
