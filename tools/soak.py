#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long run under --isolate full: whether memory stays flat, anything is lost, and the machine is as before.

    sudo python3 tools/soak.py --icepath build/bin/icepath --hours 1 --output results/soak.json

Sends at a fixed rate. Every ten seconds it reads the resident memory of icepath, its helper and keeper, and of each
worker. Memory is flat if the median of the last tenth of these readings is at most 5 % (or 512 KiB) above that of the
first tenth, without the start, a fortieth of the run. Of less than ten minutes this isn't judged, since buffers still
grow to what a block needs. Settings of the machine are read by the list below, not by the keeper's. Exits with 1 if
something isn't so.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from users_folder import users_folder  # noqa: E402

EVERY_S = 10  # or a hundredth of a shorter run
JUDGED_FROM_S = 600
SETTINGS = (
    "/proc/irq/*/smp_affinity_list",
    "/proc/irq/default_smp_affinity",
    "/sys/devices/virtual/workqueue/cpumask",
    "/proc/sys/vm/stat_interval",
    "/proc/sys/kernel/watchdog_cpumask",
    "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    "/sys/fs/cgroup/cgroup.subtree_control",
    "/sys/fs/cgroup/*/cpuset.cpus.partition",
)


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError as error:
        return error.strerror


def settings():
    return {path: text_of(path) for pattern in SETTINGS for path in sorted(glob.glob(pattern))}


def family(pid):
    """The process and its descendants."""
    found = [pid]
    for one in found:
        found += [int(child) for child in text_of(f"/proc/{one}/task/{one}/children").split() if child.isdigit()]
    return found


def resident_kib(pid):
    """By the name of the process."""
    for line in text_of(f"/proc/{pid}/status").splitlines():
        if line.startswith("VmRSS:"):
            return text_of(f"/proc/{pid}/comm"), int(line.split()[1])
    return None


def watch(run, every_s):
    """{name: [KiB]} while the run goes on; of several processes with a name the sum."""
    memory = {}
    while True:
        try:
            run.wait(every_s)
            return memory
        except subprocess.TimeoutExpired:
            now = {}
            for name, kib in filter(None, map(resident_kib, family(run.pid))):
                now[name] = now.get(name, 0) + kib
            for name, kib in now.items():
                memory.setdefault(name, []).append(kib)


def growth(readings):
    """KiB at the first and the last tenth, without the start."""
    settled = readings[len(readings) // 40 :]
    tenth = max(1, len(settled) // 10)
    return statistics.median(settled[:tenth]), statistics.median(settled[-tenth:])


def flaws_of_memory(memory, took_s):
    """Sentences about processes that grew; `memory`: as watch() returns it. With the rows of the table."""
    rows, flaws = [], []
    for name, readings in sorted(memory.items()):
        if len(readings) < 0.9 * max(map(len, memory.values())):
            continue  # it doesn't last as long as the run
        first, last = growth(readings)
        rows.append({"process": name, "first_kib": first, "last_kib": last, "most_kib": max(readings)})
        if took_s >= JUDGED_FROM_S and last > max(1.05 * first, first + 512):
            flaws.append(f"{name} grew from {first} to {last} KiB")
    return rows, flaws


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--icepath", default="build/bin/icepath")
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--cpus", default="1,1", help="as icepath run takes them")
    parser.add_argument("--targets", default="uds-stream,mqueue,pipe,tcp", help="as icepath run -t takes them")
    parser.add_argument("--rate", default="2000", help="messages per second")
    parser.add_argument("--output", help="where the figures go, as JSON")
    args = parser.parse_args()
    before = settings()
    with users_folder("icepath-soak-") as folder:
        command = [
            args.icepath,
            "run",
            "-q",
            "--isolate",
            "full",
            "--cpus",
            args.cpus,
            "-t",
            args.targets,
            "-s",
            "64",
            "--patterns",
            "oneway",
            "--rate",
            args.rate,
            "-d",
            f"{args.hours * 3600:.0f}",
            "-o",
            os.path.join(folder, "run"),
        ]
        begin = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
            memory = watch(run, min(EVERY_S, args.hours * 36))
        took_s = time.monotonic() - begin
        if run.returncode != 0:
            sys.exit(f"soak.py: {' '.join(command)} exited with {run.returncode}")
        with open(os.path.join(folder, "run/run.json"), encoding="utf-8") as file:
            told = json.load(file)
        size_mib = os.path.getsize(os.path.join(folder, "run/capture.icp")) / 2**20
    rows, flaws = flaws_of_memory(memory, took_s)
    cells = [
        {
            "target": cell["target"],
            **{key: cell["messages"][key] for key in ("sent", "received", "lost", "probed", "complete")},
            "lost_records": cell["messages"]["incomplete"]["lost_record"],
            **{key: cell["capture"][key] for key in ("dropped", "recursion_misses")},
        }
        for cell in told["cells"]
    ]
    for cell in cells:
        if cell["lost"] or cell["lost_records"] or cell["sent"] != cell["received"]:
            flaws.append(f"{cell['target']} lost messages or records")
    after = settings()
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    flaws += [f"{path} was {before.get(path)} and is {after.get(path)}" for path in changed]
    print(
        f"{took_s:.0f} s, {size_mib:.0f} MiB of records and stamps; "
        f"{len(before)} settings of the machine, {len(changed)} changed"
    )
    print(f"{'process':<18}{'first, KiB':>12}{'last, KiB':>12}{'most, KiB':>12}")
    for row in rows:
        print(f"{row['process']:<18}{row['first_kib']:>12.0f}{row['last_kib']:>12.0f}{row['most_kib']:>12}")
    for cell in cells:
        print("  ".join(f"{key} {value}" for key, value in cell.items()))
    flat = "memory is flat, " if took_s >= JUDGED_FROM_S else ""
    print("\n".join(flaws) or f"{flat}nothing was lost, and the machine is as before")
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "description": "A long run under --isolate full: tools/soak.py",
                    "hours": args.hours,
                    "seconds": took_s,
                    "memory": rows,
                    "readings_kib": memory,
                    "cells": cells,
                    "steps": told["isolation"]["steps"],
                    "changed": changed,
                    "flaws": flaws,
                },
                file,
                indent="\t",
                ensure_ascii=False,
            )
            file.write("\n")
    sys.exit(1 if flaws else 0)


if __name__ == "__main__":
    main()
