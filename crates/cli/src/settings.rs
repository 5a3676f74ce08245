//! What the arguments mean.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use nccl_report_analyze::facts::{Severity, SlowLimit};
use nccl_report_ingest::Shard;

use crate::args::{
    AnalyzeArgs, Cli, Color, Command as Typed, CommonArgs, CompareArgs, Format, Gate, IngestArgs,
    MergeArgs, ReportArgs, SlurmScriptArgs, TraceArgs,
};
use crate::memory::Memory;

/// What to do, and how to speak.
#[derive(Debug)]
pub struct Settings {
    pub command: Command,
    pub voice: Voice,
    /// `None`: one thread per core.
    pub threads: Option<NonZeroUsize>,
    pub memory: Memory,
}

#[derive(Debug)]
pub enum Command {
    Report(Report),
    Ingest(Ingest),
    Analyze(Analyze),
    Compare(Compare),
    Merge(Merge),
    SlurmScript(SlurmScript),
    Completions(clap_complete::Shell),
    Man { folder: Option<PathBuf> },
}

/// The main job: everything.
#[derive(Debug)]
pub struct Report {
    pub inputs: Vec<PathBuf>,
    /// `None`: named after the inputs.
    pub out: Option<PathBuf>,
    pub title: Option<String>,
    pub print_json: bool,
    pub fail_on: Option<Severity>,
    pub traces: Traces,
    pub rules: Option<PathBuf>,
    pub compression_level: i32,
    /// Only read a share, and leave the report to `merge`.
    pub shard: Option<WhichShard>,
}

/// Which share of the files this process reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichShard {
    Numbered(Shard),
    /// As SLURM numbered it.
    Slurm,
}

/// The report of shards that were read before.
#[derive(Debug)]
pub struct Merge {
    pub parts: Vec<PathBuf>,
    /// Its inputs are empty.
    pub report: Report,
}

/// A script that reads a job in shards.
#[derive(Debug)]
pub struct SlurmScript {
    pub logs: Vec<PathBuf>,
    pub shards: u32,
    /// `None`: named after the inputs.
    pub out: Option<PathBuf>,
    /// More lines for `#SBATCH`.
    pub options: Vec<String>,
}

/// The Parquet tables only.
#[derive(Debug)]
pub struct Ingest {
    pub inputs: Vec<PathBuf>,
    pub out: PathBuf,
    pub compression_level: i32,
}

/// The JSON only.
#[derive(Debug)]
pub struct Analyze {
    pub inputs: Vec<PathBuf>,
    /// `None`: stdout.
    pub out: Option<PathBuf>,
    pub title: Option<String>,
    pub fail_on: Option<Severity>,
    pub traces: Traces,
    pub rules: Option<PathBuf>,
}

/// What is to be made of eBPF traces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traces {
    /// Which host a database is of.
    pub hosts: Vec<(String, PathBuf)>,
    /// Which collectives in them are slow.
    pub slow: SlowLimit,
}

impl Traces {
    /// The inputs, and the databases that were named beside them: one that lies among them already is read once.
    pub fn with(&self, inputs: &[PathBuf]) -> Vec<PathBuf> {
        let named = self.hosts.iter().map(|(_, file)| file.clone());
        let there = named.filter(|file| file.is_file());
        inputs.iter().cloned().chain(there).collect()
    }
}

/// Two jobs against each other.
#[derive(Debug)]
pub struct Compare {
    /// `None`: the latest run of the history.
    pub baseline: Option<PathBuf>,
    pub candidate: PathBuf,
    /// Earlier runs, or folders of them.
    pub history: Vec<PathBuf>,
    /// `None`: named after the candidate.
    pub out: Option<PathBuf>,
    /// The smallest change that matters, as a share.
    pub threshold: f64,
    pub print_json: bool,
    /// Markdown is appended to it.
    pub summary: Option<PathBuf>,
    pub junit: Option<PathBuf>,
    pub advisory: bool,
    pub rules: Option<PathBuf>,
    pub allow_partial: bool,
}

/// How much is said, and whether in colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Voice {
    pub loudness: Loudness,
    pub color: anstream::ColorChoice,
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loudness {
    /// Errors, and JSON that was asked for.
    Quiet,
    /// A progress bar and the summary.
    Normal,
    /// Also how long each phase took.
    Timings,
    /// Also every file.
    Files,
}

