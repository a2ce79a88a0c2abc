# SPDX-License-Identifier: Apache-2.0
"""Totals of a run's verdicts: counts by layer, the worst false ones, the culprits' table by icepath and by perf."""
import heapq
from collections import Counter, defaultdict

from .claims import BY_BOUNDS, BY_EDGE, BY_SLACK, FALSE, HOLDS, STALL, UNCHECKABLE, label, name_of, waits_for_cpu

WORST = 20
HOLD_SHARE = 0.999
CULPRIT_SHARE = 0.01
# A host sometimes stops a CPU. More stalls than this make false: for segments by layer and cell, for culprits in all.
STALLED_SHARE, FEW_STALLS = {"segment": 0.01, "culprit": 0.001}, {"segment": 3, "culprit": 0}


class Tally:
    def __init__(self):
        self.layers = defaultdict(Counter)
        self.culprits = Counter()
        self.why = Counter()
        self.paths = Counter()
        self.false = Counter()
        self.worst = {"culprit": [], "segment": []}
        self.sums = defaultdict(lambda: [0, 0, 0])  # by (layer, who): icepath's ns, perf's ns, segments
        self.conservation = Counter()
        self.seen = Counter()  # segments by layer and cell, and culprits; below, the stalled among them
        self.stalled = Counter()
        self._order = 0

    def segment(self, verdict, segment, path, block, lines):
        self.layers[label(segment)][verdict.what] += 1
        self._tell(verdict, "segment", segment, path, block, lines)

    def culprit(self, verdict, segment, path, block, lines):
        if verdict is None:
            return
        self.culprits[verdict.what] += 1
        self._tell(verdict, "culprit", segment, path, block, lines)

    def _tell(self, verdict, of, segment, path, block, lines):
        group = (of, label(segment), block["title"]) if of == "segment" else (of, "", "of any cell")
        self.seen[group] += 1
        if verdict.what == UNCHECKABLE:
            self.why[verdict.why] += 1
            self.stalled[group] += verdict.why == STALL
        if verdict.what != FALSE:
            return
        self._order += 1
        self.false[f"{of} {label(segment)}, {block['title']}"] += 1
        ns = segment["end_ns"] - segment["begin_ns"]
        entry = (ns, self._order, of, verdict, segment, path, block, lines)
        worst = self.worst[of]
        if len(worst) < WORST:
            heapq.heappush(worst, entry[:2] + (self._told(*entry[2:]),))
        elif ns > worst[0][0]:
            heapq.heapreplace(worst, entry[:2] + (self._told(*entry[2:]),))

    @staticmethod
    def _told(of, verdict, segment, path, block, lines):
        """The path, the claim and the timelines around it, in nanoseconds from the message's `send`."""
        zero = path["send_ns"]
        begin, end = segment["begin_ns"] - 5000, segment["end_ns"] + 5000
        states = [
            [a - zero, b - zero, _words(v), cpu] for a, b, v, cpu in lines.thread(segment["tid"]).within(begin, end)
        ]
        cpus = {
            cpu: [[a - zero, b - zero, tid] for a, b, tid, _ in line.within(begin, end)][:40]
            for cpu, line in lines.cpus.items()
        }
        return {
            "what": of,
            "why": verdict.why,
            "cell": block["title"],
            "block": block["block"],
            "seq": path["seq"],
            "back": path["back"],
            "send_ns": zero,
            "layer": label(segment),
            "tid": segment["tid"],
            "thread": segment["thread"],
            "begin": segment["begin_ns"] - zero,
            "end": segment["end_ns"] - zero,
            "known": segment["known"],
            "culprit": segment.get("culprit"),
            "path": [
                f"{label(s)} {s['begin_ns'] - zero}..{s['end_ns'] - zero} of {s['thread']}" for s in path["segments"]
            ],
            "seen_of_thread": states[:40],
            "seen_on_cpus": cpus,
        }

    def shares(self, segment, found):
        """Adds a wait for a CPU: the shares of the path, and those found by perf."""
        told = segment.get("shares")
        if told is None:
            culprit = segment.get("culprit")
            told = [dict(culprit, ns=segment["end_ns"] - segment["begin_ns"])] if culprit else []
        if not found or found.get("?") or not waits_for_cpu(segment):
            return
        for who in set(found) | {name_of(one) for one in told}:
            row = self.sums[label(segment), who]
            row[0] += sum(one["ns"] for one in told if name_of(one) == who)
            row[1] += found.get(who, 0)
            row[2] += 1

    def culprit_rows(self, slack_ns):
        """Rows of at least 1 % of the whole. `agrees`: within 1 %, or within the slack of both ends of each segment."""
        whole = sum(found for _, found, _ in self.sums.values()) or 1
        rows = []
        for (layer, who), (told, found, segments) in sorted(self.sums.items(), key=lambda item: -max(item[1][:2])):
            if max(told, found) < CULPRIT_SHARE * whole:
                continue
            agrees = agreement(who, told, found, 2 * slack_ns * segments)
            rows.append(
                {"layer": layer, "who": who, "told_ns": told, "found_ns": found, "segments": segments, "agrees": agrees}
            )
        return rows

    def refuse_too_many_stalls(self):
        for (of, layer, title), count in self.stalled.items():
            if count <= max(FEW_STALLS[of], STALLED_SHARE[of] * self.seen[of, layer, title]):
                continue
            counts = self.layers[layer] if of == "segment" else self.culprits
            counts[UNCHECKABLE] -= count
            counts[FALSE] += count
            self.why[STALL] -= count
            self.false[f"{of} {layer}, {title}"] += count

    def result(self, slack_ns, spare=0):
        self.refuse_too_many_stalls()
        total = Counter()
        for counts in self.layers.values():
            total.update(counts)
        checked = sum(total[what] for what in (HOLDS, BY_EDGE, BY_SLACK, BY_BOUNDS, FALSE))
        hold = checked - total[FALSE]
        rows = self.culprit_rows(slack_ns)
        segments_good = checked > 0 and hold + spare >= HOLD_SHARE * checked and not self.conservation["differs"]
        good = segments_good and not self.culprits[FALSE] and not any(row["agrees"] == "no" for row in rows)
        return {
            "good": good,
            "slack_ns": slack_ns,
            "segments": {"checked": checked, "hold": hold, **dict(total)},
            "hold_share": hold / checked if checked else None,
            "slack_share": total[BY_SLACK] / checked if checked else None,
            "layers": {name: dict(counts) for name, counts in sorted(self.layers.items())},
            "culprits": dict(self.culprits),
            "culprit_sums": rows,
            "false": dict(self.false.most_common()),
            "uncheckable": dict(self.why.most_common()),
            "paths": dict(self.paths),
            "conservation": dict(self.conservation),
            "worst": [
                told for worst in self.worst.values() for _, _, told in sorted(worst, key=lambda entry: -entry[0])
            ],
        }


