//! `report.json`: what scripts and CI jobs read. The names are a contract; keys may be added, none may change.

mod account;
mod bounds;
mod comparison;
mod history;
mod layout;
mod people;
mod statistics;
mod traces;
mod traffic;

use nccl_report_analyze::facts::{Finding, Job, Run};
use serde::Serialize;

pub use comparison::compare_json;

use account::{InputsOut, OverviewOut, RunOut};
use bounds::Omitted;
use people::{CommunicatorOut, ProcessOut};
use statistics::{FamilyOut, GroupOut};
use traces::TracesOut;
use traffic::{BudgetOut, PairOut, ShareOut, SliceOut};

/// What a person reads first. Field order is the order in the file.
#[derive(Serialize)]
struct Head<'a> {
    schema: &'static str,
    generator: Generator,
    overview: OverviewOut<'a>,
    inputs: InputsOut<'a>,
    runs: Vec<RunOut<'a>>,
    findings: &'a [Finding],
    budget: Option<BudgetOut<'a>>,
    /// Absent where no trace is among the inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    traces: Option<TracesOut<'a>>,
}

/// The tables: a record a line.
#[derive(Serialize)]
struct Tables<'a> {
    processes: Vec<ProcessOut<'a>>,
    communicators: Vec<CommunicatorOut<'a>>,
    families: Vec<FamilyOut<'a>>,
    groups: Vec<GroupOut<'a>>,
    shares: Vec<ShareOut<'a>>,
    slices: Vec<SliceOut<'a>>,
    pairs: Vec<PairOut<'a>>,
    /// Rows of `slices` and `pairs` that were left out of this file to keep it readable; the dataset has all of them.
    omitted: Omitted,
}

#[derive(Serialize)]
struct Generator {
    name: &'static str,
    version: &'static str,
}

/// The facts as `report.json`: schema `nccl-report/1`, deterministic, every number with all its digits, what isn't known `null`.
///
/// The containers of a large job are bounded: of the slices and pairs those with the most time stay, and `omitted` counts the rest.
#[must_use]
pub fn report_json(job: &Job) -> String {
    let (slices, pairs, omitted) = bounds::bound(job);
    let head = Head {
        schema: "nccl-report/1",
        generator: Generator {
            name: "nccl-report",
            version: env!("CARGO_PKG_VERSION"),
        },
        overview: OverviewOut::of(job),
        inputs: InputsOut::of(job),
        runs: job.runs.iter().map(|run: &Run| RunOut::of(run)).collect(),
        findings: &job.findings,
        budget: job.budget.as_ref().map(BudgetOut::of),
        traces: job.traces.as_ref().map(TracesOut::of),
    };
    let tables = Tables {
        processes: job.processes.iter().map(ProcessOut::of).collect(),
        communicators: job
            .communicators
            .iter()
            .map(|of| CommunicatorOut::of(of, job))
            .collect(),
        families: job.families.iter().map(FamilyOut::of).collect(),
        groups: job.groups.iter().map(GroupOut::of).collect(),
        shares: job.shares.iter().map(|of| ShareOut::of(of, job)).collect(),
        slices: slices.into_iter().map(|of| SliceOut::of(of, job)).collect(),
        pairs: pairs.into_iter().map(|of| PairOut::of(of, job)).collect(),
        omitted,
    };
    layout::document(&head, &tables)
}

#[cfg(test)]
mod tests;
