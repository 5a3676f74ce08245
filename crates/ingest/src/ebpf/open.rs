//! Opening a database without changing anything beside it, whoever else has it open.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use super::trouble::Trouble;
use crate::source::log;

/// How long a writer is waited for. Agents write for milliseconds at a time; one that holds its database longer keeps it to itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the header says whether changes go to a log first, and the value for it.
const WRITE_VERSION: usize = 18;
const LOGGED: u8 = 2;

/// Where the header says how long a page is, in two bytes; 1 stands for what they can't hold.
const PAGE_SIZE: usize = 16;
const LARGEST_PAGE: u64 = 1 << 16;
const SMALLEST_PAGE: u64 = 512;

/// An open database, and the folder of links or copies that it lies in, where one was needed.
pub(super) struct Opened {
    pub(super) db: Connection,
    _folder: Option<TempDir>,
}

impl Opened {
    /// Opens a database for reading. `scratch` is a folder for a copy, should one be needed.
    ///
    /// A reader of a logged database makes a file of shared memory beside it, and in a folder that can't be written it fails. So
    /// without a log the file alone is read, as what can't change; with a log that nobody has open, links to both are.
    pub(super) fn open(path: &Path, scratch: &Path) -> Result<Self, Trouble> {
        if log(path, "-journal").is_some() {
            return with_journal(path, scratch);
        }
        let logged = log(path, "-wal").is_some();
        if !logged && let Some(length) = ends_in_first_page(path) {
            return Err(Trouble::Damaged(format!(
                "it ends after {length} bytes, within its first page"
            )));
        }
        if !logged && is_logged(path) {
            return at(path, Mode::Immutable).map(|db| Self { db, _folder: None });
        }
        if logged && log(path, "-shm").is_none() {
            return aside(path, scratch, false);
        }
        match at(path, Mode::ReadOnly) {
            // Shared memory of another system, or a folder that can't be written.
            Err(Trouble::CannotOpen(_)) if logged => aside(path, scratch, false),
            opened => opened.map(|db| Self { db, _folder: None }),
        }
    }
}

/// A journal means that a writer is at work, or was killed before it was done; then its half is to be taken back, in a copy.
fn with_journal(path: &Path, scratch: &Path) -> Result<Opened, Trouble> {
    match at(path, Mode::ReadOnly) {
        Err(Trouble::CannotOpen(_)) => aside(path, scratch, true),
        opened => opened.map(|db| Opened { db, _folder: None }),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    ReadOnly,
    Immutable,
    ReadWrite,
}

fn at(path: &Path, mode: Mode) -> Result<Connection, Trouble> {
    let access = match mode {
        Mode::ReadWrite => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Mode::ReadOnly | Mode::Immutable => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = match (mode, uri(path)) {
        (Mode::Immutable, Some(uri)) => {
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        _ => Connection::open_with_flags(path, flags),
    }?;
    db.busy_timeout(PATIENCE)?;
    // The file may come from anyone: nothing in its schema is to run, and nothing is to be tidied up.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    match look(&db) {
        // A file that ends before its last page: what is before the end can be read once SQLite is told not to mind.
        Err(Trouble::Damaged(_)) => {
            db.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true)?;
            look(&db)?;
        }
        other => other?,
    }
    Ok(db)
}

/// All tables are to be of one moment, so the reading is one transaction, and it begins here.
fn look(db: &Connection) -> Result<(), Trouble> {
    let begun = if db.is_autocommit() {
        db.execute_batch("BEGIN")
    } else {
        Ok(())
    };
    begun.and_then(|()| {
        db.query_row("SELECT count(*) FROM sqlite_master", [], |r| {
            r.get::<_, i64>(0)
        })
    })?;
    Ok(())
}

/// Opens links to (or, where links can't be made, copies of) the database and its log in a folder of their own.
fn aside(path: &Path, scratch: &Path, journal: bool) -> Result<Opened, Trouble> {
    let failed = |error: io::Error| Trouble::CannotOpen(format!("no copy can be made: {error}"));
    fs::create_dir_all(scratch).map_err(failed)?;
    let folder = tempfile::Builder::new()
        .prefix(crate::dataset::TEMPORARY_PREFIX)
        .tempdir_in(scratch)
        .map_err(failed)?;
    let copy = folder.path().join("database");
    let real = fs::canonicalize(path).map_err(failed)?;
    let bring = |from: &Path, to: &Path| {
        // What is to be rolled back is changed, so a link won't do.
        if journal || fs::hard_link(from, to).is_err() {
            fs::copy(from, to)?;
        }
        Ok(())
    };
    bring(&real, &copy).map_err(failed)?;
    for suffix in ["-wal", "-journal"] {
        if let Some(log) = log(path, suffix) {
            let mut to = copy.clone().into_os_string();
            to.push(suffix);
            bring(&log, &PathBuf::from(to)).map_err(failed)?;
        }
    }
    let mode = if journal {
        Mode::ReadWrite
    } else {
        Mode::ReadOnly
    };
    at(&copy, mode).map(|db| Opened {
        db,
        _folder: Some(folder),
    })
}

fn is_logged(path: &Path) -> bool {
    let mut head = [0; WRITE_VERSION + 1];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut head))
        .is_ok()
        && head[WRITE_VERSION] == LOGGED
}

/// The length of a file that ends before its first page does. SQLite takes what is missing for zeros, and such a database for an empty one
/// or none.
fn ends_in_first_page(path: &Path) -> Option<u64> {
    let file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut head = Vec::new();
    file.take(PAGE_SIZE as u64 + 2)
        .read_to_end(&mut head)
        .ok()?;
    let page = match head.get(PAGE_SIZE..) {
        Some(&[0, 1]) => LARGEST_PAGE,
        Some(&[high, low]) => u64::from(u16::from_be_bytes([high, low])),
        _ => SMALLEST_PAGE,
    };
    (length < page).then_some(length)
}

/// The path as SQLite's URI for a file that doesn't change; `None` where it isn't text.
fn uri(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    let mut uri = String::from("file:");
    for byte in path.to_str()?.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    Some(uri)
}
