//! The arguments as they are typed; `settings.rs` says what they mean.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::exit::Status;
use crate::help;
use crate::memory::Memory;
use crate::settings::WhichShard;

/// The command line. Without a subcommand it is the main job.
#[derive(Debug, Parser)]
#[command(
    name = "nccl-report",
    version,
    about = "Reports how the communication of a distributed training job went, from its NCCL Inspector dumps",
    long_about = help::MAIN_LONG,
    after_help = help::MAIN_AFTER,
    after_long_help = help::MAIN_AFTER_LONG,
    // A word after the first is always an input, so that a folder may be called like a subcommand.
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub report: ReportArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write only the Parquet tables
    #[command(long_about = help::INGEST_LONG, after_help = help::INGEST_AFTER)]
    Ingest(IngestArgs),
    /// Print only the JSON
    #[command(long_about = help::ANALYZE_LONG, after_help = help::ANALYZE_AFTER)]
    Analyze(AnalyzeArgs),
    /// Compare two jobs, and fail on a regression
    #[command(long_about = help::COMPARE_LONG, after_help = help::COMPARE_AFTER)]
    Compare(CompareArgs),
    /// Make the report of a job that was read in shards
    #[command(long_about = help::MERGE_LONG, after_help = help::MERGE_AFTER)]
    Merge(MergeArgs),
    /// Print a batch file that reads a job in shards, for sbatch
    #[command(name = "slurm-script", long_about = help::SLURM_LONG, after_help = help::SLURM_AFTER)]
    SlurmScript(SlurmScriptArgs),
    /// Print the completions of a shell
    #[command(after_help = help::COMPLETIONS_AFTER)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    #[command(after_help = help::MAN_AFTER)]
    Man {
        /// Write a page per subcommand into DIR instead
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub logs: LogsArgs,

    /// Folder of the report [default: ./<name of LOGS>-report]
    ///
    /// It is made where it doesn't exist. A folder inside LOGS is fine: it is never read as input. Files that aren't of
    /// an earlier report are never overwritten.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// What to print on stdout: a summary, or the content of report.json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub format: Format,

    /// Read only this share of the files, and make no report
    ///
    /// The share goes to DIR/shards; `nccl-report merge DIR` makes the report once all are there. Shards count from 0: `0/16` to
    /// `15/16`. Without a value the numbers are SLURM's, of a job array or else of srun. What is asked of the report (--rules,
    /// --slow-ms, the host of --trace) is asked of `merge`.
    #[arg(
        long,
        value_name = "INDEX/COUNT",
        num_args = 0..=1,
        default_missing_value = "slurm",
        value_parser = which_shard,
        conflicts_with_all = ["format", "fail_on", "rules", "slow_ms", "slow_times"]
    )]
    pub shard: Option<WhichShard>,

    #[command(flatten)]
    pub verdict: VerdictArgs,
    #[command(flatten)]
    pub traces: TraceArgs,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
pub struct IngestArgs {
    #[command(flatten)]
    pub logs: LogsArgs,

    /// Folder of the dataset: the tables go to DIR/parquet
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,

    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    #[command(flatten)]
    pub logs: LogsArgs,

