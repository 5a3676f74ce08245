"""Truths about the simulator and the judge: python3 -m unittest discover benches"""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from scoring.judge import judge
from scoring.sweep import LAYOUTS, cases
from simulator.engine import Engine
from simulator.faults import Faults
from simulator.job import simulate
from simulator.layout import Layout
from simulator.programs import program_of
from simulator.scenario import complete
from simulator.timing import Timing, bus_factor

SMALL = {"nodes": 2, "gpus_per_node": 4, "tensor": 4, "steps": 12, "noise": "quiet"}


def records_of(scenario):
    scenario = complete(scenario)
    layout = Layout(scenario)
    faults = Faults(scenario, layout.host_of)
    engine = Engine(layout, Timing(scenario, layout, faults), faults, 8192)
    engine.run(program_of(scenario, layout))
    return layout, engine


class Physics(unittest.TestCase):
    def test_the_last_to_arrive_shows_the_shortest_time(self):
        _, engine = records_of({**SMALL, "faults": [{"kind": "slow-gpu", "rank": 2, "factor": 1.5}]})
        times = {}
        for rank in engine.ranks[:4]:
            for _, comm, function, number, _, micros, _ in rank.records:
                if comm.role == "tensor" and function == "ReduceScatter" and number > 3:
                    times.setdefault(number, []).append(micros)
        self.assertGreater(len(times), 20)
        self.assertTrue(all(min(t) == t[2] for t in times.values()))

    def test_every_rank_records_every_collective(self):
        _, engine = records_of(SMALL)
        sets = [{(r[1].identity, r[2], r[3]) for r in rank.records if r[1].role == "tensor"} for rank in engine.ranks[:4]]
        self.assertTrue(sets[0] and all(s == sets[0] for s in sets))

    def test_a_slow_card_slows_its_communicators_and_no_other(self):
        _, healthy = records_of(SMALL)
        _, slow = records_of({**SMALL, "faults": [{"kind": "slow-nic", "rank": 1, "factor": 0.5}]})

        def shortest(engine, rank):
            return sorted(r[5] for r in engine.ranks[rank].records if r[1].role == "data" and r[2] == "ReduceScatter")[5]

        # 40 MiB over two ranks: half of it at 42 GB/s (give or take 1 %) is 499 µs, at half of that 999, and some latency.
        self.assertAlmostEqual(shortest(healthy, 0), 499 + 25, delta=40)
        self.assertAlmostEqual(shortest(slow, 0) / shortest(healthy, 0), 1.0, delta=0.1)
        self.assertAlmostEqual(shortest(slow, 1) / shortest(healthy, 1), 1.95, delta=0.15)

    def test_bus_factors_are_those_of_nccl_tests(self):
        self.assertEqual([bus_factor(f, 4) for f in ("AllReduce", "AllGather", "ReduceScatter", "Send")], [1.5, 0.75, 0.75, 1.0])


class Layouts(unittest.TestCase):
    def test_every_layout_runs_to_its_end(self):
        for name, settings in LAYOUTS.items():
            with self.subTest(name):
                _, engine = records_of({**settings, "steps": 2})
                self.assertTrue(all(rank.records for rank in engine.ranks))

    def test_a_pipeline_sends_what_is_received(self):
        _, engine = records_of({**SMALL, "tensor": 2, "pipeline": 4, "microbatches": 6, "steps": 3})
        ends = {"Send": [], "Recv": []}
        for rank in engine.ranks:
            for end, comm, function, _, size, _, peer in rank.records:
                if peer >= 0:
                    me = comm.place[rank.number]
                    ends[function].append((comm.identity, end, size, *((me, peer) if function == "Send" else (peer, me))))
        self.assertEqual(sorted(ends["Send"]), sorted(ends["Recv"]))
        # Each of 2 chains has 3 joints, over which 6 microbatches go forth and back in each of 3 steps.
        self.assertEqual(len(ends["Send"]), 2 * 3 * 6 * 2 * 3)

    def test_tensor_groups_lie_on_one_host_and_data_groups_across(self):
        layout = Layout(complete(SMALL))
        self.assertEqual([c.network for c in layout.communicators], [False] * 2 + [True] * 4 + [True])


