#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the output that docs/tutorial.md shows.

    sudo python3 tools/tutorial.py --icepath build/bin/icepath --measure   runs every command of the page, measuring too
    python3 tools/tutorial.py --icepath build/bin/icepath                  prints the runs that are stored once more
    python3 tools/tutorial.py --check                                      says where the page isn't what is stored

The page's commands are the lines that begin with "$ " in its output. They run in their order in --folder, where the
run directories stay; what each prints is stored in results/tutorial.txt, and goes from there into the page. Without
--measure what measures isn't run: of a run, its report is printed again; of everything else the stored output stays.

A comment before a block chooses the lines that it shows, by how they begin: <!-- lines: FIRST ... LAST -->. Several
such pairs may follow each other, with "|" between them; "..." in the page stands for what is left out.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE, STORED = "docs/tutorial.md", "results/tutorial.txt"
BLOCK = re.compile(r"(?m)^(?:<!-- lines: (?P<lines>.*) -->\n\n?)?(?P<block>    \$ .*\n(?:    .*\n|\n(?=    ))*)")
MEASURING = re.compile(r"\bicepath (run|selftest|doctor|calibrate|list)\b")
SPDX = "SPDX-License-Identifier: Apache-2.0"
LEFT_OUT = "..."


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def commands(page):
    """Each command of the page, in order."""
    return [line[6:] for line in page.splitlines() if line.startswith("    $ ")]


def stored():
    """Command → what it printed, as lines."""
    found, lines = {}, None
    for line in read(STORED).splitlines()[1:] if os.path.exists(STORED) else []:
        if line.startswith("$ "):
            lines = found.setdefault(line[2:], [])
        elif lines is not None:
            lines.append(line)
    for lines in found.values():
        while lines and not lines[-1]:
            lines.pop()
    return found


def chosen(lines, choice, where):
    """The lines that the comment chooses."""
    if choice is None:
        return lines
    made, at = [], 0
    for pair in choice.split("|"):
        first, last = (text.strip() for text in pair.split(LEFT_OUT))
        starts = lambda i, text: lines[i].strip().startswith(text)
        begin = next((i for i in range(at, len(lines)) if starts(i, first)), None)
        end = None if begin is None else next((i for i in range(begin, len(lines)) if starts(i, last)), None)
        if begin is None or end is None:
            sys.exit(f"{PAGE}: {where}: no lines from '{first}' to '{last}'")
        if begin > at:
            made.append(LEFT_OUT)
        made += lines[begin : end + 1]
        at = end + 1
    return made + ([LEFT_OUT] if any(lines[at:]) else [])


def with_output(page, outputs):
    """The page, with what its commands printed."""

    def block(match):
        made = []
        for line in match["block"].splitlines():
            if line.startswith("    $ "):
                command = line[6:]
                lines = chosen(outputs.get(command, []), match["lines"] if outputs.get(command) else None, command)
                made += [line, *(f"    {one}".rstrip() for one in lines)]
        head = match.group(0)[: match.start("block") - match.start()]
        return head + "\n".join(made) + "\n"

    return BLOCK.sub(block, page)


class Shell:
    """Runs the page's commands, one after the other, as a reader's shell does: those that end in & stay."""

    def __init__(self, icepath, folder):
        self.folder, self.beside = folder, []
        self.environment = dict(os.environ, LANG="C.UTF-8", PATH=f"{os.path.dirname(icepath)}:{os.environ['PATH']}")

    def command(self, text):
        text = text.replace("SOURCE", shlex.quote(os.path.abspath(ROOT)))
        return re.sub(r"^sudo ", "", text) if os.geteuid() == 0 else text

    def run(self, text):
        if text == "kill %1":
            self.end()
            return []
        if text.endswith(" &"):
            self.beside.append(subprocess.Popen(shlex.split(self.command(text[:-2])), cwd=self.folder))
            time.sleep(0.2)
            return []
        print("$", text, flush=True)
        done = subprocess.run(
            self.command(text), shell=True, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        # icepath explain answers 4 where a run doesn't tell, doctor 1 or 3 where a machine isn't fit.
        if done.returncode not in (0, 1, 3, 4):
            sys.exit(f"{text}: exit code {done.returncode}: {done.stderr}")
        return done.stdout.strip("\n").splitlines()

    def end(self):
        for process in self.beside:
            process.kill()
            process.wait()
        self.beside = []


def outputs_of(page, args):
    os.makedirs(args.folder, exist_ok=True)
    shell, before, made = Shell(os.path.abspath(args.icepath), args.folder), stored(), {}
    try:
        for command in commands(page):
            run = re.search(r"icepath run .*-o (\S+)", command)
            if not args.measure and run and os.path.exists(os.path.join(args.folder, run[1], "capture.icp")):
                made[command] = shell.run(f"icepath report {run[1]}")
            elif args.measure or not (MEASURING.search(command) or command.endswith(" &") or command == "kill %1"):
                if args.measure and run:
                    subprocess.run(["rm", "-rf", os.path.join(args.folder, run[1])], check=True)
                made[command] = shell.run(command)
            else:
                made[command] = before.get(command, [])
    finally:
        shell.end()
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--icepath", help="the program")
    parser.add_argument("--folder", default="build/tutorial", help="where the runs are, or will be")
    parser.add_argument("--measure", action="store_true", help="measure anew")
    parser.add_argument("--check", action="store_true", help="run nothing, write nothing; name what differs")
    args = parser.parse_args()
    os.chdir(ROOT)
    page = read(PAGE)
    if not args.check and args.icepath:
        made = outputs_of(page, args)
        with open(STORED, "w", encoding="utf-8") as file:
            file.write(SPDX + "\n\n")
            file.write("\n\n".join("\n".join([f"$ {command}", *lines]) for command, lines in made.items()) + "\n")
    outputs = stored()
    for command in commands(page):
        if command not in outputs:
            print(f"{PAGE}: {STORED} has no output of: {command}")
    written = with_output(page, outputs)
    if written != page and args.check:
        print(f"{PAGE} isn't what {STORED} has: run python3 tools/tutorial.py")
    elif written != page:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(written)


if __name__ == "__main__":
    main()
