//! Figures: what of a job is drawn, and how it is laid out.

mod all;
mod axis;
mod box_rows;
mod boxes;
mod budget;
mod colour_scale;
mod communicators;
mod comparison;
mod density;
mod drawing;
mod grid;
mod heat_map;
mod histogram;
mod host_timeline;
mod mark;
mod names;
mod number;
mod pair_matrix;
mod ranks;
mod retransmits;
mod row_labels;
mod scale;
mod scatter;
mod selection;
mod shares;
mod sheet;
mod shown;
mod stages;
mod time_axis;
mod timeline;

#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;

pub(crate) use all::all;
pub(crate) use comparison::all as of_comparison;
pub(crate) use drawing::{Figure, Section};
