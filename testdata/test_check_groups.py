#!/usr/bin/env python3
"""Tests the check itself: its two computations agree with each other and with numbers worked out by hand, and a wrong report fails.

    python3 testdata/test_check_groups.py         needs duckdb
"""
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_groups
from inspector_lines import Account, read

HERE = Path(__file__).resolve().parent
FIXTURES = [HERE / "dialects" / name for name in ("v4.0-ring.jsonl", "rccl.jsonl", "extensions.jsonl", "functions.jsonl", "v4.3-proxy-flat.jsonl")]


def write_parquet(logs, out):
    """Tables with the columns that the check reads, from the Python reader's records."""
    import duckdb
    db = duckdb.connect()
    records = list(read(logs, Account()))
    for p2p, folder, name in ((False, "collectives", "coll"), (True, "p2p", "p2p")):
        (out / "parquet" / folder).mkdir(parents=True)
        db.execute(f"""CREATE OR REPLACE TABLE t (id VARCHAR, rank INT, n_ranks INT, nnodes INT, comm_type VARCHAR, {name} VARCHAR, {name}_sn BIGINT,
            {name}_msg_size_bytes BIGINT, {name}_exec_time_us BIGINT, {name}_exec_time_fraction_us DOUBLE, {name}_busbw_gbs DOUBLE, {name}_timing_source VARCHAR)""")
        db.executemany("INSERT INTO t VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                       [(r.id, r.rank, r.n_ranks, r.nnodes, r.comm_type, r.function, r.sn, r.size, int(r.time_us), (r.time_us % 1) or None, r.busbw, r.timing)
                        for r in records if r.p2p == p2p])
        db.execute(f"COPY t TO '{out}/parquet/{folder}/all.parquet' (FORMAT parquet)")


def report_of(logs):
    """What a right report would say."""
    lines = check_groups.FromLines(logs, [])
    a = lines.account
    return {
        "inputs": {"files": a.files, "records": dict(a.records), "rejected": {"lines": sum(a.rejected.values()), "by_reason": dict(a.rejected)},
                   "repaired": {"lines": a.repaired}},
        "communicators": [{"id": i, "n_ranks": n, "nnodes": nn, "comm_type": check_groups.comm_type(n, nn), "ranks_seen": len({m[0] for m in members}),
                           "members": [{"rank": r, "host": h, "pid": p} for r, h, p in members]} for (i, n, nn), members in lines.communicators.items()],
        "groups": [{"comm_type": key[1], "coll": key[2], "coll_msg_size_bytes": key[3], "n_ranks": key[4], "nnodes": key[5], "p2p": key[0], **group}
                   for key, group in lines.groups.items()],
    }


class CheckGroups(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)
        write_parquet(FIXTURES, self.out)
        self.report = report_of(FIXTURES)

    def check(self):
        (self.out / "report.json").write_text(json.dumps(self.report))
        output = io.StringIO()
        with mock.patch.object(sys, "argv", ["check_groups.py", str(self.out), *map(str, FIXTURES)]), contextlib.redirect_stdout(output):
            return check_groups.main(), output.getvalue()

    def group(self, **wanted):
        return next(g for g in self.report["groups"] if all(g[k] == v for k, v in wanted.items()))

    def test_the_two_computations_agree(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_numbers_worked_out_by_hand(self):
        # AllReduce of 4 ranks on 2 nodes: 10 and 20 µs, 150 and 75 GB/s.
        g = self.group(coll="AllReduce", n_ranks=4, nnodes=2)
        self.assertEqual((g["communicators"], g["collectives"], g["records"]), (1, 2, 2))
        self.assertEqual(g["exec_time_us"], {"min": 10, "p5": 10.5, "p25": 12.5, "p50": 15, "mean": 15, "p75": 17.5, "p95": 19.5, "p99": 19.9, "max": 20})
        self.assertEqual(g["busbw_gbs"]["p50"], 112.5)

    def test_a_replayed_graph_counts_each_replay(self):
        # rccl.jsonl (numbers 0, 1, 1) and extensions.jsonl (0, 1) share a communicator: 5 records. Number 0 comes twice too.
        self.assertEqual(self.group(coll="AllReduce", comm_type="nvlink-only", n_ranks=2)["collectives"], 5)

    def test_a_statistic_off_by_a_millionth_fails(self):
        self.group(coll="AllReduce", n_ranks=4, nnodes=2)["busbw_gbs"]["p95"] *= 1 + 1e-6
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertEqual(output.count("DIFFERS"), 2, output)  # both computations object

    def test_a_missing_group_fails(self):
        self.report["groups"].pop()
        self.assertEqual(self.check()[0], 1)

    def test_an_invented_group_fails(self):
        self.report["groups"].append({**self.report["groups"][0], "coll_msg_size_bytes": 12345})
        self.assertEqual(self.check()[0], 1)

    def test_a_member_on_the_wrong_host_fails(self):
        self.report["communicators"][0]["members"][0]["host"] = "elsewhere"
        self.assertEqual(self.check()[0], 1)

    def test_a_record_too_few_fails(self):
        self.report["inputs"]["records"]["collective"] -= 1
        self.assertEqual(self.check()[0], 1)

    def test_an_empty_report_fails(self):
        self.report["groups"] = []
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
