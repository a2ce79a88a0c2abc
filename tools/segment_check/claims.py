# SPDX-License-Identifier: Apache-2.0
"""What each layer claims of its thread, and whether the timelines confirm it."""
import bisect
from collections import namedtuple

from .timelines import ASLEEP, EDGE, EDGE_NS, KERNEL, NOBODY_KNOWS, RUNNABLE, RUNNING, USER, WAKING

SHARE = 0.95  # of a segment must be as claimed
LONGEST_STALL_NS = 1_000_000
LONGEST_DELIVERY_NS = 30_000  # for which a hypervisor stops a CPU to deliver an interrupt
MAX_CPU = 1 << 16
STALL = "a CPU stood still beside one of its ends"
INTERRUPT = "an interrupt came between two handlers of its system call's tracepoint"

UNSEEN = ("irq work interrupt", "NMI")

HOLDS, BY_EDGE, BY_SLACK, BY_BOUNDS, UNCHECKABLE, FALSE = (
    "holds",
    "by edge",
    "by slack",
    "by bounds",
    "uncheckable",
    "false",
)
HOLD = (HOLDS, BY_EDGE, BY_SLACK)
Verdict = namedtuple("Verdict", "what why")

_RUNS = USER | KERNEL | EDGE
_STATES = {  # by layer, then part; a part without an entry has the layer's
    "sender.user": {"": USER},
    "receiver.user": {"": USER},
    "relay.user": {"": USER},
    "sender.kernel": {"": KERNEL, "notify": ASLEEP},
    "receiver.kernel": {"": KERNEL},
    "relay.kernel": {"": KERNEL, "notify": ASLEEP},
    "network": {"notify": ASLEEP},
    "queue": {"busy": _RUNS, "preempted": RUNNABLE, "blocked": ASLEEP | WAKING},
    "propagation": {"": _RUNS},
    "wakeup": {"": WAKING},
    "runqueue": {"": RUNNABLE},
    "preempted": {"": RUNNABLE},
    "blocked": {"": ASLEEP | WAKING},
    "interrupt": {"": _RUNS},
}


def waits_for_cpu(segment):
    return segment["layer"] in ("runqueue", "preempted") or (segment["layer"], segment["part"]) == (
        "queue",
        "preempted",
    )


def label(segment):
    return segment["layer"] + ("/" + segment["part"] if segment["part"] else "")


def _claimed_state(segment):
    parts = _STATES.get(segment["layer"], {})
    if segment["layer"] == "relay.kernel" and segment.get("culprit", {}).get("kind") == "task":
        return ASLEEP | WAKING  # a kernel thread sends for it
    return parts.get(segment["part"], parts.get(""))


def _measure(intervals, begin, end, yes):
    """For how long `yes` surely holds, and for how long it possibly does. It maps a value to True, False, or None."""
    sure = possible = covered = 0
    for first, last, value, cpu in intervals.within(begin, end):
        told = yes(value, cpu)
        covered += last - first
        sure += (last - first) if told else 0
        possible += 0 if told is False else last - first
    return sure, possible + (end - begin) - covered


