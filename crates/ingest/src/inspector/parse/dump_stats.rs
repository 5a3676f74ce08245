//! `dump_stats`.

use super::object::object;
use super::value::{Flag, Number, Text};

object! {
    /// What the keys of a `dump_stats` hold.
    RawDumpStats<'a> {
        coll_records: Number = "coll_records",
        coll_dropped_total: Number = "coll_dropped_total",
        coll_dropped_since_last_dump: Number = "coll_dropped_since_last_dump",
        p2p_records: Number = "p2p_records",
        p2p_dropped_total: Number = "p2p_dropped_total",
        p2p_dropped_since_last_dump: Number = "p2p_dropped_since_last_dump",
        proxy_records: Number = "proxy_records",
        proxy_dropped_total: Number = "proxy_dropped_total",
        proxy_dropped_since_last_dump: Number = "proxy_dropped_since_last_dump",
        proxy_steps_overwritten_total: Number = "proxy_steps_overwritten_total",
        proxy_steps_overwritten_since_last_dump: Number = "proxy_steps_overwritten_since_last_dump",
        proxy_ops_dropped_total: Number = "proxy_ops_dropped_total",
        proxy_ops_dropped_since_last_dump: Number = "proxy_ops_dropped_since_last_dump",
        proxy_output_mode: Text<'a> = "proxy_output_mode",
        proxy_segment_step_capacity: Number = "proxy_segment_step_capacity",
        proxy_steps_enabled: Flag = "proxy_steps_enabled",
        proxy_pxn_skipped_process_total: Number = "proxy_pxn_skipped_process_total",
    }
}
