#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `icepath run` exits with for gates: gates.sh SOURCE ICEPATH. What is missing never passes: a daemon that isn't
# there, a plug-in of an older ABI, a cell of another name, an empty file of gates, one with a typo, a run that was
# interrupted. Prints each case; 0 if all exit as they should.
set -u
source=$(cd "$1" && pwd) icepath=$2
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder" || exit 1
failed=0

gate() { printf '[[gate]]\ncells = "%s"\nexpect = "%s"\n' "$1" "$2"; }

case_of() { # NAME CODE TEXT command...: exits with that code and says that
	"${@:4}" >said 2>&1 </dev/null
	status=$?
	if [ $status -eq "$2" ] && grep -qF -- "$3" said; then
		echo "ok: $1"
	else
		echo "FAILED: $1: exit code $status, not $2, or it doesn't say: $3"
		tail -n 20 said
		failed=1
	fi
}

pipe=(run -q -t pipe -s 64 --patterns pingpong)

gate 'pipe *' 'lost == 0' >met
case_of 'met' 0 '1 met' "$icepath" "${pipe[@]}" -d 3 --gate met -o out
gate 'pipe *' 'max < 1ns' >missed
case_of 'missed' 1 '1 missed' "$icepath" "${pipe[@]}" -d 3 --gate missed
case_of 'told by the stored run' 1 '1 missed' "$icepath" report out --gate missed

# Before anything is measured.
gate 'pipe *' 'losst == 0' >typo
gate 'pip *' 'lost == 0' >renamed
: >empty
case_of 'a typo' 2 'must begin with a figure' "$icepath" "${pipe[@]}" -d 60 --gate typo -o never
case_of 'a cell of another name' 2 'no cell of this run has a key like' \
	"$icepath" "${pipe[@]}" -d 60 --gate renamed -o never
case_of 'an empty file' 2 'it has no gate' "$icepath" "${pipe[@]}" -d 60 --gate empty -o never
case_of 'no file' 2 "can't be opened" "$icepath" "${pipe[@]}" -d 60 --gate nowhere -o never
case_of 'two builds' 2 'icepath compare' "$icepath" "${pipe[@]}" -d 60 --expect 'p50 slower < 3%' -o never
[ ! -e never ] || { echo "FAILED: it measured before it refused"; failed=1; }

# A plug-in that was built for an interface which this icepath doesn't speak.
mkdir plugins
printf '%s\n' '#include "icepath/plugin.h"' 'static struct icepath_plugin older;' \
	'const struct icepath_plugin *icepath_plugin_get(void)' \
	'{ older.size = sizeof older; older.abi = 8; older.name = "older"; return &older; }' >older.c
c++ -x c -shared -fPIC -I "$source/include" -o plugins/icepath-older.so older.c || failed=1
older=(env "ICEPATH_PLUGIN_PATH=$(dirname "$icepath")/../lib/icepath:$folder/plugins")
case_of 'a plug-in of an older ABI' 2 'unknown target "older": icepath-older.so was built for plug-in interface 8.0' \
	"${older[@]}" "$icepath" run -q -t pipe,older -s 64 --patterns pingpong -d 3 --expect 'lost == 0'

# A library whose daemon isn't there, beside a cell that is met.
broker=$(PATH=$PATH:/usr/sbin command -v mosquitto)
if [ -n "$broker" ] && "$icepath" list --json | grep -q '"mqtt/qos0"'; then
	unshare --mount sh -c 'mount --bind /dev/null "$1" && shift && exec "$@"' sh "$broker" \
		"$icepath" run -q -t pipe,mqtt/qos0 -s 64 --patterns pingpong -d 5 --expect 'lost == 0' >said 2>&1 </dev/null
	status=$?
	case $status in
	2 | 4) echo "ok: a daemon that isn't there: $status" ;;
	*) echo "FAILED: a daemon that isn't there: exit code $status"; tail -n 20 said; failed=1 ;;
	esac
else
	echo "not tried: a daemon that isn't there, as the adapter for MQTT isn't built"
fi

# Interrupted, and what is stored of that.
"$icepath" "${pipe[@]}" -d 60 --gate met -o interrupted >said 2>&1 </dev/null &
running=$!
for _ in $(seq 300); do
	[ -s interrupted/capture.icp.partial ] && break
	sleep 0.1
done
sleep 1
kill -INT $running
wait $running
[ $? -eq 130 ] || { echo "FAILED: an interrupted run isn't 130"; tail -n 20 said; failed=1; }
case_of 'a run that was interrupted' 4 "the run isn't whole" "$icepath" report interrupted --gate met
exit $failed
