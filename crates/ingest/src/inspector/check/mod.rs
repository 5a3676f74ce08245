//! From what the keys hold to a record, or the reason why not.

mod bandwidth;
mod context;
mod dump_stats;
mod number;
mod operation;
mod proxy;
mod rejection;

pub(super) use context::{context, timestamp};
pub(super) use dump_stats::dump_stats;
pub(super) use operation::operation;
pub(super) use proxy::proxy;
pub(super) use rejection::{Detail, Reason, Rejection};
