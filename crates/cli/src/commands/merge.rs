//! The report of a job whose files several machines have read.

use std::fs;
use std::path::{Path, PathBuf};

use nccl_report_ingest::MergeOptions;

use super::phases::Phases;
use super::report::{Opened, finish};
use super::rules;
use crate::exit::Status;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{OutputFolder, REPORT_FILES, SHARDS};
use crate::settings::Merge;
use crate::ui::Console;

pub fn run(settings: &Merge, console: Console, memory: Memory) -> Result<Status, Failure> {
    let rules = rules::read(settings.report.rules.as_deref())?;
    let parts = parts(&settings.parts)?;
    let out = match (&settings.report.out, settings.parts.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [one]) if one.join(SHARDS).is_dir() => one.clone(),
        (None, _) => {
            return Err(Failure::new("failed to tell where the report goes")
                .hint("name a folder with --out, or give one folder that holds shards/"));
        }
    };
    let phases = Phases::begin(console, memory);
    let out = OutputFolder::claim(&out, &REPORT_FILES, &parts)?;
    let tables = out.dataset();
    let (dataset, job) = phases.merge(MergeOptions {
        parts,
        dataset: tables.clone(),
        cancel: phases.flag(),
    })?;
    let dataset = match phases.with_records(dataset, &settings.parts) {
        Ok(dataset) => dataset,
        Err(failure) => {
            out.discard();
            return Err(failure);
        }
    };
    let opened = Opened {
        dataset,
        tables,
        out,
        title: settings.report.title.clone().unwrap_or(job),
    };
    finish(&settings.report, &phases, opened, rules, console)
}

/// The datasets that the inputs are, or hold under `shards/`, each once.
fn parts(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut parts = Vec::new();
    for input in inputs {
        let inside = input.join(SHARDS);
        if !inside.is_dir() {
            if !input.is_dir() {
                return Err(Failure::new(format_args!(
                    "failed to read {}: no such folder",
                    input.display()
                )));
            }
            parts.push(input.clone());
            continue;
        }
        parts.extend(
            folders(&inside).map_err(|e| {
                Failure::new(format_args!("failed to read {}: {e}", inside.display()))
            })?,
        );
    }
    parts.sort();
    parts.dedup();
    Ok(parts)
}

fn folders(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}
