#!/usr/bin/env python3
"""Measures how often retransmits that slow transfers down are laid to the right host, and how often to another.

    python3 benches/retransmits.py --binary target/release/nccl-report              all cases
    python3 benches/retransmits.py --binary … --only receiver/plain --keep DIR      some, everything kept

Jobs and traces are simulated (benches/simulator): a host that loses what it sends, one that loses what it is sent, or none; with and without
verbose dumps, with and without addresses in the traces, with few and many retransmits that come anyway. Without addresses a receiver can't be
told: to name candidates, or nobody, is right. Exit status 1 when a wrong host was named, or the program failed.
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

LAYOUTS = {"data": {"nodes": 4, "tensor": 8}, "pipeline": {"nodes": 4, "gpus_per_node": 4, "tensor": 4, "pipeline": 2, "layout": "tensor-data"}}
CHANCE = 0.03


def cases():
    """(name, scenario)"""
    n = 0
    for layout, settings in LAYOUTS.items():
        for side in ("none", "sender", "receiver"):
            for verbose in (True, False):
                for addresses in (True, False):
                    for anyway in (0.3, 5.0, 30.0):
                        n += 1
                        faults = [] if side == "none" else [{"kind": "loss", "host": n % 4, "side": side, "chance": CHANCE, "delay_us": 40_000}]
                        scenario = {"seed": 700 + n, "steps": 40, "verbose": verbose, "dump_interval_us": 100_000, "faults": faults, **settings,
                                    "traces": {"retransmits": anyway, "addresses": addresses}}
                        name = f"{layout}/{side}/{'verbose' if verbose else 'plain'}/{'addresses' if addresses else 'none'}/{anyway:g}-a-second"
                        yield name, scenario


def judge(report, truth):
    """right, open (candidates that hold it), missed, or invented"""
    found = [f for f in report["findings"] if f["kind"] == "tcp_retransmits"]
    right = {s["host"] for fault in truth["faults"] for s in fault["subjects"]}
    names = lambda f: {s["host"] for s in f["subjects"]}
    if any(not f["candidates_only"] and names(f) != right for f in found):
        return "invented"
    if any(names(f) == right for f in found):
        return "right"
    if any(right and right <= names(f) for f in found):
        return "open"
    return "right" if not right and not found else "missed" if right else "invented"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", required=True)
    p.add_argument("--only", default="", help="cases whose name contains this")
    p.add_argument("--keep", help="folder to keep everything in")
    args = p.parse_args()
    counts, failed = Counter(), 0
    for name, scenario in cases():
        if args.only not in name:
            continue
        folder = Path(args.keep) / name.replace("/", "__") if args.keep else Path(tempfile.mkdtemp(prefix="retransmits-"))
        shutil.rmtree(folder, ignore_errors=True)
        truth = simulate(scenario, folder)
        done = subprocess.run([args.binary, str(folder / "logs"), str(folder / "ebpf"), "--out", str(folder / "report"), "-q"], capture_output=True, text=True)
        report = folder / "report" / "report.json"
        if done.returncode != 0 or not report.exists():
            failed += 1
            print(f"FAILED {name}: status {done.returncode}: {done.stderr[-300:]}", flush=True)
            continue
        report = json.loads(report.read_text())
        verdict = judge(report, truth)
        counts[("/".join(name.split("/")[:4]), verdict)] += 1
        if verdict != "right":
            named = ["+".join(s["host"] for s in f["subjects"]) for f in report["findings"] if f["kind"] == "tcp_retransmits"]
            print(f"{name}: {verdict}, {[s['host'] for f in truth['faults'] for s in f['subjects']]}, named {named}", flush=True)
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    for (of, verdict), n in sorted(counts.items()):
        print(f"{of:40} {verdict:10} {n}")
    sys.exit(1 if failed or any(v == "invented" for _, v in counts) else 0)


if __name__ == "__main__":
    main()
