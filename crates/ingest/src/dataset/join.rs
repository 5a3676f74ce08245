//! The tables of one input whose pieces were read apart: the row groups of each piece, one after the other, in one file.

use std::sync::Arc;

use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;

use super::TableFile;
use super::census::Census;
use super::file_tables::{FileTables, Place, persist};
use super::row_groups::HashingFile;
use super::writer::{Staged, temporary_in, write_error};
use crate::{Error, Fingerprint, Table};

/// Tables of a piece, still under temporary names.
pub(crate) struct Piece {
    staged: Vec<Staged>,
    census: Census,
}

impl Piece {
    /// Completes the tables of a piece.
    ///
    /// # Errors
    /// When a table can't be written.
    pub(crate) fn of(tables: FileTables<'_>) -> Result<Self, Error> {
        let (staged, census) = tables.stage()?;
        Ok(Self { staged, census })
    }
}

/// The tables of one input, under construction from its pieces.
pub(crate) struct Joined<'a> {
    place: Place<'a>,
    /// In the order of [`Table::ALL`].
    files: Vec<(Table, Whole)>,
    census: Census,
}

struct Whole {
    writer: SerializedFileWriter<HashingFile>,
    rows: u64,
    relative: std::path::PathBuf,
    place: std::path::PathBuf,
}

impl<'a> Joined<'a> {
    /// Tables without rows.
    pub(crate) fn new(place: Place<'a>) -> Self {
        Self {
            place,
            files: Vec::new(),
            census: Census::default(),
        }
    }

    /// Adds the piece that follows; its files are gone afterwards.
    ///
    /// # Errors
    /// When a table can't be written.
    pub(crate) fn add(&mut self, piece: Piece) -> Result<(), Error> {
        for staged in &piece.staged {
            let place = staged.place.clone();
            self.append(staged)
                .map_err(|source| write_error(&place, source))?;
        }
        self.census.append(piece.census);
        Ok(())
    }

    fn append(&mut self, staged: &Staged) -> Result<(), ParquetError> {
        let table = staged.table_file.table;
        let input = staged.temporary.as_file().try_clone()?;
        let reader = SerializedFileReader::new(input.try_clone()?)?;
        let metadata = reader.metadata();
        let known = self.files.iter().position(|f| f.0 == table);
        let known = match known {
            Some(place) => place,
            None => {
                let folder = self.place.root.join(table.folder());
                let pairs = metadata.file_metadata().key_value_metadata().cloned();
                let properties = WriterProperties::builder().set_key_value_metadata(pairs);
                let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
                let file = HashingFile::new(temporary_in(&folder)?);
                let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))?;
                self.files.push((
                    table,
                    Whole {
                        writer,
                        rows: 0,
                        relative: staged.table_file.path.clone(),
                        place: staged.place.clone(),
                    },
                ));
                self.files.len() - 1
            }
        };
        let whole = &mut self.files[known].1;
        whole.rows += staged.table_file.rows;
        for group in metadata.row_groups() {
            let mut row_group = whole.writer.next_row_group()?;
            for column in group.columns() {
                let close = ColumnCloseResult {
                    bytes_written: column.compressed_size().unsigned_abs(),
                    rows_written: group.num_rows().unsigned_abs(),
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                row_group.append_column(&input, close)?;
            }
            row_group.close()?;
        }
        Ok(())
    }

    /// As [`FileTables::finish`].
    ///
    /// # Errors
    /// When a table can't be written.
    pub(crate) fn finish(
        self,
        before_change: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(Vec<TableFile>, Census), Error> {
        let mut files = self.files;
        files.sort_by_key(|(table, _)| Table::ALL.iter().position(|t| t == table));
        let staged = files
            .into_iter()
            .map(|(table, whole)| {
                let file = whole
                    .writer
                    .into_inner()
                    .map_err(|source| write_error(&whole.place, source))?;
                Ok(Staged {
                    table_file: TableFile {
                        table,
                        path: whole.relative,
                        rows: whole.rows,
                        bytes: file.bytes,
                        xxh3: Fingerprint::from(file.hash.digest128()),
                    },
                    temporary: file.file,
                    place: whole.place,
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        Ok((persist(staged, before_change)?, self.census))
    }
}
