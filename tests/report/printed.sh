#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Either all of icepath's output arrives, or icepath fails and says why: printed.sh ICEPATH SMALL_RUN
set -u
icepath=$1 small_run=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# check NAME "WORDS" EXIT "PATTERN": the exit code and complaint of the last command.
check() {
	[ "$3" -eq "$status" ] || { echo "$1: $2 ended with $status instead of $3"; failed=1; }
	[ "$(wc -l <"$folder/err")" -eq 1 ] ||
		{ echo "$1: $2 didn't complain in one line: $(cat "$folder/err")"; failed=1; }
	grep -q "$4" "$folder/err" || { echo "$1: $2 complained \"$(cat "$folder/err")\""; failed=1; }
}

"$small_run" "$folder/run" || exit 1
for words in "report $folder/run" "report --verbose $folder/run" "flamegraph --folded $folder/run" \
	"flamegraph $folder/run" "list" "list --json" "doctor" "doctor --json" "--help" "run --help" "--version"; do
	status=0
	"$icepath" $words >/dev/full 2>"$folder/err" || status=$?
	check full "$words" 3 "the output can't be written: No space left on device"
	status=0
	"$icepath" $words >&- 2>"$folder/err" || status=$?
	check closed "$words" 3 "the output can't be written: Bad file descriptor"
done

status=0
"$icepath" report "$folder/run" >"$folder/report" 2>"$folder/err" || status=$?
[ $status -eq 0 ] && [ ! -s "$folder/err" ] && tail -n 1 "$folder/report" | grep -q '^more ' ||
	{ echo "a report to a file ended with $status"; failed=1; }

# Where no terminal says how wide it is, COLUMNS does; nonsense doesn't.
widest() { # COLUMNS
	COLUMNS=$1 LC_ALL=C.UTF-8 "$icepath" report "$folder/run" | python3 -c '
import sys
print(max(len(line) for line in sys.stdin.buffer.read().decode().splitlines()))'
}
[ "$(widest 70)" -le 70 ] && [ "$(widest 160)" -gt 100 ] && [ "$(widest 160)" -le 160 ] &&
	[ "$(widest 3)" = "$(widest 100)" ] && [ "$(widest many)" = "$(widest 100)" ] ||
	{ echo "COLUMNS: lines of $(widest 70), $(widest 160), $(widest 3), $(widest many), $(widest 100)"; failed=1; }

# Of what the run lacks the exit code is 4, and of what nobody has it is 2.
lacks() {
	status=0
	"$icepath" explain "$folder/run" $2 >"$folder/out" 2>"$folder/err" || status=$?
	check lacks "explain $2" "$1" "$3"
}
lacks 4 --stacks "no functions were sampled: record them with .icepath run --stacks."
lacks 4 "--message 0:5" "these cells have no blocks with probes in that round"
lacks 2 "--message 1:99999999" "the round has no such message"
lacks 2 "--cell nowhere" "no cell has \"nowhere\" in its title: .icepath report -v RUN. has their titles"
lacks 2 "--cell nowhere --against oneway" "no cell has \"nowhere\" in its title"

# What the run can't answer isn't answered: its blocks are of too few processes.
status=0
"$icepath" explain "$folder/run" --cell pingpong --against oneway >"$folder/refusal" 2>"$folder/err" || status=$?
[ $status -eq 4 ] && [ ! -s "$folder/err" ] && grep -q '^refused .*openings' "$folder/refusal" ||
	{ echo "an explanation that is refused ended with $status: $(cat "$folder/refusal")"; failed=1; }
exit $failed
