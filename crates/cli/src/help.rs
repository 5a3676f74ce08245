//! The parts of `--help` that are about more than one option.

/// Names that mean a subcommand when they come first.
pub const SUBCOMMANDS: [&str; 7] = [
    "ingest",
    "analyze",
    "compare",
    "merge",
    "slurm-script",
    "completions",
    "man",
];

/// Where the plugin writes its dumps.
pub const DUMP_DIR: &str = "NCCL_INSPECTOR_DUMP_DIR";

/// What to do when there is no record at all.
pub const NO_RECORD: [&str; 2] = [
    "the plugin writes one <hostname>-pid<pid>.log per process into NCCL_INSPECTOR_DUMP_DIR; no such folder is made when its parent is missing",
    "it writes nothing unless NCCL_INSPECTOR_ENABLE=1 and NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS are set: see `nccl-report --help`",
];

pub const MAIN_LONG: &str = "\
Reads the NCCL Inspector dumps that every rank of a distributed training job \
wrote, and says how the job's communication went: which communicators there \
are, who sits in them, how fast each operation ran at each size, where the time \
went, and what the data itself lacks.

The report is a folder: a page to look at, JSON for scripts, CSV, the plots, and \
the records as Parquet for DuckDB, polars, pandas or Spark.";

pub const MAIN_AFTER: &str = "\
Examples:
  nccl-report /logs/job42             write ./job42-report, print a summary
  nccl-report /logs/job42 --out /tmp/r --format json | jq .groups
  nccl-report ingest /logs/job42 --out /tmp/r      only the Parquet

`--help` says more: the files of the report, exit statuses, how to get dumps.";

pub const MAIN_AFTER_LONG: &str = "\
Examples:
  A folder, searched recursively; the report goes to ./job42-report:
      nccl-report /logs/job42

  Dumps of several nodes, gzip or not, into a folder of your choice:
      nccl-report /scratch/n*/inspector --out reports/job42

  In CI: status 1 when a finding is critical:
      nccl-report dumps --out report --quiet --fail-on critical

  The JSON for a script, nothing else on stdout:
      nccl-report /logs/job42 --format json | jq '.inputs.records'

  Step by step:
      nccl-report ingest /logs/job42 --out r     the dumps into r/parquet
      nccl-report analyze r                      the JSON, from r/parquet
      nccl-report r                              the whole report, into r

  A folder that is called like a subcommand:
      nccl-report ./ingest

