#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the table of ways to receive from a stored run: for each library its targets and waits, fastest first.

    python3 tools/ways_of_receiving.py --icepath build/bin/icepath RUN >results/receiving.txt

Of the run's ping-pongs. The way of a message: its threads, from the layers of typical messages. Its hops: how often
another thread takes it on. CPU: of both sides and a daemon, for each message, without probes. × fastest: by ratios
within rounds, against the library's way with the smallest p50, as `icepath explain --against` has them.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

UNITS = [(1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")]


def size_text(size):
    return next(f"{size // unit} {name}" for unit, name in UNITS if size % unit == 0 and size >= unit)


def three_digits(value):
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def library_of(cell):
    return cell["target"].split("/")[0]


def threads_of(cell):
    """The threads of most typical messages, one for each hop; a thread of either side has one name."""
    times, names = {}, {}
    for layer in cell["typical_layers"]:
        if layer["thread"]:
            place = layer["hop"], layer["role"]
            times[place] = times.get(place, 0) + layer["mean_ns"]
            names.setdefault(place, set()).add(
                layer["thread"].removeprefix("initiator's ").removeprefix("responder's ")
            )
    last = max((place for place in times if place[1] == "receiver"), key=times.get, default=(-1, ""))
    way = [place for place in sorted(times) if place == last or (place[0] < last[0] and place[1] != "receiver")]
    return [
        role if names[hop, role] <= {"initiator", "responder"} else "/".join(sorted(names[hop, role]))
        for hop, role in way
    ]


def title_of(cell):
    return f"{cell['target']} {size_text(cell['payload_bytes'])} {cell['pattern']} {cell['wait']}"


class Run:
    def __init__(self, folder, icepath):
        self.folder, self.icepath = folder, icepath
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
            self.json = json.load(file)
        self.cells = [
            cell
            for cell in self.json["cells"]
            if cell["pattern"] == "pingpong" and cell["kind"] == "adapter" and cell["latency_ns"]["p50"] is not None
        ]

    def ratio(self, slower, faster):
        """Of the slower to the faster one, as text; "–": the run doesn't tell it."""
        explained = subprocess.run(
            [self.icepath, "explain", self.folder, "--json", "--cell", title_of(slower), "--against", title_of(faster)],
            capture_output=True,
            text=True,
        )
        if explained.returncode not in (0, 4):  # 4: the run doesn't tell why
            explained.check_returncode()
        told = json.loads(explained.stdout)
        if told["pair"] is None:
            return "–"
        value, (low, high) = told["pair"]["ratio"], told["pair"]["ratio_ci95"]
        if not told["as_asked"]:
            value, low, high = 1 / value, 1 / high, 1 / low
        return f"{value:.2f} ±{(high - low) / 2:.2f}"

    def ratios(self):
        """For each cell that isn't its library's fastest of its size. One CPU for each call: it reads the whole run."""
        fastest = {}
        for cell in self.cells:
            best = fastest.setdefault((library_of(cell), cell["payload_bytes"]), cell)
            if cell["latency_ns"]["p50"] < best["latency_ns"]["p50"]:
                fastest[library_of(cell), cell["payload_bytes"]] = cell
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            told = {
                title_of(cell): pool.submit(self.ratio, cell, best)
                for cell in self.cells
                if (best := fastest[library_of(cell), cell["payload_bytes"]]) is not cell
            }
            return {title: ratio.result() for title, ratio in told.items()}


def table(run):
    sizes, ratios = sorted({cell["payload_bytes"] for cell in run.cells}), run.ratios()
    rows = [["way of receiving", "hops", "threads on the way"]]
    for figure in ("p50: ", "CPU: ", "× fastest: "):
        rows[0] += [(figure if size == sizes[0] else "") + size_text(size) for size in sizes]
    ways = {}
    for cell in run.cells:
        ways.setdefault((library_of(cell), cell["target"], cell["wait"]), {})[cell["payload_bytes"]] = cell
    for (_, target, wait), way in sorted(
        ways.items(), key=lambda item: (item[0][0], item[1][min(item[1])]["latency_ns"]["p50"])
    ):
        threads = threads_of(way[min(way)])

        def each(figure):
            return [figure(way[size]) if size in way else "–" for size in sizes]

        rows.append(
            [
                f"{target} {wait}",
                str(len(threads) - 1) if threads else "–",
                " → ".join(threads) or "–",
                *each(lambda cell: three_digits(cell["latency_ns"]["p50"] / 1000)),
                *each(
                    lambda cell: three_digits(
                        sum(side["total"] for side in cell["cpu_ns_per_message"].values() if side) / 1000
                    )
                ),
                *each(lambda cell: ratios.get(title_of(cell), "1")),
            ]
        )
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(
            word.ljust(width) if at in (0, 2) else word.rjust(width)
            for at, (word, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("run", metavar="RUN", help="a run directory")
    parser.add_argument("--icepath", default="build/bin/icepath")
    args = parser.parse_args()
    run = Run(args.run, args.icepath)
    if not run.cells:
        sys.exit(f"{args.run} has no ping-pong of middleware")
    about, host = run.json["icepath"], run.json["host"]
    print("SPDX-License-Identifier: Apache-2.0")
    print(
        f"icepath {about['version']} · {about['started_utc']} · kernel {host['kernel']} · "
        f"{', '.join(dict.fromkeys(cell['library'] for cell in run.cells))}"
    )
    print("one way, in µs\n")
    print("\n".join(table(run)))


if __name__ == "__main__":
    main()
