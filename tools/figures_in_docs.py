#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the figures of documents from stored results.

    python3 tools/figures_in_docs.py            writes them
    python3 tools/figures_in_docs.py --check    says which aren't those of the results
    sudo python3 tools/figures_in_docs.py --measure build/bin/icepath    measures the README's sample before

A page in docs/ that links to results/NAME.txt has rows of its tables, indented by four columns: which rows, and in
which order, the page decides; what stands in them comes from the file. Tables of ways to receive and of libraries'
threads (tools/ways_of_receiving.py, tools/library_threads.py) are there as a whole.
Of the report's screen a page has cells below the headings of their groups, with their modes. A Markdown table whose
first columns are `target` and `wait` has p50s below `64 B` or `64 KiB`, of pingpong, and below the `CPU` that follows
the CPU time. The README's sample is results/report.txt. Of that, and of a page's first table, there is a picture in
docs/pictures/: a bar for each row, as long as its p50, divided as the report's own bar is, or by the layers in
results/NAME.json (tools/typical_layers.py).
"""
import argparse
import html
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from users_folder import users_folder  # noqa: E402

INDENT = "    "
LINK = re.compile(r"\(\.\./results/([a-z0-9.-]+\.txt)\)")
UNITS = {"B", "KiB", "MiB"}
WHOLE = ("way of receiving", "target and wait")  # the first words of tables that are there as a whole
STYLES = "profiler/analysis/layer_style.h"
SPDX = "SPDX-License-Identifier: Apache-2.0"
SCREEN = "one way, µs "  # how the table of the report's screen begins
GAP = "//"  # in a bar that is longer than the scale
WIDTH, LABEL, VALUE, ROW, BAR = 760, 230, 90, 20, 13  # pixels of a picture


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def key_of(line):
    """What names a table's row: everything up to its size. None: it's no row."""
    words = line.split()
    for at, word in enumerate(words):
        if word in UNITS and at > 1 and words[at - 1].isdigit():
            end = at + 3 if words[at + 1 : at + 2] == ["in"] else at + 1
            return " ".join(words[:end])
        if "±" in word:
            break
    return None


def way_of(line):
    """What names a message's way by threads."""
    match = re.match(r"(\S.*?): sender ", line.strip())
    return match.group(1) if match else None


class Results:
    """A report as text: rows by key, in tables with a heading and a legend, and ways by key."""

    def __init__(self, path):
        self.name, self.rows, self.ways, self.legends, heading, way = os.path.basename(path), {}, {}, [], None, None
        text = read(path)
        self.screen = screen_of(text)
        self.tables = {
            words: table.group(0).splitlines()
            for words in WHOLE
            for table in re.finditer(rf"(?m)^{words} .*\n(?:\S.*\n)*", text)
        }
        for line in text.splitlines():
            if line.startswith("target "):
                heading, legend = line.replace(" trip ", "  RTT "), []
                self.legends.append(legend)
            elif heading and (key := key_of(line)):
                self.rows.setdefault(key, []).append((heading, line, legend))
            elif heading and is_legend(line):
                legend.append(line)
            elif heading and not line.strip():
                heading = None
            if way_of(line):
                way = way_of(line)
                self.ways[way] = []
            elif way and not line.startswith("  "):
                way = None
            if way:
                self.ways[way].append(line.strip())


def cell_on_screen(line):
    """Its name, which ends before two blanks, or before a p50 with its interval."""
    return re.split(r"  | (?=\*?\d[\d.]* [(±])", line.strip())[0]


def screen_of(text):
    """The report's screen: (group, cell) → its lines; (group, None) → its heading; SCREEN → the table's heading."""
    found, group, cell = {}, None, None
    for line in text.splitlines():
        if line.startswith(SCREEN):
            found[SCREEN], group = [line], ""
        elif group is None or line.startswith("█ "):
            group = None
        elif not line.startswith("  "):
            group = line
            found[group, None] = [line]
        else:
            if not line.startswith("    "):
                cell = cell_on_screen(line)
            found.setdefault((group, cell), []).append(line)
    return found


def is_legend(line):
    return re.match(r"\s*\S [a-z]+\.?[a-z]*(  |$)", line) is not None and "±" not in line


def narrowed(lines):
    """Without the columns that are blank in every line, but for one between fields, or two where there were more."""
    width = max(map(len, lines))
    lines = [line.ljust(width) for line in lines]
    kept = []
    for at in range(width):
        blank = all(line[at] == " " for line in lines)
        if not blank or (at > 0 and not kept[-2:] == [None, None] and kept and (kept[-1] is not None or gap_is_wide)):
            if blank and (not kept or kept[-1] is not None):
                gap_is_wide = all(line[at : at + 2] == "  " for line in lines)
            kept.append(None if blank else at)
    return ["".join(" " if at is None else line[at] for at in kept).rstrip() for line in lines]


