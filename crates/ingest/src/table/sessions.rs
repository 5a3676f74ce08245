//! `sessions`: a row per run of an agent: the machine, and what it was told to trace.

use super::Table;
use super::trace::trace_columns;

trace_columns! {
    /// Columns of `sessions`.
    SessionColumns, Table::Sessions, "session", from "sessions", {
        host: host "node",
        started_at_ns: required "started_at",
        stopped_at_ns: known "stopped_at",
        gpu_model: text "gpu_model",
        gpu_driver: text "gpu_driver",
        cpu_model: text "cpu_model",
        cpu_cores: known "cpu_cores",
        memory_mb: known "mem_total",
        kernel: text "kernel",
        os_release: text "os_release",
        cuda_version: text "cuda_ver",
        python_version: text "python_ver",
        agent_version: text "ingero_ver",
        pid_filter: text "pid_filter",
        flags: text "flags",
        rank: integer "rank",
        local_rank: integer "local_rank",
        world_size: integer "world_size",
    }
}
