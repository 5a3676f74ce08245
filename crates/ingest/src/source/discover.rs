//! Which files there are.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::database::database;
use super::name::{Kind, distinguish, kind, shown};
use crate::{Error, SkippedFile};

/// Why a pipe, a socket or a device isn't read.
const SPECIAL: &str = "neither a file nor a folder";

/// A file that may be a dump or an eBPF agent's database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// What it is called wherever it is shown: its path below the input that was named, or its file name if it was named itself. Where two
    /// inputs hold the same, folders of the input's path come in front.
    pub name: String,
    /// How to open it.
    pub path: PathBuf,
    /// Its length on disk when it was found.
    pub bytes: u64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// By name.
    pub files: Vec<Candidate>,
    /// What can't be looked at, by path.
    pub skipped: Vec<SkippedFile>,
}

/// Searches files and folders, the folders recursively, for what may be dumps or eBPF agents' databases.
///
/// A file that is named is taken whatever it is called; in folders the name decides, and for databases the first bytes too. Symbolic links are followed; a file or a folder that
/// is reached twice is taken once, under its real name rather than through a link. Never searched: the folders of `exclude`, and any
/// folder that holds a report or a dataset of this program.
///
/// # Errors
/// When an input doesn't exist, or is neither a file nor a folder.
pub fn discover(inputs: &[PathBuf], exclude: &[PathBuf]) -> Result<Found, Error> {
    let mut search = Search {
        excluded: exclude
            .iter()
            .filter_map(|path| fs::canonicalize(path).ok())
            .collect(),
        seen: BTreeSet::new(),
        found: Vec::new(),
        skipped: Vec::new(),
    };
    for input in inputs {
        let metadata = fs::metadata(input).map_err(|source| Error::Input {
            path: input.clone(),
            source,
        })?;
        if metadata.is_dir() {
            search.folder(input);
        } else if !metadata.is_file() {
            // Reading a pipe or a device would wait for ever, and files are read more than once.
            return Err(Error::Input {
                path: input.clone(),
                source: io::Error::new(io::ErrorKind::InvalidInput, SPECIAL),
            });
        } else {
            let name = input
                .file_name()
                .map_or_else(|| PathBuf::from("input"), PathBuf::from);
            search.file(input, input, &name, &metadata);
        }
    }
    Ok(search.finish())
}

/// What a file or folder is, whatever the path that leads to it.
type Identity = (u64, u64, PathBuf);

struct Search {
    excluded: BTreeSet<PathBuf>,
    seen: BTreeSet<Identity>,
    /// A candidate, its name yet to be made unique, and its input.
    found: Vec<(Candidate, PathBuf)>,
    skipped: Vec<SkippedFile>,
}

impl Search {
    fn folder(&mut self, root: &Path) {
        // Links are put off, so that what lies in the folder itself gets its real name.
        let mut links = self.walk(root, root, Path::new(""));
        while !links.is_empty() {
            links.sort();
            let mut more = Vec::new();
            for (target, below) in links {
                more.extend(self.link(root, &target, &below));
            }
            links = more;
        }
    }

