#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of Markdown pages that a program can check: pages.py RULE [FOLDER]. Prints each violation.

    links      what a link names exists: the file in the tree, and the heading of its anchor
    lengths    no page has more than 350 lines, but for what a program makes
    sentences  a figure that a sentence quotes of results is in one of the files that its paragraph names
    adapters   the page of each adapter has the same headings in the same order
    older      results/README.md lists the results that are older than today's paths, and pages that show one say so
"""
import json
import os
import re
import subprocess
import sys

LINES = 350
MADE = {"docs/options.md"}
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
RESULT = re.compile(r"\((?:\.\./)?(?:results/)?([a-z0-9./-]+\.(?:txt|json))\)")
# A figure: 1.87, 44 011, 25.4. Behind it, what says that it was measured. "64 B" and "1 MiB" are sizes, which are
# chosen; what else is chosen, as a library's timer, stands as code: `10 ms`.
NUMBER = r"\d{1,3}(?:[  ]\d{3})+|\d+(?:\.\d+)?"
FIGURE = re.compile(
    rf"(?<![\w.])(?P<first>{NUMBER})(?:(?: to |, | and | or | instead of |–)(?P<second>{NUMBER}))*"
    r"[  ](?P<unit>ns|µs|ms|%|times)(?![\w])"
)
HEADINGS = ["What is measured", "By which layers", "What its authors recommend", "What to know"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pages():
    """Markdown pages in the tree, without those of builds and runs."""
    try:
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
            text=True,
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        listed = []
    if not listed:
        for folder, folders, files in os.walk("."):
            folders[:] = [name for name in folders if not name.startswith((".git", "build"))]
            listed += [os.path.relpath(os.path.join(folder, name)) for name in files if name.endswith(".md")]
    return sorted(path for path in listed if os.path.exists(path))


def prose(text):
    """The text with its output, code and comments blanked, so that lines keep their numbers."""
    text = re.sub(r"<!--.*?-->", lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.S)
    lines, fenced = [], False
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced, line = not fenced, ""
        before = lines[-1] if lines else ""
        is_output = line.startswith("    ") and (before == "" or before == "\0")
        lines.append("\0" if is_output else "" if fenced else line)
    return "\n".join("" if line == "\0" else line for line in lines)


def anchors(text):
    """What GitHub makes of the headings."""
    found, seen = set(), {}
    for heading in re.findall(r"(?m)^#{1,6} +(.*?) *#*$", prose(text)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def links():
    known = {}
    for page in pages():
        text = re.sub(r"`[^`\n]*`", lambda code: " " * len(code.group(0)), prose(read(page)))
        for match in LINK.finditer(text):
            target, place = match.group(1), f"{page}:{text.count(chr(10), 0, match.start()) + 1}"
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(path):
                yield f"{place}: {target}: no such file"
            elif anchor and path.endswith(".md"):
                known.setdefault(path, anchors(read(path)))
                if anchor not in known[path]:
                    yield f"{place}: {target}: that page has no such heading"
    # Pages that code, tests and build files name by their path.
    named = subprocess.run(
        ["git", "-c", "safe.directory=*", "grep", "-n", "-I", "-o", "-E", r"\bdocs/[a-z0-9-]+\.md", "--", ":!*.md"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    ).stdout
    for line in named.splitlines():
        file, number, path = line.split(":", 2)
        if not os.path.exists(path):
            yield f"{file}:{number}: {path}: no such page"


def lengths():
    for page in pages():
        lines = read(page).count("\n")
        if lines > LINES and page not in MADE:
            yield f"{page}: {lines} lines, where {LINES} are the most"


def numbers(name, targets=(), found={}):
    """Every number in a file of results, as it stands there or with three digits, without signs and spaces between
    thousands: of the rows of targets, if there are such, with those of modes below them, else of the whole file."""
    if (name, targets) not in found:
        text = read(os.path.join("results", name))
        if targets and name.endswith(".txt"):
            text = rows_of(text, targets) or text
        made = {number.replace(" ", "") for number in re.findall(r"\d{1,3}(?: \d{3})+(?!\d)", text)}
        made |= set(re.findall(r"\d+(?:\.\d+)?", text))
        made |= {number for one in list(made) if "." in one for number in with_three_digits(float(one))}
        if name.endswith(".json"):
            made |= rounded(json.loads(text))
        found[name, targets] = made
    return found[name, targets]


def rows_of(text, targets):
    """The lines that name a target, each with those below it that are indented further, or by as much as a path's."""
    kept, depth = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if any(re.search(rf"(?<![\w/-]){re.escape(target)}(?![\w/-])", line) for target in targets):
            depth = indent
        elif depth is None or not line.strip() or (indent <= depth and not re.match(r"\s*\S.* → ", line)):
            depth = None
        if depth is not None:
            kept.append(line)
    return "\n".join(kept)


