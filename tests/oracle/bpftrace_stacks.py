#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether bpftrace sees threads go to sleep, and be woken, with the kernel stacks that `icepath run --stacks` tells.

bpftrace_stacks.py ICEPATH [ICEPATH_RUN_OPTION...]. Exit code 77: that can't be told here.

bpftrace counts the kernel stacks of the workers' switches and wakings in the same run, of all blocks, by tracepoints
and symbols of its own. The workers answer each other by datagrams of a UNIX socket, since over a stream reading wakes
the peer as well. Of each list the most frequent stack that passes through the socket must be the same, function by
function, below what traces, and it must be most of that list in both.
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = """
BEGIN { printf("ready\\n"); }
tracepoint:sched:sched_switch /(comm == "initiator" || comm == "responder") && args->prev_state != 0/ {
	@offcpu[kstack] = count();
}
tracepoint:sched:sched_waking
/(comm == "initiator" && args->comm == "responder") || (comm == "responder" && args->comm == "initiator")/ {
	@wakeup[kstack] = count();
}
"""
TRACING = re.compile(r"\[probes\]|bpf_|__bpf_|__traceiter_|perf_|__perf_|trace_|ftrace_")
SOCKET = "unix_dgram_"
LEAST = 0.8  # of a list, that is the compared stack


def in_kernel(frames):
    """Of a stack from its outermost function on, without user code before and what traces after."""
    frames = [frame for frame in frames if not re.search(r"[!+/\[]", frame)]
    while frames and TRACING.match(frames[-1]):
        frames.pop()
    return tuple(frames)


def of_bpftrace(lines):
    """Counts of stacks, by kind."""
    kinds = {"offcpu": collections.Counter(), "wakeup": collections.Counter()}
    for line in lines:
        if not line.startswith("{"):
            continue
        record = json.loads(line)
        for name, stacks in record["data"].items() if record["type"] == "map" else ():
            for stack, count in stacks.items():
                frames = [frame.split("+")[0].strip() for frame in stack.split("\n") if frame.strip()]
                kinds[name[1:]][in_kernel(frames[::-1])] += count
    return kinds


def of_icepath(folded, kind):
    stacks = collections.Counter()
    above = 4 if kind == "wakeup" else 3  # target, variant, thread, and the waker
    for line in folded.splitlines():
        stack, weight = line.rsplit(" ", 1)
        stacks[in_kernel([frame for frame in stack.split(";")[above:] if frame != "(itself)"])] += int(weight)
    return stacks


def compare(kind, ours, theirs):
    """Returns what contradicts."""
    most = []
    for name, stacks in (("icepath", ours), ("bpftrace", theirs)):
        through = collections.Counter({stack: n for stack, n in stacks.items() if any(SOCKET in one for one in stack)})
        if not through:
            return [f"{kind}: {name} has no stack through {SOCKET}"]
        stack, count = through.most_common(1)[0]
        print(f"{kind}: {name}: {count / through.total():.0%} of {through.total()}: {' > '.join(stack)}")
        if count < LEAST * through.total():
            return [f"{kind}: {name}'s stacks are too different for a comparison"]
        most.append(stack)
    return [] if most[0] == most[1] else [f"{kind}: the stacks differ"]


def main():
    if os.geteuid() != 0 or not shutil.which("bpftrace"):
        print("skipped: needs root and bpftrace")
        return 77
    icepath, options = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/program.bt", "w", encoding="ascii") as file:
            file.write(PROGRAM)
        mounted = 'test -d /sys/kernel/tracing/events || mount -t tracefs none /sys/kernel/tracing; exec "$@"'
        witness = [
            "unshare",
            "-m",
            "sh",
            "-c",
            mounted,
            "sh",
            "bpftrace",
            "-f",
            "json",
            "-o",
            f"{folder}/out.json",
            f"{folder}/program.bt",
        ]
        with subprocess.Popen(witness, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            for _ in range(600):
                if process.poll() is not None or (
                    os.path.exists(f"{folder}/out.json") and os.path.getsize(f"{folder}/out.json")
                ):
                    break
                time.sleep(0.1)
            load = "-t uds-dgram -s 64 --patterns pingpong --between processes -d 12"
            run = [icepath, "run", "-q", "--stacks", *load.split(), "-o", f"{folder}/run", *options]
            ended = subprocess.run(run, stdout=subprocess.DEVNULL, check=False)
            process.send_signal(signal.SIGINT)
            errors = process.communicate()[1]
        if ended.returncode != 0 or not os.path.exists(f"{folder}/out.json"):
            sys.exit(f"icepath ended with {ended.returncode}; bpftrace said: {errors}")
        with open(f"{folder}/out.json", encoding="utf-8", errors="replace") as file:
            theirs = of_bpftrace(file)
        wrong = []
        for kind, stacks in theirs.items():
            folded = subprocess.run(
                [icepath, "flamegraph", "--kind", kind, "--folded", f"{folder}/run"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            wrong += compare(kind, of_icepath(folded, kind), stacks)
    for one in wrong:
        print(one)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
