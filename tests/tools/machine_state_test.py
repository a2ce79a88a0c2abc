# SPDX-License-Identifier: Apache-2.0
"""Two stored runs: what of the machine was another one, and in how many pairs intervals contradict each other."""
import copy
import math
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import identical_runs  # noqa: E402
import machine_state  # noqa: E402


def run_of(wakes=((20000, 21000), (22000, 20500)), steal=0.001, floor=135, floor_interval=(130, 140), lines=(80,)):
    return {
        "machine_state": {
            "cache_line": [
                {"from_cpu": 0, "to_cpu": 1, "levels": [{"from_s": 0, "round_trip_ns": ns, "looks": 9} for ns in lines]}
            ],
            "wake_ns": [
                {"cpu": cpu, "begin": {"p50": begin, "p90": begin}, "end": {"p50": end, "p90": end}}
                for cpu, (begin, end) in enumerate(wakes)
            ],
            "steal": None if steal is None else {"ns": 1, "of_ns": 1, "share": steal},
            "floor_cells": ["null"],
        },
        "floors": {"null": {"p50_ns": floor, "ci95_ns": list(floor_interval) if floor_interval else None}},
    }


class MachineState(unittest.TestCase):
    def test_nothing_differs(self):
        self.assertEqual(machine_state.differences(run_of(), run_of()), [])
        self.assertEqual(machine_state.differences(run_of(), run_of(wakes=((22000, 24000), (25000, 21000)))), [])

    def test_cpus_that_halt_and_cpus_that_do_not(self):
        found = machine_state.differences(run_of(), run_of(wakes=((2000, 2100), (2000, 21000))))
        self.assertEqual(len(found), 1)
        self.assertIn("CPU 0 ran a sleeping thread again after 20 µs to 21 µs in the one run, 2 µs to 2.1 µs", found[0])

    def test_cpus_that_were_moved(self):
        self.assertEqual(machine_state.differences(run_of(), run_of(lines=(100,))), [])
        found = machine_state.differences(run_of(), run_of(lines=(320,)))
        self.assertEqual(
            found, ["a cache line took 0.08 µs from CPU 0 to CPU 1 and back in the one run, 0.32 µs in the other"]
        )
        found = machine_state.differences(run_of(), run_of(lines=(90, 320)))
        self.assertEqual(len(found), 1, "it was the same at first only")
        self.assertIn("0.09 µs, then 0.32 µs in the other", found[0])
        self.assertEqual(
            machine_state.differences(run_of(lines=(320, 90)), run_of(lines=(90, 320))), [], "both were both"
        )
        self.assertEqual(machine_state.differences(run_of(lines=()), run_of(lines=(320,))), [], "one didn't look")

    def test_an_end_that_is_missing_is_none(self):
        partial = run_of()
        partial["machine_state"]["wake_ns"][0]["end"] = None
        self.assertEqual(machine_state.differences(run_of(), partial), [])

    def test_steal(self):
        self.assertEqual(len(machine_state.differences(run_of(), run_of(steal=0.05))), 1)
        self.assertEqual(machine_state.differences(run_of(), run_of(steal=None)), [])

    def test_floor(self):
        self.assertEqual(len(machine_state.differences(run_of(), run_of(floor=180, floor_interval=(170, 190)))), 1)
        self.assertEqual(
            machine_state.differences(run_of(), run_of(floor=145, floor_interval=(144, 146))), [], "below 10 %"
        )
        self.assertEqual(machine_state.differences(run_of(), run_of(floor=180, floor_interval=None)), [])

    def test_floors_are_those_of_run_jsons_cells(self):
        def cell(key, p50):
            return {"key": key, "latency_ns": {"p50": p50, "ci95": {"p50": [p50 - 1, p50 + 1]}}}

        run = {"cells": [cell("null", 135), cell("pipe", 5000)], "machine_state": run_of()["machine_state"]}
        self.assertEqual(machine_state.facts_of(run)["floors"], {"null": {"p50_ns": 135, "ci95_ns": [134, 136]}})

    def test_another_schema_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
                file.write('{"schema_version": 1}')
            with self.assertRaisesRegex(ValueError, "isn't of schema 2: `icepath report"):
                machine_state.load(folder)


def facts(p50, probes, machine=None):
    cell = {
        "p50": {"value": sum(p50) / 2, "ci95": list(p50)},
        "p99": {"value": None, "ci95": None},
        "probes": {"value": sum(probes) / 2, "ci95": list(probes)},
        "openings": None,
        "drift": None,
    }
    return {"started_utc": "", "cells": {"pipe": cell}, **(machine or run_of())}


