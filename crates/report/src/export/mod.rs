//! The files for programs: facts in, text out.

mod csv;
mod json;
mod summary;

pub use json::report_json;
pub use summary::summary_csv;
