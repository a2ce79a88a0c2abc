# SPDX-License-Identifier: Apache-2.0
"""Which tests tests/touched.py takes for those that a change touches, in a small tree of its own."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Two libraries and a plug-in; a program for each, one of which is of the machine, and one of both; a script that runs a
# program; and a plug-in with a program that tests it.
TREE = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES C)
enable_testing()
include_directories(${CMAKE_SOURCE_DIR})
add_subdirectory(near)
add_subdirectory(far)
add_library(plugin MODULE plugin.c)
add_library(icepath-tiny MODULE tiny.c)
set_target_properties(icepath-tiny PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/icepath)
add_executable(tester loads_test.c)
add_test(NAME conformance.tiny COMMAND tester)
set_tests_properties(conformance.tiny PROPERTIES ENVIRONMENT ICEPATH_CONFORMANCE_PLUGIN=tiny COST 100)
set(programs $<TARGET_FILE:plugin> "$<TARGET_FILE:icepath-tiny>\\t$<TARGET_FILE:tester>" $<TARGET_FILE:tester>)
foreach(name wide near far loads machine)
  add_executable(${name}_test ${name}_test.c)
  add_test(NAME ${name} COMMAND ${name}_test)
  if(NOT name STREQUAL machine)
    list(APPEND programs $<TARGET_FILE:${name}_test>)
  endif()
endforeach()
target_link_libraries(near_test near)
target_link_libraries(wide_test near far)
target_link_libraries(machine_test near)
target_link_libraries(far_test far)
add_dependencies(loads_test plugin)
set_tests_properties(machine PROPERTIES LABELS machine)
add_test(NAME script COMMAND sh ${CMAKE_SOURCE_DIR}/script.sh $<TARGET_FILE:far_test>)
add_test(NAME house.rule COMMAND true)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/tests/programs.txt CONTENT "$<JOIN:${programs},\\n>\\n")
""",
    "near/CMakeLists.txt": "add_library(near STATIC near.c)\n",
    "near/near.c": '#include "near/near.h"\nint near(void) { return NEAR; }\n',
    "near/near.h": "#define NEAR 0\nint near(void);\n",
    "far/CMakeLists.txt": "add_library(far STATIC far.c)\n",
    "far/far.c": "int far(void) { return 0; }\n",
    "plugin.c": "int plugin;\n",
    "tiny.c": "int tiny;\n",
    "near_test.c": '#include "near/near.h"\nint main(void) { return near(); }\n',
    "wide_test.c": '#include "near/near.h"\nint far(void);\nint main(void) { return near() + far(); }\n',
    "machine_test.c": '#include "near/near.h"\nint main(void) { return near(); }\n',
    "far_test.c": "int far(void);\nint main(void) { return far(); }\n",
    "loads_test.c": "int main(void) { return 0; }\n",
    "script.sh": '"$1"\n',
    "README.md": "\n",
    ".gitignore": "/build\n",
}


