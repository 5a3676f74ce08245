//! What the codes of `source` and `op` mean: the file's own words, and the usual ones where it has none.

use std::collections::HashMap;

use rusqlite::Connection;

use super::trouble::Trouble;

/// The codes of released agents, for databases without `sources` and `ops`.
const SOURCES: [(i64, &str); 8] = [
    (1, "CUDA"),
    (3, "HOST"),
    (4, "DRIVER"),
    (5, "IO"),
    (6, "TCP"),
    (7, "NET"),
    (8, "CUDA_GRAPH"),
    (9, "NCCL"),
];
const OPS: [((i64, i64), &str); 28] = [
    ((1, 1), "cudaMalloc"),
    ((1, 2), "cudaFree"),
    ((1, 3), "cudaLaunchKernel"),
    ((1, 4), "cudaMemcpy"),
    ((1, 5), "cudaStreamSync"),
    ((1, 6), "cudaDeviceSync"),
    ((1, 7), "cudaMemcpyAsync"),
    ((1, 8), "cudaMallocManaged"),
    ((3, 1), "sched_switch"),
    ((3, 2), "sched_wakeup"),
    ((3, 3), "mm_page_alloc"),
    ((3, 4), "oom_kill"),
    ((3, 5), "process_exec"),
    ((3, 6), "process_exit"),
    ((3, 7), "process_fork"),
    ((4, 1), "cuLaunchKernel"),
    ((4, 2), "cuMemcpy"),
    ((4, 3), "cuMemcpyAsync"),
    ((4, 4), "cuCtxSynchronize"),
    ((4, 5), "cuMemAlloc"),
    ((4, 6), "cuMemAllocManaged"),
    ((5, 1), "block_read"),
    ((5, 2), "block_write"),
    ((5, 3), "block_discard"),
    ((6, 1), "tcp_retransmit"),
    ((7, 1), "net_send"),
    ((7, 2), "net_recv"),
    ((3, 12), "pod_oom_kill"),
];

/// More codes than any agent has; a table of more isn't believed further.
const MOST: usize = 4096;

/// Names of codes.
#[derive(Debug, Default)]
pub(crate) struct OpNames {
    sources: HashMap<i64, String>,
    ops: HashMap<(i64, i64), String>,
}

impl OpNames {
    /// Reads the names of a database; the usual ones stand in where it gives none. A file that names some codes names all that it uses,
    /// so that the usual ones don't fill the gaps of a table that is there.
    pub(super) fn of(db: &Connection, has_sources: bool, has_ops: bool) -> (Self, Option<Trouble>) {
        let mut names = Self::default();
        let read = names.read(db, has_sources, has_ops);
        if names.sources.is_empty() {
            names.sources = SOURCES.map(|(id, name)| (id, name.to_owned())).into();
        }
        if names.ops.is_empty() {
            names.ops = OPS.map(|(id, name)| (id, name.to_owned())).into();
        }
        (names, read.err().map(Trouble::from))
    }

    fn read(&mut self, db: &Connection, has_sources: bool, has_ops: bool) -> rusqlite::Result<()> {
        if has_sources {
            let sql = "SELECT id, name FROM sources WHERE typeof(id) = 'integer' AND typeof(name) = 'text'";
            let mut statement = db.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()?
                && self.sources.len() < MOST
            {
                self.sources.insert(row.get(0)?, row.get(1)?);
            }
        }
        if has_ops {
            let sql = "SELECT source_id, op_id, name FROM ops WHERE typeof(source_id) = 'integer' AND typeof(op_id) = 'integer' AND typeof(name) = 'text'";
            let mut statement = db.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()?
                && self.ops.len() < MOST
            {
                self.ops.insert((row.get(0)?, row.get(1)?), row.get(2)?);
            }
        }
        Ok(())
    }

    /// The name of a source.
    pub(super) fn source(&self, source: i64) -> Option<&str> {
        self.sources.get(&source).map(String::as_str)
    }

    /// The name of an operation of a source.
    pub(super) fn op(&self, source: i64, op: i64) -> Option<&str> {
        self.ops.get(&(source, op)).map(String::as_str)
    }

    /// The codes that mean a TCP retransmit.
    pub(super) fn retransmits(&self) -> Vec<(i64, i64)> {
        let mut codes: Vec<_> = self
            .ops
            .iter()
            .filter(|(_, name)| name.to_ascii_lowercase().starts_with("tcp_retransmit"))
            .map(|(&codes, _)| codes)
            .collect();
        codes.sort_unstable();
        codes
    }
}
