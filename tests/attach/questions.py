#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The five questions of docs/attach.md, asked of programs whose answer is known.

    questions.py ICEPATH [FOLDER]

A `web` and a `batch` client ask `shop`, which asks `store` over another socket. `store` writes some of what batch wants
to the disk, waits for a lock that `keeper` holds for some of it, and `shop` works long for the rest. FOLDER: keeps the
run, and prints what the page shows.
"""
import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SECONDS = 8
TAIL = ("explain", "--cell", "batch shop", "--tail", "80")


def become(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME


def work(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def program(name, main, *arguments):
    child = os.fork()
    if child == 0:
        become(name)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            main(*arguments)
        finally:
            os._exit(1)
    return child


def keeper(lock):
    with open(lock) as file:
        while True:
            fcntl.flock(file, fcntl.LOCK_EX)
            time.sleep(0.02)
            fcntl.flock(file, fcntl.LOCK_UN)
            time.sleep(0.001)


def store(listener, folder):
    client, _ = listener.accept()
    with open(f"{folder}/lock") as lock, open(f"{folder}/log", "wb", buffering=0) as log:
        while True:
            wish = client.recv(64)
            if wish == b"lock":
                fcntl.flock(lock, fcntl.LOCK_EX)
                fcntl.flock(lock, fcntl.LOCK_UN)
            elif wish == b"disk":
                log.write(bytes(1 << 16))
                os.fsync(log.fileno())
            client.send(b"stored")


def shop(listener, behind):
    database = socket.socket(socket.AF_UNIX)
    database.connect(behind)
    clients = [listener.accept()[0] for _ in range(2)]
    import select

    while True:
        for client in select.select(clients, [], [])[0]:
            wish = client.recv(64)
            if wish == b"work":
                work(0.004)
            else:
                database.send(wish)
                database.recv(64)
            client.send(b"here you are")


def client(where, wishes, pause):
    server = socket.socket(socket.AF_UNIX)
    server.connect(where)
    while True:
        for wish in wishes:
            server.send(wish)
            server.recv(64)
            time.sleep(pause)


def listening(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    return listener


def ask(icepath, *command):
    done = subprocess.run([icepath, *command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"icepath {' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def check(what, holds):
    if not holds:
        sys.exit(f"not so: {what}")


def has(place, **what):
    return all(place[key] == value for key, value in what.items())


def answers(icepath, run):
    told = json.loads(ask(icepath, "report", "--json", run))
    links = {(link["client"], link["server"]): link["requests"]["latency"] for link in told["links"]}
    web, batch, behind = links["web", "shop"], links["batch", "shop"], links["shop", "store"]
    check("batch waits, and web doesn't", batch["p50_ns"] > web["p50_ns"])
    for latency in links.values():
        check("parts add up", abs(sum(place["mean_ns"] for place in latency["places"]) - latency["mean_ns"]) < 1)
    # Of each four wishes of batch one needs the lock, which keeper has most of the time, and one the disk.
    blocked = [place for place in behind["places"] if has(place, program="store", layer="blocked")]
    disk = [place for place in blocked if place["part"] == "storage"]
    check(f"store waits for the disk: {blocked}", any(place["mean_ns"] > 0 for place in disk))
    others = [place for place in blocked if place["part"] != "storage"]
    most = max(others, key=lambda place: place["mean_ns"], default={"by": ""})
    check(f"what else it waits for is mostly keeper's lock: {others}", most["by"] == "keeper")
    # Of each four one has shop work for 4 ms, and none of web's does. None has store work.
    of = {name: [place for place in batch["places"] if place["program"] == name] for name in ("shop", "store")}
    own = [
        sum(place["mean_ns"] for place in places if has(place, program="shop", layer="relay.user"))
        for places in (batch["places"], web["places"])
    ]
    check(f"batch's requests have the proxy work, and web's don't: {own}", own[0] > 10 * own[1])
    most = max(of["store"], key=lambda place: place["mean_ns"])
    check(f"most of the server's time isn't its own code: {of['store']}", most["layer"] != "relay.user")
    worst = ask(icepath, "explain", "--worst", run)
    check("each pair's slowest request is told", worst.count("= recv - send") == 3)
    tail = ask(icepath, *TAIL, run)
    check(
        "the slowest fifth of batch's waits for keeper", re.search(r"\n  keeper .* blocked, a watched program\n", tail)
    )
    name = re.search(r"--message (\d+:\d+)", tail).group(1)
    one = ask(icepath, "explain", "--message", name, run)
    check("its slowest request is told by its name", f"(--message {name})" in one and "= recv - send" in one)
    for link in told["links"]:
        for way in ("to_server", "to_client"):
            known = link[way]["identity"]
            check("who took each message is known", known["contended"] == 0)


def main():
    icepath = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="attach-questions-")
    open(f"{folder}/lock", "w").close()
    programs = []
    try:
        front, back = listening(f"{folder}/shop"), listening(f"{folder}/store")
        programs.append(program("keeper", keeper, f"{folder}/lock"))
        programs.append(program("store", store, back, folder))
        programs.append(program("shop", shop, front, f"{folder}/store"))
        programs.append(program("web", client, f"{folder}/shop", [b"read"], 0.002))
        programs.append(program("batch", client, f"{folder}/shop", [b"read", b"lock", b"disk", b"work"], 0.01))
        time.sleep(0.5)
        run = f"{folder}/run"
        pids = ",".join(str(pid) for pid in programs)
        ask(icepath, "attach", "-p", pids, "-d", str(SECONDS), "-o", run)
        if len(sys.argv) > 2:
            shutil.copytree(run, sys.argv[2], dirs_exist_ok=True)
            print(ask(icepath, "report", run))
            print(ask(icepath, *TAIL, run))
            print(ask(icepath, "explain", "--worst", run))
        answers(icepath, run)
    finally:
        for pid in programs:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
