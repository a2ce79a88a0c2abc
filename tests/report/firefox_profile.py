#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads `icepath export -f firefox` by the format alone, and compares it with run.json:

    firefox_profile.py ICEPATH RUN      RUN: a run directory, or a program that makes one

The format: src/types/profile.ts of github.com/firefox-devtools/profiler, as of version 48. Its own reader is npm's
@firefox-devtools/profiler-cli: `profiler-cli load latency.firefox-profile.json`.
"""
import json
import os
import subprocess
import sys
import tempfile

VERSION = 48
COLOURS = {
    "transparent",
    "purple",
    "green",
    "orange",
    "yellow",
    "lightblue",
    "blue",
    "brown",
    "magenta",
    "red",
    "lightred",
    "darkgrey",
    "grey",
}
# Table → its columns, each with the table that it points into, or None.
TABLES = {
    "samples": {"stack": "stackTable", "time": None, "weight": None},
    "markers": {
        "data": None,
        "name": "stringArray",
        "startTime": None,
        "endTime": None,
        "phase": None,
        "category": None,
    },
    "stackTable": {"prefix": "stackTable", "frame": "frameTable", "category": "categories", "subcategory": None},
    "frameTable": {
        "address": None,
        "inlineDepth": None,
        "category": "categories",
        "subcategory": None,
        "func": "funcTable",
        "nativeSymbol": "nativeSymbols",
        "innerWindowID": None,
        "implementation": None,
        "line": None,
        "column": None,
    },
    "funcTable": {
        "name": "stringArray",
        "isJS": None,
        "relevantForJS": None,
        "resource": None,
        "fileName": None,
        "lineNumber": None,
        "columnNumber": None,
    },
    "resourceTable": {"lib": None, "name": None, "host": None, "type": None},
    "nativeSymbols": {"libIndex": None, "address": None, "name": None, "functionSize": None},
}


def check(holds, what):
    if not holds:
        sys.exit(f"firefox_profile.py: {what}")


def title_of(cell):
    return f"{cell['target']} {cell['payload_bytes']} B {cell['pattern']} {cell['wait']}"


def check_tables(thread, categories):
    sizes = {"categories": len(categories), "stringArray": len(thread["stringArray"])}
    sizes.update({name: thread[name]["length"] for name in TABLES})
    for name, columns in TABLES.items():
        its = set(thread[name]) - {"length", "weightType"}
        check(its == set(columns), f"{name} has the columns {sorted(its)}")
        for column, points_to in columns.items():
            values = thread[name][column]
            check(len(values) == sizes[name], f"{name}.{column} has {len(values)} values, not {sizes[name]}")
            for value in values if points_to else ():
                check(
                    value is None or 0 <= value < sizes[points_to], f"{name}.{column} points to {value} of {points_to}"
                )
    check(all(isinstance(text, str) for text in thread["stringArray"]), "a name is no text")
    for at, prefix in enumerate(thread["stackTable"]["prefix"]):
        check(prefix is None or prefix < at, "a stack comes before the one that it continues")


def names_of(thread, stack):
    names = []
    while stack is not None:
        function = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
        names.insert(0, thread["stringArray"][thread["funcTable"]["name"][function]])
        stack = thread["stackTable"]["prefix"][stack]
    return names


def check_thread(thread, cell):
    samples = thread["samples"]
    check(samples["weightType"] == "tracing-ms", "weights aren't milliseconds")
    sums, now = {}, 0
    for stack, time, weight in zip(samples["stack"], samples["time"], samples["weight"]):
        check(abs(time - now) < 1e-6, f"a sample begins at {time} ms, the ones before it end at {now} ms")
        now += weight
        layer = names_of(thread, stack)[0]
        sums[layer] = sums.get(layer, 0) + weight
    for row in cell["layers"]:
        expected = sum(one["mean_ns"] for one in cell["layers"] if one["layer"] == row["layer"])
        check(
            abs(1e6 * sums[row["layer"]] - expected) < 0.01,
            f"{row['layer']} takes {1e6 * sums[row['layer']]} ns, not {expected}",
        )
    check(set(sums) == {row["layer"] for row in cell["layers"]}, f"layers {sorted(sums)}")


def main():
    icepath, run = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        if not os.path.isdir(run):
            maker, run = run, os.path.join(folder, "run")
            subprocess.run([maker, run, "12"], check=True)
        path = subprocess.run(
            [icepath, "export", "-f", "firefox", "-o", folder, run], check=True, capture_output=True, text=True
        ).stdout.strip()
        with open(path, encoding="utf-8") as file:
            profile = json.load(file)
        report = json.loads(
            subprocess.run([icepath, "report", "--json", run], check=True, capture_output=True, text=True).stdout
        )
    meta = profile["meta"]
    check(meta["preprocessedProfileVersion"] == VERSION, "another version")
    for category in meta["categories"]:
        check(category["color"] in COLOURS and category["subcategories"] == ["Other"], f"category {category}")
    check(sum(category["color"] == "grey" for category in meta["categories"]) == 1, "not one default category")
    cells = [cell for cell in report["cells"] if cell["layers"]]
    check(
        [thread["name"] for thread in profile["threads"]] == [title_of(cell) for cell in cells],
        "other cells than run.json's",
    )
    for thread, cell in zip(profile["threads"], cells):
        check_tables(thread, meta["categories"])
        check_thread(thread, cell)
    check(cells, "nothing to check")
    print(f"firefox_profile.py: {len(cells)} cells")


if __name__ == "__main__":
    main()
