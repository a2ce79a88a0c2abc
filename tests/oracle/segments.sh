#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# perf's own recording confirms every segment of a short run. segments.sh ICEPATH PYTHON3
set -eu
icepath=$1 python=$2
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
command -v perf >/dev/null || { echo "skipped: linux-perf isn't installed"; exit 77; }
exec "$python" "$(dirname "$0")/../../tools/check_segments.py" --icepath "$icepath" \
	 --spare 5 \
	-- -t uds-stream,tcp,process-vm -s 64 --patterns pingpong -d 3
