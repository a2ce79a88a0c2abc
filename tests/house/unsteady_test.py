# SPDX-License-Identifier: Apache-2.0
"""What tests/run.py makes of tests that fail: once, twice, as tests of the machine and as others. What .ci/run says."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Fails as many times as its first argument says, and says which time it is.
SCRIPT = """#!/bin/sh
echo >>"$2"
time=$(wc -l <"$2")
echo "time $time of $2"
[ "$time" -gt "$1" ]
"""


class Unsteady(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="icepath-unsteady-")
        self.addCleanup(self.folder.cleanup)
        self.path("fails").write_text(SCRIPT)
        self.path("fails").chmod(0o755)
        self.tests = ""

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def add(self, name, fails, labels="machine"):
        """A test that fails `fails` times before it passes."""
        self.tests += f'add_test("{name}" "{self.folder.name}/fails" {fails} "runs-{len(self.tests)}")\n'
        self.tests += f'set_tests_properties("{name}" PROPERTIES LABELS "{labels}" SKIP_RETURN_CODE 77)\n'

    def run_tests(self, *options):
        """Exit status and output of tests/run.py, and what is in unsteady.txt."""
        self.path("CTestTestfile.cmake").write_text(self.tests)
        result = subprocess.run(
            [sys.executable, SOURCE / "tests/run.py", self.folder.name, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        return result.returncode, result.stdout, self.path("unsteady.txt").read_text()

    def last_line(self, output):
        return output.splitlines()[-1]

    def test_what_passes_is_not_unsteady(self):
        self.add("Quiet.Test", 0)
        self.add("Unit.Test", 0, "")
        status, output, unsteady = self.run_tests()
        self.assertEqual((status, unsteady), (0, ""))
        self.assertEqual(self.last_line(output), "tests: 2, passed: 2, failed: 0, skipped: 0")

    def test_one_that_fails_on_its_first_run_only_passes_and_is_named(self):
        self.add("Every/Noise.OfThe(Machine)+/a_1", 1)
        self.add("Quiet.Test", 0)
        status, output, unsteady = self.run_tests()
        self.assertEqual(status, 0, output)
        self.assertEqual(self.last_line(output), "tests: 2, passed: 2, failed: 0, skipped: 0, unsteady: 1")
        self.assertRegex(output, r"\nunsteady: Every/Noise\.OfThe\(Machine\)\+/a_1 \(.*/unsteady\.txt\)\n")
        # What it said at first, not what it said when it passed.
        self.assertRegex(unsteady, r"^Every/Noise\.OfThe\(Machine\)\+/a_1\n    time 1 of ")
        self.assertRegex(output, r"\nunsteady, failed at first: Every/Noise.*\n    time 1 of ")
        self.assertEqual((output + unsteady).count("time 2"), 0)

    def test_one_that_fails_twice_has_failed(self):
        self.add("Broken.Test", 2)
        self.add("Noise.Test", 1)
        status, output, unsteady = self.run_tests()
        self.assertNotEqual(status, 0)
        self.assertEqual(self.last_line(output), "tests: 2, passed: 1, failed: 1, skipped: 0, unsteady: 1")
        self.assertIn("\nfailed: Broken.Test\n\nunsteady: Noise.Test (", output)
        self.assertNotIn("Broken.Test", unsteady)

    def test_others_are_not_run_again(self):
        self.add("Unit.Test", 1, "machinery")
        status, output, unsteady = self.run_tests()
        self.assertNotEqual(status, 0)
        self.assertEqual(unsteady, "")
        self.assertEqual(self.last_line(output), "tests: 1, passed: 0, failed: 1, skipped: 0")

    # What GoogleTest prints of a test whose suite's beginning failed.
    def test_one_that_is_skipped_after_a_failure_has_failed(self):
        self.path("says").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        self.path("says").chmod(0o755)
        for name, lines in (("Quiet", '"a.cc:9: Skipped" "needs root"'), ("Broken", '"a.cc:9: Failure" "no plug-in"')):
            self.tests += f'add_test("{name}" "{self.folder.name}/says" {lines} "[  SKIPPED ] {name}")\n'
            self.tests += f'set_tests_properties("{name}" PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")\n'
        status, output, _ = self.run_tests()
        self.assertNotEqual(status, 0)
        self.assertEqual(self.last_line(output), "tests: 2, passed: 0, failed: 1, skipped: 1")
        self.assertIn("\nskipped (1): needs root\n    Quiet\n", output)

    def test_three_pass_and_four_fail_the_run(self):
        for number in range(3):
            self.add(f"Noise.{number}", 1)
        status, output, _ = self.run_tests()
        self.assertEqual(status, 0, output)
        self.setUp()
        for number in range(4):
            self.add(f"Noise.{number}", 1)
        status, output, unsteady = self.run_tests()
        self.assertNotEqual(status, 0)
        self.assertEqual(self.last_line(output), "tests: 4, passed: 4, failed: 0, skipped: 0, unsteady: 4")
        self.assertRegex(output, r"\nunsteady: Noise\.0, .*, more than 3: that fails the run\n")
        self.assertEqual(unsteady.count("time 1"), 4)

    def test_many_that_fail_are_not_run_again(self):
        for number in range(11):
            self.add(f"Broken.{number}", 1)
        status, output, unsteady = self.run_tests()
        self.assertNotEqual(status, 0)
        self.assertEqual(unsteady, "")
        self.assertEqual(self.last_line(output), "tests: 11, passed: 0, failed: 11, skipped: 0")

    def test_the_list_is_of_the_last_run(self):
        self.add("Noise.Test", 1)
        self.assertNotEqual(self.run_tests()[2], "")
        self.assertEqual(self.run_tests()[2], "")

    def test_one_that_is_skipped_or_has_no_program_has_not_passed(self):
        self.tests += 'add_test("Absent.Program" "/nonexistent/program")\n'
        self.tests += 'set_tests_properties("Absent.Program" PROPERTIES LABELS machine)\n'
        self.tests += 'add_test("Skipped.Test" "sh" "-c" "echo skipped: no reason at all; exit 77")\n'
        self.tests += 'set_tests_properties("Skipped.Test" PROPERTIES LABELS machine SKIP_RETURN_CODE 77)\n'
        status, output, unsteady = self.run_tests()
        self.assertNotEqual(status, 0)
        self.assertEqual(unsteady, "")
        self.assertIn("\nskipped (1): no reason at all\n    Skipped.Test\n", output)
        self.assertEqual(self.last_line(output), "tests: 2, passed: 0, failed: 1, skipped: 1")


# Stands for make: `make test` says what its argument says.
MAKE = """#!/bin/sh
[ "$*" != test ] || printf '%b' '{}'
"""


class ContinuousIntegration(unittest.TestCase):
    def end_of_run(self, said):
        """The last lines of .ci/run, where `make test` said that."""
        with tempfile.TemporaryDirectory(prefix="icepath-ci-") as name:
            folder = pathlib.Path(name)
            shutil.copytree(SOURCE / ".ci", folder / ".ci")
            (folder / "make").write_text(MAKE.format(said))
            (folder / "make").chmod(0o755)
            environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
            output = subprocess.run(
                ["bash", folder / ".ci/run"], stdout=subprocess.PIPE, env=environment, text=True, check=False
            ).stdout
        return output.splitlines()[-5:]

    def test_the_unsteady_are_named_above_the_count(self):
        lines = self.end_of_run(
            r"\nunsteady: A.B, C.D (build/unsteady.txt)\n\ntests: 9, passed: 7, failed: 0, skipped: 2, unsteady: 2\n"
        )
        self.assertRegex(lines[0], r"^test +\d+ s  ok  tests: 9, passed: 7, failed: 0, skipped: 2, unsteady: 2$")
        self.assertRegex(lines[1], r"^all +\d+ s$")
        self.assertEqual(lines[2:], ["unsteady: A.B, C.D (build/unsteady.txt)", "", "7 passed, 0 failed, 2 skipped"])

    def test_without_any_there_is_no_such_line(self):
        lines = self.end_of_run(r"\ntests: 9, passed: 7, failed: 0, skipped: 2\n")
        self.assertRegex(lines[2], r"^all +\d+ s$")
        self.assertEqual(lines[3:], ["", "7 passed, 0 failed, 2 skipped"])


if __name__ == "__main__":
    unittest.main()
