#!/usr/bin/env python3
"""Computes a report's statistics again, twice and independently, and compares.

    python3 testdata/check_groups.py OUT LOGS...

OUT is a report's folder, LOGS what it was made from. From OUT/parquet DuckDB computes `groups` in SQL; from LOGS a plain Python
reader does (inspector_lines.py), which also counts lines, records and rejections and finds the communicators and their members.
Each must agree with OUT/report.json: counts exactly, statistics to 1e-9 relative (quantiles that the report itself marks as a sketch's
to 0.5 %). Exit status 1 on a difference.
Needs duckdb (the Parquet half; `--without parquet` leaves it out), else Python alone.
"""
import argparse
import json
import math
import sys
from array import array
from collections import Counter, defaultdict
from pathlib import Path

from inspector_lines import Account, comm_type, read

QUANTILES = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99}
STATISTICS = {"busbw_gbs": ("min", "p5", "p25", "p50", "mean", "p75", "p95", "max"),
              "exec_time_us": ("min", "p5", "p25", "p50", "mean", "p75", "p95", "p99", "max")}
COUNTS = ("communicators", "collectives", "records")
# A group too large to hold says `"quantiles_exact": false`, and promises this much.
SKETCH_ERROR = 0.005
GPU, CPU = ("kernel_gpu",), ("kernel_cpu", "collective_cpu")


class Comparison:
    def __init__(self, tolerance):
        self.tolerance, self.wrong, self.compared = tolerance, [], Counter()

    def equal(self, what, kind, expected, found):
        self.compared[kind] += 1
        if expected != found:
            self.wrong.append(f"{what}: computed {expected}, report says {found}")

    def close(self, what, kind, expected, found, tolerance=None):
        self.compared[kind] += 1
        if not isinstance(found, (int, float)) or not math.isclose(expected, found, rel_tol=tolerance or self.tolerance, abs_tol=1e-12):
            self.wrong.append(f"{what}: computed {expected!r}, report says {found!r}")


def timing_class(source):
    return "kernel_gpu" if source in GPU else "cpu" if source in CPU else "unknown"


def timing_of(classes):
    """The timing that the statistics are about: the GPU's where there is any, else the CPU's, else what doesn't say."""
    return next((name for name in ("kernel_gpu", "cpu", "unknown") if classes.get(name)), None)


def quantile(ordered, p):
    """Linear interpolation between order statistics: type 7 of Hyndman and Fan."""
    position = (len(ordered) - 1) * p
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def statistics(values):
    ordered = sorted(values)
    out = {"min": ordered[0], "max": ordered[-1], "mean": math.fsum(ordered) / len(ordered)}
    out.update({name: quantile(ordered, p) for name, p in QUANTILES.items()})
    return out


class Group:
    """Records of one kind, as they come."""

    def __init__(self):
        self.time, self.busbw, self.ids = array("d"), array("d"), set()
        self.first, self.numbers, self.again = set(), set(), Counter()

    def add(self, record):
        self.time.append(record.time_us)
        self.busbw.append(record.busbw)
        self.ids.add(record.id)
        number, mine = (record.id, record.sn), (record.id, record.sn, record.rank)
        self.numbers.add(number)
        if mine in self.first:                                # a CUDA graph's replays share one number
            self.again[mine] += 1
        self.first.add(mine)

    def result(self, p2p):
        most = Counter()
        for (comm, sn, _rank), more in self.again.items():
            most[comm, sn] = max(most[comm, sn], more)
        return {"communicators": len(self.ids), "records": len(self.time),
                "collectives": len(self.time) if p2p else len(self.numbers) + sum(most.values()),
                "busbw_gbs": statistics(self.busbw), "exec_time_us": statistics(self.time)}


class FromLines:
    """Everything that the raw lines say."""

    def __init__(self, logs, exclude):
        self.account = Account()
        self.classes = Counter()
        self.communicators = defaultdict(set)                 # (id, n_ranks, nnodes) -> {(rank, host, pid)}
        by_timing = defaultdict(lambda: defaultdict(Group))
        for r in read(logs, self.account, exclude):
            timing = timing_class(r.timing)
            self.classes[timing] += 1
            key = (r.p2p, r.comm_type, r.function, r.size, r.n_ranks, r.nnodes)
            by_timing[timing][key].add(r)
            self.communicators[r.id, r.n_ranks, r.nnodes].add((r.rank, r.host, r.pid))
        self.timing = timing_of(self.classes)
        self.groups = {key: group.result(key[0]) for key, group in by_timing[self.timing].items()}


