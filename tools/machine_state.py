#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the machine's state differs between two stored runs: machine_state.py A B, each a run.json or its folder.

Compares `machine_state` in run.json: how long a cache line takes between the CPUs, how long a sleeping CPU takes to run
a thread again, what the hypervisor took during blocks, and what the stamps alone cost (the cells of null). Prints the
differences, and exits with 1 if there are any.
"""
import json
import os
import sys

# Between a run's begin and end, the median of 45 wakes changes by less than this unless the machine changes. If it
# does, the run has both values.
WAKE_RATIO = 1.25
STEAL_SHARE = 0.01  # an absolute difference above this counts
FLOOR_RATIO = 1.1  # counts only if the intervals are disjoint as well
SCHEMA = 2  # of run.json
LINE_RATIO = 1.5  # as kApart of analysis/line_levels.h


def load(run):
    """The run.json of a run directory, or the file itself."""
    path = os.path.join(run, "run.json") if os.path.isdir(run) else run
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    if told.get("schema") != SCHEMA:
        raise ValueError(
            f"{path} isn't of schema {SCHEMA}: `icepath report {os.path.dirname(path) or '.'}` makes it anew"
        )
    return told


def disjoint(a, b):
    """Whether two intervals [low, high] have nothing in common. A missing one overlaps everything."""
    return a is not None and b is not None and (a[1] < b[0] or b[1] < a[0])


def us(ns):
    return f"{ns / 1000:.3g} µs"


def wake_range(wake):
    values = [end["p50"] for end in (wake["begin"], wake["end"]) if end]
    return min(values), max(values)


def wake_differences(a, b):
    of_b = {wake["cpu"]: wake for wake in b["wake_ns"]}
    for wake in a["wake_ns"]:
        if wake["cpu"] not in of_b:
            continue
        (low_a, high_a), (low_b, high_b) = wake_range(wake), wake_range(of_b[wake["cpu"]])
        if low_b > high_a * WAKE_RATIO or low_a > high_b * WAKE_RATIO:
            yield (
                f"CPU {wake['cpu']} ran a sleeping thread again after {us(low_a)} to {us(high_a)} in the one run, "
                f"{us(low_b)} to {us(high_b)} in the other"
            )


def line_times(line):
    times = [level["round_trip_ns"] for level in line["levels"]]
    return min(times), max(times)


def line_text(line):
    return ", then ".join(us(level["round_trip_ns"]) for level in line["levels"])


def line_differences(a, b):
    """Differences in distance between CPUs: one run reached a level that the other never did."""
    of_b = {(line["from_cpu"], line["to_cpu"]): line for line in b["cache_line"] or [] if line["levels"]}
    for line in a["cache_line"] or []:
        other = of_b.get((line["from_cpu"], line["to_cpu"]))
        if not other or not line["levels"]:
            continue
        ends = zip(line_times(line), line_times(other))
        if any(max(one, another) > LINE_RATIO * min(one, another) for one, another in ends):
            yield (
                f"a cache line took {line_text(line)} from CPU {line['from_cpu']} to CPU {line['to_cpu']} and back "
                f"in the one run, {line_text(other)} in the other"
            )


def steal_differences(a, b):
    shares = [run["steal"]["share"] if run["steal"] else None for run in (a, b)]
    if None not in shares and abs(shares[0] - shares[1]) > STEAL_SHARE:
        yield f"the hypervisor took {shares[0]:.1%} of the CPUs' time in the one run, {shares[1]:.1%} in the other"


def floors_of(run):
    """By key: the p50 of the cells that measure what the stamps alone take, with its interval."""
    return {
        cell["key"]: {"p50_ns": cell["latency_ns"]["p50"], "ci95_ns": cell["latency_ns"]["ci95"]["p50"]}
        for cell in run["cells"]
        if cell["key"] in run["machine_state"]["floor_cells"]
    }


def floor_differences(a, b):
    for key, floor in a.items():
        other = b.get(key)
        if not other or not disjoint(floor["ci95_ns"], other["ci95_ns"]):
            continue
        if max(floor["p50_ns"], other["p50_ns"]) > FLOOR_RATIO * min(floor["p50_ns"], other["p50_ns"]):
            yield f"{key} took {floor['p50_ns']} ns in the one run, {other['p50_ns']} ns in the other"


def facts_of(run):
    """What of a run is compared. run: a result of load()."""
    return {"machine_state": run["machine_state"], "floors": floors_of(run)}


def differences(a, b):
    """One sentence for each difference. a, b: results of facts_of()."""
    states = a["machine_state"], b["machine_state"]
    return [
        *line_differences(*states),
        *wake_differences(*states),
        *steal_differences(*states),
        *floor_differences(a["floors"], b["floors"]),
    ]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: machine_state.py RUN RUN, each a run.json or the folder that has it")
    try:
        found = differences(facts_of(load(sys.argv[1])), facts_of(load(sys.argv[2])))
    except (OSError, ValueError) as error:
        sys.exit(f"machine_state.py: {error}: give a run's folder or its run.json")
    for sentence in found:
        print(sentence)
    if not found:
        print("nothing that the runs tell of the machine differs")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
