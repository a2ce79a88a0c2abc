#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether plugin.h has changed only as its version says, against each released version of the same major number that
lies here as N.M/icepath/plugin.h; at a release, copy the header here: abi.py check|plants SOURCE COMPILER

abidiff compares all types. A minor version may give members to the structs of GROWING at their end, and values to
enums; then its minor number is higher. `plants` makes changes that aren't allowed, and some that are, to see that
each is judged so.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# They carry their size, or icepath alone makes them: see plugin.h.
GROWING = {"icepath_plugin", "icepath_target", "icepath_daemon", "icepath_recv", "icepath_open", "icepath_send"}
HEADER = "include/icepath/plugin.h"

# What is changed in today's header, and whether a higher minor number allows it.
PLANTS = [
    ("a member at the end of icepath_recv", r"(take_return_ns, observe_ns;)", r"\1 uint64_t more;", True),
    ("a value of icepath_mechanism", r"(ICEPATH_USES_BELL = 1u << 12,)", r"\1 ICEPATH_NEW = 1u << 13,", True),
    ("a policy", r"(\tICEPATH_QOS_POLICIES )", r"\tICEPATH_QOS_NEW, \1", True),
    ("a member within icepath_target", r"(const char \*summary;)", r"\1 uint64_t more;", False),
    ("a member at the end of icepath_address", r"(int fds\[4\];)", r"\1 int more;", False),
    ("a member at the end of icepath_qos", r"(uint64_t values\[16\];)", r"\1 uint64_t more;", False),
    ("another value", r"ICEPATH_USES_BELL = 1u << 12", "ICEPATH_USES_BELL = 1u << 13", False),
    ("no ICEPATH_WAIT_SPIN", r"\tICEPATH_WAIT_SPIN = .*\n", "", False),
    ("no give_back", r"\tint \(\*give_back\).*\n", "", False),
    ("another argument", r"\(\*cancel\)\(", "(*cancel)(int now, ", False),
    ("another type", r"uint64_t max_part_bytes", "uint32_t max_part_bytes", False),
]


def version(header):
    return tuple(int(re.search(rf"ABI_{part} (\d+)u", header)[1]) for part in ("MAJOR", "MINOR"))


def differences(older, newer, surface, compiler):
    """What abidiff says of the types of two headers that changed: {type: lines}."""
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for name, header in (("older", older), ("newer", newer)):
            os.makedirs(f"{folder}/{name}/icepath")
            with open(f"{folder}/{name}/icepath/plugin.h", "w") as file:
                file.write(header)
            objects.append(f"{folder}/{name}.so")
            command = [compiler, "-g", "-shared", "-fPIC", "-I", f"{folder}/{name}", "-o", objects[-1], surface]
            subprocess.run(command, check=True)
        command = ["abidiff", "--harmless", "--leaf-changes-only", "--redundant", "--no-show-locs", *objects]
        found = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if found.returncode & 3:
        sys.exit(f"abidiff failed: {found.stdout}")
    changed, lines = {}, None
    for line in found.stdout.splitlines():
        begins = re.match(r"'((?:struct|enum|union|typedef) \w+).*' changed:", line)
        if begins:
            lines = changed.setdefault(begins[1], [])
        elif re.match(r"\S", line):
            lines = None
            if not re.match(r"Leaf changes summary|Changed leaf types summary|Removed/Changed/Added \w+ summary: 0 "
                            r"Removed, 0 Changed, 0 Added", line):  # fmt: skip
                changed.setdefault(line, [line])
        elif lines is not None and line.strip():
            lines.append(line.strip())
    if found.returncode and not changed:
        sys.exit(f"abidiff says what isn't understood here: {found.stdout}")
    return changed


def is_growth(what, lines):
    """Whether a minor version may change that."""
    kind, name = (what.split() + [""])[:2]
    size = next((int(m[1]) for line in lines if (m := re.match(r"type size changed from (\d+) to", line))), None)
    for line in lines:
        inserted = re.match(r"'.*', at offset (\d+) \(in bits\)$", line)
        if kind == "struct" and name in GROWING and size is not None:
            if re.match(r"type size changed|\d+ data member insertions?:", line):
                continue
            if inserted and int(inserted[1]) >= size:
                continue
        if kind == "enum":
            if re.match(r"type size hasn't changed|\d+ enumerator (insertion|change)s?:|'.*' value '-?\d+'$", line):
                continue
            if re.match(r"'icepath_qos_policy::ICEPATH_QOS_POLICIES' from value ", line):
                continue
        return False
    return True


def violations(released, header, surface, compiler):
    """Sentences on what `header` may not change, with its version, of a released one."""
    (major, minor), (own_major, own_minor) = version(released), version(header)
    if major != own_major:
        return []
    changed = differences(released, header, surface, compiler)
    told = [
        f"{what} isn't as in {major}.{minor}: raise ICEPATH_PLUGIN_ABI_MAJOR\n    " + "\n    ".join(lines)
        for what, lines in changed.items()
        if not is_growth(what, lines)
    ]
    if changed and not told and own_minor <= minor:
        told.append(f"{', '.join(changed)} grew since {major}.{minor}: raise ICEPATH_PLUGIN_ABI_MINOR")
    return told


def main():
    what, source, compiler = sys.argv[1:]
    if not shutil.which("abidiff"):
        print("skipped: abidiff isn't installed")
        return 77
    here = os.path.join(source, "tests/plugin_abi")
    surface = os.path.join(here, "surface.c")
    with open(os.path.join(source, HEADER)) as file:
        today = file.read()
    released = []
    for name in sorted(os.listdir(here)):
        if re.fullmatch(r"\d+\.\d+", name):
            with open(os.path.join(here, name, "icepath/plugin.h")) as file:
                released.append(file.read())
            if name != "{}.{}".format(*version(released[-1])):
                sys.exit(f"tests/plugin_abi/{name} has a header of another version")
    if what == "check":
        told = [sentence for header in released for sentence in violations(header, today, surface, compiler)]
        print("\n".join(told) or f"plugin.h is {'.'.join(map(str, version(today)))}, and says so")
        return bool(told)
    failed = 0
    major, minor = version(today)
    later = re.sub(r"(ABI_MINOR) \d+u", rf"\1 {minor + 1}u", today)
    for name, pattern, replacement, allowed in PLANTS:
        for header, is_right in (
            (re.sub(pattern, replacement, later), allowed),
            (re.sub(pattern, replacement, today), False),
        ):
            if header in (later, today):
                sys.exit(f"{name}: plugin.h has no such line any more")
            told = violations(today, header, surface, compiler)
            right = is_right == (not told)
            failed += not right
            first = [sentence.split("\n")[0] for sentence in told]
            print(f"{'ok' if right else 'FAILED'}: {name}, {'.'.join(map(str, version(header)))}: {first or 'allowed'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
