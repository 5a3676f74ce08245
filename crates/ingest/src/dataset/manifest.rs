//! `manifest.json`: what a dataset was made from, and by what its files are known again. It is written last, and files that it
//! doesn't list aren't part of the dataset.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::census::Census;
use super::naming;
use super::writer::temporary_in;
use super::{SourceFile, TableFile};
use crate::ebpf::TraceSeen;
use crate::inputs::{USED, why_skipped};
use crate::inspector::FileTally;
use crate::shard::{NamedCopy, Part};
use crate::source::{Fingerprint, fingerprint};
use crate::{Error, Inputs, SkippedFile};

/// Counts up when the tables or the manifest change their shape or meaning: a dataset of another number is made anew.
pub(super) const FORMAT: u32 = 1;

/// The file's name, in the dataset's folder.
pub(super) const FILE_NAME: &str = "manifest.json";

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Always [`schema`].
    schema: String,
    generator: Generator,
    /// What the Parquet files were compressed with.
    compression_level: i32,
    /// `false` while a run is at work, and after one that was stopped.
    pub(crate) complete: bool,
    /// Of which share of a job; `None` where it is of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<Part>,
    /// Inputs that were read, sorted by name.
    pub(crate) files: Vec<Entry>,
    /// Inputs that weren't: can't be opened, copies.
    pub(crate) skipped: Vec<SkippedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Generator {
    name: String,
    version: String,
}

/// An input that was read to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The name it goes by, relative to the input that was named.
    pub(crate) name: String,
    /// What its Parquet files are called.
    pub(crate) stem: String,
    /// Length on disk.
    pub(crate) bytes: u64,
    /// Its content as it lies on disk; `None` where it couldn't be read to the end, and then it is read again each time.
    pub(crate) raw: Option<Fingerprint>,
    /// Its content without gzip, as far as it goes.
    pub(crate) text: Option<Fingerprint>,
    /// The account of its lines.
    pub(crate) tally: FileTally,
    /// Who speaks in it.
    pub(crate) census: Census,
    /// What an eBPF agent's database says of itself; `None` for dumps.
    #[serde(default)]
    pub(crate) trace: Option<TraceSeen>,
    /// What was made from it.
    pub(crate) tables: Vec<TableFile>,
}

fn schema() -> String {
    format!("nccl-report-dataset/{FORMAT}")
}

impl Manifest {
    /// A manifest of nothing yet.
    pub(crate) fn new(compression_level: i32) -> Self {
        Self {
            schema: schema(),
            generator: Generator {
                name: "nccl-report".into(),
                version: env!("CARGO_PKG_VERSION").into(),
            },
            compression_level,
            complete: false,
            part: None,
            files: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// A manifest of nothing yet, of the same making as another.
    pub(crate) fn alike(other: &Self) -> Self {
        Self::new(other.compression_level)
    }

    /// Reads the manifest in a dataset's folder.
    ///
    /// # Errors
    /// With the reason in words, where there is none that this program could have written.
    pub(crate) fn load(root: &Path) -> Result<Self, String> {
        let text = match std::fs::read(root.join(FILE_NAME)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(format!("it has no {FILE_NAME}"));
            }
            Err(error) => return Err(format!("{FILE_NAME} can't be read: {error}")),
        };
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let broken = |error| format!("{FILE_NAME} is damaged: {error}");
        // The head first: a manifest of another format should be called that, not damaged.
        let head: Head = serde_json::from_slice(&text).map_err(broken)?;
        if head.schema != schema() {
            return Err(format!(
                "{FILE_NAME} is of the format {:?}, and this version reads {:?}",
                head.schema,
                schema()
            ));
        }
        let manifest: Self = serde_json::from_slice(&text).map_err(broken)?;
        if let Some(file) = manifest.tables().find(|file| !file.is_in_place()) {
            return Err(format!(
                "{FILE_NAME} names a file that isn't one of this program's: {}",
                file.path.display()
            ));
        }
        Ok(manifest)
    }

    /// Whether entries of this manifest hold in the other: not if made by another version or with other settings.
    pub(crate) fn is_reusable_by(&self, other: &Self) -> bool {
        self.generator == other.generator && self.compression_level == other.compression_level
    }

    /// The entries, by the name of their files.
    pub(crate) fn into_entries(self) -> BTreeMap<String, Entry> {
        let entries = self.files.into_iter();
        entries.map(|entry| (entry.stem.clone(), entry)).collect()
    }

    /// Where the Parquet files lie, relative to the dataset's folder.
    pub(crate) fn table_paths(&self) -> impl Iterator<Item = PathBuf> {
        self.tables().map(|file| file.path.clone())
    }

    /// Writes the manifest aside and renames it; a manifest that already says the same isn't touched.
    pub(crate) fn save(&self, root: &Path) -> Result<(), Error> {
        let place = root.join(FILE_NAME);
        let fail = |source| Error::Write {
            path: place.clone(),
            source,
        };
        let mut text = serde_json::to_vec(self).map_err(|error| fail(error.into()))?;
        text.push(b'\n');
        if std::fs::read(&place).is_ok_and(|present| present == text) {
            return Ok(());
        }
        let mut temporary = temporary_in(root).map_err(fail)?;
        temporary.write_all(&text).map_err(fail)?;
        temporary.persist(&place).map_err(|e| fail(e.error))?;
        Ok(())
    }

    /// Puts the lists in order.
    pub(crate) fn sort(&mut self) {
        self.files
            .sort_by(|a, b| (&a.name, &a.stem).cmp(&(&b.name, &b.stem)));
        self.skipped.sort();
    }

    /// Every Parquet file of the dataset.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &TableFile> {
        self.files.iter().flat_map(|file| &file.tables)
    }

