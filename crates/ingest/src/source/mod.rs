//! Files: which there are, and their bytes.

mod database;
mod discover;
mod name;
mod open;
mod read_ahead;

pub(crate) use database::{Database, content, database, log};
pub use discover::{Candidate, Found, discover};
pub(crate) use name::is_named_like_a_database;
pub use open::{Bytes, Fingerprint, Opened, fingerprint};
pub(crate) use read_ahead::ReadAhead;
