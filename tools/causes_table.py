#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The causes and remedies that `icepath explain` names for the tail of each cell of some runs, a block for each cell,
to be read by someone who knows the targets: causes_table.py [--icepath PROGRAM] [--tail PERCENT] RUN..."""

import argparse
import json
import subprocess


def explained(icepath, run, tail):
    command = [icepath, "explain", "--json", run] + (["--tail", tail] if tail else [])
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode not in (0, 4):  # 4: some cells have too few messages
        raise SystemExit(f"{' '.join(command)} failed with {answer.returncode}")
    return json.loads(answer.stdout)["cells"]


def share(part, whole):
    return f"{100 * part / whole:.0f} %"


def rows(growth):
    """The parts of the growth, the greatest first."""
    all_rows = [row for kind in growth["kinds"] for row in kind["rows"]]
    return sorted(all_rows, key=lambda row: -row["difference_ns"])


def print_cell(cell):
    print(f"{cell['title']}: {cell['verdict']}{': ' + cell['refusal'] if cell['refusal'] else ''}")
    growth = cell["growth"]
    if growth is None:
        return
    whole = growth["difference_ns"]
    for row in rows(growth)[:3]:
        layer = row["layer"] + ("/" + row["part"] if row["part"] else "")
        print(f"    layer   {share(row['difference_ns'], whole):>5} {layer} at the {row['role']} ({row['a_threads']})")
    for cause in cell["causes"]:
        if cause["growth_ns"] >= 0.03 * whole:
            told = "" if cause["told"] else ", with all of its origin" if cause["kind_told"] else ", perhaps by chance"
            print(f"    cause   {share(cause['growth_ns'], whole):>5} {cause['origin']}: {cause['name']}{told}")
    for remedy in cell["next"]:
        print(f"    remedy  {share(remedy['ns'], whole):>5} {remedy['cause']}: {remedy['advice']}")
    for step in (cell["unprobed"] or {}).get("next", []):
        print(f"    mode    {step}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--icepath", default="icepath")
    parser.add_argument("--tail", help="as of icepath explain")
    parser.add_argument("runs", nargs="+", metavar="RUN")
    wanted = parser.parse_args()
    for run in wanted.runs:
        for cell in explained(wanted.icepath, run, wanted.tail):
            print_cell(cell)


if __name__ == "__main__":
    main()
