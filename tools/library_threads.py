#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the threads of libraries run: on the CPU of their side, or on any. Runs of both in turn, several times.

    sudo python3 tools/library_threads.py --icepath build/bin/icepath --times 4 >results/library-threads.txt

Prints the geometric means of the p50s, one way, and of the ratios of neighbouring runs, with the smallest and the
largest ratio.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
from users_folder import users_folder  # noqa: E402

TARGETS = (
    "cyclonedds/udp,fastdds/udp,fastdds/shm,iceoryx/listener,grpc/callback,mqtt/qos0,nats,ros/tcpros,zeromq/ipc,nng/ipc"
)
FREE = "--free-library-threads"


def measure(args, options):
    """{cell: p50 in µs}, and what the run says of itself."""
    with users_folder("icepath-threads-") as folder:
        run = os.path.join(folder, "run")
        command = [
            args.icepath,
            "run",
            "-q",
            "-t",
            args.targets,
            "-w",
            "callback,epoll,block",
            "-s",
            "64",
            "--patterns",
            "pingpong",
            "-d",
            str(args.seconds),
            "-o",
            run,
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(
                f"library_threads.py: {' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[-400:]}"
            )
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            told = json.load(file)
    return {
        (cell["target"], cell["wait"]): cell["latency_ns"]["p50"] / 1000
        for cell in told["cells"]
        if cell["kind"] == "adapter" and cell["latency_ns"]["p50"] is not None
    }, told


def row(words):
    return f"{words[0]:<28}{words[1]:>10}{words[2]:>10}{words[3]:>24}"


def show(pairs, told, args):
    print(f"icepath {told['icepath']['version']} · {told['icepath']['started_utc']} · kernel {told['host']['kernel']}")
    print(
        f"{2 * len(pairs)} runs of {args.seconds:g} s in turn; p50 one way in µs; "
        "free / pinned: of neighbouring runs (smallest to largest)\n"
    )
    print(row(["target and wait", "pinned", "free", "free / pinned"]))
    for cell in sorted(set.intersection(*(set(one) for pair in pairs for one in pair))):
        pinned, free = ([pair[at][cell] for pair in pairs] for at in (0, 1))
        ratios = [b / a for a, b in zip(pinned, free)]
        mean = statistics.geometric_mean
        print(
            row(
                [
                    " ".join(cell),
                    f"{mean(pinned):.1f}",
                    f"{mean(free):.1f}",
                    f"{mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
                ]
            )
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--icepath", default="build/bin/icepath")
    parser.add_argument("--times", type=int, default=4, help="pairs of runs")
    parser.add_argument("--seconds", type=float, default=30, help="of each run")
    parser.add_argument("--targets", default=TARGETS, help="as icepath run -t takes them")
    args = parser.parse_args()
    pairs = []
    for _ in range(args.times):
        (pinned, told), (free, _) = measure(args, []), measure(args, [FREE])
        pairs.append((pinned, free))
    show(pairs, told, args)


if __name__ == "__main__":
    main()
