//! Collectives matched across ranks: what each took, who was late, what the link gave.

pub(crate) mod facts;
pub(crate) mod gather;
pub(crate) mod matching;
pub(crate) mod trace;
