//! The files for programs: facts in, text out.

mod csv;
mod json;
mod junit;
mod markdown;
mod summary;
mod traces;
pub(crate) mod words;

pub use json::{compare_json, report_json};
pub use junit::comparison_junit;
pub use markdown::comparison_markdown;
pub use summary::summary_csv;
pub use traces::{retransmits_csv, slow_collectives_csv};
