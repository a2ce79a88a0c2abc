#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `icepath run --stacks` finds tcp's sender.kernel in the functions in which perf finds it, in the same run.

perf_functions.py ICEPATH [SECONDS]. Exit code 77: that can't be told here.

perf samples all CPUs by an event of its own and unwinds by itself, and it has events where the layer begins and ends: a
sample is in the layer if it lies between the beginning of a send() and the net_dev_queue of the same thread. Nothing of
icepath's capture and walk is used; messages.csv tells when blocks with probes were. Both lists are by the innermost
function, as `perf report --no-children`, below the system call's own function, and without code that traces, which is
perf's and icepath's in both.

The first three functions must be the same, up to ties: one that is among the first three of one list alone must be tied
there with the fourth, or in the other list with the third, which is a difference within two standard errors. The share
of none of them may differ by more than four standard errors between the lists. And icepath's functions must add up to
the layer within 1 %.
"""
import bisect
import collections
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

LAYER, CALL = "sender.kernel", "__sys_sendto"
BEGIN, END, SAMPLE = "syscalls:sys_enter_sendto", "net:net_dev_queue", "cpu-clock"
FEWEST = 500  # samples of the layer, for each list; fewer tell little
FIRST = 3
TRACING = re.compile(r"bpf_|__bpf_|__traceiter_|perf_|__perf_|ftrace_|kprobe_")
HEAD = re.compile(r"\s*(?P<tid>\d+)\s+(?P<time>[\d.]+):\s+(?P<event>\S+):")


def same_names():
    """By each name of an address of the kernel's that has several, one of them: icepath and perf may choose others."""
    names = collections.defaultdict(list)
    with open("/proc/kallsyms", encoding="ascii", errors="replace") as file:
        for line in file:
            address, _, name = line.split()[:3]
            names[address].append(name)
    return {name: min(group) for group in names.values() if len(group) > 1 for name in group}


def is_in_call(frames):
    """Of a stack from its outermost function on: whether it counts, in both lists."""
    return CALL in frames and not any(TRACING.match(frame) for frame in frames) and not frames[-1].startswith("[")


def of_perf(lines, blocks):
    """Samples by innermost function. `lines`: of `perf script --ns -F tid,time,event,ip,sym`; `blocks`: their begins
    and ends.
    """
    functions, begins = collections.Counter(), [begin for begin, _ in blocks]
    calls, frames = {}, None  # by thread: the stacks of the present call

    def is_in_block(time):
        block = bisect.bisect_right(begins, time) - 1
        return block >= 0 and time < blocks[block][1]

    for line in lines:
        head = HEAD.match(line)
        if not head:
            words = line.split(None, 1)
            if frames is not None and len(words) == 2:
                frames.append(words[1].strip())
            continue
        frames = None
        tid, time = head["tid"], float(head["time"]) * 1e9
        if head["event"] == BEGIN:
            calls[tid] = []
        elif head["event"] == END:
            functions.update(stack[0] for stack in calls.pop(tid, []) if stack and is_in_call(stack[::-1]))
        elif tid in calls and is_in_block(time):
            frames = []
            calls[tid].append(frames)
    return functions


def blocks_with_probes(messages):
    """When they began and ended. `messages`: the lines of messages.csv."""
    blocks = {}
    for message in csv.DictReader(messages):
        if message["probed"] == "1" and message["recv_ns"]:
            begin, end = blocks.get(message["round"], (math.inf, 0))
            blocks[message["round"]] = min(begin, int(message["send_ns"])), max(end, int(message["recv_ns"]))
    return sorted(blocks.values())


def of_icepath(folded):
    """Nanoseconds by innermost function, and those of the whole layer. `folded`: of `icepath flamegraph --folded`."""
    functions, whole = collections.Counter(), 0
    for line in folded.splitlines():
        stack, ns = line.rsplit(" ", 1)
        frames = stack.split(";")
        if LAYER not in frames:
            continue
        whole += int(ns)
        if frames[-1] == "(itself)":
            frames.pop()
        if is_in_call(frames):
            functions[frames[-1]] += int(ns)
    return functions, whole


def shares_of(functions, names):
    shares = collections.Counter()
    for name, count in functions.items():
        shares[names.get(name, name)] += count / functions.total()
    return shares


def is_more(shares, samples, more, less):
    """Whether the samples tell that the share of `more` is larger than that of `less`."""
    by = shares[more] - shares[less]
    return by > 2 * math.sqrt(max(shares[more] + shares[less] - by * by, 1 / samples) / samples)


