//! `index.html`: one file that needs nothing else, readable without scripts.
//!
//! A section is a file here that turns facts into a view, and a template that turns the view into HTML. Text is escaped by the
//! templates; only rendered sections and checked drawings are put in as they are.

mod budget;
mod checks;
mod communicators;
mod comparison;
mod completeness;
mod evidence;
mod families;
mod findings;
mod groups;
mod header;
mod inline_svg;
mod inputs;
mod kept;
mod looked_at;
mod missing;
mod page;
mod pairs;
mod people;
mod plots;
mod quantity;
mod section;
mod slices;
mod table;
mod text;
mod traces;
mod trend;
mod wording;

#[cfg(test)]
mod tests;

pub(crate) use comparison::page as comparison_page;
pub(crate) use page::page;
