"""What a rank runs in each layout: one generator a rank, step after step."""

MIB = 1 << 20


def program_of(scenario, layout):
    """The program for `Engine.run`."""
    steps = {"tensor-data": grid_step, "tensor-fsdp": tensor_fsdp_step, "fsdp": fsdp_step, "hybrid-fsdp": hybrid_step,
             "ddp": ddp_step, "expert": expert_step}[scenario["layout"]]

    def program(rank):
        for step in range(scenario["steps"]):
            rank.begin(step)
            if scenario["checkpoint_every"] and rank.number == 0 and step % scenario["checkpoint_every"] == scenario["checkpoint_every"] - 1:
                rank.streams[0] += 150_000.0
            yield from steps(rank, Sizes(scenario, layout, rank.number), step)

    return program


class Sizes:
    """A rank's communicators, and how much it computes and sends."""

    def __init__(self, scenario, layout, number):
        self.scenario, self.layer_us = scenario, scenario["layer_us"]
        self.layers, self.microbatches, self.buckets = scenario["layers"], scenario["microbatches"], scenario["buckets"]
        self.stage, self.stages = layout.stage_of[number], layout.stages
        self.number = number
        for role in ("tensor", "data", "pipeline", "expert", "expert-data", "shard", "replicate", "world"):
            setattr(self, role.replace("-", "_"), layout.of.get(role, {}).get(number))

    def bytes(self, mib, share=1):
        """A message of so many MiB cut into equal shares, a multiple of 512 bytes."""
        return max(int(mib * MIB * self.scenario["message_scale"] / share) // 512 * 512, 512)


def finish(rank, z, step):
    """The norm of the gradients, too small to be recorded, and now and then statistics over all ranks."""
    rank.join()
    if z.world:
        rank.wait((yield "collective", z.world, "AllReduce", 4, 0))
        if step % 5 == 4:
            rank.wait((yield "collective", z.world, "AllReduce", 64 << 10, 0))


def tensor_pair(rank, z, micros):
    """A block between a gather and a scatter of its tensor group (sequence parallelism)."""
    n = len(z.tensor.ranks) if z.tensor else 1
    if z.tensor:
        rank.wait((yield "collective", z.tensor, "AllGather", z.bytes(32, n), 0))
    rank.compute(micros)
    if z.tensor:
        rank.wait((yield "collective", z.tensor, "ReduceScatter", z.bytes(32, n), 0))


def forward(rank, z):
    """A microbatch forward."""
    for _ in range(z.layers):
        yield from tensor_pair(rank, z, z.layer_us)


def backward(rank, z, reduce):
    """A microbatch backward; with the last one the gradients are reduced beside it."""
    for layer in range(z.layers):
        yield from tensor_pair(rank, z, 2 * z.layer_us)
        if reduce and z.data:
            for _ in range(max(z.buckets // z.layers, 1)):
                yield "collective", z.data, "ReduceScatter", z.bytes(40, len(z.data.ranks)), 1


def grid_step(rank, z, step):
    """Tensor × data × pipeline: one forward, one backward in turn (Narayanan et al., SC '21)."""
    up, down = z.stage - 1, z.stage + 1
    first, last = up < 0, down >= z.stages
    m, size = z.microbatches, z.bytes(16)

    def receive_forward():
        if not first:
            rank.wait((yield "exchange", z.pipeline, up, 0, size))

    def send_forward():
        if not last:
            rank.wait((yield "exchange", z.pipeline, down, size, 0))

    ahead = min(z.stages - z.stage - 1, m)
    for _ in range(ahead):
        yield from receive_forward()
        yield from forward(rank, z)
        yield from send_forward()
    if ahead < m:
        yield from receive_forward()
    for k in range(m - ahead):
        yield from forward(rank, z)
        if not last:
            rank.wait((yield "exchange", z.pipeline, down, size, size))
        yield from backward(rank, z, ahead == 0 and k == m - 1)
        if not first:
            rank.wait((yield "exchange", z.pipeline, up, size, size if k < m - ahead - 1 else 0))
    for k in range(ahead):
        if not last:
            rank.wait((yield "exchange", z.pipeline, down, 0, size))
        yield from backward(rank, z, k == ahead - 1)
        if not first:
            rank.wait((yield "exchange", z.pipeline, up, size, 0))
    rank.join()
    if z.data:
        for _ in range(z.buckets):
            yield "collective", z.data, "AllGather", z.bytes(40, len(z.data.ranks)), 1
    yield from finish(rank, z, step)


def sharded(rank, z, comm, blocks, reduced=None):
    """Parameters are gathered a layer ahead, forward and backward; gradients are scattered (and reduced over replicas)."""
    n, count = len(comm.ranks), len(blocks)
    ready = yield "collective", comm, "AllGather", z.bytes(96, n), 1
    for k, (micros, is_backward) in enumerate(blocks):
        rank.wait(ready)
        if k + 1 < count:
            ready = yield "collective", comm, "AllGather", z.bytes(96, n), 1
        if z.tensor:
            yield from tensor_pair(rank, z, micros)
        else:
            rank.compute(micros)
        if is_backward:
            yield "collective", comm, "ReduceScatter", z.bytes(96, n), 1
            if reduced:
                yield "collective", reduced, "AllReduce", z.bytes(96, n), 2


def blocks_of(z):
    return [(z.layer_us, False)] * z.layers + [(2 * z.layer_us, True)] * z.layers


def fsdp_step(rank, z, step):
    yield from sharded(rank, z, z.world, blocks_of(z))
    yield from finish(rank, z, step)


def tensor_fsdp_step(rank, z, step):
    yield from sharded(rank, z, z.data, blocks_of(z))
    yield from finish(rank, z, step)


def hybrid_step(rank, z, step):
    yield from sharded(rank, z, z.shard, blocks_of(z), z.replicate)
    yield from finish(rank, z, step)


def ddp_step(rank, z, step):
    for _ in range(z.layers):
        rank.compute(z.layer_us)
    for bucket in range(z.buckets):
        rank.compute(2 * z.layer_us * z.layers / z.buckets)
        yield "collective", z.world, "AllReduce", z.bytes(25 if bucket else 8), 1
    yield from finish(rank, z, step)


def expert_step(rank, z, step):
    n = len(z.expert.ranks)
    for k in range(2 * z.layers):
        times = 1 if k < z.layers else 2
        rank.compute(0.5 * times * z.layer_us)
        rank.wait((yield "all-to-all", z.expert, z.bytes(24, n), 0))
        rank.compute(0.5 * times * z.layer_us)
        rank.wait((yield "all-to-all", z.expert, z.bytes(24, n), 0))
        if times == 2:
            yield "collective", z.world, "AllReduce", z.bytes(32), 1
            if z.expert_data:
                yield "collective", z.expert_data, "AllReduce", z.bytes(32), 2
    yield from finish(rank, z, step)
