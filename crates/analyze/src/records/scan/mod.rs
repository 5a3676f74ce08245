//! Parquet files of the dataset, read in batches with their names replaced by small numbers. Nothing else reads Parquet.

mod columns;
mod dropped;
mod operations;

pub(crate) use columns::{Texts, open};
pub(crate) use dropped::dropped;
pub(crate) use operations::{Batch, Names, more_operations, operations};
