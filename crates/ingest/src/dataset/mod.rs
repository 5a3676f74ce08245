//! The dataset on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ebpf::TraceSeen;
use crate::{Error, Fingerprint, Inputs, Table};

mod census;
mod chunk;
mod duplicates;
mod encoder;
mod file_tables;
mod folder;
mod join;
mod manifest;
mod naming;
mod properties;
mod row_groups;
#[cfg(test)]
mod tests;
mod trace_tables;
mod unfinished;
mod writer;

pub use census::{Census, CommunicatorSeen, ProcessSeen};
pub(crate) use duplicates::{Copy, find_copies};
pub(crate) use file_tables::{FileTables, Place};
pub(crate) use folder::{Folder, remove};
pub(crate) use join::{Joined, Piece};
pub(crate) use manifest::{Entry, Manifest, name_copies};
pub(crate) use naming::{Stems, TEMPORARY_PREFIX};
pub(crate) use trace_tables::TraceTables;
pub(crate) use unfinished::Unfinished;
pub(crate) use writer::{TableWriter, temporary_in};

/// A folder of Parquet tables and the manifest of what they were made from.
#[derive(Debug, Clone)]
pub struct Dataset {
    root: PathBuf,
    inputs: Inputs,
    files: Vec<SourceFile>,
}

/// A file that gave records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Relative to the input that was named: what the tables' `source_file` says.
    pub path: String,
    /// Length on disk.
    pub bytes: u64,
    /// Records by kind, as in [`Inputs::records`].
    pub records: BTreeMap<String, u64>,
    /// When, which processes, which communicators.
    pub census: Census,
    /// What an eBPF agent's database says of itself; `None` for dumps.
    pub trace: Option<TraceSeen>,
    /// Tables made from it, in the order of [`Table::ALL`]; a table without rows isn't among them.
    pub tables: Vec<TableFile>,
}

/// A Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// Of which table.
    pub table: Table,
    /// Relative to the dataset's folder.
    pub path: PathBuf,
    /// Rows.
    pub rows: u64,
    /// Length.
    pub bytes: u64,
    /// Its content.
    pub xxh3: Fingerprint,
}

impl Dataset {
    /// Opens a dataset written earlier, reading each of its files once to see that it is what was written.
    ///
    /// # Errors
    /// When the folder holds none, one that a stopped run left incomplete, or a damaged one.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let fail = |reason| Error::NotADataset {
            path: root.to_owned(),
            reason,
        };
        let manifest = Manifest::load(root).map_err(fail)?;
        if !manifest.complete {
            return Err(fail(
                "the run that wrote it was stopped before it was done; read the dumps again".into(),
            ));
        }
        if let Some(part) = &manifest.part {
            return Err(fail(format!(
                "it holds shard {} of a job, not all of it; `nccl-report merge` makes one of all shards",
                part.shard
            )));
        }
        manifest.verify(root).map_err(fail)?;
        Ok(Self::new(root, &manifest))
    }

    pub(crate) fn new(root: &Path, manifest: &Manifest) -> Self {
        Self {
            root: root.to_owned(),
            inputs: manifest.inputs(),
            files: manifest.source_files(),
        }
    }

    /// The dataset's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The account of the input.
    #[must_use]
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Files that gave records, by path; copies of a file aren't among them.
    #[must_use]
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The Parquet files of a table, in the order of [`Dataset::files`].
    #[must_use]
    pub fn table(&self, table: Table) -> Vec<PathBuf> {
        self.table_rows(table).into_iter().map(|t| t.0).collect()
    }

    /// The same, each with its rows.
    #[must_use]
    pub fn table_rows(&self, table: Table) -> Vec<(PathBuf, u64)> {
        self.files
            .iter()
            .flat_map(|f| &f.tables)
            .filter(|t| t.table == table)
            .map(|t| (self.root.join(&t.path), t.rows))
            .collect()
    }
}
