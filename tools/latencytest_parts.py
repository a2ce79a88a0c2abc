#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a round trip of Fast DDS goes in icepath's cell and in LatencyTest, the library's own benchmark, seen by the
same tracer.

    sudo python3 tools/latencytest_parts.py --bench build/bin/bench-middleware --latency-test PROGRAM \\
        --target fastdds/shm --rounds 6

Runs bench-middleware while bpftrace counts (latencytest_parts.bt), and prints for each side, each round trip: time in
user mode, in system calls and from wakings to running; calls, switches, and losses of the CPU. Tracing makes both
slower, so only the counts, and times of one side beside the other's, mean something. Times are of the whole process:
LatencyTest's initiator hands each answer to its main thread, between two trips.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
from collections import defaultdict

# Of bench-middleware: before and after the rival, three blocks and one that warms up, of 5000 round trips each.
TRIPS = {"icepath": 2 * 4 * 5000, "LatencyTest": 20000}
NAMES = {"icepath": {"icepath-worker", "initiator", "responder"}, "LatencyTest": {"LatencyTest"}}
ROWS = (
    ("user mode, µs", "user_ns", 1e3),
    ("system calls, µs", "kernel_ns", 1e3),
    ("waking to running, µs", "waking_ns", 1e3),
    ("system calls", "calls", 1),
    ("switches to it", "switches", 1),
    ("lost its CPU", "preempted", 1),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--latency-test", required=True)
    parser.add_argument("--target", default="fastdds/shm")
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    probes = os.path.join(os.path.dirname(os.path.abspath(__file__)), "latencytest_parts.bt")
    tracer = subprocess.Popen(
        ["bpftrace", probes, "LatencyTest"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    if not tracer.stdout.readline().startswith("Attaching"):
        sys.exit("bpftrace doesn't start: run it alone (bpftrace tools/latencytest_parts.bt LatencyTest)")
    try:
        bench = subprocess.run(
            [given.bench, "--only", given.target, "--latency-test", given.latency_test, "--rounds", str(given.rounds)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    finally:
        tracer.send_signal(signal.SIGINT)
        counted = tracer.communicate()[0]
    sums = defaultdict(int)
    for name, key, value in re.findall(r"@(\w+)\[(.*)\]: (\d+)", counted):
        comm, cpu = key.split(", ")[:2]
        for who, names in NAMES.items():
            if comm in names:
                sums[who, name, int(cpu)] += int(value)
    cpus = sorted({cpu for _, _, cpu in sums})
    print(
        f"{given.target}, traced: {bench.strip()}\n\n{'each round trip':24}"
        + "".join(f"{who + ', CPU ' + str(cpu):>20}" for cpu in cpus for who in NAMES)
    )
    for title, name, unit in ROWS:
        print(
            f"{title:24}"
            + "".join(
                f"{sums[who, name, cpu] / unit / given.rounds / TRIPS[who]:20.2f}" for cpu in cpus for who in NAMES
            )
        )


if __name__ == "__main__":
    main()
