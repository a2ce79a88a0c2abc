#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The queries of jq that docs/formats.md shows give something of a small run, and no null:
# documented_queries.sh ICEPATH SMALL_RUN
set -u
icepath=$1 small_run=$2
page=$(cd "$(dirname "$0")/../../docs" && pwd)/formats.md
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$small_run" "$folder/run" 12 || exit 1
"$icepath" report --json "$folder/run" >"$folder/run/run.json" || exit 1
cd "$folder" || exit 1
sed -n 's/^ \{4,6\}\(jq .*\)/\1/p' "$page" | sed 's,RUN/,run/,g' | sort -u >queries
failed=0 count=0
while read -r query; do
	count=$((count + 1))
	sh -c "$query" >out 2>err </dev/null || { echo "failed: $query: $(cat err)"; failed=1; }
	case $query in *.ranking*) continue ;; esac # these cells aren't alike, so none is compared
	[ -s out ] || { echo "gives nothing: $query"; failed=1; }
	! grep -qw null out || { echo "gives null: $query"; failed=1; }
done <queries
echo "$count queries"
[ "$failed" -eq 0 ] && [ "$count" -ge 5 ]