    /// Write DIR/report.json instead of printing
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub verdict: VerdictArgs,
    #[command(flatten)]
    pub traces: TraceArgs,
    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct CompareArgs {
    /// What to compare with: the dumps of a job, or the --out folder of its report [default: the latest of --history]
    #[arg(value_name = "BASELINE", required_unless_present = "history", value_hint = ValueHint::AnyPath)]
    pub baseline: Option<PathBuf>,

    /// What to judge: the dumps of a job, or the --out folder of its report
    #[arg(value_name = "CANDIDATE", value_hint = ValueHint::AnyPath)]
    pub candidate: PathBuf,

    /// Earlier runs: is the candidate outside what they vary by, and since when
    ///
    /// Each DIR is the --out folder of an earlier report, a folder that holds such folders, or the dumps of a job. Three runs are
    /// the least. They are put in order of time; runs that overlap in time are taken in the order given, the oldest first.
    /// One that can't be read, or doesn't compare with the candidate, is named and left out.
    #[arg(long, value_name = "DIR", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub history: Vec<PathBuf>,

    /// Folder of the comparison [default: ./<name of CANDIDATE>-compared]
    ///
    /// It is made where it doesn't exist. Files that aren't of an earlier comparison are never overwritten.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// The smallest change that matters, in percent
    #[arg(long, value_name = "PERCENT", default_value = "3", value_parser = percent)]
    pub threshold: f64,

    /// What to print on stdout: a summary, or the content of compare.json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub format: Format,

    /// Append a summary in Markdown to FILE, such as $GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,

    /// Write the verdicts as JUnit XML to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,

    /// Exit with 0 on a regression, and say so
    ///
    /// What can't be read or can't be judged is still status 2 or 3.
    #[arg(long)]
    pub advisory: bool,

    #[command(flatten)]
    pub rules: RulesArgs,

    /// Let runs pass of which a part is missing
    ///
    /// Ranks without records, files that could be read only in part: the rest is compared all the same.
    #[arg(long)]
    pub allow_partial: bool,

    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Shards: the folder that --out named when they were read, or the folders in its shards/
    #[arg(value_name = "PARTS", required = true, value_hint = ValueHint::DirPath)]
    pub parts: Vec<PathBuf>,

    /// Folder of the report [default: PARTS, where that is the one folder that holds shards/]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// What to print on stdout: a summary, or the content of report.json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub format: Format,

    #[command(flatten)]
    pub verdict: VerdictArgs,
    #[command(flatten)]
    pub traces: TraceArgs,
    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
pub struct SlurmScriptArgs {
    /// Dumps: files, or folders, on a file system that all machines see
    #[arg(value_name = "LOGS", required = true, value_hint = ValueHint::AnyPath)]
    pub logs: Vec<PathBuf>,

    /// How many shards, each a task of the job array
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=MOST_SHARDS))]
    pub shards: u32,

    /// Folder of the report, which all machines see [default: ./<name of LOGS>-report]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// One more option for sbatch, such as --sbatch=--partition=cpu; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub sbatch: Vec<String>,
}

/// Far above what a job array has; more is a slip of the finger.
const MOST_SHARDS: i64 = 1_000_000;

/// `INDEX/COUNT`, or that SLURM says it.
fn which_shard(text: &str) -> Result<WhichShard, String> {
    match text {
        "slurm" => Ok(WhichShard::Slurm),
        numbers => numbers.parse().map(WhichShard::Numbered),
    }
}

/// A percentage above zero, "3" or "3%", as a share.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(p) if p > 0.0 && p <= 100.0 => Ok(p / 100.0),
        _ => Err("a percentage above 0 and up to 100 is wanted, such as 3 or 2.5%".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Dumps and eBPF traces: files, or folders that are searched recursively
    ///
    /// Plain or gzip (recognised by content), whatever they are called. SQLite databases of an eBPF agent may lie among them. Files without an Inspector record, such as the
    /// job's own output, are passed over and listed. A folder that an earlier run wrote with --out may be given alone:
    /// its Parquet tables are used instead of the dumps.
    #[arg(value_name = "LOGS", required = true, value_hint = ValueHint::AnyPath)]
    pub logs: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct VerdictArgs {
    /// Name of the job, for the head of the report [default: name of LOGS]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// Exit with status 1 when a finding is at least this severe [default: never]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<Gate>,

    #[command(flatten)]
    pub rules: RulesArgs,
}

#[derive(Debug, Args)]
pub struct RulesArgs {
    /// Limits of your own, in TOML: a broken one is a finding
    ///
    /// Each rule has a severity. A floor for the bandwidth of some operations, the slow end of a rank's times against the baseline or its peers, the share
    /// of time spent waiting, findings that must not be. A comparison fails with status 1 when a rule of severity
    /// warning or critical is broken; a report, when --fail-on says so.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub rules: Option<PathBuf>,
}

/// What is to be made of the databases of eBPF agents among the inputs.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Which host an eBPF trace is of, where nothing else says so
    ///
    /// FILE is the database, or the end of its path. Needed only where neither the database nor its path says so, or where they say something else than the dumps do. A FILE outside
    /// of LOGS is read too. May be given several times.
    #[arg(long = "trace", value_name = "HOST=FILE", value_parser = host_of_trace)]
    pub hosts: Vec<(String, PathBuf)>,

    /// Collectives in eBPF traces that took longer are slow
    #[arg(long, value_name = "MS", default_value = "50", value_parser = positive, conflicts_with = "slow_times")]
    pub slow_ms: f64,

    /// The same, as a multiple of the median of their kind
    ///
    /// Of one kind are calls of the same operation, communicator and count.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub slow_times: Option<f64>,
}

