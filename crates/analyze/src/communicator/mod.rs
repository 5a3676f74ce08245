//! What the communicators are, who sits in them, and which of them play one role.

pub(crate) mod family;
pub(crate) mod identity;
mod runs;
mod slots;

pub(crate) use identity::{Comm, Topology};
