//! The head and the account of the input.

use std::collections::BTreeMap;

use nccl_report_analyze::facts::{Dialect, Overview, TimingSource};
use nccl_report_analyze::units::{ExecTime, Timestamp};
use nccl_report_ingest::{Inputs, LineCounts, LineExample, SkippedFile};

use super::{GPUS_PER_NODE, MINUTE, START, hosts};

pub fn overview(nodes: u32) -> Overview {
    Overview {
        title: "llama-70b-pretrain-1187".into(),
        hosts: hosts(nodes),
        ranks: u64::from(nodes * GPUS_PER_NODE),
        ranks_expected: Some(u64::from(nodes * GPUS_PER_NODE)),
        span: Some((
            Timestamp::from_unix_micros(START),
            Timestamp::from_unix_micros(START + 42 * MINUTE),
        )),
        dialects: vec![Dialect {
            version: "v4.1".into(),
            git_revs: vec!["9b1c6e4".into()],
            records: 1_036_800,
        }],
        timing: TimingSource::KernelGpu,
        records_other_timing: 128,
        dump_interval: Some(ExecTime::from_micros(500_000.0)),
        sampled: false,
        time: ExecTime::from_micros(4.0e9),
        bytes: 412_316_860_416_000,
        complete: Some(0.990_416),
        bandwidth_mismatches: 3,
    }
}

pub fn inputs(nodes: u32) -> Inputs {
    let counts = |reasons: &[(&str, u64)]| LineCounts {
        lines: reasons.iter().map(|(_, n)| n).sum(),
        by_reason: reasons.iter().map(|&(r, n)| (r.to_owned(), n)).collect(),
        examples: reasons
            .iter()
            .map(|&(reason, n)| LineExample {
                path: "node-02/gpu-002-pid4705.log".into(),
                line: n * 1_013,
                reason: reason.to_owned(),
                detail: "expected `,` or `}` at column 211".into(),
            })
            .collect(),
    };
    Inputs {
        files: u64::from(nodes * GPUS_PER_NODE),
        bytes: 612_345_678,
        lines: 1_054_243,
        records: BTreeMap::from([
            ("collective".to_owned(), 960_000),
            ("p2p".to_owned(), 76_800),
            ("dump_stats".to_owned(), 17_408),
            ("other".to_owned(), 2),
        ]),
        unknown_kinds: BTreeMap::from([("summary".to_owned(), 2)]),
        rejected: counts(&[("invalid_json", 12), ("truncated", 1), ("implausible", 20)]),
        repaired: counts(&[("decimal_comma", 4)]),
        files_skipped: vec![
            SkippedFile {
                path: "slurm-1187.out".into(),
                reason: "holds no Inspector record".into(),
            },
            SkippedFile {
                path: "node-03/core.4711".into(),
                reason: "permission denied".into(),
            },
        ],
        files_damaged: vec![SkippedFile {
            path: "node-04/gpu-004-pid4703.log.gz".into(),
            reason: "the gzip stream ends in the middle".into(),
        }],
        truncated_dumps: 1,
    }
}
