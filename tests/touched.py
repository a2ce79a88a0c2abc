#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the tests that a change touches, but none of the machine:

    tests/touched.py BUILD RANGE SECONDS [GRAPH]

RANGE is what `git log` takes, such as main..HEAD or -50; what isn't committed is part of the change. A test is touched
if one of the change's files is in its program or in a plug-in that it loads, as ninja knows of GRAPH, a folder that was
built (BUILD, unless it is named), or if its command names the file. Programs of the latest commit are built first; but
for the first few, none is begun after SECONDS. What is left out is said. Without git's history everything is touched.
"""
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
# As many as keep all CPUs busy: the time is looked at between them.
AT_ONCE = 4


def output_of(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=SOURCE, check=True)
    return result.stdout.decode(errors="replace")


def touched_files(commits):
    """Paths in the tree, the latest first; None without git's history."""
    git = ["git", "-c", "safe.directory=*", "-c", "core.quotePath=off"]
    try:
        listed = output_of(*git, "diff", "--name-only", "HEAD")
        listed += output_of(*git, "ls-files", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return None
    try:
        listed += output_of(*git, "log", "--format=", "--name-only", commits)
    except subprocess.CalledProcessError:
        sys.exit(f"git has no commits {commits}: name a base, as in make check BASE=HEAD~2")
    return list(dict.fromkeys(listed.splitlines()))


class Graph:
    """What is made of what in a folder that was built. Names are relative to it, as ninja's are."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.made_directly = defaultdict(set)
        with open(os.path.join(folder, "build.ninja"), encoding="utf-8") as file:
            for line in file:
                if line.startswith("build "):
                    self._add_rule(line)
        # What compilers said that they read, above all headers.
        for line in output_of("ninja", "-C", self.folder, "-t", "deps").splitlines():
            if line.startswith("    "):
                self.made_directly[self.name(line.strip())].add(made)
            else:
                made = line.partition(": #deps ")[0]

    def name(self, path):
        return os.path.relpath(os.path.join(self.folder, path), self.folder)

    def _add_rule(self, line):
        # build OUTPUTS | OUTPUTS: RULE INPUTS | INPUTS || INPUTS THAT ARE ONLY TO BE THERE BEFORE IT
        line = line[len("build ") :].replace("${cmake_ninja_workdir}", "")
        made, _, rest = re.sub(r"\$([ :$])", lambda escaped: f"\0{ord(escaped[1])}\0", line).partition(": ")
        rule, *inputs = rest.split()
        before = inputs.index("||") if "||" in inputs else len(inputs)
        # Of these, a program wants what it loads or starts. Others wait for all libraries below them.
        wanted = inputs[:before]
        if "EXECUTABLE_LINKER" in rule:
            wanted += [name for name in inputs[before:] if not name.endswith(".a") and "_order_depends_" not in name]
        plain = lambda name: self.name(re.sub(r"\0(\d+)\0", lambda code: chr(int(code[1])), name))
        for name in wanted:
            if name not in ("|", "||"):
                self.made_directly[plain(name)] |= {plain(output) for output in made.split() if output != "|"}

    def made_of(self, file):
        """All that is made of a file of the tree, and the file itself."""
        ahead = [self.name(os.path.join(SOURCE, file))]
        if os.path.basename(file) == "CMakeLists.txt":  # says how all of its folder is compiled
            objects = os.path.join(os.path.dirname(file), "CMakeFiles") + "/"
            ahead += [name for name in self.made_directly if name.startswith(objects) and "/headers.dir/" not in name]
        found = set(ahead)
        while ahead:
            new = self.made_directly.get(ahead.pop(), set()) - found
            found |= new
            ahead += new
        return found


def build_in_time(build, programs, seconds):
    """Builds programs in that order; returns those that it had time for."""
    deadline = time.monotonic() + seconds
    jobs = os.environ.get("JOBS") or str(len(os.sched_getaffinity(0)))
    for first in range(0, len(programs), AT_ONCE):
        if first > 0 and time.monotonic() > deadline:
            return programs[:first]
        subprocess.run(["ninja", "-C", build, "-j", jobs, "--quiet", *programs[first : first + AT_ONCE]], check=True)
    return programs


def parts_of(test, properties, build):
    """What a test's result depends on, as names of the build folder: its program, its script, its plug-in."""
    # One program tests all plug-ins, each for a minute: a plug-in's test is touched with the plug-in.
    for setting in properties.get("ENVIRONMENT", []):
        if setting.startswith("ICEPATH_CONFORMANCE_PLUGIN="):
            return {"lib/icepath/icepath-" + setting.partition("=")[2] + ".so"}
    return {os.path.relpath(word, build) for word in test.get("command", []) if os.path.isabs(word)}


def select(build, files, touched, not_built, sanitized):
    """Numbers of the tests to run, as ctest counts, and the names of those that are left out, by the reason."""
    numbers, left_out = [], defaultdict(list)
    tests = json.loads(output_of("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]
    for number, test in enumerate(tests, 1):
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        labels = properties.get("LABELS", [])
        parts = parts_of(test, properties, build)
        if sanitized and "program" in labels:
            continue
        if touched is not None and not (parts & touched or test["name"].startswith("house.")):
            if any(os.path.relpath(word, build) in touched for word in test.get("command", [])[:1]):
                left_out["of plug-ins that aren't touched"].append(test["name"])
            continue
        if "machine" in labels:
            left_out["of the machine (make test-machine)"].append(test["name"])
        # A browser takes minutes for what any change of icepath touches.
        elif "browser" in labels and not any("browser/" in file for file in files or []):
            left_out["in a browser"].append(test["name"])
        elif parts & not_built or not test.get("command"):
            left_out["for want of time"].append(test["name"])
        else:
            numbers.append(number)
    return numbers, left_out


def main():
    build, commits, seconds, *graph = sys.argv[1:]
    build = os.path.abspath(build)
    with open(os.path.join(build, "tests/programs.txt"), encoding="utf-8") as file:
        programs = [os.path.relpath(path, build) for path in file.read().split("\n") if path]
    files = touched_files(commits)
    touched = None
    if files is not None:
        graph = Graph(*graph or [build])
        rank = {}  # of what is made of files, by the first of them
        for place, name in enumerate(files):
            for made in graph.made_of(name):
                rank.setdefault(made, place)
        programs = sorted((program for program in programs if program in rank), key=rank.get)
        touched = set(rank)
    built = build_in_time(build, programs, float(seconds))
    not_built = set(programs) - set(built)
    numbers, left_out = select(build, files, touched, not_built, bool(sys.argv[4:]))
    print(f"touched: {'all' if files is None else len(files)} files, {len(programs)} programs of tests")
    if not_built:
        print(f"not built for want of time: {', '.join(sorted(not_built))}")
    for reason, names in left_out.items():
        print(f"left out {reason}: {len(names)} tests")
    sys.stdout.flush()
    if not numbers:
        print("tests: 0, passed: 0, failed: 0, skipped: 0")
        return 0
    chosen = os.path.join(build, "touched.txt")
    with open(chosen, "w", encoding="utf-8") as file:
        file.write("0,0,0," + ",".join(map(str, numbers)) + "\n")  # as ctest --tests-information wants it
    return subprocess.call([os.path.join(HERE, "run.py"), build, "--tests-information", chosen])


if __name__ == "__main__":
    sys.exit(main())
