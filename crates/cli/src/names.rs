//! What a job is called, from the inputs that the user named.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// What a job is called whose inputs have nothing in common but the root folder.
const NAMELESS: &str = "nccl";
const REPORT: &str = "-report";

/// The job's name: that of the one input, or of the folder that holds all of them.
pub fn job(inputs: &[PathBuf]) -> OsString {
    let name = match inputs {
        [one] => match one.file_name() {
            Some(name) => Some(name.to_owned()),
            None => canonical(one).file_name().map(OsStr::to_owned),
        },
        several => common_folder(several).file_name().map(OsStr::to_owned),
    };
    let name = name.unwrap_or_else(|| NAMELESS.into());
    match inputs {
        [one] if one.is_file() => without_extension(&name).to_owned(),
        _ => name,
    }
}

/// Where the report goes when `--out` doesn't say: `./NAME-report`.
pub fn report_folder(inputs: &[PathBuf]) -> PathBuf {
    let mut name = job(inputs);
    name.push(REPORT);
    PathBuf::from(name)
}

/// Where a comparison goes when `--out` doesn't say: `./NAME-compared`.
pub fn comparison_folder(candidate: &Path) -> PathBuf {
    let mut name = job_of_report(candidate);
    name.push("-compared");
    PathBuf::from(name)
}

/// The name of the job that a report folder is about.
pub fn job_of_report(folder: &Path) -> OsString {
    let name = job(&[folder.to_owned()]);
    match name.to_str().and_then(|n| n.strip_suffix(REPORT)) {
        Some(stripped) if !stripped.is_empty() => stripped.into(),
        _ => name,
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize()
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

fn common_folder(inputs: &[PathBuf]) -> PathBuf {
    let mut paths = inputs.iter().map(|p| canonical(p));
    let first = paths.next().unwrap_or_default();
    paths.fold(first, |common, path| {
        let shared: Vec<Component<'_>> = common
            .components()
            .zip(path.components())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a)
            .collect();
        shared.iter().collect()
    })
}

fn without_extension(name: &OsStr) -> &OsStr {
    let mut path = Path::new(name);
    for known in [&["gz"][..], &["log", "jsonl", "json"]] {
        let is_known = path
            .extension()
            .is_some_and(|e| known.iter().any(|k| e == *k));
        if let (true, Some(stem)) = (is_known, path.file_stem()) {
            path = Path::new(stem);
        }
    }
    path.as_os_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(inputs: &[&str]) -> String {
        let inputs: Vec<PathBuf> = inputs.iter().map(PathBuf::from).collect();
        job(&inputs).to_string_lossy().into_owned()
    }

    #[test]
    fn a_folder_gives_its_name() {
        assert_eq!(name(&["/logs/job42"]), "job42");
        assert_eq!(name(&["/logs/job42/"]), "job42");
        assert_eq!(name(&["job42/."]), "job42");
        // A dot belongs to a folder's name, whatever it looks like.
        assert_eq!(name(&["/logs/run.log"]), "run.log");
    }

    #[test]
    fn a_dot_stands_for_the_folder_it_is() {
        let here = std::env::current_dir().expect("a current folder");
        let expected = here.file_name().expect("a name").to_string_lossy();
        assert_eq!(name(&["."]), expected);
    }

    #[test]
    fn the_root_and_inputs_without_a_common_folder_get_a_stand_in() {
        assert_eq!(name(&["/"]), "nccl");
        assert_eq!(name(&["/no-such-a/x", "/no-such-b/x"]), "nccl");
        assert_eq!(
            report_folder(&[PathBuf::from("/")]),
            Path::new("nccl-report")
        );
    }

    #[test]
    fn several_inputs_are_called_after_the_folder_that_holds_them() {
        assert_eq!(
            name(&["/no-such/job42/a.log", "/no-such/job42/b.log"]),
            "job42"
        );
        assert_eq!(
            name(&["/no-such/job42/n1/a", "/no-such/job42/n2/a"]),
            "job42"
        );
    }

    #[test]
    fn a_file_gives_its_name_without_what_says_that_it_is_a_dump() {
        assert_eq!(without_extension("a.b-pid1.log.gz".as_ref()), "a.b-pid1");
        assert_eq!(without_extension("x.jsonl".as_ref()), "x");
        assert_eq!(without_extension("x.txt".as_ref()), "x.txt");
        assert_eq!(without_extension(".gz".as_ref()), ".gz");
    }

    #[test]
    fn the_report_of_a_job_knows_its_job() {
        assert_eq!(job_of_report(Path::new("/r/job42-report")), "job42");
        assert_eq!(job_of_report(Path::new("/r/-report")), "-report");
        assert_eq!(job_of_report(Path::new("/r/other")), "other");
    }
}
