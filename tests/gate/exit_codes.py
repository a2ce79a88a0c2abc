#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `icepath report` exits with for gates, and what it says: exit_codes.py ICEPATH SMALL_RUN

SMALL_RUN makes a run of two cells in one opening: what was counted is decided, what has an interval isn't.
"""
import os
import subprocess
import sys
import tempfile

icepath, maker = sys.argv[1:3]
failed = 0

MET = '[[gate]]\ncells = "uds-stream *"\nexpect = ["lost == 0", "max < 10s"]\n'
UNDECIDED = '[[gate]]\ncells = "*"\nexpect = "p50 < 9us"\n'
# Each with its exit code and a part of what is said.
FILES = {
    "met": (MET, 0, "4 met"),
    "missed": (MET.replace("10s", "1ns"), 1, "missed"),
    "undecided": (UNDECIDED, 4, "fresh processes"),
    "warns": (UNDECIDED + 'undecided = "warn"\n', 0, "the gate only warns"),
    "missed and undecided": (MET.replace("10s", "1ns") + UNDECIDED, 1, "undecided"),
    "renamed cell": (MET + MET.replace("uds-stream", "uds-straem"), 2, "no cell of the run has such a key"),
    "no such figure": ('[[gate]]\ncells = "*"\nexpect = "p99.999 < 1s"\n', 2, "too few messages"),
    "missed and missing": (MET.replace("10s", "1ns") + MET.replace("uds", "dus"), 2, "missing"),
    "empty": ("", 2, "it has no gate"),
    "no expectation": ('[[gate]]\ncells = "*"\nexpect = []\n', 2, "expect is empty"),
    "typo in a name": (MET.replace("expect", "expects"), 2, '"expects" isn\'t known'),
    "typo in a figure": (MET.replace("lost", "losst"), 2, "must begin with a figure"),
    "typo in TOML": (MET + "[[gate", 2, ".toml:"),
    "of two builds": ('[[gate]]\ncells = "*"\nexpect = "p50 slower < 3%"\n', 2, "icepath compare"),
}


def check(name, status, says, *arguments):
    global failed
    done = subprocess.run([icepath, *arguments], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode != status or says not in said:
        failed += 1
        print(
            f"FAILED: {name}: {' '.join(arguments)}: {done.returncode}, not {status}, or no '{says}':\n{said[-1500:]}"
        )


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for run, how in ("run", ["12"]), ("partial", ["partial"]):
        subprocess.run([maker, run, *how], check=True)
    empty = list(FILES).index("empty")
    for number, (text, _, _) in enumerate(FILES.values()):
        with open(f"{number}.toml", "w", encoding="utf-8") as out:
            out.write(text)
    for number, (name, (text, status, says)) in enumerate(FILES.items()):
        file = f"{number}.toml"
        check(name, status, says, "report", "run", "--gate", file)
        if status == 0:  # in a run that was killed nothing passes
            check(name + ", killed run", 4, "the run isn't whole", "report", "partial", "--gate", file)
            check(
                name + ", with an empty file", 2, "no gate", "report", "run", "--gate", file, "--gate", f"{empty}.toml"
            )
    check("no file", 2, "can't be opened", "report", "run", "--gate", "nowhere.toml")
    check("expected", 0, "2 met", "report", "run", "--expect", "lost == 0")
    check("expected and missed", 1, "missed", "report", "run", "--expect", "lost == 0", "--expect", "max < 1ns")
    check("expected, with a typo", 2, "--expect", "report", "run", "--expect", "lost = 0")
    check("no value", 2, "its value is empty", "report", "run", "--expect", "")
    check("beside JSON", 2, "--json", "report", "run", "--json", "--expect", "lost == 0")
    check("beside HTML", 2, "--html", "report", "run", "--html", "--expect", "lost == 0")
    check("no run", 2, "", "report", "nowhere", "--expect", "lost == 0")
    check("JUnit without gates", 2, "name some by --gate", "export", "run", "-f", "junit")
    check("gates without JUnit", 2, "junit and markdown only", "export", "run", "-f", "csv", "--expect", "lost == 0")
    check("a typo for JUnit", 2, "must begin with a figure", "export", "run", "-f", "junit", "--expect", "x < 1us")
print(f"exit_codes.py: {len(FILES)} files of gates, {failed} failed")
sys.exit(1 if failed else 0)
