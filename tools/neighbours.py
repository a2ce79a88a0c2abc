#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the other cells of a run do to a cell's latencies: each target in a run by itself, in one run beside a target
that keeps a thread busy, and beside all that is installed. Runs of these kinds, and of several builds, in turn.

    sudo python3 tools/neighbours.py --busy build/tests/end_to_end/icepath-busy.so \\
        --icepath before=OLD/bin/icepath --icepath after=build/bin/icepath --times 4 >results/neighbours.txt

Prints each target's p50 and p99 in every run, of all messages without probes, one way. Then how long the runs took,
with the blocks that they held.
"""
import argparse
import csv
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from users_folder import users_folder  # noqa: E402

FIGURES = (("p50", 0.5), ("p99", 0.99))


def run_once(program, plugins, targets, seconds, folder):
    """{target: latencies without probes, in ns, sorted}, and the seconds that the run took."""
    out = os.path.join(folder, "run")
    shutil.rmtree(out, ignore_errors=True)
    command = [program, "run", "-q", "-t", targets, "-s", "64", "--patterns", "pingpong", "-d", str(seconds), "-o", out]
    environment = dict(os.environ, ICEPATH_PLUGIN_PATH=plugins)
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    took = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"neighbours.py: {' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[-400:]}")
    subprocess.run([program, "export", "-f", "csv", out], capture_output=True, check=True)
    latencies = {}
    with open(os.path.join(out, "messages.csv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            kinds = ("probed", "warm_up", "counted", "sampled")
            if row["latency_ns"] and all(row[kind] == "0" for kind in kinds):
                latencies.setdefault(row["target"], []).append(int(row["latency_ns"]))
    with open(os.path.join(out, "run.json"), encoding="utf-8") as file:
        told = json.load(file)
    return {target: sorted(values) for target, values in latencies.items()}, took, told


def quantile(values, part):
    return values[min(len(values) - 1, math.ceil(part * len(values)) - 1)]


class Turn:
    """One build's runs of one turn."""

    def __init__(self, args, program, folder):
        plugins = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(program))), "lib/icepath")
        beside = os.path.join(folder, "plugins")
        targets = args.targets.split(",")
        self.alone = {}
        for target in targets:
            of, _, self.told = run_once(program, plugins, target, args.seconds, folder)
            self.alone[target] = of[target]
        together = args.targets + ",busy"
        self.busy, self.busy_s, _ = run_once(
            program, f"{plugins}:{beside}", together, args.seconds * (len(targets) + 1), folder
        )
        self.all, self.all_s, told = run_once(
            program, plugins, "all-installed," + args.targets, args.all_seconds, folder
        )
        self.cells = len(told["cells"])
        self.blocks = sum(cell["blocks"]["unprobed"] for cell in told["cells"]) / self.cells


def show(turns, args):
    told = next(iter(turns.values()))[0].told
    print("SPDX-License-Identifier: Apache-2.0")
    print(f"icepath {told['icepath']['version']} · {told['icepath']['started_utc']} · kernel {told['host']['kernel']}")
    print(f"{args.times} turns; 64 B pingpong, one way, µs, of each turn\n")
    width = 8 * args.times + 2
    print(f"{'build and target':<22}{'':<4}{'by itself':>{width}}{'beside busy':>{width}}{'in all-installed':>{width}}")
    for build, its in turns.items():
        for target in args.targets.split(","):
            for figure, part in FIGURES:
                line = f"{build + ' ' + target:<22}{figure:<4}"
                for kind in ("alone", "busy", "all"):
                    values = (quantile(getattr(turn, kind)[target], part) / 1000 for turn in its)
                    line += f"{''.join(f'{value:>8.1f}' for value in values):>{width}}"
                print(line)
    print()
    for build, its in turns.items():
        of = {name: statistics.fmean(getattr(turn, name) for turn in its) for name in ("busy_s", "all_s", "blocks")}
        print(
            f"{build}: beside busy {of['busy_s']:.1f} s, all-installed ({its[0].cells} cells) {of['all_s']:.1f} s "
            f"with {of['blocks']:.1f} blocks without probes for each cell"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--icepath", action="append", required=True, metavar="NAME=PROGRAM", help="a build; repeatable")
    parser.add_argument("--busy", required=True, help="the plug-in icepath-busy.so of the tests")
    parser.add_argument("--times", type=int, default=4, help="turns")
    parser.add_argument("--seconds", type=float, default=4, help="of a run of one target")
    parser.add_argument("--all-seconds", type=float, default=60, help="of a run of all-installed")
    parser.add_argument("--targets", default="uds-stream,pipe,zeromq/ipc")
    args = parser.parse_args()
    builds = dict(one.split("=", 1) for one in args.icepath)
    turns = {build: [] for build in builds}
    with users_folder("icepath-neighbours-") as folder:
        os.chmod(folder, 0o755)
        os.mkdir(os.path.join(folder, "plugins"), 0o755)
        shutil.copy(args.busy, os.path.join(folder, "plugins"))
        for number in range(args.times):
            for build, program in list(builds.items())[:: 1 if number % 2 == 0 else -1]:
                turns[build].append(Turn(args, program, folder))
                print(f"turn {number + 1} of {args.times}: {build}", file=sys.stderr)
    show(turns, args)


if __name__ == "__main__":
    main()
