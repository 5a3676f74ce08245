//! `host_events`: a row per row of an agent's `events`.

use super::Table;
use super::trace::trace_columns;

trace_columns! {
    /// Columns of `host_events`.
    HostEventColumns, Table::HostEvents, "host_event", from "events", {
        host: host "node",
        event_number: number_of_id "id",
        timestamp_ns: stamp "timestamp",
        duration_ns: integer "duration",
        pid: integer "pid",
        tid: integer "tid",
        source_code: source_code "source",
        source: source_name "source",
        op_code: integer "op",
        op: op_name "op",
        gpu_id: integer "gpu_id",
        arg0: integer "arg0",
        arg1: integer "arg1",
        ret_code: integer "ret_code",
        stack_hash: integer "stack_hash",
        stack_ips: text "stack_ips",
        cgroup_id: integer "cgroup_id",
        rank: integer "rank",
        local_rank: integer "local_rank",
        world_size: integer "world_size",
        process_name: text "comm",
    }
}
