//! Two jobs, one verdict: read both, compare, write the comparison, print the summary.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use nccl_report_analyze::facts::Comparison;
use nccl_report_analyze::{CompareOptions, Examined, Rules, compare};
use nccl_report_render::{
    Options as RenderOptions, compare_json, comparison_junit, comparison_markdown, write_comparison,
};
use tempfile::TempDir;

use super::phases::{Phases, Reading, title, title_of_earlier};
use super::{history, rules};
use crate::exit::Status;
use crate::failure::Failure;
use crate::input::Source;
use crate::memory::Memory;
use crate::names;
use crate::output::{self, COMPARISON_FILES, DATASET, OutputFolder};
use crate::settings::Compare;
use crate::ui::{self, Console};

/// Of tables that only live as long as the command: their size matters less than the time to write them.
const COMPRESSION_LEVEL: i32 = 1;

pub fn run(settings: &Compare, console: Console, memory: Memory) -> Result<Status, Failure> {
    let phases = Phases::begin(console, memory);
    let rules = rules::read(settings.rules.as_deref())?;
    let mut inputs = vec![settings.candidate.clone()];
    inputs.extend(settings.baseline.clone());
    let default = names::comparison_folder(&settings.candidate);
    let path = settings.out.as_deref().unwrap_or(&default);
    if let Some(baseline) = &settings.baseline {
        refuse_the_same(baseline, &settings.candidate)?;
    }
    inputs.extend(settings.history.iter().cloned());
    let mut out = OutputFolder::claim(path, &COMPARISON_FILES, &inputs)?;
    let reader = Reader {
        phases: &phases,
        out: &out,
    };
    let candidate = reader.examined(&settings.candidate, "the candidate", rules.as_ref())?;
    let earlier = match settings.history.as_slice() {
        [] => None,
        folders => Some(history::read(&reader, folders, settings, &candidate)?),
    };
    let of_history = earlier.as_ref().and_then(|e| e.latest.as_ref());
    let (baseline, role) = match (&settings.baseline, of_history) {
        (Some(path), _) => (path, "the baseline"),
        (None, Some(path)) => (path, "the latest run of the history"),
        (None, None) => return Err(history::nothing(earlier.as_ref())),
    };
    let baseline = reader.examined(baseline, role, None)?;
    if let Some(earlier) = &earlier {
        console.left_out(earlier.builder.left_out());
    }

    let options = CompareOptions {
        threshold: settings.threshold,
        allow_partial: settings.allow_partial,
        rules: rules.clone(),
    };
    let trend = earlier.map(|e| e.builder.finish(&options));
    let comparison = compare(&baseline, &candidate, trend, &options);
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
    console.unmatched(&comparison.rules);
    Ok(console.comparison(&comparison, settings.advisory))
}

/// A run compared with itself is unchanged whatever happened to it: a slip in a script must not pass as a good result.
fn refuse_the_same(baseline: &Path, candidate: &Path) -> Result<(), Failure> {
    let (Ok(b), Ok(c)) = (baseline.canonicalize(), candidate.canonicalize()) else {
        // What isn't there is said when it is read.
        return Ok(());
    };
    if b.starts_with(&c) || c.starts_with(&b) {
        let what = if b == c {
            "the baseline and the candidate are the same"
        } else {
            "the baseline and the candidate lie one inside the other"
        };
        let paths = format!("{}, {}", baseline.display(), candidate.display());
        return Err(
            Failure::new(format_args!("failed to compare: {what}: {paths}")).hint("give two runs"),
        );
    }
    Ok(())
}

/// Reads runs and analyses them.
pub struct Reader<'a> {
    pub phases: &'a Phases,
    pub out: &'a OutputFolder,
}

impl Reader<'_> {
    /// One run; `rules` are those that it will be held against. Tables made of logs live beside the output for as long as it takes.
    pub fn examined(
        &self,
        input: &Path,
        role: &str,
        rules: Option<&Rules>,
    ) -> Result<Examined, Failure> {
        let (phases, out) = (self.phases, self.out);
        let inputs = [input.to_owned()];
        let of_role = |failure: Failure| failure.about(role);
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
                phases
                    .examine(dataset, title(None, &logs), rules.cloned())
                    .map_err(of_role)
            }
            Source::Dataset(earlier) => {
                let dataset = phases.reopen(&earlier).map_err(of_role)?;
                let title = title_of_earlier(None, &earlier);
                phases
                    .examine(dataset, title, rules.cloned())
                    .map_err(of_role)
            }
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
