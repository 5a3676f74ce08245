//! `tcp_retransmits`: a row per segment that a host sent again, of either shape; `tcp_other_events`: whatever else a trace says of TCP.

use super::Table;
use super::trace::trace_columns;

trace_columns! {
    /// Columns of `tcp_retransmits`.
    TcpRetransmitColumns, Table::TcpRetransmits, "tcp_retransmit", from "tcp_events", {
        host: host "node",
        timestamp_ns: moment "timestamp_ns",
        event: text "event",
        pid: integer "pid",
        tid: integer "tid",
        source_address: text "saddr|src_addr|source_address",
        destination_address: text "daddr|dst_addr|destination_address",
        source_port: integer "sport|src_port|source_port",
        destination_port: integer "dport|dst_port|destination_port",
        seq: integer "seq",
        state: text "state",
        cgroup_id: integer "cgroup_id",
        process_name: text "comm",
    }
}

trace_columns! {
    /// Columns of `tcp_other_events`, the same.
    TcpOtherEventColumns, Table::TcpOtherEvents, "tcp_other_event", from "tcp_events", {
        host: host "node",
        timestamp_ns: moment "timestamp_ns",
        event: text "event",
        pid: integer "pid",
        tid: integer "tid",
        source_address: text "saddr|src_addr|source_address",
        destination_address: text "daddr|dst_addr|destination_address",
        source_port: integer "sport|src_port|source_port",
        destination_port: integer "dport|dst_port|destination_port",
        seq: integer "seq",
        state: text "state",
        cgroup_id: integer "cgroup_id",
        process_name: text "comm",
    }
}
