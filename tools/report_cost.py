#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the outputs of a run cost on one CPU, by the run's length: CPU time and memory.

    python3 tools/report_cost.py --build build --output results/report-cost.json

Makes synthetic runs (tests/report/small_run.cc), of which half of the messages are probed: paths are found for these.
`icepath report`, `report --html` and `flamegraph` of each run are made `--times` times on one CPU. The least CPU time
counts (user and system), which other programs change less than the time that passes, and the highest peak of resident
memory (ru_maxrss).

    python3 tools/report_cost.py --build build --before BEFORE/build RUN...

compares two builds by stored runs instead. They take turns, and the median of the ratios of their CPU times is shown.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

MESSAGES_OF_A_ROUND = 900  # of small_run
OUTPUTS = {"report": ["report"], "html": ["report", "--html"], "flamegraph": ["flamegraph"]}


def measured(command):
    """Seconds of CPU time and peak of resident memory in MiB, on the last CPU that this process may use."""
    cpu = max(os.sched_getaffinity(0))
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"report_cost.py: {' '.join(command)} exited with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def cost(build, folder, wanted, times):
    rounds = round(wanted / MESSAGES_OF_A_ROUND)
    messages = rounds * MESSAGES_OF_A_ROUND
    run = os.path.join(folder, f"run-{rounds}")
    if not os.path.isdir(run):
        subprocess.run([os.path.join(build, "bin/small_run"), run, str(rounds)], check=True)
    row = {"messages": messages, "file_mib": round(os.path.getsize(os.path.join(run, "capture.icp")) / 2**20, 1)}
    for output, command in OUTPUTS.items():
        each = [measured([os.path.join(build, "bin/icepath"), *command, run]) for _ in range(times)]
        cpu_s = min(one[0] for one in each)
        row[output] = {
            "cpu_s": round(cpu_s, 3),
            "cpu_s_per_million": round(cpu_s / messages * 1e6, 3),
            "peak_mib": round(max(one[1] for one in each), 1),
        }
    return row


def compared(before, after, command, times):
    """Of two builds that take turns, each of them first as often as the other."""
    each = {before: [], after: []}
    for time in range(times):
        for build in (before, after) if time % 2 == 0 else (after, before):
            each[build].append(measured([os.path.join(build, "bin/icepath"), *command]))
    row = {"cpu_ratio": round(statistics.median(b[0] / a[0] for a, b in zip(each[before], each[after])), 3)}
    for name, build in (("before", before), ("after", after)):
        row[name] = {
            "cpu_s": round(min(one[0] for one in each[build]), 3),
            "peak_mib": round(max(one[1] for one in each[build]), 1),
        }
    return row


def by_length(args):
    """Table and rows of synthetic runs."""
    with tempfile.TemporaryDirectory(prefix="icepath-report-cost-") as folder:
        rows = [
            cost(args.build, args.runs or folder, int(messages), args.times) for messages in args.messages.split(",")
        ]
    print(
        f"{'messages':>10}{'file, MiB':>11}"
        + "".join(f"{name + ', s':>15}{'per million':>13}{'MiB':>7}" for name in OUTPUTS)
    )
    for row in rows:
        print(
            f"{row['messages']:>10}{row['file_mib']:>11.1f}"
            + "".join(
                f"{row[name]['cpu_s']:>15.2f}{row[name]['cpu_s_per_million']:>13.2f}{row[name]['peak_mib']:>7.1f}"
                for name in OUTPUTS
            )
        )
    return rows


def compare(args):
    """Table and rows of the stored runs."""
    print(f"{'run':<14}{'output':<12}{'s before':>10}{'after':>8}{'ratio':>7}{'MiB before':>12}{'after':>8}")
    rows = []
    for run in args.stored:
        name = os.path.basename(os.path.normpath(run))
        for output, command in OUTPUTS.items():
            row = compared(args.before, args.build, [*command, run], args.times)
            rows.append({"run": name, "output": output, **row})
            print(
                f"{name:<14}{output:<12}{row['before']['cpu_s']:>10.3f}{row['after']['cpu_s']:>8.3f}"
                f"{row['cpu_ratio']:>7.3f}{row['before']['peak_mib']:>12.1f}{row['after']['peak_mib']:>8.1f}"
            )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("stored", nargs="*", metavar="RUN", help="with --before: run directories")
    parser.add_argument("--before", help="a build folder to compare with, by stored runs")
    parser.add_argument("--build", default="build", help="the build folder, with the target small_run")
    parser.add_argument("--messages", default="100000,1000000,5000000,10000000", help="lengths of the runs")
    parser.add_argument("--runs", help="the runs' folder, in which those that are there aren't made again and all stay")
    parser.add_argument("--times", type=int, default=3, help="how often each output is made")
    parser.add_argument("--output", help="where the figures go, as JSON")
    args = parser.parse_args()
    if bool(args.before) != bool(args.stored):
        parser.error("a build to compare with (--before) goes with stored runs")
    rows = compare(args) if args.before else by_length(args)
    if args.output:
        what = (
            "What the outputs of a run cost on one CPU: user and system time, the least of several times, and the "
            "highest peak of resident memory. Times aren't by the clock on the wall, because other programs may run "
            "beside: tools/report_cost.py"
        )
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump({"description": what, "times": args.times, "runs": rows}, file, indent="\t")
            file.write("\n")


if __name__ == "__main__":
    main()