def agreement(who, told, found, slack_ns):
    # Only waits whose culprits perf knows are counted, so none may remain unknown for as long as a row.
    if who == "?":
        return "no"
    differ = abs(told - found)
    return "yes" if differ <= CULPRIT_SHARE * found else "by slack" if differ <= slack_ns else "no"


def _words(state):
    names = ("user", "kernel", "runnable", "asleep", "waking", "edge")
    return "|".join(name for bit, name in enumerate(names) if state & 1 << bit)


def table(result):
    lines = [
        f"{'layer':26} {'checked':>9} {'hold':>9} {'by edge':>9} "
        f"{'by slack':>9} {'by bounds':>9} {'false':>7} {'uncheckable':>11}"
    ]
    for name, counts in result["layers"].items():
        get = lambda what: counts.get(what, 0)
        checked = sum(get(what) for what in (HOLDS, BY_EDGE, BY_SLACK, BY_BOUNDS, FALSE))
        lines.append(
            f"{name:26} {checked:9} {get(HOLDS):9} {get(BY_EDGE):9} "
            f"{get(BY_SLACK):9} {get(BY_BOUNDS):9} {get(FALSE):7} {get(UNCHECKABLE):11}"
        )
    segments = result["segments"]
    if segments["checked"]:
        lines.append(
            "by edge: counting the 3 µs on either side of a system call's tracepoint, "
            "in which its thread enters or leaves the kernel"
        )
        lines.append(
            f"{100 * result['hold_share']:.4f} % of {segments['checked']} segments hold, "
            f"{100 * result['slack_share']:.2f} % of them by the slack of {result['slack_ns']} ns at each end"
        )
    lines += [f"uncheckable: {count} times: {why}" for why, count in result["uncheckable"].items()]
    lines.append(
        "culprits: " + (", ".join(f"{count} {what}" for what, count in result["culprits"].items()) or "none named")
    )
    lines += [
        f"  {row['layer']:20} {row['who']:28} told {row['told_ns'] / 1e6:9.3f} ms, "
        f"found {row['found_ns'] / 1e6:9.3f} ms, {row['segments']} times: agrees: {row['agrees']}"
        for row in result["culprit_sums"]
    ]
    lines.append("conservation: " + ", ".join(f"{name} {count}" for name, count in result["conservation"].items()))
    for told in result["worst"]:
        lines.append(
            f"FALSE {told['what']}: {told['cell']}, block {told['block']}, "
            f"message {told['seq']}{' back' if told['back'] else ''}: "
            f"{told['layer']} {told['begin']}..{told['end']} ns of {told['thread']} ({told['tid']}): {told['why']}"
        )
        lines.append("  path: " + "; ".join(told["path"]))
        lines.append(
            "  seen: "
            + "; ".join(
                f"{a}..{b} {state}" + (f" on {cpu}" if cpu is not None else "")
                for a, b, state, cpu in told["seen_of_thread"]
            )
        )
    return "\n".join(lines)
