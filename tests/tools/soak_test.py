# SPDX-License-Identifier: Apache-2.0
"""Which readings of memory a soak calls growth."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import soak  # noqa: E402


class Memory(unittest.TestCase):
    def flaws(self, readings, took_s=3600, **others):
        return soak.flaws_of_memory({"icepath": readings, **others}, took_s)[1]

    def test_a_leak_is_found(self):
        self.assertEqual(self.flaws([20000 + 10 * i for i in range(360)]), ["icepath grew from 20260 to 23420 KiB"])

    def test_what_grows_at_its_start_only_is_flat(self):
        self.assertEqual(self.flaws([5000] * 9 + [20000 + i % 100 for i in range(351)]), [])

    def test_a_step_in_mid_run_is_growth(self):
        self.assertEqual(len(self.flaws([20000] * 180 + [40000] * 180)), 1)

    def test_a_short_run_is_not_judged(self):
        leak = [20000 + 100 * i for i in range(100)]
        self.assertEqual(self.flaws(leak, took_s=20), [])
        self.assertEqual(len(self.flaws(leak, took_s=600)), 1)

    def test_a_process_that_ends_early_is_left_out(self):
        self.assertEqual(self.flaws([20000] * 360, daemon=[1000 * i for i in range(30)]), [])


if __name__ == "__main__":
    unittest.main()
