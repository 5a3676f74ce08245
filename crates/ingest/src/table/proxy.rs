//! `proxy`: a row per proxy line, or per step of it where it has steps, each with the line's columns.

use super::Table;
use super::column::{
    Int64, OptionalBool, OptionalFloat64, OptionalInt32, OptionalInt64, columns, line_number,
    to_i32, to_i64,
};
use super::few::{FewInt32, FewInt64};
use super::strings::{OptionalText, Text};
use crate::inspector::{Context, Proxy, ProxyStep};

columns! {
    /// Columns of `proxy`. `proxy_step_sn` and `step` say by themselves that they are the step's; the step's other columns
    /// begin with `step_`.
    ProxyColumns, Table::Proxy, {
        id: Text,
        comm_name: OptionalText,
        rank: FewInt32,
        n_ranks: FewInt32,
        nnodes: FewInt32,
        record_type: Text,
        record_sn: OptionalInt64,
        parent_type: OptionalText,
        parent_sn: OptionalInt64,
        proxy_op_sn: OptionalInt64,
        channel_id: OptionalInt32,
        peer: OptionalInt64,
        direction: OptionalText,
        timing_source: OptionalText,
        proxy_rank: OptionalInt32,
        is_final: OptionalBool,
        n_steps: OptionalInt64,
        n_steps_started: OptionalInt64,
        n_steps_completed: OptionalInt64,
        n_steps_dropped: OptionalInt64,
        chunk_size_bytes: OptionalInt64,
        trans_size_bytes: OptionalInt64,
        total_us: OptionalFloat64,
        op_bw_gbs: OptionalFloat64,
        op_start_ts_us: OptionalInt64,
        op_in_progress_ts_us: OptionalInt64,
        op_stop_ts_us: OptionalInt64,
        step_index: OptionalInt32,
        proxy_step_sn: OptionalInt64,
        step: OptionalInt64,
        step_trans_size_bytes: OptionalInt64,
        step_total_us: OptionalFloat64,
        step_gpu_produce_us: OptionalFloat64,
        step_peer_credit_us: OptionalFloat64,
        step_wire_us: OptionalFloat64,
        step_flush_us: OptionalFloat64,
        step_gpu_consume_us: OptionalFloat64,
        step_start_ts_us: OptionalInt64,
        step_send_gpu_wait_ts_us: OptionalInt64,
        step_send_peer_wait_ts_us: OptionalInt64,
        step_send_wait_ts_us: OptionalInt64,
        step_recv_wait_ts_us: OptionalInt64,
        step_recv_flush_wait_ts_us: OptionalInt64,
        step_recv_gpu_wait_ts_us: OptionalInt64,
        step_stop_ts_us: OptionalInt64,
        dump_timestamp_us: Int64,
        hostname: Text,
        pid: FewInt64,
        source_file: Text,
        source_line: Int64,
    }
}

impl ProxyColumns {
    /// Adds a row per step, or one row without a step where the line has none.
    pub(crate) fn push(
        &mut self,
        context: &Context<'_>,
        proxy: &Proxy<'_>,
        source_file: &str,
        line: u64,
    ) {
        if proxy.steps.is_empty() {
            self.push_line(context, proxy, source_file, line);
            self.push_step(None, &ProxyStep::default());
        }
        for (index, step) in (0..).zip(&proxy.steps) {
            self.push_line(context, proxy, source_file, line);
            self.push_step(Some(index), step);
        }
    }

    fn push_line(
        &mut self,
        context: &Context<'_>,
        proxy: &Proxy<'_>,
        source_file: &str,
        line: u64,
    ) {
        self.id.push(&context.id);
        self.comm_name.push(context.comm_name.as_deref());
        self.rank.push(to_i32(context.rank));
        self.n_ranks.push(to_i32(context.n_ranks));
        self.nnodes.push(to_i32(context.nnodes));
        self.record_type.push(&proxy.record_type);
        self.record_sn.push(proxy.record_sn);
        self.parent_type.push(proxy.parent_type.as_deref());
        self.parent_sn.push(proxy.parent_sn);
        self.proxy_op_sn.push(proxy.proxy_op_sn);
        self.channel_id.push(proxy.channel_id);
        self.peer.push(proxy.peer);
        self.direction.push(proxy.direction.as_deref());
        self.timing_source.push(proxy.timing_source.as_deref());
        self.proxy_rank.push(proxy.rank.map(to_i32));
        self.is_final.push(proxy.is_final);
        self.n_steps.push(proxy.n_steps);
        self.n_steps_started.push(proxy.n_steps_started);
        self.n_steps_completed.push(proxy.n_steps_completed);
        self.n_steps_dropped.push(proxy.n_steps_dropped);
        self.chunk_size_bytes
            .push(proxy.chunk_size_bytes.map(to_i64));
        self.trans_size_bytes
            .push(proxy.trans_size_bytes.map(to_i64));
        self.total_us.push(proxy.total_us);
        self.op_bw_gbs.push(proxy.op_bw_gbs);
        self.op_start_ts_us.push(proxy.op_start_ts_us);
        self.op_in_progress_ts_us.push(proxy.op_in_progress_ts_us);
        self.op_stop_ts_us.push(proxy.op_stop_ts_us);
        self.dump_timestamp_us.push(context.dump_timestamp_us);
        self.hostname.push(&context.hostname);
        self.pid.push(context.pid);
        self.source_file.push(source_file);
        self.source_line.push(line_number(line));
    }

    fn push_step(&mut self, index: Option<i32>, step: &ProxyStep) {
        self.step_index.push(index);
        self.proxy_step_sn.push(step.proxy_step_sn);
        self.step.push(step.step);
        self.step_trans_size_bytes
            .push(step.trans_size_bytes.map(to_i64));
        self.step_total_us.push(step.total_us);
        self.step_gpu_produce_us.push(step.gpu_produce_us);
        self.step_peer_credit_us.push(step.peer_credit_us);
        self.step_wire_us.push(step.wire_us);
        self.step_flush_us.push(step.flush_us);
        self.step_gpu_consume_us.push(step.gpu_consume_us);
        self.step_start_ts_us.push(step.start_ts_us);
        self.step_send_gpu_wait_ts_us.push(step.send_gpu_wait_ts_us);
        self.step_send_peer_wait_ts_us
            .push(step.send_peer_wait_ts_us);
        self.step_send_wait_ts_us.push(step.send_wait_ts_us);
        self.step_recv_wait_ts_us.push(step.recv_wait_ts_us);
        self.step_recv_flush_wait_ts_us
            .push(step.recv_flush_wait_ts_us);
        self.step_recv_gpu_wait_ts_us.push(step.recv_gpu_wait_ts_us);
        self.step_stop_ts_us.push(step.stop_ts_us);
    }
}
