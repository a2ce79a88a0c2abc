#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The trace of a run in which messages overlap, to several receivers and through a library's threads. perfetto.sh SOURCE
# ICEPATH
set -eu
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2" run -q -t uds-stream,zeromq/ipc -s 64 --patterns oneway,fanout -d 8 -m 100 \
	-o "$folder/run" >"$folder/report"
python3 "$1/tests/report/perfetto_trace.py" "$2" "$folder/run"