impl From<Cli> for Settings {
    fn from(cli: Cli) -> Self {
        let (command, common) = match cli.command {
            None => from_report(cli.report),
            Some(Typed::Ingest(args)) => from_ingest(args),
            Some(Typed::Analyze(args)) => from_analyze(args),
            Some(Typed::Compare(args)) => from_compare(args),
            Some(Typed::Merge(args)) => from_merge(args),
            Some(Typed::SlurmScript(args)) => (from_slurm_script(args), None),
            Some(Typed::Completions { shell }) => (Command::Completions(shell), None),
            Some(Typed::Man { dir }) => (Command::Man { folder: dir }, None),
        };
        Self {
            command,
            voice: common.as_ref().map_or(Voice::DEFAULT, voice),
            threads: common.as_ref().and_then(|c| c.threads),
            memory: common.map_or(Memory::DEFAULT, |c| c.memory),
        }
    }
}

impl Voice {
    const DEFAULT: Self = Self {
        loudness: Loudness::Normal,
        color: anstream::ColorChoice::Auto,
    };
}

fn from_report(args: ReportArgs) -> (Command, Option<CommonArgs>) {
    let report = Report {
        inputs: args.logs.logs,
        out: args.out,
        title: args.verdict.title,
        print_json: args.format == Format::Json,
        fail_on: args.verdict.fail_on.map(severity),
        traces: traces(args.traces),
        rules: args.verdict.rules.rules,
        compression_level: args.table.compression_level,
        shard: args.shard,
    };
    (Command::Report(report), Some(args.common))
}

fn from_ingest(args: IngestArgs) -> (Command, Option<CommonArgs>) {
    let ingest = Ingest {
        inputs: args.logs.logs,
        out: args.out,
        compression_level: args.table.compression_level,
    };
    (Command::Ingest(ingest), Some(args.common))
}

fn from_analyze(args: AnalyzeArgs) -> (Command, Option<CommonArgs>) {
    let analyze = Analyze {
        inputs: args.logs.logs,
        out: args.out,
        title: args.verdict.title,
        fail_on: args.verdict.fail_on.map(severity),
        traces: traces(args.traces),
        rules: args.verdict.rules.rules,
    };
    (Command::Analyze(analyze), Some(args.common))
}

fn from_merge(args: MergeArgs) -> (Command, Option<CommonArgs>) {
    let report = Report {
        inputs: Vec::new(),
        out: args.out,
        title: args.verdict.title,
        print_json: args.format == Format::Json,
        fail_on: args.verdict.fail_on.map(severity),
        traces: traces(args.traces),
        rules: args.verdict.rules.rules,
        // Tables are taken as they are.
        compression_level: 0,
        shard: None,
    };
    let merge = Merge {
        parts: args.parts,
        report,
    };
    (Command::Merge(merge), Some(args.common))
}

fn from_slurm_script(args: SlurmScriptArgs) -> Command {
    Command::SlurmScript(SlurmScript {
        logs: args.logs,
        shards: args.shards,
        out: args.out,
        options: args.sbatch,
    })
}

fn from_compare(args: CompareArgs) -> (Command, Option<CommonArgs>) {
    let compare = Compare {
        baseline: args.baseline,
        candidate: args.candidate,
        history: args.history,
        out: args.out,
        threshold: args.threshold,
        print_json: args.format == Format::Json,
        summary: args.summary,
        junit: args.junit,
        advisory: args.advisory,
        rules: args.rules.rules,
        allow_partial: args.allow_partial,
    };
    (Command::Compare(compare), Some(args.common))
}

fn traces(args: TraceArgs) -> Traces {
    Traces {
        hosts: args.hosts,
        slow: args.slow_times.map_or(
            SlowLimit::Milliseconds(args.slow_ms),
            SlowLimit::TimesMedian,
        ),
    }
}

const fn severity(gate: Gate) -> Severity {
    match gate {
        Gate::Warning => Severity::Warning,
        Gate::Critical => Severity::Critical,
    }
}

fn voice(common: &CommonArgs) -> Voice {
    Voice {
        loudness: match (common.quiet, common.verbose) {
            (true, _) => Loudness::Quiet,
            (false, 0) => Loudness::Normal,
            (false, 1) => Loudness::Timings,
            (false, _) => Loudness::Files,
        },
        color: match common.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        },
    }
}