The files of the report (DIR is --out):
  DIR/index.html      the report; needs no network, no server and no script
  DIR/report.json     the same facts for programs (schema \"nccl-report/1\")
  DIR/summary.csv     a row per class, operation, size, ranks and nodes
  DIR/plots/*.svg     the plots of the page
  DIR/parquet/TABLE/  every record: collectives, p2p, and where the dumps have
                      them channels, proxy, dump_stats

Exit status:
  0    done; the gate, if there was one, passed
  1    the gate failed: a finding at or above --fail-on
  2    wrong usage, no input that can be read, or no place to write to
  3    the input was read, and is too little to say anything
  130  stopped by Ctrl-C; half-written files are gone

How to get dumps:
  In the environment of every rank, before the job starts:
      NCCL_PROFILER_PLUGIN=/path/to/libnccl-profiler-inspector.so
      NCCL_INSPECTOR_ENABLE=1
      NCCL_INSPECTOR_DUMP_DIR=/logs/$SLURM_JOB_ID
      NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=1000000

  Without an interval nothing is written. The plugin makes the last folder of
  DUMP_DIR, not its parents. From NCCL 2.30 on it keeps the newest 1024
  collectives of a communicator between two dumps; a shorter interval, or a
  larger NCCL_INSPECTOR_DUMP_COLL_RING_SIZE, loses fewer. Before 2.30 it keeps
  one: such dumps are a sample, and the report says so. Messages under
  NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES (8192 from 2.30 on) aren't recorded.

Environment:
  NO_COLOR            no colours, unless --color always
  TMPDIR              where `analyze LOGS` keeps its tables while it runs";

pub const INGEST_LONG: &str = "\
Reads the dumps and writes every record into Parquet tables under DIR/parquet, \
under the column names of NVIDIA's own exporter. No analysis, no report.

Running it again reads only what changed. `nccl-report DIR` makes the report \
of it later, `nccl-report analyze DIR` the JSON.";

pub const INGEST_AFTER: &str = "\
Examples:
  nccl-report ingest /logs/job42 --out /data/job42
  duckdb -c \"select coll, count(*) from '/data/job42/parquet/collectives/*.parquet' group by 1\"";

pub const ANALYZE_LONG: &str = "\
Prints the analysis as JSON (schema \"nccl-report/1\"), or writes it to \
DIR/report.json with --out. No page, no plots.

The input is either logs, as for the main command, or one folder that an earlier \
run wrote with --out, or its parquet folder: then nothing is read twice.";

pub const ANALYZE_AFTER: &str = "\
Examples:
  nccl-report analyze /logs/job42 | jq '.communicators[].comm_type'
  nccl-report analyze job42-report --out elsewhere";

pub const COMPARE_LONG: &str = "\
Compares a job with another of the same kind, such as yesterday's, and says \
whether it is worse. Operations are compared with their like (class, function, \
message size, ranks, nodes); a change counts only when it is large enough and \
more than the runs vary by themselves.

The exit status is a gate: 1 on a regression, 3 when the data can't tell. Input \
that is empty, unreadable or partial never passes.";

pub const COMPARE_AFTER: &str = "\
Examples:
  nccl-report compare /logs/job41 /logs/job42
  nccl-report compare job41-report job42-report --threshold 5
  nccl-report compare baseline dumps --out cmp -q --summary \"$GITHUB_STEP_SUMMARY\"
  nccl-report compare /logs/job42 --history reports

The files of a comparison (DIR is --out):
  DIR/index.html    both runs side by side, and why
  DIR/compare.json  the same facts for programs (schema \"nccl-report-compare/1\")
  DIR/plots/*.svg   the plots of the page

Exit status:
  0    unchanged or better
  1    a regression, alone or beside an improvement; a broken rule
  2    wrong usage, a run that can't be read, or no place to write to
  3    the data can't tell: too short, partial, or of another shape; or fewer
       than three earlier runs compare
  130  stopped by Ctrl-C";

pub const MERGE_LONG: &str = "\
Makes the report of a job whose files several machines have read, each a share \
with --shard. The report is the same, byte for byte, as the one that a single \
machine makes.

A shard that is missing, there twice, unfinished, or made of other files is \
refused by name, and nothing is written.";

pub const MERGE_AFTER: &str = "\
Examples:
  nccl-report /logs/job42 --out r --shard 0/2      on one machine
  nccl-report /logs/job42 --out r --shard 1/2      on another
  nccl-report merge r                              anywhere, when both are done";

pub const SLURM_LONG: &str = "\
Prints a batch file for sbatch: a job array whose tasks read a share of the \
files each, and a last job that merges them when all have succeeded. A task \
that fails is run again; what it had read is kept.";

pub const SLURM_AFTER: &str = "\
Examples:
  nccl-report slurm-script --shards 64 /logs/job42 > report.sbatch
  sbatch report.sbatch

Without a batch file, inside an allocation:
  srun --ntasks=64 nccl-report /logs/job42 --out r --shard
  nccl-report merge r";

pub const COMPLETIONS_AFTER: &str = "\
Examples:
  nccl-report completions bash > ~/.local/share/bash-completion/completions/nccl-report
  nccl-report completions zsh > \"${fpath[1]}/_nccl-report\"
  nccl-report completions fish > ~/.config/fish/completions/nccl-report.fish";

pub const MAN_AFTER: &str = "\
Examples:
  nccl-report man | man -l -
  nccl-report man --dir ~/.local/share/man/man1";
