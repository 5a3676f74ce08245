"""Runs a pair: simulate both runs, compare, keep the verdict."""
import hashlib
import json
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from simulator.job import simulate

CHANGED = ("regression", "improvement", "mixed")


@dataclass
class Result:
    """What came of a pair."""

    pair: object
    verdict: str = ""
    status: int = -1
    buckets: Counter = field(default_factory=Counter)
    reasons: list = field(default_factory=list)
    error: str = ""

    @property
    def false_alarm(self):
        """Equal runs that are called different."""
        return self.pair.equal and (self.verdict in CHANGED or self.status == 1)

    @property
    def found(self):
        """A loss that fails the gate, because buckets are called worse and none better."""
        return not self.pair.equal and self.verdict == "regression" and self.status == 1 and self.buckets["regression"] > 0


class Failed(Exception):
    """The program failed."""


def run(job):
    """`job`: (pair, binary, folder for the tables of all runs and the comparisons of all pairs)."""
    pair, binary, work = job
    out = Path(work) / "compared" / pair.name.replace("/", "__")
    try:
        sides = [tables(binary, scenario, Path(work) / "runs") for scenario in (pair.baseline, pair.candidate)]
        shutil.rmtree(out, ignore_errors=True)
        status = call([binary, "compare", *sides, "--out", out, "-q"], (0, 1, 3))
        return judged(pair, status, json.loads((out / "compare.json").read_text()))
    except Failed as e:
        return Result(pair, error=str(e))


def tables(binary, scenario, runs):
    """The Parquet tables of a simulated run. Many pairs have a run in common."""
    name = hashlib.sha256(json.dumps(scenario, sort_keys=True).encode()).hexdigest()[:20]
    folder = runs / name
    if not folder.exists():
        runs.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix="part-", dir=runs))
        simulate(scenario, aside)
        call([binary, "ingest", aside / "logs", "--out", aside / "run", "-q"], (0,))
        shutil.rmtree(aside / "logs")
        try:
            aside.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(aside, ignore_errors=True)
    return folder / "run"


def call(command, allowed):
    """Runs the program; its status."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode not in allowed:
        raise Failed(f"status {done.returncode}: {done.stderr[-300:]}")
    return done.returncode


def judged(pair, status, comparison):
    """A result from compare.json."""
    verdicts = Counter(b["verdict"] for b in comparison["buckets"])
    return Result(pair, comparison["verdict"], status, verdicts, comparison["reasons"])
