//! Every way in which the Inspector and its ports are known to write.

use nccl_report_ingest::inspector::{Body, ChannelTrace, DumpStats, OperationKind, ProxyStep};

use crate::support::{PLAIN, SEND, bare, marker, one, operation, read};

#[test]
fn v4_0_second_behaviour() {
    let (record, collective) = one(PLAIN);
    let context = &record.context;
    assert_eq!(context.id, "0xe7da8e667b6d5e");
    assert_eq!(context.comm_name.as_deref(), Some("default_pg"));
    assert_eq!((context.rank, context.n_ranks, context.nnodes), (0, 8, 2));
    assert_eq!(context.format_version.as_deref(), Some("v4.0"));
    assert_eq!(
        context.git_rev.as_deref(),
        Some("nccl4py-v0.2.0-554-g73cf1122")
    );
    assert_eq!(
        context.rec_mechanism.as_deref(),
        Some("nccl_profiler_interface")
    );
    assert_eq!(context.dump_timestamp_us, 1_795_953_247_245_381);
    assert_eq!((&*context.hostname, context.pid), ("dgx-h01", 449));
    assert_eq!(
        (context.gpu_uuid.as_deref(), context.tags.as_deref()),
        (None, None)
    );
    assert_eq!(collective.kind, OperationKind::Collective);
    assert_eq!(collective.function, "AllReduce");
    assert_eq!((collective.sequence_number, collective.peer), (0, None));
    assert_eq!((collective.size_bytes, collective.exec_time_us), (8192, 39));
    assert_eq!(collective.exec_time_fraction_us, 0.0);
    assert_eq!(collective.timing_source.as_deref(), Some("kernel_gpu"));
    assert_eq!(
        (collective.algobw_gbs, collective.busbw_gbs),
        (0.210051, 0.367590)
    );
    assert_eq!(
        (collective.algo.as_deref(), collective.proto.as_deref()),
        (None, None)
    );
    assert_eq!((collective.graph_captured, collective.trace), (None, None));
}

#[test]
fn v4_0_send() {
    let (record, send) = one(SEND);
    assert_eq!(record.context.comm_name.as_deref(), Some("pp pair"));
    assert_eq!(send.kind, OperationKind::PointToPoint);
    assert_eq!(
        (&*send.function, send.sequence_number, send.peer),
        ("Send", 2, Some(1))
    );
    assert_eq!((send.size_bytes, send.exec_time_us), (65536, 1));
    assert_eq!(send.timing_source.as_deref(), Some("collective_cpu"));
    assert_eq!((send.algobw_gbs, send.busbw_gbs), (65.536, 65.536));
}

/// As the plugin's own README shows it: no timing source, an empty revision, another mechanism, no name.
#[test]
fn old_writers() {
    let (record, collective) = one(
        r#"{"header":{"id":"0x7f8c496ae9f661","rank":2,"n_ranks":8,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"profiler_plugin","dump_timestamp_us":1748030377748202,"hostname":"example-hostname","pid":1639453},"coll_perf":{"coll":"AllReduce","coll_sn":1407,"coll_msg_size_bytes":17179869184,"coll_exec_time_us":61974,"coll_algobw_gbs":277.210914,"coll_busbw_gbs":485.119099}}"#,
    );
    assert_eq!(record.context.comm_name, None);
    assert_eq!(record.context.git_rev, None);
    assert_eq!(
        record.context.rec_mechanism.as_deref(),
        Some("profiler_plugin")
    );
    assert_eq!(collective.timing_source, None);
    assert_eq!(collective.busbw_gbs, 485.119099);
    // Neither version nor revision nor mechanism.
    let (record, _) = one(
        r#"{"header":{"id":"0xabc","rank":0,"n_ranks":1,"nnodes":1},"metadata":{"hostname":"w0","pid":42,"dump_timestamp_us":123},"coll_perf":{"coll":"AllReduce","coll_sn":1,"coll_msg_size_bytes":1024,"coll_exec_time_us":100,"coll_algobw_gbs":1,"coll_busbw_gbs":0}}"#,
    );
    assert_eq!(record.context.format_version, None);
}

#[test]
fn a_name_that_was_not_given_is_told_from_a_writer_without_names() {
    let (record, _) = one(&PLAIN.replace("default_pg", "unknown"));
    assert_eq!(record.context.comm_name.as_deref(), Some("unknown"));
}

