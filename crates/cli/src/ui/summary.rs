//! The summary of a job on the terminal.

use std::path::Path;

use nccl_report_analyze::facts::Job;
use nccl_report_render::Written;

use super::page::Page;
use super::text::{counted, visible};
use super::{account, findings, groups, head};

/// Where the outputs are.
pub struct Places<'a> {
    /// What the report wrote.
    pub written: &'a Written,
    /// The folder of the Parquet tables.
    pub dataset: &'a Path,
}

/// What a person needs to know first, in `width` columns, with styles in it.
pub fn summary(job: &Job, places: &Places<'_>, width: usize) -> String {
    let mut page = Page::new(width);
    head::job(&mut page, job);
    findings::section(&mut page, job);
    groups::section(&mut page, job);
    head::data(&mut page, job);
    account::section(&mut page, &job.inputs);
    files(&mut page, places);
    page.finish()
}

fn files(page: &mut Page, places: &Places<'_>) {
    page.heading("Report");
    let written = places.written;
    for path in [&written.html, &written.json, &written.csv] {
        page.raw(&shown(path));
    }
    if let Some(folder) = written.plots.first().and_then(|p| p.parent()) {
        let plots = counted(written.plots.len() as u64, "plot", "plots");
        page.raw(&format!("{}/ ({plots})", shown(folder)));
    }
    page.raw(&format!("{}/", shown(places.dataset)));
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
