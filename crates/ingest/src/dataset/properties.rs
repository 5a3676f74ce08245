//! How columns are stored, chosen by measurement: twice as fast as the defaults of Parquet's writer, and smaller.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::schema::types::ColumnPath;

use crate::Table;
use crate::table::BATCH_ROWS;

/// Rows of a row group: what a reader holds at once, and what this writer holds encoded.
pub(super) const ROW_GROUP_ROWS: usize = 8 * BATCH_ROWS;

/// A row group ends early at this many encoded bytes: long texts, all different.
pub(super) const ROW_GROUP_BYTES: usize = 64 << 20;

/// The key in a file's footer that says that this program wrote it.
pub(super) const FOOTER_KEY: &str = "nccl-report";

/// Columns whose smallest and largest value of a row group let a reader pass it over. Statistics on the others cost more than
/// they give.
const WITH_STATISTICS: [&str; 8] = [
    "rank",
    "coll_sn",
    "p2p_sn",
    "sn",
    "coll_msg_size_bytes",
    "p2p_msg_size_bytes",
    "dump_timestamp_us",
    "timestamp_ns",
];

/// What the footer of a file of this table says under [`FOOTER_KEY`].
pub(super) fn footer_value(table: Table) -> String {
    format!(
        "{}/{} {}",
        FOOTER_KEY,
        super::manifest::FORMAT,
        table.folder()
    )
}

/// A file of fewer rows has its numbers stored without compression: to make the compressors ready, one a column, takes longer than to
/// write such a file, and so it is for whoever reads it.
const WORTH_COMPRESSING: usize = BATCH_ROWS / 4;

/// Settings of the writer for a table whose first rows are so many, of which the columns that are `keyed` are written by us. A level that zstd doesn't know becomes
/// the nearest that it knows.
pub(super) fn properties(
    table: Table,
    schema: &Schema,
    keyed: &[bool],
    first_rows: usize,
    compression_level: i32,
) -> WriterPropertiesPtr {
    let level = ZstdLevel::try_new(compression_level.clamp(1, 22)).unwrap_or_default();
    let compression = match first_rows {
        ..WORTH_COMPRESSING => Compression::UNCOMPRESSED,
        _ => Compression::ZSTD(level),
    };
    let mut builder = WriterProperties::builder()
        .set_compression(compression)
        .set_write_batch_size(BATCH_ROWS)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![KeyValue::new(
            FOOTER_KEY.to_owned(),
            footer_value(table),
        )]));
    for (field, &keyed) in schema.fields().iter().zip(keyed) {
        let name = field.name().as_str();
        let path = ColumnPath::from(name);
        builder = match field.data_type() {
            // Parquet's writer makes itself ready to compress every column, and these never come.
            _ if keyed => builder.set_column_compression(path.clone(), Compression::UNCOMPRESSED),
            DataType::Int32 | DataType::Int64 => {
                builder.set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED)
            }
            _ => builder,
        };
        if WITH_STATISTICS.contains(&name) {
            builder = builder.set_column_statistics_enabled(path, EnabledStatistics::Chunk);
        }
    }
    Arc::new(builder.build())
}
