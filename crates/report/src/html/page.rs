//! The page around the sections.

use askama::Template;
use nccl_report_analyze::facts::Job;

use super::header::Header;
use super::people::People;
use super::section::Section;
use super::{
    budget, communicators, completeness, families, findings, groups, inputs, pairs, plots, slices,
    traces,
};
use crate::figure::Figure;

const STYLE: &str = include_str!("../../templates/style.css");
pub(super) const THEME_SCRIPT: &str = include_str!("../../templates/theme.js");
pub(super) const PAGE_SCRIPT: &str = include_str!("../../templates/page.js");
/// SHA-256 of the scripts: the page's policy allows these two and no other. A test keeps them in step with the files.
pub(super) const THEME_HASH: &str = "4QeWKDEr2cCOAwYPXvqeN4ctf2+kjLU3iugojFgFwuU=";
pub(super) const PAGE_HASH: &str = "bfrv9A1DEmAqh82vPD4L8Ik1kkISUZKvFyj7X2M2Nfg=";

/// The frame of every page: head, navigation, sections, foot.
#[derive(Template)]
#[template(path = "page.html")]
struct Frame {
    title: String,
    kind: &'static str,
    /// Already HTML, from a template.
    header: String,
    sections: Vec<Section>,
    /// The files beside the page that hold the same facts.
    files: &'static [&'static str],
    version: &'static str,
    style: &'static str,
    theme_script: &'static str,
    page_script: &'static str,
    theme_hash: &'static str,
    page_hash: &'static str,
}

/// A page of its sections, in the frame of all pages.
pub(super) fn frame(
    title: String,
    kind: &'static str,
    header: String,
    sections: Vec<Section>,
    files: &'static [&'static str],
) -> Result<String, askama::Error> {
    Frame {
        title,
        kind,
        header,
        sections,
        files,
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        theme_script: THEME_SCRIPT,
        page_script: PAGE_SCRIPT,
        theme_hash: THEME_HASH,
        page_hash: PAGE_HASH,
    }
    .render()
}

#[derive(Template)]
#[template(path = "section/glossary.html")]
struct Glossary;

/// The whole page.
pub(crate) fn page(job: &Job, figures: &[Figure]) -> Result<String, askama::Error> {
    let people = People::of(job);
    let back = |id: &str| findings::link(job, id);
    let plots = plots::prepare(figures, back);
    let header = Header::of(job);
    let mut sections = vec![
        findings::section(job, &plots)?,
        budget::section(job)?,
        completeness::section(job)?,
        families::section(job, &people)?,
        groups::section(job)?,
        plots::section(&plots)?,
        communicators::section(job, &people)?,
        slices::hosts(job, &people)?,
        slices::ranks(job, &people)?,
        slices::over_time(job)?,
        pairs::section(job, &people)?,
        inputs::section(job)?,
        Section::new("glossary", "How to read this", Glossary.render()?),
    ];
    if let Some(traces) = traces::section(job)? {
        // Behind the findings and the time: what the hosts did is why.
        sections.insert(3, traces);
    }
    frame(
        header.title.clone(),
        "NCCL communication report",
        header.render()?,
        sections,
        &["report.json", "summary.csv", "parquet/"],
    )
}
