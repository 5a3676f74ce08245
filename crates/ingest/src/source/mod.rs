//! Files: which there are, and their bytes.

mod discover;
mod name;
mod open;

pub use discover::{Candidate, Found, discover};
pub use open::{Bytes, Fingerprint, Opened, fingerprint};