def from_parquet(out):
    """The groups, by DuckDB from the tables."""
    import duckdb
    db = duckdb.connect()
    tables = []
    for p2p, folder, name in ((False, "collectives", "coll"), (True, "p2p", "p2p")):
        files = sorted(str(f) for f in (out / "parquet" / folder).glob("**/*.parquet"))
        if files:
            source = ", ".join("'" + f.replace("'", "''") + "'" for f in files)
            tables.append(f"""SELECT {p2p} AS p2p, CAST(id AS VARCHAR) AS id, rank, n_ranks, nnodes, CAST({name} AS VARCHAR) AS operation,
                {name}_sn AS sn, {name}_msg_size_bytes AS size, {name}_exec_time_us + COALESCE({name}_exec_time_fraction_us, 0.0) AS time,
                {name}_busbw_gbs AS busbw, CAST(comm_type AS VARCHAR) AS comm_type,
                CASE WHEN {name}_timing_source = 'kernel_gpu' THEN 'kernel_gpu'
                     WHEN {name}_timing_source IN ('kernel_cpu', 'collective_cpu') THEN 'cpu' ELSE 'unknown' END AS timing
                FROM read_parquet([{source}], union_by_name = true)""")
    if not tables:
        return {}, 0
    db.execute(f"CREATE TABLE records AS {' UNION ALL '.join(tables)}")
    mistaken = db.execute("""SELECT count(*) FROM records WHERE comm_type <> CASE WHEN n_ranks = 1 THEN 'single-rank'
        WHEN nnodes = 1 THEN 'nvlink-only' WHEN n_ranks = nnodes THEN 'hca-only' ELSE 'mixed' END""").fetchone()[0]
    timing = timing_of(dict(db.execute("SELECT timing, count(*) FROM records GROUP BY timing").fetchall()))
    names = [(column, name) for column in ("busbw", "time") for name in ("min", "max", "mean", *QUANTILES)]
    expressions = [f"{ {'min': 'min', 'max': 'max', 'mean': 'avg'}[name] }({column})" if name not in QUANTILES
                   else f"quantile_cont({column}, {QUANTILES[name]})" for column, name in names]
    key = "p2p, comm_type, operation, size, n_ranks, nnodes"
    rows = db.execute(f"""SELECT {key}, count(DISTINCT id), count(*), {', '.join(expressions)}
        FROM records WHERE timing = ? GROUP BY {key}""", [timing]).fetchall()
    collectives = dict((row[:6], row[6]) for row in db.execute(f"""SELECT {key}, sum(n) FROM (
        SELECT {key}, id, sn, max(n) AS n FROM (
            SELECT {key}, id, sn, rank, count(*) AS n FROM records WHERE timing = ? GROUP BY {key}, id, sn, rank)
        GROUP BY {key}, id, sn) GROUP BY {key}""", [timing]).fetchall())
    groups = {}
    for row in rows:
        group = {"communicators": row[6], "records": row[7], "collectives": row[7] if row[0] else int(collectives[row[:6]]),
                 "busbw_gbs": {}, "exec_time_us": {}}
        for (column, name), value in zip(names, row[8:]):
            group["busbw_gbs" if column == "busbw" else "exec_time_us"][name] = float(value)
        groups[row[:6]] = group
    return groups, mistaken


def reported_groups(report, computed, comparison):
    """The report's groups by the same key. Send and Recv are told from collectives of that name by `p2p`, else by what there is."""
    found = {}
    for g in report["groups"]:
        rest = (g["comm_type"], g["coll"], g["coll_msg_size_bytes"], g["n_ranks"], g["nnodes"])
        p2p = g.get("p2p", (True, *rest) in computed and (False, *rest) not in computed)
        comparison.equal(f"group {rest} appears", "keys", False, (p2p, *rest) in found)
        found[p2p, *rest] = g
    return found


