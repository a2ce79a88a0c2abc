#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what `icepath export` writes for continuous integration, by the published formats alone, and compares it with
run.json: files.py ICEPATH SMALL_RUN

junit      junit-10.xsd of github.com/jenkinsci/xunit-plugin: elements, their order and attributes
markdown   a comment of GitHub holds 65,536 characters
benchmark-action   github.com/benchmark-action/github-action-benchmark, customSmallerIsBetter
bencher    https://bencher.dev/bmf.json
otava      CsvImporter of github.com/apache/otava

Their own readers: PyPI's junitparser and apache-otava.
"""
import csv
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

icepath, maker = sys.argv[1:3]
NUMBERS = {"tests", "failures", "errors", "skipped"}
# Element → attributes that it may have, those that it must have, and elements in it.
JUNIT = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        NUMBERS | {"name", "group", "time", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"},
        {"name", "tests"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        {"name", "classname", "time", "group", "file", "line", "status", "assertions"},
        {"name", "classname"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": ({"type", "message"}, set(), set()),
    "error": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}


def check(holds, what):
    if not holds:
        sys.exit(f"files.py: {what}")


def check_element(element):
    may, must, within = JUNIT[element.tag]
    names = set(element.attrib)
    check(names <= may and must <= names, f"<{element.tag}> has the attributes {sorted(names)}")
    for name in names & NUMBERS:
        check(re.fullmatch(r"[0-9]+", element.get(name)), f"{name} is {element.get(name)}")
    if "timestamp" in names:
        datetime.datetime.strptime(element.get("timestamp"), "%Y-%m-%dT%H:%M:%S")
    for child in element:
        check(child.tag in within, f"<{child.tag}> in <{element.tag}>")
        check_element(child)
    check(within or (element.text or "").strip(), f"<{element.tag}> says nothing")


def check_junit(path, cells):
    suites = ET.parse(path).getroot()
    check(suites.tag == "testsuites", "another root")
    check_element(suites)
    for one in [suites, *suites]:
        cases = list(one.iter("testcase"))
        for name, tag in ("failures", "failure"), ("errors", "error"):
            counted = sum(case.find(tag) is not None for case in cases)
            check(int(one.get(name)) == counted, f"{name} is {one.get(name)}, not {counted}")
        check(int(one.get("tests")) == len(cases), "tests are counted otherwise")
    check(not list(suites.iter("skipped")), "something is skipped")
    found = {
        (case.get("name"), next(child.tag for child in case))
        for case in suites.iter("testcase")
        if case.get("classname") in cells
    }
    expected = {("lost == 0", "system-out"), ("max < 1ns", "failure"), ("p50 < 9us", "error")}
    check(found == expected, f"cases are {found}")


def figures_of(cell):
    latency, cpu = cell["latency_ns"], cell["cpu_ns_per_message"]
    figures = {"p50": latency["p50"], "p90": latency["p90"], "p99": latency["p99"], "mean": latency["mean"]}
    figures["lost"] = cell["messages"]["lost"]
    figures["rate"] = cell["throughput"]["received_per_s"]
    check(cpu is not None, "a cell without CPU time")
    return {name: value for name, value in figures.items() if value is not None}


def check_otava(path, cells):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    check(len(rows) == 2 and len(rows[0]) == len(rows[1]), "not one row with a value for each column")
    row = dict(zip(*rows))
    check(len(row) == len(rows[0]), "two columns have one name")
    datetime.datetime.strptime(row["time"], "%Y-%m-%dT%H:%M:%SZ")
    for key, cell in cells.items():
        for name, value in figures_of(cell).items():
            check(abs(float(row[f"{key} {name}"]) - value) < 0.01, f"{key} {name} is {row[f'{key} {name}']}")


with tempfile.TemporaryDirectory() as folder:
    run = os.path.join(folder, "run")
    subprocess.run([maker, run, "12"], check=True)
    subprocess.run(
        [icepath, "export", run, "-o", folder, "-f", "junit,markdown"]
        + ["--expect", "lost == 0", "--expect", "max < 1ns", "--expect", "p50 < 9us"],
        check=True,
        capture_output=True,
    )
    subprocess.run([icepath, "export", run, "-o", folder, "-f", "benchmark-action,bencher,otava"], check=True)
    report = json.loads(
        subprocess.run([icepath, "report", "--json", run], check=True, capture_output=True, text=True).stdout
    )
    cells = {cell["key"]: cell for cell in report["cells"]}
    check(len(cells) == 2, "other cells")
    check_junit(os.path.join(folder, "junit.xml"), cells)
    with open(os.path.join(folder, "summary.md"), encoding="utf-8") as file:
        summary = file.read()
    check(len(summary) < 65536 and "missed" in summary, "the summary is too long, or says nothing")
    with open(os.path.join(folder, "benchmark-action.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        check({"name", "unit", "value"} <= set(entry) <= {"name", "unit", "value", "range", "extra"}, f"{entry}")
        check(isinstance(entry["value"], (int, float)), f"{entry}")
    named = {entry["name"]: entry["value"] for entry in entries}
    check(len(named) == len(entries), "two entries have one name")
    with open(os.path.join(folder, "bencher.json"), encoding="utf-8") as file:
        bencher = json.load(file)
    check(set(bencher) == set(cells), "Bencher has other cells")
    for key, cell in cells.items():
        for name, value in figures_of(cell).items():
            metric = bencher[key][name]
            check(abs(metric["value"] - value) < 0.01, f"{key} {name} is {metric}, not {value}")
            check(metric.get("lower_value", value) <= value <= metric.get("upper_value", value), f"{metric}")
            check(name == "rate" or abs(named[f"{key} {name}"] - value) < 0.01, f"{key} {name}")
        for name in bencher[key]:
            check(len(name) <= 64 and re.fullmatch(r"[a-z0-9-]+", name), f"{name} is no slug")
    check_otava(os.path.join(folder, "otava.csv"), cells)
print("files.py: 5 formats")
