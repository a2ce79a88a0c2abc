#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""icepath attach on the workers of an icepath run: of the same messages, both tell the same layers.

    beside_run.py ICEPATH

A run stamps around its calls, so what its workers do before and after them is in its messages alone, and the kernel
parts differ by the ways into and out of a call. Between these, both see the same events, each by its own probes.
"""
import bisect
import collections
import json
import os
import subprocess
import sys
import tempfile
import time

TARGETS = "uds-stream,tcp,pipe"
APART_NS = 1000  # of what two programs at one tracepoint see, as in tools/check_segments.py
OWN = ("sender.user", "receiver.user", "sender.kernel", "receiver.kernel")  # end where a run's stamps are
FEW = 50  # messages


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def labelled(segments):
    found = collections.Counter()
    for one in segments:
        found["/".join(filter(None, (one["layer"], one["part"])))] += one["end_ns"] - one["begin_ns"]
    return found


def same_messages(run, attached):
    """By target: pairs of a run's path and the attached message that lies within it, between the same threads. Since
    the first of these threads, as some of the run is over before they are watched, and their streams are known."""
    given = collections.defaultdict(list)
    for one in attached:
        if one["type"] == "message" and one["reason"] == "complete":
            given[one["from"]["tid"], one["to"]["tid"]].append(one)
    for theirs in given.values():
        theirs.sort(key=lambda its: its["send_ns"])
    target = None
    pairs = collections.defaultdict(list)
    for one in run:
        if one["type"] == "block":
            target, tids = one["target"], [worker["tid"] for worker in one["workers"]]
        elif one["reason"] == "complete":
            ends = tuple(reversed(tids)) if one["back"] else tuple(tids)
            theirs = given[ends]
            first = bisect.bisect_left(theirs, one["send_ns"], key=lambda its: its["send_ns"])
            if first == 0 and (not theirs or theirs[0]["send_ns"] > one["recv_ns"]):
                continue
            within = [its for its in theirs[first : first + 2] if its["recv_ns"] <= one["recv_ns"]]
            pairs[target].append((one, within[0] if len(within) == 1 else None))
    return pairs


def main():
    icepath = sys.argv[1]
    if os.geteuid() != 0:
        print("skipped: needs root")
        return 77
    with tempfile.TemporaryDirectory(prefix="beside-run-") as folder:
        if user := os.environ.get("SUDO_UID"):
            os.chown(folder, int(user), -1)
        load = ["-t", TARGETS, "-w", "block", "-s", "64", "--patterns", "pingpong", "-d", "4"]
        run = subprocess.Popen([icepath, "run", "-q", *load, "-o", f"{folder}/run"], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        watch = [icepath, "attach", "-q", "-p", str(run.pid), "-o", f"{folder}/attached"]
        watched = subprocess.run(watch, stdout=subprocess.DEVNULL, check=False).returncode
        if run.wait() or watched:
            return f"run ended with {run.returncode}, attach with {watched}"
        for which in ("run", "attached"):
            subprocess.run(
                [icepath, "export", "-f", "paths", f"{folder}/{which}"], stdout=subprocess.DEVNULL, check=True
            )
        pairs = same_messages(lines(f"{folder}/run/paths.jsonl"), lines(f"{folder}/attached/paths.jsonl"))
    status = 0
    for target in TARGETS.split(","):
        both = [(one, its) for one, its in pairs[target] if its]
        differing = collections.Counter()
        sums = collections.defaultdict(lambda: [0, 0])
        for one, its in both:
            theirs, ours = labelled(one["segments"]), labelled(its["segments"])
            for name in theirs | ours:
                sums[name][0] += theirs[name]
                sums[name][1] += ours[name]
                differing[name] += name not in OWN and abs(theirs[name] - ours[name]) > 2 * APART_NS
        print(f"{target}: {len(both)} of {len(pairs[target])} messages")
        for name, (theirs, ours) in sorted(sums.items()):
            n = len(both)
            print(f"  {name:24} run {theirs / n:9.1f} ns  attach {ours / n:9.1f} ns  differ {differing[name]}")
        if len(both) < max(FEW, 0.99 * len(pairs[target])) or max(differing.values()) > 0.02 * len(both):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
