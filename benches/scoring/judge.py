"""Holds a report against the truth of a simulated job.

Found: a finding of the right kind with the right subject (and scope) among those of any severity.
Invented: any other finding about performance of severity warning or critical; the victims of a cause aren't causes.
Where records leave it open by principle (`resolvable` in the truth), silence is right, naming the cause among candidates is
right too, and anything else is invented.
"""
from dataclasses import dataclass, field

PERFORMANCE = {"late_rank", "intermittent_late_rank", "late_host", "slow_link", "stage_imbalance", "tcp_retransmits"}
LOUD = {"warning", "critical"}
KIND = {"slow-gpu": "late_rank", "throttling": "late_rank", "pauses": "intermittent_late_rank", "slow-host": "late_host",
        "slow-nic": "slow_link", "slow-host-net": "slow_link", "slow-nvlink": "slow_link", "congestion": "slow_link"}
SCOPE = {"slow-nic": "nic", "slow-host-net": "host", "slow-nvlink": "nvlink", "congestion": "fabric"}


@dataclass
class Verdict:
    """What came of a job."""

    resolvable: int = 0
    found: int = 0
    open_found: int = 0  # found though the records needn't tell
    missed: list = field(default_factory=list)
    invented: list = field(default_factory=list)
    noted: list = field(default_factory=list)  # wrong too, but of severity info


def key(subject):
    """A rank by host and process, a host by its name."""
    return subject["host"], subject.get("pid")


def overlap(window, fault):
    """Shared part of the union of a finding's window and a fault's."""
    a, b = (window["start_us"], window["end_us"]), (fault["start_us"], fault["end_us"])
    shared = max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
    return shared / max(max(a[1], b[1]) - min(a[0], b[0]), 1.0)


def names(finding, fault):
    """Whether a finding is what a fault asks for."""
    kind, window = fault["kind"], finding.get("window")
    if finding["kind"] != KIND[kind] or finding.get("scope") != SCOPE.get(kind):
        return False
    said = {key(s) for s in finding["subjects"]}
    if kind == "congestion":
        return window is not None and overlap(window, fault) >= 0.5
    if window is not None and overlap(window, fault) <= 0.0:
        return False
    if kind in SCOPE:
        # As few as the records allow: no more than sit in every slow communicator or pair that has a fast sibling.
        among = {(s["host"], s.get("pid")) for s in fault["among"]} or said
        right = {key(s) for s in fault["subjects"]} <= said and len(said) <= len(among)
        return right and (len(said) == 1 or finding.get("candidates_only") is True)
    return said == {key(s) for s in fault["subjects"]}


def judge(truth, report):
    """The verdict on a report."""
    performance = [f for f in report["findings"] if f["kind"] in PERFORMANCE]
    verdict, used = Verdict(), set()
    for fault in truth["faults"]:
        hit = next((i for i, f in enumerate(performance) if i not in used and names(f, fault)), None)
        if hit is not None:
            used.add(hit)
        if fault["resolvable"]:
            verdict.resolvable += 1
            if hit is None:
                verdict.missed.append(fault)
            else:
                verdict.found += 1
        elif hit is not None:
            verdict.open_found += 1
    other = [f for i, f in enumerate(performance) if i not in used]
    verdict.invented = [f for f in other if f["severity"] in LOUD]
    verdict.noted = [f for f in other if f["severity"] not in LOUD]
    return verdict
