# SPDX-License-Identifier: Apache-2.0
"""Timelines of threads and CPUs from tracepoints alone: running, waiting and sleeping threads, and interrupts.

A state is a set of bits: several are possible where events don't decide. A kernel may hide all events of a task (a
sandbox those of its agent, and sometimes of a CPU's idle task). A thread then appears on a CPU that another one seemed
to have: it was switched in at an unknown time after that CPU's last event, and no more is claimed.
"""
import bisect
import re
from collections import defaultdict

USER, KERNEL, RUNNABLE, ASLEEP, WAKING = 1, 2, 4, 8, 16
EDGE = 32  # beside one of these: within EDGE_NS of a system call's tracepoint, on its way into or out of the kernel
EDGE_NS = 3000
RUNNING = USER | KERNEL | EDGE
ANY = RUNNING | RUNNABLE | ASLEEP | WAKING
NOBODY_KNOWS = -1  # instead of a tid: the CPU's task isn't known

_SWITCH = re.compile(r".*prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> .*next_pid=(\d+)")
_MOVE = re.compile(r".* pid=(\d+) prio=-?\d+ orig_cpu=(\d+) dest_cpu=(\d+)")
_PID = re.compile(r".* pid=(\d+) prio=")
_SOFTIRQ = re.compile(r"vec=\d+ \[action=(\w+)\]")
_IRQ = re.compile(r"irq=(\d+)")
_VECTORS = {
    "local_timer": "timer interrupt",
    "reschedule": "reschedule interrupt",
    "irq_work": "irq work interrupt",
    "call_function": "function call interrupt",
    "call_function_single": "function call interrupt",
}


class Intervals:
    """(begin, end, value, cpu) in time order, disjoint."""

    def __init__(self):
        self.items = []
        self._begins = None

    def add(self, begin, end, value, cpu):
        if begin < end:
            self.items.append((begin, end, value, cpu))

    def whole_within(self, begin, end):
        """Those that have a part in [begin, end)."""
        if self._begins is None:
            self._begins = [item[0] for item in self.items]
        for at in range(max(bisect.bisect_right(self._begins, begin) - 1, 0), len(self.items)):
            if self.items[at][0] >= end:
                break
            if self.items[at][1] > begin:
                yield self.items[at]

    def within(self, begin, end):
        for first, last, value, cpu in self.whole_within(begin, end):
            yield max(first, begin), min(last, end), value, cpu


class _Thread:
    def __init__(self, begin):
        self.since, self.state, self.cpu = begin, ANY, None
        self.waking = None  # ns of a waking; not yet runnable
        self.in_call = None  # None: not known
        self.at_door_until = None  # on its way into or out of the kernel
        self.entered = None
        self.line = Intervals()

    def running_state(self):
        return USER | KERNEL if self.in_call is None else KERNEL if self.in_call else USER

    def until(self, ns, state):
        """Ends the current state at `ns` and begins another."""
        if self.at_door_until is not None and self.state in (USER, KERNEL):
            self.line.add(self.since, min(ns, self.at_door_until), self.state | EDGE, self.cpu)
            self.since = max(self.since, min(ns, self.at_door_until))
        self.at_door_until = None
        self.line.add(self.since, ns, self.state, self.cpu)
        self.since, self.state = max(ns, self.since), state


