//! The usual line, recognised instead of parsed: its head is compared with that of a line that has been parsed before, and the rest must
//! have exactly the shape that the plugin writes. Whatever differs in a single byte goes to the parser, which is the reference: for every
//! text both give the same, or this gives nothing.

mod digits;
mod scan;
mod template;
mod trace;

pub(super) use scan::{Payload, payload};
pub(super) use template::Templates;
pub(super) use trace::Spare;
