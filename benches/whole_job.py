#!/usr/bin/env python3
"""Measures the main job, from dumps to report, on an invented job of about 1 GB.

    python3 benches/whole_job.py                        builds, generates, measures
    python3 benches/whole_job.py --records 200000       a smaller job
    python3 benches/whole_job.py --gzip --verbose 8     other kinds of dumps
    python3 benches/whole_job.py --logs DIR             dumps of your own
    python3 benches/whole_job.py --duckdb --exporter PATH/perf_summary_exporter.py

The job is measured whole, and its two parts alone: `ingest` (dumps to Parquet) and `analyze` (Parquet to report.json).
Printed for each program: MB (10⁶ bytes) of JSON, uncompressed, per second of CPU (user and system, all threads and children) and per
second of the clock, records per second, and the largest resident set. In the same run and by the same measure: a plain read of the files, once to warm the page
cache and once to be measured, so that a slow disk or a busy machine shows. The median of --repeat runs counts; each writes a fresh folder.
"""
import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
READ = "import sys\nfor path in sys.argv[1:]:\n    with open(path, 'rb', buffering=0) as f:\n        while f.read(1 << 20): pass\n"
# What an SQL engine makes of the same lines: parse and write Parquet, and then also group. Only collectives, no repairs, no findings.
COLUMNS = """{
  header: 'STRUCT(id VARCHAR, comm_name VARCHAR, rank INT, n_ranks INT, nnodes INT)',
  metadata: 'STRUCT(inspector_output_format_version VARCHAR, git_rev VARCHAR, rec_mechanism VARCHAR, dump_timestamp_us BIGINT, hostname VARCHAR, pid BIGINT)',
  coll_perf: 'STRUCT(coll VARCHAR, coll_sn BIGINT, coll_msg_size_bytes UBIGINT, coll_exec_time_us UBIGINT, coll_timing_source VARCHAR, coll_algobw_gbs DOUBLE, coll_busbw_gbs DOUBLE)'}"""
DUCKDB_COPY = """
import duckdb, sys
columns, out, *files = sys.argv[1:]
def text(value): return "'" + value.replace("'", "''") + "'"
read = "read_ndjson([" + ", ".join(map(text, files)) + "], ignore_errors=true, columns=" + columns + ")"
duckdb.connect().execute("COPY (SELECT header.*, metadata.*, coll_perf.* FROM " + read + " WHERE coll_perf IS NOT NULL) TO "
                         + text(out + "/collectives.parquet") + " (FORMAT parquet, COMPRESSION zstd)")
"""
DUCKDB_GROUP = """
import duckdb, sys
rows = duckdb.connect().execute('''SELECT n_ranks, nnodes, coll, coll_msg_size_bytes, count(*), min(coll_busbw_gbs), max(coll_busbw_gbs), avg(coll_busbw_gbs),
  quantile_cont(coll_busbw_gbs, [0.05, 0.25, 0.5, 0.75, 0.95]), quantile_cont(coll_exec_time_us, [0.05, 0.25, 0.5, 0.75, 0.95, 0.99])
  FROM read_parquet(?) GROUP BY ALL''', [sys.argv[1] + "/collectives.parquet"]).fetchall()
print(len(rows))
"""


class Run:
    def __init__(self, wall, cpu, peak):
        self.wall, self.cpu, self.peak = wall, cpu, peak


