#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The segment checker on a hand-made recording: it confirms the true path, and finds each planted error."""
import copy
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import check_segments
from segment_check import claims, lag, timelines, trace

SENDER, RECEIVER, HOG = 100, 200, 4711
NAMES = {0: "swapper/1", SENDER: "the sender", RECEIVER: "receiver", HOG: "hog"}
MESSAGES, PERIOD = 20, 1_000_000
START = 5_000_000_000


def line(at, cpu, tid, event, text):
    return f"{NAMES[tid]:>16} {tid:5} [{cpu:03}] {at // 1000000000}.{at % 1000000000:09}: {event:>32}: {text}\n"


def switch(at, cpu, out, state, into):
    return line(
        at,
        cpu,
        out,
        "sched:sched_switch",
        f"prev_comm={NAMES[out]} prev_pid={out} prev_prio=120 prev_state={state} ==> "
        f"next_comm={NAMES[into]} next_pid={into} next_prio=120",
    )


def recording(with_receivers_switch_in=True, more=(), moved=None):
    """The receiver sleeps in its call, and the sender's call wakes it. A hog has its CPU from 20 µs before `send` to
    60 µs after it, with a timer interrupt. For message `moved`, the receiver waits, is moved to the sender's CPU, and
    comes in there."""
    lines = []
    for i in range(-1, MESSAGES):
        t = START + i * PERIOD
        lines += [
            line(t - 50_000, 1, RECEIVER, "raw_syscalls:sys_enter", "NR 45 (7, 7f7ba0e2c000, 40, 0, 0, 0)"),
            switch(t - 40_000, 1, RECEIVER, "S", 0),
            switch(t - 20_000, 1, 0, "R", HOG),
            line(t + 10_000, 0, SENDER, "raw_syscalls:sys_enter", "NR 44 (7, 7f7ba0e2d000, 40, 4000, 0, 0)"),
            line(t + 20_000, 0, SENDER, "sched:sched_waking", f"comm=receiver pid={RECEIVER} prio=120 target_cpu=001"),
            line(t + 30_000, 0, SENDER, "sched:sched_wakeup", f"comm=receiver pid={RECEIVER} prio=120 target_cpu=001"),
            line(t + 35_000, 1, HOG, "irq_vectors:local_timer_entry", "vector=236"),
            line(t + 37_000, 1, HOG, "irq_vectors:local_timer_exit", "vector=236"),
            line(t + 40_000, 0, SENDER, "raw_syscalls:sys_exit", "NR 44 = 64"),
        ]
        at = 0 if i == moved else 1
        if i == moved:
            move = f"comm=receiver pid={RECEIVER} prio=120 "
            lines += [
                line(t + 58_000, 0, SENDER, "sched:sched_migrate_task", move + "orig_cpu=1 dest_cpu=0"),
                switch(t + 60_000, 0, SENDER, "R", RECEIVER),
                switch(t + 120_000, 0, RECEIVER, "R", SENDER),
                line(t + 121_000, 1, HOG, "sched:sched_migrate_task", move + "orig_cpu=0 dest_cpu=1"),
                switch(t + 125_000, 1, HOG, "R", RECEIVER),
            ]
        elif with_receivers_switch_in:
            lines.append(switch(t + 60_000, 1, HOG, "R", RECEIVER))
        lines += [
            line(t + 70_000, at, RECEIVER, "irq:softirq_entry", "vec=9 [action=RCU]"),
            line(t + 80_000, at, RECEIVER, "irq:softirq_exit", "vec=9 [action=RCU]"),
            line(t + 100_000, at, RECEIVER, "raw_syscalls:sys_exit", "NR 45 = 64"),
        ]
    return sorted([*lines, *more], key=lambda one: one.split("]", 1)[1].split(":")[0].strip())


