#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""icepath attach --live on a terminal, and beside one.

    live.py ICEPATH

A pair of processes asks over a socket pair. The terminal shows who talks to whom, anew each second; Ctrl-C ends it with
the report that a run without --live has; without a terminal it is refused before anything is watched.
"""
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROWS = 24
UNTIL = 60  # s, until something must have been shown


def check(what, holds, seen=""):
    if not holds:
        sys.exit(f"not so: {what}\n{seen}")


def talk(end, asks):
    with open("/proc/self/comm", "w") as name:
        name.write("asker" if asks else "teller")
    while True:
        if asks:
            end.send(b"?")
            end.recv(8)
            time.sleep(0.002)
        else:
            end.send(end.recv(8))


def programs():
    ours, theirs = socket.socketpair()
    children = []
    for end, asks in ((ours, True), (theirs, False)):
        child = os.fork()
        if child == 0:
            try:
                (theirs if asks else ours).close()
                talk(end, asks)
            finally:
                os._exit(0)  # the other one has ended
        children.append(child)
    ours.close()
    theirs.close()
    return children


class Terminal:
    """icepath with a terminal of its own, and what it wrote there."""

    def __init__(self, command):
        self.text = ""
        self.child, self.end = pty.fork()
        if self.child == 0:
            os.environ.update(TERM="xterm", LC_ALL="C.UTF-8", LINES=str(ROWS))
            os.execv(command[0], command)
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 132, 0, 0))

    def read_until(self, holds):
        until = time.monotonic() + UNTIL
        while time.monotonic() < until and not holds(self.text):
            if not select.select([self.end], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(self.end, 65536)
            except OSError:  # the terminal is closed
                break
            self.text += piece.decode(errors="replace")
        return holds(self.text)

    def ctrl_c(self):
        os.write(self.end, b"\x03")

    def wait(self):
        self.read_until(lambda text: False)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


def pages(text):
    return [page.split("\x1b[J")[0] for page in text.split("\x1b[?7l\x1b[H")[1:]]


def refreshes_until_ctrl_c(icepath, pids, folder):
    terminal = Terminal([icepath, "attach", "-p", pids, "--live", "-o", f"{folder}/run"])

    def shows_figures(text):
        return sum("asker ↔ teller" in page and "requests" in page for page in pages(text)) >= 3

    check("three pages tell who talks to whom", terminal.read_until(shows_figures), terminal.text)
    shown = pages(terminal.text)
    check("a page fits the terminal", all(page.count("\n") < ROWS for page in shown), shown[-1])
    check("the time goes on", len({page.split("Ctrl-C")[0] for page in shown}) >= 3, shown[-1])
    terminal.ctrl_c()
    code = terminal.wait()
    check(f"Ctrl-C ends it in order ({code})", code == 0, terminal.text)
    rest = terminal.text[terminal.text.rindex("\x1b[?7h") :]
    check("the report follows", "asker ↔ teller" in rest and "report: icepath report" in rest, rest)
    told = subprocess.run([icepath, "report", f"{folder}/run"], capture_output=True, text=True, check=True).stdout
    check("the run is of all", "identity" in told and "asker" in told, told)


def is_refused_without_a_terminal(icepath, pids, folder):
    for term, stdout in (("xterm", subprocess.PIPE), ("dumb", None)):
        command = [icepath, "attach", "-p", pids, "--live", "-d", "1", "-o", f"{folder}/none"]
        environment = {**os.environ, "TERM": term}
        if stdout is None:
            ours, theirs = pty.openpty()
            stdout = theirs
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment)
        check(f"it is refused ({done.returncode})", done.returncode == 2 and "--live" in done.stderr, done.stderr)
        check("nothing is written", not os.path.exists(f"{folder}/none"))


def main():
    icepath = os.path.abspath(sys.argv[1])
    if os.geteuid() != 0:
        sys.exit(77)
    children = programs()
    try:
        with tempfile.TemporaryDirectory(prefix="attach-live-") as folder:
            pids = ",".join(str(pid) for pid in children)
            is_refused_without_a_terminal(icepath, pids, folder)
            refreshes_until_ctrl_c(icepath, pids, folder)
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
