//! How far the work is, on a terminal's stderr.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use nccl_report_ingest::Progress;

use crate::settings::Loudness;
use crate::ui::text::abbreviated;

const TICK: Duration = Duration::from_millis(100);
/// Fits 80 columns with numbers of seven digits.
const READING: &str = "{spinner} {bar:12} {binary_bytes}/{binary_total_bytes} · {files} files · {rate} records/s · {eta} left";
const LOOKING: &str = "{spinner} looking for dumps";
const BUSY: &str = "{spinner} {msg}";

/// A line that says what is going on; silent unless somebody watches.
pub struct Line {
    bar: ProgressBar,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    files: AtomicU64,
    files_done: AtomicU64,
    records: AtomicU64,
}

impl Line {
    /// A line while the dumps are read.
    pub fn reading(loudness: Loudness) -> Self {
        Self::with(loudness, style(LOOKING))
    }

    /// A line while something runs whose end can't be foreseen.
    pub fn busy(loudness: Loudness, what: &'static str) -> Self {
        let line = Self::with(loudness, style(BUSY));
        line.bar.set_message(what);
        line
    }

    fn with(loudness: Loudness, style: ProgressStyle) -> Self {
        let watched = loudness > Loudness::Quiet && stderr().is_terminal();
        let bar = if watched {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        bar.set_style(style);
        if watched {
            bar.enable_steady_tick(TICK);
        }
        Self {
            bar,
            counts: Arc::default(),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Line {
    fn discovered(&self, files: u64, bytes: u64) {
        self.counts.files.store(files, Ordering::Relaxed);
        self.bar.set_length(bytes);
        self.bar.reset_elapsed();
        let (of_files, of_rate) = (Arc::clone(&self.counts), Arc::clone(&self.counts));
        self.bar.set_style(
            style(READING)
                .with_key("files", move |_: &ProgressState, w: &mut dyn Write| {
                    let done = of_files.files_done.load(Ordering::Relaxed);
                    let all = of_files.files.load(Ordering::Relaxed);
                    let _ = write!(w, "{done}/{all}");
                })
                .with_key("rate", move |state: &ProgressState, w: &mut dyn Write| {
                    let records = of_rate.records.load(Ordering::Relaxed);
                    let _ = w.write_str(&abbreviated(per_second(records, state.elapsed())));
                })
                .progress_chars("━╸─"),
        );
    }

    fn advanced(&self, bytes: u64, records: u64) {
        self.counts.records.fetch_add(records, Ordering::Relaxed);
        self.bar.inc(bytes);
    }

    fn file_done(&self) {
        self.counts.files_done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Records per second, for the eye: whole, and 0 as long as nothing can be said.
fn per_second(records: u64, elapsed: Duration) -> u64 {
    let seconds = elapsed.as_secs_f64();
    if seconds > 0.0 {
        (records as f64 / seconds) as u64
    } else {
        0
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_valid() {
        for template in [READING, LOOKING, BUSY] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn nothing_divides_by_zero() {
        assert_eq!(per_second(10, Duration::ZERO), 0);
        assert_eq!(per_second(10, Duration::from_millis(500)), 20);
    }
}
