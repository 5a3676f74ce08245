//! The databases that the user says the host of, among what was read.
//!
//! What is named by hand is meant: a name that can't be followed is an error, and no note beside a report without it.

use std::fs;
use std::path::{Path, PathBuf};

use nccl_report_ingest::{Dataset, SourceFile};

use super::attribution::alike;
use crate::Error;

/// Makes sure that every database that was named is one that was read, and of one host.
///
/// # Errors
/// [`Error::Trace`], with what stands against it.
pub(crate) fn check(dataset: &Dataset, given: &[(String, PathBuf)]) -> Result<(), Error> {
    let traces: Vec<&SourceFile> = dataset
        .files()
        .iter()
        .filter(|file| file.trace.is_some())
        .collect();
    let paths: Vec<&str> = traces.iter().map(|file| file.path.as_str()).collect();
    for (i, (host, file)) in given.iter().enumerate() {
        let wrong = |why| Error::Trace {
            host: host.clone(),
            file: file.clone(),
            why,
        };
        let one = match meant(file, &paths).as_slice() {
            [] => return Err(wrong(why_none(dataset, file))),
            &[one] => one,
            several => {
                let names: Vec<&str> = several.iter().map(|&k| paths[k]).collect();
                return Err(wrong(format!(
                    "it may be any of {}: give more of its path",
                    names.join(", ")
                )));
            }
        };
        let other = given[..i]
            .iter()
            .find(|(before, path)| !alike(before, host) && meant(path, &paths) == [one]);
        if let Some((before, _)) = other {
            return Err(wrong(format!("it is given for host {before} as well")));
        }
    }
    Ok(())
}

/// Which of the inputs a path means, by their place: those of which it is the end, or that are its end; of several the one that shares
/// most of it.
pub(super) fn meant(typed: &Path, inputs: &[&str]) -> Vec<usize> {
    // "./a.db" and "../a.db" are the ends of no path.
    let real = fs::canonicalize(typed).ok();
    let ways = [Some(typed), real.as_deref()];
    let shared = |input: &str| {
        let input = Path::new(input);
        let is = |way: &&Path| way.ends_with(input) || input.ends_with(way);
        let parts = |way: &Path| way.components().count().min(input.components().count());
        let ways = ways.iter().flatten().copied();
        ways.filter(is).map(parts).max()
    };
    let each: Vec<Option<usize>> = inputs.iter().map(|input| shared(input)).collect();
    let most = each.iter().copied().max().flatten();
    let found = each.iter().enumerate();
    found
        .filter(|(_, parts)| parts.is_some() && **parts == most)
        .map(|(k, _)| k)
        .collect()
}

/// Why no trace that was read is meant.
fn why_none(dataset: &Dataset, file: &Path) -> String {
    let account = dataset.inputs();
    let skipped = || account.files_skipped.iter();
    let names: Vec<&str> = skipped().map(|s| s.path.as_str()).collect();
    if file.is_dir() {
        return "it is a folder; name the database in it".to_owned();
    }
    if let Some(skipped) = meant(file, &names).first().and_then(|&k| skipped().nth(k)) {
        return skipped.reason.clone();
    }
    let names: Vec<&str> = dataset.files().iter().map(|f| f.path.as_str()).collect();
    if !meant(file, &names).is_empty() {
        return "it isn't a database of an eBPF agent".to_owned();
    }
    if file.exists() {
        "it isn't among what was read".to_owned()
    } else {
        "there is no such file, and none that was read ends so".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_the_input_that_shares_most_of_it() {
        let inputs = ["a.db", "n/a.db", "m/n/a.db", "m/b.db"];
        let of = |typed: &str| -> Vec<&str> {
            let found = meant(Path::new(typed), &inputs);
            found.into_iter().map(|k| inputs[k]).collect()
        };
        assert_eq!(of("/data/n/a.db"), ["n/a.db"]);
        assert_eq!(of("/data/m/n/a.db"), ["m/n/a.db"]);
        assert_eq!(of("b.db"), ["m/b.db"]);
        assert_eq!(of("/else/c.db"), [""; 0]);
        // The end of three, and the whole of none more than of another.
        assert_eq!(of("a.db"), ["a.db", "n/a.db", "m/n/a.db"]);
    }
}
