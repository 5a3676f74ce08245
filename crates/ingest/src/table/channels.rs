//! `channels`: a row per channel of a verbose record.

use super::Table;
use super::column::{Int64, OptionalInt32, OptionalInt64, columns, line_number, to_i32, to_i64};
use super::few::{FewInt32, FewInt64};
use super::strings::Text;
use crate::inspector::{ChannelTrace, Context, Operation, OperationKind, Trace};

columns! {
    /// Columns of `channels`. Stamps are of the host's clock, in microseconds.
    ChannelColumns, Table::Channels, of the context [kind, id, rank, hostname, pid, source_file], {
        kind: Text,
        id: Text,
        rank: FewInt32,
        hostname: Text,
        pid: FewInt64,
        function: Text,
        sn: Int64,
        msg_size_bytes: FewInt64,
        exec_time_us: Int64,
        start_ts_us: OptionalInt64,
        stop_ts_us: OptionalInt64,
        start_sn: OptionalInt64,
        stop_sn: OptionalInt64,
        channel_id: OptionalInt32,
        kernel_start_ts_us: OptionalInt64,
        kernel_stop_ts_us: OptionalInt64,
        kernel_record_ts_us: OptionalInt64,
        kernel_start_sn: OptionalInt64,
        kernel_stop_sn: OptionalInt64,
        kernel_record_sn: OptionalInt64,
        dump_timestamp_us: Int64,
        source_file: Text,
        source_line: Int64,
    }
}

impl ChannelColumns {
    /// Adds a row per channel, or one row without a channel where the record has none.
    pub(crate) fn push(
        &mut self,
        context: &Context<'_>,
        number: Option<u32>,
        operation: &Operation<'_>,
        trace: &Trace,
        source_file: &str,
        line: u64,
    ) {
        if trace.channels.is_empty() {
            self.push_row(context, number, operation, trace, None, (source_file, line));
        }
        for channel in &trace.channels {
            self.push_row(
                context,
                number,
                operation,
                trace,
                Some(channel),
                (source_file, line),
            );
        }
    }

    fn push_row(
        &mut self,
        context: &Context<'_>,
        number: Option<u32>,
        operation: &Operation<'_>,
        trace: &Trace,
        channel: Option<&ChannelTrace>,
        (source_file, line): (&str, u64),
    ) {
        let (kind, place) = match operation.kind {
            OperationKind::Collective => ("coll", 0),
            OperationKind::PointToPoint => ("p2p", 1),
        };
        let number = number.map(|number| 2 * u64::from(number) + place);
        if !self.repeats.count(number) {
            self.settle();
            self.repeats.begin(number);
            self.kind.push(kind);
            self.id.push(&context.id);
            self.rank.push(to_i32(context.rank));
            self.hostname.push(&context.hostname);
            self.pid.push(context.pid);
            self.source_file.push(source_file);
        }
        self.function.push(&operation.function);
        self.sn.push(operation.sequence_number);
        self.msg_size_bytes.push(to_i64(operation.size_bytes));
        self.exec_time_us.push(to_i64(operation.exec_time_us));
        self.start_ts_us.push(trace.start_ts_us);
        self.stop_ts_us.push(trace.stop_ts_us);
        self.start_sn.push(trace.start_sn);
        self.stop_sn.push(trace.stop_sn);
        self.channel_id.push(channel.map(|c| c.channel_id));
        self.kernel_start_ts_us
            .push(channel.and_then(|c| c.kernel_start_ts_us));
        self.kernel_stop_ts_us
            .push(channel.and_then(|c| c.kernel_stop_ts_us));
        self.kernel_record_ts_us
            .push(channel.and_then(|c| c.kernel_record_ts_us));
        self.kernel_start_sn
            .push(channel.and_then(|c| c.kernel_start_sn));
        self.kernel_stop_sn
            .push(channel.and_then(|c| c.kernel_stop_sn));
        self.kernel_record_sn
            .push(channel.and_then(|c| c.kernel_record_sn));
        self.dump_timestamp_us.push(context.dump_timestamp_us);
        self.source_line.push(line_number(line));
    }
}
