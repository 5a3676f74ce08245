//! Records of any content.

use std::borrow::Cow;

use proptest::prelude::*;

use crate::inspector::{
    Body, ChannelTrace, Context, DumpStats, Operation, OperationKind, Proxy, ProxyStep, Record,
    Trace,
};

type Text = Cow<'static, str>;

fn text() -> impl Strategy<Value = Text> {
    // Few different ones, as in dumps, and any.
    prop_oneof!["[ab]{1,2}", ".{0,6}"].prop_map(Cow::Owned)
}

fn optional_text() -> impl Strategy<Value = Option<Text>> {
    prop::option::of(text())
}

fn any_i64s(n: usize) -> impl Strategy<Value = std::vec::IntoIter<Option<i64>>> {
    prop::collection::vec(any::<Option<i64>>(), n).prop_map(Vec::into_iter)
}

fn counts(n: usize) -> impl Strategy<Value = std::vec::IntoIter<Option<u64>>> {
    prop::collection::vec(prop::option::of(0..=i64::MAX as u64), n).prop_map(Vec::into_iter)
}

fn times(n: usize) -> impl Strategy<Value = std::vec::IntoIter<Option<f64>>> {
    prop::collection::vec(prop::option::of(0.0..1e9), n).prop_map(Vec::into_iter)
}

prop_compose! {
    fn context()(
        id in text(), comm_name in optional_text(), rank in 0..=i32::MAX as u32, n_ranks in 0_u32..5, nnodes in 0_u32..5,
        format_version in optional_text(), git_rev in optional_text(), rec_mechanism in optional_text(),
        dump_timestamp_us in any::<i64>(), hostname in text(), pid in any::<i64>(),
        (gpu_uuid, tags) in (optional_text(), optional_text()),
    ) -> Context<'static> {
        Context { id, comm_name, rank, n_ranks, nnodes, format_version, git_rev, rec_mechanism, dump_timestamp_us, hostname, pid,
            gpu_uuid, tags }
    }
}

prop_compose! {
    fn channel()(channel_id in any::<i32>(), mut n in any_i64s(6)) -> ChannelTrace {
        let mut next = || n.next().flatten();
        ChannelTrace { channel_id, kernel_start_ts_us: next(), kernel_stop_ts_us: next(), kernel_record_ts_us: next(),
            kernel_start_sn: next(), kernel_stop_sn: next(), kernel_record_sn: next() }
    }
}

prop_compose! {
    fn trace()(mut n in any_i64s(4), channels in prop::collection::vec(channel(), 0..3)) -> Trace {
        let mut next = || n.next().flatten();
        Trace { start_ts_us: next(), stop_ts_us: next(), start_sn: next(), stop_sn: next(), channels }
    }
}

prop_compose! {
    fn operation()(
        collective in any::<bool>(), function in text(), sequence_number in any::<i64>(),
        peer in prop::option::of(0..=i64::from(i32::MAX)), size_bytes in 0..=i64::MAX as u64,
        exec_time_us in 0..=i64::MAX as u64, exec_time_fraction_us in prop_oneof![Just(0.0), 0.0..1.0],
        (algobw_gbs, busbw_gbs) in (0.0..1e6, 0.0..1e6), timing_source in optional_text(),
        (algo, proto) in (optional_text(), optional_text()), graph_captured in any::<Option<bool>>(),
        trace in prop::option::of(trace().prop_map(Box::new)),
    ) -> Operation<'static> {
        let kind = if collective { OperationKind::Collective } else { OperationKind::PointToPoint };
        Operation { kind, function, sequence_number, peer, size_bytes, exec_time_us, exec_time_fraction_us, timing_source,
            algobw_gbs, busbw_gbs, algo, proto, graph_captured, trace }
    }
}

prop_compose! {
    fn dump_stats()(
        mut n in counts(15), proxy_output_mode in optional_text(), proxy_steps_enabled in any::<Option<bool>>(),
    ) -> DumpStats<'static> {
        let mut next = || n.next().flatten();
        DumpStats { coll_records: next(), coll_dropped_total: next(), coll_dropped_since_last_dump: next(), p2p_records: next(),
            p2p_dropped_total: next(), p2p_dropped_since_last_dump: next(), proxy_records: next(), proxy_dropped_total: next(),
            proxy_dropped_since_last_dump: next(), proxy_steps_overwritten_total: next(),
            proxy_steps_overwritten_since_last_dump: next(), proxy_ops_dropped_total: next(),
            proxy_ops_dropped_since_last_dump: next(), proxy_output_mode, proxy_segment_step_capacity: next(),
            proxy_steps_enabled, proxy_pxn_skipped_process_total: next() }
    }
}

prop_compose! {
    fn step()(mut n in any_i64s(10), trans_size_bytes in prop::option::of(0..=i64::MAX as u64), mut t in times(6)) -> ProxyStep {
        let mut next = || n.next().flatten();
        let mut time = || t.next().flatten();
        ProxyStep { proxy_step_sn: next(), step: next(), trans_size_bytes, total_us: time(), gpu_produce_us: time(),
            peer_credit_us: time(), wire_us: time(), flush_us: time(), gpu_consume_us: time(), start_ts_us: next(),
            send_gpu_wait_ts_us: next(), send_peer_wait_ts_us: next(), send_wait_ts_us: next(), recv_wait_ts_us: next(),
            recv_flush_wait_ts_us: next(), recv_gpu_wait_ts_us: next(), stop_ts_us: next() }
    }
}

prop_compose! {
    fn proxy()(
        mut n in any_i64s(11), mut sizes in counts(2), mut t in times(2), record_type in text(), parent_type in optional_text(),
        channel_id in any::<Option<i32>>(), direction in optional_text(), timing_source in optional_text(),
        rank in prop::option::of(0..=i32::MAX as u32), is_final in any::<Option<bool>>(), steps in prop::collection::vec(step(), 0..3),
    ) -> Proxy<'static> {
        let mut next = || n.next().flatten();
        Proxy { record_type, record_sn: next(), parent_type, parent_sn: next(), proxy_op_sn: next(), channel_id, peer: next(),
            direction, timing_source, rank, is_final, n_steps: next(), n_steps_started: next(), n_steps_completed: next(),
            n_steps_dropped: next(), chunk_size_bytes: sizes.next().flatten(), trans_size_bytes: sizes.next().flatten(),
            total_us: t.next().flatten(), op_bw_gbs: t.next().flatten(), op_start_ts_us: next(), op_in_progress_ts_us: next(),
            op_stop_ts_us: next(), steps }
    }
}

/// Any record.
pub(super) fn record() -> impl Strategy<Value = Record<'static>> {
    let body = prop_oneof![
        4 => operation().prop_map(Body::Operation),
        1 => dump_stats().prop_map(Body::DumpStats),
        1 => proxy().prop_map(|proxy| Body::Proxy(Box::new(proxy))),
        1 => text().prop_map(Body::Other),
    ];
    (context(), body).prop_map(|(context, body)| Record {
        context: Cow::Owned(context),
        context_number: None,
        body,
    })
}
