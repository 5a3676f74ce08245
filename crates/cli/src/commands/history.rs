//! The runs before: which there are, and what is kept of each.

use std::fs;
use std::path::{Path, PathBuf};

use nccl_report_analyze::{Examined, HistoryBuilder};

use super::compare::Reader;
use crate::exit::Status;
use crate::failure::Failure;
use crate::input;
use crate::settings::Compare;

/// Runs that an error names.
const NAMED: usize = 3;

/// The earlier runs, read.
pub struct Earlier<'a> {
    pub builder: HistoryBuilder<'a>,
    /// The latest that can be used.
    pub latest: Option<PathBuf>,
}

/// Reads the runs one after the other. What can't be read is left out and named.
pub fn read<'a>(
    reader: &Reader<'_>,
    folders: &[PathBuf],
    settings: &Compare,
    candidate: &'a Examined,
) -> Result<Earlier<'a>, Failure> {
    let mut builder = HistoryBuilder::new(candidate, settings.allow_partial);
    let mut added = Vec::new();
    let the_candidate = settings.candidate.canonicalize().ok();
    let mut met = Vec::new();
    for path in folders.iter().flat_map(|f| runs_in(f)) {
        let name = path.display().to_string();
        let canonical = path.canonicalize().ok();
        if canonical.is_some() && canonical == the_candidate {
            builder.leave_out(name, "it is the candidate".to_owned());
            continue;
        }
        if canonical.as_ref().is_some_and(|c| met.contains(c)) {
            builder.leave_out(name, "it was given before".to_owned());
            continue;
        }
        met.extend(canonical);
        match reader.examined(&path, "a run of the history", None) {
            Ok(run) => {
                builder.add(&run);
                added.push(path);
            }
            Err(failure) if failure.status() == Status::Interrupted => return Err(failure),
            Err(failure) => builder.leave_out(name, failure.cause()),
        }
    }
    builder.sort();
    let latest = builder.latest().and_then(|n| added.get(n).cloned());
    Ok(Earlier { builder, latest })
}

/// The runs that an argument names: the report folders in it, in order of their names, where it is a folder of such; else itself.
fn runs_in(folder: &Path) -> Vec<PathBuf> {
    if input::is_earlier(folder) {
        return vec![folder.to_owned()];
    }
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut inside: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| input::is_earlier(p))
        .collect();
    inside.sort();
    if inside.is_empty() {
        vec![folder.to_owned()]
    } else {
        inside
    }
}

/// Why there is nothing to compare with.
pub fn nothing(earlier: Option<&Earlier<'_>>) -> Failure {
    let left_out = earlier.map_or(&[][..], |e| e.builder.left_out());
    let mut why: Vec<String> = (left_out.iter().take(NAMED))
        .map(|l| format!("{}: {}", l.name, l.reason))
        .collect();
    if left_out.len() > NAMED {
        why.push(format!("{} more", left_out.len() - NAMED));
    }
    Failure::new(format_args!(
        "failed to find a run in the history that compares with the candidate: {}",
        why.join("; ")
    ))
}
