//! A made-up comparison: a bucket for each verdict.

use nccl_report_analyze::facts::{
    BucketComparison, BucketKey, BucketTrend, BucketVerdict, Change, CommClass, Comparison,
    Difference, DifferenceKind, History, HistoryRun, LeftOut, Level, LevelShift, Metric, Reference,
    RunFacts, Sides, TimingSource, Trend, Verdict,
};
use nccl_report_analyze::units::{ExecTime, MessageSize, Timestamp};

use super::{MINUTE, START, findings};

/// The comparison.
#[must_use]
pub fn comparison() -> Comparison {
    let bucket = |operation: &str, size: u64, metric, verdict, change: f64, share| {
        let level = |median: f64| Level {
            median,
            operations: 1_600,
            blocks: 192,
            communicators: 8,
            seen: Some(1.0),
            share_of_time: share,
            quantiles: (0..41)
                .map(|k| median * (0.94 + 0.003 * f64::from(k)))
                .collect(),
        };
        let base = if size > 1 << 20 { 44.0 } else { 72.5 };
        let of = |change: f64| Change {
            baseline: base,
            candidate: base * (1.0 + change),
            change,
            ci_low: change - 0.004,
            ci_high: change + 0.004,
            p: 0.000_1,
            p_adjusted: 0.000_6,
        };
        let (left, right) = (
            verdict != BucketVerdict::OnlyInCandidate,
            verdict != BucketVerdict::OnlyInBaseline,
        );
        let both = left && right;
        BucketComparison {
            key: BucketKey {
                class: CommClass::HcaOnly,
                operation: operation.to_owned(),
                size: MessageSize::from_bytes(size),
                n_ranks: 2,
                nnodes: 2,
                crosses_network: None,
                family: Some("DP Group".to_owned()),
            },
            verdict,
            note: (verdict == BucketVerdict::Inconclusive)
                .then(|| "too few operations: 12".to_owned()),
            metric,
            baseline: left.then(|| level(base)),
            candidate: right.then(|| level(base * (1.0 + change))),
            change: both.then(|| of(change)),
            link_busbw: both.then(|| of(change)),
            felt_busbw: both.then(|| of(change / 2.0)),
            link_time: both.then(|| of(-change)),
            felt_time: both.then(|| of(-change / 2.0)),
            latency_bound: !metric.is_bandwidth(),
            share_of_time: share,
            impact: if both { -change * share } else { 0.0 },
            algorithms: Sides {
                baseline: vec![("RING SIMPLE".to_owned(), 1.0)],
                candidate: vec![("TREE LL128".to_owned(), 1.0)],
            },
        }
    };
    let run = |title: &str, minutes: i64| RunFacts {
        title: title.to_owned(),
        hosts: vec!["gpu-001".to_owned(), "gpu-002".to_owned()],
        ranks: 16,
        ranks_expected: Some(16),
        span: Some((
            Timestamp::from_unix_micros(START),
            Timestamp::from_unix_micros(START + minutes * MINUTE),
        )),
        dialects: vec!["v4.2".to_owned()],
        timing: TimingSource::KernelGpu,
        records: 40_000,
        collectives: 9_600,
        complete: Some(1.0),
        loss: Some(0.0),
        time: ExecTime::from_micros(4.0e9),
        waiting: Some(0.21),
    };
    let all = findings();
    Comparison {
        verdict: Verdict::Mixed,
        reasons: vec![
            "ReduceScatter 64 MiB: bandwidth −7.0 %.".to_owned(),
            format!("New: {}", all[0].summary),
        ],
        threshold: 0.03,
        significance: 0.01,
        baseline: run("monday", 42),
        candidate: run("tuesday", 40),
        differences: vec![Difference {
            kind: DifferenceKind::HostNames,
            summary: "2 of the candidate's 2 hosts aren't the baseline's.".to_owned(),
            blocks: false,
        }],
        time_change: 0.021,
        share_judged: 0.8,
        buckets: vec![
            bucket(
                "ReduceScatter",
                64 << 20,
                Metric::LinkBusbwGbs,
                BucketVerdict::Regression,
                -0.07,
                0.3,
            ),
            bucket(
                "AllGather",
                64 << 20,
                Metric::LinkBusbwGbs,
                BucketVerdict::Improvement,
                0.05,
                0.2,
            ),
            bucket(
                "Broadcast",
                32 << 20,
                Metric::LinkBusbwGbs,
                BucketVerdict::Inconclusive,
                -0.04,
                0.1,
            ),
            bucket(
                "AllReduce",
                8 << 10,
                Metric::LinkTimeUs,
                BucketVerdict::Unchanged,
                0.002,
                0.3,
            ),
            bucket(
                "AllReduce",
                128 << 20,
                Metric::LinkBusbwGbs,
                BucketVerdict::OnlyInBaseline,
                0.0,
                0.05,
            ),
            bucket(
                "AllReduce",
                256 << 20,
                Metric::LinkBusbwGbs,
                BucketVerdict::OnlyInCandidate,
                0.0,
                0.05,
            ),
        ],
        findings_new: all[..1].to_vec(),
        findings_gone: all[1..2].to_vec(),
        findings_common: Vec::new(),
        history: Some(history()),
        rules: Vec::new(),
    }
}

/// Twelve runs before, of which the last two are slow, and one that can't be read.
fn history() -> History {
    let trend = |level: f64, slow: f64, verdict| Trend {
        values: (0..13_u32)
            .map(|k| {
                let wobble = 1.0 + 0.002 * f64::from(k % 3);
                (k != 4).then_some(level * wobble * if k >= 10 { slow } else { 1.0 })
            })
            .collect(),
        verdict,
        note: None,
        reference: Some(Reference {
            runs: vec![0, 1, 2, 3, 5, 6, 7, 8, 9],
            level,
            low: 0.995 * level,
            high: 1.005 * level,
            change: slow - 1.0,
            ci_low: slow - 1.01,
            ci_high: slow - 0.99,
            p_adjusted: 1e-6,
        }),
        shifts: vec![LevelShift {
            run: 10,
            change: slow - 1.0,
        }],
    };
    let key = BucketKey {
        class: CommClass::HcaOnly,
        operation: "ReduceScatter".to_owned(),
        size: MessageSize::from_bytes(64 << 20),
        n_ranks: 2,
        nnodes: 2,
        crosses_network: None,
        family: Some("DP Group".to_owned()),
    };
    History {
        verdict: Verdict::Regression,
        reasons: vec![
            "ReduceScatter of 64 MiB: bandwidth −7.0 % against 9 earlier runs.".to_owned(),
        ],
        runs: (0..13_i64)
            .map(|k| HistoryRun {
                title: if k == 12 {
                    "tuesday".to_owned()
                } else {
                    format!("night-{k:02}")
                },
                start: Some(Timestamp::from_unix_micros(
                    START - (12 - k) * 1440 * MINUTE,
                )),
                records: 40_000,
                warnings: 0,
            })
            .collect(),
        left_out: vec![LeftOut {
            name: "night-13".to_owned(),
            reason: "no manifest".to_owned(),
        }],
        whole: Some(trend(1.0, 1.021, BucketVerdict::Unchanged)),
        buckets: vec![BucketTrend {
            key,
            metric: Metric::LinkBusbwGbs,
            share_of_time: 0.3,
            trend: trend(44.0, 0.93, BucketVerdict::Regression),
        }],
    }
}