def compare(lists):
    """`lists`: name, shares, samples; of two. Prints them. Returns what contradicts."""
    order = {name: [function for function, _ in shares.most_common()] for name, shares, _ in lists}
    wrong = []
    for (name, shares, samples), (other, others, count) in zip(lists, lists[::-1]):
        print(f"{name}: {samples:.0f} samples")
        for function in order[name][:10]:
            error = math.sqrt(shares[function] * (1 - shares[function]) / samples)
            print(f"  {shares[function]:6.1%} ±{2 * error:.1%}  {function}  ({other}: {others[function]:.1%})")
        for function in order[name][:FIRST]:
            by = shares[function] - others[function]
            error = math.sqrt(sum(p * (1 - p) / n for p, n in ((shares[function], samples), (others[function], count))))
            if abs(by) > 4 * error:
                wrong.append(f"{function}: {by:+.1%} in {name}, with a standard error of {error:.1%}")
            if function in order[other][:FIRST]:
                continue
            certain = is_more(shares, samples, function, order[name][FIRST])
            apart = is_more(others, count, order[other][FIRST - 1], function)
            print(
                f"  {function} isn't among the first {FIRST} of {other}: "
                f"{'it is not' if certain and apart else 'it is'} a tie"
            )
            if certain and apart:
                wrong.append(f"{function} is among the first {FIRST} of {name}, and not of {other}")
    return wrong


def record(icepath, seconds, folder):
    load = "-t tcp -s 64 --patterns pingpong -m 10000"
    run = [icepath, "run", "-q", "--stacks", *load.split(), "-d", seconds, "-o", f"{folder}/run"]
    perf = [
        "perf",
        "record",
        "-q",
        "-a",
        "-k",
        "CLOCK_MONOTONIC",
        "-m",
        "8M",
        "-o",
        f"{folder}/perf.data",
        "-e",
        f"{SAMPLE}/call-graph=fp,period=333667/",
        "-e",
        f"{BEGIN}/call-graph=no/",
        "-e",
        f"{END}/call-graph=no/",
        "--",
    ]
    mounted = 'test -d /sys/kernel/tracing/events || mount -t tracefs none /sys/kernel/tracing; exec "$@"'
    subprocess.run(["unshare", "-m", "sh", "-c", mounted, "sh", *perf, *run], stdout=subprocess.DEVNULL, check=True)
    script = ["perf", "script", "-i", f"{folder}/perf.data", "--ns", "-F", "tid,time,event,ip,sym"]
    subprocess.run(
        [icepath, "export", "-f", "csv", "-o", folder, f"{folder}/run"], stdout=subprocess.DEVNULL, check=True
    )
    with open(f"{folder}/messages.csv", encoding="utf-8") as file:
        blocks = blocks_with_probes(file)
    with subprocess.Popen(
        script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
    ) as text:
        functions = of_perf(text.stdout, blocks)
    if text.returncode != 0:
        sys.exit(f"perf script ended with {text.returncode}")
    folded = subprocess.run(
        [icepath, "flamegraph", "--folded", f"{folder}/run"], check=True, capture_output=True, text=True
    )
    with open(f"{folder}/run/run.json", encoding="utf-8") as file:
        return functions, folded.stdout, json.load(file)["cells"][0]


def main():
    if os.geteuid() != 0 or not shutil.which("perf"):
        print("skipped: needs root and linux-perf")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        theirs, folded, cell = record(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "100", folder)
    ours, whole_ns = of_icepath(folded)
    layer = next(one for one in cell["functions"]["layers"] if one["layer"] == LAYER)
    layer_ns = sum(one["mean_ns"] for one in cell["layers"] if one["layer"] == LAYER)
    sum_ns = sum(function["mean_ns"] for function in layer["functions"])
    compared = ours.total() / whole_ns
    print(
        f"{LAYER}: {layer_ns:.0f} ns of a message, functions {sum_ns:.0f} ns; {compared:.0%} of it is compared: "
        f"below {CALL}, without code that traces"
    )
    samples = layer["samples"] * compared
    if min(layer["samples"], theirs.total()) < FEWEST:
        print(f"skipped: fewer than {FEWEST} samples: {layer['samples']} of icepath, {theirs.total()} of perf")
        return 77
    names = same_names()
    wrong = compare([("icepath", shares_of(ours, names), samples), ("perf", shares_of(theirs, names), theirs.total())])
    if abs(sum_ns - layer_ns) > 0.01 * layer_ns:
        wrong.append("icepath's functions don't add up to the layer")
    for one in wrong:
        print(one)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
