# SPDX-License-Identifier: Apache-2.0
"""At one tracepoint perf's handler and icepath's run one after the other: by how much their times differ, as a rule.

It is learnt for each block anew: the machine changes its speed within seconds, and 600 ns become 1700. The samples are interrupts
and wakings. Switches don't tell: where perf records nothing while the idle task is current, a thread that comes after it turns up
with a later event of its own. Of system calls it is learnt for each cell by itself: in some, icepath has them by a tracepoint as
well, in others by stamps of the program around them."""
import bisect
import re
from collections import defaultdict
from statistics import median

ENOUGH, FEW_CALLS = 100, 20  # samples
FURTHEST_NS = 3000  # what is further apart is no pair
_PID = re.compile(r" pid=(\d+) prio=")


class Lag:
    """The median over pairs of boundaries that rest on a tracepoint and perf's event of it. Positive: perf was first."""

    def __init__(self):
        self._samples = []  # the block's; where these are few, of those before as well
        self._calls = {}  # likewise, by cell's title
        self.by_block = []

    def learn(self, events, title, paths):
        """From a block's events and paths. Returns what to move its events by, and those of system calls."""
        interrupts, wakings, calls = [], defaultdict(list), defaultdict(list)
        for event in events:
            if event.name == "sys_enter":
                calls[event.tid].append(event.ns)
            elif event.name == "sched_waking":
                if found := _PID.search(event.text):
                    wakings[int(found.group(1))].append(event.ns)
            elif event.name.endswith("_entry"):
                interrupts.append(event.ns)
        samples, call_samples = [], []
        for path in paths:
            self._learn_path(path, interrupts, wakings, samples)
            for before, segment in zip(path["segments"], path["segments"][1:]):
                if segment["layer"].endswith(".kernel") and before["layer"].endswith(".user") and before["tid"] == segment["tid"]:
                    call_samples += self._nearest(segment["begin_ns"], calls[segment["tid"]])
        self._samples = samples if len(samples) >= ENOUGH else (self._samples + samples)[-ENOUGH:]
        if len(call_samples) < FEW_CALLS:
            call_samples = (self._calls.get(title, []) + call_samples)[-FEW_CALLS:]
        self._calls[title] = call_samples
        ns = int(median(self._samples)) if self._samples else 0
        self.by_block.append(ns)
        return ns, int(median(call_samples)) if len(call_samples) >= FEW_CALLS else 0

    def _learn_path(self, path, interrupts, wakings, samples):
        for segment in path["segments"]:
            if segment["layer"] == "interrupt":
                samples += self._nearest(segment["begin_ns"], interrupts)
            elif segment["layer"] == "wakeup" and segment["part"] in ("", "ipi") and segment["begin_ns"] != path["send_ns"]:
                samples += self._nearest(segment["begin_ns"], wakings[segment["tid"]])

    @staticmethod
    def _nearest(at_ns, events):
        at = bisect.bisect_left(events, at_ns)
        near = [at_ns - ns for ns in events[max(at - 1, 0):at + 1] if abs(at_ns - ns) < FURTHEST_NS]
        return [min(near, key=abs)] if near else []
