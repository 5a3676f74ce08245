//! The tables of the dataset, one schema and builder a file.

mod channels;
mod collectives;
mod column;
mod communicator_type;
mod context;
mod dump_stats;
mod few;
mod host_event_aggregates;
mod host_events;
mod hybrid;
mod keyed;
mod kind;
mod nccl_calls;
mod p2p;
mod proxy;
mod sessions;
mod slots;
mod strings;
mod tcp_events;
#[cfg(test)]
mod tests;
mod trace;
mod trace_context;

pub(crate) use channels::ChannelColumns;
pub(crate) use collectives::CollectiveColumns;
pub(crate) use column::{BATCH_ROWS, Batch, Columns};
pub(crate) use dump_stats::DumpStatsColumns;
pub(crate) use host_event_aggregates::HostEventAggregateColumns;
pub(crate) use host_events::HostEventColumns;
pub(crate) use keyed::{DictionaryPage, Page};
pub use kind::Table;
pub(crate) use nccl_calls::NcclCallColumns;
pub(crate) use p2p::P2pColumns;
pub(crate) use proxy::ProxyColumns;
pub(crate) use sessions::SessionColumns;
pub(crate) use tcp_events::{TcpOtherEventColumns, TcpRetransmitColumns};
pub(crate) use trace::TraceColumns;
pub(crate) use trace_context::{
    CausalChainColumns, CgroupColumns, CgroupOffCpuColumns, ProcessNameColumns, StackTraceColumns,
    SystemSnapshotColumns,
};
