#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the segments of a PostgreSQL that is attached to against perf's recording of the same time.

    sudo python3 tools/attach_segments.py --icepath build/bin/icepath >results/attach-segments.txt

Takes Debian's PostgreSQL with pgbench, and linux-perf. A second of pgbench makes a million events, which take
tools/check_segments.py half a minute.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attach_table import Database

CASES = {"pgbench_select_c4": ("-S", "-c", "4"), "pgbench_tpcb_c8": ("-c", "8")}


def check(options, folder, how):
    database = Database(folder)
    load = database.load(*how)
    try:
        time.sleep(1)
        checker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_segments.py")
        command = [sys.executable, checker, "--icepath", options.icepath, "--attach", "--", "-q"]
        command += ["-p", f"{database.server.pid},{load.pid}", "-d", str(options.seconds)]
        return subprocess.run(command, check=False).returncode
    finally:
        load.kill()
        load.wait()
        database.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--icepath", default="build/bin/icepath")
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    options.icepath = os.path.abspath(options.icepath)
    print(f"# {' '.join(sys.argv)}, {os.uname().release}, {os.cpu_count()} CPUs")
    status = 0
    for name, how in CASES.items():
        print(f"\n{name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="attach-segments-") as folder:
            os.chmod(folder, 0o755)
            status |= check(options, folder, how)
    return status


if __name__ == "__main__":
    sys.exit(main())
