# SPDX-License-Identifier: Apache-2.0
"""Checks that a worker's block is run + runnable + asleep, with the same sum of run as `perf sched timehist`."""
import re
from collections import defaultdict

from .timelines import RUNNABLE, RUNNING

_ROW = re.compile(
    r"\s*(\d+)\.(\d{6}) \[(\d+)\]\s+.*?(?:\[(\d+)(?:/\d+)?\])?\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)\s*$"
)
SHARE = 0.01
EDGE_NS = 20000  # for runs at the ends of the block, and for timehist's rounding


def runs_of_timehist(lines):
    """By tid: (switch-out, duration of the run), in nanoseconds."""
    runs = defaultdict(list)
    for line in lines:
        row = _ROW.match(line)
        if row and row.group(4):
            end = int(row.group(1)) * 1000000000 + int(row.group(2)) * 1000
            runs[int(row.group(4))].append((end, round(float(row.group(7)) * 1e6)))
    return runs


def split(line, begin, end):
    """[running, waiting for a CPU, asleep, possibly several of these] of [begin, end), in nanoseconds."""
    sums = [0, 0, 0, 0]
    for first, last, state, _ in line.within(begin, end):
        kind = (
            0
            if state and not state & ~RUNNING
            else 1
            if state == RUNNABLE
            else 2
            if not state & (RUNNING | RUNNABLE)
            else 3
        )
        sums[kind] += last - first
    return sums


def check(timelines, block, runs, tally):
    for worker in block["workers"]:
        sums = split(timelines.thread(worker["tid"]), block["begin_ns"], block["end_ns"])
        whole = block["end_ns"] - block["begin_ns"]
        if sum(sums) != whole:
            tally.conservation["differs"] += 1
            tally.why[
                f"conservation: run + runnable + asleep of thread {worker['tid']} is {sum(sums)} of {whole} ns"
            ] += 1
            continue
        tally.conservation["adds up"] += 1
        if runs is None or sums[3]:
            tally.conservation["not compared with perf sched timehist"] += 1
            continue
        theirs = sum(
            max(0, min(end, block["end_ns"]) - max(end - ran, block["begin_ns"])) for end, ran in runs[worker["tid"]]
        )
        rounded = 1000 * sum(block["begin_ns"] <= end <= block["end_ns"] for end, _ in runs[worker["tid"]])
        if abs(theirs - sums[0]) <= SHARE * whole + EDGE_NS + rounded:
            tally.conservation["as perf sched timehist"] += 1
        else:
            tally.conservation["differs"] += 1
            tally.why[
                f"conservation: thread {worker['tid']} in block {block['block']} ran {sums[0]} ns, by timehist {theirs}"
            ] += 1
