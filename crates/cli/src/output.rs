//! The output folder: made, checked and claimed before hours of reading, and never at the cost of somebody's files.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use nccl_report_ingest::Table;

use crate::failure::Failure;

/// The folder of the Parquet tables, inside the output folder.
pub const DATASET: &str = "parquet";
/// The JSON, inside the output folder.
pub const JSON: &str = "report.json";
/// The JSON of a comparison, inside its folder.
pub const COMPARE_JSON: &str = "compare.json";
/// The folder of the datasets of single shards, inside the output folder of all.
pub const SHARDS: &str = "shards";
/// Everything that a comparison writes into its folder.
pub const COMPARISON_FILES: [&str; 3] = ["index.html", COMPARE_JSON, "plots"];
/// Everything that the program writes into an output folder.
pub const REPORT_FILES: [&str; 7] = [
    "index.html",
    JSON,
    "summary.csv",
    "slow_collectives.csv",
    "retransmits.csv",
    "plots",
    DATASET,
];

/// The dataset's own account, which is written last.
const MANIFEST: &str = "manifest.json";
/// How a report.json of this program gives itself away, near its beginning.
const SCHEMA: &str = "nccl-report/";
const COMPARE_SCHEMA: &str = "nccl-report-compare/";
const SCHEMA_WITHIN: u64 = 4096;

/// A folder that is there, is writable, and whose files that will be written are ours to replace.
///
/// Dropped before [`OutputFolder::keep`], it takes back the folder if it made it and nothing came into it.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    /// Made by this run.
    new: bool,
    kept: bool,
}

impl OutputFolder {
    /// Takes `path` for the files called `names`; `logs` are the inputs that must not be mixed up with it.
    pub fn claim(path: &Path, names: &[&str], logs: &[PathBuf]) -> Result<Self, Failure> {
        refuse_input(path, logs)?;
        refuse_foreign(path, names)?;
        let new = !path.exists();
        fs::create_dir_all(path).map_err(|e| cannot_write(path, &e))?;
        let folder = Self {
            path: path.to_owned(),
            new,
            kept: false,
        };
        // Asking beats looking at permission bits: read-only file systems, quotas, ACLs.
        tempfile::tempfile_in(path).map_err(|e| cannot_write(path, &e))?;
        Ok(folder)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the Parquet tables go.
    pub fn dataset(&self) -> PathBuf {
        self.path.join(DATASET)
    }

    /// What must not be read as input: the folder, or, where the logs lie inside it, what is written beside them.
    pub fn exclude(&self, logs: &[PathBuf]) -> Vec<PathBuf> {
        let holds_logs = logs.iter().any(|l| is_within(l, &self.path));
        if holds_logs {
            let files = REPORT_FILES.iter().chain(&COMPARISON_FILES);
            files.map(|f| self.path.join(f)).collect()
        } else {
            vec![self.path.clone()]
        }
    }

    /// There is something in it that is worth keeping.
    pub fn keep(&mut self) {
        self.kept = true;
    }

    /// Takes back a dataset without records, in a folder that this run made.
    pub fn discard(self) {
        if self.new {
            // What can't be removed stays.
            let _ = fs::remove_file(self.dataset().join(MANIFEST));
        }
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        if self.new && !self.kept && is_bare(&self.path) {
            // What can't be removed stays.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Whether a folder is a dataset: tables and their manifest, nothing else.
pub fn is_dataset(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file() && may_be_dataset(folder)
}

/// Whether a folder holds nothing but entries whose name `ours` accepts, and hidden ones.
pub fn holds_only(folder: &Path, ours: impl Fn(&str) -> bool) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.all(|entry| {
            entry.is_ok_and(|e| {
                let name = e.file_name();
                name.to_str().is_some_and(|n| n.starts_with('.') || ours(n))
            })
        })
    })
}

/// Writes aside and renames, so that a reader never sees half of it.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nccl-report-");
    // Temporary files are private by default; this one becomes an ordinary file, as the umask wants it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Also true of a dataset that was interrupted before its manifest was written.
fn may_be_dataset(folder: &Path) -> bool {
    holds_only(folder, |name| {
        name == MANIFEST || Table::ALL.iter().any(|t| t.folder() == name)
    })
}

/// Whether a file says near its beginning that it is of a schema of this program.
fn is_of(file: &Path, schema: &str) -> bool {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|f| f.take(SCHEMA_WITHIN).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(schema)
}

fn refuse_input(path: &Path, logs: &[PathBuf]) -> Result<(), Failure> {
    let Ok(out) = path.canonicalize() else {
        return Ok(());
    };
    match logs
        .iter()
        .find(|l| l.canonicalize().is_ok_and(|l| l == out))
    {
        None => Ok(()),
        Some(input) => Err(Failure::new(format_args!(
            "failed to write to {}: it is an input",
            path.display()
        ))
        .hint(format!(
            "a folder inside it is fine: --out {}",
            input.join("report").display()
        ))),
    }
}

fn refuse_foreign(path: &Path, names: &[&str]) -> Result<(), Failure> {
    // A report's page isn't a comparison's to replace, nor the other way round.
    let ours = if names.contains(&COMPARE_JSON) {
        is_of(&path.join(COMPARE_JSON), COMPARE_SCHEMA)
    } else {
        is_dataset(&path.join(DATASET)) || is_of(&path.join(JSON), SCHEMA)
    };
    let foreign = names.iter().find(|name| {
        let file = path.join(name);
        file.symlink_metadata().is_ok() && !ours && !(**name == DATASET && may_be_dataset(&file))
    });
    match foreign {
        None => Ok(()),
        Some(name) if names.contains(&COMPARE_JSON) => Err(Failure::new(format_args!(
            "failed to write to {}: its {name} isn't of an earlier comparison",
            path.display()
        ))
        .hint("name another folder with --out, or move that file away")),
        Some(name) => Err(Failure::new(format_args!(
            "failed to write to {}: its {name} wasn't written by nccl-report",
            path.display()
        ))
        .hint("name another folder with --out, or move that file away")),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format_args!(
        "failed to write to {}: {error}",
        path.display()
    ));
    match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            failure.hint("--out names a folder, and this is a file")
        }
        _ => failure.hint("name a folder that you may write to with --out"),
    }
}

