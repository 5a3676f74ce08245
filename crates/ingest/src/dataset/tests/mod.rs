//! What goes in comes out.

mod cells;
mod records;
mod round_trip;
mod speed;