class Touched(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="icepath-touched ")
        cls.addClassCleanup(folder.cleanup)
        cls.tree = pathlib.Path(folder.name)
        for name, text in TREE.items():
            cls.write(name, text)
        (cls.tree / "tests").mkdir()
        for name in ("run.py", "touched.py"):
            shutil.copy(SOURCE / "tests" / name, cls.tree / "tests")
        cls.call("git", "init", "-q")
        cls.commit()
        cls.call("git", "tag", "first")
        cls.call("cmake", "-S", ".", "-B", "build", "-G", "Ninja")

    def setUp(self):
        self.call("git", "reset", "-q", "--hard", "first")
        self.call("ninja", "-C", "build")

    @classmethod
    def write(cls, name, text):
        (cls.tree / name).parent.mkdir(exist_ok=True)
        (cls.tree / name).write_text(text)

    @classmethod
    def call(cls, *command):
        result = subprocess.run(
            command, cwd=cls.tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if result.returncode != 0:
            raise RuntimeError(result.stdout)

    @classmethod
    def commit(cls):
        cls.call("git", "add", ".")
        cls.call("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "A change")

    def run_touched(self, commits="HEAD..HEAD", seconds="1000"):
        """What it printed, and the names of the tests that it ran."""
        result = subprocess.run(
            ["tests/touched.py", "build", commits, seconds],
            cwd=self.tree,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        self.status = result.returncode
        lines = [line.split() for line in result.stdout.splitlines() if "Test #" in line]
        return result.stdout, sorted({line[line.index("Test") + 2] for line in lines})

    def test_a_header_touches_the_programs_that_have_it(self):
        self.write("near/near.h", TREE["near/near.h"] + "\n")
        output, ran = self.run_touched()
        self.assertEqual(ran, ["house.rule", "near", "wide"])
        self.assertIn("\nleft out of the machine (make test-machine): 1 tests\n", output)
        self.assertEqual(output.splitlines()[-1], "tests: 3, passed: 3, failed: 0, skipped: 0")

    def test_what_is_touched_is_built_and_fails(self):
        self.write("near/near.h", TREE["near/near.h"].replace("NEAR 0", "NEAR 1"))
        self.commit()
        output, _ = self.run_touched("HEAD~1..HEAD")
        self.assertEqual(output.splitlines()[-1], "tests: 3, passed: 1, failed: 2, skipped: 0")
        self.assertNotEqual(self.status, 0)

    def test_a_program_is_in_the_tests_whose_commands_name_it(self):
        self.write("far/far.c", TREE["far/far.c"] + "\n")
        self.assertEqual(self.run_touched()[1], ["far", "house.rule", "script", "wide"])

    def test_a_script_touches_its_test(self):
        self.write("script.sh", TREE["script.sh"] + "\n")
        self.assertEqual(self.run_touched()[1], ["house.rule", "script"])

    def test_a_plug_in_touches_what_loads_it(self):
        self.write("plugin.c", "int plugin, more;\n")
        self.assertEqual(self.run_touched()[1], ["house.rule", "loads"])

    def test_a_folder_that_is_compiled_otherwise_is_touched(self):
        self.write("far/CMakeLists.txt", TREE["far/CMakeLists.txt"] + "\n")
        self.assertEqual(self.run_touched()[1], ["far", "house.rule", "script", "wide"])

    def test_a_document_touches_no_program(self):
        self.write("README.md", "More.\n")
        self.assertEqual(self.run_touched()[1], ["house.rule"])

    def test_a_plug_in_is_built_with_what_tests_it(self):
        self.write("tiny.c", "int tiny, more;\n")
        (self.tree / "build/tester").unlink()
        self.assertEqual(self.run_touched()[1], ["conformance.tiny", "house.rule"])

    def test_a_plug_in_is_not_touched_by_what_tests_it(self):
        self.write("loads_test.c", TREE["loads_test.c"] + "\n")
        output, ran = self.run_touched()
        self.assertEqual(ran, ["house.rule", "loads"])
        self.assertIn("\nleft out of plug-ins that aren't touched: 1 tests\n", output)

    def run_hurried(self, commits="HEAD..HEAD", programs=1):
        """With time for so many programs, and for one test."""
        script = (self.tree / "tests/touched.py").read_text()
        script = script.replace("AT_ONCE = 4\n", f"AT_ONCE = {programs}\n").replace("AT_ONCE = 400\n", "AT_ONCE = 1\n")
        (self.tree / "tests/touched.py").write_text(script)
        return self.run_touched(commits, "0")

    def test_the_latest_commit_comes_first_and_what_is_left_out_is_named(self):
        self.write("far/far.c", TREE["far/far.c"] + "\n")
        self.commit()
        self.write("near/near.c", TREE["near/near.c"] + "\n")
        self.commit()
        self.call("git", "tag", "-f", "both")
        output, ran = self.run_hurried("first..both")
        self.assertEqual(ran, ["house.rule"])
        self.assertIn("\nnot built for want of time: far_test, wide_test\n", output)
        self.assertIn("\nleft out for want of time: 4 tests\n", output)
        self.assertRegex(output, r"\n    .*\bnear\b.*\n")

    def test_of_what_is_not_committed_the_latest_edit_comes_first(self):
        for name, seconds in (("near/near.c", 2000), ("far/far.c", 1000)):
            self.write(name, TREE[name] + "\n")
            os.utime(self.tree / name, (seconds, seconds))
        self.assertIn("\nnot built for want of time: far_test, wide_test\n", self.run_hurried()[0])

    def test_each_files_nearest_comes_before_the_second_of_the_latest(self):
        for name in ("far/far.c", "near/near.c"):
            self.write(name, TREE[name] + "\n")
        self.assertIn("\nnot built for want of time: wide_test\n", self.run_hurried(programs=2)[0])

    def test_the_nearest_program_comes_first(self):
        self.write("near/near.c", TREE["near/near.c"] + "\n")
        self.assertIn("\nnot built for want of time: wide_test\n", self.run_hurried()[0])


if __name__ == "__main__":
    unittest.main()
