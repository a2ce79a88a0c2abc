#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every command that README.md and docs/usage.md show, unchanged except for its measuring time:
# documented_commands.sh SOURCE ICEPATH. Prints each with its exit code; 0 if all were 0.
set -u
source=$(cd "$1" && pwd) installed=$(cd "$(dirname "$2")/.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
PATH=$installed/bin:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder" || exit 1
cp "$source/middleware_adapters/template/template.cc" .
failed=0 count=0

# A run of the shortest time, or of the time that icepath asks for instead.
shortly() {
	command=$(echo "$1" | sed -E 's/ -d [0-9]+//')
	for duration in 2 asked; do
		[ $duration = 2 ] || duration=$(sed -n -E 's/.*give -d ([0-9]+).*/\1/p' err)
		[ -n "$duration" ] || return 2
		sh -c "$command -q -d $duration" >out 2>err </dev/null && return 0
		grep -q 'give -d' err || return 1
	done
	return 1
}

each() {
	sed -n -E 's/^ {4,6}(sudo |env )?((env [A-Z_]+=[^ ]+ )?icepath [a-z]|jq |g\+\+ )/\2/p' \
		"$source/README.md" "$source/docs/usage.md" |
		sed -E -e "s/ {3,}.*//; s/ +$//; s,RUN,run,g; s,NAME,template,g; s,-I SOURCE([^ ]*),-I '$source\1',g" \
			-e "s, -lLIBRARY,,; s,/usr/local/lib/icepath,$installed/lib/icepath," |
		sort -u
}

icepath run -q -t pipe -s 64 --patterns pingpong -d 2 -o run >/dev/null || { echo "no run to report"; exit 1; }
# tests/contrib/setup.sh gives capabilities, to a program and a group of its own.
each | grep -v '^icepath setup --caps' >commands
# Commands that others depend on come first.
{ grep -E '^g\+\+| -o ' commands; grep -v -E '^g\+\+| -o ' commands; } >ordered
while read -r command; do
	count=$((count + 1))
	case $command in
	*'icepath run'* | *'icepath selftest'*) shortly "$command" ;;
	*) sh -c "$command" >out 2>err </dev/null ;;
	esac
	status=$?
	# Such a short selftest may leave some undecided.
	case $command in *selftest*) [ $status -ne 1 ] || ! grep -q undecided out || status=0 ;; esac
	echo "$status  $command"
	[ $status -eq 0 ] || { failed=$((failed + 1)); tail -n 3 err; }
done <ordered
echo "$count commands, $failed failed"
[ $failed -eq 0 ] && [ $count -ge 15 ]
