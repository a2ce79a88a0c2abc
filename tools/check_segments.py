#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every segment of every path of a run against perf's own recording of the same time.

    sudo tools/check_segments.py [OPTIONS] -- -t uds-stream,tcp -d 10     records `icepath run` with these options
    sudo tools/check_segments.py --attach -- --name pgbench,postgres -d 2   records `icepath attach`
    tools/check_segments.py --paths paths.jsonl --script script.txt       checks an earlier recording

icepath's paths rest on its own probes. This program makes timelines from perf's sched, irq, irq_vectors, raw_syscalls,
net and sock events, and shares nothing with those probes. A segment holds if its thread was in the state that the layer
claims for 95 % of the time, a culprit if it had the CPU for half of the time. The ends of short segments depend on some
hundred nanoseconds between two programs at one tracepoint: perf's events are moved by the median of that, and what
holds only if both ends may move by --slack is counted separately. Where perf has no event, a segment is uncheckable,
with the reason.

Exits with 1 unless 99.9 % of the checkable segments hold, no culprit is false, the culprits' table is right within 1 %,
and each worker's time adds up, also by `perf sched timehist`; with 2 if nothing could be checked.

Needs Python 3 and linux-perf.
"""
import argparse
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from segment_check import conservation, trace
from segment_check.claims import STALL, UNCHECKABLE, Checker, Verdict
from segment_check.lag import Lag
from segment_check.paths import groups
from segment_check.tally import Tally, table
from segment_check.timelines import Timelines
from users_folder import users_folder

MARGIN_NS = 5_000_000  # added before and after a block, so that states are known in it


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--icepath", default="icepath", help="the program")
    parser.add_argument("--keep", metavar="DIR", help="where the run and the recording stay; else they are taken away")
    parser.add_argument("--slack", type=int, default=1000, metavar="NS", help="how far an end may be off (%(default)s)")
    parser.add_argument(
        "--without-syscalls", action="store_true", help="user and kernel layers are then only checked for running"
    )
    parser.add_argument(
        "--spare",
        type=int,
        default=0,
        metavar="N",
        help="so many segments may be false beside one in a thousand: a"
        " host that stops a CPU between a stamp and its system call makes one",
    )
    parser.add_argument("--json", metavar="FILE", help="the result for programs")
    parser.add_argument("--paths", metavar="FILE", help="of `icepath export -f paths`: nothing is run")
    parser.add_argument(
        "--script", metavar="FILE", help="of `perf script --ns -F comm,tid,cpu,time,event,trace --show-lost-events`"
    )
    parser.add_argument("--timehist", metavar="FILE", help="of `perf sched timehist`")
    parser.add_argument("--attach", action="store_true", help="programs that are running, instead of a benchmark")
    parser.add_argument("run", nargs="*", metavar="OPTION", help="of icepath run, or of icepath attach")
    chosen = parser.parse_args()
    if bool(chosen.paths) != bool(chosen.script):
        parser.error("--paths and --script go together")
    return chosen


def record(chosen, folder):
    """Runs icepath under perf, with tracefs mounted in a mount namespace of our own if it isn't."""
    events = ["-e", trace.EVENTS]
    if not chosen.without_syscalls:
        events += ["-e", trace.SYSCALLS, "--exclude-perf"]
    perf = [
        "perf",
        "record",
        "-q",
        "-k",
        "CLOCK_MONOTONIC",
        "-a",
        "-m",
        "32M",
        "-o",
        f"{folder}/perf.data",
        *events,
        "--",
    ]
    command = ["attach"] if chosen.attach else ["run", "-q"]
    run = [chosen.icepath, *command, "-o", f"{folder}/run", *chosen.run]
    mounted = 'test -d /sys/kernel/tracing/events || mount -t tracefs none /sys/kernel/tracing; exec "$@"'
    done = subprocess.run(["unshare", "-m", "sh", "-c", mounted, "sh", *perf, *run], stdout=sys.stderr, check=False)
    if done.returncode:
        sys.exit(f"check_segments.py: {' '.join(run)} under perf record ended with {done.returncode}")


