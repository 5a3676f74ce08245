"""Runs a case of the sweep: simulate, report, judge."""
import json
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from simulator.job import simulate

from .judge import judge


@dataclass
class Result:
    """What came of a case."""

    case: object
    records: int
    verdict: object
    error: str = ""


def run(job):
    """`job`: (case, binary, folder to keep everything in or None)."""
    case, binary, keep = job
    folder = Path(keep) / case.name.replace("/", "__") if keep else Path(tempfile.mkdtemp(prefix="accuracy-"))
    try:
        if keep:
            shutil.rmtree(folder, ignore_errors=True)
        truth = simulate(case.scenario, folder)
        (folder / "scenario.json").write_text(json.dumps(case.scenario, indent=1))
        done = subprocess.run([binary, str(folder / "logs"), "--out", str(folder / "report"), "-q"], capture_output=True, text=True)
        report = folder / "report" / "report.json"
        if done.returncode != 0 or not report.exists():
            return Result(case, truth["records"], None, f"status {done.returncode}: {done.stderr[-300:]}")
        verdict = judge(truth, json.loads(report.read_text()))
        if keep:
            (folder / "verdict.json").write_text(json.dumps(asdict(verdict), indent=1))
        return Result(case, truth["records"], verdict)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
