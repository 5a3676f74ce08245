//! A Parquet file as batches of columns. A missing or mistyped column means that the file isn't ours.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int32Type, Int64Type};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Type;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use crate::Error;
use crate::records::hash::NumberMap;
use crate::records::registry::{EndpointKey, Registry};

/// Rows decoded at a time: a few hundred kilobytes of columns, which stay in the cache.
const BATCH_ROWS: usize = 8_192;

/// A file of so many bytes at most is read at once: its columns would take tens of reads, a few kilobytes each.
const AT_ONCE: u64 = 1 << 20;

/// Some columns of a Parquet file, batch by batch.
pub(crate) struct Batches<'p> {
    path: &'p Path,
    reader: ParquetRecordBatchReader,
    blank: Arc<[String]>,
}

/// Opens a Parquet file to read the wanted columns.
pub(crate) fn open<'p, 'c>(
    path: &'p Path,
    wanted: impl IntoIterator<Item = &'c str>,
) -> Result<Batches<'p>, Error> {
    let unreadable = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let opened = if length <= AT_ONCE {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        let bytes = Bytes::from(bytes);
        batches(bytes.clone(), &Arc::new(bytes), wanted)
    } else {
        let pages = Arc::new(file.try_clone().map_err(unreadable)?);
        batches(file, &pages, wanted)
    };
    let (reader, blank) = opened.map_err(|source| undecodable(path, source))?;
    Ok(Batches {
        path,
        reader,
        blank,
    })
}

/// A reader of those of the wanted columns that hold anything, and the names of the others.
fn batches<'c, R: ChunkReader + 'static>(
    file: R,
    pages: &Arc<R>,
    wanted: impl IntoIterator<Item = &'c str>,
) -> Result<(ParquetRecordBatchReader, Arc<[String]>), ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let (mut columns, mut blank) = (Vec::new(), Vec::new());
    for column in wanted {
        if is_blank(pages, builder.metadata(), column)? {
            blank.push(column.to_owned());
        } else {
            columns.push(column);
        }
    }
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns);
    let reader = builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()?;
    Ok((reader, blank.into()))
}

/// Whether a column holds texts, but not one: its dictionary is empty. Such columns are common (`git_rev` of a plugin built
/// outside of git), and the reader takes several times as long for them as for others.
fn is_blank<R: ChunkReader + 'static>(
    file: &Arc<R>,
    metadata: &ParquetMetaData,
    column: &str,
) -> Result<bool, ParquetError> {
    for group in metadata.row_groups() {
        let Some(chunk) = group
            .columns()
            .iter()
            .find(|c| c.column_path().parts() == [column] && c.column_type() == Type::BYTE_ARRAY)
        else {
            return Ok(false);
        };
        if chunk.column_descr().max_def_level() == 0 || chunk.dictionary_page_offset().is_none() {
            return Ok(false);
        }
        let rows = usize::try_from(group.num_rows()).unwrap_or(usize::MAX);
        let mut pages = SerializedPageReader::new(Arc::clone(file), chunk, rows, None)?;
        match pages.get_next_page()? {
            Some(Page::DictionaryPage { num_values: 0, .. }) => {}
            _ => return Ok(false),
        }
    }
    Ok(metadata.num_row_groups() > 0)
}

fn undecodable(path: &Path, source: ParquetError) -> Error {
    Error::Parquet {
        path: path.to_owned(),
        source,
    }
}

impl<'p> Iterator for Batches<'p> {
    type Item = Result<Columns<'p>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next()?;
        Some(
            batch
                .map(|batch| Columns {
                    path: self.path,
                    batch,
                    blank: Arc::clone(&self.blank),
                })
                .map_err(|source| undecodable(self.path, source.into())),
        )
    }
}

/// A batch of rows.
pub(crate) struct Columns<'p> {
    path: &'p Path,
    batch: RecordBatch,
    /// Columns that hold nothing and weren't read.
    blank: Arc<[String]>,
}

/// A column of texts: a key for each row (-1 for null), and the values.
pub(crate) struct Texts<'b> {
    /// A key a row.
    pub(crate) keys: Cow<'b, [i32]>,
    /// The text of each key.
    pub(crate) values: Vec<&'b str>,
}

impl<'b> Texts<'b> {
    /// The text of a key; `None` for null and for an empty text.
    pub(crate) fn get(&self, key: i32) -> Option<&'b str> {
        usize::try_from(key)
            .ok()
            .and_then(|k| self.values.get(k).copied())
            .filter(|s| !s.is_empty())
    }

    /// The text of a row, empty for null.
    pub(crate) fn text(&self, row: usize) -> &'b str {
        self.get(self.keys[row]).unwrap_or_default()
    }
}

