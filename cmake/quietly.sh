#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command and shows its output only if it fails, or with V=1.
if [ "${V:-0}" = 1 ]; then
	exec "$@"
fi
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
"$@" >"$output" 2>&1
status=$?
[ $status -eq 0 ] || cat "$output" >&2
exit $status