class IdenticalRuns(unittest.TestCase):
    def row(self, table, name):
        return next(row for row in table if row["measure"] == name)

    def test_pairs_are_counted(self):
        runs = [facts((10, 12), (1, 2)), facts((11, 13), (1, 2)), facts((12.5, 14), (1, 2))]
        table, changed = identical_runs.compare(runs)
        self.assertEqual(changed, [])
        self.assertEqual((self.row(table, "p50")["pairs"], self.row(table, "p50")["disjoint"]), (3, 1))
        self.assertEqual(self.row(table, "probes")["disjoint"], 0)
        self.assertEqual(self.row(table, "p99")["without_interval"], 3)
        self.assertAlmostEqual(identical_runs.totals_of(table)["p50"]["share"], 1 / 3)
        self.assertIsNone(identical_runs.totals_of(table)["p99"]["share"])

    def test_pairs_of_another_machine_stand_aside(self):
        other = run_of(steal=0.2)
        runs = [facts((10, 12), (1, 2)), facts((20, 21), (1, 2), copy.deepcopy(other)), facts((20, 22), (1, 2), other)]
        table, changed = identical_runs.compare(runs)
        self.assertEqual([pair["runs"] for pair in changed], [[0, 1], [0, 2]])
        row = self.row(table, "p50")
        self.assertEqual((row["pairs"], row["disjoint"], row["aside"], row["disjoint_aside"]), (1, 0, 2, 2))

    def test_ratios_agree_or_contradict(self):
        def run(log_ratio, half, told):
            pair = {
                "faster": "a",
                "slower": "b",
                "ratio": math.exp(abs(log_ratio)),
                "told_apart": told,
                "ratio_ci95": [math.exp(abs(log_ratio) - half), math.exp(abs(log_ratio) + half)],
            }
            if log_ratio < 0:
                pair.update(faster="b", slower="a")
            return {"ratios": [identical_runs.ratio_of(pair, {"a": "tcp", "b": "pipe"})]}

        ranks = identical_runs.ranks_of(
            [run(0.2, 0.05, True), run(0.25, 0.04, True), run(-0.2, 0.05, True), run(0.1, 0.3, False)]
        )
        self.assertEqual((ranks["pairs"], ranks["told_apart"], ranks["compared"]), (1, [1, 1, 1, 0], 6))
        self.assertEqual((ranks["agree"], ranks["contradict"]), (4, 2))

    def test_modes_agree_or_contradict(self):
        def run(p50, modes):
            one = facts(p50, (1, 2))
            one["cells"]["pipe"]["modes"] = [
                {
                    "p50_ns": sum(place) / 2,
                    "p50_ci95_ns": list(place),
                    "share": sum(share) / 2,
                    "share_ci95": list(share),
                }
                for place, share in modes
            ]
            return one

        fast, slow = run((7, 8), [((6, 8), (0.4, 0.6)), ((16, 17), (0.4, 0.6))]), run(
            (12, 17), [((6, 8), (0.3, 0.5)), ((16, 17), (0.5, 0.7))]
        )
        said = identical_runs.said_of([fast, slow])
        self.assertEqual(
            said, [{"target": "pipe", "pairs": 1, "modes": [2, 2], "by_p50": 1, "by_modes": 0, "other_number": 0}]
        )
        other_share = run((7, 8), [((6, 8), (0.7, 0.8)), ((16, 17), (0.2, 0.3))])
        other_place = run((7, 8), [((6, 8), (0.4, 0.6)), ((18, 19), (0.4, 0.6))])
        none, others = run((7, 8), []), run((9, 10), [])
        for other in (other_share, other_place):
            self.assertEqual([identical_runs.said_of([fast, other])[0][by] for by in ("by_p50", "by_modes")], [0, 1])
        for other, by_modes in ((none, 0), (others, 1)):
            self.assertEqual(
                [identical_runs.said_of([fast, other])[0][by] for by in ("by_modes", "other_number")], [by_modes, 1]
            )
        self.assertEqual([identical_runs.said_of([none, others])[0][by] for by in ("by_p50", "by_modes")], [1, 1])
        self.assertEqual(identical_runs.said_of([none, none])[0]["by_modes"], 0)


if __name__ == "__main__":
    unittest.main()
