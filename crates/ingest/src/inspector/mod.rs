//! From bytes to records.

mod read;
mod record;

pub use read::{FileTally, Sink, read_dump};
pub use record::{
    Body, ChannelTrace, Context, DumpStats, Operation, OperationKind, Proxy, ProxyStep, Record,
    Trace,
};
