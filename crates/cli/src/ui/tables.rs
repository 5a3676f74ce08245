//! What a dataset holds, table by table.

use std::path::Path;

use nccl_report_ingest::{Dataset, Table};

use super::account;
use super::page::Page;
use super::text::{bytes, counted, visible};

/// What was read, and which tables came of it, in `width` columns, with styles in it.
pub fn tables(dataset: &Dataset, folder: &Path, width: usize) -> String {
    let inputs = dataset.inputs();
    let mut page = Page::new(width);
    page.heading("Parquet");
    page.line(&format!(
        "{} in {}, {}",
        counted(inputs.records.values().sum(), "record", "records"),
        counted(inputs.files, "file", "files"),
        bytes(inputs.bytes),
    ));
    let folder = visible(&folder.to_string_lossy()).into_owned();
    for table in Table::ALL {
        let rows: u64 = (dataset.files().iter())
            .flat_map(|f| &f.tables)
            .filter(|t| t.table == table)
            .map(|t| t.rows)
            .sum();
        if rows > 0 {
            let rows = counted(rows, "row", "rows");
            page.raw(&format!("{folder}/{}/ ({rows})", table.folder()));
        }
    }
    account::section(&mut page, inputs);
    page.finish()
}
