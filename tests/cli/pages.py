#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each option has the same words in help, man page, docs/options.md and the completion of zsh and fish; man pages have
no warning of groff's, and each command's is installed: pages.py ICEPATH SOURCE"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ICEPATH, SOURCE = sys.argv[1], Path(sys.argv[2])
failures = []


def output(*command, text=None):
    ended = subprocess.run(command, input=text, capture_output=True, text=True)
    if ended.returncode != 0 or ended.stderr:
        failures.append(f"{command}: exit code {ended.returncode}, {ended.stderr.strip()}")
    return ended.stdout


def expect(holds, what):
    if not holds:
        failures.append(what)


def in_one_line(text):
    return " ".join(text.split())


def rows_of_help(text):
    """What stands in two columns: {"-s, --sizes SIZE,...": "payload sizes, …"}, for each title."""
    rows, title, head = {}, "", ""
    for line in text.splitlines():
        if line and not line.startswith(" ") and line.endswith(":"):
            title, head = line.split(" (")[0].rstrip(":"), ""
            rows[title] = {}
        elif title and line.startswith(" " * 26):
            rows[title][head] = f"{rows[title][head]} {line.strip()}".strip()
        elif title and line.startswith("  "):
            head, _, begin = line.strip().partition("  ")
            rows[title][head] = begin.strip()
    return rows


def man_page(command):
    """The page as one line of words. A terminal of 80 columns shows it without a line that is cut."""
    page = output(ICEPATH, "gen", "man", *command)
    shown = output("groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=78n", text=page)
    expect(max(map(len, shown.splitlines())) <= 80, f"man {command}: lines of more than 80 columns")
    expect(not re.search(r"^\.\w+.*[^\\]-", page.split(".SH NAME")[1], re.M), f"man {command}: a hyphen as a minus")
    return in_one_line(output("groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=9999n", text=page))


def zsh_texts(command):
    """What the script tells _arguments of the command, as zsh reads it: {"--sizes": text}."""
    script = output(ICEPATH, "gen", "zsh")
    stub = """_arguments() { if [[ $1 = -C ]]; then [[ -n $of ]] && { state=rest; return 1 }; fi; print -rl -- "$@" }
        _describe() { : }\n"""
    printed = output("zsh", "-f", "-c", f"of={command}; words=($of); {stub}\n{script}")
    found = re.findall(r"^(?:\*|\([^)]*\))(-[\w-]+?)[=+]?\[((?:\\.|[^\]\\])*)\]", printed, re.M)
    return {name: re.sub(r"\\(.)", r"\1", text) for name, text in found}


def fish_texts(command, names):
    texts = {}
    script = output(ICEPATH, "gen", "fish")
    for dashes in ["-", "--"]:
        line = f"icepath {command} {dashes}".replace("  ", " ")
        for found in output("fish", "--no-config", "-c", f"{script}\ncomplete -C '{line}'").splitlines():
            name, _, text = found.partition("\t")
            texts[name] = text
    return texts


def check_command(command, markdown):
    words = [command] if command else []
    rows = rows_of_help(output(ICEPATH, *words, "--help"))
    commands = rows.pop("Commands", {})
    options = {head: text for of_title in rows.values() for head, text in of_title.items()}
    expect(len(options) >= 2, f"{command}: help has no options")
    man = man_page(words)
    chapter = re.search(rf"^## icepath{' ' + command if command else ''}\n(.*?)(?=^## )", markdown, re.M | re.S)[1]
    zsh = zsh_texts(command)
    names = [name for head in options for name in re.findall(r"(?:^|, )(--?[\w-]+)", head)]
    fish = fish_texts(command, names)
    for head, text in options.items():
        expect(text and "TEXT ..." not in head, f"{command} {head}: says nothing")
        expect(f"{head} {text}" in man, f"{command} {head}: other words in the man page")
        row = f"| `{head}` | {text} |".replace("\\", "")
        expect(row in chapter.replace("\\", ""), f"{command} {head}: other words in docs/options.md")
        for name in re.findall(r"(?:^|, )(--?[\w-]+)", head):
            expect(zsh.pop(name, None) == text, f"{command} {name}: other words in zsh")
            expect(fish.get(name) == text, f"{command} {name}: other words in fish: {fish.get(name)}")
    expect(not zsh, f"{command}: zsh has more options: {zsh}")
    for name, line in commands.items():
        expect(f"icepath-{name}(1) {line}" in man, f"{name}: other words in icepath(1)")
        expect(f"| {line} |" in chapter, f"{name}: other words in docs/options.md")
    return list(commands)


def main():
    for program in ["groff", "zsh", "fish"]:
        if not shutil.which(program):
            print(f"skipped: {program} isn't installed")
            return 77
    markdown = output(ICEPATH, "gen", "options")
    commands = check_command("", markdown)
    expect(len(commands) >= 10, f"icepath --help has only {commands}")
    built = (SOURCE / "profiler/cli/CMakeLists.txt").read_text()
    expect(f"foreach(command {' '.join(commands)})" in built, f"not the commands whose pages are built: {commands}")
    for command in commands:
        check_command(command, markdown)
    for code in re.findall(r"^\| `(\d+)` \|", markdown.split("## Exit codes")[1].split("## ")[0], re.M):
        expect(f" {code} " in man_page([]).split("EXIT STATUS")[1], f"exit code {code}: not in icepath(1)")
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())
