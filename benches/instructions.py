#!/usr/bin/env python3
"""Counts the instructions of the main job's steps, which a busy machine doesn't change: for differences too small for a clock.

    python3 benches/instructions.py --binary target/release/nccl-report --generator target/release/examples/generate-dumps
    python3 benches/instructions.py ... --against OTHER_BINARY         beside another state of the program
    python3 benches/instructions.py ... --verbose 8 --format v4.3      other kinds of dumps

Counted by valgrind (cachegrind without its caches), on one thread, in user space; it takes about a minute for the default of 4 MB. Steps: dumps to Parquet, Parquet to
report.json, and the whole job with its report. Two runs of one binary differ by well under 1 %: hash tables are seeded anew in each process.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def instructions(binary, *arguments):
    """Instructions of one run."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", str(binary), *map(str, arguments), "--quiet", "--threads", "1"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode not in (0, 3) or not found:
        sys.exit(f"{' '.join(command)}\nended with status {done.returncode}:\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def steps(binary, logs, work):
    """Instructions by step."""
    for name in ("tables", "facts", "report"):
        shutil.rmtree(work / name, ignore_errors=True)
    return {
        "dumps to Parquet": instructions(binary, "ingest", logs, "--out", work / "tables"),
        "Parquet to report.json": instructions(binary, "analyze", work / "tables", "--out", work / "facts"),
        "the whole job": instructions(binary, logs, "--out", work / "report"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--against", type=Path, help="another nccl-report")
    parser.add_argument("--generator", type=Path, required=True, help="generate-dumps")
    parser.add_argument("--bytes", type=int, default=4_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--format", default="v4.0")
    parser.add_argument("--verbose", type=int, default=0, metavar="CHANNELS")
    a = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is needed: apt-get install valgrind")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        logs = work / "logs"
        options = ["--bytes", a.bytes, "--ranks", a.ranks, "--format", a.format, "--verbose", a.verbose]
        subprocess.run([str(x) for x in (a.generator, logs, *options)], check=True, stdout=subprocess.DEVNULL)
        size = sum(p.stat().st_size for p in logs.rglob("*.log"))
        ours = steps(a.binary, logs, work)
        other = steps(a.against, logs, work) if a.against else {}
    print(f"{size / 1e6:.1f} MB of dumps, {a.ranks} processes")
    for step, count in ours.items():
        beside = f"   {count / other[step]:6.3f} of {other[step] / 1e6:,.0f}" if other else ""
        print(f"{step:<24} {count / 1e6:>10,.0f} million   {count / size:>8.1f} a byte{beside}")


if __name__ == "__main__":
    main()
