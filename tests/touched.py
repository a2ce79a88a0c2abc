#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the tests that a change touches, but none of the machine:

    tests/touched.py BUILD RANGE SECONDS [GRAPH]

RANGE is what `git log` takes, such as main..HEAD or -50; what isn't committed is part of the change. A test is touched
if one of the change's files is in its program or in a plug-in that it loads, as ninja knows of GRAPH, a folder that was
built (BUILD, unless it is named), or if its command names the file. The nearest test of each file comes first, that of
the latest edit before others, then each file's second. But for the first few, no program is built after two thirds of
SECONDS, and no test begun after all of them. What is left out is said. Without git's history everything is touched.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict

sys.dont_write_bytecode = True  # the source may not be written to
import run

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
# As many as keep all CPUs busy: the time is looked at between them.
AT_ONCE = 4
# Of tests, by the COST that they have for ctest: that of a plug-in's test of a minute is about 100.
COST_AT_ONCE = 400
MOST_NAMES = 20
WANT_OF_TIME = "for want of time"


def output_of(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=SOURCE, check=True)
    return result.stdout.decode(errors="replace")


def edited_at(path):
    """When a file that isn't committed was written; one that was removed comes last."""
    try:
        return os.stat(os.path.join(SOURCE, path)).st_mtime
    except OSError:
        return 0


def touched_files(commits):
    """Paths in the tree, the latest first; None without git's history."""
    git = ["git", "-c", "safe.directory=*", "-c", "core.quotePath=off"]
    try:
        edited = output_of(*git, "diff", "--name-only", "HEAD")
        edited += output_of(*git, "ls-files", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return None
    try:
        committed = output_of(*git, "log", "--format=", "--name-only", commits)
    except subprocess.CalledProcessError:
        sys.exit(f"git has no commits {commits}: name a base, as in make check BASE=HEAD~2")
    latest = sorted(edited.splitlines(), key=edited_at, reverse=True)
    return list(dict.fromkeys(latest + committed.splitlines()))


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

    def narrowest_first(self, programs):
        """Of what has a file, the program that has least besides is the nearest test of it. First by libraries."""
        made_from = defaultdict(set)
        for name, outputs in self.made_directly.items():
            for made in outputs:
                made_from[made].add(name)
        width = {}
        for program in programs:
            ahead, found = [program], {program}
            while ahead:
                new = made_from.get(ahead.pop(), set()) - found
                found |= new
                ahead += new
            width[program] = (sum(name.endswith(".a") for name in found), len(found))
        return sorted(programs, key=width.get)


def rank_programs(graph, programs, files):
    """The touched ones by their rank, and all that is made of the files."""
    touched, rank = set(), {}
    programs = graph.narrowest_first(programs)
    for place, file in enumerate(files):
        made = graph.made_of(file)
        touched |= made
        for distance, program in enumerate(program for program in programs if program in made):
            rank[program] = min(rank.get(program, (distance, place)), (distance, place))
    return rank, touched


def build_in_time(build, programs, deadline):
    """Builds programs in that order; returns those that it had time for."""
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
    """The tests to run, each with its name, its number as ctest counts, its cost, and what it depends on; and the names
    of those that are left out, by the reason."""
    chosen, left_out = [], defaultdict(list)
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
            left_out[WANT_OF_TIME].append(test["name"])
        else:
            chosen.append((test["name"], number, properties.get("COST", 1), parts))
    return chosen, left_out


def run_in_time(ctest, chosen, deadline):
    """Runs tests in that order, some at once. Returns their results by name, the names of those that it had no time
    for, and whether ctest itself did what it should."""
    listed = os.path.join(ctest.build, "touched.txt")
    results, went_well = {}, True
    while chosen and went_well and not (results and time.monotonic() > deadline):
        numbers, cost = [], 0
        while chosen and (not numbers or cost + chosen[0][2] <= COST_AT_ONCE):
            _, number, its_cost, _ = chosen.pop(0)
            numbers.append(number)
            cost += its_cost
        with open(listed, "w", encoding="utf-8") as file:
            file.write("0,0,0," + ",".join(map(str, sorted(numbers))) + "\n")  # as ctest --tests-information wants it
        status, found = ctest.run("tests.xml", "-j", run.at_once(), "--no-label-summary", "--tests-information", listed)
        results |= found or {}
        went_well = found is not None and (status == 0 or any(test.state == "failed" for test in found.values()))
    ctest.give_back()
    return results, [name for name, *_ in chosen], went_well


def print_left_out(left_out):
    for reason, names in left_out.items():
        print(f"left out {reason}: {len(names)} tests")
    late = left_out.get(WANT_OF_TIME, [])
    if late:
        more = f" and {len(late) - MOST_NAMES} others" if len(late) > MOST_NAMES else ""
        print(f"    {', '.join(late[:MOST_NAMES])}{more}")
    sys.stdout.flush()


def main():
    began = time.monotonic()
    build, commits, seconds, *graph = sys.argv[1:]
    build = os.path.abspath(build)
    programs, testers = [], defaultdict(set)  # testers: of plug-ins
    with open(os.path.join(build, "tests/programs.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            program, *its = [os.path.relpath(path, build) for path in line.split("\t")]
            programs.append(program)
            testers[program] |= set(its)
    # The rules of the house are looked at each time, by a program that any change may leave as it was.
    of_the_house = [program for program in programs if os.path.basename(program) == "as_installed"]
    files = touched_files(commits)
    touched, rank = None, {}
    if files is not None:
        rank, touched = rank_programs(Graph(*graph or [build]), programs, files)
        programs = sorted(rank, key=rank.get)
    # What tests a plug-in is built with it.
    in_order = [name for program in programs for name in (program, *sorted(testers[program]))]
    in_order = list(dict.fromkeys(in_order + of_the_house))
    not_built = set(in_order) - set(build_in_time(build, in_order, began + float(seconds) * 2 / 3))
    not_built |= {plugin for plugin, its in testers.items() if its & not_built}
    chosen, left_out = select(build, files, touched, not_built, bool(sys.argv[4:]))
    # A test of no program, as of the rules of the house, is one of the first.
    chosen.sort(key=lambda test: min((rank[part] for part in test[3] if part in rank), default=(0, 0)))
    print(f"touched: {'all' if files is None else len(files)} files, {len(in_order)} programs of tests", flush=True)
    signal.signal(signal.SIGINT, lambda *_: None)  # for ctest
    results, late, went_well = run_in_time(run.Ctest(build), chosen, began + float(seconds))
    left_out[WANT_OF_TIME] += late
    if not_built:
        print(f"not built for want of time: {', '.join(sorted(not_built))}")
    print_left_out({reason: names for reason, names in left_out.items() if names})
    run.print_summary(list(results.values()), [], build)
    return 0 if went_well and all(test.state != "failed" for test in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
