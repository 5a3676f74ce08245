//! `p2p`: a row per `p2p_perf`.

use super::Table;
use super::collectives::fraction;
use super::column::{
    Float64, Int64, OptionalBool, OptionalFloat64, OptionalInt32, columns, line_number, to_i64,
};
use super::context::push_context;
use super::few::{FewInt32, FewInt64};
use super::strings::{OptionalText, Text};
use crate::inspector::{Context, Operation};

columns! {
    /// Columns of `p2p`, under the names of NVIDIA's exporter.
    P2pColumns, Table::P2p, of the context [id, comm_name, rank, n_ranks, nnodes, comm_type, inspector_output_format_version, git_rev, rec_mechanism, hostname, pid, gpu_uuid, tags, source_file], {
        id: Text,
        comm_name: OptionalText,
        rank: FewInt32,
        n_ranks: FewInt32,
        nnodes: FewInt32,
        comm_type: OptionalText,
        p2p: Text,
        p2p_sn: Int64,
        p2p_peer: OptionalInt32,
        p2p_msg_size_bytes: FewInt64,
        p2p_exec_time_us: Int64,
        p2p_exec_time_fraction_us: OptionalFloat64,
        p2p_timing_source: OptionalText,
        p2p_algobw_gbs: Float64,
        p2p_busbw_gbs: Float64,
        inspector_output_format_version: OptionalText,
        git_rev: OptionalText,
        rec_mechanism: OptionalText,
        dump_timestamp_us: Int64,
        hostname: Text,
        pid: FewInt64,
        graph_captured: OptionalBool,
        gpu_uuid: OptionalText,
        tags: OptionalText,
        source_file: Text,
        source_line: Int64,
    }
}

impl P2pColumns {
    /// Adds a record; `number` is that of its context, as in [`Record::context_number`](crate::inspector::Record::context_number).
    pub(crate) fn push(
        &mut self,
        context: &Context<'_>,
        number: Option<u32>,
        operation: &Operation<'_>,
        source_file: &str,
        line: u64,
    ) {
        if !self.repeats.count(number.map(u64::from)) {
            self.settle();
            self.repeats.begin(number.map(u64::from));
            push_context!(self, context, source_file);
        }
        self.p2p.push(&operation.function);
        self.p2p_sn.push(operation.sequence_number);
        // A peer beyond the type is no rank of anything: nothing is known.
        self.p2p_peer
            .push(operation.peer.and_then(|peer| i32::try_from(peer).ok()));
        self.p2p_msg_size_bytes.push(to_i64(operation.size_bytes));
        self.p2p_exec_time_us.push(to_i64(operation.exec_time_us));
        self.p2p_exec_time_fraction_us
            .push(fraction(operation.exec_time_fraction_us));
        self.p2p_timing_source
            .push(operation.timing_source.as_deref());
        self.p2p_algobw_gbs.push(operation.algobw_gbs);
        self.p2p_busbw_gbs.push(operation.busbw_gbs);
        self.dump_timestamp_us.push(context.dump_timestamp_us);
        self.graph_captured.push(operation.graph_captured);
        self.source_line.push(line_number(line));
    }
}
