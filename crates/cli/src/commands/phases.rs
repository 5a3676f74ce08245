//! The phases of a run, each with its progress line, its timing, and a Ctrl-C that is heard.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use nccl_report_analyze::facts::Job;
use nccl_report_analyze::{Examined, Options as AnalyzeOptions, Rules, analyze, examine};
use nccl_report_ingest::{Dataset, MergeOptions, Options as IngestOptions, Share, ingest, merge};
use nccl_report_render::{Options as RenderOptions, Written, write};

use crate::failure::Failure;
use crate::help;
use crate::interrupt::Interrupt;
use crate::memory::Memory;
use crate::names;
use crate::output::DATASET;
use crate::progress::Line;
use crate::settings::Traces;
use crate::ui::Console;

/// Skipped files that an error names.
const NAMED: usize = 3;

/// What the phases have in common.
pub struct Phases {
    console: Console,
    interrupt: Interrupt,
    memory: Memory,
}

/// What to read, and where its tables go.
pub struct Reading<'a> {
    pub logs: &'a [PathBuf],
    pub dataset: PathBuf,
    pub exclude: Vec<PathBuf>,
    pub compression_level: i32,
    /// `None`: all of it.
    pub share: Option<Share>,
}

impl Phases {
    /// From here on a Ctrl-C is heard.
    pub fn begin(console: Console, memory: Memory) -> Self {
        Self {
            console,
            interrupt: Interrupt::listen(),
            memory,
        }
    }

    /// Dumps → tables.
    pub fn read(&self, reading: Reading<'_>) -> Result<Dataset, Failure> {
        let start = Instant::now();
        let options = IngestOptions {
            inputs: reading.logs.to_vec(),
            dataset: reading.dataset,
            exclude: reading.exclude,
            compression_level: reading.compression_level,
            share: reading.share,
            cancel: self.interrupt.flag(),
        };
        let dataset = {
            let line = Line::reading(self.console.loudness());
            ingest(&options, &line)?
        };
        self.console.timing("reading", start.elapsed());
        Ok(dataset)
    }

    /// The tables of all shards → one dataset, and what the job is called.
    pub fn merge(&self, options: MergeOptions) -> Result<(Dataset, String), Failure> {
        let start = Instant::now();
        let merged = {
            let _line = Line::busy(self.console.loudness(), "merging");
            merge(&options)?
        };
        self.console.timing("merging", start.elapsed());
        Ok(merged)
    }

    /// The flag that a Ctrl-C sets.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.interrupt.flag()
    }

    /// The tables of an earlier run.
    pub fn reopen(&self, dataset: &Path) -> Result<Dataset, Failure> {
        self.with_records(Dataset::open(dataset)?, &[dataset.to_owned()])
    }

    /// Tables → facts.
    pub fn analyse(
        &self,
        dataset: Dataset,
        title: String,
        traces: &Traces,
        rules: Option<Rules>,
    ) -> Result<Job, Failure> {
        let start = Instant::now();
        let line = Line::busy(self.console.loudness(), "analysing");
        let options = AnalyzeOptions {
            title,
            hosts_of_traces: traces.hosts.clone(),
            slow: traces.slow,
            rules,
            max_rows: self.memory.records(),
        };
        let job = (self.interrupt).or_abandon(move || analyze(&dataset, &options))??;
        drop(line);
        self.console.timing("analysing", start.elapsed());
        Ok(job)
    }

    /// Tables → facts, and what a comparison needs beside them.
    pub fn examine(
        &self,
        dataset: Dataset,
        title: String,
        rules: Option<Rules>,
    ) -> Result<Examined, Failure> {
        let start = Instant::now();
        let line = Line::busy(self.console.loudness(), "analysing");
        let options = AnalyzeOptions {
            title,
            rules,
            max_rows: self.memory.records(),
            ..AnalyzeOptions::default()
        };
        let examined = (self.interrupt).or_abandon(move || examine(&dataset, &options))??;
        drop(line);
        self.console.timing("analysing", start.elapsed());
        Ok(examined)
    }

    /// Stops here if a Ctrl-C was heard.
    pub fn check(&self) -> Result<(), Failure> {
        self.interrupt.check()
    }

    /// Facts → files.
    pub fn write(&self, job: &Job, out: &Path) -> Result<Written, Failure> {
        self.interrupt.check()?;
        let start = Instant::now();
        let line = Line::busy(self.console.loudness(), "writing the report");
        let written = write(
            job,
            &RenderOptions {
                out: out.to_owned(),
            },
        )?;
        drop(line);
        self.console.timing("writing the report", start.elapsed());
        Ok(written)
    }

    /// The dataset, unless it holds no record at all.
    pub fn with_records(&self, dataset: Dataset, inputs: &[PathBuf]) -> Result<Dataset, Failure> {
        self.interrupt.check()?;
        self.console.files(&dataset);
        if dataset.inputs().records.values().any(|&n| n > 0) {
            Ok(dataset)
        } else {
            Err(no_record(&dataset, inputs))
        }
    }
}

/// The job's title: as given, else the name of the logs.
pub fn title(given: Option<&str>, inputs: &[PathBuf]) -> String {
    given.map_or_else(
        || names::job(inputs).to_string_lossy().into_owned(),
        str::to_owned,
    )
}

/// The same for what an earlier run wrote: the name of its report folder.
pub fn title_of_earlier(given: Option<&str>, dataset: &Path) -> String {
    let folder = report_folder_of(dataset).unwrap_or(dataset);
    given.map_or_else(
        || names::job_of_report(folder).to_string_lossy().into_owned(),
        str::to_owned,
    )
}

/// The report folder that a dataset lies in, if it does.
pub fn report_folder_of(dataset: &Path) -> Option<&Path> {
    let named = dataset.file_name().is_some_and(|n| n == DATASET);
    match dataset.parent() {
        Some(parent) if named && parent.as_os_str().is_empty() => Some(Path::new(".")),
        Some(parent) if named => Some(parent),
        _ => None,
    }
}

fn no_record(dataset: &Dataset, inputs: &[PathBuf]) -> Failure {
    let named: Vec<String> = inputs.iter().map(|i| i.display().to_string()).collect();
    let account = dataset.inputs();
    let mut why = match account.files_skipped.len() + account.files_damaged.len() {
        0 => "no file there".to_owned(),
        1 => "one file there, without any".to_owned(),
        n => format!("{n} files there, none with any"),
    };
    let examples = account.files_damaged.iter().chain(&account.files_skipped);
    for file in examples.take(NAMED) {
        why.push_str(&format!("; {}: {}", file.path, file.reason));
    }
    let failure = Failure::new(format_args!(
        "failed to find an Inspector record in {}: {why}",
        named.join(", ")
    ));
    help::NO_RECORD
        .iter()
        .fold(failure, |f, hint| f.hint(*hint))
}
