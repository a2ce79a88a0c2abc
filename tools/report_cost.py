#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `icepath report` takes, and how much memory, by the size of a run.

    python3 tools/report_cost.py --build build --output results/report-cost.json

Makes synthetic runs (tests/report/small_run.cc) and reports each of them three times: the least time counts, and the highest peak of
resident memory (ru_maxrss). Half of the messages are probed; paths are found for these.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

REPEATS = 3
MESSAGES_OF_A_ROUND = 900  # of small_run


def report(icepath, run):
    """Seconds, seconds of CPU time, peak of resident memory in MiB."""
    begin = time.monotonic()
    child = subprocess.Popen([icepath, "report", run], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"report_cost.py: {icepath} report {run} exited with {child.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def cost(build, messages):
    rounds = round(messages / MESSAGES_OF_A_ROUND)
    with tempfile.TemporaryDirectory(prefix="icepath-report-cost-") as folder:
        run = os.path.join(folder, "run")
        subprocess.run([os.path.join(build, "bin/small_run"), run, str(rounds)], check=True)
        each = [report(os.path.join(build, "bin/icepath"), run) for _ in range(REPEATS)]
        return {"messages": rounds * MESSAGES_OF_A_ROUND, "file_mib": os.path.getsize(os.path.join(run, "capture.icp")) / 2 ** 20,
                "report_s": min(one[0] for one in each), "report_cpu_s": min(one[1] for one in each),
                "peak_mib": max(one[2] for one in each)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default="build", help="the build folder, with the target small_run")
    parser.add_argument("--messages", default="100000,1000000,5000000", help="lengths of the runs")
    parser.add_argument("--output", help="where the figures go, as JSON")
    args = parser.parse_args()
    rows = [cost(args.build, int(messages)) for messages in args.messages.split(",")]
    print(f"{'messages':>10}{'file, MiB':>11}{'report, s':>11}{'CPU, s':>8}{'peak, MiB':>11}")
    for row in rows:
        print(f"{row['messages']:>10}{row['file_mib']:>11.1f}{row['report_s']:>11.2f}{row['report_cpu_s']:>8.2f}{row['peak_mib']:>11.1f}")
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump({"description": "What icepath report costs: tools/report_cost.py", "runs": rows}, file, indent="\t")
            file.write("\n")


if __name__ == "__main__":
    main()
