//! What a person sees on the terminal.

mod account;
mod comparison;
mod console;
mod findings;
#[cfg(test)]
pub mod fixture;
mod groups;
mod head;
mod page;
mod style;
mod summary;
#[cfg(test)]
mod summary_tests;
mod tables;
pub mod text;
mod time;
mod traces;

pub use comparison::comparison;
pub use console::Console;
pub use summary::{Places, summary};
pub use tables::tables;
