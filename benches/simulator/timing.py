"""How long things take: computing, launching, transfers; with the noise of real jobs.

Random numbers come from pools drawn once: a pool of 16381 (a prime, so that no period of the job fits it) is as good as
fresh numbers here and several times faster.
"""
import itertools
import math
import random

from .scenario import NOISE

POOL = 16381
WARM_UP_STEPS = 3


def bus_factor(function, n):
    """Bytes that each link carries for a byte of the collective's size (nccl-tests, PERFORMANCE.md)."""
    return {"AllReduce": 2 * (n - 1) / n, "AllGather": (n - 1) / n, "ReduceScatter": (n - 1) / n}.get(function, 1.0)


def total_bytes(function, n, size):
    """Size of a collective from the message size of a rank."""
    return size * n if function in ("AllGather", "ReduceScatter") else size


class Timing:
    """Draws every duration of a job."""

    def __init__(self, scenario, layout, faults):
        self.random = random.Random(scenario["seed"] * 104729 + 5)
        self.scenario, self.layout, self.faults = scenario, layout, faults
        noise = self.noise = NOISE[scenario["noise"]]
        gauss, ranks = self.random.gauss, range(layout.size)
        median, deviation = noise["jitter"]
        self.jitter = self._pool(lambda: median * math.exp(gauss(0, deviation)))
        self.computing_noise = self._pool(lambda: math.exp(gauss(0, noise["computing"])))
        self.transfer_noise = self._pool(self._one_transfer)
        chance, mean = noise["pause"]
        self.pauses = self._pool(lambda: self.random.expovariate(1 / mean) if self.random.random() < chance else 0.0)
        self.offset = [abs(gauss(0, noise["offset"])) for _ in ranks]
        self.silicon = [1 + gauss(0, noise["silicon"]) for _ in ranks]
        # The same links in another run on the same hosts.
        hardware = self.random if scenario["hardware"] is None else random.Random(scenario["hardware"] * 7907 + 11)
        spread = lambda: 1 + hardware.uniform(-noise["links"], noise["links"])
        self.nvlink = [scenario["nvlink_gbs"] * spread() for _ in ranks]
        self.nic = [scenario["nic_gbs"] * spread() for _ in ranks]
        self._bandwidth, self._factor = {}, {}

    def _pool(self, draw):
        return itertools.cycle([draw() for _ in range(POOL)]).__next__

    def _one_transfer(self):
        usual = math.exp(self.random.gauss(0, self.noise["transfer"]))
        return usual * (self.random.uniform(1.2, 3.0) if self.random.random() < self.noise["tail"] else 1.0)

    def factor(self, rank, step):
        """Computing time of a rank in a step over the usual."""
        key = rank, step
        if key not in self._factor:
            s = self.scenario
            usual = self.silicon[rank] * (1 + s["drift"] * step / max(s["steps"] - 1, 1))
            usual *= 1 + (s["stage_imbalance"] if self.layout.stage_of[rank] == self.layout.stages - 1 and self.layout.stages > 1 else 0)
            usual *= 1 + 1.5 * max(0, WARM_UP_STEPS - step) / WARM_UP_STEPS
            self._factor[key] = usual * self.faults.computing(rank, step)
        return self._factor[key]

    def bandwidth(self, comm, ranks, step):
        """GB/s of bus bandwidth between ranks of a communicator in a step: what its slowest link allows."""
        key = comm.identity, ranks, step
        if key not in self._bandwidth:
            members = [comm.ranks[i] for i in ranks] if ranks else comm.ranks
            network = len({self.layout.host_of[r] for r in members}) > 1
            slowest = min(self.nvlink[r] * self.faults.nvlink(r, step) for r in members)
            if network:
                # Rings over a host's cards run side by side, each over every host: the slowest card holds all of them up.
                cards = 1 if ranks else comm.per_host
                slowest = min(slowest, cards * min(self.nic[r] * self.faults.nic(r, step) for r in members))
            self._bandwidth[key] = slowest
        return self._bandwidth[key]

    def transfer(self, comm, function, size, step, pair=None):
        """Time of the transfer itself, µs, from the last arrival on."""
        n = 2 if pair else len(comm.ranks)
        moved = total_bytes(function, n, size) * bus_factor(function, n)
        return self._noisy(comm, n, moved / self.bandwidth(comm, pair, step) / 1e3)

    def all_to_all(self, comm, size, step):
        """Time of an exchange of `size` bytes between any two, µs: each rank's own card carries what leaves the host."""
        n, near = len(comm.ranks), comm.per_host
        nvlink = min(self.nvlink[r] * self.faults.nvlink(r, step) for r in comm.ranks)
        card = min(self.nic[r] * self.faults.nic(r, step) for r in comm.ranks)
        return self._noisy(comm, n, max(size * (near - 1) / nvlink, size * (n - near) / card) / 1e3)

    def _noisy(self, comm, n, micros):
        latency = (18 + 7 * math.log2(n)) if comm.network else (7 + 3 * math.log2(n))
        comm.calls += 1
        warm_up = self.random.uniform(5e3, 4e4) if comm.calls <= 2 else 0.0  # connections, buffers
        return (latency + micros) * self.transfer_noise() + warm_up
