//! Renders the facts of a job as HTML, SVG, JSON and CSV.
//!
//! The door is [`write`]: it takes a [`Job`](nccl_report_analyze::facts::Job) and leaves `index.html`, `report.json`,
//! `summary.csv` and `plots/*.svg` in a folder, and where there are eBPF traces `slow_collectives.csv` and `retransmits.csv`. [`report_json`] and [`summary_csv`] give the text alone.
//! Nothing here computes a statistic, and the same job always gives the same bytes.

mod budget;
mod comparison;
mod error;
mod export;
mod figure;
mod html;
mod names;
mod plot_file;
mod svg;
#[cfg(test)]
mod synthetic;
mod write;

pub use budget::budget_shares;
pub use comparison::{WrittenComparison, write_comparison};
pub use error::Error;
pub use export::{
    compare_json, comparison_junit, comparison_markdown, report_json, retransmits_csv,
    slow_collectives_csv, summary_csv,
};
pub use write::{Options, Written, write};