class Files(unittest.TestCase):
    def lines(self, scenario):
        with tempfile.TemporaryDirectory() as folder:
            truth = simulate({**SMALL, **scenario}, folder)
            files = sorted((Path(folder) / "logs").iterdir())
            return truth, [[json.loads(line) for line in f.read_text().splitlines()] for f in files]

    def test_the_same_seed_gives_the_same_files(self):
        self.assertEqual(self.lines({}), self.lines({}))
        self.assertNotEqual(self.lines({}), self.lines({"seed": 2}))

    def test_each_dialect_says_what_it_does(self):
        for dialect in ("v4.0-sampled", "v4.0", "v4.1", "v4.3"):
            with self.subTest(dialect):
                _, files = self.lines({"dialect": dialect})
                kinds = {frozenset(line) for file in files for line in file}
                context = {"header", "metadata"}
                expected = {"v4.0-sampled": {frozenset(context | {"coll_perf"})}, "v4.0": {frozenset(context | {"coll_perf"})},
                            "v4.1": {frozenset(context | {"coll_perf"}), frozenset(context | {"dump_stats"})},
                            "v4.3": {frozenset({"coll_perf"}), frozenset(context | {"dump_stats"})}}
                self.assertEqual(kinds, expected[dialect])

    def test_a_marker_counts_its_lines_and_a_ring_keeps_no_more(self):
        _, files = self.lines({"dialect": "v4.3", "ring": 5})
        for file in files:
            due = 0
            for line in file:
                if "dump_stats" in line:
                    self.assertEqual(due, 0)
                    due = line["dump_stats"]["coll_records"] + line["dump_stats"]["p2p_records"]
                    self.assertLessEqual(due, 10)
                else:
                    due -= 1
            self.assertEqual(due, 0)

    def test_records_are_written_or_lost(self):
        truth, files = self.lines({"ring": 5, "missing": [3]})
        _, engine = records_of({**SMALL, "ring": 5, "missing": [3]})
        self.assertEqual(len(files), 7)
        self.assertEqual(truth["records"] + truth["records_lost"], sum(len(r.records) for r in engine.ranks))
        self.assertEqual(truth["records"], sum("coll_perf" in line for file in files for line in file))


class Judging(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            self.gpu = simulate({**SMALL, "faults": [{"kind": "slow-gpu", "rank": 2, "factor": 1.2}]}, folder)
        with tempfile.TemporaryDirectory() as folder:
            self.nic = simulate({**SMALL, "faults": [{"kind": "slow-nic", "rank": 2, "factor": 0.5}]}, folder)

    @staticmethod
    def report(*findings):
        defaults = {"severity": "warning", "scope": None, "window": None, "candidates_only": False}
        return {"findings": [{**defaults, **f} for f in findings]}

    def test_the_right_rank_is_found_and_a_victim_is_invented(self):
        ranks = self.gpu["ranks"]
        v = judge(self.gpu, self.report({"kind": "late_rank", "subjects": [ranks[2]]}, {"kind": "late_rank", "subjects": [ranks[3]]}))
        self.assertEqual((v.found, len(v.missed), len(v.invented)), (1, 0, 1))
        v = judge(self.gpu, self.report({"kind": "late_rank", "subjects": [ranks[3]], "severity": "info"}))
        self.assertEqual((v.found, len(v.missed), len(v.invented)), (0, 1, 0))

    def test_a_card_is_found_among_the_members_of_its_communicator(self):
        among = [s["global_rank"] for s in self.nic["faults"][0]["among"]]
        self.assertEqual(among, [2, 6])  # rank 2 of either host
        link = {"kind": "slow_link", "scope": "nic", "candidates_only": True}
        self.assertEqual(judge(self.nic, self.report({**link, "subjects": self.nic["faults"][0]["among"]})).found, 1)
        self.assertEqual(judge(self.nic, self.report({**link, "subjects": self.nic["ranks"]})).found, 0)
        self.assertEqual(judge(self.nic, self.report({**link, "scope": "host", "subjects": self.nic["faults"][0]["among"]})).found, 0)

    def test_names_of_cases_are_unique(self):
        names = [c.name for c in cases()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
