//! One job read by several machines: each reads a share of the files into a dataset of its own, and the parts make one.
//!
//! Nobody hands out work: every machine lists all files and takes those that fall to it, so that a share that was lost is read
//! again by whoever is told its number. The parts say what they are of; a part that is missing, doubled, or of other files is
//! refused by name.

mod link;
mod merge;
mod part;

pub use merge::{MergeOptions, merge};
pub use part::Shard;
pub(crate) use part::{NamedCopy, Part, listing};
