"""Runs the programs of all ranks until everyone is done.

A rank has streams: 0 computes, the others communicate. Its program enqueues; where it comes to an operation with others it
halts until all of them have come to it, which fixes the order of everything without a clock. The times are the streams':

    an operation starts on a rank when its stream is free and what it depends on is done, a launch later;
    it transfers from the last start on, and ends on all ranks at nearly the same time;
    a rank's kernel time is from its own start to the end.

So the rank that comes last shows the shortest time.
"""
from collections import deque

STREAMS = 3


class Rank:
    """A rank's streams, and the records that its plugin made."""

    def __init__(self, number, timing, faults):
        self.number, self._timing, self._faults = number, timing, faults
        self.streams = [0.0] * STREAMS
        self.step = 0
        self.records = []  # (end, communicator, function, number, size, kernel µs, peer or -1)
        self.held = []  # (start, end) of what a fault added to its computing: what a trace of its host would show

    def begin(self, step):
        """A step begins."""
        self.step = step
        self._hold(self._faults.pause(self.number, step, self._timing.random))

    def compute(self, micros):
        """Computes on stream 0."""
        t = self._timing
        slower = self._faults.computing(self.number, self.step)
        took = micros * t.factor(self.number, self.step) * t.computing_noise()
        self.streams[0] += took / slower + t.pauses()
        self._hold(took - took / slower)

    def _hold(self, micros):
        if micros > 0:
            self.held.append((self.streams[0], self.streams[0] + micros))
            self.streams[0] += micros

    def wait(self, moment):
        """Computing goes on after a moment."""
        if moment > self.streams[0]:
            self.streams[0] = moment

    def join(self):
        """Computing goes on after all that was enqueued."""
        self.streams[0] = max(self.streams)

    def start(self, stream):
        """When an operation enqueued now starts."""
        t = self._timing
        free = self.streams[stream]
        if stream and self.streams[0] > free:
            free = self.streams[0]
        return free + t.jitter() + t.offset[self.number]


class Engine:
    """Programs are generators that yield operations and get back when each ended:

        ("collective", communicator, function, size, stream)
        ("exchange", communicator, peer's rank in it, size sent or 0, size received or 0)
        ("all-to-all", communicator, size for each peer, stream)
    """

    def __init__(self, layout, timing, faults, least_size):
        self.layout, self.timing, self.least_size = layout, timing, least_size
        self.ranks = [Rank(r, timing, faults) for r in range(layout.size)]
        self._waiting = {}
        self._faults = faults
        self.resent = []  # (µs, host that sent again, host that it sent to)

    def run(self, program):
        """Runs `program(rank)` of every rank."""
        programs = [program(r) for r in self.ranks]
        runnable = deque((r, None) for r in range(len(self.ranks)))
        left = len(self.ranks)
        while runnable:
            r, value = runnable.popleft()
            try:
                operation = programs[r].send(value)
            except StopIteration:
                left -= 1
                continue
            runnable.extend(self._meet(r, operation))
        if left:
            raise RuntimeError(f"{left} ranks wait for each other for ever")

    def _meet(self, rank, operation):
        """Ranks that can go on, and when the operation they waited for ended."""
        kind, comm = operation[0], operation[1]
        if kind == "exchange":
            me, peer = comm.place[rank], operation[2]
            key, needed = (comm.identity, min(me, peer), max(me, peer)), 2
        else:
            key, needed = comm.identity, len(comm.ranks)
        here = self._waiting.setdefault(key, [])
        here.append((rank, operation))
        if len(here) < needed:
            return []
        del self._waiting[key]
        return {"collective": self._collective, "exchange": self._exchange, "all-to-all": self._all_to_all}[kind](comm, here)

    def _collective(self, comm, here):
        _, _, function, size, stream = here[0][1]
        starts = [(r, self.ranks[r].start(stream)) for r, _ in here]
        step = self.ranks[here[0][0]].step
        last, took = max(s for _, s in starts), self.timing.transfer(comm, function, size, step)
        hosts = {self.layout.host_of[r] for r in comm.ranks}
        end = last + took + self._lost(hosts, hosts, step, last, took)
        number = comm.sequence.get(function, 0)
        comm.sequence[function] = number + 1
        out = []
        for r, start in starts:
            rank = self.ranks[r]
            mine = end + self.timing.random.random()
            rank.streams[stream] = mine
            if size >= self.least_size:
                rank.records.append((mine, comm, function, number, size, int(mine - start), -1))
            out.append((r, mine))
        return out

    def _exchange(self, comm, here):
        (a, first), (b, second) = here
        starts = {a: self.ranks[a].start(0), b: self.ranks[b].start(0)}
        pair = (comm.place[a], comm.place[b])
        largest = max(first[3], first[4])
        last, took = max(starts.values()), self.timing.transfer(comm, "Send", largest, self.ranks[a].step, pair)
        senders = {self.layout.host_of[r] for r, operation in here if operation[3]}
        receivers = {self.layout.host_of[r] for r, operation in here if operation[4]}
        end = last + took + self._lost(senders, receivers, self.ranks[a].step, last, took)
        for r, (_, _, peer, sent, received) in ((a, first), (b, second)):
            self.ranks[r].streams[0] = end
            for function, size in (("Send", sent), ("Recv", received)):
                if size:
                    self._point_to_point(self.ranks[r], comm, function, peer, size, end, int(end - starts[r]))
        return [(a, end), (b, end)]

    def _lost(self, senders, receivers, step, start, took):
        """How much longer a transfer takes because it loses segments."""
        if len(senders | receivers) < 2:
            return 0.0
        delay, again = self._faults.losses(senders, receivers, step, self.timing.random)
        self.resent += [(start + self.timing.random.uniform(0.05, 0.8) * (took + delay), *ends) for ends in again]
        return delay

    def _point_to_point(self, rank, comm, function, peer, size, end, micros):
        me = comm.place[rank.number]
        comm.p2p_sequence[me] += 1
        if size >= self.least_size:
            rank.records.append((end, comm, function, comm.p2p_sequence[me], size, micros, peer))

    def _all_to_all(self, comm, here):
        _, _, size, stream = here[0][1]
        n, starts = len(comm.ranks), [(r, self.ranks[r].start(stream)) for r, _ in here]
        # One group of Sends and Recvs: NCCL times it as a whole on each rank.
        last = max(s for _, s in starts)
        end = last + self.timing.all_to_all(comm, size, self.ranks[here[0][0]].step)
        for r, start in starts:
            self.ranks[r].streams[stream] = end
            for peer in range(n):
                if peer != comm.place[r]:
                    for function in ("Send", "Recv"):
                        self._point_to_point(self.ranks[r], comm, function, peer, size, end, int(end - start))
        return [(r, end) for r, _ in starts]
