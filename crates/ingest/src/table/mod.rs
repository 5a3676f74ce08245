//! The tables of the dataset, one schema and builder a file.

mod channels;
mod collectives;
mod column;
mod communicator_type;
mod dump_stats;
mod kind;
mod p2p;
mod proxy;
mod strings;
#[cfg(test)]
mod tests;

pub(crate) use channels::ChannelColumns;
pub(crate) use collectives::CollectiveColumns;
pub(crate) use column::{BATCH_ROWS, Columns};
pub(crate) use dump_stats::DumpStatsColumns;
pub use kind::Table;
pub(crate) use p2p::P2pColumns;
pub(crate) use proxy::ProxyColumns;
