# SPDX-License-Identifier: Apache-2.0
"""At one tracepoint perf's handler and icepath's run one after the other: by how much their times differ, as a rule.

Learnt from interrupts and wakings. Switches don't tell: where perf records nothing while the idle task is current, a thread that
comes after it turns up with a later event of its own. Of system calls it is learnt for each cell: in some, icepath has them by a
tracepoint as well, in others by stamps of the program around them."""
import bisect
from statistics import median

ENOUGH, FEW_CALLS = 500, 20  # samples
FURTHEST_NS = 3000  # what is further apart is no pair


class Lag:
    """The median over pairs of boundaries that rest on a tracepoint and perf's event of it. Positive: perf was first."""

    def __init__(self):
        self._samples = []
        self.calls_ns = {}  # by cell's title

    def known(self):
        return len(self._samples) >= ENOUGH

    @property
    def ns(self):
        return int(median(self._samples)) if self._samples else 0

    def learn_calls(self, title, paths, lines):
        samples = []
        entries = {tid: [ns for ns, _ in found] for tid, found in lines.entries.items()}
        for path in paths:
            for before, segment in zip(path["segments"], path["segments"][1:]):
                if segment["layer"].endswith(".kernel") and before["layer"].endswith(".user") and before["tid"] == segment["tid"]:
                    samples += self._nearest(segment["begin_ns"], entries.get(segment["tid"], []))
        self.calls_ns[title] = int(median(samples)) if len(samples) >= FEW_CALLS else 0

    def learn(self, paths, lines):
        begins = sorted(item[0] for line in lines.outermost.values() for item in line.items)
        wakings = {}
        for path in paths:
            for segment in path["segments"]:
                if segment["layer"] == "interrupt":
                    self._samples += self._nearest(segment["begin_ns"], begins)
                elif segment["layer"] == "wakeup" and segment["part"] in ("", "ipi") and segment["begin_ns"] != path["send_ns"]:
                    tid = segment["tid"]
                    if tid not in wakings:
                        wakings[tid] = [waking[0] for waking in lines.wakings[tid]]
                    self._samples += self._nearest(segment["begin_ns"], wakings[tid])

    @staticmethod
    def _nearest(at_ns, events):
        at = bisect.bisect_left(events, at_ns)
        near = [at_ns - ns for ns in events[max(at - 1, 0):at + 1] if abs(at_ns - ns) < FURTHEST_NS]
        return [min(near, key=abs)] if near else []