    /// Reads every Parquet file and says which are missing or changed, the first few.
    pub(super) fn verify(&self, root: &Path) -> Result<(), String> {
        let files: Vec<_> = self.tables().collect();
        let wrong: Vec<_> = files
            .par_iter()
            .filter_map(|file| {
                let path = file.path.display();
                match file.is_whole(root) {
                    Ok(true) => None,
                    Ok(false) => Some(format!("{path} was changed since it was written")),
                    Err(error) => Some(format!("{path} can't be read: {error}")),
                }
            })
            .collect();
        match wrong.as_slice() {
            [] => Ok(()),
            [one] => Err(one.clone()),
            [first, rest @ ..] => Err(format!("{first}, and {} more are damaged", rest.len())),
        }
    }

    /// The account of all inputs.
    pub(super) fn inputs(&self) -> Inputs {
        let mut inputs = Inputs::default();
        for file in &self.files {
            inputs.add(&file.name, file.bytes, &file.tally);
        }
        for skipped in &self.skipped {
            inputs.files_skipped.push(skipped.clone());
        }
        inputs.sort();
        inputs
    }

    /// Inputs that gave records.
    pub(super) fn source_files(&self) -> Vec<SourceFile> {
        self.files
            .iter()
            .filter(|file| why_skipped(&file.tally).is_none())
            .map(|file| SourceFile {
                path: file.name.clone(),
                bytes: file.bytes,
                records: file.tally.records.clone(),
                census: file.census.clone(),
                trace: file.trace.clone(),
                tables: file.tables.clone(),
            })
            .collect()
    }
}

impl Entry {
    /// Whether all Parquet files made from this input are there and whole.
    pub(crate) fn is_whole(&self, root: &Path) -> bool {
        let mut tables = self.tables.iter();
        tables.all(|file| file.is_whole(root).unwrap_or(false))
    }
}

impl TableFile {
    /// Whether the file has the content that was written; reads all of it.
    pub(crate) fn is_whole(&self, root: &Path) -> io::Result<bool> {
        let path = root.join(&self.path);
        // A file of another length needn't be read.
        Ok(std::fs::metadata(&path)?.len() == self.bytes
            && fingerprint(&path)? == (self.xxh3, self.bytes))
    }

    /// Whether the path, read from a file that anyone may have written, lies where this program puts files.
    fn is_in_place(&self) -> bool {
        self.path
            .to_str()
            .is_some_and(|path| naming::is_table_path(self.table, path))
    }
}

/// Lists copies among the skipped files: each names the one used, or, where that one turned out to hold nothing, shares its fate.
pub(crate) fn name_copies(copies: &[NamedCopy], manifest: &mut Manifest) {
    let without_records: BTreeMap<&str, String> = manifest
        .files
        .iter()
        .filter_map(|entry| Some((entry.name.as_str(), why_skipped(&entry.tally)?)))
        .collect();
    let copies: Vec<_> = copies
        .iter()
        .map(|copy| SkippedFile {
            path: copy.name.clone(),
            reason: match without_records.get(copy.of.as_str()) {
                Some(reason) => reason.clone(),
                None if copy.whole => format!("a copy of {}{USED}", copy.of),
                None => format!("an earlier, incomplete copy of {}{USED}", copy.of),
            },
        })
        .collect();
    manifest.skipped.extend(copies);
}

/// Where a table's part of an input lies, relative to the dataset's folder; with a slash on every system, as the manifest is read
/// on others.
pub(super) fn relative(folder: &str, stem: &str) -> PathBuf {
    PathBuf::from(format!("{folder}/{}", naming::file_name(stem)))
}
