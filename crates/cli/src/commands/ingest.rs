//! The Parquet tables only.

use std::path::PathBuf;

use nccl_report_ingest::Dataset;

use super::phases::{Phases, Reading};
use crate::exit::Status;
use crate::failure::Failure;
use crate::input::Source;
use crate::memory::Memory;
use crate::output::{DATASET, OutputFolder};
use crate::settings::Ingest;
use crate::ui::{Console, tables};

pub fn run(settings: &Ingest, console: Console, memory: Memory) -> Result<Status, Failure> {
    let phases = Phases::begin(console, memory);
    let logs = match Source::of(&settings.inputs)? {
        Source::Logs(logs) => logs,
        Source::Dataset(earlier) => {
            return Err(Failure::new(format_args!(
                "failed to read {}: these are the tables of an earlier run already",
                earlier.display()
            ))
            .hint("`nccl-report DIR` and `nccl-report analyze DIR` go on from them"));
        }
    };
    let out = OutputFolder::claim(&settings.out, &[DATASET], &logs)?;
    let folder = out.dataset();
    let (dataset, mut out) = into(out, &phases, &logs, settings.compression_level)?;
    out.keep();
    console.result(&tables(&dataset, &folder, console.width()))?;
    Ok(Status::Done)
}

/// Reads logs into the tables of an output folder, which is taken back when there is no record.
pub fn into(
    out: OutputFolder,
    phases: &Phases,
    logs: &[PathBuf],
    compression_level: i32,
) -> Result<(Dataset, OutputFolder), Failure> {
    let dataset = phases.read(Reading {
        logs,
        dataset: out.dataset(),
        exclude: out.exclude(logs),
        compression_level,
        share: None,
    })?;
    match phases.with_records(dataset, logs) {
        Ok(dataset) => Ok((dataset, out)),
        Err(failure) => {
            out.discard();
            Err(failure)
        }
    }
}
