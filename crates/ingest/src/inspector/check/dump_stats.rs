//! `dump_stats`.

use super::number::optional_whole;
use super::rejection::Rejection;
use crate::inspector::parse::RawDumpStats;
use crate::inspector::record::DumpStats;

/// Judges a marker. A count that isn't one spoils it: what follows couldn't be told apart from what belongs to the next.
pub(in crate::inspector) fn dump_stats(raw: RawDumpStats<'_>) -> Result<DumpStats<'_>, Rejection> {
    macro_rules! count {
        ($field:ident) => {
            optional_whole(concat!("dump_stats.", stringify!($field)), raw.$field)?
        };
    }
    Ok(DumpStats {
        coll_records: count!(coll_records),
        coll_dropped_total: count!(coll_dropped_total),
        coll_dropped_since_last_dump: count!(coll_dropped_since_last_dump),
        p2p_records: count!(p2p_records),
        p2p_dropped_total: count!(p2p_dropped_total),
        p2p_dropped_since_last_dump: count!(p2p_dropped_since_last_dump),
        proxy_records: count!(proxy_records),
        proxy_dropped_total: count!(proxy_dropped_total),
        proxy_dropped_since_last_dump: count!(proxy_dropped_since_last_dump),
        proxy_steps_overwritten_total: count!(proxy_steps_overwritten_total),
        proxy_steps_overwritten_since_last_dump: count!(proxy_steps_overwritten_since_last_dump),
        proxy_ops_dropped_total: count!(proxy_ops_dropped_total),
        proxy_ops_dropped_since_last_dump: count!(proxy_ops_dropped_since_last_dump),
        proxy_output_mode: raw.proxy_output_mode.known(),
        proxy_segment_step_capacity: count!(proxy_segment_step_capacity),
        proxy_steps_enabled: raw.proxy_steps_enabled.0,
        proxy_pxn_skipped_process_total: count!(proxy_pxn_skipped_process_total),
    })
}
