#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes from a stored run what pictures in documents need: of each cell the mean of each layer of its typical messages,
in nanoseconds.

    python3 tools/typical_layers.py RUN >results/NAME.json
"""
import argparse
import json
import os
import sys

sys.dont_write_bytecode = True
import ways_of_receiving  # noqa: E402


def typical_layers(cell):
    times = {}
    for layer in cell["typical_layers"] or []:  # null: of too few messages
        times[layer["layer"]] = times.get(layer["layer"], 0) + layer["mean_ns"]
    return {layer: round(ns) for layer, ns in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("run", metavar="RUN", help="a run directory")
    with open(os.path.join(parser.parse_args().run, "run.json"), encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    print(json.dumps({ways_of_receiving.title_of(cell): typical_layers(cell) for cell in cells}, indent="\t"))


if __name__ == "__main__":
    main()
