//! `collectives`: a row per `coll_perf`.

use super::Table;
use super::column::{Float64, Int64, OptionalBool, OptionalFloat64, columns, line_number, to_i64};
use super::context::push_context;
use super::few::{FewInt32, FewInt64};
use super::strings::{OptionalText, Text};
use crate::inspector::{Context, Operation};

columns! {
    /// Columns of `collectives`, under the names of NVIDIA's exporter.
    CollectiveColumns, Table::Collectives, of the context [id, comm_name, rank, n_ranks, nnodes, comm_type, inspector_output_format_version, git_rev, rec_mechanism, hostname, pid, gpu_uuid, tags, source_file], {
        id: Text,
        comm_name: OptionalText,
        rank: FewInt32,
        n_ranks: FewInt32,
        nnodes: FewInt32,
        comm_type: OptionalText,
        coll: Text,
        coll_sn: Int64,
        coll_msg_size_bytes: FewInt64,
        coll_exec_time_us: Int64,
        coll_exec_time_fraction_us: OptionalFloat64,
        coll_timing_source: OptionalText,
        coll_algobw_gbs: Float64,
        coll_busbw_gbs: Float64,
        coll_algo: OptionalText,
        coll_proto: OptionalText,
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

impl CollectiveColumns {
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
        self.coll.push(&operation.function);
        self.coll_sn.push(operation.sequence_number);
        self.coll_msg_size_bytes.push(to_i64(operation.size_bytes));
        self.coll_exec_time_us.push(to_i64(operation.exec_time_us));
        self.coll_exec_time_fraction_us
            .push(fraction(operation.exec_time_fraction_us));
        self.coll_timing_source
            .push(operation.timing_source.as_deref());
        self.coll_algobw_gbs.push(operation.algobw_gbs);
        self.coll_busbw_gbs.push(operation.busbw_gbs);
        self.coll_algo.push(operation.algo.as_deref());
        self.coll_proto.push(operation.proto.as_deref());
        self.dump_timestamp_us.push(context.dump_timestamp_us);
        self.graph_captured.push(operation.graph_captured);
        self.source_line.push(line_number(line));
    }
}

/// What a time has after the point; null for the whole numbers that the Inspector itself writes.
#[inline]
pub(super) fn fraction(micros: f64) -> Option<f64> {
    (micros != 0.0).then_some(micros)
}