/// "gpu-001=traces/a.db".
fn host_of_trace(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((host, file)) if !host.is_empty() && !file.is_empty() => {
            Ok((host.to_owned(), PathBuf::from(file)))
        }
        _ => Err("a host and a file are wanted, such as gpu-001=traces/a.db".to_owned()),
    }
}

/// A number above zero.
fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok(n),
        _ => Err("a number above 0 is wanted".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct TableArgs {
    /// zstd level of the Parquet files, 1 (fast) to 22 (small)
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(i32).range(1..=22)
    )]
    pub compression_level: i32,
}

#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Print nothing but errors (and JSON that was asked for)
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say more on stderr: timings (-v), every file (-vv)
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,

    /// Memory to keep to, such as 512M or 8G
    ///
    /// It bounds the records held at a time: those of a larger job wait in a temporary file in the report's folder until their turn comes. What is kept for each rank of each communicator
    /// comes on top, so that jobs of thousands of ranks take more. At least 256M.
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = Memory::parse)]
    pub memory: Memory,

    /// When to use colours
    ///
    /// `auto`: on a terminal, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// What the main job prints on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A summary for people
    Text,
    /// The content of report.json
    Json,
}

/// The least severity that fails the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Gate {
    /// Findings that cost the job time, or hide what does
    Warning,
    /// Findings that cost a large part of the communication time
    Critical,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Also in pipes and files
    Always,
    /// Never
    Never,
}

/// Parses the command line. On wrong usage, `--help` or `--version` everything is said already.
pub fn parse() -> Result<Cli, Status> {
    Cli::try_parse().map_err(|error| {
        // A closed pipe is no failure: `nccl-report --help | head`.
        let _ = error.print();
        if error.use_stderr() {
            Status::Unusable
        } else {
            Status::Done
        }
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_subcommand_is_in_the_list_that_hints_use() {
        let mut names: Vec<_> = Cli::command()
            .get_subcommands()
            .map(|c| c.get_name().to_owned())
            .collect();
        let mut listed = help::SUBCOMMANDS.to_vec();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed);
    }

    #[test]
    fn a_trace_has_a_host_and_a_file() {
        assert_eq!(
            host_of_trace("gpu-1=a=b.db"),
            Ok(("gpu-1".to_owned(), PathBuf::from("a=b.db")))
        );
        for wrong in ["gpu-1", "=a.db", "gpu-1=", ""] {
            assert!(host_of_trace(wrong).is_err(), "{wrong}");
        }
        assert_eq!(positive("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "inf", "x"] {
            assert!(positive(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn percentages_are_shares() {
        assert_eq!(
            ["3", "2.5%", "100 %"].map(percent),
            [Ok(0.03), Ok(0.025), Ok(1.0)]
        );
        for wrong in ["0", "-1", "NaN", "inf", "101", "x", ""] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_folder_called_like_a_subcommand_can_be_named() {
        for args in [
            &["nccl-report", "./ingest"][..],
            &["nccl-report", "--", "ingest"],
            &["nccl-report", "other", "ingest"],
        ] {
            let cli = Cli::try_parse_from(args).expect("arguments");
            assert!(cli.command.is_none(), "{args:?}");
        }
        let cli =
            Cli::try_parse_from(["nccl-report", "ingest", "x", "-o", "y"]).expect("arguments");
        assert!(matches!(cli.command, Some(Command::Ingest(_))));
    }
}
