#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lets libFuzzer search for inputs that break the parsers of foreign bytes: tests/fuzz/run.sh BUILD SECONDS. Each target
# of BUILD/fuzz gets SECONDS on its own CPU, as many at a time as there are CPUs. Inputs that break one are kept in
# BUILD/fuzz/NAME. It starts with tests/fuzz/corpus, and with the findings of earlier calls.
set -eu
build=$(cd "$1" && pwd) seconds=$2
cd "$(dirname "$0")"

one() {
	name=$1
	mkdir -p "$build/fuzz/$name"
	# Starts a root helper.
	as=
	[ "$name" != worker_replies ] || [ "$(id -u)" -eq 0 ] || as="sudo -n"
	if $as "$build/fuzz/fuzz-$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=32768 \
		-close_fd_mask=1 -verbosity=1 -print_final_stats=1 -artifact_prefix="$build/fuzz/$name/found-" \
		"$build/fuzz/$name" "corpus/$name" >"$build/fuzz/$name.log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz/$name.log")
		covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$build/fuzz/$name.log" | tail -n 1)
		echo "fuzz $name: $runs inputs in $seconds s, $covered edges"
	else
		grep -a -E '^(==[0-9]+== ?ERROR|==[0-9]+==ERROR|SUMMARY|Test unit written|.*runtime error)' \
			"$build/fuzz/$name.log" | sed "s/^/fuzz $name: /"
		echo "fuzz $name: FAILED, see $build/fuzz/$name.log"
	fi
	[ -z "$as" ] || $as chown -R "$(id -u):$(id -g)" "$build/fuzz/$name"
}
if [ $# -gt 2 ]; then # of this script's own calls
	one "$3"
	exit
fi
found=$(ls "$build/fuzz" | sed -n 's/^fuzz-//p')
[ -n "$found" ] || { echo "no target in $build/fuzz: run make fuzz" >&2; exit 1; }
result=$(echo "$found" | xargs -P "$(nproc)" -n 1 "$PWD/run.sh" "$build" "$seconds")
echo "$result"
failed=$(echo "$result" | grep -c ': FAILED, ' || true)
total=$(echo "$found" | wc -l)
echo "tests: $total, passed: $((total - failed)), failed: $failed, skipped: 0; $seconds s for each"
[ "$failed" -eq 0 ]