def read_recording(chosen, folder):
    subprocess.run([chosen.icepath, "export", "-f", "paths", f"{folder}/run"], stdout=subprocess.DEVNULL, check=True)
    data = f"{folder}/perf.data"
    script = subprocess.Popen(
        ["perf", "script", "-i", data, "--ns", "-F", "comm,tid,cpu,time,event,trace", "--show-lost-events"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )
    with subprocess.Popen(
        ["perf", "sched", "timehist", "-i", data],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
    ) as timehist:
        runs = conservation.runs_of_timehist(timehist.stdout)
    return f"{folder}/run/paths.jsonl", script.stdout, runs


def check_path(path, block, lines, checker, tally, lost):
    tally.paths[path["reason"]] += 1
    for segment in path["segments"]:
        if lost:
            tally.segment(Verdict(UNCHECKABLE, "perf lost events of that time"), segment, path, block, lines)
            continue
        tally.segment(checker.segment(segment), segment, path, block, lines)
        culprit = checker.culprit(segment)
        tally.culprit(culprit, segment, path, block, lines)
        if culprit and culprit.why == STALL:
            continue
        if segment["layer"] in ("runqueue", "preempted", "queue"):
            tally.shares(segment, checker.shares(segment, segment["begin_ns"], segment["end_ns"]))


def check(path, script, runs, slack_ns, spare=0):
    tally, told = Tally(), trace.Trace(script)
    hidden, lag = {}, Lag()
    for group in groups(path):
        begin = min(block.told["begin_ns"] for block in group) - MARGIN_NS
        end = max(block.told["end_ns"] for block in group) + MARGIN_NS
        title = " beside ".join(block.told["title"] for block in group)
        events = told.between(begin, end)
        lines = Timelines(
            events, begin, end, *lag.learn(events, title, (one for block in group for one in block.paths()))
        )
        checker = Checker(lines, slack_ns)
        for cpu, count in lines.hidden.items():
            hidden[cpu] = hidden.get(cpu, 0) + count
        for block in group:
            conservation.check(lines, block.told, runs, tally)
            for one in block.paths():
                lost = told.lost_in(one["send_ns"], one["recv_ns"])
                check_path(one, block.told, lines, checker, tally, lost)
    told.to_the_end()
    result = tally.result(slack_ns, spare)
    result["perf"] = {
        "first_by_ns": {"min": min(lag.by_block, default=0), "max": max(lag.by_block, default=0)},
        "lost": told.lost,
        "switches_hidden_from_it": hidden,
        "lines_not_understood": told.unread,
    }
    return result


def main():
    chosen = arguments()
    with users_folder("icepath-segments-") as temporary:
        if chosen.paths:
            path, script = chosen.paths, open(chosen.script, errors="replace")
            runs = conservation.runs_of_timehist(open(chosen.timehist, errors="replace")) if chosen.timehist else None
        else:
            folder = chosen.keep or temporary
            os.makedirs(folder, exist_ok=True)
            record(chosen, folder)
            path, script, runs = read_recording(chosen, folder)
        result = check(path, script, runs, chosen.slack, chosen.spare)
    print(table(result))
    first_by = result["perf"]["first_by_ns"]
    print(
        f"perf's stamp of an event is {first_by['min']} to {first_by['max']} ns before icepath's, "
        "by block: its events are moved by that"
    )
    print(
        f"perf: {result['perf']['lost']} events lost; "
        f"switches that it didn't see, by CPU: {result['perf']['switches_hidden_from_it']}"
    )
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    if not result["segments"]["checked"]:
        print("check_segments.py: nothing could be checked", file=sys.stderr)
        return 2
    return 0 if result["good"] else 1


if __name__ == "__main__":
    sys.exit(main())
