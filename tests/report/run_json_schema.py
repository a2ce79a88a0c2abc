#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether files are what docs/run-schema.json says, by a validator of its own: run_json_schema.py ICEPATH SMALL_RUN, or
run_json_schema.py RUN.json…"""
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/run-schema.json")


def complaints(validator, told):
    return [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in validator.iter_errors(told)
    ]


def runs_of(icepath, small_run):
    """A name and what `icepath report --json` prints of each run directory: of a whole run and of one that died."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("12", "partial"):
            run = os.path.join(folder, kind)
            subprocess.run([small_run, run, kind], check=True)
            yield kind, json.loads(
                subprocess.run([icepath, "report", "--json", run], check=True, capture_output=True).stdout
            )


def files(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            yield path, json.load(file)


def main():
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    validator, failed, told = kind(schema), False, {}
    for name, told in files(sys.argv[1:]) if sys.argv[1].endswith(".json") else runs_of(*sys.argv[1:3]):
        found = complaints(validator, told)
        print("\n".join([f"{name}: {len(found)} complaints", *found[:20]]))
        failed |= bool(found)
    told["cells"][0]["unknown"] = 1
    del told["cells"][0]["layers"]
    told["schema"] = 1
    if len(complaints(validator, told)) != 3:
        print("the check of the check: a broken file has other complaints than its three")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
