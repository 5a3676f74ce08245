#!/usr/bin/env python3
"""Measures how often a late rank's finding names what its host's trace shows, and how often something else.

    python3 benches/host_causes.py --binary target/release/nccl-report              all cases
    python3 benches/host_causes.py --binary … --only pauses/verbose --keep DIR      some, everything kept

Jobs and traces are simulated (benches/simulator), so what held a rank up is known; in a third of the jobs the traces show nothing of it, and
busy hosts all the same. A cause that isn't named is a miss; one that is named and isn't the one that the trace shows is an invention.
Exit status 1 when anything was invented, or the program failed.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from simulator.job import simulate

CAUSES = ("off_cpu", "cuda_sync", "block_io", "page_alloc", "oom_kill", "process_exit")
FAULTS = {
    "pauses": {"kind": "pauses", "rank": 5, "chance": 0.15, "delay_us": 20_000},
    "slow-gpu": {"kind": "slow-gpu", "rank": 9, "factor": 1.3},
    "slow-gpu-for-a-time": {"kind": "slow-gpu", "rank": 9, "factor": 1.5, "from": 0.4, "to": 0.7},
}


def cases():
    """(name, scenario, what the traces show)"""
    n = 0
    for fault, settings in FAULTS.items():
        for verbose in (True, False):
            for shows in (*CAUSES, "nothing", "nothing busy", "nothing very busy"):
                n += 1
                shown, _, busy = shows.partition(" ")
                # Kills and exits of every step of a slow GPU aren't of this world: only pauses have them.
                if shown in ("oom_kill", "process_exit", "block_io", "page_alloc") and fault != "pauses":
                    continue
                scenario = {"seed": 100 + n, "nodes": 2, "gpus_per_node": 8, "tensor": 4, "steps": 80, "verbose": verbose, "dump_interval_us": 50_000, "faults": [settings],
                            "traces": {"shows": shown, "background": {"": 20.0, "busy": 500.0, "very busy": 3000.0}[busy]}}
                yield f"{fault}/{'verbose' if verbose else 'plain'}/{shows.replace(' ', '-')}", scenario, shown


def judge(report, truth, shown):
    """(whether the rank was found late, the cause that is named or None, causes named elsewhere)"""
    rank = truth["faults"][0]["subjects"][0]
    found, named, elsewhere = False, None, []
    for f in report["findings"]:
        cause = f["evidence"].get("host_cause")
        if any(s["host"] == rank["host"] and s["pid"] == rank["pid"] for s in f["subjects"]) and "late" in f["kind"]:
            found, named = True, cause
        elif cause:
            elsewhere.append(cause)
    return found, named, elsewhere


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", required=True)
    p.add_argument("--only", default="", help="cases whose name contains this")
    p.add_argument("--keep", help="folder to keep everything in")
    args = p.parse_args()
    counts, failed = Counter(), 0
    for name, scenario, shown in cases():
        if args.only not in name:
            continue
        folder = Path(args.keep) / name.replace("/", "__") if args.keep else Path(tempfile.mkdtemp(prefix="host-causes-"))
        shutil.rmtree(folder, ignore_errors=True)
        truth = simulate(scenario, folder)
        done = subprocess.run([args.binary, str(folder / "logs"), str(folder / "ebpf"), "--out", str(folder / "report"), "-q"], capture_output=True, text=True)
        report = folder / "report" / "report.json"
        if done.returncode != 0 or not report.exists():
            failed += 1
            print(f"FAILED {name}: status {done.returncode}: {done.stderr[-300:]}")
            continue
        found, named, elsewhere = judge(json.loads(report.read_text()), truth, shown)
        wanted = None if shown == "nothing" else shown
        verdict = "rank not found" if not found else "right" if named == wanted else "missed" if named is None else "invented"
        if elsewhere:
            verdict = "invented"
        counts[(name.split("/")[1], verdict)] += 1
        if verdict != "right":
            print(f"{name}: {verdict}{f' {named}' if named else ''}{f', elsewhere {elsewhere}' if elsewhere else ''}")
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    for (dumps, verdict), n in sorted(counts.items()):
        print(f"{dumps:8} {verdict:15} {n}")
    sys.exit(1 if failed or any(v == "invented" for _, v in counts) else 0)


if __name__ == "__main__":
    main()
