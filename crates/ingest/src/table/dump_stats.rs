//! `dump_stats`: a row per marker, every number under the key that it was written under.

use super::Table;
use super::column::{Int64, OptionalBool, OptionalInt64, columns, line_number, to_i64};
use super::context::push_context;
use super::few::{FewInt32, FewInt64};
use super::strings::{OptionalText, Text};
use crate::inspector::{Context, DumpStats};

columns! {
    /// Columns of `dump_stats`.
    DumpStatsColumns, Table::DumpStats, {
        id: Text,
        comm_name: OptionalText,
        rank: FewInt32,
        n_ranks: FewInt32,
        nnodes: FewInt32,
        comm_type: OptionalText,
        coll_records: OptionalInt64,
        coll_dropped_total: OptionalInt64,
        coll_dropped_since_last_dump: OptionalInt64,
        p2p_records: OptionalInt64,
        p2p_dropped_total: OptionalInt64,
        p2p_dropped_since_last_dump: OptionalInt64,
        proxy_records: OptionalInt64,
        proxy_dropped_total: OptionalInt64,
        proxy_dropped_since_last_dump: OptionalInt64,
        proxy_steps_overwritten_total: OptionalInt64,
        proxy_steps_overwritten_since_last_dump: OptionalInt64,
        proxy_ops_dropped_total: OptionalInt64,
        proxy_ops_dropped_since_last_dump: OptionalInt64,
        proxy_output_mode: OptionalText,
        proxy_segment_step_capacity: OptionalInt64,
        proxy_steps_enabled: OptionalBool,
        proxy_pxn_skipped_process_total: OptionalInt64,
        inspector_output_format_version: OptionalText,
        git_rev: OptionalText,
        rec_mechanism: OptionalText,
        dump_timestamp_us: Int64,
        hostname: Text,
        pid: FewInt64,
        gpu_uuid: OptionalText,
        tags: OptionalText,
        source_file: Text,
        source_line: Int64,
    }
}

impl DumpStatsColumns {
    /// Adds a marker.
    pub(crate) fn push(
        &mut self,
        context: &Context<'_>,
        stats: &DumpStats<'_>,
        source_file: &str,
        line: u64,
    ) {
        push_context!(self, context, source_file);
        self.push_counts(stats);
        self.dump_timestamp_us.push(context.dump_timestamp_us);
        self.source_line.push(line_number(line));
    }

    fn push_counts(&mut self, stats: &DumpStats<'_>) {
        macro_rules! counts {
            ($($count:ident),* $(,)?) => { $(self.$count.push(stats.$count.map(to_i64));)* };
        }
        counts!(
            coll_records,
            coll_dropped_total,
            coll_dropped_since_last_dump,
            p2p_records,
            p2p_dropped_total,
            p2p_dropped_since_last_dump,
            proxy_records,
            proxy_dropped_total,
            proxy_dropped_since_last_dump,
            proxy_steps_overwritten_total,
            proxy_steps_overwritten_since_last_dump,
            proxy_ops_dropped_total,
            proxy_ops_dropped_since_last_dump,
            proxy_segment_step_capacity,
            proxy_pxn_skipped_process_total,
        );
        self.proxy_output_mode
            .push(stats.proxy_output_mode.as_deref());
        self.proxy_steps_enabled.push(stats.proxy_steps_enabled);
    }
}
