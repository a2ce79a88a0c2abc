# SPDX-License-Identifier: Apache-2.0
"""The usual time between perf's and icepath's handlers, which run one after the other at a tracepoint.

It is learnt for each block anew, because the machine changes its speed within seconds: 600 ns become 1700. The samples
are interrupts and wakings. Switches can't be used: where perf records nothing while the idle task is current, the next
thread only appears with a later event of its own. For system calls the lag is learnt per cell: in some, icepath uses a
tracepoint for them, in others the program's stamps around them. It differs between begin and end: icepath's handler
stamps a call's begin as it ends, and a call's end as it begins."""
import bisect
import re
from collections import defaultdict
from statistics import median

ENOUGH, FEW_CALLS = 100, 20  # samples
FURTHEST_NS = 3000  # events further apart aren't a pair
_PID = re.compile(r" pid=(\d+) prio=")


class Lag:
    """The median difference between boundaries that rest on a tracepoint and perf's events. Positive: perf is first."""

    def __init__(self):
        self._samples = []  # of the block, and of earlier ones if these are few
        self._calls = {}  # the same for system calls, by cell's title and the event's name
        self.by_block = []

    def learn(self, events, title, paths):
        """Learns from a block. Returns by how much to move its events, its system calls' begins, and their ends."""
        interrupts, wakings = [], defaultdict(list)
        calls = {name: defaultdict(list) for name in ("sys_enter", "sys_exit")}
        for event in events:
            if event.name in calls:
                calls[event.name][event.tid].append(event.ns)
            elif event.name == "sched_waking":
                if found := _PID.search(event.text):
                    wakings[int(found.group(1))].append(event.ns)
            elif event.name.endswith("_entry"):
                interrupts.append(event.ns)
        samples, call_samples = [], {name: [] for name in calls}
        for path in paths:
            self._learn_path(path, interrupts, wakings, samples)
            for before, segment in zip(path["segments"], path["segments"][1:]):
                if before["tid"] != segment["tid"]:
                    continue
                kinds = [one["layer"].rpartition(".")[2] for one in (before, segment)]
                name = {("user", "kernel"): "sys_enter", ("kernel", "user"): "sys_exit"}.get(tuple(kinds))
                if name:
                    call_samples[name] += self._nearest(segment["begin_ns"], calls[name][segment["tid"]])
        self._samples = samples if len(samples) >= ENOUGH else (self._samples + samples)[-ENOUGH:]
        ns = int(median(self._samples)) if self._samples else 0
        self.by_block.append(ns)
        return ns, *(self._of_calls((title, name), some) for name, some in call_samples.items())

    def _of_calls(self, key, samples):
        if len(samples) < FEW_CALLS:
            samples = (self._calls.get(key, []) + samples)[-FEW_CALLS:]
        self._calls[key] = samples
        return int(median(samples)) if len(samples) >= FEW_CALLS else 0

    def _learn_path(self, path, interrupts, wakings, samples):
        before = None
        for segment in path["segments"]:
            if segment["layer"] == "interrupt":
                samples += self._nearest(segment["begin_ns"], interrupts)
            elif segment["layer"] == "wakeup" and before and before["layer"] != "wakeup":
                samples += self._nearest(
                    segment["begin_ns"], wakings[segment["tid"]]
                )  # its later parts begin elsewhere
            before = segment

    @staticmethod
    def _nearest(at_ns, events):
        at = bisect.bisect_left(events, at_ns)
        near = [at_ns - ns for ns in events[max(at - 1, 0) : at + 1] if abs(at_ns - ns) < FURTHEST_NS]
        return [min(near, key=abs)] if near else []
