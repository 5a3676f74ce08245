//! The files of a report: each written aside and renamed, so that nobody ever sees half a file.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use nccl_report_analyze::facts::Job;

use crate::figure::{self, Figure};
use crate::{
    Error, html, plot_file, report_json, retransmits_csv, slow_collectives_csv, summary_csv,
};

/// Lists the plots that an earlier report wrote, a name a line, so that those it no longer has can be removed and no others.
const INDEX: &str = ".nccl-report-index";

/// Where the report goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder; it is made if it isn't there, and files of other names in it stay.
    pub out: PathBuf,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The page for people.
    pub html: PathBuf,
    /// The facts for programs.
    pub json: PathBuf,
    /// The groups as a table.
    pub csv: PathBuf,
    /// The drawings, as in the page.
    pub plots: Vec<PathBuf>,
}

/// Writes `index.html`, `report.json`, `summary.csv` and `plots/*.svg`; with eBPF traces also `slow_collectives.csv` and `retransmits.csv`.
///
/// The page is written last: when it is there, so is what it links to. Plots of an earlier report that this one doesn't have are
/// removed.
///
/// # Errors
/// When a folder can't be made or a file can't be written. Files already written stay, whole.
pub fn write(job: &Job, options: &Options) -> Result<Written, Error> {
    let out = &options.out;
    let figures = figure::all(job);
    let page = html::page(job, &figures).map_err(|source| Error::Render {
        page: "index.html",
        source: source.into(),
    })?;
    let plots = write_plots(out, &figures)?;
    let (html, json, csv) = (
        out.join("index.html"),
        out.join("report.json"),
        out.join("summary.csv"),
    );
    put(&csv, &summary_csv(job))?;
    put_or_remove(&out.join("slow_collectives.csv"), slow_collectives_csv(job))?;
    put_or_remove(&out.join("retransmits.csv"), retransmits_csv(job))?;
    put(&json, &report_json(job))?;
    put(&html, &page)?;
    Ok(Written {
        html,
        json,
        csv,
        plots,
    })
}

pub(crate) fn write_plots(out: &Path, figures: &[Figure]) -> Result<Vec<PathBuf>, Error> {
    let folder = out.join("plots");
    fs::create_dir_all(&folder).map_err(|source| Error::CreateFolder {
        path: folder.clone(),
        source,
    })?;
    let index = folder.join(INDEX);
    let earlier = read_index(&index);
    let now: BTreeSet<String> = figures
        .iter()
        .map(|figure| plot_file::name(&figure.id))
        .collect();
    // Listed before they are written: a run that is killed in between leaves no plot that nobody knows.
    put(&index, &lines(earlier.union(&now)))?;
    for figure in figures {
        put(&folder.join(plot_file::name(&figure.id)), &figure.svg)?;
    }
    for stale in earlier.difference(&now) {
        let path = folder.join(stale);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(Error::RemoveStale { path, source });
            }
            _ => {}
        }
    }
    put(&index, &lines(&now))?;
    Ok(now.iter().map(|name| folder.join(name)).collect())
}

fn lines<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(|name| format!("{name}\n")).collect()
}

/// The plots of an earlier report. An index that can't be read lists nothing; a name that isn't one of ours isn't believed.
fn read_index(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter(|line| plot_file::is_ours(line))
        .map(str::to_owned)
        .collect()
}

/// Writes a file that not every report has; that of an earlier report which this one doesn't have goes.
fn put_or_remove(path: &Path, text: Option<String>) -> Result<(), Error> {
    if let Some(text) = text {
        return put(path, &text);
    }
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::RemoveStale {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}

/// Writes a file aside, in its own folder, and renames it.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_owned(),
        source,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nccl-report-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any file that a program creates: what the umask leaves. Temporary files are private otherwise.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut aside = builder.tempfile_in(folder).map_err(failed)?;
    aside.write_all(text.as_bytes()).map_err(failed)?;
    aside.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    fn options(out: &Path) -> Options {
        Options {
            out: out.to_owned(),
        }
    }

    #[test]
    fn writes_everything_and_nothing_half() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("deep/er");
        let job = synthetic::job();
        let written = write(&job, &options(&out)).expect("written");
        assert_eq!(
            names(&out),
            ["index.html", "plots", "report.json", "summary.csv"]
        );
        assert_eq!(
            fs::read_to_string(&written.json).expect("JSON"),
            report_json(&job)
        );
        assert_eq!(
            fs::read_to_string(&written.csv).expect("CSV"),
            summary_csv(&job)
        );
        let html = fs::read_to_string(&written.html).expect("HTML");
        for plot in &written.plots {
            let name = plot
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            assert!(
                html.contains(&format!("plots/{name}")),
                "{name} isn't linked"
            );
            assert!(plot.is_file());
        }
    }

    #[test]
    fn twice_gives_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = write(&synthetic::job(), &options(folder.path())).expect("written");
        let bytes = fs::read(&first.html).expect("HTML");
        let second = write(&synthetic::job(), &options(folder.path())).expect("written");
        assert_eq!(first, second);
        assert_eq!(fs::read(&second.html).expect("HTML"), bytes);
    }

    #[test]
    fn stale_plots_go_and_foreign_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let plots = folder.path().join("plots");
        fs::create_dir_all(&plots).expect("made");
        for name in ["old.svg", "mine.svg", "notes.txt"] {
            fs::write(plots.join(name), "x").expect("written");
        }
        fs::write(folder.path().join("precious.svg"), "x").expect("written");
        let index = "old.svg\n../precious.svg\n/etc/hostname\ngone.svg\n";
        fs::write(plots.join(INDEX), index).expect("written");
        let written = write(&synthetic::job(), &options(folder.path())).expect("written");
        let left = names(&plots);
        assert!(!left.contains(&"old.svg".to_owned()));
        assert!(left.contains(&"mine.svg".to_owned()) && left.contains(&"notes.txt".to_owned()));
        assert!(folder.path().join("precious.svg").exists());
        assert_eq!(left.len(), 3 + written.plots.len());
    }

    #[cfg(unix)]
    #[test]
    fn files_are_as_readable_as_any_other() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode();
        fs::write(folder.path().join("other"), "x").expect("written");
        let written = write(&synthetic::job(), &options(folder.path())).expect("written");
        assert_eq!(mode(&written.html), mode(&folder.path().join("other")));
    }

    #[test]
    fn errors_name_the_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("taken");
        fs::write(&file, "x").expect("written");
        let error = write(&synthetic::job(), &options(&file)).expect_err("a file isn't a folder");
        assert!(error.to_string().contains("taken/plots"), "{error}");
        fs::create_dir(folder.path().join("report.json")).expect("made");
        let error =
            write(&synthetic::job(), &options(folder.path())).expect_err("a folder isn't a file");
        assert!(error.to_string().starts_with("failed to write "), "{error}");
        assert!(error.to_string().contains("report.json"), "{error}");
        assert_eq!(
            names(folder.path()),
            ["plots", "report.json", "summary.csv", "taken"]
        );
    }
}
