//! Rows as they lie in a Parquet file, and as they should.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::inspector::{
    Body, ChannelTrace, Context, Operation, OperationKind, Proxy, ProxyStep, Record, Trace,
};

/// A value of any column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Text(String),
    Whole(i64),
    Real(f64),
    Bool(bool),
}

pub(super) type Row = BTreeMap<String, Cell>;

/// All rows of a file.
pub(super) fn read(path: &Path) -> Vec<Row> {
    let file = File::open(path).expect("the file is there");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let mut rows = Vec::new();
    for batch in reader.build().expect("readable") {
        let batch = batch.expect("whole");
        let schema = batch.schema();
        for row in 0..batch.num_rows() {
            let cells = schema.fields().iter().zip(batch.columns());
            rows.push(
                cells
                    .map(|(field, column)| (field.name().clone(), cell(column, row)))
                    .collect(),
            );
        }
    }
    rows
}

fn cell(column: &ArrayRef, row: usize) -> Cell {
    if column.is_null(row) {
        return Cell::Null;
    }
    match column.data_type() {
        DataType::Int32 => Cell::Whole(column.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => Cell::Whole(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => Cell::Real(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => Cell::Bool(column.as_boolean().value(row)),
        DataType::Dictionary(..) => {
            let dictionary = column.as_dictionary::<Int32Type>();
            let key = dictionary.keys().value(row) as usize;
            let values = dictionary.values().as_string::<i32>();
            Cell::Text(values.value(key).to_owned())
        }
        other => panic!("no column has the type {other}"),
    }
}

impl From<&Cow<'_, str>> for Cell {
    fn from(text: &Cow<'_, str>) -> Self {
        Self::Text(text.to_string())
    }
}

impl From<&Option<Cow<'_, str>>> for Cell {
    fn from(text: &Option<Cow<'_, str>>) -> Self {
        match text {
            Some(text) if !text.is_empty() => text.into(),
            _ => Self::Null,
        }
    }
}

macro_rules! from {
    ($($kind:ty => $make:expr),* $(,)?) => {$(
        impl From<$kind> for Cell {
            fn from(value: $kind) -> Self {
                $make(value)
            }
        }
        impl From<Option<$kind>> for Cell {
            fn from(value: Option<$kind>) -> Self {
                value.map_or(Self::Null, Self::from)
            }
        }
        impl From<&Option<$kind>> for Cell {
            fn from(value: &Option<$kind>) -> Self {
                value.map_or(Self::Null, Self::from)
            }
        }
        impl From<&$kind> for Cell {
            fn from(value: &$kind) -> Self {
                Self::from(*value)
            }
        }
    )*};
}

from! {
    i64 => Cell::Whole,
    i32 => |v: i32| Cell::Whole(v.into()),
    u32 => |v: u32| Cell::Whole(v.into()),
    u64 => |v: u64| Cell::Whole(v.try_into().expect("below 2^63")),
    f64 => Cell::Real,
    bool => Cell::Bool,
}

impl From<&'static str> for Cell {
    fn from(text: &'static str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Columns that have their field's name, with a prefix.
macro_rules! fields {
    ($row:expr, $of:expr, $prefix:literal, $($field:ident)*) => {
        $($row.insert(format!("{}{}", $prefix, stringify!($field)), Cell::from(&$of.$field));)*
    };
}

/// Rows of each table, by its folder, that the record of this line should become.
pub(super) fn expected(record: &Record<'_>, line: i64) -> Vec<(&'static str, Row)> {
    let context = &record.context;
    match &record.body {
        Body::Operation(operation) => {
            let mut rows = vec![operation_row(context, operation)];
            if let Some(trace) = &operation.trace {
                let channels = trace.channels.iter().map(Some);
                let none = trace.channels.is_empty().then_some(None);
                rows.extend(
                    channels
                        .chain(none)
                        .map(|channel| ("channels", channel_row(context, operation, trace, channel))),
                );
            }
            rows
        }
        Body::DumpStats(stats) => {
            let mut row = communicator(context);
            metadata(&mut row, context);
            fields!(row, stats, "", coll_records coll_dropped_total coll_dropped_since_last_dump p2p_records
                p2p_dropped_total p2p_dropped_since_last_dump proxy_records proxy_dropped_total
                proxy_dropped_since_last_dump proxy_steps_overwritten_total proxy_steps_overwritten_since_last_dump
                proxy_ops_dropped_total proxy_ops_dropped_since_last_dump proxy_output_mode
                proxy_segment_step_capacity proxy_steps_enabled proxy_pxn_skipped_process_total);
            vec![("dump_stats", row)]
        }
        Body::Proxy(proxy) => {
            let steps = (0..).zip(&proxy.steps).map(Some);
            let none = proxy.steps.is_empty().then_some(None);
            steps
                .chain(none)
                .map(|step| ("proxy", proxy_row(context, proxy, step)))
                .collect()
        }
        Body::Other(_) => Vec::new(),
    }
    .into_iter()
    .map(|(table, mut row)| {
        row.insert("source_file".into(), "a/b.log".into());
        row.insert("source_line".into(), line.into());
        (table, row)
    })
    .collect()
}

fn communicator(context: &Context<'_>) -> Row {
    let mut row = Row::new();
    fields!(row, context, "", id comm_name rank n_ranks nnodes dump_timestamp_us hostname pid);
    let class = match (context.n_ranks, context.nnodes) {
        (1, _) => "single-rank".into(),
        (0, _) | (_, 0) => Cell::Null,
        (_, 1) => "nvlink-only".into(),
        (n, m) if n == m => "hca-only".into(),
        _ => "mixed".into(),
    };
    row.insert("comm_type".into(), class);
    row
}

fn metadata(row: &mut Row, context: &Context<'_>) {
    fields!(row, context, "", git_rev rec_mechanism gpu_uuid tags);
    let version = Cell::from(&context.format_version);
    row.insert("inspector_output_format_version".into(), version);
}

fn operation_row(context: &Context<'_>, operation: &Operation<'_>) -> (&'static str, Row) {
    let mut row = communicator(context);
    metadata(&mut row, context);
    fields!(row, operation, "", graph_captured);
    let collective = operation.kind == OperationKind::Collective;
    let prefix = if collective { "coll" } else { "p2p" };
    let mut put = |name: &str, cell: Cell| row.insert(format!("{prefix}{name}"), cell);
    put("", (&operation.function).into());
    put("_sn", operation.sequence_number.into());
    put("_msg_size_bytes", operation.size_bytes.into());
    put("_exec_time_us", operation.exec_time_us.into());
    put("_timing_source", (&operation.timing_source).into());
    put("_algobw_gbs", operation.algobw_gbs.into());
    put("_busbw_gbs", operation.busbw_gbs.into());
    let fraction = operation.exec_time_fraction_us;
    let fraction = if fraction == 0.0 {
        Cell::Null
    } else {
        fraction.into()
    };
    put("_exec_time_fraction_us", fraction);
    if collective {
        put("_algo", (&operation.algo).into());
        put("_proto", (&operation.proto).into());
        ("collectives", row)
    } else {
        put("_peer", operation.peer.into());
        ("p2p", row)
    }
}

fn channel_row(
    context: &Context<'_>,
    operation: &Operation<'_>,
    trace: &Trace,
    channel: Option<&ChannelTrace>,
) -> Row {
    let mut row = Row::new();
    fields!(row, context, "", id rank hostname pid dump_timestamp_us);
    fields!(row, operation, "", function exec_time_us);
    fields!(row, trace, "", start_ts_us stop_ts_us start_sn stop_sn);
    row.insert("sn".into(), operation.sequence_number.into());
    row.insert("msg_size_bytes".into(), operation.size_bytes.into());
    let collective = operation.kind == OperationKind::Collective;
    row.insert(
        "kind".into(),
        if collective { "coll" } else { "p2p" }.into(),
    );
    let seen = channel.copied().unwrap_or_default();
    fields!(row, seen, "", kernel_start_ts_us kernel_stop_ts_us kernel_record_ts_us kernel_start_sn kernel_stop_sn kernel_record_sn);
    row.insert("channel_id".into(), channel.map(|c| c.channel_id).into());
    row
}

fn proxy_row(context: &Context<'_>, proxy: &Proxy<'_>, step: Option<(i32, &ProxyStep)>) -> Row {
    let mut row = communicator(context);
    row.remove("comm_type");
    fields!(row, proxy, "proxy_", rank);
    fields!(row, proxy, "", record_type record_sn parent_type parent_sn proxy_op_sn channel_id peer direction timing_source is_final
        n_steps n_steps_started n_steps_completed n_steps_dropped chunk_size_bytes trans_size_bytes total_us op_bw_gbs op_start_ts_us
        op_in_progress_ts_us op_stop_ts_us);
    row.insert("step_index".into(), step.map(|s| s.0).into());
    let step = step.map(|s| *s.1).unwrap_or_default();
    fields!(row, step, "", proxy_step_sn step);
    fields!(row, step, "step_", trans_size_bytes total_us gpu_produce_us peer_credit_us wire_us flush_us gpu_consume_us start_ts_us
        send_gpu_wait_ts_us send_peer_wait_ts_us send_wait_ts_us recv_wait_ts_us recv_flush_wait_ts_us recv_gpu_wait_ts_us stop_ts_us);
    row
}