class Page:
    def __init__(self, path, folder="results"):
        self.path, self.text, self.folder, self.results = path, read(path), folder, {}
        self.first_screen, self.layers = [], None

    def result(self, name):
        if name not in self.results:
            self.results[name] = Results(os.path.join(self.folder, name))
        return self.results[name]

    def source(self, before, key, kind):
        """Of the results that the page links to, the last one before that has the key."""
        for name in reversed(LINK.findall(before)):
            if key in getattr(self.result(name), kind):
                return self.result(name)
        sys.exit(f"{self.path}: no result that it links to has {key}")

    def row(self, before, line):
        key = key_of(line)
        found = self.source(before, key, "rows").rows[key]
        words = line.split()
        # Of several tables with such a row, the one whose row it is.
        return next(
            (one for one in found if one[1].split() == words), found[0] if len(found) == 1 else None
        ) or sys.exit(f"{self.path}: several tables have {key}")

    def block(self, before, lines):
        """The block as the results have it."""
        if words := next((words for words in WHOLE if lines[0].startswith(words)), None):
            return self.source(before, words, "tables").tables[words], None
        if lines[0].startswith("target "):
            rows = [self.row(before, line) for line in lines[1:]]
            return narrowed([rows[0][0], *(row[1] for row in rows)]), rows
        if lines[0].startswith(SCREEN):
            return self.screen(before, lines[1:]), None
        if is_legend(lines[0]):
            return self.legend, None
        if way_of(lines[0]):
            made = []
            for line in lines:
                if way := way_of(line):
                    made += self.source(before, way, "ways").ways[way]
            return made, None
        return lines, None

    def screen(self, before, lines):
        """The table of the report's screen; without its bars where a picture has the layers."""
        source = self.source(before, SCREEN, "screen")
        made, group = list(source.screen[SCREEN]), None
        for line in lines:
            if line.startswith("    "):
                continue  # a mode comes with its cell
            if not line.startswith("  "):
                group = line
            key = (group, cell_on_screen(line) if line.startswith("  ") else None)
            made += source.screen.get(key) or sys.exit(f"{self.path}: results/{source.name} has no {key}")
        path = os.path.join(self.folder, source.name.removesuffix(".txt") + ".json")
        if os.path.exists(path):
            bars = re.search(r" 0 +[\d,.]+ µs$", made[0]).start()
            made = [line[:bars].rstrip() if line.startswith((SCREEN, "  ")) else line for line in made]
            if not self.first_screen:
                self.first_screen, self.layers = made, json.loads(read(path))
        return made

    def with_cells(self, text):
        """Markdown tables by target and wait, with the screen's figures."""

        def table(match):
            heading, rule, *rows = match.group(0).splitlines()
            return "".join(
                line + "\n"
                for line in (heading, rule, *(self.cells(text[: match.start()], heading, row) for row in rows))
            )

        return re.sub(r"(?m)^\| target \| wait \|.*\n(?:\|.*\n)+", table, text)

    def cells(self, before, heading, row):
        names, cells = heading.strip("|").split("|"), row.strip("|").split("|")
        target, wait = cells[0].strip(" `"), cells[1].strip()
        for at, name in enumerate(map(str.strip, names)):
            if re.match(r"\d+ (B|KiB)$", name):
                p50, cpu = self.cell(before, target, wait, name)
                cells[at] = f" {p50} "
            elif name == "CPU":
                cells[at] = f" {cpu} "
        return f"|{'|'.join(cells)}|"

    def cell(self, before, target, wait, size):
        """p50 and CPU time of pingpong, as texts. Where the group's cells have several waits, their names have them."""
        for key in (
            (f"pingpong, {wait}, {size}, CPUs kept awake", target),
            (f"pingpong, {size}, CPUs kept awake", f"{target} {wait}"),
        ):
            for name in LINK.findall(before):
                screen = self.result(name).screen
                if key in screen:
                    line, end_of_cpu = screen[key][0], screen[SCREEN][0].index("CPU") + 3
                    return line.strip().removeprefix(key[1]).split()[0].lstrip("*"), line[:end_of_cpu].split()[-1]
        return sys.exit(f"{self.path}: no result that it links to has {target} {size} by {wait}")

    def made(self):
        """Its text, and the rows of its first table."""
        parts, at, first = [], 0, None
        for match in re.finditer(rf"(?m)^    {SCREEN}.*\n(?:    .*\n)*|(?:^    \S.*\n)+", self.text):
            before = self.text[: match.start()]
            if not LINK.search(before):
                continue
            lines, rows = self.block(before, [line[4:] for line in match.group(0).splitlines()])
            if rows:
                self.legend, first = rows[0][2], first or rows
            parts += [self.text[at : match.start()], "".join(f"{INDENT}{line}\n" for line in lines)]
            at = match.end()
        return self.with_cells("".join(parts) + self.text[at:]), first


