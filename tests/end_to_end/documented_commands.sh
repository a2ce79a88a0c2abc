#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every command that the pages for users show, in their order, unchanged except for its measuring time, and once if
# they differ in nothing else: documented_commands.sh SOURCE ICEPATH. Prints each with its exit code; 0 if all were 0.
# Of such short runs `explain` may refuse to say something, with a 4.
set -u
source=$(cd "$1" && pwd) installed=$(cd "$(dirname "$2")/.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
PATH=$installed/bin:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder" || exit 1
pages='README docs/tutorial docs/reading docs/measuring docs/explaining docs/formats docs/machine CONTRIBUTING'
failed=0 count=0

# A run of the shortest time, or of the time that icepath asks for instead.
shortly() {
	# One round in eight has stacks.
	case $1 in *--stacks*) shortest=8 ;; *) shortest=2 ;; esac
	for duration in $shortest asked; do
		[ $duration != asked ] || duration=$(sed -n -E 's/.*give -d ([0-9]+).*/\1/p' err)
		[ -n "$duration" ] || return 2
		sh -c "$1 -q -d $duration" >out 2>err </dev/null && return 0
		grep -q 'give -d' err || return 1
	done
	return 1
}

# What a line begins with that is a command, and neither output nor another program's.
icepath='((env [A-Z_]+=[^ ]+ )?(build\/bin\/)?icepath '
icepath="$icepath(run|report|explain|flamegraph|export|doctor|selftest|calibrate|setup|list)\\>"
each() {
	for page in $pages; do
		sed -n -E "s/^ {4,6}(\\$ )?(sudo )?($icepath|jq |g\\+\\+ |sed ))/\\3/p" "$source/$page.md"
	done | sed -E -e "s/ {3,}.*//; s/ +$//; /icepath (run|selftest)/s/ -d [0-9]+//" \
		-e "s,RUN,run,g; s,SOURCE([^ ]*),'$source\1',g; s,^build/bin/,," |
		awk '!seen[$0]++'
}

icepath run -q -t pipe -s 64 --patterns pingpong -d 2 -o run >/dev/null || { echo "no run to report"; exit 1; }
# tests/contrib/setup.sh gives capabilities, to a program and a group of its own.
each | grep -v -E '^icepath (setup --caps|gen options)' >commands
while read -r command; do
	count=$((count + 1))
	case $command in
	*'icepath run'* | *'icepath selftest'*) shortly "$command" ;;
	*) sh -c "$command" >out 2>err </dev/null ;;
	esac
	status=$?
	case $command in 'icepath explain'*) [ $status -ne 4 ] || status="0 (refused)" ;; esac
	# Such a short selftest may leave some undecided.
	case $command in *selftest*) [ "$status" != 1 ] || ! grep -q undecided out || status=0 ;; esac
	echo "$status  $command"
	[ "${status%% *}" -eq 0 ] || { failed=$((failed + 1)); tail -n 3 err; }
done <commands
echo "$count commands, $failed failed"
[ $failed -eq 0 ] && [ $count -ge 25 ]
