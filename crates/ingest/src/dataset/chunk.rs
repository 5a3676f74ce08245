//! A column of a row group whose pages are encoded already: compressed, with the headers and the account that Parquet wants.

use std::cell::RefCell;
use std::io;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, ZstdLevel};
use parquet::column::page::{CompressedPage, Page as FilePage, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::table::{DictionaryPage, Page};

/// A chunk of fewer bytes isn't worth a reader's decoder.
const WORTH_COMPRESSING: usize = 1024;

/// Puts a chunk together: its bytes, dictionary first, and what the row group must know of it.
pub(super) fn chunk(
    column: ColumnDescPtr,
    dictionary: DictionaryPage,
    pages: Vec<Page>,
    level: i32,
    with_statistics: bool,
) -> Result<(Bytes, ColumnCloseResult)> {
    let raw = dictionary.bytes.len() + pages.iter().map(|p| p.bytes.len()).sum::<usize>();
    let compressed = raw >= WORTH_COMPRESSING;
    let codec = match compressed {
        true => Compression::ZSTD(ZstdLevel::try_new(level)?),
        false => Compression::UNCOMPRESSED,
    };
    let pack = |bytes: Vec<u8>| -> Result<(Bytes, usize)> {
        let length = bytes.len();
        let packed = match compressed {
            true => compress(&bytes, level)?,
            false => bytes,
        };
        Ok((Bytes::from(packed), length))
    };

    let mut file = TrackedWrite::new(Vec::new());
    let mut writer = SerializedPageWriter::new(&mut file);
    let (mut raw, mut packed) = (0, 0);
    let mut write = |page: CompressedPage| -> Result<usize> {
        let written = writer.write_page(page)?;
        raw += written.uncompressed_size;
        packed += written.compressed_size;
        Ok(written.compressed_size)
    };
    // All pages plain: nothing refers to a dictionary.
    let with_dictionary = pages.iter().any(|page| !page.plain);
    let mut first_data = 0;
    if with_dictionary {
        let (buf, length) = pack(dictionary.bytes)?;
        let page = FilePage::DictionaryPage {
            buf,
            num_values: dictionary.values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        first_data = write(CompressedPage::new(page, length))?;
    }
    let (mut rows, mut encodings) = (0_u64, vec![Encoding::PLAIN, Encoding::RLE]);
    for page in pages {
        let encoding = match page.plain {
            true => Encoding::PLAIN,
            false => Encoding::RLE_DICTIONARY,
        };
        encodings.push(encoding);
        rows += u64::from(page.rows);
        let (buf, length) = pack(page.bytes)?;
        let page = FilePage::DataPage {
            buf,
            num_values: page.rows,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        write(CompressedPage::new(page, length))?;
    }
    writer.close()?;

    let mut metadata = ColumnChunkMetaData::builder(column)
        .set_compression(codec)
        .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
        .set_total_compressed_size(size(packed)?)
        .set_total_uncompressed_size(size(raw)?)
        .set_num_values(size(rows as usize)?)
        .set_data_page_offset(size(first_data)?);
    if with_dictionary {
        metadata = metadata.set_dictionary_page_offset(Some(0));
    }
    if let Some(statistics) = dictionary.statistics.filter(|_| with_statistics) {
        metadata = metadata.set_statistics(statistics);
    }
    let close = ColumnCloseResult {
        bytes_written: packed as u64,
        rows_written: rows,
        metadata: metadata.build()?,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((Bytes::from(file.into_inner()?), close))
}

thread_local! {
    /// A thread's compressor, and its level: making one takes longer than most pages.
    static PACKER: RefCell<Option<(i32, zstd::bulk::Compressor<'static>)>> = const { RefCell::new(None) };
}

fn compress(bytes: &[u8], level: i32) -> io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| {
        let (_, packer) = match packer {
            Some(ready) if ready.0 == level => ready,
            _ => packer.insert((level, zstd::bulk::Compressor::new(level)?)),
        };
        packer.compress(bytes)
    })
}

fn size(bytes: usize) -> Result<i64> {
    i64::try_from(bytes).map_err(|error| ParquetError::External(Box::new(error)))
}