def compare_groups(label, computed, report, comparison):
    found = reported_groups(report, computed, comparison)
    if not any(key[0] for key in found) and any(key[0] for key in computed):
        print(f"note: report.json groups no Send/Recv; {sum(1 for k in computed if k[0])} groups of them aren't compared ({label})")
        computed = {key: group for key, group in computed.items() if not key[0]}
    for key in sorted(computed.keys() | found.keys()):
        name = f"{label}: {' '.join(map(str, key[1:]))}"
        if key not in found or key not in computed:
            comparison.equal(name, "keys", key in computed, key in found)
            continue
        for count in COUNTS:
            comparison.equal(f"{name}: {count}", "counts", computed[key][count], found[key][count])
        exact = found[key].get("quantiles_exact", True)
        for quantity, wanted in STATISTICS.items():
            for statistic in wanted:
                sketch = not exact and statistic in QUANTILES
                comparison.close(f"{name}: {quantity}.{statistic}", "quantiles of sketches (to 0.5 %)" if sketch else "statistics",
                                 computed[key][quantity][statistic], found[key][quantity].get(statistic), SKETCH_ERROR if sketch else None)


def compare_communicators(lines, report, comparison):
    found = defaultdict(set)
    for c in report["communicators"]:
        key = (c["id"], c["n_ranks"], c["nnodes"])
        members = {(m["rank"], m["host"], m["pid"]) for m in c["members"]}
        comparison.equal(f"communicator {c['id']}: comm_type", "communicators", comm_type(c["n_ranks"], c["nnodes"]), c["comm_type"])
        comparison.equal(f"communicator {c['id']}: ranks_seen", "communicators", len({m[0] for m in members}), c["ranks_seen"])
        found[key] |= members
    for key in sorted(lines.communicators.keys() | found.keys()):
        comparison.equal(f"communicator {key}: members", "communicators", sorted(lines.communicators.get(key, ())), sorted(found.get(key, ())))


def compare_inputs(lines, report, comparison):
    inputs, account = report["inputs"], lines.account
    if "timing" in inputs:
        comparison.equal("inputs: timing", "inputs", lines.timing or "kernel_gpu", inputs["timing"])
    comparison.equal("inputs: files", "inputs", account.files, inputs["files"])
    for kind in sorted(account.records.keys() | inputs["records"].keys()):
        comparison.equal(f"inputs: {kind} records", "inputs", account.records[kind], inputs["records"].get(kind, 0))
    for reason in sorted(account.rejected.keys() | inputs["rejected"]["by_reason"].keys()):
        comparison.equal(f"inputs: lines rejected as {reason}", "inputs", account.rejected[reason], inputs["rejected"]["by_reason"].get(reason, 0))
    comparison.equal("inputs: repaired lines", "inputs", account.repaired, inputs["repaired"]["lines"])
    total = sum(inputs["records"].values()) + inputs["rejected"]["lines"]
    comparison.equal("inputs: lines that aren't blank = records + rejected", "inputs", account.lines, total)
    if "lines" in inputs:
        comparison.equal("inputs: lines", "inputs", account.lines, inputs["lines"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the report's folder")
    parser.add_argument("logs", type=Path, nargs="+", help="what the report was made from")
    parser.add_argument("--tolerance", type=float, default=1e-9)
    parser.add_argument("--without", choices=("parquet", "lines"), help="leave out one of the two computations")
    arguments = parser.parse_args()
    report = json.loads((arguments.out / "report.json").read_text())
    comparison = Comparison(arguments.tolerance)
    if arguments.without != "parquet":
        groups, mistaken = from_parquet(arguments.out)
        comparison.equal("parquet: rows whose comm_type contradicts n_ranks and nnodes", "rows", 0, mistaken)
        compare_groups("parquet", groups, report, comparison)
    if arguments.without != "lines":
        lines = FromLines(arguments.logs, [arguments.out])
        compare_groups("lines", lines.groups, report, comparison)
        compare_communicators(lines, report, comparison)
        compare_inputs(lines, report, comparison)
    if not comparison.compared["statistics"]:
        comparison.wrong.append("nothing was compared: neither side has a group")
    print("compared: " + ", ".join(f"{n} {kind}" for kind, n in sorted(comparison.compared.items())))
    for text in comparison.wrong[:50]:
        print("DIFFERS  " + text)
    if len(comparison.wrong) > 50:
        print(f"… and {len(comparison.wrong) - 50} more")
    print(f"{len(comparison.wrong)} differences" if comparison.wrong else f"all equal (relative tolerance {arguments.tolerance:g})")
    return 1 if comparison.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