def true_path(i):
    zero = START + i * PERIOD
    segments, at = [], zero

    def until(ns, layer, part="", tid=RECEIVER, **more):
        nonlocal at
        segments.append(
            {
                "layer": layer,
                "part": part,
                "hop": int(tid == RECEIVER),
                "role": "",
                "tid": tid,
                "thread": NAMES[tid],
                "begin_ns": at,
                "end_ns": zero + ns,
                "known": "exact",
                **more,
            }
        )
        at = zero + ns

    hog = {"kind": "task", "id": HOG, "name": "hog"}
    until(10_000, "sender.user", tid=SENDER)
    until(18_000, "sender.kernel", tid=SENDER)
    until(20_000, "sender.kernel", "notify")
    until(30_000, "wakeup")
    until(
        60_000,
        "runqueue",
        culprit=hog,
        shares=[dict(hog, ns=28_000), {"kind": "interrupt", "id": 236, "name": "timer interrupt", "ns": 2_000}],
    )
    until(70_000, "receiver.kernel")
    until(80_000, "interrupt", culprit={"kind": "interrupt", "id": 9, "name": "RCU softirq"})
    until(100_000, "receiver.kernel")
    until(110_000, "receiver.user")
    return {
        "type": "path",
        "block": 0,
        "flow": 0,
        "seq": i,
        "back": False,
        "send_ns": zero,
        "recv_ns": at,
        "reason": "complete",
        "segments": segments,
    }


