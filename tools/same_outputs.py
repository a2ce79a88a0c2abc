#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what two builds say of the same stored runs, byte for byte.

    python3 tools/same_outputs.py BEFORE/bin/icepath build/bin/icepath RUN...

Each program reads a copy of each run: the report, also with -v, as run.json and as report.html; explain, also as JSON
and of each cell; flame graphs; and every format of `icepath export`. What differs is named, and the exit code is then
1. `--keep FOLDER` keeps both outputs, to look at.
"""
import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

COMMANDS = {
    "report.txt": ["report"],
    "report-v.txt": ["report", "-v"],
    "report.json": ["report", "--json"],
    "report-html.txt": ["report", "--html"],
    "explain.txt": ["explain"],
    "explain-all.txt": ["explain", "-v"],
    "explain.json": ["explain", "--json"],
    "explain-worst.txt": ["explain", "--worst"],
    "explain-stacks.txt": ["explain", "--stacks"],
    "flamegraph.txt": ["flamegraph"],
    "flamegraph-tail.txt": ["flamegraph", "--tail", "--folded"],
    "flamegraph-offcpu.txt": ["flamegraph", "--kind", "offcpu", "--folded"],
    "export.txt": ["export", "-f", "hgrm,hlog,csv,paths,perfetto,speedscope,firefox"],
}


def make_outputs(program, run, folder):
    """Everything into the folder. What a command refuses is an output, too."""
    shutil.copytree(run, folder, ignore=lambda _, names: [name for name in names if name != "capture.icp"])
    for name, command in COMMANDS.items():
        done = subprocess.run([program, *command, "."], cwd=folder, capture_output=True, check=False)
        with open(os.path.join(folder, name), "wb") as output:
            output.write(b"exit %d\n%s%s" % (done.returncode, done.stdout, done.stderr))


def differing(one, other):
    names = sorted(set(os.listdir(one)) | set(os.listdir(other)))
    _, unlike, missing = filecmp.cmpfiles(one, other, names, shallow=False)
    return len(names), sorted(unlike + missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("before", help="a program icepath")
    parser.add_argument("after", help="another one")
    parser.add_argument("runs", nargs="+", help="run directories")
    parser.add_argument("--keep", help="a new folder for both outputs")
    args = parser.parse_args()
    unlike = 0
    with tempfile.TemporaryDirectory(prefix="icepath-same-outputs-") as made:
        folder = args.keep or made
        for run in args.runs:
            name = os.path.basename(os.path.normpath(run))
            pair = [os.path.join(folder, which, name) for which in ("before", "after")]
            for program, output in zip((args.before, args.after), pair):
                make_outputs(os.path.abspath(program), run, output)
            files, names = differing(*pair)
            unlike += len(names)
            print(f"{name}: {files} files, " + (f"these differ: {', '.join(names)}" if names else "all the same"))
    return 1 if unlike else 0


if __name__ == "__main__":
    sys.exit(main())
