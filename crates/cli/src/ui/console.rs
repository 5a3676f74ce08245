//! The terminal: the only place that prints.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::time::Duration;

use anstream::AutoStream;
use nccl_report_analyze::facts::{Comparison, Finding, FindingKind, Job, LeftOut, Severity};
use nccl_report_ingest::Dataset;

use super::style::{DIM, ERROR, HINT, paint};
use super::text::{counted, visible, visible_json};
use super::time;
use crate::exit::{self, Status};
use crate::failure::Failure;
use crate::settings::{Loudness, Voice};

/// Where nothing says how wide it is.
const WIDTH: usize = 80;
const NARROWEST: usize = 40;
/// Longer lines are hard to read.
const WIDEST: usize = 110;

/// Speaks to the user, as loudly and colourfully as was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Console {
    voice: Voice,
}

impl Console {
    pub const fn new(voice: Voice) -> Self {
        Self { voice }
    }

    pub const fn loudness(&self) -> Loudness {
        self.voice.loudness
    }

    /// Columns of stdout.
    pub fn width(&self) -> usize {
        let columns = terminal_size::terminal_size_of(io::stdout()).map(|(w, _)| usize::from(w.0));
        columns.map_or(WIDTH, |w| w.clamp(NARROWEST, WIDEST))
    }

    /// The result for people, with styles in it: stdout, unless quiet.
    pub fn result(&self, text: &str) -> Result<(), Failure> {
        if self.loudness() == Loudness::Quiet {
            return Ok(());
        }
        to_stdout(
            AutoStream::new(io::stdout(), self.voice.color),
            text.as_bytes(),
        )
    }

    /// The result for programs: stdout, as it is. On a terminal nothing in it acts on the terminal.
    pub fn json(&self, json: &str) -> Result<(), Failure> {
        let json = json.trim_end();
        if io::stdout().is_terminal() {
            self.verbatim(format!("{}\n", visible_json(json)).as_bytes())
        } else {
            self.verbatim(format!("{json}\n").as_bytes())
        }
    }

    /// Our own text that is asked for by name: stdout, as it is.
    pub fn verbatim(&self, bytes: &[u8]) -> Result<(), Failure> {
        to_stdout(io::stdout(), bytes)
    }

    /// How long a phase took.
    pub fn timing(&self, phase: &str, took: Duration) {
        if self.loudness() >= Loudness::Timings {
            let took = time::duration(i64::try_from(took.as_micros()).unwrap_or(i64::MAX));
            self.say(&paint(DIM, &format!("{phase} took {took}")));
        }
    }

    /// What each file gave.
    pub fn files(&self, dataset: &Dataset) {
        if self.loudness() >= Loudness::Files {
            for file in dataset.files() {
                let rows: Vec<String> = (file.tables.iter())
                    .map(|t| format!("{} {}", t.table.folder(), counted(t.rows, "row", "rows")))
                    .collect();
                let line = format!("{}: {}", visible(&file.path), rows.join(", "));
                self.say(&paint(DIM, &line));
            }
        }
    }

    /// Why nothing came of it. Said even when quiet.
    pub fn failure(&self, failure: &Failure) {
        let message = failure.to_string();
        self.say(&format!("{} {}", paint(ERROR, "error:"), visible(&message)));
        for hint in failure.hints() {
            self.say(&format!("{} {}", paint(HINT, "hint:"), visible(hint)));
        }
    }

    /// What the job comes to. Anything but 0 is explained, even when quiet.
    pub fn verdict(&self, job: &Job, fail_on: Option<Severity>) -> Status {
        let status = Status::of(job, fail_on);
        if let Some(reason) = status.reason(job, fail_on) {
            self.say(&format!("{} {}", paint(ERROR, "error:"), visible(&reason)));
        }
        status
    }

    /// What a comparison comes to. Anything but 0 is explained, even when quiet, and so is a regression that doesn't count.
    pub fn comparison(&self, comparison: &Comparison, advisory: bool) -> Status {
        let status = Status::of_comparison(comparison);
        let broken = comparison.rules.iter().find(|f| exit::fails(f));
        let (word, why) = match broken {
            Some(rule) => ("a rule is broken", rule.summary.as_str()),
            None => (
                comparison.verdict.as_str(),
                comparison.reasons.first().map_or("", String::as_str),
            ),
        };
        match status {
            Status::GateFailed if advisory => {
                let line = format!("{word}, which --advisory lets pass: {why}");
                self.say(&format!("{} {}", paint(HINT, "advisory:"), visible(&line)));
                Status::Done
            }
            Status::Done => status,
            _ => {
                let line = format!("{word}: {why}");
                self.say(&format!("{} {}", paint(ERROR, "error:"), visible(&line)));
                status
            }
        }
    }

    /// What was asked for and can't be done, while the rest goes on. Said even when quiet.
    pub fn warning(&self, message: &str) {
        self.say(&format!("{} {}", paint(HINT, "warning:"), visible(message)));
    }

    /// Rules that have nothing to look at. Said even when quiet: they can't be broken, whatever happens.
    pub fn unmatched<'a>(&self, findings: impl IntoIterator<Item = &'a Finding>) {
        for f in findings {
            if f.kind == FindingKind::RuleUnmatched {
                self.warning(&f.summary);
            }
        }
    }

    /// Runs of a history that aren't used. Said even when quiet: a gate that passes without them must not look as if it had them.
    pub fn left_out(&self, runs: &[LeftOut]) {
        for run in runs {
            self.warning(&format!(
                "{} is left out of the history: {}",
                run.name, run.reason
            ));
        }
    }

    fn say(&self, line: &str) {
        let mut err = AutoStream::new(io::stderr(), self.voice.color);
        // Where stderr is closed, nobody is there to be told.
        let _ = writeln!(err, "{line}");
    }
}

/// Whoever closes the pipe has read enough: that is no failure.
fn to_stdout(mut out: impl Write, bytes: &[u8]) -> Result<(), Failure> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format_args!("failed to write to stdout: {e}")))
        }
        _ => Ok(()),
    }
}
