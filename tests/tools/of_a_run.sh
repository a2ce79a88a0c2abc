#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What tools make of a run: of_a_run.sh SOURCE ICEPATH.
set -eu
source=$1 icepath=$2
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fails() { echo "$*"; exit 1; }

"$icepath" run -q -t nng/ipc -w block,epoll -s 64 --patterns pingpong --between processes -d 6 -o run >/dev/null

# One of both ways is the library's fastest.
python3 "$source/tools/ways_of_receiving.py" --icepath "$icepath" run | tee ways
for wait in block epoll; do
	grep -Eq "^nng/ipc $wait +[0-9]  sender → .* → receiver +[0-9.]+ +[0-9.]+ +(1|–|[0-9.]+ ±[0-9.]+)$" ways ||
		fails "no row of nng/ipc $wait"
done
[ "$(grep -Ec '^nng/ipc .* 1$' ways)" -eq 1 ] || fails "not one of them is the fastest"

# A line for each cell, with the layers and causes that grow where it is explained.
python3 "$source/tools/causes_table.py" --icepath "$icepath" --tail 90 run >causes
[ "$(grep -c '^nng/ipc 64 B pingpong' causes)" -eq 2 ] || fails "not a line for each cell: $(cat causes)"
grep -q '^    layer ' causes || fails "no layer: $(cat causes)"

# The layers of a cell add up to the mean of its typical messages.
python3 "$source/tools/typical_layers.py" run >layers
jq -e --slurpfile run run/run.json '.["nng/ipc 64 B pingpong block"] as $layers |
	$run[0].cells[] | select(.wait == "block") |
	($layers | add) - .typical_layers_mean_ns | fabs < ($layers | length)' layers ||
	fails "layers aren't the message: $(cat layers)"
