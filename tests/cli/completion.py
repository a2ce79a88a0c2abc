#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bash, zsh and fish complete: completion.py ICEPATH. The former two are interactive, get a line and a key that
inserts all that they would offer; fish says it itself."""

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ICEPATH = Path(sys.argv[1]).resolve()
SECONDS = 100  # for a shell that doesn't answer, and for no answer that is slow
PROMPT = "[next]"

# What a line goes on with; "…" for more than that. A word may end in what the shell adds: a space, a comma, "/".
EXPECTED = [
    ("icepath ", "run attach report explain compare flamegraph export doctor list selftest calibrate setup"),
    ("icepath ex", "explain export"),
    ("icepath run --iso", "--isolate"),
    ("icepath report -", "-v -h --verbose --json --html --gate --expect --help"),
    ("icepath run --isolate ", "none soft full"),
    ("icepath run --isolate=s", "--isolate=soft"),
    ("icepath doctor --isolate ", "none full"),
    ("icepath attach --", "--pid --name --duration --output --live --quiet --help …"),
    ("icepath compare results/", "results/one results/killed"),
    ("icepath report --js", "--json"),
    ("icepath export results/", "results/one results/killed"),
    ("icepath --no-color run --tier k", "kprobe"),
    ("icepath run -t ", "pipe tcp udp null all all-transports all-installed …"),
    ("icepath run -t pip", "pipe"),
    ("icepath run -t tcp,pip", "tcp,pipe"),
    ("icepath run --transports tcp,uds-s", "tcp,uds-stream tcp,uds-seqpacket"),
    ("icepath run --targets=udp,pip", "--targets=udp,pipe"),
    ("icepath run -t pipe,pip", ""),
    ("icepath run --patterns pingpong,s", "pingpong,sparse"),
    ("icepath run -w block,", "block,poll block,epoll block,spin block,callback"),
    ("icepath run --sched f", "fifo fifo:"),
    ("icepath run --qos rel", "reliability=best-effort reliability=reliable"),
    ("icepath run --qos reliability=reliable,", "reliability=reliable,best-effort"),
    ("icepath run --qos=reliability=re", "--qos=reliability=reliable"),
    ("icepath run --tune net.core.rmem", "net.core.rmem_max= net.core.rmem_default="),
    ("icepath run --tune net.core.rmem_max=8M,net.core.r", "net.core.rmem_max=8M,net.core.rmem_default="),
    ("icepath selftest --only hog,fi", "hog,fifo-hog"),
    (
        "icepath export results/one -f ",
        "hgrm hlog csv paths perfetto speedscope firefox junit markdown benchmark-action bencher otava",
    ),
    ("icepath export results/one --format hgrm,hl", "hgrm,hlog"),
    ("icepath flamegraph results/one --kind o", "oncpu offcpu"),
    ("icepath report res", "results"),
    ("icepath explain results/", "results/one results/killed"),
    ("icepath flamegraph --diff results/o", "results/one"),
    ("icepath run --calibration cal", "calibration.json"),
    ("icepath run -o res", "results"),
    ("icepath setup --group roo", "root"),
    ("icepath gen", ""),
]


class Shell:
    """An interactive shell, in which ^T inserts all completions, and ^O prints the line and clears it."""

    def __init__(self, folder, command, setup):
        self.unread = ""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {**os.environ, "TERM": "xterm", "COLUMNS": "4000", "PS1": PROMPT})
        for line in setup:
            self.type(line + "\n")
        self.type("echo be''gins\n")
        self.read_to("begins")
        self.read_to(PROMPT)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_to(self, end):
        while end not in self.unread:
            if not select.select([self.terminal], [], [], SECONDS)[0]:
                raise TimeoutError(f"no {end} in {self.unread!r}")
            self.unread += os.read(self.terminal, 65536).decode(errors="replace")
        text, self.unread = self.unread.split(end, 1)
        return text

    def words(self, line):
        """The words on the line, which ^O prints."""
        self.type(f"{line}\x14\x0f")
        text = self.read_to("}}}")
        self.read_to(PROMPT)
        return shlex.split(text.rpartition("{{{")[2])

    def close(self):
        os.close(self.terminal)
        os.kill(self.process, 9)
        os.waitpid(self.process, 0)


def of_interactive(folder, command, setup):
    shell = Shell(folder, command, setup)
    try:
        for line, _ in EXPECTED:
            given = line.split()
            kept = len(given) - (0 if line.endswith(" ") else 1)
            words = shell.words(line)
            assert words[:kept] == given[:kept], f"{line!r} became {words}"
            # The shell leaves a word that it can't complete.
            yield [word for word in words[kept:] if word != given[-1] or line.endswith(" ")]
    finally:
        shell.close()


def of_bash(folder):
    setup = [f"source {folder}/icepath.bash", "bind '\"\\C-t\": insert-completions'"]
    setup.append("show() { printf '\\n{{{%s}}}\\n' \"$READLINE_LINE\"; READLINE_LINE=; }; bind -x '\"\\C-o\": show'")
    return of_interactive(folder, ["bash", "--norc", "--noprofile", "-i"], setup)


def of_zsh(folder):
    setup = [
        f"PROMPT={PROMPT} RPROMPT= fpath=({folder}/zsh $fpath)",
        f"autoload -Uz compinit; compinit -u -d {folder}/dump; unsetopt zle_bracketed_paste prompt_sp correct",
        "zstyle ':completion:*' completer _all_matches _complete; zstyle ':completion:*:all-matches:*' insert true",
        "bindkey -e; bindkey '^T' complete-word",
        "show() { zle -I; print -r -- '{{{'$BUFFER'}}}'; BUFFER= }; zle -N show; bindkey '^O' show",
    ]
    return of_interactive(folder, ["zsh", "-f", "-i"], setup)


def of_fish(folder):
    for line, _ in EXPECTED:
        found = subprocess.run(
            ["fish", "--no-config", "-c", f"source icepath.fish; complete -C '{line}'"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert not found.stderr, f"{line!r}: {found.stderr}"
        yield [row.split("\t")[0] for row in found.stdout.splitlines()]


def differences(shell, found):
    for (line, expected), words in zip(EXPECTED, found, strict=True):
        offered = {re.sub(r"[,/]$|^(--[a-z-]+)=$", r"\1", word) for word in words}
        wanted = set(expected.split())
        missing, more = wanted - offered - {"…"}, offered - wanted
        if missing or (more and "…" not in wanted):
            yield f"{shell}: {line!r} goes on with {sorted(offered)} instead of {expected}"


def main():
    for program in ["bash", "zsh", "fish"]:
        if not shutil.which(program):
            print(f"skipped: {program} isn't installed")
            return 77
    os.environ["PATH"] = f"{ICEPATH.parent}:{os.environ['PATH']}"
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "zsh").mkdir()
        for shell, file in [("bash", "icepath.bash"), ("zsh", "zsh/_icepath"), ("fish", "icepath.fish")]:
            (folder / file).write_bytes(subprocess.run([ICEPATH, "gen", shell], capture_output=True, check=True).stdout)
        for run, file in [("one", "capture.icp"), ("killed", "capture.icp.partial"), ("other", "notes")]:
            (folder / "results" / run).mkdir(parents=True)
            (folder / "results" / run / file).touch()
        (folder / "calibration.json").touch()
        for shell, of_shell in [("bash", of_bash), ("zsh", of_zsh), ("fish", of_fish)]:
            failures += differences(shell, of_shell(folder))
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())