class Timelines:
    def __init__(self, events, begin_ns, end_ns, lag_ns=0, begins_lag_ns=0, ends_lag_ns=0):
        self.begin, self.end = begin_ns, end_ns
        self._lag, self._calls_lag = lag_ns, {"sys_enter": begins_lag_ns, "sys_exit": ends_lag_ns}
        self.times = defaultdict(list)  # by CPU: times of its events
        self._threads = defaultdict(lambda: _Thread(begin_ns))
        self.cpus = defaultdict(Intervals)  # value: tid of the CPU's task
        self.interrupts = defaultdict(lambda: defaultdict(Intervals))  # by CPU, name
        self.outermost = defaultdict(Intervals)  # by CPU; value: name
        self.uppermost = defaultdict(Intervals)  # the same, but an interrupt on top of another one has the time
        self.moves = defaultdict(list)  # by tid: (ns, old CPU, new CPU)
        self.ksoftirqd = set()  # tids
        self.wakings = defaultdict(list)  # by tid: (ns, current tid, interrupt's name or None)
        self.entries, self.exits = defaultdict(list), defaultdict(list)  # of system calls by tid: (ns, cpu)
        self.instants = defaultdict(list)  # by event's name: ns
        self.hidden = defaultdict(int)  # by CPU: switches without an event
        self._current, self._since, self._last, self._nest = {}, {}, {}, defaultdict(list)
        self._upper_since = {}
        for event in sorted(self._at_other_handler(events), key=lambda event: event.ns):
            self._see(event)
        for thread in self._threads.values():
            thread.until(end_ns, 0)
        for cpu, tid in self._current.items():
            self.cpus[cpu].add(self._since[cpu], end_ns, tid, cpu)

    def _at_other_handler(self, events):
        """Yields the events as the other handler saw them, those of a CPU in their order. Two successive ones of calls
        move by the mean of their lags where these, which are medians, would take more than half of what is between."""
        by_cpu = defaultdict(list)
        for event in events:
            by_cpu[event.cpu].append(event)
        calls = self._calls_lag
        mean_ns = sum(calls.values()) // len(calls)
        for line in by_cpu.values():
            lags = [calls.get(event.name, self._lag) for event in line]
            for at, (one, other) in enumerate(zip(line, line[1:])):
                between_ns = other.ns - one.ns
                if one.name in calls and other.name in calls and 2 * (lags[at] - lags[at + 1]) > between_ns:
                    lags[at] = lags[at + 1] = mean_ns
            before_ns = line[0].ns + self._lag
            for at, event in enumerate(line):
                following = line[min(at + 1, len(line) - 1)]
                latest_ns = following.ns + (mean_ns if following.name in calls else self._lag)
                before_ns = max(min(event.ns + lags[at], latest_ns), before_ns)
                yield event._replace(ns=before_ns)

    def thread(self, tid):
        """Its states; all are possible if no event names it."""
        if tid not in self._threads:
            unknown = Intervals()
            unknown.add(self.begin, self.end, ANY, None)
            return unknown
        return self._threads[tid].line

    def _see(self, event):
        cpu = event.cpu
        if event.tid >= 0 and event.tid != self._current.get(cpu):
            self._turned_up(event)
        name = event.name
        if name == "sched_switch":
            self._switch(event)
        elif name == "sched_waking":
            self._waking(event)
        elif name in ("sched_wakeup", "sched_wakeup_new"):
            self._wakeup(event)
        elif name == "sched_migrate_task":
            if found := _MOVE.match(" " + event.text):
                self.moves[int(found.group(1))].append((event.ns, int(found.group(2)), int(found.group(3))))
        elif name == "sys_enter":
            self._call(event, True)
        elif name == "sys_exit":
            self._call(event, False)
        elif name.endswith("_entry"):
            self._interrupt_begins(event)
        elif name.endswith("_exit"):
            self._interrupt_ends(event)
        else:
            self.instants[name].append(event.ns)
        self._last[cpu] = event.ns
        if not name.endswith("_entry"):  # after a stall an interrupt may be a CPU's first event
            self.times[cpu].append(event.ns)

    def _turned_up(self, event):
        cpu, tid, ns = event.cpu, event.tid, event.ns
        last = self._last.get(cpu, self.begin)
        if cpu in self._current:
            before = self._current[cpu]
            self.hidden[cpu] += 1
            self.cpus[cpu].add(self._since[cpu], last, before, cpu)
            self.cpus[cpu].add(last, ns, NOBODY_KNOWS, cpu)
            if before in self._threads and before != 0:
                other = self._threads[before]
                if other.state & RUNNING:
                    other.until(last, ANY)
        self._current[cpu], self._since[cpu] = tid, ns
        if tid == 0:
            return
        thread = self._threads[tid]
        state = thread.state
        if not state & RUNNING and state != ANY:
            woken = (
                WAKING | RUNNABLE if state & WAKING else RUNNABLE if state & RUNNABLE else ASLEEP | WAKING | RUNNABLE
            )
            thread.state = woken
            if last > thread.since:
                thread.until(last, woken | RUNNING)
            else:
                thread.state = woken | RUNNING
        thread.waking = None
        thread.until(ns, thread.running_state())
        thread.cpu = cpu

    def _switch(self, event):
        found = _SWITCH.match(event.text)
        if not found:
            return
        prev, state, following = int(found.group(1)), found.group(2), int(found.group(3))
        if "next_comm=ksoftirqd/" in event.text:
            self.ksoftirqd.add(following)
        cpu, ns = event.cpu, event.ns
        self._nest[cpu].clear()  # the end of any unfinished interrupt was hidden
        if prev != 0:
            thread = self._threads[prev]
            if state.startswith("R"):
                thread.until(ns, RUNNABLE)
            else:
                thread.until(ns, WAKING if thread.waking else ASLEEP)
        if following != 0:
            thread = self._threads[following]
            if thread.state & (ASLEEP | WAKING) and thread.state != ANY:  # its wakeup happened in a hidden task
                thread.state = WAKING | RUNNABLE if thread.state == WAKING else ASLEEP | WAKING | RUNNABLE
                self.hidden[cpu] += 1
            thread.waking = None
            thread.until(ns, thread.running_state())
            thread.cpu = cpu
        if cpu in self._current:
            self.cpus[cpu].add(self._since[cpu], ns, self._current[cpu], cpu)
        self._current[cpu], self._since[cpu] = following, ns

    def _context(self, cpu):
        nest = self._nest[cpu]
        return nest[-1][1] if nest else None

    def _waking(self, event):
        found = _PID.match(" " + event.text)
        if not found:
            return
        tid = int(found.group(1))
        self.wakings[tid].append((event.ns, event.tid, self._context(event.cpu)))
        thread = self._threads[tid]
        if thread.state == ANY and thread.since == self.begin:
            thread.state = ASLEEP  # since before the recording; a later switch-out would be in it
        if thread.state == ASLEEP:
            thread.until(event.ns, WAKING)
        if thread.waking is None:
            thread.waking = event.ns

    def _wakeup(self, event):
        found = _PID.match(" " + event.text)
        if not found:
            return
        thread = self._threads[int(found.group(1))]
        thread.waking = None
        if not thread.state & RUNNING or thread.state == ANY:
            thread.until(event.ns, RUNNABLE)

    def _call(self, event, enters):
        thread = self._threads[event.tid]
        if thread.in_call is None and thread.state == USER | KERNEL:
            thread.state = USER if enters else KERNEL
        if enters:
            thread.until(max(self._on_its_way_in_since(event), thread.since), USER | EDGE)
            thread.until(event.ns, KERNEL)
            thread.entered = event.ns
            self.entries[event.tid].append((event.ns, event.cpu))
        else:
            thread.until(event.ns, USER)
            thread.at_door_until = event.ns + EDGE_NS
            self.exits[event.tid].append((event.ns, event.cpu))
        thread.in_call = enters

    def _on_its_way_in_since(self, event):
        since = event.ns - EDGE_NS
        for begin, end, _, _ in reversed(self.outermost[event.cpu].items):
            if end < since:
                break
            since -= end - begin
        return since

    @staticmethod
    def _at_door(thread, begin, end):
        """Extends a thread's edge by an interrupt at a system call's tracepoint or on the way out."""
        if not thread:
            return
        if thread.at_door_until is not None and begin <= thread.at_door_until:
            thread.at_door_until += end - begin
        elif thread.state == KERNEL and thread.since == thread.entered and begin - thread.entered <= EDGE_NS:
            thread.at_door_until = end + EDGE_NS

    def _interrupt_begins(self, event):
        name = event.name[: -len("_entry")]
        if name == "softirq":
            called = _SOFTIRQ.match(event.text).group(1) + " softirq"
        elif name == "irq_handler":
            called = "interrupt " + _IRQ.match(event.text).group(1)
        else:
            called = _VECTORS.get(name, name + " interrupt")
        if name == "irq_work":  # its end isn't recorded, see EVENTS
            self.instants["irq_work"].append(event.ns)
            return
        nest = self._nest[event.cpu]
        if nest:
            self.uppermost[event.cpu].add(self._upper_since[event.cpu], event.ns, nest[-1][1], event.cpu)
        self._upper_since[event.cpu] = event.ns
        nest.append((event.ns, called))

    def _interrupt_ends(self, event):
        nest = self._nest[event.cpu]
        if not nest:
            return
        begin, called = nest.pop()
        self.uppermost[event.cpu].add(self._upper_since[event.cpu], event.ns, called, event.cpu)
        self._upper_since[event.cpu] = event.ns
        self.interrupts[event.cpu][called].add(begin, event.ns, called, event.cpu)
        if nest:
            return
        self._at_door(self._threads.get(event.tid), begin, event.ns)
        self.outermost[event.cpu].add(begin, event.ns, called, event.cpu)
