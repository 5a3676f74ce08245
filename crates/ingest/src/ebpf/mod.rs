//! SQLite databases of an eBPF agent: what a host, its network and its processes did while collectives ran.
//!
//! Two shapes occur, told apart by their tables: `nccl_events` beside `tcp_events`, and `events` with `sources` and `ops` that name its
//! codes. Columns and tables come and go between versions; what is there is read, a column that isn't is null.

mod cells;
mod names;
mod open;
mod read;
mod seen;
mod trouble;

pub(crate) use cells::{Cells, Refused};
pub(crate) use names::OpNames;
pub(crate) use read::{Reading, read_trace};
pub use seen::TraceSeen;
