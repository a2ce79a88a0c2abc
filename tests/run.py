#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test of a build folder, or those that options of ctest choose, and closes with a count that names what
failed, and what was skipped and why: tests/run.py BUILD [OPTION…]

A test with the label `machine` measures, and what else the machine did may fail it. One that fails is run once more,
alone, at the end. If it passes then, it counts as passed, and is *unsteady*: it stands with what it said at first at
the end of the run and in BUILD/unsteady.txt. More than a few of them fail the run: a fault that shows now and then
looks the same. No other test is run again.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections import defaultdict

MOST_UNSTEADY = 3
# What fails more tests than that is no noise.
MOST_AGAIN = 10
# A log of thousands of lines is cut somewhere, so what failed is said once more at the end, by the last of its lines.
LAST_LINES = 25


class Test:
    """A test's result, of a <testcase> of ctest's report."""

    def __init__(self, case):
        self.name = case.get("name")  # ctest's
        self.title = re.sub(r" *# GetParam.*", "", self.name, flags=re.DOTALL)
        self.output = (case.findtext("system-out") or "").strip("\n")
        skipped = case.find("skipped")
        self.state = {"run": "passed", "fail": "failed"}.get(case.get("status"), "skipped")
        # A test whose program is missing isn't run either. GoogleTest skips those of a suite whose beginning failed.
        is_program_missing = skipped is not None and not skipped.get("message").startswith("SKIP_")
        if is_program_missing or (self.state == "skipped" and re.search(r": Failure$", self.output, re.M)):
            self.state = "failed"

    def reason(self):
        """Why it was skipped."""
        # GoogleTest prints the reason in the line after "file:line: Skipped"; a script prints "skipped: reason".
        found = re.search(r"^skipped: (.*)|: Skipped\n(.*)", self.output, flags=re.MULTILINE)
        return (found[1] or found[2]) if found else "no reason given"


def at_once():
    """How many tests to run at a time: four for each CPU, as those of middleware sleep most of the time; what polls
    counts for three (PROCESSORS)."""
    return os.environ.get("JOBS") or str(4 * len(os.sched_getaffinity(0)))


class Ctest:
    """ctest in a build folder, as root where sudo can."""

    def __init__(self, build):
        self.build = build
        self.variables = []
        # Tests of the whole need root, as icepath itself does for its probes; without sudo they are skipped and say so.
        self.as_root = []
        if os.getuid() != 0 and shutil.which("sudo"):
            if sys.stdin.isatty() or subprocess.call(["sudo", "-n", "true"], stderr=subprocess.DEVNULL) == 0:
                # Root itself, not the user as whom icepath would go on: tests that play sudo say whose.
                of_user = ("SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND")
                self.as_root = ["sudo", "--preserve-env=CI", "env", *(f"--unset={name}" for name in of_user)]

    def command(self, *options):
        return [*self.as_root, "env", *self.variables, "ctest", "--test-dir", self.build, *options]

    def run(self, report, *options):
        """Its exit status, and the tests by name: None if it was interrupted, or didn't begin."""
        report = os.path.join(self.build, report)
        if os.path.exists(report):
            os.remove(report)
        command = self.command("--output-on-failure", "--no-tests=error", "--output-junit", report, *options)
        status = subprocess.call(command, stdin=subprocess.DEVNULL)
        if not os.path.exists(report):
            return status, None
        return status, {case.get("name"): Test(case) for case in xml.parse(report).iter("testcase")}

    def of_the_machine(self):
        """The names of the tests with that label."""
        command = self.command("--show-only=json-v1", "--label-regex", "^machine$")
        listed = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
        return {test["name"] for test in json.loads(listed)["tests"]}

    def give_back(self):
        """What sudo made belongs to who called."""
        if self.as_root:
            subprocess.call([*self.as_root, "chown", "-R", f"{os.getuid()}:{os.getgid()}", self.build])


def run_again(ctest, tests):
    """Runs the failed ones of the machine once more. Returns those that pass now, as they were; they count as such."""
    failed = [test for test in tests.values() if test.state == "failed"]
    machine = ctest.of_the_machine() if failed else set()
    again = [test for test in failed if test.name in machine]
    if len(again) > MOST_AGAIN:
        print(f"\n{len(again)} tests of the machine failed: none is run again, as more than {MOST_AGAIN} aren't noise")
        return []
    if not again:
        return []
    print(f"\nonce more, alone: {', '.join(test.title for test in again)}", flush=True)
    exactly = "^(" + "|".join(re.sub(r"([^\w/ ])", r"\\\1", test.name) for test in again) + ")$"
    ctest.variables = ["ICEPATH_ONCE_MORE=1"]  # what has parts runs those that failed
    _, second = ctest.run("tests-again.xml", "--no-label-summary", "--tests-regex", exactly)
    unsteady = [test for test in again if second and test.name in second and second[test.name].state == "passed"]
    for test in unsteady:
        test.state = "passed"
    return unsteady


def said(test, most=None):
    lines = test.output.splitlines()
    return "".join(f"    {line}\n" for line in (lines[-most:] if most else lines))


def print_summary(tests, unsteady, folder):
    for test in tests:
        if test.state == "failed":
            print(f"\nfailed: {test.title}\n{said(test, LAST_LINES)}", end="")
    for test in unsteady:
        print(f"\nunsteady, failed at first: {test.title}\n{said(test, LAST_LINES)}", end="")
    skipped = defaultdict(list)
    for test in tests:
        if test.state == "skipped":
            skipped[test.reason()].append(test.title)
    for reason, titles in skipped.items():
        print(f"\nskipped ({len(titles)}): {reason}", *titles, sep="\n    ")
    failed = [test.title for test in tests if test.state == "failed"]
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    if unsteady:
        limit = f", more than {MOST_UNSTEADY}: that fails the run" if len(unsteady) > MOST_UNSTEADY else ""
        print(f"\nunsteady: {', '.join(test.title for test in unsteady)} ({folder}/unsteady.txt){limit}")
    count = {state: sum(test.state == state for test in tests) for state in ("passed", "failed", "skipped")}
    print(
        f"\ntests: {len(tests)}, passed: {count['passed']}, failed: {count['failed']}, skipped: {count['skipped']}"
        + (f", unsteady: {len(unsteady)}" if unsteady else "")
    )


def main():
    sys.stdout.reconfigure(errors="replace")
    folder, *options = sys.argv[1:]
    os.environ.pop("COLUMNS", None)  # what tests compare with is as wide as icepath's output is without
    ctest = Ctest(os.path.abspath(folder))
    # An interrupt is for ctest; what sudo made is given back after it.
    signal.signal(signal.SIGINT, lambda *_: None)
    unsteady = []
    status, tests = ctest.run("tests.xml", "-j", at_once(), *options)
    if tests:
        any_failed = any(test.state == "failed" for test in tests.values())
        unsteady = run_again(ctest, tests)
    ctest.give_back()
    if not tests:
        return status or 1
    with open(os.path.join(ctest.build, "unsteady.txt"), "w", encoding="utf-8") as file:
        for test in unsteady:
            file.write(f"{test.title}\n{said(test)}\n")
    print_summary(list(tests.values()), unsteady, folder)
    ended_well = status == 0 or any_failed  # ctest fails by other things than tests as well
    still_failed = any(test.state == "failed" for test in tests.values())
    return 0 if ended_well and not still_failed and len(unsteady) <= MOST_UNSTEADY else status or 1


if __name__ == "__main__":
    sys.exit(main())
