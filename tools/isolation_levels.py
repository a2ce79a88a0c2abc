#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How each level of `icepath run --isolate` affects the figures: runs of all levels in turn, several times.

    sudo python3 tools/isolation_levels.py --icepath build/bin/icepath --levels none,soft --times 3 \\
        --output results/isolation.json

Prints for each run the p50s, the widths of their 95 % intervals, and how many pairs of targets differ: by disjoint
intervals, and by ratios within rounds (the mean over unprobed rounds of the logarithm of both p50s' ratio, with its t
interval). With --beside also p99 and p99.9, and a shell command runs again and again as long as each run:

    sudo python3 tools/isolation_levels.py --levels none,soft,full --cpus 1,1 --targets uds-stream,mqueue,pipe,tcp \\
        --beside 'c++ -O2 -x c++ -include bits/stdc++.h -c /dev/null -o /dev/null' \\
        --output results/isolation-beside.json

The levels take turns, because the machine changes over time.
"""
import argparse
import contextlib
import csv
import itertools
import json
import math
import os
import signal
import statistics
import subprocess
import sys
from collections import defaultdict

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import machine_state  # noqa: E402
from users_folder import users_folder  # noqa: E402

FEW_ROUNDS = 10
P = ("p50", "p99", "p99_9")


def t_quantile(freedom):
    """The 97.5 % quantile: Cornish and Fisher's expansion, within 0.5 % from 9 degrees of freedom on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def medians_by_round(folder):
    """{target: {round: p50 in ns}} of unprobed blocks."""
    latencies = defaultdict(lambda: defaultdict(list))
    with open(os.path.join(folder, "messages.csv"), encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        column = {name: i for i, name in enumerate(next(rows))}
        target, number, probed, counted, latency = (
            column[name] for name in ("target", "round", "probed", "counted", "latency_ns")
        )
        warm_up = column["warm_up"]
        for row in rows:
            if row[probed] == "0" and row[counted] == "0" and row[warm_up] == "0" and row[latency]:
                latencies[row[target]][int(row[number])].append(int(row[latency]))
    return {
        of: {number: statistics.median(values) for number, values in rounds.items()} for of, rounds in latencies.items()
    }


def ratio(one, other):
    """The ratio of two targets' p50s and its interval, or None if they share too few rounds."""
    logs = [math.log(one[number] / other[number]) for number in one.keys() & other.keys()]
    if len(logs) < FEW_ROUNDS:
        return None
    half = t_quantile(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return [math.exp(statistics.mean(logs) + sign * half) for sign in (0, -1, 1)]


@contextlib.contextmanager
def load(command):
    """As many loops of the shell command as there are CPUs. They are ended by their process groups."""
    loops = [
        subprocess.Popen(
            ["sh", "-c", f"while :; do {command}; done"],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(os.cpu_count() if command else 0)
    ]
    try:
        yield
    finally:
        for loop in loops:
            os.killpg(loop.pid, signal.SIGKILL)
            loop.wait()


def measure(args, level, folder):
    run = os.path.join(folder, "run")
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
        "-d",
        str(args.seconds),
        "--isolate",
        level,
        "-o",
        run,
        *(["--cpus", args.cpus] if args.cpus else []),
    ]
    for arguments in (command, [args.icepath, "export", "-f", "csv", run]):
        with load(args.beside if arguments is command else ""):
            done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(
                f"isolation_levels.py: {' '.join(arguments)} exited with {done.returncode}: "
                f"{done.stderr.strip()[-400:]}"
            )
    told, rounds = machine_state.load(run), medians_by_round(run)
    cells = {
        cell["target"]: {
            name: {"value": cell["latency_ns"][name], "ci95": cell["latency_ns"]["ci95"][name]} for name in P
        }
        for cell in told["cells"]
    }
    pairs = list(itertools.combinations(sorted(rounds), 2))
    ratios = {f"{a} / {b}": ratio(rounds[a], rounds[b]) for a, b in pairs}
    return {
        "level": level,
        "started_utc": told["icepath"]["started_utc"],
        "isolation": told["isolation"],
        "cells": cells,
        "changed": [one for one in told["notices"] if one.startswith("the machine changed")],
        "ratios": ratios,
        "pairs": len(pairs),
        "pairs_by_intervals": sum(
            machine_state.disjoint(cells[a]["p50"]["ci95"], cells[b]["p50"]["ci95"]) for a, b in pairs
        ),
        "pairs_by_ratios": sum(one is not None and not one[1] <= 1 <= one[2] for one in ratios.values()),
    }


def half_width(figure):
    """Relative to the figure."""
    return None if not figure["ci95"] else (figure["ci95"][1] - figure["ci95"][0]) / 2 / figure["value"]


def show(runs, seconds, beside):
    print(f"{len(runs)} runs of {seconds:g} s, levels in turn{'; beside ' + beside if beside else ''}")
    for figure in P if beside else P[:1]:
        print(f"one-way {figure.replace('_', '.')} in µs ± half of the 95 % interval")
        show_figure(runs, figure)


def show_figure(runs, name_of_figure):
    targets = list(runs[0]["cells"])
    print("level  " + "".join(f"{name:>16}" for name in targets) + "   distinguished by intervals, by ratios   machine")
    for run in runs:
        cells = []
        for name in targets:
            figure = run["cells"][name][name_of_figure]
            if figure["value"] is None:
                cells.append("–")
                continue
            half = half_width(figure)
            cells.append(f"{figure['value'] / 1000:.2f} ±" + ("–" if half is None else f"{100 * half:.0f} %"))
        print(
            f"{run['level']:<7}"
            + "".join(f"{cell:>16}" for cell in cells)
            + f"{run['pairs_by_intervals']:>20} of {run['pairs']}{run['pairs_by_ratios']:>8} of {run['pairs']}"
            f"   {'changed' if run['changed'] else 'steady'}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--icepath", default="build/bin/icepath")
    parser.add_argument("--levels", default="none,soft", help="as icepath run --isolate takes them")
    parser.add_argument("--times", type=int, default=3, help="runs of each level")
    parser.add_argument("--seconds", type=float, default=25, help="of each run")
    parser.add_argument(
        "--targets", default="uds-stream,mqueue,tcp,udp,pipe,shm-ring", help="as icepath run -t takes them"
    )
    parser.add_argument("--cpus", help="as icepath run takes them")
    parser.add_argument("--beside", default="", help="a shell command that runs beside, on each CPU of the machine")
    parser.add_argument("--output", help="where the figures go, as JSON")
    args = parser.parse_args()
    runs = []
    for _ in range(args.times):
        for level in args.levels.split(","):
            with users_folder("icepath-levels-") as folder:
                runs.append(measure(args, level, folder))
            print(f"run {len(runs)}: {level}", file=sys.stderr)
    show(runs, args.seconds, args.beside)
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "description": "Levels of isolation in turn: tools/isolation_levels.py",
                    "seconds": args.seconds,
                    "beside": args.beside,
                    "targets": args.targets.split(","),
                    "runs": runs,
                },
                file,
                indent="\t",
                ensure_ascii=False,
            )
            file.write("\n")


if __name__ == "__main__":
    main()
