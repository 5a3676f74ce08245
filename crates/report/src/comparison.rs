//! The files of a comparison.

use std::path::PathBuf;

use nccl_report_analyze::facts::Comparison;

use crate::write::{put, write_plots};
use crate::{Error, Options, compare_json, figure, html};

/// What was written of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenComparison {
    /// The page for people.
    pub html: PathBuf,
    /// The facts for programs.
    pub json: PathBuf,
    /// The drawings, as in the page.
    pub plots: Vec<PathBuf>,
}

/// Writes `index.html`, `compare.json` and `plots/*.svg`, the page last.
///
/// # Errors
/// When a folder can't be made or a file can't be written. Files already written stay, whole.
pub fn write_comparison(
    comparison: &Comparison,
    options: &Options,
) -> Result<WrittenComparison, Error> {
    let out = &options.out;
    let figures = figure::of_comparison(comparison);
    let page = html::comparison_page(comparison, &figures).map_err(|source| Error::Render {
        page: "index.html",
        source: source.into(),
    })?;
    let plots = write_plots(out, &figures)?;
    let (html, json) = (out.join("index.html"), out.join("compare.json"));
    put(&json, &compare_json(comparison))?;
    put(&html, &page)?;
    Ok(WrittenComparison { html, json, plots })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::comparison;

    #[test]
    fn writes_the_same_bytes_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options {
            out: folder.path().join("out"),
        };
        let first = write_comparison(&comparison(), &options).expect("written");
        let read = |p: &PathBuf| std::fs::read(p).expect("a file");
        let bytes = (read(&first.html), read(&first.json));
        let second = write_comparison(&comparison(), &options).expect("written");
        assert_eq!(first, second);
        assert_eq!(bytes, (read(&second.html), read(&second.json)));
        let page = String::from_utf8(bytes.0).expect("UTF-8");
        for plot in &first.plots {
            let name = plot
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            assert!(page.contains(&name), "{name}");
        }
    }
}
