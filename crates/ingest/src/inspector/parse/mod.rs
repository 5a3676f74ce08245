//! One line's JSON, read without judgement: which keys are there and what they hold.

mod dump_stats;
mod object;
mod operation;
mod parts;
mod proxy;
mod value;

pub(super) use dump_stats::RawDumpStats;
pub(super) use object::Slot;
pub(super) use operation::{RawKernelEvent, RawOperation, RawTrace};
pub(super) use parts::{Flat, Parts, RawHeader, RawMetadata, is_object};
pub(super) use proxy::{RawProxy, RawProxyTimes, RawStep};
pub(super) use value::{Number, Text};