#[test]
fn v4_1_statistics_beside_whole_lines() {
    let text = format!(
        "{}\n{}\n",
        marker("v4.1", "0xa", 1, 0, None),
        PLAIN.replace("v4.0", "v4.1")
    );
    let dump = read(text);
    assert_eq!(dump.tally.rejected.lines, 0);
    assert_eq!(dump.tally.truncated_dumps, 0);
    let expected = DumpStats {
        coll_records: Some(1),
        coll_dropped_total: Some(5),
        coll_dropped_since_last_dump: Some(2),
        p2p_records: Some(0),
        p2p_dropped_total: Some(0),
        p2p_dropped_since_last_dump: Some(0),
        ..DumpStats::default()
    };
    assert_eq!(dump.records[0].1.body, Body::DumpStats(expected));
    assert_eq!(dump.records[0].1.context.id, "0xa");
    assert_eq!(dump.records[1].1.context.id, "0xe7da8e667b6d5e");
    assert_eq!(dump.tally.records["dump_stats"], 1);
    assert_eq!(dump.tally.records["collective"], 1);
}

#[test]
fn v4_2_algorithm_and_protocol() {
    let line = PLAIN.replace(
        r#""coll":"AllReduce","#,
        r#""coll":"AllReduce","coll_algo":"NVLS_TREE","coll_proto":"SIMPLE","#,
    );
    let (_, collective) = one(&line);
    assert_eq!(collective.algo.as_deref(), Some("NVLS_TREE"));
    assert_eq!(collective.proto.as_deref(), Some("SIMPLE"));
    let (_, collective) = one(&line.replace("NVLS_TREE", "unknown"));
    assert_eq!(collective.algo, None);
}

#[test]
fn verbose_channels_are_joined_by_number() {
    let line = PLAIN.replace(
        r#""coll_busbw_gbs":0.367590"#,
        r#""coll_busbw_gbs":0.367590,"event_trace_sn":{"coll_start_sn":1,"coll_stop_sn":2,"kernel_events":[{"channel_id":0,"kernel_start_sn":3,"kernel_stop_sn":7,"kernel_record_sn":5},{"channel_id":3,"kernel_start_sn":4,"kernel_stop_sn":8,"kernel_record_sn":6},{"channel_id":9,"kernel_start_sn":10}]},"event_trace_ts":{"coll_start_ts":1000,"coll_stop_ts":1004,"kernel_events":[{"channel_id":3,"kernel_start_ts":0,"kernel_stop_ts":1300,"kernel_record_ts":1301},{"channel_id":0,"kernel_start_ts":1010,"kernel_stop_ts":1200,"kernel_record_ts":1201}]}"#,
    );
    let (_, collective) = one(&line);
    let trace = collective.trace.expect("verbose");
    assert_eq!(
        (trace.start_ts_us, trace.stop_ts_us),
        (Some(1000), Some(1004))
    );
    assert_eq!((trace.start_sn, trace.stop_sn), (Some(1), Some(2)));
    assert_eq!(
        trace.channels,
        [
            ChannelTrace {
                channel_id: 3,
                kernel_start_ts_us: None,
                kernel_stop_ts_us: Some(1300),
                kernel_record_ts_us: Some(1301),
                kernel_start_sn: Some(4),
                kernel_stop_sn: Some(8),
                kernel_record_sn: Some(6),
            },
            ChannelTrace {
                channel_id: 0,
                kernel_start_ts_us: Some(1010),
                kernel_stop_ts_us: Some(1200),
                kernel_record_ts_us: Some(1201),
                kernel_start_sn: Some(3),
                kernel_stop_sn: Some(7),
                kernel_record_sn: Some(5),
            },
            ChannelTrace {
                channel_id: 9,
                kernel_start_sn: Some(10),
                ..ChannelTrace::default()
            },
        ]
    );
}

