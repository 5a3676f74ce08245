//! The row groups of a Parquet file: batches of columns in, some encoded already and some by Parquet's own writer.

use std::fs::File;
use std::io::{self, Write};

use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::Xxh3;

use super::chunk::chunk;
use crate::table::{Batch, DictionaryPage, Page};

/// A Parquet file under construction.
pub(super) struct RowGroups {
    file: SerializedFileWriter<HashingFile>,
    schema: SchemaRef,
    makers: ArrowRowGroupWriterFactory,
    group: Option<Vec<Encoded>>,
    compression_level: i32,
}

/// A column of the row group under construction.
enum Encoded {
    /// By Parquet's own writer.
    Values(Box<ArrowColumnWriter>),
    /// By ours.
    Pages(Vec<Page>),
}

impl RowGroups {
    pub(super) fn new(
        file: NamedTempFile,
        schema: SchemaRef,
        properties: &WriterPropertiesPtr,
        compression_level: i32,
    ) -> Result<Self, ParquetError> {
        let properties = Some(properties.as_ref().clone());
        let writer = ArrowWriter::try_new(HashingFile::new(file), schema.clone(), properties)?;
        let (file, makers) = writer.into_serialized_writer()?;
        Ok(Self {
            file,
            schema,
            makers,
            group: None,
            compression_level,
        })
    }

    /// Adds a batch to the row group.
    pub(super) fn take(&mut self, batch: Vec<Batch>) -> Result<(), ParquetError> {
        let group = match &mut self.group {
            Some(group) => group,
            None => {
                let groups_before = self.file.flushed_row_groups().len();
                let makers = self.makers.create_column_writers(groups_before)?;
                let columns = makers.into_iter().zip(&batch);
                self.group.insert(
                    columns
                        .map(|(maker, cells)| match cells {
                            Batch::Values(_) => Encoded::Values(Box::new(maker)),
                            Batch::Page(_) => Encoded::Pages(Vec::new()),
                        })
                        .collect(),
                )
            }
        };
        for ((column, cells), field) in group.iter_mut().zip(batch).zip(self.schema.fields()) {
            match (column, cells) {
                (Encoded::Values(writer), Batch::Values(array)) => {
                    for leaf in compute_leaves(field, &array)? {
                        writer.write(&leaf)?;
                    }
                }
                (Encoded::Pages(pages), Batch::Page(page)) => pages.push(page),
                _ => {
                    return Err(ParquetError::General(
                        "a column changed its kind".to_owned(),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Ends the row group, if there is one.
    pub(super) fn end_group(
        &mut self,
        dictionaries: Vec<Option<DictionaryPage>>,
    ) -> Result<(), ParquetError> {
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        let properties = self.file.properties().clone();
        let schema = self.file.schema_descr().clone();
        let level = self.compression_level;
        let mut row_group = self.file.next_row_group()?;
        for (place, (column, dictionary)) in group.into_iter().zip(dictionaries).enumerate() {
            match (column, dictionary) {
                (Encoded::Values(writer), _) => {
                    writer.close()?.append_to_row_group(&mut row_group)?;
                }
                (Encoded::Pages(pages), Some(dictionary)) => {
                    let column = schema.column(place);
                    let statistics = properties.statistics_enabled(column.path());
                    let with_statistics = statistics != EnabledStatistics::None;
                    let (bytes, close) = chunk(column, dictionary, pages, level, with_statistics)?;
                    row_group.append_column(&bytes, close)?;
                }
                (Encoded::Pages(_), None) => {
                    return Err(ParquetError::General(
                        "keys without a dictionary".to_owned(),
                    ));
                }
            }
        }
        row_group.close()?;
        Ok(())
    }

    /// Writes the footer.
    pub(super) fn finish(self) -> Result<HashingFile, ParquetError> {
        self.file.into_inner()
    }
}

/// A file that knows the fingerprint of what was written. The Parquet writer buffers.
pub(super) struct HashingFile {
    pub(super) file: NamedTempFile,
    pub(super) hash: Xxh3,
    pub(super) bytes: u64,
}

impl HashingFile {
    pub(super) fn new(file: NamedTempFile) -> Self {
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
