//! What is to be read: found files without copies, and without those whose tables an earlier run made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::Options;
use crate::dataset::{Copy, Entry, Folder, Manifest, Stems, find_copies};
use crate::shard::{NamedCopy, listing};
use crate::source::{Candidate, Fingerprint, Found, content};
use crate::{Error, Progress, SkippedFile};

/// What to do with each file.
pub(super) struct Plan {
    steps: Vec<Step>,
    /// Copies, among all files of the job.
    pub(super) copies: Vec<NamedCopy>,
    /// Files of the whole job that aren't copies.
    pub(super) files: u64,
    /// Their names.
    pub(super) listing: Fingerprint,
    /// Files that were passed over before anything was read.
    pub(super) skipped: Vec<SkippedFile>,
    /// Parquet files that the manifest of an earlier run lists.
    pub(super) earlier: BTreeSet<PathBuf>,
}

/// A file that is used.
pub(super) struct Step {
    pub(super) candidate: Candidate,
    pub(super) stem: String,
    /// What an earlier run made of the same content, if it is still whole.
    kept: Option<Entry>,
}

impl Plan {
    pub(super) fn make(
        options: &Options,
        folder: &Folder,
        manifest: &Manifest,
        found: Found,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let cancel = &*options.cancel;
        let earlier = Manifest::load(folder.root()).ok();
        let mut plan = Self {
            steps: Vec::new(),
            copies: Vec::new(),
            files: 0,
            listing: listing(&[]),
            skipped: found.skipped,
            earlier: earlier.iter().flat_map(Manifest::table_paths).collect(),
        };
        let entries = earlier
            .filter(|earlier| earlier.is_reusable_by(manifest))
            .map(Manifest::into_entries)
            .unwrap_or_default();
        let copies = find_copies(&found.files, cancel)?;
        let mut stems = Stems::default();
        for (file, copy) in found.files.iter().zip(copies) {
            let stem = stems.stem(&file.name);
            match copy {
                None => plan.steps.push(Step {
                    candidate: file.clone(),
                    stem,
                    kept: None,
                }),
                Some(Copy { of, whole }) => {
                    progress.advanced(file.bytes, 0);
                    progress.file_done();
                    plan.copies.push(NamedCopy {
                        name: file.name.clone(),
                        of: found.files[of].name.clone(),
                        whole,
                    });
                }
            }
        }
        plan.share(options, progress);
        plan.steps.par_iter_mut().for_each(|step| {
            step.kept = unchanged(step, &entries, folder, cancel).cloned();
            if let Some(entry) = &step.kept {
                progress.advanced(step.candidate.bytes, entry.tally.records.values().sum());
                progress.file_done();
            }
        });
        match cancel.load(Ordering::Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(plan),
        }
    }

    /// Keeps the files of this machine's share.
    fn share(&mut self, options: &Options, progress: &dyn Progress) {
        let names: Vec<&str> = self
            .steps
            .iter()
            .map(|s| s.candidate.name.as_str())
            .collect();
        self.files = names.len() as u64;
        self.listing = listing(&names);
        let Some(share) = &options.share else {
            return;
        };
        let mine: BTreeSet<usize> = share.shard.places(&names).into_iter().collect();
        let mut place = 0;
        self.steps.retain(|step| {
            let keep = mine.contains(&place);
            place += 1;
            if !keep {
                progress.advanced(step.candidate.bytes, 0);
                progress.file_done();
            }
            keep
        });
    }

    /// Entries of files that needn't be read again.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Entry> {
        self.steps.iter().filter_map(|step| step.kept.as_ref())
    }

    /// Files to read.
    pub(super) fn to_read(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.kept.is_none())
    }
}

/// The earlier entry of this file, if content and tables are what they were. Times say nothing: clocks jump, copies keep them.
fn unchanged<'a>(
    step: &Step,
    entries: &'a BTreeMap<String, Entry>,
    folder: &Folder,
    cancel: &AtomicBool,
) -> Option<&'a Entry> {
    let entry = entries.get(&step.stem)?;
    let before = (entry.raw?, entry.bytes);
    let stopped = || cancel.load(Ordering::Relaxed);
    if entry.name != step.candidate.name || entry.bytes != step.candidate.bytes || stopped() {
        return None;
    }
    let now = content(&step.candidate.path).ok()?;
    (now == before && entry.is_whole(folder.root())).then_some(entry)
}
