//! A run against many before it: is it outside what they vary by, and since when does the series differ.

mod past;
mod series;
mod trend;
mod words;

pub use trend::HistoryBuilder;
pub(crate) use words::{as_before, too_short};
