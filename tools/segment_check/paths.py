# SPDX-License-Identifier: Apache-2.0
"""The paths that `icepath export -f paths` wrote, in groups that are checked together."""
import json
from collections import namedtuple

# block: what a line of type "block" has; paths(): yields the block's paths, anew at each call
Block = namedtuple("Block", "told paths")

SECOND_NS = 1_000_000_000


def groups(path):
    """Groups of blocks, in time order. Of a benchmark: its blocks, of which those that overlap are in one group, since
    sparse cells share a window. Of an attached run, which has none: the messages and requests that were sent in one
    second, a block for each two programs."""
    with open(path, "rb") as file:
        first = json.loads(file.readline() or "{}")
    return _of_seconds(path) if first.get("type") in ("message", "request") else _of_benchmark(path)


def _of_benchmark(path):
    blocks = []
    with open(path, "rb") as file:
        at = 0
        for line in file:
            if line.startswith(b'{"type":"block"'):
                blocks.append((json.loads(line), at + len(line)))
            at += len(line)
    together = []
    for told, offset in sorted(blocks, key=lambda one: one[0]["begin_ns"]):
        block = Block(told, lambda offset=offset: _paths_at(path, offset))
        if together and told["begin_ns"] < together[-1][-1].told["end_ns"]:
            together[-1].append(block)
        else:
            together.append([block])
    return together


def _paths_at(path, offset):
    with open(path, "rb") as file:
        file.seek(offset)
        for line in file:
            if not line.startswith(b'{"type":"path"'):
                return
            yield json.loads(line)


def _of_seconds(path):
    seconds = {}
    with open(path, "rb") as file:
        at = 0
        for line in file:
            one = json.loads(line)
            ends = ("client", "server") if one["type"] == "request" else ("from", "to")
            title = f"{one['type']} {one[ends[0]]['thread']} → {one[ends[1]]['thread']}"
            seconds.setdefault(one["send_ns"] // SECOND_NS, {}).setdefault(title, []).append(
                (at, one["send_ns"], one["recv_ns"], {segment["tid"] for segment in one["segments"]})
            )
            at += len(line)
    return [_blocks_of_second(path, number, seconds[number]) for number in sorted(seconds)]


def _blocks_of_second(path, number, by_title):
    return [
        Block(
            {
                "block": number,
                "title": title,
                "begin_ns": min(begin for _, begin, _, _ in lines),
                "end_ns": max(end for _, _, end, _ in lines),
                "workers": [{"tid": tid} for tid in sorted(set().union(*(tids for _, _, _, tids in lines)) - {0})],
            },
            lambda lines=lines: _lines_at(path, [at for at, _, _, _ in lines]),
        )
        for title, lines in sorted(by_title.items())
    ]


def _lines_at(path, offsets):
    with open(path, "rb") as file:
        for offset in offsets:
            file.seek(offset)
            one = json.loads(file.readline())
            sender = one.get("client") or one["from"]
            one["seq"], one["back"] = f"{sender['tid']}:{one['send_ns']}", False
            yield one