#[test]
fn float_times() {
    let (_, collective) = one(&PLAIN.replace(r#"_time_us":39"#, r#"_time_us":5663.0"#));
    assert_eq!(
        (collective.exec_time_us, collective.exec_time_fraction_us),
        (5663, 0.0)
    );
    let (_, collective) = one(&PLAIN.replace(r#"_time_us":39"#, r#"_time_us":5663.75"#));
    assert_eq!(
        (collective.exec_time_us, collective.exec_time_fraction_us),
        (5663, 0.75)
    );
}

#[test]
fn variants_of_other_writers() {
    let line = PLAIN
        .replace(
            r#""pid":449"#,
            r#""pid":449,"gpu_uuid":"GPU-abc","extra_tags":{"ray_node":"n1","ray_job":"05"}"#,
        )
        .replace(r#""coll_sn":0"#, r#""graphCaptured":true,"coll_sn":0"#);
    let (record, collective) = one(&line);
    assert_eq!(record.context.gpu_uuid.as_deref(), Some("GPU-abc"));
    assert_eq!(
        record.context.tags.as_deref(),
        Some(r#"{"ray_job":"05","ray_node":"n1"}"#)
    );
    assert_eq!(collective.graph_captured, Some(true));
    let (record, _) = one(&PLAIN.replace(r#""pid":449}"#, r#""pid":449,"user_tag":"run 7"}"#));
    assert_eq!(record.context.tags.as_deref(), Some("run 7"));
    let (record, _) = one(&PLAIN.replacen('{', r#"{"user_tag":"top","#, 1));
    assert_eq!(record.context.tags.as_deref(), Some("top"));
}

#[test]
fn flat_lines() {
    let (record, collective) = one(
        r#"{"id":"0xabc","rank":1,"n_ranks":2,"nnodes":1,"pid":42,"global_rank":-1,"gpu_uuid":"GPU-1","hostname":"w0","dump_timestamp_us":1772585717263338,"coll":"AllGather","coll_sn":3,"coll_msg_size_bytes":1024,"coll_exec_time_us":100.5,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":0.02,"coll_busbw_gbs":0.01}"#,
    );
    assert_eq!((&*record.context.id, record.context.rank), ("0xabc", 1));
    assert_eq!(record.context.gpu_uuid.as_deref(), Some("GPU-1"));
    assert_eq!(
        (&*collective.function, collective.exec_time_us),
        ("AllGather", 100)
    );
    // The context flat, the operation in its object.
    let (record, collective) = one(
        r#"{"coll_perf":{"coll":"AllReduce","coll_sn":3,"coll_msg_size_bytes":1024,"coll_exec_time_us":100,"coll_algobw_gbs":1,"coll_busbw_gbs":1},"id":"0xabc","rank":1,"n_ranks":2,"nnodes":1,"pid":42,"hostname":"w0","dump_timestamp_us":5}"#,
    );
    assert_eq!(
        (&*record.context.hostname, collective.sequence_number),
        ("w0", 3)
    );
    // A Send, verbose.
    let (_, send) = one(
        r#"{"id":"0xabc","rank":1,"n_ranks":2,"nnodes":1,"pid":42,"hostname":"w0","dump_timestamp_us":5,"p2p":"Send","p2p_sn":1,"p2p_peer":0,"p2p_msg_size_bytes":1024,"p2p_exec_time_us":100,"p2p_algobw_gbs":1,"p2p_busbw_gbs":1,"graphCaptured":0,"event_trace_ts":{"p2p_start_ts":8,"kernel_events":[]}}"#,
    );
    assert_eq!((send.peer, send.graph_captured), (Some(0), Some(false)));
    assert_eq!(send.trace.map(|t| t.start_ts_us), Some(Some(8)));
}

#[test]
fn any_order_of_keys_and_any_number_of_unknown_ones() {
    let (shuffled, operation) = one(
        r#"{"coll_perf":{"coll_busbw_gbs":0.367590,"new":{"deep":[1,{"coll":"no"}]},"coll_msg_size_bytes":8192,"coll_exec_time_us":39,"coll_sn":0,"coll_n_channels":4,"decomposition":{"wire_us":1},"coll_algobw_gbs":0.210051,"coll_timing_source":"kernel_gpu","coll":"AllReduce"},"novel":[1,2],"metadata":{"pid":449,"hostname":"dgx-h01","dump_timestamp_us":1795953247245381,"rec_mechanism":"nccl_profiler_interface","rank":77,"git_rev":"nccl4py-v0.2.0-554-g73cf1122","inspector_output_format_version":"v4.0"},"header":{"nnodes":2,"n_ranks":8,"pid":1,"rank":0,"comm_name":"default_pg","id":"0xe7da8e667b6d5e"}}"#,
    );
    let (record, expected) = one(PLAIN);
    assert_eq!(shuffled, record);
    assert_eq!(operation, expected);
}

#[test]
fn escapes_and_repeated_keys() {
    let line = PLAIN.replace("default_pg", r#"dp \"q\"\\x \/ \t\u00e9\ud83d\ude00"#);
    let (record, _) = one(&line);
    assert_eq!(
        record.context.comm_name.as_deref(),
        Some("dp \"q\"\\x / \té😀")
    );
    let (record, _) = one(&PLAIN.replace(r#""ra"#, r#""\u0072a"#));
    assert_eq!(record.context.rank, 0);
    let (record, _) = one(&PLAIN.replace(r#""rank":0"#, r#""rank":5,"rank":3"#));
    assert_eq!(record.context.rank, 3);
}

#[test]
fn collectives_and_kinds_that_nobody_has_heard_of() {
    let (_, collective) = one(&PLAIN.replace("AllReduce", "AllToAllButSideways"));
    assert_eq!(collective.function, "AllToAllButSideways");
    let dump = read(format!(
        "{PLAIN}\n{{\"summary\":{{\"records\":1}}}}\n{}\n",
        PLAIN.replace("coll_perf", "nvls_perf")
    ));
    assert_eq!(dump.tally.rejected.lines, 0);
    assert_eq!(dump.tally.records["other"], 2);
    assert_eq!(dump.tally.unknown_kinds["summary"], 1);
    assert_eq!(dump.tally.unknown_kinds["nvls_perf"], 1);
    assert_eq!(dump.records[2].1.context.id, "0xe7da8e667b6d5e");
    assert_eq!(dump.records[2].1.body, Body::Other("nvls_perf".into()));
}

#[test]
fn v4_3_flat_proxy_records() {
    let step = r#"{"proxy_trace":{"record_type":"proxy_step","record_sn":41,"parent_type":"coll","parent_sn":1407,"proxy_op_sn":12,"channel_id":0,"peer":3,"direction":"send","proxy_step_sn":1,"step":0,"trans_size_bytes":1048576,"timing_source":"proxy_cpu","total_us":40,"gpu_produce_us":10,"peer_credit_us":11,"wire_us":12,"event_trace_sn":{"proxy_step_start_sn":3},"event_trace_ts":{"proxy_step_start_ts":1752867229235100,"send_gpu_wait_ts":1752867229235110,"send_peer_wait_ts":1752867229235120,"send_wait_ts":1752867229235130,"proxy_step_stop_ts":1752867229235140}}}"#;
    let op = r#"{"proxy_trace":{"record_type":"proxy_op","record_sn":42,"parent_type":"coll","parent_sn":1407,"proxy_op_sn":12,"rank":2,"channel_id":0,"peer":3,"direction":"send","n_steps":1,"chunk_size_bytes":1048576,"n_steps_started":1,"n_steps_completed":1,"n_steps_dropped":0,"trans_size_bytes":1048576,"timing_source":"proxy_cpu","total_us":70,"op_bw_gbs":14.979657,"event_trace_ts":{"proxy_op_start_ts":1752867229235080,"proxy_op_in_progress_ts":1752867229235090,"proxy_op_stop_ts":1752867229235150}}}"#;
    let dump = read(format!(
        "{}\n{step}\n{op}\n",
        marker("v4.3", "0xa", 0, 0, Some(2))
    ));
    assert_eq!(dump.tally.rejected.lines, 0);
    assert_eq!(dump.tally.records["proxy"], 2);
    let Body::Proxy(step) = &dump.records[1].1.body else {
        panic!("a proxy record");
    };
    assert_eq!(dump.records[1].1.context.rank, 1);
    assert_eq!(
        (&*step.record_type, step.record_sn, step.rank),
        ("proxy_step", Some(41), None)
    );
    assert_eq!(
        (step.trans_size_bytes, step.total_us, step.is_final),
        (None, None, None)
    );
    assert_eq!(
        step.steps,
        [ProxyStep {
            proxy_step_sn: Some(1),
            step: Some(0),
            trans_size_bytes: Some(1_048_576),
            total_us: Some(40.0),
            gpu_produce_us: Some(10.0),
            peer_credit_us: Some(11.0),
            wire_us: Some(12.0),
            start_ts_us: Some(1_752_867_229_235_100),
            send_gpu_wait_ts_us: Some(1_752_867_229_235_110),
            send_peer_wait_ts_us: Some(1_752_867_229_235_120),
            send_wait_ts_us: Some(1_752_867_229_235_130),
            stop_ts_us: Some(1_752_867_229_235_140),
            ..ProxyStep::default()
        }]
    );
    let Body::Proxy(op) = &dump.records[2].1.body else {
        panic!("a proxy record");
    };
    assert_eq!(
        (op.rank, op.peer, op.direction.as_deref()),
        (Some(2), Some(3), Some("send"))
    );
    assert_eq!(
        (op.parent_type.as_deref(), op.parent_sn, op.proxy_op_sn),
        (Some("coll"), Some(1407), Some(12))
    );
    assert_eq!(
        (
            op.n_steps,
            op.n_steps_started,
            op.n_steps_completed,
            op.n_steps_dropped
        ),
        (Some(1), Some(1), Some(1), Some(0))
    );
    assert_eq!(
        (op.chunk_size_bytes, op.trans_size_bytes),
        (Some(1_048_576), Some(1_048_576))
    );
    assert_eq!((op.total_us, op.op_bw_gbs), (Some(70.0), Some(14.979657)));
    assert_eq!(
        (op.op_start_ts_us, op.op_in_progress_ts_us, op.op_stop_ts_us),
        (
            Some(1_752_867_229_235_080),
            Some(1_752_867_229_235_090),
            Some(1_752_867_229_235_150)
        )
    );
    assert_eq!(op.timing_source.as_deref(), Some("proxy_cpu"));
    assert_eq!(op.steps, []);
}

#[test]
fn v4_4_nested_proxy_records() {
    let stats = r#""proxy_records":3,"proxy_dropped_total":9,"proxy_dropped_since_last_dump":4,"proxy_ops_dropped_total":1,"proxy_ops_dropped_since_last_dump":0,"proxy_steps_overwritten_total":8,"proxy_steps_overwritten_since_last_dump":3,"proxy_output_mode":"nested","proxy_segment_step_capacity":8,"proxy_pxn_skipped_process_total":6,"proxy_steps_enabled":1}"#;
    let head = marker("v4.4", "0xa", 1, 0, None).replace(
        r#""p2p_dropped_since_last_dump":0}"#,
        &format!(r#""p2p_dropped_since_last_dump":0,{stats}"#),
    );
    let start = r#"{"proxy_trace":{"record_type":"proxy_op_start","record_sn":1,"proxy_op_sn":12,"is_final":false,"n_steps":9,"chunk_size_bytes":524288,"event_trace_ts":{"proxy_op_start_ts":100}}}"#;
    let segment = r#"{"proxy_trace":{"record_type":"proxy_op_segment","record_sn":2,"proxy_op_sn":12,"direction":"recv","is_final":false,"steps":[{"proxy_step_sn":1,"step":0,"trans_size_bytes":4,"total_us":3,"wire_us":1,"flush_us":0,"gpu_consume_us":2,"event_trace_ts":{"recv_wait_ts":5,"recv_flush_wait_ts":6,"recv_gpu_wait_ts":6,"proxy_step_stop_ts":8}},{"proxy_step_sn":2,"step":1}]}}"#;
    let end = r#"{"proxy_trace":{"record_type":"proxy_op","record_sn":3,"proxy_op_sn":12,"is_final":true,"trans_size_bytes":1048576,"total_us":70,"op_bw_gbs":14.979657,"steps":[]}}"#;
    let dump = read(format!("{head}\n{}\n{start}\n{segment}\n{end}\n", bare(0)));
    assert_eq!(dump.tally.rejected.lines, 0);
    assert_eq!(dump.tally.truncated_dumps, 0);
    let Body::DumpStats(stats) = &dump.records[0].1.body else {
        panic!("a marker");
    };
    assert_eq!(stats.proxy_records, Some(3));
    assert_eq!(
        (
            stats.proxy_dropped_total,
            stats.proxy_dropped_since_last_dump
        ),
        (Some(9), Some(4))
    );
    assert_eq!(
        (
            stats.proxy_ops_dropped_total,
            stats.proxy_ops_dropped_since_last_dump
        ),
        (Some(1), Some(0))
    );
    assert_eq!(
        (
            stats.proxy_steps_overwritten_total,
            stats.proxy_steps_overwritten_since_last_dump
        ),
        (Some(8), Some(3))
    );
    assert_eq!(
        (
            stats.proxy_output_mode.as_deref(),
            stats.proxy_segment_step_capacity
        ),
        (Some("nested"), Some(8))
    );
    assert_eq!(
        (
            stats.proxy_pxn_skipped_process_total,
            stats.proxy_steps_enabled
        ),
        (Some(6), Some(true))
    );
    assert_eq!(operation(&dump.records[1].1).sequence_number, 0);
    let Body::Proxy(segment) = &dump.records[3].1.body else {
        panic!("a proxy record");
    };
    assert_eq!(segment.is_final, Some(false));
    assert_eq!(segment.steps.len(), 2);
    assert_eq!(
        (segment.steps[0].flush_us, segment.steps[0].gpu_consume_us),
        (Some(0.0), Some(2.0))
    );
    assert_eq!(
        (
            segment.steps[0].recv_wait_ts_us,
            segment.steps[0].start_ts_us
        ),
        (Some(5), None)
    );
    assert_eq!(
        (segment.steps[1].step, segment.steps[1].wire_us),
        (Some(1), None)
    );
    let Body::Proxy(end) = &dump.records[4].1.body else {
        panic!("a proxy record");
    };
    assert_eq!((end.is_final, end.total_us), (Some(true), Some(70.0)));
}
