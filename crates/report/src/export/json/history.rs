//! `history` in `compare.json`.

use nccl_report_analyze::facts::{BucketTrend, History, LevelShift, Reference, Trend};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct HistoryOut<'a> {
    verdict: &'static str,
    reasons: &'a [String],
    /// The oldest first, the candidate last.
    runs: Vec<RunOut<'a>>,
    left_out: Vec<LeftOutOut<'a>>,
    whole: Option<TrendOut<'a>>,
    buckets: Vec<BucketOut<'a>>,
}

#[derive(Serialize)]
struct RunOut<'a> {
    title: &'a str,
    start_us: Option<i64>,
    records: u64,
    warnings: u64,
}

#[derive(Serialize)]
struct LeftOutOut<'a> {
    name: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct BucketOut<'a> {
    comm_type: &'static str,
    coll: &'a str,
    msg_size_bytes: u64,
    n_ranks: u32,
    nnodes: u32,
    crosses_network: Option<bool>,
    family: Option<&'a str>,
    metric: &'static str,
    share_of_time: f64,
    #[serde(flatten)]
    trend: TrendOut<'a>,
}

#[derive(Serialize)]
struct TrendOut<'a> {
    verdict: &'static str,
    note: Option<&'a str>,
    /// A value of each run; `null` where a run has none that compares.
    values: &'a [Option<f64>],
    reference: Option<ReferenceOut<'a>>,
    /// The latest shift of the level.
    change_point: Option<ShiftOut<'a>>,
    shifts: Vec<ShiftOut<'a>>,
}

#[derive(Serialize)]
struct ReferenceOut<'a> {
    /// Indices in `runs`.
    runs: &'a [u32],
    level: f64,
    low: f64,
    high: f64,
    change: f64,
    ci_low: f64,
    ci_high: f64,
    p_adjusted: f64,
}

#[derive(Serialize, Clone, Copy)]
struct ShiftOut<'a> {
    /// Index in `runs` of the first run at the new level.
    run: u32,
    title: &'a str,
    change: f64,
}

impl<'a> HistoryOut<'a> {
    pub(super) fn of(of: &'a History) -> Self {
        let title = |run: u32| of.runs.get(run as usize).map_or("", |r| r.title.as_str());
        let trend = |t: &'a Trend| TrendOut::of(t, &title);
        Self {
            verdict: of.verdict.as_str(),
            reasons: &of.reasons,
            runs: of
                .runs
                .iter()
                .map(|r| RunOut {
                    title: &r.title,
                    start_us: r.start.map(|s| s.as_unix_micros()),
                    records: r.records,
                    warnings: r.warnings,
                })
                .collect(),
            left_out: of
                .left_out
                .iter()
                .map(|l| LeftOutOut {
                    name: &l.name,
                    reason: &l.reason,
                })
                .collect(),
            whole: of.whole.as_ref().map(trend),
            buckets: of
                .buckets
                .iter()
                .map(|b| BucketOut::of(b, trend(&b.trend)))
                .collect(),
        }
    }
}

impl<'a> BucketOut<'a> {
    fn of(of: &'a BucketTrend, trend: TrendOut<'a>) -> Self {
        Self {
            comm_type: of.key.class.as_str(),
            coll: &of.key.operation,
            msg_size_bytes: of.key.size.as_bytes(),
            n_ranks: of.key.n_ranks,
            nnodes: of.key.nnodes,
            crosses_network: of.key.crosses_network,
            family: of.key.family.as_deref(),
            metric: of.metric.as_str(),
            share_of_time: of.share_of_time,
            trend,
        }
    }
}

impl<'a> TrendOut<'a> {
    fn of(of: &'a Trend, title: &dyn Fn(u32) -> &'a str) -> Self {
        let shift = |s: &LevelShift| ShiftOut {
            run: s.run,
            title: title(s.run),
            change: s.change,
        };
        let shifts: Vec<ShiftOut<'a>> = of.shifts.iter().map(shift).collect();
        Self {
            verdict: of.verdict.as_str(),
            note: of.note.as_deref(),
            values: &of.values,
            reference: of.reference.as_ref().map(|r: &'a Reference| ReferenceOut {
                runs: &r.runs,
                level: r.level,
                low: r.low,
                high: r.high,
                change: r.change,
                ci_low: r.ci_low,
                ci_high: r.ci_high,
                p_adjusted: r.p_adjusted,
            }),
            change_point: shifts.last().copied(),
            shifts,
        }
    }
}
