"""Who talks to whom: the communicators of a parallel layout.

Ranks fill hosts in order. In a layout of tensor × data × pipeline parallelism, rank = t + T·(d + D·p), which is the order in
which Megatron numbers them. Siblings bear one name, as PyTorch's process groups do.
"""
import random


class Communicator:
    """Ranks that collect together, and what the plugin writes about it."""

    def __init__(self, role, name, identity, ranks, hosts):
        self.role, self.name, self.identity, self.ranks = role, name, identity, ranks
        self.hosts = sorted({hosts[r] for r in ranks})
        self.place = {r: i for i, r in enumerate(ranks)}
        self.per_host = max(sum(hosts[r] == h for r in ranks) for h in self.hosts)
        self.sequence = {}  # function → next number
        self.p2p_sequence = [0] * len(ranks)
        self.calls = 0

    @property
    def network(self):
        return len(self.hosts) > 1

    @property
    def shape(self):
        """Siblings have the same."""
        return self.role, len(self.ranks), len(self.hosts)


class Layout:
    """All communicators of a job; `of[role][rank]` is the one that a rank has in a role."""

    def __init__(self, scenario):
        self.size = scenario["nodes"] * scenario["gpus_per_node"]
        self.host_of = [r // scenario["gpus_per_node"] for r in range(self.size)]
        self.communicators, self.of = [], {}
        self._names = scenario["named"]
        self._random = random.Random(scenario["seed"] * 7919 + 1)
        self.stage_of = [0] * self.size
        self.stages = scenario["pipeline"]
        {"tensor-data": self._grid, "tensor-fsdp": self._grid, "fsdp": self._flat, "ddp": self._flat,
         "hybrid-fsdp": self._hybrid, "expert": self._expert}[scenario["layout"]](scenario)

    def _add(self, role, name, ranks):
        if len(ranks) < 2:
            return
        identity = f"0x{self._random.getrandbits(56) | 1 << 55:x}"
        c = Communicator(role, name if self._names else "unknown", identity, list(ranks), self.host_of)
        self.communicators.append(c)
        for r in ranks:
            self.of.setdefault(role, {})[r] = c

    def _world(self):
        self._add("world", "default_pg", range(self.size))

    def _flat(self, _):
        self._world()

    def _hybrid(self, scenario):
        n = scenario["gpus_per_node"]
        for h in range(scenario["nodes"]):
            self._add("shard", "mesh_shard", range(h * n, h * n + n))
        for local in range(n):
            self._add("replicate", "mesh_replicate", range(local, self.size, n))
        self._world()

    def _expert(self, scenario):
        e = scenario["expert"]
        if self.size % e:
            raise ValueError("expert must divide the number of ranks")
        for k in range(0, self.size, e):
            self._add("expert", "EXPERT_MODEL_PARALLEL_GROUP", range(k, k + e))
        for k in range(e):
            self._add("expert-data", "EXPERT_DATA_PARALLEL_GROUP", range(k, self.size, e))
        self._world()

    def _grid(self, scenario):
        t, p = scenario["tensor"], scenario["pipeline"]
        if self.size % (t * p):
            raise ValueError("tensor × pipeline must divide the number of ranks")
        d = self.size // (t * p)
        rank = lambda ti, di, pi: ti + t * (di + d * pi)
        for r in range(self.size):
            self.stage_of[r] = r // (t * d)
        for pi in range(p):
            for di in range(d):
                self._add("tensor", "TENSOR_MODEL_PARALLEL_GROUP", [rank(ti, di, pi) for ti in range(t)])
        for pi in range(p):
            for ti in range(t):
                self._add("data", "DATA_PARALLEL_GROUP", [rank(ti, di, pi) for di in range(d)])
        if p > 1:
            for di in range(d):
                for ti in range(t):
                    self._add("pipeline", "PIPELINE_MODEL_PARALLEL_GROUP", [rank(ti, di, pi) for pi in range(p)])
        self._world()
