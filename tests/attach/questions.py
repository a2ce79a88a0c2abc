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
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SECONDS = 4


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
            time.sleep(0.008)
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


def sum_of(latency, **places):
    return sum(
        place["slowest_mean_ns"]
        for place in latency["places"]
        if all(place[key] == value for key, value in places.items())
    )


def answers(icepath, run):
    told = json.loads(ask(icepath, "report", "--json", run))
    links = {(link["client"], link["server"]): link["requests"]["latency"] for link in told["links"]}
    web, batch, behind = links["web", "shop"], links["batch", "shop"], links["shop", "store"]
    check("batch waits, and web doesn't", batch["p50_ns"] > web["p50_ns"])
    check("parts add up", abs(sum(place["mean_ns"] for place in batch["places"]) - batch["mean_ns"]) < 1)
    lock = sum_of(behind, program="store", layer="blocked", by="keeper")
    disk = sum_of(behind, program="store", layer="blocked", part="storage")
    check(f"the lock ({lock:.0f} ns) and the disk ({disk:.0f} ns) are told apart", lock > 1e5 and disk > 1e4)
    own = sum(place["mean_ns"] for place in batch["places"] if place["program"] == "shop")
    below = sum(place["mean_ns"] for place in batch["places"] if place["program"] == "store")
    check("both the proxy and the server take time", own > 1e5 and below > 1e5)
    worst = ask(icepath, "explain", "--worst", run)
    check("the slowest request of all waits for keeper", "keeper" in worst)
    for link in told["links"]:
        for way in ("to_server", "to_client"):
            known = link[way]["identity"]
            check("who took each message is known", known["contended"] == 0)
    return told, web


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
            print(ask(icepath, "explain", "--worst", run))
        answers(icepath, run)
    finally:
        for pid in programs:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