    /// Walks a folder, called `below` in names. Gives the links in it.
    fn walk(&mut self, root: &Path, folder: &Path, below: &Path) -> Vec<(PathBuf, PathBuf)> {
        let mut links = Vec::new();
        let mut walk = WalkDir::new(folder).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(folder);
                    let relative = below.join(path.strip_prefix(folder).unwrap_or(path));
                    self.skip(&relative, &reason(error.io_error()));
                    continue;
                }
            };
            let path = entry.path();
            let relative = below.join(path.strip_prefix(folder).unwrap_or(path));
            // The entry that the walk begins with may be a link itself.
            let is_folder = entry.depth() == 0 || entry.file_type().is_dir();
            if is_folder {
                let is_root = entry.depth() == 0 && below.as_os_str().is_empty();
                if !self.enter(&entry, is_root) {
                    walk.skip_current_dir();
                }
            } else if entry.file_type().is_symlink() {
                links.push((path.to_owned(), relative));
            } else if !entry.file_type().is_file() {
                self.special(&relative);
            } else if !is_own_file(path, &entry) {
                self.in_a_folder(root, path, &relative);
            }
        }
        links
    }

    /// Whether to search a folder.
    fn enter(&mut self, entry: &DirEntry, is_root: bool) -> bool {
        let path = entry.path();
        // A folder that can't be looked at gives its error when it is read.
        let Ok(metadata) = fs::metadata(path) else {
            return true;
        };
        if !self.seen.insert(identity(path, &metadata)) {
            return false;
        }
        // The report may have been written into the folder of the dumps itself: then only what it wrote is left out.
        if is_root {
            return true;
        }
        let excluded = !self.excluded.is_empty()
            && fs::canonicalize(path).is_ok_and(|path| self.excluded.contains(&path));
        !excluded && !is_dataset(path) && !holds_dataset(path)
    }

    /// Follows a link.
    fn link(&mut self, root: &Path, target: &Path, below: &Path) -> Vec<(PathBuf, PathBuf)> {
        match fs::metadata(target) {
            Ok(metadata) if metadata.is_dir() => return self.walk(root, target, below),
            Ok(metadata) if metadata.is_file() => self.in_a_folder(root, target, below),
            Ok(_) => self.special(below),
            Err(error) => {
                if kind(&shown(below)) != Kind::Other {
                    self.skip(below, &format!("a broken link ({error})"));
                }
            }
        }
        Vec::new()
    }

    /// Passes over a pipe or a device, which would be waited for for ever; says so if its name is a dump's.
    fn special(&mut self, relative: &Path) {
        if kind(&shown(relative)) != Kind::Other {
            self.skip(relative, SPECIAL);
        }
    }

    /// Takes a file of a folder if its name is a dump's or a database's, or its first bytes are a database's.
    fn in_a_folder(&mut self, root: &Path, path: &Path, relative: &Path) {
        match kind(&shown(relative)) {
            Kind::Companion => {}
            Kind::Other if database(path).is_none() => {}
            Kind::Packed(packer) => self.skip(
                relative,
                &format!("compressed with {packer}, which isn't read here: decompress it first"),
            ),
            Kind::Dump | Kind::Database | Kind::Other => match fs::metadata(path) {
                Ok(metadata) => self.file(root, path, relative, &metadata),
                Err(error) => self.skip(relative, &reason(Some(&error))),
            },
        }
    }

    fn file(&mut self, input: &Path, path: &Path, relative: &Path, metadata: &Metadata) {
        if self.seen.insert(identity(path, metadata)) {
            let candidate = Candidate {
                name: shown(relative),
                path: path.to_owned(),
                bytes: metadata.len(),
            };
            // The file's own folder is what can tell it from another of the same name.
            let input = if input == path {
                path.parent().unwrap_or(input)
            } else {
                input
            };
            self.found.push((candidate, input.to_owned()));
        }
    }

    fn skip(&mut self, relative: &Path, reason: &str) {
        let path = shown(relative);
        self.skipped.push(SkippedFile {
            path: if path.is_empty() {
                ".".to_owned()
            } else {
                path
            },
            reason: reason.to_owned(),
        });
    }

    fn finish(mut self) -> Found {
        self.found.sort();
        let mut names: Vec<String> = self.found.iter().map(|(c, _)| c.name.clone()).collect();
        let inputs: Vec<&Path> = self
            .found
            .iter()
            .map(|(_, input)| input.as_path())
            .collect();
        distinguish(&mut names, &inputs);
        let mut files: Vec<Candidate> = self
            .found
            .into_iter()
            .zip(names)
            .map(|((candidate, _), name)| Candidate { name, ..candidate })
            .collect();
        files.sort();
        self.skipped.sort();
        Found {
            files,
            skipped: self.skipped,
        }
    }
}

/// Files that a report writes beside its dataset, should its folder be searched.
fn is_own_file(path: &Path, entry: &DirEntry) -> bool {
    let own = matches!(
        entry.file_name().to_str(),
        Some("report.json" | "compare.json" | "manifest.json")
    );
    own && path
        .parent()
        .is_some_and(|folder| is_dataset(folder) || holds_dataset(folder))
}

/// Whether the folder holds a dataset of this program, as the folder of a report does.
fn holds_dataset(folder: &Path) -> bool {
    is_dataset(&folder.join("parquet"))
}

/// Whether the folder is a dataset of this program, by its manifest.
fn is_dataset(folder: &Path) -> bool {
    let mut head = Vec::new();
    let Ok(file) = File::open(folder.join("manifest.json")) else {
        return false;
    };
    if file.take(4096).read_to_end(&mut head).is_err() {
        return false;
    }
    memchr::memmem::find(&head, b"nccl-report").is_some()
}

fn reason(error: Option<&io::Error>) -> String {
    match error.map(io::Error::kind) {
        Some(io::ErrorKind::PermissionDenied) => "permission denied".to_owned(),
        _ => error.map_or_else(
            || "can't be read".to_owned(),
            |e| format!("can't be read ({e})"),
        ),
    }
}

#[cfg(unix)]
fn identity(_: &Path, metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino(), PathBuf::new())
}

#[cfg(not(unix))]
fn identity(path: &Path, _: &Metadata) -> Identity {
    (
        0,
        0,
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
    )
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