class Checker:
    def __init__(self, timelines, slack_ns):
        self.lines, self.slack = timelines, slack_ns

    def segment(self, segment):
        """Whether the thread was in the state that the segment claims."""
        if segment["layer"] == "network" and segment["part"] != "notify":
            return self._network(segment)
        verdict = self._state(segment, segment["begin_ns"], segment["end_ns"])
        if verdict.what == FALSE and ("begin_bounds_ns" in segment or "end_bounds_ns" in segment):
            begin = segment.get("begin_bounds_ns", [0, segment["begin_ns"]])[1]
            end = segment.get("end_bounds_ns", [segment["end_ns"]])[0]
            if begin >= end:
                return Verdict(UNCHECKABLE, "inferred, and its bounds leave nothing that is sure")
            if self._state(segment, begin, end).what in HOLD:
                return Verdict(BY_BOUNDS, "")
        if verdict.what == FALSE and (silent_ns := self._met_by_interrupt(segment)) is not None:
            return Verdict(UNCHECKABLE, INTERRUPT if silent_ns <= LONGEST_DELIVERY_NS else STALL)
        if verdict.what == FALSE and self._holds_but_for_a_stall(segment):
            return Verdict(UNCHECKABLE, STALL)
        if verdict.what in HOLD:
            further = self._further(segment)
            if further:
                return further
        return verdict

    def _places(self, at_ns):
        """Other places of a boundary if the host stopped a CPU between two handlers of one tracepoint: the last event
        before it on each CPU without events in between."""
        found = [at_ns]
        for times in self.lines.times.values():
            at = bisect.bisect_right(times, at_ns) - 1
            if at >= 0 and self.slack < at_ns - times[at] < LONGEST_STALL_NS:
                found.append(times[at])
        return found

    def _entry_after(self, segment, at_ns):
        """A thread stamps, then calls. If its CPU was stopped in between, the boundary is at the call, after pending
        interrupts."""
        entries = self.lines.entries[segment["tid"]]
        at = bisect.bisect_left(entries, (at_ns,))
        if at == len(entries) or entries[at][0] - at_ns >= LONGEST_STALL_NS:
            return []
        ns, cpu = entries[at]
        times = self.lines.times[cpu]
        return [ns] if times[bisect.bisect_right(times, at_ns)] - at_ns >= 0.9 * (ns - at_ns) else []

    def _shifted(self, segment):
        begin, end = segment["begin_ns"], segment["end_ns"]
        begins, ends = self._places(begin), self._places(end)
        if segment["layer"].endswith(".kernel"):
            begins += self._entry_after(segment, begin)
        return (
            (first, last) for first in begins for last in ends if first < last and (first == begin) != (last == end)
        )

    def _met_by_interrupt(self, segment):
        """How long the CPU was silent until an interrupt came, if its thread had just entered or left a system call
        and icepath saw that only afterwards. Until then the segment lasts too long; after it, it is what icepath's
        handler takes, or it ends as the next interrupt begins. None: it was otherwise."""
        if segment["layer"].endswith(".user"):
            crossings, beyond = self.lines.entries[segment["tid"]], KERNEL | EDGE
        elif segment["layer"].endswith(".kernel"):
            crossings, beyond = self.lines.exits[segment["tid"]], USER | EDGE
        else:
            return None
        begin, end = segment["begin_ns"], segment["end_ns"]
        at = bisect.bisect_right(crossings, (end,)) - 1
        if at < 0:
            return None
        crossed_ns, cpu = crossings[at]
        later = self.lines.outermost[cpu].whole_within(crossed_ns, crossed_ns + LONGEST_STALL_NS)
        came_ns = next((first for first, _, _, _ in later if first > crossed_ns), None)
        times = self.lines.times[cpu]
        next_ns = times[bisect.bisect_right(times, crossed_ns) :][:1]
        if came_ns is None or (next_ns and next_ns[0] < came_ns):
            return None
        ends_with_one = self._interrupt_near(end, 0)
        if begin < crossed_ns:
            met = ends_with_one and abs(end - came_ns) <= self.slack
            met = met and self._state(segment, begin, crossed_ns).what in HOLD
        else:
            met = ends_with_one or (end - begin <= EDGE_NS and self._interrupt_near(begin, 1))
            met = met and all(state & beyond for _, _, state, _ in self.lines.thread(segment["tid"]).within(begin, end))
        return came_ns - crossed_ns if met else None

    def _vanishes(self, segment):
        """Whether its thread's state changed before the segment begins, and its CPU was stopped before icepath saw it.
        Without the stop there would be no such segment."""
        line = self.lines.thread(segment["tid"])

        def changed(at_ns):
            states = [RUNNING if state & RUNNING else state for _, _, state, _ in line.within(at_ns - 1, at_ns + 1)]
            return len(states) == 2 and states[0] != states[1]

        return any(place <= segment["begin_ns"] and changed(place) for place in self._places(segment["end_ns"])[1:])

    def _holds_but_for_a_stall(self, segment):
        return self._vanishes(segment) or any(
            self._state(segment, first, last).what in HOLD for first, last in self._shifted(segment)
        )

    def _state(self, segment, begin, end):
        state = _claimed_state(segment)
        if state is None:
            return Verdict(UNCHECKABLE, "the layer claims no state of a thread")
        if segment["layer"] == "interrupt":
            return self._interrupt(segment, begin, end)
        line = self.lines.thread(segment["tid"])

        def exactly(value, _):
            return True if value and not value & ~(state | EDGE) else None if value & state else False

        def nearly(value, cpu):
            at_door = value & EDGE and not value & ~_RUNS and state & _RUNS
            return True if at_door else exactly(value, cpu)

        return self._by_share(
            begin, end, lambda a, b: _measure(line, a, b, exactly), lambda a, b: _measure(line, a, b, nearly)
        )

    def _by_share(self, begin, end, exactly, nearly):
        needed = SHARE * (end - begin)
        if exactly(begin, end)[0] >= needed:
            return Verdict(HOLDS, "")
        if nearly(begin, end)[0] >= needed:
            return Verdict(BY_EDGE, "")
        # Both ends may move, so a part may be missing, but at most half.
        needed = max(needed - self.slack, (end - begin) / 2)
        sure, possible = nearly(begin - self.slack, end + self.slack)
        if sure >= needed:
            return Verdict(BY_SLACK, "")
        if possible >= needed:
            return Verdict(UNCHECKABLE, "perf saw no event that tells")
        return Verdict(FALSE, f"as claimed for {sure} of {end - begin} ns")

    def _interrupt(self, segment, begin, end):
        name = name_of(segment["culprit"])
        if name in UNSEEN:
            return Verdict(UNCHECKABLE, f"perf can't record the end of: {name}")
        cpu = self._cpu_of(segment, begin, end)
        if cpu is None:
            return Verdict(UNCHECKABLE, "the thread's CPU isn't known")
        served = self.lines.interrupts[cpu][name]

        def measured(a, b):
            sure, _ = _measure(served, a, b, lambda *_: True)
            return sure, sure

        return self._by_share(begin, end, measured, measured)

    def _cpu_of(self, segment, begin, end):
        """The CPU where the thread ran, or was about to run."""
        for _, _, state, cpu in self.lines.thread(segment["tid"]).within(begin, end):
            if state & RUNNING and not state & ~RUNNING and cpu is not None:
                return cpu
        for _, _, state, cpu in self.lines.thread(segment["tid"]).within(end, self.lines.end):
            if state & RUNNING and not state & ~RUNNING and cpu is not None:
                return cpu
        return None

    def _network(self, segment):
        if "begin_bounds_ns" in segment or "end_bounds_ns" in segment:
            return Verdict(UNCHECKABLE, "inferred, and no thread has it meanwhile")
        held = segment["part"] == "held"
        ends = [("net_dev_queue", segment["end_ns"] if held else segment["begin_ns"])]
        if not held:
            ends.append(("sk_data_ready", segment["end_ns"]))
        missing = [name for name, at_ns in ends if not self._is_one_of(self.lines.instants.get(name, []), at_ns)]
        return Verdict(FALSE, "no " + " and no ".join(missing)) if missing else Verdict(HOLDS, "")

    def _is_one_of(self, events, at_ns):
        """Whether the instant is that of an event: within the slack, or with no event on a CPU in between. Programs
        that run one after the other at one tracepoint are further apart if their code isn't cached."""
        for place in self._places(at_ns):
            at = bisect.bisect_left(events, place - self.slack)
            if at < len(events) and events[at] <= place + self.slack:
                return True
        return False

    def _further(self, segment):
        """A part that ends with an event must end with it by perf, too."""
        if (
            segment["part"] == "notify"
            and "end_bounds_ns" not in segment
            and not self._interrupt_near(segment["end_ns"], 0)
        ):
            if not self._is_one_of([ns for ns, _, _ in self.lines.wakings[segment["tid"]]], segment["end_ns"]):
                return Verdict(FALSE, "no waking of its thread as it ends")
        return None

    def _interrupt_near(self, at_ns, end):
        """Whether an interrupt begins there (`end` 0), or ends (1)."""
        return any(
            abs(interrupt[end] - at_ns) <= self.slack
            for line in self.lines.outermost.values()
            for interrupt in line.whole_within(at_ns - self.slack, at_ns + self.slack)
        )

    # Culprits

    def culprit(self, segment):
        """Whether the named culprit was there. None: there is none, or the segment's own verdict covers it."""
        culprit = segment.get("culprit")
        if not culprit or segment["layer"] in ("interrupt", "relay.kernel"):
            return None
        if not waits_for_cpu(segment):
            return self._waker(segment, culprit)
        if culprit["name"] in UNSEEN:
            return Verdict(UNCHECKABLE, f"perf can't record the end of: {culprit['name']}")
        begin, end = segment["begin_ns"], segment["end_ns"]
        had = {}
        for slack in (0, self.slack):
            shares = self.shares(segment, begin - slack, end + slack)
            if shares is None:
                return Verdict(UNCHECKABLE, "the thread's CPU isn't known")
            had[slack] = shares.get(name_of(culprit), 0), shares.get("?", 0)
        needed = (end - begin) / 2
        if had[0][0] >= needed:
            return Verdict(HOLDS, "")
        if had[self.slack][0] + self.slack >= needed and had[self.slack][0] > 0:
            return Verdict(BY_SLACK, "")  # its own ends may be off as well
        if sum(had[self.slack]) >= needed:
            return Verdict(UNCHECKABLE, "perf saw no event that tells")
        if (
            had[self.slack][0] + self._longest_gap(self._cpu_of(segment, end, end + 1), begin, end) >= needed
            or any(
                (self.shares(segment, first, last) or {}).get(name_of(culprit), 0) >= (last - first) / 2
                for first, last in self._shifted(segment)
            )
            or self._vanishes(segment)
        ):
            return Verdict(UNCHECKABLE, STALL)
        return Verdict(FALSE, f"{name_of(culprit)} had {had[0][0]} of {end - begin} ns")

    def _longest_gap(self, cpu, begin, end):
        """The longest gap between a CPU's events. If it stood still there, either neighbour may claim the gap."""
        times = self.lines.times[cpu]
        inside = times[bisect.bisect_right(times, begin) : bisect.bisect_left(times, end)]
        longest = max((b - a for a, b in zip([begin, *inside], [*inside, end])), default=0)
        return longest if longest < LONGEST_STALL_NS and inside else 0

    def _waker(self, segment, culprit):
        # A sleep's waking is its first one, and may come before the thread is switched out.
        begin, end = segment["begin_ns"] - self.slack, segment["end_ns"] + self.slack
        wakings = [one for one in self.lines.wakings[segment["tid"]] if begin <= one[0] <= end]
        if not wakings:
            return Verdict(UNCHECKABLE, "perf saw no waking")
        for _, tid, context in wakings:
            if culprit["kind"] == "task" and context is None and tid == culprit["id"]:
                return Verdict(HOLDS, "")
            if culprit["kind"] == "interrupt" and context is not None and same_interrupt(context, name_of(culprit)):
                return Verdict(HOLDS, "")
        return Verdict(FALSE, f"woken by {wakings[0][2] or 'task ' + str(wakings[0][1])}, not by {name_of(culprit)}")

    def shares(self, segment, begin, end):
        """Who had the CPU on whose queue the thread was: nanoseconds by name_of(), '?' if not known. Time of an
        interrupt on top of a task or softirq is the interrupt's. A softirq in ksoftirqd counts for both."""
        came_in = self._cpu_of(segment, end, end + 1)
        if came_in is None:
            return None
        shares = {}
        at = begin
        moves = self.lines.moves[segment["tid"]]
        for moved, left, _ in moves[bisect.bisect_right(moves, (begin, MAX_CPU, 0)) :]:
            if moved >= end:
                break
            self._add_shares(left, at, moved, shares)
            at = moved
        self._add_shares(came_in, at, end, shares)
        return shares

    def _add_shares(self, cpu, begin, end, shares):
        cuts = []
        for first, last, name, _ in self.lines.uppermost[cpu].within(begin, end):
            shares[name] = shares.get(name, 0) + last - first
            if not (name.endswith(" softirq") and self._is_ksoftirqd(cpu, first)):
                cuts.append((first, last))
        for first, last, tid, _ in self.lines.cpus[cpu].within(begin, end):
            ns = last - first - sum(max(0, min(last, b) - max(first, a)) for a, b in cuts)
            who = "?" if tid == NOBODY_KNOWS else "idle CPU" if tid == 0 else f"task {tid}"
            shares[who] = shares.get(who, 0) + ns

    def _is_ksoftirqd(self, cpu, at_ns):
        return any(tid in self.lines.ksoftirqd for _, _, tid, _ in self.lines.cpus[cpu].within(at_ns, at_ns + 1))


def same_interrupt(seen, told):
    # A waking hard interrupt is named by its kind only, without a device's number.
    return seen == told or (seen.startswith("interrupt ") and told.startswith("interrupt "))


def name_of(culprit):
    if culprit["kind"] == "task":
        return f"task {culprit['id']}"
    if culprit["kind"] == "interrupt":  # "timer interrupt (a perf event's timer)": perf's events don't tell which
        return culprit["name"].partition(" (")[0]
    return {"idle_cpu": "idle CPU", "throttled": "idle CPU", "unknown": "?"}.get(culprit["kind"], culprit["name"])
