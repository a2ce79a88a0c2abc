#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads `icepath export -f perfetto` by protobuf's wire format alone, and compares it with `-f paths`:

    perfetto_trace.py ICEPATH RUN      RUN: a run directory, or a program that makes one

Each message's slice has the length of its latency, its segments tile it and have the names that paths.jsonl gives them;
slices of a track nest; each flow begins once and ends once, at the message's last slice of a thread.
"""
import collections
import json
import os
import struct
import subprocess
import sys
import tempfile


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """{number: [value]} of a message; bytes of what has a length."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        found[key >> 3].append(value)
    return found


def annotations(event):
    found = {}
    for one in map(fields, event[4]):
        found[one[10][0].decode()] = one[6][0].decode() if 6 in one else one[3][0]
    return found


class Trace:
    """tracks: {uuid: (name, parent)}; slices: {uuid: [[begin, end, name, annotations, flows, ending flows,
    children]]}
    """

    def __init__(self, data):
        self.tracks, self.slices, self.counts, names, self.has_clock = {}, collections.defaultdict(list), {}, {}, False
        opened = collections.defaultdict(list)
        for packet in map(fields, fields(data)[1]):
            if 59 in packet:
                assert fields(packet[59][0])[58] == [3], "times are of CLOCK_MONOTONIC"
                self.has_clock = True
            if 60 in packet:
                track = fields(packet[60][0])
                self.tracks[track[1][0]] = (track[2][0].decode(), track[5][0] if 5 in track else 0)
            if 12 in packet:
                for name in map(fields, fields(packet[12][0])[2]):
                    names[name[1][0]] = name[2][0].decode()
            if 11 not in packet:
                continue
            event, at = fields(packet[11][0]), packet[8][0]
            kind, track = event[9][0], event[11][0]
            assert track in self.tracks, "a track is described before its events"
            if kind == 1:
                one = [at, None, names[event[10][0]], annotations(event), event[47], event[48], []]
                (opened[track][-1][6] if opened[track] else self.slices[track]).append(one)
                opened[track].append(one)
            elif kind == 2:
                one = opened[track].pop()
                assert at >= one[0], "a slice ends after it begins"
                one[1] = at
            else:
                assert kind == 4
                self.counts.setdefault(track, []).append(event[30][0])
        assert not any(opened.values()), "every slice ends"


def check(trace, lines):
    assert trace.has_clock
    cells, wanted, block = {}, collections.Counter(), None
    for line in lines:
        if line["type"] == "block":
            block = line
            cells[line["title"]] = line["cell"]
        else:
            names = tuple(
                (s["layer"] + ("/" + s["part"] if s["part"] else ""), s["begin_ns"], s["end_ns"])
                for s in line["segments"]
            )
            wanted[(block["title"], line["seq"], line["send_ns"], line["recv_ns"], line["reason"], names)] += 1
    found, flows = collections.Counter(), collections.Counter()
    for track, slices in trace.slices.items():
        name, parent = trace.tracks[track]
        last = 0
        for one in slices:
            assert one[0] >= last, f"slices of {name} overlap"
            last = one[1]
            if name.startswith("thread "):
                assert not one[6] and one[2].split("/")[0] not in (
                    "queue",
                    "network",
                    "propagation",
                ), f"{one[2]} is no thread's time"
                flows.update({("begin", flow): 1 for flow in one[4]})
                flows.update({("end", flow): 1 for flow in one[5]})
            if not name.startswith("messages "):
                continue
            segments, at = tuple((s[2], s[0], s[1]) for s in one[6]), one[0]
            for segment in segments:
                assert segment[1] == at, "segments tile the message"
                at = segment[2]
            reason = "complete" if segments else one[2].removeprefix("incomplete: ")
            assert not segments or at == one[1], "they end with it"
            found[(trace.tracks[parent][0], one[3]["seq"], one[0], one[1], reason, segments)] += 1
    assert (
        found == wanted
    ), f"{sum((found - wanted).values())} messages too many, {sum((wanted - found).values())} too few"
    begun = {flow for kind, flow in flows if kind == "begin"}
    assert (
        begun and begun == {flow for kind, flow in flows if kind == "end"} and set(flows.values()) == {1}
    ), "flows have two ends"
    lost = [values for track, values in trace.counts.items() if trace.tracks[track][0] == "lost messages"]
    assert len(lost) == len(cells)
    print(f"{sum(found.values())} messages, {len(begun)} flows, {len(trace.tracks)} tracks")


def main():
    icepath, run = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        if os.path.isfile(run):  # the program that makes one
            subprocess.run([run, os.path.join(folder, "run")], check=True)
            run = os.path.join(folder, "run")
        subprocess.run(
            [icepath, "export", "-f", "perfetto,paths", "-o", folder, run], check=True, stdout=subprocess.DEVNULL
        )
        with open(os.path.join(folder, "paths.perfetto-trace"), "rb") as file:
            trace = Trace(file.read())
        with open(os.path.join(folder, "paths.jsonl"), encoding="utf-8") as file:
            check(trace, [json.loads(line) for line in file])


if __name__ == "__main__":
    main()