def measure(command, allowed=(0,)):
    """One run of a command: seconds of the clock and of CPU, and its largest resident set in bytes, from the kernel's account."""
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in allowed:
            output.seek(0)
            sys.exit(f"{' '.join(map(str, command))[:300]}\nfailed with status {process.returncode}:\n{output.read()[-3000:].decode(errors='replace')}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def median(runs):
    return Run(*(statistics.median(getattr(r, f) for r in runs) for f in ("wall", "cpu", "peak")))


def uncompressed(path):
    with open(path, "rb") as f:
        if f.read(2) != b"\x1f\x8b":
            return path.stat().st_size
    with gzip.open(path) as f:
        return sum(len(block) for block in iter(lambda: f.read(1 << 20), b""))


def build():
    subprocess.run(["cargo", "build", "--release", "-p", "nccl-report", "--bin", "nccl-report"], cwd=ROOT, check=True)
    subprocess.run(["cargo", "build", "--release", "-p", "nccl-report-ingest", "--example", "generate-dumps"], cwd=ROOT, check=True)
    found = json.loads(subprocess.run(["cargo", "metadata", "--no-deps", "--format-version=1"], cwd=ROOT, check=True, capture_output=True).stdout)
    release = Path(found["target_directory"]) / "release"
    return release / "nccl-report", release / "examples" / "generate-dumps"


def row(name, run, size, records, read):
    throughput = f"{size / run.cpu / 1e6:>10,.0f} {size / run.wall / 1e6:>10,.0f}" if run.cpu else f"{'-':>10} {'-':>10}"
    per_record = f"{records / run.wall:>12,.0f}" if records else f"{'-':>12}"
    print(f"{name:<28} {run.wall:>8.2f} {run.cpu:>8.2f} {throughput} {per_record} {run.peak / 2**20:>9,.0f} {run.wall / read.wall:>7.1f}x {run.cpu / read.cpu:>7.1f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path, help="measure on these dumps instead of generated ones")
    parser.add_argument("--records", type=int, default=2_500_000)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--communicators", type=int, default=8)
    parser.add_argument("--format", default="v4.0", help="dialect of the generated dumps: v4.0, v4.2, v4.3")
    parser.add_argument("--verbose", type=int, default=0, metavar="CHANNELS", help="generate event traces of so many channels")
    parser.add_argument("--gzip", action="store_true", help="generate gzip files")
    parser.add_argument("--threads", type=int, help="threads of nccl-report")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", type=Path, help="folder for dumps and reports; kept, and its dumps used again [default: a temporary one]")
    parser.add_argument("--binary", type=Path, help="measure this nccl-report instead of building one (needs --logs)")
    parser.add_argument("--duckdb", action="store_true", help="also DuckDB (Python) on the same lines")
    parser.add_argument("--exporter", type=Path, help="also NVIDIA's exporter, perf_summary_exporter.py, if its packages are installed")
    a = parser.parse_args()
    if a.binary and not a.logs:
        parser.error("--binary needs --logs")
    binary, generator = (a.binary, None) if a.binary else build()

    with tempfile.TemporaryDirectory() as temporary:
        work = a.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        logs = a.logs
        if logs is None:
            kind = f"{a.records}-{a.ranks}-{a.communicators}-{a.format}-{a.verbose}-{'gzip' if a.gzip else 'plain'}"
            logs = work / f"dumps-{kind}"
            if not logs.exists():
                aside = work / f"dumps-{kind}.part"
                shutil.rmtree(aside, ignore_errors=True)
                subprocess.run([generator, aside, "--records", str(a.records), "--ranks", str(a.ranks), "--communicators", str(a.communicators),
                                "--format", a.format, "--verbose", str(a.verbose)] + ["--gzip"] * a.gzip, check=True)
                aside.rename(logs)
        files = sorted(p for p in logs.rglob("*") if p.is_file()) if logs.is_dir() else [logs]
        on_disk, size = sum(p.stat().st_size for p in files), sum(map(uncompressed, files))

        reader = [sys.executable, "-c", READ, *files]
        measure(reader)
        read = median([measure(reader) for _ in range(a.repeat)])
        reports, tables, facts = work / "report", work / "tables", work / "facts"
        threads = ["--threads", str(a.threads)] if a.threads else []

        def ours(*arguments):
            return measure([binary, *arguments, "--quiet", *threads], allowed=(0, 3))

        whole, ingest, analysis = [], [], []
        for _ in range(a.repeat):
            for folder in (reports, tables, facts):
                shutil.rmtree(folder, ignore_errors=True)
            whole.append(ours(logs, "--out", reports))
            ingest.append(ours("ingest", logs, "--out", tables))
            analysis.append(ours("analyze", tables, "--out", facts))
        inputs = json.loads((reports / "report.json").read_text())["inputs"]
        records = sum(inputs["records"].values())
        again = ours(logs, "--out", reports)
        parquet = sum(p.stat().st_size for p in (reports / "parquet").rglob("*.parquet"))

        print(f"\n{len(files)} files, {on_disk / 1e6:,.0f} MB on disk, {size / 1e6:,.0f} MB of JSON, {records:,} records, {os.cpu_count()} cores, median of {a.repeat}")
        print(f"Parquet: {parquet / 1e6:,.0f} MB, {parquet / max(records, 1):.1f} bytes a record\n")
        print(f"{'':<28} {'wall s':>8} {'CPU s':>8} {'MB/CPU s':>10} {'MB/wall s':>10} {'records/s':>12} {'peak MiB':>9} {'wall':>8} {'CPU':>8}")
        whole, ingest, analysis = median(whole), median(ingest), median(analysis)
        row("plain read of the files", read, size, None, read)
        row("nccl-report, whole job", whole, size, records, read)
        row("  ingest: dumps to Parquet", ingest, size, records, read)
        row("  analyze: Parquet to facts", analysis, size, records, read)
        row("nccl-report, once more", again, size, records, read)
        ratios = [("analyze against ingest", analysis.cpu / ingest.cpu)]
        if a.duckdb:
            folder = work / "duckdb"
            folder.mkdir(exist_ok=True)
            copy = median([measure([sys.executable, "-c", DUCKDB_COPY, COLUMNS, folder, *files]) for _ in range(a.repeat)])
            group = median([measure([sys.executable, "-c", DUCKDB_GROUP, folder]) for _ in range(a.repeat)])
            row("DuckDB: COPY to Parquet", copy, size, records, read)
            row("DuckDB: group the Parquet", group, size, records, read)
            ratios.append(("DuckDB's COPY against ingest", copy.cpu / ingest.cpu))
        if a.exporter:
            folder = work / "exporter"
            shutil.rmtree(folder, ignore_errors=True)
            exporter = measure([sys.executable, a.exporter, "--input_dir", logs, "--output_dir", folder])
            row("NVIDIA's exporter", exporter, size, records, read)
            ratios.append(("NVIDIA's exporter against the whole job", exporter.cpu / whole.cpu))
        print("\nCPU, times as much:")
        for name, ratio in ratios:
            print(f"  {name:<42} {ratio:>8.2f}x")
    print("\nThe last two columns: how many times as long as the plain read. \"once more\": the same job again into the same folder, nothing changed.")


if __name__ == "__main__":
    main()
