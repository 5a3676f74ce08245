//! From bytes to records.

mod check;
mod evidence;
mod fast;
mod interpret;
mod lines;
mod marker;
mod owned;
mod parse;
mod read;
mod record;
mod repair;
mod salvage;
mod slice;
mod spread;
mod tally;

pub(crate) use evidence::foreign_format;
pub(crate) use read::account;
pub use read::{Sink, read_dump};
pub use record::{
    Body, ChannelTrace, Context, DumpStats, Operation, OperationKind, Proxy, ProxyStep, Record,
    Trace,
};
pub(crate) use slice::{Slice, SliceRead, last_start, read_slice};
pub use tally::FileTally;
