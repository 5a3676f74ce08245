//! What an agent writes beside its events: who the processes are, how the machine and its cgroups did, what it made of it itself.

use super::Table;
use super::trace::trace_columns;

trace_columns! {
    /// Columns of `process_names`.
    ProcessNameColumns, Table::ProcessNames, "process_name", from "process_names", {
        host: host "node",
        pid: required "pid",
        name: text "name",
        seen_at_ns: known "seen_at",
    }
}

trace_columns! {
    /// Columns of `system_snapshots`.
    SystemSnapshotColumns, Table::SystemSnapshots, "system_snapshot", from "system_snapshots", {
        host: host "node",
        timestamp_ns: required "timestamp",
        cpu_percent: real "cpu_pct",
        memory_percent: real "mem_pct",
        memory_available_mb: integer "mem_avail",
        swap_mb: integer "swap_mb",
        load_average: real "load_avg",
    }
}

trace_columns! {
    /// Columns of `cgroups`.
    CgroupColumns, Table::Cgroups, "cgroup", from "cgroup_metadata", {
        host: host "node",
        cgroup_id: required "cgroup_id",
        container_id: text "container_id",
        cgroup_path: text "cgroup_path",
        pod_name: text "pod_name",
        namespace: text "namespace",
    }
}

trace_columns! {
    /// Columns of `cgroup_off_cpu`.
    CgroupOffCpuColumns, Table::CgroupOffCpu, "cgroup_off_cpu", from "cgroup_schedstat", {
        host: host "node",
        cgroup_id: required "cgroup_id",
        window_start_ns: integer "window_start",
        window_end_ns: integer "window_end",
        event_count: integer "event_count",
        total_off_cpu_ns: integer "total_off_cpu",
        p99_off_cpu_ns: integer "p99_off_cpu",
    }
}

trace_columns! {
    /// Columns of `causal_chains`.
    CausalChainColumns, Table::CausalChains, "causal_chain", from "causal_chains", {
        host: host "node",
        id: text "id",
        detected_at_ns: integer "detected_at",
        severity: text "severity",
        summary: text "summary",
        root_cause: text "root_cause",
        explanation: text "explanation",
        recommendations: text "recommendations",
        cuda_op: text "cuda_op",
        cuda_p99_us: integer "cuda_p99_us",
        cuda_p50_us: integer "cuda_p50_us",
        tail_ratio: real "tail_ratio",
        timeline: text "timeline",
    }
}

trace_columns! {
    /// Columns of `stack_traces`.
    StackTraceColumns, Table::StackTraces, "stack_trace", from "stack_traces", {
        host: host "node",
        hash: required "hash",
        ips: text "ips",
        frames: text "frames",
    }
}
