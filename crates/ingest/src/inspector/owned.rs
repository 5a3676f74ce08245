//! Records that outlive their line.

use std::borrow::Cow;

use super::record::{Body, Context, DumpStats, Operation, Proxy, Record};

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl Context<'_> {
    /// The same, independent of the line.
    #[must_use]
    pub fn into_owned(self) -> Context<'static> {
        Context {
            id: owned(self.id),
            comm_name: self.comm_name.map(owned),
            format_version: self.format_version.map(owned),
            git_rev: self.git_rev.map(owned),
            rec_mechanism: self.rec_mechanism.map(owned),
            hostname: owned(self.hostname),
            gpu_uuid: self.gpu_uuid.map(owned),
            tags: self.tags.map(owned),
            rank: self.rank,
            n_ranks: self.n_ranks,
            nnodes: self.nnodes,
            dump_timestamp_us: self.dump_timestamp_us,
            pid: self.pid,
        }
    }
}

impl Record<'_> {
    /// The same, independent of the line.
    #[must_use]
    pub fn into_owned(self) -> Record<'static> {
        Record {
            context: Cow::Owned(self.context.into_owned().into_owned()),
            context_number: self.context_number,
            body: match self.body {
                Body::Operation(operation) => Body::Operation(operation.into_owned()),
                Body::DumpStats(stats) => Body::DumpStats(stats.into_owned()),
                Body::Proxy(proxy) => Body::Proxy(Box::new(proxy.into_owned())),
                Body::Other(kind) => Body::Other(owned(kind)),
            },
        }
    }
}

impl Operation<'_> {
    fn into_owned(self) -> Operation<'static> {
        Operation {
            function: owned(self.function),
            timing_source: self.timing_source.map(owned),
            algo: self.algo.map(owned),
            proto: self.proto.map(owned),
            kind: self.kind,
            sequence_number: self.sequence_number,
            peer: self.peer,
            size_bytes: self.size_bytes,
            exec_time_us: self.exec_time_us,
            exec_time_fraction_us: self.exec_time_fraction_us,
            algobw_gbs: self.algobw_gbs,
            busbw_gbs: self.busbw_gbs,
            graph_captured: self.graph_captured,
            trace: self.trace,
        }
    }
}

impl DumpStats<'_> {
    fn into_owned(self) -> DumpStats<'static> {
        DumpStats {
            proxy_output_mode: self.proxy_output_mode.map(owned),
            coll_records: self.coll_records,
            coll_dropped_total: self.coll_dropped_total,
            coll_dropped_since_last_dump: self.coll_dropped_since_last_dump,
            p2p_records: self.p2p_records,
            p2p_dropped_total: self.p2p_dropped_total,
            p2p_dropped_since_last_dump: self.p2p_dropped_since_last_dump,
            proxy_records: self.proxy_records,
            proxy_dropped_total: self.proxy_dropped_total,
            proxy_dropped_since_last_dump: self.proxy_dropped_since_last_dump,
            proxy_steps_overwritten_total: self.proxy_steps_overwritten_total,
            proxy_steps_overwritten_since_last_dump: self.proxy_steps_overwritten_since_last_dump,
            proxy_ops_dropped_total: self.proxy_ops_dropped_total,
            proxy_ops_dropped_since_last_dump: self.proxy_ops_dropped_since_last_dump,
            proxy_segment_step_capacity: self.proxy_segment_step_capacity,
            proxy_steps_enabled: self.proxy_steps_enabled,
            proxy_pxn_skipped_process_total: self.proxy_pxn_skipped_process_total,
        }
    }
}

impl Proxy<'_> {
    fn into_owned(self) -> Proxy<'static> {
        Proxy {
            record_type: owned(self.record_type),
            parent_type: self.parent_type.map(owned),
            direction: self.direction.map(owned),
            timing_source: self.timing_source.map(owned),
            record_sn: self.record_sn,
            parent_sn: self.parent_sn,
            proxy_op_sn: self.proxy_op_sn,
            channel_id: self.channel_id,
            peer: self.peer,
            rank: self.rank,
            is_final: self.is_final,
            n_steps: self.n_steps,
            n_steps_started: self.n_steps_started,
            n_steps_completed: self.n_steps_completed,
            n_steps_dropped: self.n_steps_dropped,
            chunk_size_bytes: self.chunk_size_bytes,
            trans_size_bytes: self.trans_size_bytes,
            total_us: self.total_us,
            op_bw_gbs: self.op_bw_gbs,
            op_start_ts_us: self.op_start_ts_us,
            op_in_progress_ts_us: self.op_in_progress_ts_us,
            op_stop_ts_us: self.op_stop_ts_us,
            steps: self.steps,
        }
    }
}