/// Whether a path lies in a folder, or is it.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// Whether a folder holds no file but hidden ones, such as locks, however deep.
fn is_bare(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.all(|entry| {
            entry.is_ok_and(|e| {
                let hidden = e.file_name().to_string_lossy().starts_with('.');
                match e.file_type() {
                    Ok(kind) if kind.is_dir() => is_bare(&e.path()),
                    _ => hidden,
                }
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(path: &Path, logs: &[PathBuf]) -> Result<OutputFolder, String> {
        OutputFolder::claim(path, &REPORT_FILES, logs).map_err(|e| e.to_string())
    }

    #[test]
    fn an_input_is_no_output() {
        let logs = tempfile::tempdir().expect("a folder");
        let refused = claim(logs.path(), &[logs.path().to_owned()]);
        assert!(refused.is_err_and(|m| m.ends_with("it is an input")));
    }

    #[test]
    fn a_folder_inside_or_around_the_logs_is_fine() {
        let outer = tempfile::tempdir().expect("a folder");
        let logs = outer.path().join("logs");
        fs::create_dir(&logs).expect("a folder");
        let inside = logs.join("out");
        let mut out = claim(&inside, std::slice::from_ref(&logs)).expect("claimed");
        out.keep();
        assert_eq!(out.exclude(std::slice::from_ref(&logs)), [inside]);
        let around = claim(outer.path(), std::slice::from_ref(&logs)).expect("claimed");
        let excluded = around.exclude(std::slice::from_ref(&logs));
        assert!(excluded.contains(&outer.path().join("parquet")));
        assert!(!excluded.contains(&outer.path().to_owned()));
    }

    #[test]
    fn files_of_others_are_never_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("notes.txt"), "mine").expect("a file");
        assert!(claim(folder.path(), &[]).is_ok());
        fs::write(folder.path().join("index.html"), "my home page").expect("a file");
        let refused = claim(folder.path(), &[]);
        assert!(refused.is_err_and(|m| m.contains("index.html")));
    }

    #[test]
    fn a_parquet_folder_of_others_is_never_written_into() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("parquet")).expect("a folder");
        fs::write(folder.path().join("parquet/sales.parquet"), "x").expect("a file");
        assert!(claim(folder.path(), &[]).is_err());
    }

    #[test]
    fn an_earlier_report_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("index.html"), "…").expect("a file");
        fs::write(folder.path().join(JSON), r#"{"schema": "nccl-report/1"}"#).expect("a file");
        assert!(claim(folder.path(), &[]).is_ok());
    }

    #[test]
    fn a_comparison_replaces_comparisons_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let claim = || OutputFolder::claim(folder.path(), &COMPARISON_FILES, &[]);
        fs::write(folder.path().join("index.html"), "…").expect("a file");
        fs::write(folder.path().join(JSON), r#"{"schema": "nccl-report/1"}"#).expect("a file");
        assert!(claim().is_err(), "the page of a report");
        fs::write(
            folder.path().join(COMPARE_JSON),
            r#"{"schema": "nccl-report-compare/1"}"#,
        )
        .expect("a file");
        assert!(claim().is_ok());
    }

    #[test]
    fn an_interrupted_dataset_is_taken_up_again() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("parquet/collectives")).expect("folders");
        assert!(claim(folder.path(), &[]).is_ok());
    }

    #[test]
    fn a_new_folder_without_content_is_taken_back() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join("out");
        let out = claim(&path, &[]).expect("claimed");
        fs::create_dir_all(out.dataset().join("collectives")).expect("folders");
        for name in [MANIFEST, ".lock"] {
            fs::write(out.dataset().join(name), "{}").expect("a file");
        }
        out.discard();
        assert!(!path.exists());
    }

    #[test]
    fn a_new_folder_with_content_stays() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join("out");
        let out = claim(&path, &[]).expect("claimed");
        fs::create_dir(out.dataset()).expect("a folder");
        fs::write(out.dataset().join("a"), "x").expect("a file");
        drop(out);
        assert!(path.join("parquet/a").exists());
    }

    #[test]
    fn a_file_is_no_folder() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(claim(file.path(), &[]).is_err());
    }
}
