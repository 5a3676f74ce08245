//! The vocabulary of facts: everything that the analysis knows about a job, as plain values.
//!
//! [`Job`] is the one value that a report is made of. Nothing here computes; everything here serializes.

mod communicator;
mod comparison;
mod distribution;
mod figure;
mod finding;
mod group;
mod history;
mod job;
mod process;
mod slice;
mod traces;

pub use communicator::{CommClass, Communicator, Family, FamilyOperation, Loss, Member};
pub use comparison::{
    BucketComparison, BucketKey, BucketVerdict, Change, Comparison, Difference, DifferenceKind,
    Level, Metric, RunFacts, Sides, Verdict,
};
pub use distribution::Distribution;
pub use figure::{
    Cell, CollectiveTimeline, DensityCell, HeatMap, Histogram, MapOf, PairMatrix, RankArrival,
    Scatter, ScatterPoint, ScatterSeries,
};
pub use finding::{Finding, FindingKind, Impact, Scope, Severity, Subject, Window};
pub use group::{Group, GroupKey};
pub use history::{BucketTrend, History, HistoryRun, LeftOut, LevelShift, Reference, Trend};
pub use job::{BudgetPart, Dialect, Job, Overview, Run, TimeBudget, TimeCause, TimingSource};
pub use process::{Process, ProcessId};
pub use slice::{PairSlice, Share, Slice, SliceOf};
pub use traces::{
    Coincidence, HostCause, HostTimeline, KnownBy, Lane, RetransmitsOverTime, SlowCall, SlowCalls,
    SlowLimit, TraceFile, TraceHost, Traces, WindowSource,
};
