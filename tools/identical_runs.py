#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats a measurement, and counts in how many pairs of runs the intervals contradict each other.

    python3 tools/identical_runs.py --icepath build/bin/icepath --runs 12 --seconds 20 \\
        --output results/identical-runs.json

If the machine is quiet for some minutes only, repeat with --runs 4 --continue as often as needed. With --keep DIR the
run directories stay, and --stored DIR/run-* reports them again, by another icepath, instead of measuring.

A 95 % interval that holds for another run overlaps that run's interval in nearly all pairs: two such intervals of one
value are disjoint in less than one pair of a hundred if both are wide enough. Counted are the intervals of p50, of p99,
and of what the probes added to the p50. Pairs whose reports show another state of the machine (tools/machine_state.py)
are counted separately.

Counted as well, over all pairs of runs: in how many the ratio of two targets, by rounds that measured both, agrees. It
agrees if the logarithms differ by less than the root of the sum of the squares of half their intervals.

Counted as well, over all pairs of runs, none set aside: in how many what the reports say of a cell contradicts each
other, by its p50 alone, and by its modes where both runs have equally many: these contradict each other if the
intervals of a mode's place or share are disjoint. Runs with different numbers of modes are counted by their p50s,
because a mode that a run doesn't show isn't denied by it; how many they are is told as well.

The CPUs are kept awake by holding /dev/cpu_dma_latency at 0 where that is possible (root). Otherwise a run measures how
long a CPU takes to come back from a halt, which on virtual machines differs by the hour. Everything else is icepath's
default. The machine should be quiet. Exits with 0 if it could measure; the results are in the table and in the file.
"""
import argparse
import itertools
import json
import math
import os
import statistics
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import machine_state  # noqa: E402
from users_folder import users_folder  # noqa: E402

MEASURES = {
    "p50": lambda cell: (cell["latency_ns"]["p50"], cell["latency_ns"]["ci95"]["p50"]),
    "p99": lambda cell: (cell["latency_ns"]["p99"], cell["latency_ns"]["ci95"]["p99"]),
    "probes": lambda cell: (cell["observer_effect"]["p50_added_ns"], cell["observer_effect"]["p50_added_ci95_ns"]),
}


class CpusAwake:
    """Holds /dev/cpu_dma_latency at 0 µs, which keeps CPUs from idle states that take time to leave."""

    def __enter__(self):
        self.file = None
        try:
            self.file = os.open("/dev/cpu_dma_latency", os.O_WRONLY)
            os.write(self.file, struct.pack("i", 0))
        except OSError:
            if self.file is not None:
                os.close(self.file)
            self.file = None
        return self.file is not None

    def __exit__(self, *_):
        if self.file is not None:
            os.close(self.file)


def measure(args, number, folder):
    run = os.path.join(folder, f"run-{number}")
    command = [
        args.icepath,
        "run",
        "-q",
        "-t",
        args.targets,
        "-s",
        "64",
        "--patterns",
        "pingpong",
        "-w",
        "block",
        "-d",
        str(args.seconds),
        "-o",
        run,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[-400:]}")
    return machine_state.load(run)


def report_again(args, run):
    """What this icepath says of a stored run directory."""
    done = subprocess.run([args.icepath, "report", "--json", run], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{run}: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def told(cell, measure_of):
    value, interval = measure_of(cell)
    return {"value": value, "ci95": interval}


def ratio_of(pair, targets):
    """Of two targets in alphabetical order: the ratio's logarithm, half of its interval, and whether they differ."""
    slower, faster = targets[pair["slower"]], targets[pair["faster"]]
    low, high = (math.log(end) for end in pair["ratio_ci95"])
    return {
        "of": sorted((slower, faster)),
        "log_ratio": math.log(pair["ratio"]) * (1 if slower < faster else -1),
        "half": (high - low) / 2,
        "told_apart": pair["told_apart"],
    }


def facts_of(run):
    """The stored facts of a run: its cells' values, intervals, openings and drift, and the machine's state."""
    cells = {}
    for cell in run["cells"]:
        cells[cell["target"]] = {name: told(cell, measure_of) for name, measure_of in MEASURES.items()}
        cells[cell["target"]]["openings"] = cell["openings"]
        cells[cell["target"]]["drift"] = cell["drift"]
        cells[cell["target"]]["modes"] = [
            {key: mode[key] for key in ("p50_ns", "p50_ci95_ns", "share", "share_ci95")} for mode in cell["modes"]
        ]
    targets = {cell["key"]: cell["target"] for cell in run["cells"]}
    ratios = [ratio_of(pair, targets) for group in run["ranking"] for pair in group["pairs"]]
    changes = [notice for notice in run["notices"] if notice.startswith("the machine changed")]
    return {
        "started_utc": run["icepath"]["started_utc"],
        "cells": cells,
        "ratios": ratios,
        **machine_state.facts_of(run),
        "told_of_changes": changes,
        "kept_awake": all(cell["idle_states"] == "held" for cell in run["cells"]),
    }


