//! The main job: read, analyse, write the report, print the summary.

use std::path::{Path, PathBuf};

use nccl_report_analyze::Rules;
use nccl_report_ingest::Dataset;
use nccl_report_render::report_json;

use super::ingest;
use super::phases::{Phases, report_folder_of, title, title_of_earlier};
use super::rules;
use super::shard;
use crate::exit::Status;
use crate::failure::Failure;
use crate::input::Source;
use crate::memory::Memory;
use crate::names;
use crate::output::{OutputFolder, REPORT_FILES};
use crate::settings::Report;
use crate::ui::{Console, Places, summary};

pub fn run(settings: &Report, console: Console, memory: Memory) -> Result<Status, Failure> {
    if let Some(which) = settings.shard {
        return shard::run(settings, which, console, memory);
    }
    let phases = Phases::begin(console, memory);
    let rules = rules::read(settings.rules.as_deref())?;
    let opened = match Source::of(&settings.inputs)? {
        Source::Logs(logs) => from_logs(settings, &phases, &logs)?,
        Source::Dataset(earlier) => from_earlier(settings, &phases, earlier)?,
    };
    finish(settings, &phases, opened, rules, console)
}

/// Analyses the dataset, writes the report and prints the summary.
pub fn finish(
    settings: &Report,
    phases: &Phases,
    opened: Opened,
    rules: Option<Rules>,
    console: Console,
) -> Result<Status, Failure> {
    let Opened {
        dataset,
        tables,
        mut out,
        title,
    } = opened;
    let job = phases.analyse(dataset, title, &settings.traces, rules)?;
    let written = phases.write(&job, out.path())?;
    out.keep();

    if settings.print_json {
        console.json(&report_json(&job))?;
    } else {
        let places = Places {
            written: &written,
            dataset: &tables,
        };
        console.result(&summary(&job, &places, console.width()))?;
    }
    console.unmatched(&job.findings);
    Ok(console.verdict(&job, settings.fail_on))
}

/// A job that is ready to be analysed.
pub struct Opened {
    pub dataset: Dataset,
    /// Where it lies.
    pub tables: PathBuf,
    pub out: OutputFolder,
    pub title: String,
}

fn from_logs(settings: &Report, phases: &Phases, logs: &[PathBuf]) -> Result<Opened, Failure> {
    let out = claim(settings, names::report_folder(logs), logs)?;
    let tables = out.dataset();
    let inputs = settings.traces.with(logs);
    let (dataset, out) = ingest::into(out, phases, &inputs, settings.compression_level)?;
    Ok(Opened {
        dataset,
        tables,
        out,
        title: title(settings.title.as_deref(), logs),
    })
}

/// Beside the tables, where they lie in a report folder, so that `ingest` and then this give one whole report.
fn from_earlier(settings: &Report, phases: &Phases, tables: PathBuf) -> Result<Opened, Failure> {
    let beside = report_folder_of(&tables).map(Path::to_owned);
    let default = beside.unwrap_or_else(|| names::report_folder(&settings.inputs));
    let dataset = phases.reopen(&tables)?;
    let out = claim(settings, default, &[])?;
    let title = title_of_earlier(settings.title.as_deref(), &tables);
    Ok(Opened {
        dataset,
        tables,
        out,
        title,
    })
}

fn claim(settings: &Report, default: PathBuf, logs: &[PathBuf]) -> Result<OutputFolder, Failure> {
    let path = settings.out.as_deref().unwrap_or(&default);
    OutputFolder::claim(path, &REPORT_FILES, logs)
}
