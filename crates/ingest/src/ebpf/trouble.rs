//! Why a database can't be read, in words.

use std::fmt;

use rusqlite::ErrorCode;

/// What stands against reading a database, or the rest of it.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Another program keeps it to itself.
    InUse,
    /// Not SQLite's, or encrypted.
    NotADatabase,
    /// Pages are missing or don't hold together.
    Damaged(String),
    /// It can't be opened.
    CannotOpen(String),
    /// Whatever else SQLite says.
    Other(String),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse,
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::SystemIoFailure) => Self::Damaged(text),
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::CannotOpen(text)
            }
            _ => Self::Other(text),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse => f.write_str(
                "another program keeps the database locked; read it again when that has stopped, or copy it with sqlite3's .backup",
            ),
            Self::NotADatabase => {
                f.write_str("it begins like a SQLite database and isn't one, or is encrypted")
            }
            Self::Damaged(why) => write!(f, "the database is damaged or cut off ({why})"),
            Self::CannotOpen(why) => write!(f, "the database can't be opened ({why})"),
            Self::Other(why) => write!(f, "the database can't be read ({why})"),
        }
    }
}
