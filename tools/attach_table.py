#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attaches to real programs under load, and prints how much of what they said to each other was understood.

    sudo python3 tools/attach_table.py --icepath build/bin/icepath >results/attach.txt

Takes PostgreSQL with pgbench, redis, socat and Python, all of Debian. Each case is watched for some seconds under load.
matched: messages whose taker is known, of all that were told. answered: requests with one possible answer, of all.
whole: those with a breakdown, of these. other: what pgbench says of the same time, by its log of each transaction that
began and ended in it, for each statement.
"""
import argparse
import glob
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

PIPES = """
import os, sys
there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    while True:
        size = os.read(there[0], 4)
        os.read(there[0], int.from_bytes(size, "little"))
        os.write(back[1], b"done")
while True:
    os.write(there[1], (100).to_bytes(4, "little") + bytes(100))
    os.read(back[0], 4)
"""


def postgres_programs():
    return max(glob.glob("/usr/lib/postgresql/*/bin"))


class Database:
    """A cluster of its own, as the user postgres: the server refuses root."""

    def __init__(self, folder, scale=10):
        self.folder, self.user = folder, pwd.getpwnam("postgres")
        os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        self.run("initdb", "-D", f"{folder}/data", "-A", "trust", "--no-sync")
        self.server = self.start("postgres", "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=")
        while self.run("pg_isready", "-h", folder, check=False) != 0:
            time.sleep(0.1)
        self.run("pgbench", "-h", folder, "-i", "-q", "-s", str(scale), "postgres")

    def start(self, program, *arguments):
        return subprocess.Popen(
            [f"{postgres_programs()}/{program}", *arguments],
            user=self.user.pw_uid,
            group=self.user.pw_gid,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def run(self, *command, check=True):
        status = self.start(*command).wait()
        if check and status != 0:
            sys.exit(f"{command[0]} failed")
        return status

    def load(self, *how):
        for old in glob.glob(f"{self.folder}/pgbench_log*"):
            os.unlink(old)
        return self.start("pgbench", "-h", self.folder, "-n", "-l", "-T", "600", *how, "postgres")

    def stop(self):
        self.server.send_signal(2)  # fast shutdown
        self.server.wait()


class Case:
    def __init__(self, options, name):
        self.options, self.name = options, name
        self.folder = tempfile.mkdtemp(prefix="attach-table-")
        os.chmod(self.folder, 0o755)
        self.programs = []

    def start(self, *command):
        quiet = subprocess.DEVNULL
        self.programs.append(subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet))
        return self.programs[-1]

    def watch(self, *programs):
        time.sleep(1)
        run = f"{self.folder}/run"
        pids = ",".join(str(program.pid) for program in programs)
        command = [self.options.icepath, "attach", "-p", pids, "-d", str(self.options.seconds), "-o", run]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        report = [self.options.icepath, "report", "--json", run]
        shown = subprocess.run(report, capture_output=True, text=True, check=True)
        if self.options.keep:
            shutil.copytree(run, f"{self.options.keep}/{self.name}")
        return json.loads(shown.stdout)

    def end(self):
        for program in reversed(self.programs):
            program.kill()
            program.wait()
        shutil.rmtree(self.folder)


def share(part, whole):
    return f"{100 * part / whole:8.3f} %" if whole else "       –  "


def line(name, result, other=""):
    if not result["links"]:
        print(f"{name:20} no messages between two of the programs", flush=True)
        return
    messages = matched = answered = paired = whole = 0
    for link in result["links"]:
        for way in ("to_server", "to_client"):
            messages += link[way]["messages"]
            matched += link[way]["identity"]["exact"] + link[way]["identity"]["counted"]
        asked = link["requests"]
        answered += asked["answered"]
        paired += asked["answered"] + asked["ambiguous"] + asked["unanswered"]
        whole += asked["latency"]["with_path"]
    main = max(result["links"], key=lambda link: link["requests"]["answered"])
    latency = (main["requests"] if main["requests"]["answered"] else main["to_server"])["latency"]
    columns = [
        f"{name:20}",
        f"{messages:9}",
        share(matched, messages),
        f"{answered:9}",
        share(answered, paired),
        share(whole, answered),
        f"{result['trust']['lost_records']:6}",
        f"{(latency['mean_ns'] or 0) / 1000:9.1f}",
        other,
    ]
    print(" ".join(columns), flush=True)


def own_latency(folder, seconds_since, statements):
    """pgbench's mean latency over the transactions that lay within the time, in µs, by its log."""
    begin, end = seconds_since
    times = []
    for log in glob.glob(f"{folder}/pgbench_log*"):
        for text in pathlib.Path(log).read_text().splitlines():
            fields = text.split()
            if len(fields) < 6:
                continue
            ended = int(fields[4]) + int(fields[5]) / 1e6
            if begin <= ended - int(fields[2]) / 1e6 and ended <= end:
                times.append(int(fields[2]))
    mean = sum(times) / max(1, len(times))
    return f"pgbench: {mean / statements:.1f} µs for each of {statements}, of {len(times)} transactions"