def layer_names():
    return re.findall(
        r'"([a-z_.]*)"', re.search(r"kLayerNames = \{(.*?)\};", read("profiler/model/layers.h"), re.S).group(1)
    )


def colours(source):
    """Words and layers → colours, as reports have them."""
    kinds, layers = (
        re.search(rf"{table} = \{{\{{(.*?)\}}\}};", source, re.S).group(1) for table in ("kKindStyles", "kLayerStyles")
    )
    found = dict(zip(layer_names(), re.findall(r'"(#[0-9a-f]{6})"', layers)))
    found.update(re.findall(r'LayerKind::\w+, "([^"]+)".*?"(#[0-9a-f]{6})"', kinds))
    return found


def words_of(legend):
    return {
        item[0]: item[2:]
        for line in legend
        for item in re.split(r"  +", line.strip())
        if len(item) > 2 and item[1] == " "
    }


def bar_of(line, words):
    """The report's bar, as glyphs."""
    return max((part for part in re.split(r"\s+", line.strip()) if set(part) <= set(words)), key=len, default="")


def picture(title, groups, order, palette, scale_us=None):
    """groups: heading → [(name, p50 as text, {what: how much of the bar}, whether the bar was cut at `scale_us`)].
    order: of the legend.
    """
    y, parts = 24, []

    def length_us(p50, is_cut):
        return scale_us if is_cut else float(p50)

    x, used = 8, {what for rows in groups.values() for _, _, bar, _ in rows for what in bar}
    for what in order:
        if what in used:
            parts.append(
                f'<rect x="{x}" y="{y - 10}" width="11" height="11" fill="{palette[what]}"/>'
                f'<text x="{x + 15}" y="{y}">{html.escape(what)}</text>'
            )
            x += 32 + 7 * len(what)
            if x > WIDTH - 120:
                x, y = 8, y + 18
    for heading, rows in groups.items():
        y += 26
        parts.append(f'<text x="8" y="{y}" font-weight="bold">{html.escape(heading)}</text>')
        most = max(length_us(p50, is_cut) for _, p50, _, is_cut in rows)
        for name, p50, bar, is_cut in rows:
            y += ROW
            parts.append(f'<text x="16" y="{y}">{html.escape(name)}</text>')
            left, pixels, longest = LABEL, length_us(p50, is_cut) / most * (WIDTH - LABEL - VALUE), (0, 0)
            for what, amount in bar.items():
                width = pixels * amount / sum(bar.values())
                parts.append(
                    f'<rect x="{left:.1f}" y="{y - 11}" width="{width:.1f}" height="{BAR}" fill="{palette[what]}"/>'
                )
                longest = max(longest, (width, left + width / 2))
                left += width
            if is_cut:
                parts.append(f'<path d="M{longest[1] + 2:.1f} {y - 12}l-6 {BAR + 2}h5l6 -{BAR + 2}z" fill="#fff"/>')
            parts.append(f'<text x="{left + 6:.1f}" y="{y}">{"→ " * is_cut}{p50} µs</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 12}" width="{WIDTH}" height="{y + 12}" '
        f'font-family="sans-serif" font-size="12" role="img">\n<title>{html.escape(title)}</title>\n'
        f'<rect width="{WIDTH}" height="{y + 12}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def parts_of(bar, words):
    """Of a bar of glyphs."""
    return {words[glyph]: bar.count(glyph) for glyph in dict.fromkeys(bar)}


def picture_of_rows(rows, title, palette):
    words, groups = words_of(rows[0][2]), {}
    for _, line, _ in rows:
        key, bar = key_of(line), bar_of(line, words)
        name, size = re.match(r"(.*) (\d+ \w+(?: in \d+)?)$", key).groups()
        if bar:
            p50 = line.split()[len(key.split())].lstrip("*")
            groups.setdefault(size, []).append((name, p50, parts_of(bar, words), False))
    return picture(title, groups, words.values(), palette)


def picture_of_screen(lines, layers, title, palette):
    """Of a page's table of the report's screen. layers: of typical_layers.py."""
    groups, group = {}, None
    for line in lines[1:]:
        if not line.startswith("  "):
            group = line
        elif not line.startswith("    "):
            name = cell_on_screen(line)
            pattern, *wait, size = group.removesuffix(", CPUs kept awake").split(", ")
            target, *named = name.split(" ")
            bar = layers[" ".join((target, size, pattern, *wait, *named))]
            p50 = re.match(r"\*?(\d{1,3}(?: \d{3})+|[\d.]+|–)", line.strip().removeprefix(name).strip())[1].replace(
                " ", ""
            )
            if not bar or p50 == "–":
                continue
            groups.setdefault(", ".join((*wait, size)), []).append((name, p50, bar, False))
    return picture(title, groups, layer_names(), palette)


def picture_of_report(path, title, palette):
    lines = read(path).splitlines()
    legend = next(line for line in lines if line[:2] in ("█ ", "▓ ", "░ "))
    begin = next(at for at, line in enumerate(lines) if line.startswith("one way, µs"))
    words, groups, heading, cell = words_of([legend]), {}, "", ""
    for line in lines[begin + 1 : lines.index(legend)]:
        if not line.startswith("  "):
            heading = line
            continue
        # A cell with modes has a row for each: "    17 ±3 % at  2.46 ± 6%", and no bar of its own.
        if mode := re.match(r"    (\d+) ±\S+ % at +([\d.]+)", line):
            name, p50 = f"{cell}, {mode[1]} % of messages", mode[2]
        else:
            name, p50 = re.match(r"  (\S.*?)  +\*?([\d.]+|–)", line).groups()
            cell = name
        # A bar that is longer than the report's scale has a gap, and is as long as the scale, in the picture as well.
        if bar := bar_of(line.replace(GAP, ""), words):
            groups.setdefault(heading, []).append((name, p50, parts_of(bar, words), GAP in line))
    return picture(title, groups, words.values(), palette, float(re.search(r"([\d.]+) µs$", lines[begin])[1]))


def with_sample(page):
    """The README with the report of results/report.txt, from its second line to *more*."""
    lines = read("results/report.txt").splitlines()[1:]
    end = next(at for at, line in enumerate(lines) if line.startswith("more "))
    sample = "\n".join(f"{INDENT}{line}".rstrip() for line in lines[: end + 1]).lstrip("\n")
    return re.sub(
        r"(?s)(<!-- sample: begin -->\n[^\n]*\n(?:[^\n ][^\n]*\n)*\n).*?(?=<!-- sample: end -->)",
        lambda match: f"{match.group(1)}{sample}\n",
        page,
    )


def measure_sample(icepath):
    """Makes results/report.txt, unless the machine is too busy for what the README shows."""
    with users_folder("icepath-sample-") as folder:
        command = [icepath, *"run -q -t shm-ring,tcp -s 64 --patterns pingpong -d 20 -o run".split()]
        report = subprocess.run(
            command, cwd=folder, env=dict(os.environ, LANG="C.UTF-8"), stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        fit_for = json.loads(read(os.path.join(folder, "run", "run.json")))["machine_state"]["fit_for"]
    unfit = [row for row in fit_for if row["purpose"] != "tails" and not row["fit"]]
    if unfit:
        print(report, end="")
        sys.exit(f"results/report.txt stays: not fit for {', '.join(row['purpose'] for row in unfit)}")
    with open("results/report.txt", "w", encoding="utf-8") as file:
        file.write(f"{SPDX}\n{report}")


def files():
    """Path → content."""
    palette, made = colours(read(STYLES)), {}
    made["docs/pictures/report.svg"] = picture_of_report(
        "results/report.txt", "Where a message's time goes, one way: results/report.txt", palette
    )
    made["README.md"] = with_sample(read("README.md"))
    for name in sorted(os.listdir("docs")):
        path = os.path.join("docs", name)
        if not name.endswith(".md") or name == "tutorial.md" or not LINK.search(read(path)):
            continue  # tools/tutorial.py makes the tutorial's
        page = Page(path)
        made[path], rows = page.made()
        title = f"Where a message's time goes, one way: results/{LINK.search(read(path)).group(1)}"
        if rows:
            made[f"docs/pictures/{name[:-3]}.svg"] = picture_of_rows(rows, title, palette)
        elif page.layers:
            made[f"docs/pictures/{name[:-3]}.svg"] = picture_of_screen(page.first_screen, page.layers, title, palette)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; name what differs")
    parser.add_argument("--measure", metavar="ICEPATH", help="measure the README's sample before")
    args = parser.parse_args()
    icepath = args.measure and os.path.abspath(args.measure)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if icepath:
        measure_sample(icepath)
    made = files()
    for path, content in made.items():
        if os.path.exists(path) and read(path) == content:
            continue
        if args.check:
            print(f"{path} isn't what results have: run python3 tools/figures_in_docs.py")
            continue
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    pictures = (
        {os.path.join("docs/pictures", name) for name in os.listdir("docs/pictures")}
        if os.path.isdir("docs/pictures")
        else set()
    )
    for path in sorted(pictures - set(made)):
        print(f"{path} is of no page")
    texts = "".join(read(path) for path in [*made, "README.md"] if path.endswith(".md"))
    for path in made:
        if path.endswith(".svg") and f"pictures/{os.path.basename(path)}" not in texts:
            print(f"{path} is shown nowhere")


if __name__ == "__main__":
    main()
