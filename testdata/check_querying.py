#!/usr/bin/env python3
"""Runs every query of docs/querying.md on a report's tables, and sees that DuckDB, polars and Spark give the same rows.

    python3 testdata/check_querying.py REPORT [--without spark]

An engine that isn't installed is skipped, and that is said; with fewer than two there is nothing to compare, which fails.
"""
import argparse
import importlib.util
import math
import re
import sys
from pathlib import Path

ENGINES = {"duckdb": "duckdb", "polars": "polars", "spark": "pyspark"}
QUESTIONS = 5


def blocks(page, report):
    """Code by engine: what comes first, and an answer to each question."""
    setup, answers = {}, {engine: [] for engine in ENGINES}
    for info, code in re.findall(r"^```(.+?)\n(.*?)^```$", page, re.M | re.S):
        words, code = info.split(), code.replace("REPORT", report)
        if words[-1] == "setup":
            setup[words[1]] = code
        else:
            answers[words[1]].append(code)
    return setup, answers


def rows_of(engine, code, names):
    """A query's answer as tuples."""
    if engine == "duckdb":
        import duckdb
        return duckdb.sql(code).fetchall()
    answer = eval(code, names)
    return answer.rows() if engine == "polars" else [tuple(row) for row in answer.collect()]


def same(a, b):
    numbers = isinstance(a, float) or isinstance(b, float)
    return math.isclose(a, b, rel_tol=1e-12) if numbers and None not in (a, b) else a == b


def differences(left, right):
    if len(left) != len(right):
        yield f"{len(left)} rows against {len(right)}"
    for a, b in zip(left, right):
        if len(a) != len(b) or not all(map(same, a, b)):
            yield f"{a} against {b}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("report", type=Path)
    arguments.add_argument("--without", action="append", default=[], choices=ENGINES)
    arguments = arguments.parse_args()
    page = Path(__file__).resolve().parent.parent / "docs" / "querying.md"
    setup, answers = blocks(page.read_text(), str(arguments.report))
    engines = []
    for engine, package in ENGINES.items():
        if engine in arguments.without or importlib.util.find_spec(package) is None:
            print(f"SKIPPED: {engine} ({package} isn't here, or is left out)", file=sys.stderr)
        else:
            engines.append(engine)
    if len(engines) < 2:
        sys.exit("fewer than two engines: nothing to compare")
    found = {}
    for engine in engines:
        names = {}
        exec(setup.get(engine, ""), names)
        found[engine] = [rows_of(engine, code, names) for code in answers[engine]]
        if len(found[engine]) != QUESTIONS or not all(found[engine]):
            sys.exit(f"{engine}: {QUESTIONS} questions with an answer each were expected")
    first, wrong = engines[0], 0
    for engine in engines[1:]:
        for number, (left, right) in enumerate(zip(found[first], found[engine]), 1):
            for difference in differences(left, right):
                wrong += 1
                print(f"question {number}, {first} against {engine}: {difference}", file=sys.stderr)
    rows = sum(map(len, found[first]))
    print(f"{', '.join(engines)}: {QUESTIONS} questions, {rows} rows, {wrong} differences")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
