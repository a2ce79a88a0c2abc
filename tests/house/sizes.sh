#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How many C and C++ files each folder has, how long they are, and which share of them has 40 lines or less:
# tests/house/sizes.sh [COMMIT], of the working tree or of a commit.
set -eu
cd "$(dirname "$0")/../.."
git() { command git -c safe.directory='*' "$@"; }
if [ $# -gt 0 ]; then
	git grep -I -c '' "$1" -- '*.h' '*.c' '*.cc' | sed "s/^$1://"
else
	git ls-files --cached --others --exclude-standard -- '*.h' '*.c' '*.cc' | while read -r file; do
		[ ! -f "$file" ] || echo "$file:$(wc -l <"$file")"
	done
fi | awk -F : '
	{
		parts = split($1, part, "/")
		folder = part[1] (parts > 2 && part[1] ~ /^(profiler|tests)$/ ? "/" part[2] : "")
		n = split(folder " all", of, " ")
		for (i = 1; i <= n; i++) {
			files[of[i]]++; lines[of[i]] += $2; small[of[i]] += $2 <= 40
			if ($2 > most[of[i]]) most[of[i]] = $2
		}
	}
	END {
		for (folder in files)
			printf "%s\t%-24s %5d %6d %8.0f %6d %5.0f %%\n", folder == "all", folder, files[folder], lines[folder],
				lines[folder] / files[folder], most[folder], 100 * small[folder] / files[folder]
	}' | sort | cut -f 2 | sed '1i folder                   files  lines  average   most  of 40 lines or less'
