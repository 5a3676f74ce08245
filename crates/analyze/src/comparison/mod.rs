//! Two runs against each other.
//!
//! [`Examined`] is what a comparison needs to know of a run: its facts, and the times of its collectives by communicator and stretch
//! of the run. [`compare`] sorts them into buckets of like with like, judges each, and then the whole.

mod block;
mod bucket;
mod compare;
mod conclude;
mod differences;
mod estimate;
mod findings;
mod history;
mod judged;
mod side;
mod verdict;
mod waiting;
mod words;

pub(crate) use block::CommBlocks;
pub use compare::{CompareOptions, compare};
pub use history::HistoryBuilder;
pub use side::Examined;
pub(crate) use side::Kept;
pub(crate) use words::group_name;
