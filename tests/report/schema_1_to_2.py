#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a run.json of schema 2 has every figure of one of schema 1, of the same run directory, in the same digits:
schema_1_to_2.py OLD.json NEW.json. Makes of the old one what the new one must be, by the tables below alone, and prints
each difference; exits with 1 if there is one.

What isn't compared has no counterpart: see NEW. The means of layers count messages now, not blocks. So they must be the old
total_ns over the number of complete messages; only their intervals aren't compared.
"""
import json
import math
import sys

CLOSE = 1e-12  # relative: sums of doubles in another order

# In a cell: key → new key, or None for what must stand elsewhere already (see same_elsewhere).
CELL = {"direction": None, "publishers": None, "subscribers": None, "responses": None, "burst": None, "idle_channels": None,
        "injection": None, "tail_from_ns": None}
KEPT = ("target", "kind", "pattern", "wait", "between", "payload_bytes", "parts", "rate_hz", "limits", "idle_states", "measured_beside",
        "blocks", "messages", "p50_in_modes", "jitter_ns", "lateness_ns", "throughput", "layers_sum_error_ns", "typical_from_ns",
        "typical_to_ns", "typical_messages", "tail_messages", "capture", "system_calls")
DISTRIBUTIONS = ("latency_ns", "latency_probed_ns", "forward_ns", "back_ns", "first_response_ns", "to_all_ns", "round_trip_ns", "pacing_ns",
                 "latency_from_due_ns", "send_call_ns")
ALWAYS_ZERO = ("shared_text", "unshared_data", "unshared_stack", "swaps", "messages_sent", "messages_received", "signals")
MODE = {"ci95": "share_ci95", "p50": "p50_ns", "p50_ci95": "p50_ci95_ns", "mean": "mean_ns"}
OBSERVER = {"ci95": "p50_added_ci95_ns", "pairs": "p50_pairs", "mean_ci95": "mean_added_ci95_ns", "p99_ci95": "p99_added_ci95_ns"}
UNEQUAL_BLOCKS = "blocks don't have equally many messages"  # begins a notice that schema 1 didn't have
NEW = ("mean_by_block", "mean_pairs", "key", "mean_ci95_ns", "layers_mean_ns", "typical_layers_mean_ns", "tail_layers_mean_ns")


def renamed(old, names):
    return {names.get(key, key): value for key, value in old.items()}


def text_or_null(text):
    return text or None


def layers(old, messages):
    """A list of schema 1, in which each part follows its layer, as layers with their parts; None without a message."""
    if not old or not messages:
        return None
    all_ns, found = sum(row["total_ns"] for row in old if row["part_of"] is None), []
    for row in old:
        figures = {"mean_ns": row["total_ns"] / messages, "share": row["total_ns"] / all_ns, "provenance": row["provenance"]}
        if row["part_of"] is None:
            found.append({"layer": row["layer"], "hop": row["hop"], "role": row["role"], "thread": row["thread"], **figures, "parts": []})
        else:
            assert row["layer"] == f"{row['part_of']}/{row['part']}" and row["part_of"] == found[-1]["layer"]
            found[-1]["parts"].append({"part": row["part"], **figures})
    return found


def distribution(old):
    return old if old and old["count"] else None


def qos(old):
    names = ("reliability", "durability", "history", "depth", "deadline_ns", "lifespan_ns", "liveliness", "lease_ns")
    return {name: (None if name not in old else "infinite" if old[name] is None else str(old[name]) if name.endswith("_ns") else old[name])
            for name in names}


def modes(old):
    found = []
    for mode in old:
        one = renamed(mode, MODE)
        one["probed"] = renamed(mode["probed"], MODE)
        one["probed"]["layers"] = layers(mode["probed"]["layers"], mode["probed"]["complete"])
        found.append(one)
    return found


def worst(old):
    if not old:
        return None
    return {**old, "send_monotonic_ns": str(old["send_monotonic_ns"]),
            "segments": [{**one, "thread": text_or_null(one["thread"])} for one in old["segments"]]}


def counters(old):
    def side(its):
        return {key: {**value, "total": str(value["total"])} if isinstance(value, dict) else value for key, value in its.items()}
    return old and {name: side(its) for name, its in old.items()}


def used(old, one_thread):
    """CPU time or usage by side: None where there is none, and of the receiver that has its thread in common with the sender."""
    if not old or not old["sender"] or old["sender"].get("total", 0) is None:
        return None
    found = {key: {name: value for name, value in its.items() if name not in ALWAYS_ZERO} if isinstance(its, dict) else its
             for key, its in old.items()}
    return {**found, "receiver": None} if one_thread else found


def cell(old, factors):
    new = {key: old[key] for key in KEPT if key in old}
    new.update({key: distribution(old[key]) for key in DISTRIBUTIONS if key in old})
    new.update({key: old[key] and [distribution(one) for one in old[key]] for key in ("senders_ns", "receivers_ns") if key in old})
    complete, one_thread = old["messages"]["complete"], old["between"] == "one-thread"
    known = {"typical": (old["typical_messages"] or {}).get("known"), "tail": (old["tail_messages"] or {}).get("known")}
    new["layers"] = layers(old["layers"], complete)
    for which, messages in known.items():
        new[f"{which}_layers"] = layers(old[f"{which}_layers"], messages)
    for prefix, messages in (("", complete), ("tail_", known["tail"])):
        new[f"{prefix}culprits"] = old[f"{prefix}culprits"] if messages else None
        new[f"{prefix}culprits_sum_ns"] = old[f"{prefix}culprits_sum_ns"] if messages else None
    if not complete:
        new["layers_sum_error_ns"] = None
    new["library"] = text_or_null(old["library"])
    new["cpus"] = {key: old["cpus"][key] for key in ("senders", "receivers")}
    new["qos"] = {key: qos(old["qos"][key]) for key in ("asked", "granted")}
    new["factors"] = {key: old["factors"].get(key) for key in factors}
    new["max_rate"] = old["max_rate"] and renamed(old["max_rate"], {"ci95": "rate_ci95_hz"})
    new["openings"] = {**old["openings"], "modes": [renamed(one, {"p50": "p50_ns"}) for one in old["openings"]["modes"]]}
    new["drift"] = old["drift"] and renamed(old["drift"], {"ci95": "p50_ratio_ci95"})
    new["modes"] = modes(old["modes"])
    new["observer_effect"] = renamed(old["observer_effect"], OBSERVER)
    new["cpu_ns_per_message"] = used({"daemon": None, **old["cpu_ns_per_message"]}, one_thread)
    new["rusage"] = used(old["rusage"], one_thread)
    new["counters"] = counters(old["counters"])
    new["worst"] = worst(old["worst"])
    if "functions" in old:
        new["functions"] = old["functions"]
    return new


def same_elsewhere(old, new):
    """What schema 1 had twice: (what, value in the old file, value in the new one)."""
    factors, answered = new["factors"], new["pattern"] in ("pingpong", "reqrep")
    yield "direction", old["direction"], "both" if answered else "forward"
    yield "publishers", old["publishers"], len(new["cpus"]["senders"])
    yield "subscribers", old["subscribers"], len(new["cpus"]["receivers"])
    yield "cpus.sender", old["cpus"]["sender"], new["cpus"]["senders"][0]
    yield "cpus.receiver", old["cpus"]["receiver"], new["cpus"]["receivers"][0]
    yield "responses", old["responses"], (factors["responses"] or 1) if answered else None
    yield "idle_channels", old["idle_channels"], factors["idle_channels"]
    yield "injection", old["injection"], {key: factors[key] for key in ("sender_user_ns", "receiver_busy_ns")}
    yield "burst", old["burst"], {key: factors[key] for key in ("demand", "recovery_ns")} if new["pattern"] == "burst" else None
    yield "tail_from_ns", old["tail_from_ns"], (new["latency_probed_ns"] or {}).get("p99")
    for name in ("sender", "receiver"):
        for key in ALWAYS_ZERO if old["rusage"] else ():
            yield f"rusage.{name}.{key}", old["rusage"][name][key], 0


def ranking(old, keys):
    """With x_fastest as it follows from the pairs, beside the ranking itself."""
    found, fastest = [], []
    for group in old:
        pairs = [renamed({**pair, "faster": keys[pair["faster"]], "slower": keys[pair["slower"]]}, {"ci95": "ratio_ci95"})
                 for pair in group["pairs"]]
        found.append({"cells": [{"cell": keys[one["cell"]], "rank": one["rank"]} for one in group["cells"]], "pairs": pairs,
                      "pairs_not_compared": group["pairs_not_compared"]})
        first = keys[group["cells"][0]["cell"]]
        for one in group["cells"]:
            pair = next((pair for pair in pairs if {pair["faster"], pair["slower"]} == {first, keys[one["cell"]]}), None)
            ratio = pair and (pair["ratio"] if pair["faster"] == first else 1 / pair["ratio"])
            fastest.append((f"x_fastest of {keys[one['cell']]}", one["x_fastest"], ratio))
    return found, fastest


def noise(old):
    return [{**one, "longest_source": text_or_null(one["longest_source"]), "sources": one["sources"] or (None if one["gaps"] else [])}
            for one in old] or None


def whole(old, new):
    state, ended = old["machine_state"], old["icepath"]["finished_utc"] is not None
    isolation = {key: old["isolation"].get(key) for key in new["isolation"]}
    for key in ("items", "steps"):
        isolation[key] = isolation[key] and [{name: text_or_null(value) if name in ("effect", "remedy") else value
                                              for name, value in one.items()} for one in isolation[key]]
    keys = [one["key"] for one in new["cells"]]
    pairs, fastest = ranking(old["ranking"], keys)
    factors = new["cells"][0]["factors"] if new["cells"] else ()
    told = {"schema": 2, "icepath": old["icepath"], "probes": old["probes"], "notices": [*old["notices"], *(one for one in new["notices"] if UNEQUAL_BLOCKS in one)],
            "host": {key: old["host"].get(key) for key in new["host"]}, "isolation": isolation, "ranking": pairs,
            "machine_state": {"floor_cells": [one["key"] for one in new["cells"] if any(
                                  (floor["target"], floor["pattern"], floor["payload_bytes"], floor["p50"], floor["ci95"]) ==
                                  (one["target"], one["pattern"], one["payload_bytes"], one["latency_ns"]["p50"],
                                   one["latency_ns"]["ci95"]["p50"]) for floor in state["floor_ns"] if one["latency_ns"])],
                              "wake_ns": state["wake_ns"], "steal": state["steal"],
                              "cache_line": state["cache_line"] if ended else None,
                              "noise": {key: noise(state["noise"][key]) for key in ("before_isolating", "begin")},
                              "interference": noise(state["interference"]),
                              "untraced_interrupts": state["untraced_interrupts"] if ended else None},
            "cells": [cell(one, factors) for one in old["cells"]]}
    twice = fastest + [("number of floors", len(state["floor_ns"]), len(told["machine_state"]["floor_cells"]))]
    for at, (before, after) in enumerate(zip(old["cells"], new["cells"])):
        twice += [(f"cells/{at}: {what}", x, y) for what, x, y in same_elsewhere(before, after)]
    return told, twice


def differences(expected, found, where=""):
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            if key in NEW and key not in expected:
                continue
            if key not in found or key not in expected:
                yield f"{where}/{key} is in one of the two"
            else:
                yield from differences(expected[key], found[key], f"{where}/{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for at, (one, other) in enumerate(zip(expected, found)):
            yield from differences(one, other, f"{where}/{at}")
    elif isinstance(expected, float) and isinstance(found, (int, float)) and not isinstance(found, bool):
        if not math.isclose(expected, found, rel_tol=CLOSE, abs_tol=1e-12):
            yield f"{where} is {found!r} instead of {expected!r}"
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield f"{where} is {json.dumps(found)[:200]} instead of {json.dumps(expected)[:200]}"


def figures(told):
    if isinstance(told, dict):
        return sum(map(figures, told.values()))
    if isinstance(told, list):
        return sum(map(figures, told))
    return isinstance(told, (int, float)) and not isinstance(told, bool)


def main():
    old, new = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    assert old["schema_version"] == 1 and set(old["cells"][0]) <= set(KEPT) | set(DISTRIBUTIONS) | set(CELL) | set(cell(
        old["cells"][0], ())) | {"cpus"}, "a key of schema 1 that no table has"
    expected, twice = whole(old, new)
    found = [*differences(expected, new), *(f"{what} was {x!r} and is {y!r}" for what, x, y in twice
                                            if not (x == y or (isinstance(x, float) and isinstance(y, float) and math.isclose(x, y, rel_tol=CLOSE))))]
    print("\n".join(found[:40]))
    print(f"{figures(old)} figures in the old file, {figures(new)} in the new one; {len(twice)} duplicates dropped; {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
