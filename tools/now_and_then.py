#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes for so many µs every so many µs, by default for 10 ms four times a second: a culprit for a report to name.

    taskset -c 1 python3 tools/now_and_then.py [COMPUTE_US EVERY_US]
"""
import sys
import time

compute_s, every_s = (int(text) / 1e6 for text in sys.argv[1:3]) if len(sys.argv) == 3 else (0.01, 0.26)

while True:
    time.sleep(every_s - compute_s)
    end = time.monotonic() + compute_s
    while time.monotonic() < end:
        pass
