//! All tables of one input: records in, Parquet files out, all or none.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::TableFile;
use super::census::{Census, Taker};
use super::writer::{Staged, TableWriter};
use crate::inspector::{Body, OperationKind, Record, Sink};
use crate::table::{ChannelColumns, CollectiveColumns, DumpStatsColumns, P2pColumns, ProxyColumns};
use crate::{Error, Progress};

/// Records between two looks at whether to stop, and two reports of progress.
const REPORT_EVERY: u64 = 4096;

/// Puts the records of one input into its tables.
pub(crate) struct FileTables<'a> {
    source_file: &'a str,
    collectives: TableWriter<'a, CollectiveColumns>,
    p2p: TableWriter<'a, P2pColumns>,
    channels: TableWriter<'a, ChannelColumns>,
    proxy: TableWriter<'a, ProxyColumns>,
    dump_stats: TableWriter<'a, DumpStatsColumns>,
    census: Taker,
    unreported: u64,
    progress: &'a dyn Progress,
    cancel: &'a AtomicBool,
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
}

impl<'a> FileTables<'a> {
    /// Tables without rows. `source_file` is what the column of that name says.
    pub(crate) fn new(
        place: Place<'a>,
        source_file: &'a str,
        progress: &'a dyn Progress,
        cancel: &'a AtomicBool,
    ) -> Self {
        let Place {
            root,
            stem,
            compression_level,
        } = place;
        Self {
            source_file,
            collectives: TableWriter::new(root, stem, compression_level),
            p2p: TableWriter::new(root, stem, compression_level),
            channels: TableWriter::new(root, stem, compression_level),
            proxy: TableWriter::new(root, stem, compression_level),
            dump_stats: TableWriter::new(root, stem, compression_level),
            census: Taker::default(),
            unreported: 0,
            progress,
            cancel,
        }
    }

    /// Completes all files, and only then gives them their names.
    pub(crate) fn finish(self) -> Result<(Vec<TableFile>, Census), Error> {
        self.progress.advanced(0, self.unreported);
        let staged = [
            self.collectives.finish()?,
            self.p2p.finish()?,
            self.channels.finish()?,
            self.proxy.finish()?,
            self.dump_stats.finish()?,
        ];
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let files = staged
            .into_iter()
            .flatten()
            .map(Staged::persist)
            .collect::<Result<_, _>>()?;
        Ok((files, self.census.finish()))
    }

    fn report(&mut self) -> Result<(), Error> {
        self.progress.advanced(0, self.unreported);
        self.unreported = 0;
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}

impl Sink for FileTables<'_> {
    type Error = Error;

    fn record(&mut self, record: &Record<'_>, line: u64) -> Result<(), Error> {
        self.census.take(record);
        self.unreported += 1;
        if self.unreported == REPORT_EVERY {
            self.report()?;
        }
        let context = &record.context;
        let file = self.source_file;
        match &record.body {
            Body::Operation(operation) => {
                if let Some(trace) = &operation.trace {
                    self.channels
                        .add(|columns| columns.push(context, operation, trace, file, line))?;
                }
                match operation.kind {
                    OperationKind::Collective => self
                        .collectives
                        .add(|columns| columns.push(context, operation, file, line)),
                    OperationKind::PointToPoint => self
                        .p2p
                        .add(|columns| columns.push(context, operation, file, line)),
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
