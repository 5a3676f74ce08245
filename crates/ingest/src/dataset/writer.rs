//! One table of one input: columns into a temporary file beside its place, renamed when everything of the input is whole.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::Xxh3;

use super::TableFile;
use super::manifest::relative;
use super::naming::TEMPORARY_PREFIX;
use super::properties::properties;
use crate::table::Columns;
use crate::{Error, Fingerprint};

/// Writes a table's part of one input. No file is made before the first rows come.
pub(crate) struct TableWriter<'a, C> {
    columns: C,
    /// The dataset's folder.
    root: &'a Path,
    stem: &'a str,
    compression_level: i32,
    open: Option<Open>,
    rows: u64,
}

struct Open {
    schema: SchemaRef,
    writer: ArrowWriter<HashingFile>,
}

/// A complete Parquet file that still has its temporary name; it vanishes when dropped.
pub(super) struct Staged {
    temporary: NamedTempFile,
    place: PathBuf,
    table_file: TableFile,
}

impl<'a, C: Columns> TableWriter<'a, C> {
    pub(super) fn new(root: &'a Path, stem: &'a str, compression_level: i32) -> Self {
        Self {
            columns: C::default(),
            root,
            stem,
            compression_level,
            open: None,
            rows: 0,
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
        let place = self.place();
        let Some(open) = self.open else {
            return Ok(None);
        };
        let file = open
            .writer
            .into_inner()
            .map_err(|source| write_error(&place, source))?;
        Ok(Some(Staged {
            table_file: TableFile {
                table: C::TABLE,
                path: relative(C::TABLE.folder(), self.stem),
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
        let place = self.place();
        let fail = |source| write_error(&place, source);
        if self.open.is_none() {
            self.open = Some(self.create(&place)?);
        }
        if let Some(Open { schema, writer }) = &mut self.open {
            let batch = RecordBatch::try_new(schema.clone(), self.columns.finish())
                .map_err(|source| fail(source.into()))?;
            writer.write(&batch).map_err(fail)?;
            self.rows += rows as u64;
        }
        Ok(())
    }

    fn create(&self, place: &Path) -> Result<Open, Error> {
        let folder = self.root.join(C::TABLE.folder());
        let fail = |source| Error::Write {
            path: folder.clone(),
            source,
        };
        std::fs::create_dir_all(&folder).map_err(fail)?;
        let temporary = temporary_in(&folder).map_err(fail)?;
        let schema = SchemaRef::new(C::schema());
        let properties = properties(C::TABLE, &schema, self.compression_level);
        let writer = ArrowWriter::try_new(
            HashingFile::new(temporary),
            schema.clone(),
            Some(properties.as_ref().clone()),
        )
        .map_err(|source| write_error(place, source))?;
        Ok(Open { schema, writer })
    }

    fn place(&self) -> PathBuf {
        self.root.join(relative(C::TABLE.folder(), self.stem))
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

/// A file that knows the fingerprint of what was written. The Parquet writer buffers.
struct HashingFile {
    file: NamedTempFile,
    hash: Xxh3,
    bytes: u64,
}

impl HashingFile {
    fn new(file: NamedTempFile) -> Self {
        Self {
            file,
            hash: Xxh3::new(),
            bytes: 0,
        }
    }

    fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }
}

impl Write for HashingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file().write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}