def with_three_digits(value):
    return {text for digits in range(5) if len((text := f"{value:.{digits}f}").replace(".", "").lstrip("0")) == 3}


def rounded(value):
    """Of a JSON file's numbers, how a sentence may quote them: with three digits, and shares in % with two."""
    if isinstance(value, dict):
        return set().union(*map(rounded, value.values()))
    if isinstance(value, list):
        return set().union(*map(rounded, value))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return set()
    return with_three_digits(abs(value)) | ({f"{abs(value) * 100:.0f}"} if abs(value) < 1 else set())


def paragraphs(text):
    """(line, paragraph or item of a list), without tables."""
    start, lines = 0, []
    for number, line in enumerate(prose(text).split("\n") + [""], 1):
        ends = not line.strip() or line.startswith(("|", "#")) or re.match(r" *(-|\d+\.) ", line)
        if ends and lines:
            yield start, "\n".join(lines)
            lines = []
        if line.strip() and not line.startswith(("|", "#")):
            start = start if lines else number
            lines.append(line)


def sentences():
    for page in pages():
        text = read(page)
        of_page = [name for name in RESULT.findall(text) if os.path.exists(os.path.join("results", name))]
        targets = tuple(
            sorted({one for some in re.findall(r"icepath run -t (\S+?)[`\s]", text) for one in some.split(",")})
        )
        of_adapter = os.path.dirname(page) == "docs" and "## " + HEADINGS[0] in text
        for line, paragraph in paragraphs(text):
            named = [name for name in RESULT.findall(paragraph) if os.path.exists(os.path.join("results", name))]
            sources = named or (of_page if of_adapter else [])
            if not sources:
                continue
            plain = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", paragraph)
            for match in FIGURE.finditer(plain):
                if match.group(0) == "95 %":  # the probability of intervals, not a figure
                    continue
                for figure in re.findall(NUMBER, match.group(0)):
                    figure = re.sub(r"[  ]", "", figure)
                    if not any(figure in numbers(name, () if named else targets) for name in sources):
                        yield (
                            f"{page}:{line}: {figure} {match['unit']}: not in "
                            + ", ".join(f"results/{name}" for name in dict.fromkeys(sources))
                        )


def adapters():
    """Pages that docs/middleware.md links to from its table of targets."""
    table = read("docs/middleware.md").split("\n## ")[0]
    for name in dict.fromkeys(re.findall(r"(?m)^\| \[[^\]]*\]\(([a-z0-9-]+\.md)\)", table)):
        headings = re.findall(r"(?m)^## (.*)$", prose(read(f"docs/{name}")))
        if headings != HEADINGS:
            yield f"docs/{name}: its headings are {', '.join(headings)}, not {', '.join(HEADINGS)}"


def older():
    text = read("results/README.md")
    section = re.search(r"(?ms)^## Older files\n(.*?)(?=^## )", text).group(1)
    since = re.search(r"before (\d{4}-\d\d-\d\dT\d\d:\d\dZ)", section).group(1)
    listed = {name for name in re.findall(r"`([a-z0-9-]+\.txt)`", section)}
    for name in sorted(os.listdir("results")):
        if name.endswith(".txt"):
            made = re.search(r"icepath \S+ · (\S+Z)", "\n".join(read(f"results/{name}").splitlines()[:8]))
            if made and (made.group(1) < since) != (name in listed):
                yield f"results/{name} is of {made.group(1)}: " + (
                    "no older file" if name in listed else "results/README.md doesn't list it as an older file"
                )
    for page in pages():
        if page != "results/README.md":
            shown = read(page)
            for name in sorted(listed):
                at = shown.find(f"results/{name})")
                after = " ".join(shown[at + len(f"results/{name})") :].split())[:60] if at >= 0 else "older file"
                if "older file" not in after:
                    yield f"{page}: doesn't say that results/{name} is an [older file](…results/README.md#older-files)"


RULES = {"links": links, "lengths": lengths, "sentences": sentences, "adapters": adapters, "older": older}

if __name__ == "__main__":
    os.chdir(sys.argv[2] if len(sys.argv) > 2 else ".")
    print("\n".join(RULES[sys.argv[1]]()), end="")
