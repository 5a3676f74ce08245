//! `nccl_calls`: a row per call into libnccl, entry to return.

use super::Table;
use super::trace::trace_columns;

trace_columns! {
    /// Columns of `nccl_calls`. Moment and length may be null, as SQLite's queries tell such rows from others.
    NcclCallColumns, Table::NcclCalls, "nccl_call", from "nccl_events", {
        host: host "node",
        timestamp_ns: moment "timestamp_ns",
        duration_ns: measure "duration_ns",
        pid: integer "pid",
        tid: integer "tid",
        op: text "op",
        rank: integer "rank",
        n_ranks: integer "nranks|n_ranks",
        comm_id_hash: text "comm_id_hash",
        count: integer "count",
        datatype: text "datatype",
        reduce_op: text "reduce_op",
        stream: text "stream",
        peer_rank: integer "peer_rank",
        cgroup_id: integer "cgroup_id",
    }
}
