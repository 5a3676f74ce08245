//! Parts to one dataset: the very one that a single machine would have made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::link::bring;
use super::part::Part;
use crate::dataset::{Folder, Manifest, Unfinished, name_copies, remove};
use crate::{Dataset, Error};

/// Parts that an error names, at most.
const NAMED: usize = 5;

/// What to merge, and where to.
#[derive(Debug, Clone)]
pub struct MergeOptions {
    /// Datasets of all shards of one job, in any order.
    pub parts: Vec<PathBuf>,
    /// The folder of the whole dataset.
    pub dataset: PathBuf,
    /// Set to `true` to stop early.
    pub cancel: Arc<AtomicBool>,
}

/// Makes one dataset of the parts; gives it, and what the job is called. The parts stay as they are, and their files are
/// shared with them where the file system can do that.
///
/// # Errors
/// When the parts don't make a whole: one that isn't whole itself, is missing, is there twice, or is of other files; with its name.
/// When the dataset can't be written, or another run is writing it; when cancelled.
pub fn merge(options: &MergeOptions) -> Result<(Dataset, String), Error> {
    let loaded = load(&options.parts)?;
    let folder = Folder::lock(&options.dataset)?;
    let earlier = Manifest::load(folder.root())
        .map(|m| m.table_paths().collect())
        .unwrap_or_default();
    let mut whole = Manifest::alike(&loaded[0].manifest);
    let unfinished = Unfinished::new(&folder, whole.clone());

    loaded.par_iter().try_for_each(|part| {
        part.manifest.tables().par_bridge().try_for_each(|file| {
            if options.cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            bring(file, &part.path, folder.root(), || unfinished.mark())
        })
    })?;
    let job = loaded[0].part.job.clone();
    let copies = loaded[0].part.copies.clone();
    for part in loaded {
        whole.files.extend(part.manifest.files);
        whole.skipped.extend(part.manifest.skipped);
    }
    // What can't be looked at is the same to all.
    whole.sort();
    whole.skipped.dedup();
    name_copies(&copies, &mut whole);
    whole.sort();
    for path in folder.stale(&earlier, &whole)? {
        unfinished.mark()?;
        remove(&path)?;
    }
    whole.complete = true;
    whole.save(folder.root())?;
    Ok((Dataset::new(folder.root(), &whole), job))
}

struct Loaded {
    path: PathBuf,
    manifest: Manifest,
    part: Part,
}

/// Reads the manifests, and sees that they are of all shards of one job.
fn load(paths: &[PathBuf]) -> Result<Vec<Loaded>, Error> {
    let mut by_index: BTreeMap<u32, Loaded> = BTreeMap::new();
    let fail = |reason: String| Err(Error::Parts { reason });
    for path in paths {
        let loaded = load_one(path)?;
        let shard = loaded.part.shard;
        if let Some(first) = by_index.values().next() {
            if first.part.shard.of() != shard.of() {
                return fail(format!(
                    "{} is shard {}, and {} is shard {shard}: they are of different runs",
                    first.path.display(),
                    first.part.shard,
                    path.display()
                ));
            }
            if (first.part.listing, &first.part.copies)
                != (loaded.part.listing, &loaded.part.copies)
            {
                return fail(format!(
                    "{} (shard {}, {} files in all) and {} (shard {shard}, {} files in all) were made of different inputs; \
                     read again the one that was made before the input changed",
                    first.path.display(),
                    first.part.shard,
                    first.part.files,
                    path.display(),
                    loaded.part.files
                ));
            }
            if !first.manifest.is_reusable_by(&loaded.manifest) {
                return fail(format!(
                    "{} and {} were made by different versions of this program, or with different compression levels",
                    first.path.display(),
                    path.display()
                ));
            }
        }
        if let Some(other) = by_index.insert(shard.index(), loaded) {
            return fail(format!(
                "shard {shard} is there twice: {} and {}",
                other.path.display(),
                path.display()
            ));
        }
    }
    let Some(of) = by_index.values().next().map(|l| l.part.shard.of()) else {
        return fail("none was given".to_owned());
    };
    let missing: Vec<String> = (0..of)
        .filter(|i| !by_index.contains_key(i))
        .map(|i| format!("{i}/{of}"))
        .collect();
    if missing.is_empty() {
        return Ok(by_index.into_values().collect());
    }
    let named = missing[..missing.len().min(NAMED)].join(", ");
    let more = match missing.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    fail(format!(
        "{} missing: {named}{more}",
        if missing.len() == 1 {
            "a shard is"
        } else {
            "shards are"
        }
    ))
}

fn load_one(path: &Path) -> Result<Loaded, Error> {
    let fail = |reason: &str| Error::Parts {
        reason: format!("{}: {reason}", path.display()),
    };
    let manifest = Manifest::load(path).map_err(|reason| fail(&reason))?;
    let Some(part) = manifest.part.clone() else {
        return Err(fail("it is a whole dataset, made without a shard's number"));
    };
    if !manifest.complete {
        return Err(fail(&format!(
            "the run that read shard {} was stopped before it was done; run it again",
            part.shard
        )));
    }
    Ok(Loaded {
        path: path.to_owned(),
        manifest,
        part,
    })
}