impl Columns<'_> {
    /// Rows.
    pub(crate) fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn foreign(&self, column: &str) -> Error {
        Error::NotOurs {
            path: self.path.to_owned(),
            column: column.to_owned(),
        }
    }

    fn column(&self, name: &str) -> Result<&dyn Array, Error> {
        self.batch
            .column_by_name(name)
            .map(AsRef::as_ref)
            .ok_or_else(|| self.foreign(name))
    }

    fn primitive<T: ArrowPrimitiveType>(&self, name: &str) -> Result<&PrimitiveArray<T>, Error> {
        self.column(name)?
            .as_primitive_opt::<T>()
            .ok_or_else(|| self.foreign(name))
    }

    /// A column of texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Texts<'_>, Error> {
        if self.blank.iter().any(|b| b == name) {
            return Ok(Texts {
                keys: Cow::Owned(vec![-1; self.rows()]),
                values: Vec::new(),
            });
        }
        let dictionary = self
            .column(name)?
            .as_dictionary_opt::<Int32Type>()
            .ok_or_else(|| self.foreign(name))?;
        let values = dictionary
            .values()
            .as_string_opt::<i32>()
            .ok_or_else(|| self.foreign(name))?;
        Ok(Texts {
            keys: filled(dictionary.keys(), -1),
            values: values.iter().map(Option::unwrap_or_default).collect(),
        })
    }

    /// A column of 32-bit numbers; -1 for null.
    pub(crate) fn ints(&self, name: &str) -> Result<Cow<'_, [i32]>, Error> {
        Ok(filled(self.primitive::<Int32Type>(name)?, -1))
    }

    /// A column of 64-bit numbers; -1 for null.
    pub(crate) fn longs(&self, name: &str) -> Result<Cow<'_, [i64]>, Error> {
        Ok(filled(self.primitive::<Int64Type>(name)?, -1))
    }

    /// A column of floats; `none` for null.
    pub(crate) fn floats(&self, name: &str, none: f64) -> Result<Cow<'_, [f64]>, Error> {
        Ok(filled(self.primitive::<Float64Type>(name)?, none))
    }

    /// A column of floats, unless all of it is null.
    pub(crate) fn floats_if_any(&self, name: &str) -> Result<Option<Cow<'_, [f64]>>, Error> {
        let array = self.primitive::<Float64Type>(name)?;
        Ok((array.null_count() < array.len()).then(|| filled(array, 0.0)))
    }

    /// The endpoint of each row, by the numbers of `registry`. Neighbours mostly share one, so the last is remembered; where dumps
    /// are short they take turns, so those of the batch are too.
    pub(crate) fn endpoints(
        &self,
        registry: &mut Registry<EndpointKey>,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let (id, name, host) = (
            self.texts("id")?,
            self.texts("comm_name")?,
            self.texts("hostname")?,
        );
        let (rank, n_ranks, nnodes) = (
            self.ints("rank")?,
            self.ints("n_ranks")?,
            self.ints("nnodes")?,
        );
        let pid = self.longs("pid")?;
        let mut last = None;
        let mut met: NumberMap<_, u32> = NumberMap::default();
        out.clear();
        for i in 0..self.rows() {
            let key = (
                id.keys[i],
                name.keys[i],
                host.keys[i],
                rank[i],
                n_ranks[i],
                nnodes[i],
                pid[i],
            );
            let endpoint = match last {
                Some((k, e)) if k == key => e,
                _ => *met.entry(key).or_insert_with(|| {
                    registry.intern(&EndpointKey {
                        id: id.text(i).to_owned(),
                        name: name
                            .get(key.1)
                            .filter(|n| *n != "unknown")
                            .map(str::to_owned),
                        n_ranks: u32::try_from(key.4).unwrap_or(0),
                        nnodes: u32::try_from(key.5).unwrap_or(0),
                        rank: u32::try_from(key.3).unwrap_or(0),
                        host: host.text(i).to_owned(),
                        pid: key.6,
                    })
                }),
            };
            last = Some((key, endpoint));
            out.push(endpoint);
        }
        Ok(())
    }
}

/// The values of an array, `none` where they are null.
fn filled<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    none: T::Native,
) -> Cow<'_, [T::Native]> {
    if array.null_count() == 0 {
        Cow::Borrowed(array.values())
    } else {
        Cow::Owned(array.iter().map(|v| v.unwrap_or(none)).collect())
    }
}
