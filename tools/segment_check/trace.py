# SPDX-License-Identifier: Apache-2.0
"""Reads the output of `perf script`. Nothing of icepath's own capture is used."""
import re
from collections import namedtuple

# cpu: of the event; tid: the current task, which acted or was only interrupted (-1: it is dead); text: the tracepoint's
# fields
Event = namedtuple("Event", "ns cpu tid name text")

EVENTS = (
    "sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task,"
    "irq:irq_handler_entry,irq:irq_handler_exit,irq:softirq_entry,irq:softirq_exit,"
    "irq_vectors:local_timer_entry,irq_vectors:local_timer_exit,"
    "irq_vectors:reschedule_entry,irq_vectors:reschedule_exit,"
    "irq_vectors:call_function_entry,irq_vectors:call_function_exit,"
    "irq_vectors:call_function_single_entry,irq_vectors:call_function_single_exit,"
    # perf must not sample irq_work_exit: its own buffers wake their reader by irq_work.
    "irq_vectors:irq_work_entry,net:net_dev_queue,sock:sk_data_ready"
)
# Most of these would be perf's own writes.
SYSCALLS = "raw_syscalls:sys_enter,raw_syscalls:sys_exit"

_LINE = re.compile(r"\s*(?P<comm>.*?)\s+(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(?:\w+):(\w+): ?(.*)")
_LOST = re.compile(r"\[(\d+)\]\s+(\d+)\.(\d{9}):.*PERF_RECORD_LOST\w*\D+(\d+)\s*$")


class Trace:
    """Reads events in the order of perf's output; `lost` counts the events that perf reports as lost."""

    def __init__(self, lines):
        self._lines = iter(lines)
        self._kept = None
        self._recent = []
        self.lost = 0
        self.losses = []  # (begin, end): from the last kept event of that CPU
        self._last = {}
        self.unread = 0

    def _next(self):
        if self._kept is not None:
            event, self._kept = self._kept, None
            return event
        for line in self._lines:
            found = _LINE.match(line)
            if found:
                _, tid, cpu, seconds, ns, name, text = found.groups()
                at_ns = self._last[cpu] = int(seconds) * 1000000000 + int(ns)
                return Event(at_ns, int(cpu), int(tid), name, text)
            lost = _LOST.search(line)
            if lost:
                cpu, seconds, ns, count = lost.groups()
                self.lost += int(count)
                self.losses.append((self._last.get(cpu, 0), int(seconds) * 1000000000 + int(ns)))
            elif line.strip():
                self.unread += 1
        return None

    def to_the_end(self):
        while self._next() is not None:
            pass

    def lost_in(self, begin_ns, end_ns):
        return any(begin < end_ns and end >= begin_ns for begin, end in self.losses)

    def between(self, begin_ns, end_ns):
        """Events of [begin, end), sorted. Of earlier events, only those of the last call are still available."""
        events = [event for event in self._recent if begin_ns <= event.ns < end_ns]
        while (event := self._next()) is not None:
            if event.ns >= end_ns:
                self._kept = event
                break
            if event.ns >= begin_ns:
                events.append(event)
        events.sort(key=lambda event: event.ns)
        self._recent = events
        return events
