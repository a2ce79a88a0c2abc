#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `icepath report` takes, and how much memory, by the size of a run.

    sudo python3 tools/report_cost.py --icepath build/bin/icepath --output results/report-cost.json

Measures runs of growing length and reports each of them three times: the least time counts, and the highest peak of resident memory
(ru_maxrss). Messages are all deliveries in the run directory; paths are found for those with probes alone.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

REPEATS = 3


def measure(args, seconds, folder):
    run = os.path.join(folder, "run")
    command = [args.icepath, "run", "-q", "-t", args.targets, "-s", "64", "--patterns", "pingpong", "-d", str(seconds), "-o", run]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"report_cost.py: {' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[-400:]}")
    return run


def report(icepath, run):
    """Seconds, seconds of CPU time, peak of resident memory in MiB."""
    begin = time.monotonic()
    child = subprocess.Popen([icepath, "report", run], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"report_cost.py: {icepath} report {run} exited with {child.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def cost(args, seconds):
    with tempfile.TemporaryDirectory(prefix="icepath-report-cost-") as folder:
        run = measure(args, seconds, folder)
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        each = [report(args.icepath, run) for _ in range(REPEATS)]
        messages = sum(cell["messages"]["received"] for cell in cells)
        return {"run_seconds": seconds, "messages": messages, "with_probes": sum(cell["messages"]["probed"] for cell in cells),
                "file_mib": os.path.getsize(os.path.join(run, "capture.icp")) / 2 ** 20, "report_s": min(one[0] for one in each),
                "report_cpu_s": min(one[1] for one in each), "peak_mib": max(one[2] for one in each)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--icepath", default="build/bin/icepath")
    parser.add_argument("--targets", default="uds-stream,tcp,pipe,shm-ring", help="as icepath run -t takes them")
    parser.add_argument("--seconds", default="2,12,60", help="lengths of the runs")
    parser.add_argument("--output", help="where the figures go, as JSON")
    args = parser.parse_args()
    rows = [cost(args, float(seconds)) for seconds in args.seconds.split(",")]
    print(f"{'messages':>10}{'with probes':>13}{'file, MiB':>11}{'report, s':>11}{'CPU, s':>8}{'peak, MiB':>11}")
    for row in rows:
        print(f"{row['messages']:>10}{row['with_probes']:>13}{row['file_mib']:>11.1f}{row['report_s']:>11.2f}{row['report_cpu_s']:>8.2f}"
              f"{row['peak_mib']:>11.1f}")
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump({"description": "What icepath report costs: tools/report_cost.py", "targets": args.targets.split(","), "runs": rows},
                      file, indent="\t")
            file.write("\n")


if __name__ == "__main__":
    main()
