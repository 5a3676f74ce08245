//! Some columns of a Parquet file, row by row. A missing or mistyped column means that the file isn't ours.

use std::fs::File;
use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::Error;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 32_768;

/// Visits batches of some columns of a Parquet file.
pub(super) fn batches(
    path: &Path,
    columns: &[&str],
    mut visit: impl FnMut(&Batch<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let parquet = |source| Error::Parquet {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    let reader = builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(parquet)?;
    for columns in reader {
        let columns = columns.map_err(|e| parquet(e.into()))?;
        visit(&Batch {
            path,
            columns: &columns,
        })?;
    }
    Ok(())
}

/// Some rows of a file.
pub(super) struct Batch<'a> {
    path: &'a Path,
    columns: &'a RecordBatch,
}

pub(super) struct Texts<'a> {
    keys: &'a arrow::array::Int32Array,
    values: &'a arrow::array::StringArray,
}

impl<'a> Texts<'a> {
    pub(super) fn at(&self, row: usize) -> Option<&'a str> {
        if self.keys.is_null(row) {
            return None;
        }
        let key = usize::try_from(self.keys.value(row)).ok()?;
        (key < self.values.len()).then(|| self.values.value(key))
    }
}

/// A column of whole numbers, of either width.
pub(super) enum Numbers<'a> {
    Long(&'a arrow::array::Int64Array),
    Short(&'a arrow::array::Int32Array),
}

impl Numbers<'_> {
    pub(super) fn at(&self, row: usize) -> Option<i64> {
        match self {
            Self::Long(array) => (!array.is_null(row)).then(|| array.value(row)),
            Self::Short(array) => (!array.is_null(row)).then(|| i64::from(array.value(row))),
        }
    }
}

impl<'a> Batch<'a> {
    pub(super) fn rows(&self) -> usize {
        self.columns.num_rows()
    }

    fn foreign(&self, column: &str) -> Error {
        Error::NotOurs {
            path: self.path.to_owned(),
            column: column.to_owned(),
        }
    }

    fn column(&self, name: &str) -> Result<&'a dyn Array, Error> {
        self.columns
            .column_by_name(name)
            .map(AsRef::as_ref)
            .ok_or_else(|| self.foreign(name))
    }

    pub(super) fn texts(&self, name: &str) -> Result<Texts<'a>, Error> {
        let dictionary = self
            .column(name)?
            .as_dictionary_opt::<Int32Type>()
            .ok_or_else(|| self.foreign(name))?;
        let values = dictionary
            .values()
            .as_string_opt::<i32>()
            .ok_or_else(|| self.foreign(name))?;
        Ok(Texts {
            keys: dictionary.keys(),
            values,
        })
    }

    pub(super) fn numbers(&self, name: &str) -> Result<Numbers<'a>, Error> {
        self.column(name)?
            .as_primitive_opt::<Int64Type>()
            .map(Numbers::Long)
            .ok_or_else(|| self.foreign(name))
    }

    pub(super) fn small_numbers(&self, name: &str) -> Result<Numbers<'a>, Error> {
        self.column(name)?
            .as_primitive_opt::<Int32Type>()
            .map(Numbers::Short)
            .ok_or_else(|| self.foreign(name))
    }
}
