"""What can go wrong in a simulated job, and how strongly at a given step.

    slow-gpu        rank  factor   its computing takes factor times as long
    throttling      rank  factor   the same, growing from 1 to factor between "from" and "to"
    pauses          rank  chance of a pause in a step, delay_us
    slow-host       host  factor   the computing of all its ranks takes factor times as long
    slow-nic        rank  factor   its network card runs at factor of its bandwidth
    slow-host-net   host  factor   every network card of the host does
    slow-nvlink     rank  factor   its NVLink does
    congestion            factor   every network card of the job does, between "from" and "to"
    loss            host  chance that a transfer with it loses segments and takes delay_us longer; side: "sender", or "receiver", to whom
                          all others of the communicator send again
"""

COMPUTING = ("slow-gpu", "throttling", "slow-host")
KINDS = (*COMPUTING, "pauses", "slow-nic", "slow-host-net", "slow-nvlink", "congestion", "loss")


class Faults:
    """The faults of a scenario, asked step by step."""

    def __init__(self, scenario, host_of):
        self.steps, self.host_of = scenario["steps"], host_of
        self.all = [{"from": 0.0, "to": 1.0, **f} for f in scenario["faults"]]
        for f in self.all:
            if f["kind"] not in KINDS:
                raise ValueError(f"unknown fault {f['kind']}")

    def steps_of(self, fault):
        """First step and the one behind the last."""
        return int(fault["from"] * self.steps), max(int(fault["to"] * self.steps), int(fault["from"] * self.steps) + 1)

    def _active(self, step, *kinds):
        for f in self.all:
            start, end = self.steps_of(f)
            if f["kind"] in kinds and start <= step < end:
                yield f

    def computing(self, rank, step):
        """How many times as long the computing of a rank takes."""
        total = 1.0
        for f in self._active(step, *COMPUTING):
            if f["kind"] == "slow-host":
                total *= f["factor"] if self.host_of[rank] == f["host"] else 1.0
            elif f["rank"] == rank:
                start, end = self.steps_of(f)
                grown = (step - start) / max(end - start - 1, 1) if f["kind"] == "throttling" else 1.0
                total *= 1 + (f["factor"] - 1) * grown
        return total

    def pause(self, rank, step, random):
        """A pause of a rank in a step, µs."""
        total = 0.0
        for f in self._active(step, "pauses"):
            if f["rank"] == rank and random.random() < f["chance"]:
                total += f["delay_us"] * random.uniform(0.7, 1.3)
        return total

    def losses(self, senders, receivers, step, random):
        """What a transfer between hosts loses: µs that it takes longer, and who sends again to whom, each (host, host)."""
        delay, again = 0.0, []
        for f in self._active(step, "loss"):
            host = f["host"]
            ends = sorted((receivers if f["side"] == "sender" else senders) - {host})
            if not ends or host not in (senders if f["side"] == "sender" else receivers) or random.random() >= f["chance"]:
                continue
            delay += f["delay_us"] * random.uniform(0.6, 1.4)
            for _ in range(random.randint(1, 4)):
                # A ring's next host; or any of those that send.
                again.append((host, ends[(host + 1) % len(ends)]) if f["side"] == "sender" else (random.choice(ends), host))
        return delay, again

    def nic(self, rank, step):
        """Share of its bandwidth that a rank's network card has."""
        share = 1.0
        for f in self._active(step, "slow-nic", "slow-host-net", "congestion"):
            hit = f["kind"] == "congestion" or f.get("rank") == rank or f.get("host") == self.host_of[rank]
            share *= f["factor"] if hit else 1.0
        return share

    def nvlink(self, rank, step):
        """Share of its bandwidth that a rank's NVLink has."""
        share = 1.0
        for f in self._active(step, "slow-nvlink"):
            share *= f["factor"] if f["rank"] == rank else 1.0
        return share
