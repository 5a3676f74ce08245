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
mod spread;
mod tally;

pub use read::{Sink, read_dump};
pub use record::{
    Body, ChannelTrace, Context, DumpStats, Operation, OperationKind, Proxy, ProxyStep, Record,
    Trace,
};
pub use tally::FileTally;