def compare(runs):
    """By target and measure: pairs of runs in one state of the machine, and how many have disjoint intervals."""
    changed = []
    for a, b in itertools.combinations(range(len(runs)), 2):
        why = machine_state.differences(runs[a], runs[b])
        if why:
            changed.append({"runs": [a, b], "why": why})
    aside = {tuple(pair["runs"]) for pair in changed}
    table = []
    for target in runs[0]["cells"]:
        for name in MEASURES:
            row = {
                "target": target,
                "measure": name,
                "pairs": 0,
                "disjoint": 0,
                "aside": 0,
                "without_interval": 0,
                "disjoint_aside": 0,
            }
            for a, b in itertools.combinations(range(len(runs)), 2):
                one, other = (runs[i]["cells"][target][name]["ci95"] for i in (a, b))
                apart = machine_state.disjoint(one, other)
                if one is None or other is None:
                    row["without_interval"] += 1
                elif (a, b) in aside:
                    row["aside"] += 1
                    row["disjoint_aside"] += apart
                else:
                    row["pairs"] += 1
                    row["disjoint"] += apart
            values = [run["cells"][target][name]["value"] for run in runs]
            values = [value for value in values if value is not None]
            row["lowest"], row["highest"] = (min(values), max(values)) if values else (None, None)
            halves = [
                (high - low) / 2
                for low, high in (
                    run["cells"][target][name]["ci95"] for run in runs if run["cells"][target][name]["ci95"]
                )
            ]
            row["median_half_width"] = statistics.median(halves) if halves else None
            table.append(row)
    return table, changed


def modes_contradict(one, other):
    """Whether two reports of a cell contradict each other: by the modes if both have equally many, else by the p50s."""
    a, b = one.get("modes", []), other.get("modes", [])
    if not a or len(a) != len(b):
        return machine_state.disjoint(one["p50"]["ci95"], other["p50"]["ci95"])
    return any(machine_state.disjoint(x[key], y[key]) for x, y in zip(a, b) for key in ("p50_ci95_ns", "share_ci95"))


def said_of(runs):
    """By target: pairs of runs, and how many contradict each other by p50s alone, and by their reports."""
    said = []
    for target in runs[0]["cells"]:
        pairs = [(a["cells"][target], b["cells"][target]) for a, b in itertools.combinations(runs, 2)]
        said.append(
            {
                "target": target,
                "pairs": len(pairs),
                "modes": [len(run["cells"][target].get("modes", [])) or 1 for run in runs],
                "by_p50": sum(machine_state.disjoint(a["p50"]["ci95"], b["p50"]["ci95"]) for a, b in pairs),
                "by_modes": sum(modes_contradict(a, b) for a, b in pairs),
                "other_number": sum(len(a.get("modes", [])) != len(b.get("modes", [])) for a, b in pairs),
            }
        )
    return said


def ranks_of(runs):
    """How many pairs of targets each run tells apart, and how many ratios of two runs agree or contradict."""
    ranks = {
        "pairs": len(runs[0]["ratios"]),
        "told_apart": [sum(one["told_apart"] for one in run["ratios"]) for run in runs],
        "compared": 0,
        "agree": 0,
        "contradict": 0,
    }
    for one, other in itertools.combinations(runs, 2):
        of_other = {tuple(ratio["of"]): ratio for ratio in other["ratios"]}
        for a in one["ratios"]:
            b = of_other.get(tuple(a["of"]))
            if b is None:
                continue
            ranks["compared"] += 1
            ranks["agree"] += abs(a["log_ratio"] - b["log_ratio"]) <= math.hypot(a["half"], b["half"])
            ranks["contradict"] += a["told_apart"] and b["told_apart"] and (a["log_ratio"] > 0) != (b["log_ratio"] > 0)
    return ranks


def totals_of(table):
    totals = {}
    for name in MEASURES:
        rows = [row for row in table if row["measure"] == name]
        pairs, apart = sum(row["pairs"] for row in rows), sum(row["disjoint"] for row in rows)
        totals[name] = {"pairs": pairs, "disjoint": apart, "share": apart / pairs if pairs else None}
    return totals


