//! Collectives matched across ranks: what each took, who was late, what the link gave.

mod chunk;
pub(crate) mod example;
pub(crate) mod facts;
pub(crate) mod gather;
mod lateness;
pub(crate) mod matching;
pub(crate) mod order;
pub(crate) mod pool;
pub(crate) mod row;
pub(crate) mod trace;
pub(crate) mod transfer;
