#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perf's own recording confirms the segments of programs that are attached to: a server that looks into a file for each
of its clients, by UNIX streams. attached_segments.py ICEPATH"""
import os
import shutil
import subprocess
import sys
import time

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")

PROGRAMS = """
import os, select, socket, time
there = []
for _ in range(3):
    server, client = socket.socketpair()
    if os.fork() == 0:
        while True:
            time.sleep(0.002)
            client.send(bytes(100))
            client.recv(4096)
    client.close()
    there.append(server)
waiting = select.epoll()
for one in there:
    waiting.register(one, select.EPOLLIN)
file = open("/dev/zero", "rb", buffering=0)
while True:
    for number, _ in waiting.poll():
        os.read(number, 4096)
        file.read(4096)
        os.write(number, bytes(200))
"""


def main():
    if os.geteuid() != 0:
        print("skipped: needs root")
        return 77
    if not shutil.which("perf"):
        print("skipped: linux-perf isn't installed")
        return 77
    programs = subprocess.Popen([sys.executable, "-c", PROGRAMS], start_new_session=True)
    try:
        time.sleep(0.5)
        check = [sys.executable, f"{TOOLS}/check_segments.py", "--icepath", sys.argv[1], "--attach", "--spare", "5"]
        return subprocess.run([*check, "--", "-q", "-p", str(programs.pid), "-d", "1"], check=False).returncode
    finally:
        os.killpg(programs.pid, 9)
        programs.wait()


if __name__ == "__main__":
    sys.exit(main())
