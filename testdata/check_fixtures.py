#!/usr/bin/env python3
"""Holds a reader against testdata/dialects/expected.json.

    python3 testdata/check_fixtures.py                    the plain Python reader that the other checks rely on
    python3 testdata/check_fixtures.py --binary BINARY    also the program: its account of each file in report.json

Exit status 1 on a difference.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from inspector_lines import Account, read

HERE = Path(__file__).resolve().parent / "dialects"


def by_python(path):
    account = Account()
    for _ in read([path], account):
        pass
    return {"records": dict(account.records), "rejected": dict(account.rejected), "repaired": account.repaired,
            "truncated_dumps": account.truncated_dumps, "damaged": bool(account.damaged), "skipped": bool(account.skipped)}


def by_program(binary, path):
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([binary, path, "--out", Path(out) / "report", "-q"], capture_output=True, text=True, check=False)
        report = Path(out) / "report" / "report.json"
        if not report.exists():
            if done.returncode == 2:                          # nothing that can be read
                return {"skipped": True}
            raise SystemExit(f"{path.name}: no report.json, exit status {done.returncode}\n{done.stderr}")
        inputs = json.loads(report.read_text())["inputs"]
    return {"records": {k: v for k, v in inputs["records"].items() if v},
            "rejected": {k: v for k, v in inputs["rejected"]["by_reason"].items() if v}, "repaired": inputs["repaired"]["lines"],
            "truncated_dumps": inputs.get("truncated_dumps", 0), "damaged": bool(inputs.get("files_damaged")),
            "skipped": not any(inputs["records"].values())}


def differences(expected, found):
    if expected.get("skipped") or found.get("skipped"):
        return [] if expected.get("skipped") == found.get("skipped") else [f"skipped: expected {expected.get('skipped', False)}"]
    wrong = []
    for key, default in (("records", {}), ("rejected", {}), ("repaired", 0), ("truncated_dumps", 0), ("damaged", False)):
        want, have = expected.get(key, default), found[key]
        if key == "rejected" and "*" in want:
            want, have = {"*": want["*"]}, {"*": sum(have.values())}
        if want != have:
            wrong.append(f"{key}: expected {want}, found {have}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", help="nccl-report, to be held against the fixtures too")
    arguments = parser.parse_args()
    expected = json.loads((HERE / "expected.json").read_text())
    readers = [("python", by_python)]
    if arguments.binary:
        readers.append(("program", lambda path: by_program(arguments.binary, path)))
    wrong = [f"{path.name}: no entry in expected.json" for path in sorted(HERE.iterdir())
             if path.name not in expected and path.name not in ("README.md", "expected.json")]
    for reader, account_of in readers:
        for name, want in sorted(expected.items()):
            wrong += [f"{reader}: {name}: {text}" for text in differences(want, account_of(HERE / name))]
    print("\n".join(wrong) if wrong else f"{len(expected)} fixtures agree with {' and '.join(name for name, _ in readers)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
