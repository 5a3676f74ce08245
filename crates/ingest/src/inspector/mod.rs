//! From bytes to records.

mod record;

pub use record::{
    Body, ChannelTrace, Context, DumpStats, Operation, OperationKind, Proxy, ProxyStep, Record,
    Trace,
};
