//! `host_event_aggregates`: a row per minute, operation and process, of events that the agent counted without keeping each.

use super::Table;
use super::trace::trace_columns;

trace_columns! {
    /// Columns of `host_event_aggregates`.
    HostEventAggregateColumns, Table::HostEventAggregates, "host_event_aggregate", from "event_aggregates", {
        host: host "node",
        bucket_ns: required "bucket",
        source_code: source_code "source",
        source: source_name "source",
        op_code: integer "op",
        op: op_name "op",
        pid: integer "pid",
        count: integer "count",
        stored: integer "stored",
        sum_duration_ns: integer "sum_dur",
        min_duration_ns: integer "min_dur",
        max_duration_ns: integer "max_dur",
        sum_arg0: integer "sum_arg0",
    }
}
