#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes for 10 ms four times a second: a culprit for a report to name. Pin it (taskset -c 1)."""
import time

while True:
    time.sleep(0.25)
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        pass
