//! Turns a dataset of NCCL Inspector records into facts and findings.

pub mod facts;

pub use nccl_report_ingest::units;
