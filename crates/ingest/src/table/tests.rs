//! The schemas are a promise: columns and types are written out here once more.

use arrow::datatypes::DataType;

use super::*;

/// A line per column: name, type, `?` where it can be null.
fn described<C: Columns>() -> String {
    let mut lines = String::new();
    for field in C::schema().fields() {
        let kind = match field.data_type() {
            DataType::Dictionary(key, value) => {
                assert_eq!(
                    (key.as_ref(), value.as_ref()),
                    (&DataType::Int32, &DataType::Utf8)
                );
                "dict".to_owned()
            }
            other => other.to_string(),
        };
        let mark = if field.is_nullable() { "?" } else { "" };
        lines += &format!("{} {kind}{mark}\n", field.name());
    }
    lines
}

fn same(actual: &str, expected: &str) {
    let expected: Vec<_> = expected
        .split([',', '\n'])
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(actual.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn collectives_are_as_promised() {
    same(
        &described::<CollectiveColumns>(),
        "id dict, comm_name dict?, rank Int32, n_ranks Int32, nnodes Int32, comm_type dict?, coll dict, coll_sn Int64,
        coll_msg_size_bytes Int64, coll_exec_time_us Int64, coll_exec_time_fraction_us Float64?, coll_timing_source dict?,
        coll_algobw_gbs Float64, coll_busbw_gbs Float64, coll_algo dict?, coll_proto dict?,
        inspector_output_format_version dict?, git_rev dict?, rec_mechanism dict?, dump_timestamp_us Int64, hostname dict,
        pid Int64, graph_captured Boolean?, gpu_uuid dict?, tags dict?, source_file dict, source_line Int64",
    );
}

#[test]
fn p2p_are_as_promised() {
    same(
        &described::<P2pColumns>(),
        "id dict, comm_name dict?, rank Int32, n_ranks Int32, nnodes Int32, comm_type dict?, p2p dict, p2p_sn Int64,
        p2p_peer Int32?, p2p_msg_size_bytes Int64, p2p_exec_time_us Int64, p2p_exec_time_fraction_us Float64?,
        p2p_timing_source dict?, p2p_algobw_gbs Float64, p2p_busbw_gbs Float64, inspector_output_format_version dict?,
        git_rev dict?, rec_mechanism dict?, dump_timestamp_us Int64, hostname dict, pid Int64, graph_captured Boolean?,
        gpu_uuid dict?, tags dict?, source_file dict, source_line Int64",
    );
}

#[test]
fn channels_are_as_promised() {
    same(
        &described::<ChannelColumns>(),
        "kind dict, id dict, rank Int32, hostname dict, pid Int64, function dict, sn Int64, msg_size_bytes Int64,
        exec_time_us Int64, start_ts_us Int64?, stop_ts_us Int64?, start_sn Int64?, stop_sn Int64?, channel_id Int32?,
        kernel_start_ts_us Int64?, kernel_stop_ts_us Int64?, kernel_record_ts_us Int64?, kernel_start_sn Int64?,
        kernel_stop_sn Int64?, kernel_record_sn Int64?, dump_timestamp_us Int64, source_file dict, source_line Int64",
    );
}

#[test]
fn proxy_is_as_promised() {
    same(
        &described::<ProxyColumns>(),
        "id dict, comm_name dict?, rank Int32, n_ranks Int32, nnodes Int32, record_type dict, record_sn Int64?,
        parent_type dict?, parent_sn Int64?, proxy_op_sn Int64?, channel_id Int32?, peer Int64?, direction dict?,
        timing_source dict?, proxy_rank Int32?, is_final Boolean?, n_steps Int64?, n_steps_started Int64?,
        n_steps_completed Int64?, n_steps_dropped Int64?, chunk_size_bytes Int64?, trans_size_bytes Int64?,
        total_us Float64?, op_bw_gbs Float64?, op_start_ts_us Int64?, op_in_progress_ts_us Int64?, op_stop_ts_us Int64?,
        step_index Int32?, proxy_step_sn Int64?, step Int64?, step_trans_size_bytes Int64?, step_total_us Float64?,
        step_gpu_produce_us Float64?, step_peer_credit_us Float64?, step_wire_us Float64?, step_flush_us Float64?,
        step_gpu_consume_us Float64?, step_start_ts_us Int64?, step_send_gpu_wait_ts_us Int64?,
        step_send_peer_wait_ts_us Int64?, step_send_wait_ts_us Int64?, step_recv_wait_ts_us Int64?,
        step_recv_flush_wait_ts_us Int64?, step_recv_gpu_wait_ts_us Int64?, step_stop_ts_us Int64?,
        dump_timestamp_us Int64, hostname dict, pid Int64, source_file dict, source_line Int64",
    );
}

#[test]
fn dump_stats_are_as_promised() {
    same(
        &described::<DumpStatsColumns>(),
        "id dict, comm_name dict?, rank Int32, n_ranks Int32, nnodes Int32, comm_type dict?, coll_records Int64?,
        coll_dropped_total Int64?, coll_dropped_since_last_dump Int64?, p2p_records Int64?, p2p_dropped_total Int64?,
        p2p_dropped_since_last_dump Int64?, proxy_records Int64?, proxy_dropped_total Int64?,
        proxy_dropped_since_last_dump Int64?, proxy_steps_overwritten_total Int64?,
        proxy_steps_overwritten_since_last_dump Int64?, proxy_ops_dropped_total Int64?,
        proxy_ops_dropped_since_last_dump Int64?, proxy_output_mode dict?, proxy_segment_step_capacity Int64?,
        proxy_steps_enabled Boolean?, proxy_pxn_skipped_process_total Int64?, inspector_output_format_version dict?,
        git_rev dict?, rec_mechanism dict?, dump_timestamp_us Int64, hostname dict, pid Int64, gpu_uuid dict?, tags dict?,
        source_file dict, source_line Int64",
    );
}

/// The names that NVIDIA's exporter uses, from the contract of this program's output.
#[test]
fn the_exporters_columns_are_all_there() {
    let columns = |schema: arrow::datatypes::Schema| -> Vec<String> {
        schema.fields().iter().map(|f| f.name().clone()).collect()
    };
    let collectives = columns(CollectiveColumns::schema());
    for name in "id comm_name rank n_ranks nnodes comm_type coll coll_sn coll_msg_size_bytes coll_exec_time_us \
        coll_timing_source coll_algobw_gbs coll_busbw_gbs inspector_output_format_version git_rev rec_mechanism \
        dump_timestamp_us hostname pid coll_algo coll_proto source_file"
        .split_whitespace()
    {
        assert!(collectives.iter().any(|c| c == name), "{name}");
    }
    let p2p = columns(P2pColumns::schema());
    for name in "id comm_name rank n_ranks nnodes comm_type p2p p2p_sn p2p_peer p2p_msg_size_bytes p2p_exec_time_us \
        p2p_timing_source p2p_algobw_gbs p2p_busbw_gbs inspector_output_format_version git_rev rec_mechanism \
        dump_timestamp_us hostname pid source_file"
        .split_whitespace()
    {
        assert!(p2p.iter().any(|c| c == name), "{name}");
    }
}
