//! The dataset on disk.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Inputs, Table};

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
    /// As named.
    pub path: String,
    /// stub
    pub census: Census,
    /// Tables made from it.
    pub tables: Vec<TableFile>,
}

/// A Parquet file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableFile {
    /// Of which table.
    pub table: Table,
    /// Relative to the dataset's folder.
    pub path: PathBuf,
    /// Rows.
    pub rows: u64,
}

impl Dataset {
    /// Opens a dataset written earlier.
    ///
    /// # Errors
    /// When the folder holds none, or a damaged one.
    pub fn open(root: &Path) -> Result<Self, Error> {
        Err(Error::NotADataset {
            path: root.to_owned(),
            reason: "stub".into(),
        })
    }

    /// The account of the input.
    #[must_use]
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Files that gave records, by path.
    #[must_use]
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The Parquet files of a table, in the order of [`Dataset::files`].
    #[must_use]
    pub fn table(&self, table: Table) -> Vec<PathBuf> {
        self.files
            .iter()
            .flat_map(|f| &f.tables)
            .filter(|t| t.table == table)
            .map(|t| self.root.join(&t.path))
            .collect()
    }
}

/// stub
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Census {
    /// stub
    pub first_dump_us: Option<i64>,
    /// stub
    pub last_dump_us: Option<i64>,
}
