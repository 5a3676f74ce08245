//! `compare.json`: the names are a contract; keys may be added, none may change.

use nccl_report_analyze::facts::{
    BucketComparison, Change, Comparison, Difference, Finding, Level, RunFacts,
};
use serde::Serialize;

use super::history::HistoryOut;
use super::layout;

#[derive(Serialize)]
struct Head<'a> {
    schema: &'static str,
    generator: super::Generator,
    verdict: &'static str,
    reasons: &'a [String],
    differences: Vec<DifferenceOut<'a>>,
    threshold: f64,
    /// The probability that equal runs are called different, over all buckets together.
    significance: f64,
    /// Change of the communication time that the confirmed changes explain, 0.02 is 2 % more.
    time_change: f64,
    /// Share of the communication time in buckets that were judged.
    share_judged: f64,
    baseline: RunOut<'a>,
    candidate: RunOut<'a>,
    /// What earlier runs say; `null` where none were given.
    history: Option<HistoryOut<'a>>,
    /// Rules that the candidate breaks, or that have nothing to look at; findings in form.
    rules: &'a [Finding],
    findings_new: &'a [Finding],
    findings_gone: &'a [Finding],
    findings_common: &'a [Finding],
}

#[derive(Serialize)]
struct Tables<'a> {
    buckets: Vec<BucketOut<'a>>,
}

#[derive(Serialize)]
struct DifferenceOut<'a> {
    kind: &'static str,
    /// Whether it keeps the runs from being called equal.
    blocks: bool,
    summary: &'a str,
}

impl<'a> DifferenceOut<'a> {
    fn of(of: &'a Difference) -> Self {
        Self {
            kind: of.kind.as_str(),
            blocks: of.blocks,
            summary: &of.summary,
        }
    }
}

#[derive(Serialize)]
struct RunOut<'a> {
    title: &'a str,
    hosts: &'a [String],
    ranks: u64,
    ranks_expected: Option<u64>,
    start_us: Option<i64>,
    end_us: Option<i64>,
    dialects: &'a [String],
    timing: nccl_report_analyze::facts::TimingSource,
    records: u64,
    collectives: u64,
    complete: Option<f64>,
    loss: Option<f64>,
    waiting: Option<f64>,
    time_us: f64,
}

impl<'a> RunOut<'a> {
    fn of(of: &'a RunFacts) -> Self {
        Self {
            title: &of.title,
            hosts: &of.hosts,
            ranks: of.ranks,
            ranks_expected: of.ranks_expected,
            start_us: of.span.map(|s| s.0.as_unix_micros()),
            end_us: of.span.map(|s| s.1.as_unix_micros()),
            dialects: &of.dialects,
            timing: of.timing,
            records: of.records,
            collectives: of.collectives,
            complete: of.complete,
            loss: of.loss,
            waiting: of.waiting,
            time_us: of.time.as_micros(),
        }
    }
}

#[derive(Serialize)]
struct BucketOut<'a> {
    comm_type: &'static str,
    coll: &'a str,
    msg_size_bytes: u64,
    n_ranks: u32,
    nnodes: u32,
    /// For Send and Recv; `null` where unknown, and for collectives.
    crosses_network: Option<bool>,
    family: Option<&'a str>,
    verdict: &'static str,
    note: Option<&'a str>,
    metric: &'static str,
    baseline: Option<LevelOut>,
    candidate: Option<LevelOut>,
    change: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    share_of_time: f64,
    /// What the change does to the whole communication time.
    impact: f64,
    latency_bound: bool,
    link_busbw_gbs: Option<ChangeOut>,
    felt_busbw_gbs: Option<ChangeOut>,
    link_time_us: Option<ChangeOut>,
    felt_time_us: Option<ChangeOut>,
    algorithms: AlgorithmsOut<'a>,
}

#[derive(Serialize)]
struct AlgorithmsOut<'a> {
    baseline: Vec<AlgorithmOut<'a>>,
    candidate: Vec<AlgorithmOut<'a>>,
}

