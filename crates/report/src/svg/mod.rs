//! Vector graphics: a canvas with real coordinates, measured text and colours that follow the reader's theme.
//!
//! The only place that names plotters, whose SVG backend writes the elements.

mod backend;
mod canvas;
mod colour;
mod finish;
mod group;
mod text;

pub(crate) use canvas::{Anchor, Canvas, Rect};
pub(crate) use colour::{Colour, DIVERGING_STEPS, MAGNITUDE_STEPS, SERIES, SEVERITY_STEPS};
pub(crate) use finish::Meta;
pub(crate) use text::{clip, shorten, width, wrap};
