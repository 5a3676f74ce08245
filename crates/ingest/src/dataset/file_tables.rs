//! All tables of one input: records in, Parquet files out, all or none.

use std::path::Path;

use super::TableFile;
use super::census::{Census, Taker};
use super::writer::{Staged, TableWriter};
use crate::Error;
use crate::inspector::{Body, OperationKind, Record, Sink};
use crate::table::{ChannelColumns, CollectiveColumns, DumpStatsColumns, P2pColumns, ProxyColumns};

/// Puts the records of one input into its tables.
pub(crate) struct FileTables<'a> {
    source_file: &'a str,
    collectives: TableWriter<'a, CollectiveColumns>,
    p2p: TableWriter<'a, P2pColumns>,
    channels: TableWriter<'a, ChannelColumns>,
    proxy: TableWriter<'a, ProxyColumns>,
    dump_stats: TableWriter<'a, DumpStatsColumns>,
    census: Taker,
}

/// Where the tables of one input go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The dataset's folder.
    pub(crate) root: &'a Path,
    /// The name that the input's files have, without folder and extension.
    pub(crate) stem: &'a str,
    /// zstd level.
    pub(crate) compression_level: i32,
    /// Whether tables are encoded on threads of their own.
    pub(crate) apart: bool,
}

impl<'a> FileTables<'a> {
    /// Tables without rows. `source_file` is what the column of that name says.
    pub(crate) fn new(place: Place<'a>, source_file: &'a str) -> Self {
        Self {
            source_file,
            collectives: TableWriter::new(place),
            p2p: TableWriter::new(place),
            channels: TableWriter::new(place),
            proxy: TableWriter::new(place),
            dump_stats: TableWriter::new(place),
            census: Taker::default(),
        }
    }

    /// Completes all files, which keep their temporary names.
    pub(super) fn stage(self) -> Result<(Vec<Staged>, Census), Error> {
        let staged = [
            self.collectives.finish()?,
            self.p2p.finish()?,
            self.channels.finish()?,
            self.proxy.finish()?,
            self.dump_stats.finish()?,
        ];
        Ok((staged.into_iter().flatten().collect(), self.census.finish()))
    }

    /// Completes all files, and only then gives them their names. `before_change` is called between, unless there is no file.
    pub(crate) fn finish(
        self,
        before_change: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(Vec<TableFile>, Census), Error> {
        let (staged, census) = self.stage()?;
        Ok((persist(staged, before_change)?, census))
    }
}

/// Gives files their names, after `before_change`, unless there are none.
pub(super) fn persist(
    staged: Vec<Staged>,
    before_change: impl FnOnce() -> Result<(), Error>,
) -> Result<Vec<TableFile>, Error> {
    if !staged.is_empty() {
        before_change()?;
    }
    staged.into_iter().map(Staged::persist).collect()
}

impl Sink for FileTables<'_> {
    type Error = Error;

    fn record(&mut self, record: &Record<'_>, line: u64) -> Result<(), Error> {
        self.census.take(record);
        let (context, number) = (&*record.context, record.context_number);
        let file = self.source_file;
        match &record.body {
            Body::Operation(operation) => {
                if let Some(trace) = &operation.trace {
                    self.channels.add(|columns| {
                        columns.push(context, number, operation, trace, file, line)
                    })?;
                }
                match operation.kind {
                    OperationKind::Collective => self
                        .collectives
                        .add(|columns| columns.push(context, number, operation, file, line)),
                    OperationKind::PointToPoint => self
                        .p2p
                        .add(|columns| columns.push(context, number, operation, file, line)),
                }
            }
            Body::DumpStats(stats) => self
                .dump_stats
                .add(|columns| columns.push(context, stats, file, line)),
            Body::Proxy(proxy) => self
                .proxy
                .add(|columns| columns.push(context, proxy, file, line)),
            Body::Other(_) => Ok(()),
        }
    }
}