class SegmentCheck(unittest.TestCase):
    def check(self, lie=lambda segments: None, **how):
        return self.check_each(lambda i, segments: lie(segments) if i == MESSAGES // 2 else None, **how)

    def check_each(self, lie, **how):
        block = {
            "type": "block",
            "block": 0,
            "cell": 0,
            "title": "by hand",
            "target": "by hand",
            "round": 0,
            "begin_ns": START - PERIOD // 2,
            "end_ns": START + MESSAGES * PERIOD - PERIOD // 2,
            "workers": [
                {"side": 0, "role": "sender", "tid": SENDER, "name": "sender", "cpu": 0},
                {"side": 1, "role": "receiver", "tid": RECEIVER, "name": "receiver", "cpu": 1},
            ],
        }
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write(json.dumps(block, separators=(",", ":")) + "\n")
            for i in range(MESSAGES):
                path = self.path = copy.deepcopy(true_path(i))
                lie(i, {claims.label(one) + str(k): one for k, one in enumerate(path["segments"])})
                file.write(json.dumps(path, separators=(",", ":")) + "\n")
            file.flush()
            return check_segments.check(file.name, iter(recording(**how)), None, 1000)

    def false(self, result):
        return [(one["what"], one["layer"]) for one in result["worst"]]

    def test_the_truth_holds(self):
        result = self.check()
        self.assertEqual(self.false(result), [])
        self.assertTrue(result["good"], result)
        self.assertEqual(result["segments"]["checked"], 9 * MESSAGES)
        self.assertEqual(result["segments"]["holds"], 9 * MESSAGES)
        self.assertEqual(result["segments"].get("uncheckable", 0), 0)
        self.assertEqual(result["culprits"], {"holds": MESSAGES})
        self.assertEqual(result["conservation"]["adds up"], 2)
        self.assertEqual(
            {(row["who"], row["agrees"]) for row in result["culprit_sums"]},
            {(f"task {HOG}", "yes"), ("timer interrupt", "yes")},
        )

    def test_a_wrong_layer_is_found(self):
        for wrong in ("wakeup", "receiver.kernel", "blocked", "receiver.user", "propagation"):
            result = self.check(lambda segments: segments["runqueue4"].update(layer=wrong))
            self.assertIn(("segment", wrong), self.false(result), wrong)
            self.assertFalse(result["good"])

    def test_user_code_called_kernel_is_found(self):
        result = self.check(lambda segments: segments["sender.user0"].update(layer="sender.kernel"))
        self.assertEqual(self.false(result), [("segment", "sender.kernel")])

    def test_kernel_code_called_user_is_found(self):
        for where, wrong in (("receiver.kernel7", "receiver.user"), ("sender.kernel1", "sender.user")):
            result = self.check(lambda segments: segments[where].update(layer=wrong))
            self.assertEqual(self.false(result), [("segment", wrong)])

    def test_what_holds_by_edge_alone_is_told(self):
        def lie(segments):
            for which, end in (("receiver.kernel7", "end_ns"), ("receiver.user8", "begin_ns")):
                segments[which][end] += 3_000

        layers = self.check(lie)["layers"]
        self.assertEqual((layers["receiver.kernel"]["by edge"], layers["receiver.user"]["holds"]), (1, MESSAGES))

    # The sender stamps its call's begin at 10 µs and calls at once. Here its CPU is stopped in between.
    def stalled(self, count):
        def lie(i, segments):
            if i < count:
                segments["sender.user0"]["end_ns"] -= 9_000
                segments["sender.kernel1"]["begin_ns"] -= 9_000

        return lie

    def test_a_stall_of_the_host_excuses_few_segments(self):
        few = self.check_each(self.stalled(3))
        self.assertEqual((few["false"], few["uncheckable"]), ({}, {"a CPU stood still beside one of its ends": 3}))
        many = self.check_each(self.stalled(4))
        self.assertEqual(many["layers"]["sender.kernel"]["false"], 4)
        self.assertFalse(many["good"])

    # The receiver's call ends at 100 µs by perf. icepath sees that only after an interrupt.
    def interrupted_as_its_call_ends(self, more):
        def lie(i, segments):
            zero = segments["sender.user0"]["begin_ns"]
            kernel, user = segments["receiver.kernel7"], segments["receiver.user8"]
            kernel["end_ns"] = zero + 106_500
            culprit = {"kind": "interrupt", "id": 9, "name": "RCU softirq"}
            path = self.path["segments"]
            path[-1:] = [
                dict(kernel, layer="interrupt", begin_ns=zero + 106_500, end_ns=zero + 108_000, culprit=culprit),
                dict(kernel, begin_ns=zero + 108_000, end_ns=zero + 109_000),
                dict(user, begin_ns=zero + 109_000),
            ]

        return self.check_each(lie, more=more)

    def test_an_interrupt_as_a_call_ends_excuses_what_icepath_saw_after_it(self):
        interrupts = [
            line(START + i * PERIOD + at, 1, RECEIVER, f"irq:softirq_{what}", "vec=9 [action=RCU]")
            for i in range(MESSAGES)
            for at, what in ((106_500, "entry"), (108_000, "exit"))
        ]
        excused = self.interrupted_as_its_call_ends(interrupts)
        self.assertEqual((excused["false"], excused["uncheckable"]), ({}, {claims.INTERRUPT: 2 * MESSAGES}))
        self.assertEqual(self.interrupted_as_its_call_ends([])["layers"]["receiver.kernel"]["false"], 2 * MESSAGES)

    def test_how_far_perf_is_before_is_learnt_for_begins_and_ends_of_calls(self):
        events = [
            trace.Event(i * PERIOD + at, 0, SENDER, name, "")
            for i in range(lag.FEW_CALLS)
            for at, name in ((0, "sys_enter"), (10_000, "sys_exit"))
        ]
        layers = (("sender.user", -5_000), ("sender.kernel", 700), ("sender.user", 10_300))
        path = [
            {"segments": [{"layer": layer, "tid": SENDER, "begin_ns": i * PERIOD + at} for layer, at in layers]}
            for i in range(lag.FEW_CALLS)
        ]
        self.assertEqual(lag.Lag().learn(events, "a cell", path), (0, 700, 300))

    def test_a_call_that_follows_another_at_once_stays_after_it(self):
        calls = ((1_000, "sys_enter"), (10_000, "sys_exit"), (10_950, "sys_enter"), (20_000, "sys_exit"))
        events = [trace.Event(ns, 0, SENDER, name, "") for ns, name in calls]
        line_of = timelines.Timelines(events, 0, 30_000, 500, -300, 800).thread(SENDER)
        own_code = [(begin, end) for begin, end, state, _ in line_of.within(5_000, 15_000) if state & timelines.USER]
        self.assertEqual(own_code, [(10_250, 11_200)])

    # Messages and requests of an attached run have no blocks.
    def test_paths_of_watched_programs_are_checked(self):
        def check(lie):
            with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
                for i in range(MESSAGES):
                    path = copy.deepcopy(true_path(i))
                    if i == 5:
                        lie(path["segments"])
                    for unknown in ("block", "flow", "seq", "back"):
                        del path[unknown]
                    ends = ({"tid": tid, "thread": NAMES[tid]} for tid in (SENDER, RECEIVER))
                    if i % 2:
                        path.update(zip(("from", "to"), ends), type="message", identity="exact", bytes=64)
                    else:
                        path.update(zip(("client", "server"), ends), type="request", nested=[])
                    file.write(json.dumps(path, separators=(",", ":")) + "\n")
                file.flush()
                return check_segments.check(file.name, iter(recording()), None, 1000)

        result = check(lambda segments: None)
        self.assertEqual((self.false(result), result["segments"]["holds"]), ([], 9 * MESSAGES))
        self.assertEqual(result["conservation"]["adds up"], 4)
        wrong = check(lambda segments: segments[4].update(layer="blocked"))["worst"]
        self.assertEqual(
            [(one["cell"], one["seq"], one["layer"]) for one in wrong if one["what"] == "segment"],
            [("message the sender → receiver", f"{SENDER}:{START + 5 * PERIOD}", "blocked")],
        )

    # perf sees the receiver switched in at 60 µs, and then nothing on its CPU up to 70 µs.
    def test_a_segment_that_only_a_stall_makes_is_excused_as_one(self):
        def late(begin_ns, end_ns):
            def lie(segments):
                zero = segments["sender.user0"]["begin_ns"]
                segments["runqueue4"].update(begin_ns=zero + begin_ns, end_ns=zero + end_ns)

            return self.check(lie)

        in_the_stall, after_it = late(62_000, 69_000), late(82_000, 99_000)
        self.assertEqual(self.false(in_the_stall), [])
        self.assertEqual(in_the_stall["layers"]["runqueue"]["uncheckable"], 1)
        self.assertEqual(in_the_stall["false"], {"culprit , of any cell": 1})  # more than one in a thousand
        self.assertEqual(sorted(self.false(after_it)), [("culprit", "runqueue"), ("segment", "runqueue")])

    # The second part of the wake-up begins as its CPU is no longer idle, and perf has another waking near by.
    def test_how_far_perf_is_before_is_learnt_for_each_block(self):
        learnt = lag.Lag()
        for ns, messages in ((500, 200), (1700, 200), (900, 10)):
            events = [
                trace.Event(
                    i * PERIOD + near,
                    0,
                    SENDER,
                    "sched_waking",
                    f"comm=receiver pid={RECEIVER} prio=120 target_cpu=001",
                )
                for i in range(messages)
                for near in (0, 5000)
            ]
            path = [
                {
                    "send_ns": 0,
                    "segments": [
                        {"layer": layer, "part": part, "tid": RECEIVER, "begin_ns": i * PERIOD + begin}
                        for layer, part, begin in (
                            ("network", "notify", -1000),
                            ("wakeup", "idle_exit", ns),
                            ("wakeup", "", 2900),
                        )
                    ],
                }
                for i in range(messages)
            ]
            learnt.learn(events, "a cell", path)
        self.assertEqual(learnt.by_block, [500, 1700, 1700])

    def test_a_wrong_waker_is_found(self):
        def blocked_by(culprit):
            return self.check(lambda segments: segments["wakeup3"].update(layer="blocked", culprit=culprit))

        self.assertEqual(self.false(blocked_by({"kind": "task", "id": SENDER, "name": "sender"})), [])
        for wrong in (
            {"kind": "task", "id": HOG, "name": "hog"},
            {"kind": "interrupt", "id": 1, "name": "TIMER softirq"},
        ):
            self.assertEqual(self.false(blocked_by(wrong)), [("culprit", "blocked")])

    def test_a_boundary_that_is_ten_microseconds_off_is_found(self):
        def lie(segments):
            segments["wakeup3"]["end_ns"] += 10_000
            segments["runqueue4"]["begin_ns"] += 10_000

        self.assertEqual(self.false(self.check(lie)), [("segment", "wakeup")])

    def test_a_waking_that_never_was_is_found(self):
        def lie(segments):
            segments["sender.kernel/notify2"]["end_ns"] -= 1_500
            segments["wakeup3"]["begin_ns"] -= 1_500

        self.assertIn(("segment", "sender.kernel/notify"), self.false(self.check(lie)))

    def test_a_wrong_culprit_is_found(self):
        timer = {"kind": "interrupt", "id": 236, "name": "timer interrupt"}
        for wrong in (
            {"kind": "task", "id": SENDER, "name": "sender"},
            timer,
            {"kind": "idle_cpu", "id": 0, "name": "idle CPU"},
        ):
            result = self.check(lambda segments: segments["runqueue4"].update(culprit=wrong))
            self.assertEqual(result["culprits"]["false"], 1, wrong)
            self.assertFalse(result["good"])

    def test_a_wrong_interrupt_is_found(self):
        result = self.check(lambda segments: segments["interrupt6"]["culprit"].update(name="NET_RX softirq"))
        self.assertEqual(self.false(result), [("segment", "interrupt")])

    def test_who_had_the_cpu_is_asked_where_the_thread_waited(self):
        result = self.check(moved=MESSAGES // 2)
        self.assertEqual(self.false(result), [])
        self.assertEqual(result["culprits"], {"holds": MESSAGES})
        wrong = {"kind": "task", "id": SENDER, "name": "sender"}
        result = self.check(lambda segments: segments["runqueue4"].update(culprit=wrong), moved=MESSAGES // 2)
        self.assertEqual(result["culprits"]["holds"], MESSAGES - 1)

    def test_an_interrupt_on_top_of_a_softirq_has_its_time(self):
        softirq = {"kind": "interrupt", "id": 9, "name": "RCU softirq"}

        def shares(_, segments):
            hog, timer = segments["runqueue4"]["shares"]
            segments["runqueue4"]["shares"] = [dict(hog, ns=25_000), timer, dict(softirq, ns=3_000)]

        more = [
            line(START + i * PERIOD + at, 1, HOG, f"irq:softirq_{what}", "vec=9 [action=RCU]")
            for i in range(MESSAGES)
            for at, what in ((33_000, "entry"), (38_000, "exit"))
        ]
        result = self.check_each(shares, more=more)
        self.assertEqual(
            {(row["who"], row["agrees"]) for row in result["culprit_sums"]},
            {(f"task {HOG}", "yes"), ("timer interrupt", "yes"), ("RCU softirq", "yes")},
        )

    def test_an_interrupt_whose_end_was_hidden_is_over_with_the_next_switch(self):
        unended = line(START + 3 * PERIOD - 30_000, 1, 0, "irq:softirq_entry", "vec=9 [action=RCU]")
        result = self.check(more=[unended])
        self.assertEqual(self.false(result), [])
        self.assertEqual(result["culprits"], {"holds": MESSAGES})
        self.assertNotIn("RCU softirq", {row["who"] for row in result["culprit_sums"]})

    def test_time_without_a_culprit_is_found_where_perf_knows_it(self):
        def nobody_for(ns):
            def change(_, segments):
                known = {"kind": "task", "id": HOG, "name": "hog", "ns": 30_000 - ns}
                segments["runqueue4"]["shares"] = [known, {"kind": "unknown", "id": 0, "name": "unknown", "ns": ns}]

            return self.check_each(change)

        result = nobody_for(400)
        self.assertEqual({row["who"]: row["agrees"] for row in result["culprit_sums"]}["?"], "no")
        self.assertFalse(result["good"])
        self.assertNotIn("?", {row["who"] for row in nobody_for(200)["culprit_sums"]})

    def test_shares_that_add_up_to_something_else_are_found(self):
        def lie(segments):
            segments["runqueue4"]["shares"] = [
                {"kind": "interrupt", "id": 236, "name": "timer interrupt", "ns": 90_000}
            ]

        result = self.check(lie)
        self.assertIn("no", {row["agrees"] for row in result["culprit_sums"]})
        self.assertFalse(result["good"])

    def test_bounds_excuse_only_what_lies_within_them(self):
        def lie(segments):
            segments["wakeup3"].update(
                end_ns=segments["wakeup3"]["end_ns"] + 10_000,
                known="inferred",
                end_bounds_ns=[segments["wakeup3"]["begin_ns"] + 9_000, segments["wakeup3"]["end_ns"] + 10_000],
            )
            segments["runqueue4"].update(
                begin_ns=segments["wakeup3"]["end_ns"], begin_bounds_ns=segments["wakeup3"]["end_bounds_ns"]
            )

        result = self.check(lie)
        self.assertEqual(self.false(result), [])
        self.assertEqual(result["layers"]["wakeup"]["by bounds"], 1)

    def test_what_perf_did_not_see_is_uncheckable_and_not_true(self):
        result = self.check(with_receivers_switch_in=False)
        self.assertEqual(self.false(result), [])
        self.assertEqual(result["layers"]["receiver.kernel"]["uncheckable"], MESSAGES)
        self.assertEqual(result["perf"]["switches_hidden_from_it"], {1: MESSAGES + 1})

    def test_where_perf_lost_events_nothing_is_checked(self):
        at = START + 3 * PERIOD + 15_000
        lost = f"            perf     1 [001]  {at // 1000000000}.{at % 1000000000:09}: PERF_RECORD_LOST lost 17\n"
        result = self.check(more=[lost])
        self.assertEqual(result["perf"]["lost"], 17)
        self.assertEqual(result["uncheckable"], {"perf lost events of that time": 9})
        self.assertEqual(result["segments"]["checked"], 9 * (MESSAGES - 1))


if __name__ == "__main__":
    unittest.main()
