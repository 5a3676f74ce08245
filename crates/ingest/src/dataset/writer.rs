//! One table of one input: columns into a temporary file beside its place, renamed when everything of the input is whole.

use std::io;
use std::path::{Path, PathBuf};

use arrow::datatypes::SchemaRef;
use parquet::errors::ParquetError;
use tempfile::NamedTempFile;

use super::TableFile;
use super::encoder::Encoder;
use super::file_tables::Place;
use super::manifest::relative;
use super::naming::TEMPORARY_PREFIX;
use super::properties::{ROW_GROUP_BYTES, ROW_GROUP_ROWS, properties};
use super::row_groups::RowGroups;
use crate::table::{Batch, Columns};
use crate::{Error, Fingerprint};

/// Writes a table's part of one input. No file is made before the first rows come.
pub(crate) struct TableWriter<'a, C> {
    columns: C,
    place: Place<'a>,
    open: Option<Encoder>,
    rows: u64,
    /// Of the row group: rows, and bytes before they are compressed.
    group: (usize, usize),
}

/// A complete Parquet file that still has its temporary name; it vanishes when dropped.
pub(super) struct Staged {
    pub(super) temporary: NamedTempFile,
    pub(super) place: PathBuf,
    pub(super) table_file: TableFile,
}

impl<'a, C: Columns> TableWriter<'a, C> {
    pub(super) fn new(place: Place<'a>) -> Self {
        Self {
            columns: C::default(),
            place,
            open: None,
            rows: 0,
            group: (0, 0),
        }
    }

    /// Lets `add` put rows into the columns, and hands these to the file when they are full.
    #[inline]
    pub(crate) fn add(&mut self, add: impl FnOnce(&mut C)) -> Result<(), Error> {
        add(&mut self.columns);
        if self.columns.is_full() {
            self.flush()?;
        }
        Ok(())
    }

    /// Completes the file; `None` where no row came.
    pub(super) fn finish(mut self) -> Result<Option<Staged>, Error> {
        self.flush()?;
        self.end_group()?;
        let place = self.path();
        let Some(open) = self.open else {
            return Ok(None);
        };
        let file = open
            .finish()
            .map_err(|source| write_error(&place, source))?;
        Ok(Some(Staged {
            table_file: TableFile {
                table: C::TABLE,
                path: relative(C::TABLE.folder(), self.place.stem),
                rows: self.rows,
                bytes: file.bytes,
                xxh3: Fingerprint::from(file.hash.digest128()),
            },
            temporary: file.file,
            place,
        }))
    }

    fn flush(&mut self) -> Result<(), Error> {
        let rows = self.columns.rows();
        if rows == 0 {
            return Ok(());
        }
        let open = match &mut self.open {
            Some(open) => open,
            None => {
                let new = self.create(rows)?;
                self.open.insert(new)
            }
        };
        let batch = self.columns.finish();
        let bytes: usize = batch.iter().map(Batch::bytes).sum();
        self.group = (self.group.0 + rows, self.group.1 + bytes);
        self.rows += rows as u64;
        open.take(batch)
            .map_err(|source| write_error(&self.path(), source))?;
        if self.group.0 >= ROW_GROUP_ROWS || self.group.1 >= ROW_GROUP_BYTES {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<(), Error> {
        self.group = (0, 0);
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        open.end_group(self.columns.dictionaries())
            .map_err(|source| write_error(&self.path(), source))
    }

    /// The file, when its first rows come: all of them, where they are fewer than a batch.
    fn create(&self, first_rows: usize) -> Result<Encoder, Error> {
        let folder = self.place.root.join(C::TABLE.folder());
        let fail = |source| Error::Write {
            path: folder.clone(),
            source,
        };
        std::fs::create_dir_all(&folder).map_err(fail)?;
        let temporary = temporary_in(&folder).map_err(fail)?;
        let schema = SchemaRef::new(C::schema());
        let level = self.place.compression_level.clamp(1, 22);
        let properties = properties(C::TABLE, &schema, &C::keyed(), first_rows, level);
        let file = RowGroups::new(temporary, schema, &properties, level)
            .map_err(|source| write_error(&self.path(), source))?;
        Ok(Encoder::new(file, self.place.apart))
    }

    fn path(&self) -> PathBuf {
        let file = relative(C::TABLE.folder(), self.place.stem);
        self.place.root.join(file)
    }
}

impl Staged {
    /// Gives the file its name, in place of whatever has it.
    ///
    /// Nothing is forced to the disk: after a power cut the file may lack bytes, and then it doesn't fit the manifest and is made again.
    pub(super) fn persist(self) -> Result<TableFile, Error> {
        self.temporary
            .persist(&self.place)
            .map_err(|error| Error::Write {
                path: self.place,
                source: error.error,
            })?;
        Ok(self.table_file)
    }
}

/// A temporary file with the permissions of an ordinary one: `tempfile` alone lets nobody else read what it made.
pub(crate) fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX);
    #[cfg(unix)]
    let permissions = {
        use std::os::unix::fs::PermissionsExt;
        std::fs::Permissions::from_mode(0o666)
    };
    #[cfg(unix)]
    builder.permissions(permissions);
    builder.tempfile_in(folder)
}

/// An input/output error says more than the Parquet error around it.
pub(super) fn write_error(place: &Path, source: ParquetError) -> Error {
    let path = place.to_owned();
    match source {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(source) => Error::Write {
                path,
                source: *source,
            },
            Err(inner) => Error::Parquet {
                path,
                source: ParquetError::External(inner),
            },
        },
        source => Error::Parquet { path, source },
    }
}
