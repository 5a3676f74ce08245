//! Two jobs, one verdict: read both, compare, write the comparison, print the summary.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use nccl_report_analyze::facts::Comparison;
use nccl_report_analyze::{CompareOptions, Examined, compare};
use nccl_report_render::{
    Options as RenderOptions, compare_json, comparison_junit, comparison_markdown, write_comparison,
};
use tempfile::TempDir;

use super::phases::{Phases, Reading, title, title_of_earlier};
use crate::exit::Status;
use crate::failure::Failure;
use crate::input::Source;
use crate::names;
use crate::output::{self, COMPARISON_FILES, DATASET, OutputFolder};
use crate::settings::Compare;
use crate::ui::{self, Console};

/// Of tables that only live as long as the command: their size matters less than the time to write them.
const COMPRESSION_LEVEL: i32 = 1;

pub fn run(settings: &Compare, console: Console) -> Result<Status, Failure> {
    let phases = Phases::begin(console);
    let inputs = [settings.baseline.clone(), settings.candidate.clone()];
    let default = names::comparison_folder(&settings.candidate);
    let path = settings.out.as_deref().unwrap_or(&default);
    let mut out = OutputFolder::claim(path, &COMPARISON_FILES, &inputs)?;
    let baseline = examined(&phases, &settings.baseline, "baseline", &out)?;
    let candidate = examined(&phases, &settings.candidate, "candidate", &out)?;

    let options = CompareOptions {
        threshold: settings.threshold,
        allow_partial: settings.allow_partial,
    };
    let comparison = compare(&baseline, &candidate, &options);
    phases.check()?;
    let written = write_comparison(
        &comparison,
        &RenderOptions {
            out: out.path().to_owned(),
        },
    )?;
    out.keep();
    deliver(settings, &comparison)?;
    if settings.print_json {
        console.json(&compare_json(&comparison))?;
    } else {
        console.result(&ui::comparison(&comparison, &written, console.width()))?;
    }
    Ok(console.comparison(&comparison, settings.advisory))
}

/// Reads one side and analyses it. Tables made of logs live beside the output for as long as it takes.
fn examined(
    phases: &Phases,
    input: &Path,
    role: &str,
    out: &OutputFolder,
) -> Result<Examined, Failure> {
    let inputs = [input.to_owned()];
    let of_role = |failure: Failure| failure.about(format_args!("the {role}"));
    match Source::of(&inputs).map_err(of_role)? {
        Source::Logs(logs) => {
            let tables = tables_beside(out)?;
            let mut exclude = out.exclude(&logs);
            exclude.push(tables.path().to_owned());
            let reading = Reading {
                logs: &logs,
                dataset: tables.path().join(DATASET),
                exclude,
                compression_level: COMPRESSION_LEVEL,
                share: None,
            };
            let dataset = phases.read(reading).map_err(of_role)?;
            let dataset = phases.with_records(dataset, &logs).map_err(of_role)?;
            phases.examine(dataset, title(None, &logs)).map_err(of_role)
        }
        Source::Dataset(earlier) => {
            let dataset = phases.reopen(&earlier).map_err(of_role)?;
            let title = title_of_earlier(None, &earlier);
            phases.examine(dataset, title).map_err(of_role)
        }
    }
}

fn tables_beside(out: &OutputFolder) -> Result<TempDir, Failure> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nccl-report-");
    builder
        .tempdir_in(out.path())
        .map_err(|e| Failure::new(format_args!("failed to make a temporary folder: {e}")))
}

/// The files that CI systems read.
fn deliver(settings: &Compare, comparison: &Comparison) -> Result<(), Failure> {
    if let Some(path) = &settings.summary {
        append(path, &comparison_markdown(comparison)).map_err(cannot_write(path))?;
    }
    if let Some(path) = &settings.junit {
        output::write_whole(path, &comparison_junit(comparison)).map_err(cannot_write(path))?;
    }
    Ok(())
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn cannot_write(path: &Path) -> impl Fn(std::io::Error) -> Failure {
    let path: PathBuf = path.to_owned();
    move |e| Failure::new(format_args!("failed to write {}: {e}", path.display()))
}
