#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every test of a build folder, or those that options of ctest choose, and closes with a count that names what was
# skipped and why: tests/run.sh BUILD [OPTION…]
set -u
build=$1
shift
report=$(cd "$build" && pwd)/tests.xml

# Tests of the whole need root, as icepath itself does for its probes; without sudo they are skipped and say so.
as_root=
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
	as_root="sudo --preserve-env=CI"
fi
owner=$(id -u):$(id -g)
# Interrupted or not, what sudo made is given back.
trap : INT

# Four for each CPU, as those of middleware sleep most of the time; what polls counts for three (PROCESSORS).
$as_root ctest --test-dir "$build" --output-on-failure --no-tests=error --output-junit "$report" \
	-j "${JOBS:-$((4 * $(nproc)))}" "$@" </dev/null
status=$?
[ -z "$as_root" ] || $as_root chown -R "$owner" "$build"

[ -f "$report" ] || exit 1
# What failed is said once more, by the last of its lines: a log of thousands of lines is cut somewhere.
awk -v most=25 '
	function attribute(name,    at) {
		at = match($0, " " name "=\"[^\"]*\"")
		return at ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : ""
	}
	function plain(text)
	{
		sub(/^.*<system-out>/, "", text); sub(/<\/system-out>.*/, "", text)
		gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "\047", text)
		gsub(/&amp;/, "\\&", text)
		return text
	}
	/<testsuite/ { sub(/.*<testsuite/, "<testsuite") }
	/<testcase / {
		test = attribute("name"); sub(/ *# GetParam.*/, "", test)
		state = attribute("status"); count[state]++; total++; reason = ""; take = 0; lines = 0
	}
	# A test whose program is missing is "notrun" as well.
	/<skipped message="/ && !/message="SKIP_/ { count["notrun"]--; count["fail"]++; state = "fail" }
	# GoogleTest prints the reason in the line after "file:line: Skipped"; a script prints "skipped: reason".
	take { reason = reason (reason == "" ? "" : " ") $0; take = 0 }
	/: Skipped$/ { take = 1 }
	sub(/^(.*<system-out>)?skipped: /, "") { reason = $0; sub(/<\/system-out>/, "", reason) }
	/<\/testcase>/ && state == "notrun" {
		if (reason == "") reason = "no reason given"
		reason = plain(reason)
		skipped[reason] = skipped[reason] "\n    " test; times[reason]++
	}
	state == "fail" && !/^[ \t]*<\/?(testcase|failure|propert|system-err)/ { said[lines++ % most] = plain($0) }
	/<\/testcase>/ && state == "fail" {
		names = names (names == "" ? "" : ", ") test
		failed = failed "\nfailed: " test "\n"
		for (i = lines > most ? lines - most : 0; i < lines; i++) failed = failed "    " said[i % most] "\n"
	}
	END {
		printf "%s", failed
		for (reason in skipped) printf "\nskipped (%d): %s%s\n", times[reason], reason, skipped[reason]
		if (names != "")
			printf "\nfailed: %s\n", names
		printf "\ntests: %d, passed: %d, failed: %d, skipped: %d\n", total, count["run"], count["fail"],
			count["notrun"] + count["disabled"]
	}
' "$report"
exit $status