#[derive(Serialize)]
struct AlgorithmOut<'a> {
    name: &'a str,
    share: f64,
}

#[derive(Serialize)]
struct LevelOut {
    median: Option<f64>,
    n: u64,
    blocks: u64,
    communicators: u64,
    seen: Option<f64>,
    share_of_time: f64,
}

impl LevelOut {
    fn of(of: &Level) -> Self {
        Self {
            median: known(of.median),
            n: of.operations,
            blocks: of.blocks,
            communicators: of.communicators,
            seen: of.seen,
            share_of_time: of.share_of_time,
        }
    }
}

#[derive(Serialize)]
struct ChangeOut {
    baseline: Option<f64>,
    candidate: Option<f64>,
    change: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
}

impl ChangeOut {
    fn of(of: &Change) -> Self {
        Self {
            baseline: known(of.baseline),
            candidate: known(of.candidate),
            change: known(of.change),
            ci_low: known(of.ci_low),
            ci_high: known(of.ci_high),
        }
    }
}

/// JSON has no infinity: an end that isn't known is `null`.
fn known(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn algorithms(of: &[(String, f64)]) -> Vec<AlgorithmOut<'_>> {
    of.iter()
        .map(|(name, share)| AlgorithmOut {
            name,
            share: *share,
        })
        .collect()
}

impl<'a> BucketOut<'a> {
    fn of(of: &'a BucketComparison) -> Self {
        let change = of.change.as_ref();
        let number = |get: fn(&Change) -> f64| change.map(get).and_then(known);
        Self {
            comm_type: of.key.class.as_str(),
            coll: &of.key.operation,
            msg_size_bytes: of.key.size.as_bytes(),
            n_ranks: of.key.n_ranks,
            nnodes: of.key.nnodes,
            crosses_network: of.key.crosses_network,
            family: of.key.family.as_deref(),
            verdict: of.verdict.as_str(),
            note: of.note.as_deref(),
            metric: of.metric.as_str(),
            baseline: of.baseline.as_ref().map(LevelOut::of),
            candidate: of.candidate.as_ref().map(LevelOut::of),
            change: number(|c| c.change),
            ci_low: number(|c| c.ci_low),
            ci_high: number(|c| c.ci_high),
            p: number(|c| c.p),
            p_adjusted: number(|c| c.p_adjusted),
            share_of_time: of.share_of_time,
            impact: of.impact,
            latency_bound: of.latency_bound,
            link_busbw_gbs: of.link_busbw.as_ref().map(ChangeOut::of),
            felt_busbw_gbs: of.felt_busbw.as_ref().map(ChangeOut::of),
            link_time_us: of.link_time.as_ref().map(ChangeOut::of),
            felt_time_us: of.felt_time.as_ref().map(ChangeOut::of),
            algorithms: AlgorithmsOut {
                baseline: algorithms(&of.algorithms.baseline),
                candidate: algorithms(&of.algorithms.candidate),
            },
        }
    }
}

/// A comparison as `compare.json`: schema `nccl-report-compare/1`, deterministic, a bucket a line, what isn't known `null`.
#[must_use]
pub fn compare_json(of: &Comparison) -> String {
    let head = Head {
        schema: "nccl-report-compare/1",
        generator: super::Generator {
            name: "nccl-report",
            version: env!("CARGO_PKG_VERSION"),
        },
        verdict: of.verdict.as_str(),
        reasons: &of.reasons,
        differences: of.differences.iter().map(DifferenceOut::of).collect(),
        threshold: of.threshold,
        significance: of.significance,
        time_change: of.time_change,
        share_judged: of.share_judged,
        baseline: RunOut::of(&of.baseline),
        candidate: RunOut::of(&of.candidate),
        history: of.history.as_ref().map(HistoryOut::of),
        rules: &of.rules,
        findings_new: &of.findings_new,
        findings_gone: &of.findings_gone,
        findings_common: &of.findings_common,
    };
    layout::document(
        &head,
        &Tables {
            buckets: of.buckets.iter().map(BucketOut::of).collect(),
        },
    )
}