def postgres(options, name, statements, *how):
    case = Case(options, name)
    database = Database(case.folder)
    try:
        load = database.load(*how)
        case.programs.append(load)
        before = time.time()
        result = case.watch(database.server, load)
        after = time.time()
        load.send_signal(15)
        load.wait()
        span = (before + 1.3, min(after, before + 1.3 + result["duration_s"]))
        line(name, result, own_latency(case.folder, span, statements))
    finally:
        database.stop()
        case.end()


def redis(options, name, *how, through_socat=False):
    case = Case(options, name)
    try:
        socket = f"{case.folder}/redis"
        stored = ["--save", "", "--appendonly", "no"]
        server = case.start("redis-server", "--port", "7777", "--unixsocket", socket, *stored)
        while not os.path.exists(socket):
            time.sleep(0.1)
        watched = [server]
        if through_socat:
            watched.append(case.start("socat", "TCP-LISTEN:7778,reuseaddr,fork", f"UNIX-CONNECT:{socket}"))
            time.sleep(0.3)
        where = ["-p", "7778"] if through_socat else ["-p", "7777"] if "tcp" in name else ["-s", socket]
        load = case.start("redis-benchmark", *where, "-t", "get", "-n", "100000000", *how)
        line(name, case.watch(*watched, load))
    finally:
        case.end()


def pipes(options, name):
    case = Case(options, name)
    try:
        line(name, case.watch(case.start(sys.executable, "-c", PIPES)))
    finally:
        case.end()


CASES = {
    "pgbench_select_c4": lambda options, name: postgres(options, name, 1, "-S", "-c", "4"),
    "pgbench_tpcb_c8": lambda options, name: postgres(options, name, 7, "-c", "8"),
    "pgbench_connects": lambda options, name: postgres(options, name, 1, "-S", "-C", "-c", "1"),
    "redis_unix_c1": lambda options, name: redis(options, name, "-c", "1"),
    "redis_tcp_c10": lambda options, name: redis(options, name, "-c", "10"),
    "redis_through_socat": lambda options, name: redis(options, name, "-c", "1", through_socat=True),
    "python_pipes": pipes,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--icepath", default="build/bin/icepath")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--keep", help="a folder for the run directories")
    parser.add_argument("cases", nargs="*", default=list(CASES))
    options = parser.parse_args()
    options.icepath = os.path.abspath(options.icepath)
    print(f"# {' '.join(sys.argv)}, {os.uname().release}, {os.cpu_count()} CPUs")
    heads = [
        " " * 20,
        " messages",
        "   matched",
        " requests",
        "  answered",
        "     whole",
        "  lost",
        "  mean µs",
        "other",
    ]
    print(" ".join(heads), flush=True)
    for name in options.cases:
        CASES[name](options, name)


if __name__ == "__main__":
    main()
