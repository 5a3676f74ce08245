//! The flow: find files, set copies and unchanged ones aside, read the others in parallel, write tables.

mod one_database;
mod one_file;
mod plan;
mod slices;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::dataset::{Folder, Manifest, Unfinished, name_copies, remove};
use crate::shard::{Part, Shard};
use crate::source::discover;
use crate::{Dataset, Error, Progress};

use one_file::{Outcome, read_one};
use plan::Plan;

/// What to read and where to write.
#[derive(Debug, Clone)]
pub struct Options {
    /// Files and folders, the folders searched recursively.
    pub inputs: Vec<PathBuf>,
    /// The folder of the dataset, `OUT/parquet`.
    pub dataset: PathBuf,
    /// Folders never read as input, such as `OUT`.
    pub exclude: Vec<PathBuf>,
    /// zstd level of the Parquet files.
    pub compression_level: i32,
    /// Read only a share of the files; `None` reads all.
    pub share: Option<Share>,
    /// Set to `true` to stop early.
    pub cancel: Arc<AtomicBool>,
}

/// A share of a job, of which other machines read the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Which.
    pub shard: Shard,
    /// What the whole job is called.
    pub job: String,
}

/// Reads the inputs into the dataset. What an earlier run made of inputs with the same content stays as it is.
///
/// # Errors
/// When an input path doesn't exist, when the dataset can't be written or another run is writing it, when cancelled. What was
/// finished until then is used by the next run; nothing half-written stays.
pub fn ingest(options: &Options, progress: &dyn Progress) -> Result<Dataset, Error> {
    let found = discover(&options.inputs, &options.exclude)?;
    progress.discovered(
        found.files.len() as u64,
        found.files.iter().map(|file| file.bytes).sum(),
    );
    let folder = Folder::lock(&options.dataset)?;
    let mut manifest = Manifest::new(options.compression_level);
    let plan = Plan::make(options, &folder, &manifest, found, progress)?;
    manifest.part = options.share.as_ref().map(|share| Part {
        shard: share.shard,
        job: share.job.clone(),
        files: plan.files,
        listing: plan.listing,
        copies: plan.copies.clone(),
    });
    manifest.skipped.clone_from(&plan.skipped);
    manifest.files = plan.kept().cloned().collect();

    let unfinished = Unfinished::new(&folder, manifest.clone());
    let (done, error) = read_all(options, &plan, progress, &unfinished);
    for outcome in done {
        match outcome {
            Outcome::Read(entry) => manifest.files.push(*entry),
            Outcome::Unreadable(skipped) => manifest.skipped.push(skipped),
        }
    }
    manifest.sort();
    if let Some(error) = error {
        if unfinished.is_marked() {
            // The reason to stop matters more than whether the next run finds what this one did.
            let _ = manifest.save(folder.root());
        }
        return Err(error);
    }
    if options.share.is_none() {
        // Of a share, the file that is used may be another's: whoever merges names them.
        name_copies(&plan.copies, &mut manifest);
        manifest.sort();
    }
    for path in folder.stale(&plan.earlier, &manifest)? {
        unfinished.mark()?;
        remove(&path)?;
    }
    manifest.complete = true;
    manifest.save(folder.root())?;
    Ok(Dataset::new(folder.root(), &manifest))
}

/// A file of fewer bytes is read before a thread has started.
const WORTH_A_THREAD: u64 = 1 << 20;

/// Reads what the plan says must be read, the largest files first so that no thread is left with a large one at the end. After an
/// error, what was finished and the error.
fn read_all(
    options: &Options,
    plan: &Plan,
    progress: &dyn Progress,
    unfinished: &Unfinished<'_>,
) -> (Vec<Outcome>, Option<Error>) {
    let mut order: Vec<_> = plan.to_read().collect();
    order.sort_by_key(|step| std::cmp::Reverse(step.candidate.bytes));
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let worker = |_: rayon::BroadcastContext<'_>| {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(step) = order.get(place) else {
                break;
            };
            // Fewer files are left than threads: another one has time to read and inflate.
            let ahead = order.len() - place < rayon::current_num_threads()
                && step.candidate.bytes > WORTH_A_THREAD;
            match read_one(options, step, ahead, progress, || unfinished.mark()) {
                Ok(outcome) => done.push(outcome),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return (done, Some(error));
                }
            }
        }
        (done, None)
    };
    let mut all = Vec::new();
    let mut first_error = None;
    for (done, error) in rayon::broadcast(worker) {
        all.extend(done);
        first_error = first_error.or(error);
    }
    (all, first_error)
}
