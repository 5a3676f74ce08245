//! All tables of one database: rows in, Parquet files out, all or none.

use super::TableFile;
use super::file_tables::Place;
use super::writer::{Staged, TableWriter};
use crate::Error;
use crate::table::{
    CausalChainColumns, CgroupColumns, CgroupOffCpuColumns, HostEventAggregateColumns,
    HostEventColumns, NcclCallColumns, ProcessNameColumns, SessionColumns, StackTraceColumns,
    SystemSnapshotColumns, TcpOtherEventColumns, TcpRetransmitColumns,
};

macro_rules! trace_tables {
    ($($table:ident: $columns:ty),* $(,)?) => {
        /// Puts the rows of one database into its tables.
        pub(crate) struct TraceTables<'a> {
            $(pub(crate) $table: TableWriter<'a, $columns>,)*
        }

        impl<'a> TraceTables<'a> {
            /// Tables without rows.
            pub(crate) fn new(place: Place<'a>) -> Self {
                Self { $($table: TableWriter::new(place),)* }
            }

            /// Completes all files, and only then gives them their names. `before_change` is called between, unless there is no file.
            pub(crate) fn finish(
                self,
                before_change: impl FnOnce() -> Result<(), Error>,
            ) -> Result<Vec<TableFile>, Error> {
                let staged = [$(self.$table.finish()?),*];
                let staged: Vec<_> = staged.into_iter().flatten().collect();
                if !staged.is_empty() {
                    before_change()?;
                }
                staged.into_iter().map(Staged::persist).collect()
            }
        }
    };
}

// In the order of `Table::ALL`.
trace_tables! {
    host_events: HostEventColumns,
    host_event_aggregates: HostEventAggregateColumns,
    nccl_calls: NcclCallColumns,
    tcp_retransmits: TcpRetransmitColumns,
    tcp_other_events: TcpOtherEventColumns,
    sessions: SessionColumns,
    process_names: ProcessNameColumns,
    system_snapshots: SystemSnapshotColumns,
    cgroups: CgroupColumns,
    cgroup_off_cpu: CgroupOffCpuColumns,
    causal_chains: CausalChainColumns,
    stack_traces: StackTraceColumns,
}