def show(result):
    def number(ns):
        return "–" if ns is None else f"{ns / 1000:.2f}"

    print(
        f"{result['runs']} runs of {result['seconds']:g} s, "
        f"CPUs {'kept awake' if result['cpus_kept_awake'] else 'free to halt'}; in µs"
    )
    print(
        f"{'target':<14}{'of':<8}{'lowest':>9}{'highest':>9}{'± (middle)':>12}"
        f"{'disjoint':>10}{'pairs':>7}{'aside':>7}{'no interval':>13}"
    )
    for row in result["table"]:
        print(
            f"{row['target']:<14}{row['measure']:<8}{number(row['lowest']):>9}{number(row['highest']):>9}"
            f"{number(row['median_half_width']):>12}{row['disjoint']:>10}{row['pairs']:>7}{row['aside']:>7}"
            f"{row['without_interval']:>13}"
        )
    for name, total in result["totals"].items():
        share = "–" if total["share"] is None else f"{total['share']:.1%}"
        print(f"{name}: {total['disjoint']} of {total['pairs']} pairs are disjoint ({share})")
    for said in result["said"]:
        print(
            f"{said['target']}: of {said['pairs']} pairs of runs {said['by_p50']} contradict each other by p50s alone, "
            f"{said['by_modes']} by modes; {said['other_number']} have different numbers of modes: "
            f"{', '.join(map(str, said['modes']))}"
        )
    ranks = result["ranks"]
    if ranks["pairs"] > 0:
        print(f"told apart, of {ranks['pairs']} pairs of targets: {', '.join(map(str, ranks['told_apart']))}")
        print(f"ratios: {ranks['agree']} of {ranks['compared']} agree, {ranks['contradict']} contradict each other")
    print(f"pairs whose reports say that the machine was another one: {len(result['machine_changed'])}")


def runs_before(args, parser):
    """The runs in --output that are to be continued."""
    if not args.resume:
        return []
    if not args.output:
        parser.error("--continue: give the file that has the runs before (--output)")
    if not os.path.exists(args.output):
        return []
    with open(args.output, encoding="utf-8") as file:
        before = json.load(file)
    if before["seconds"] != args.seconds or before["targets"] != args.targets.split(","):
        parser.error(
            f"--continue: {args.output} has runs of {before['seconds']:g} s over "
            f"{','.join(before['targets'])}: they aren't identical"
        )
    if any("floors" not in run for run in before["each"]):
        parser.error(f"--continue: {args.output} is of an older version, which stored other facts of runs: begin anew")
    return before["each"]


def measure_all(args, runs):
    """Adds --runs runs. Whether CPUs were kept awake."""
    with CpusAwake() as awake, users_folder("icepath-identical-") as folder:
        if not awake:
            print("identical_runs.py: /dev/cpu_dma_latency can't be held: CPUs may halt", file=sys.stderr)
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
        for number in range(args.runs):
            runs.append(facts_of(measure(args, number, args.keep or folder)))
            print(f"run {number + 1} of {args.runs}", file=sys.stderr)
    return bool(awake)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--icepath", default="build/bin/icepath")
    parser.add_argument("--runs", type=int, default=12, help="at least 2")
    parser.add_argument("--seconds", type=float, default=20, help="of each")
    parser.add_argument("--targets", default="uds-stream,mqueue,pipe,tcp", help="as icepath run -t takes them")
    parser.add_argument("--output", help="where the figures go, as JSON")
    parser.add_argument("--keep", metavar="DIR", help="where the run directories stay; else they are deleted")
    parser.add_argument(
        "--stored",
        nargs="+",
        metavar="RUN",
        help="report these run directories again instead of measuring; --seconds and "
        "--targets say how they were measured",
    )
    parser.add_argument(
        "--continue",
        action="store_true",
        dest="resume",
        help="add --runs to those that --output has already, instead of beginning anew: for a machine that is quiet "
        "for some minutes only",
    )
    args = parser.parse_args()
    before = runs_before(args, parser)
    if (len(args.stored) if args.stored else args.runs) + len(before) < 2:
        parser.error("--runs: one run has nothing to be compared with: give 2 or more")
    runs = list(before)
    try:
        if args.stored:
            runs += [facts_of(report_again(args, run)) for run in args.stored]
            awake = all(run.get("kept_awake") for run in runs)
        else:
            awake = measure_all(args, runs)
    except (RuntimeError, OSError) as error:
        sys.exit(f"identical_runs.py: {error}")
    table, changed = compare(runs)
    result = {
        "description": (
            "Identical runs, and how many pairs of their 95 % intervals are disjoint: tools/identical_runs.py"
        ),
        "started_utc": runs[0]["started_utc"],
        "runs": len(runs),
        "seconds": args.seconds,
        "targets": args.targets.split(","),
        "cpus_kept_awake": awake,
        "totals": totals_of(table),
        "ranks": ranks_of(runs),
        "said": said_of(runs),
        "table": table,
        "machine_changed": changed,
        "each": runs,
    }
    show(result)
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump(result, file, indent="\t", ensure_ascii=False)
            file.write("\n")


if __name__ == "__main__":
    main()
