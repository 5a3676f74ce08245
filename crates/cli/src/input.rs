//! What the user named as input: logs, or what an earlier run made of them.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::output::{self, DATASET, SHARDS};

/// Where the records come from.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    /// Dumps, still to be read.
    Logs(Vec<PathBuf>),
    /// A dataset that an earlier run wrote.
    Dataset(PathBuf),
}

impl Source {
    /// Tells the two apart.
    ///
    /// A folder counts as an earlier run's only when it holds nothing else: a folder of logs into which somebody once
    /// wrote a report is still a folder of logs.
    pub fn of(inputs: &[PathBuf]) -> Result<Self, Failure> {
        let earlier = inputs.iter().find_map(|i| Some((i, dataset_in(i)?)));
        match earlier {
            None => Ok(Self::Logs(inputs.to_vec())),
            Some((_, dataset)) if inputs.len() == 1 => Ok(Self::Dataset(dataset)),
            Some((input, _)) => Err(Failure::new(format_args!(
                "failed to combine the inputs: {} was written by an earlier run",
                input.display()
            ))
            .hint("give it alone, or give the logs that it was made from")),
        }
    }
}

/// Whether a folder was written by an earlier run.
pub fn is_earlier(folder: &Path) -> bool {
    dataset_in(folder).is_some()
}

/// The dataset that a folder is, or that a report folder holds.
fn dataset_in(folder: &Path) -> Option<PathBuf> {
    if output::is_dataset(folder) {
        return Some(folder.to_owned());
    }
    let inner = folder.join(DATASET);
    let only_ours = output::holds_only(folder, |name| {
        name == SHARDS || output::REPORT_FILES.contains(&name)
    });
    (output::is_dataset(&inner) && only_ours).then_some(inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn report_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("parquet/collectives")).expect("folders");
        fs::write(folder.path().join("parquet/manifest.json"), "{}").expect("a file");
        folder
    }

    #[test]
    fn a_report_folder_and_its_tables_are_a_dataset() {
        let folder = report_folder();
        let tables = folder.path().join("parquet");
        for named in [folder.path(), &tables] {
            let source = Source::of(&[named.to_owned()]).map_err(|e| e.to_string());
            assert_eq!(source, Ok(Source::Dataset(tables.clone())));
        }
    }

    #[test]
    fn logs_beside_an_earlier_report_are_logs() {
        let folder = report_folder();
        fs::write(folder.path().join("gpu-1-pid1.log"), "{}").expect("a file");
        let inputs = vec![folder.path().to_owned()];
        let source = Source::of(&inputs).map_err(|e| e.to_string());
        assert_eq!(source, Ok(Source::Logs(inputs)));
    }

    #[test]
    fn an_earlier_report_cannot_be_mixed_with_logs() {
        let folder = report_folder();
        let inputs = [folder.path().to_owned(), PathBuf::from("elsewhere")];
        let message = Source::of(&inputs).map_err(|e| e.to_string());
        assert!(message.is_err_and(|m| m.contains("earlier run")));
    }
}
