//! The reader from bytes to records, through its public door.

mod dialects;
mod files;
mod genuine;
mod markers;
mod properties;
mod refusals;
mod repairs;
mod support;
