//! The JSON only.

use std::path::PathBuf;

use nccl_report_analyze::facts::Job;
use nccl_report_ingest::Dataset;
use nccl_report_render::report_json;
use tempfile::TempDir;

use super::phases::{Phases, Reading, title, title_of_earlier};
use super::rules;
use crate::exit::Status;
use crate::failure::Failure;
use crate::input::Source;
use crate::memory::Memory;
use crate::output::{self, DATASET, JSON, OutputFolder};
use crate::settings::Analyze;
use crate::ui::Console;

/// Of tables that only live as long as the command: their size matters less than the time to write them.
const COMPRESSION_LEVEL: i32 = 1;

pub fn run(settings: &Analyze, console: Console, memory: Memory) -> Result<Status, Failure> {
    let phases = Phases::begin(console, memory);
    let rules = rules::read(settings.rules.as_deref())?;
    let job = match Source::of(&settings.inputs)? {
        Source::Logs(logs) => {
            let out = claim(settings, &logs)?;
            let inputs = settings.traces.with(&logs);
            let (dataset, _tables) = read_aside(&phases, &inputs, out.as_ref())?;
            let title = title(settings.title.as_deref(), &logs);
            let job = phases.analyse(dataset, title, &settings.traces, rules)?;
            deliver(&job, out, console)?;
            job
        }
        Source::Dataset(earlier) => {
            let dataset = phases.reopen(&earlier)?;
            let out = claim(settings, &[])?;
            let title = title_of_earlier(settings.title.as_deref(), &earlier);
            let job = phases.analyse(dataset, title, &settings.traces, rules)?;
            deliver(&job, out, console)?;
            job
        }
    };
    console.unmatched(&job.findings);
    Ok(console.verdict(&job, settings.fail_on))
}

fn claim(settings: &Analyze, logs: &[PathBuf]) -> Result<Option<OutputFolder>, Failure> {
    let claim = |path: &PathBuf| OutputFolder::claim(path, &[JSON], logs);
    settings.out.as_ref().map(claim).transpose()
}

/// Reads logs into tables that go when the returned folder is dropped: beside the output, where there is one.
fn read_aside(
    phases: &Phases,
    logs: &[PathBuf],
    out: Option<&OutputFolder>,
) -> Result<(Dataset, TempDir), Failure> {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(".nccl-report-");
    let tables = match out {
        Some(out) => builder.tempdir_in(out.path()),
        None => builder.tempdir(),
    }
    .map_err(|e| {
        Failure::new(format_args!("failed to make a temporary folder: {e}"))
            .hint("TMPDIR names the folder for temporary files")
    })?;
    let mut exclude = vec![tables.path().to_owned()];
    exclude.extend(out.map(|o| o.exclude(logs)).unwrap_or_default());
    let dataset = phases.read(Reading {
        logs,
        dataset: tables.path().join(DATASET),
        exclude,
        compression_level: COMPRESSION_LEVEL,
        share: None,
    })?;
    Ok((phases.with_records(dataset, logs)?, tables))
}

fn deliver(job: &Job, out: Option<OutputFolder>, console: Console) -> Result<(), Failure> {
    let json = report_json(job);
    let Some(mut out) = out else {
        return console.json(&json);
    };
    let path = out.path().join(JSON);
    let line = format!("{}\n", json.trim_end());
    output::write_whole(&path, &line)
        .map_err(|e| Failure::new(format_args!("failed to write {}: {e}", path.display())))?;
    out.keep();
    Ok(())
}
