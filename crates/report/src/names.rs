//! Names of things in the outputs that the facts leave to them.

use nccl_report_analyze::facts::TimingSource;

/// As the records themselves call it.
pub(crate) const fn timing(of: TimingSource) -> &'static str {
    match of {
        TimingSource::KernelGpu => "kernel_gpu",
        TimingSource::Cpu => "cpu",
        TimingSource::Unknown => "unknown",
    }
}
