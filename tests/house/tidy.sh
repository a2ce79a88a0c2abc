#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy: tests/house/tidy.sh BUILD all, or tests/house/tidy.sh BUILD RANGE SECONDS for what isn't committed, and
# what commits of RANGE touched (what git log takes: -50, main..HEAD), the latest first, without the checks that follow
# paths through a function (clang-analyzer), which take five times as long as all others. What SECONDS aren't enough for
# is counted. Without git's history it takes the files as they come.
set -euo pipefail
build=$(realpath "$1") commits=$2 seconds=${3:-}
cd "$(dirname "$0")/../.."
git=(git -c safe.directory='*')

# The build compiles several files at once; here each is looked at by itself, with what the build has generated.
cmake/quietly.sh cmake -S . -B "$build/tidy" -G Ninja -DICEPATH_UNITY=OFF
sed -i "s,$build/tidy,$build,g" "$build/tidy/compile_commands.json"

# Each file that was compiled, once.
compiled() {
	sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/tidy/compile_commands.json" | sed "s,^$PWD/,," |
		grep '\.cc$' | grep -v -E '^(/|build)' | sort -u
}

touched() {
	"${git[@]}" rev-parse --git-dir >/dev/null 2>&1 || { compiled; return; }
	# What isn't committed yet, then by commit; a shallow clone has fewer.
	{
		"${git[@]}" diff --name-only HEAD
		"${git[@]}" ls-files --others --exclude-standard
		"${git[@]}" log --format= --name-only "$commits"
	} | awk '!seen[$0]++' | grep '\.cc$' || true
}

options=()
if [ "$commits" = all ]; then
	files=$(compiled)
else
	options=(--checks=-clang-analyzer-*)
	# A range that git doesn't know ends this here: below, it would look like one without files.
	! "${git[@]}" rev-parse --git-dir >/dev/null 2>&1 || "${git[@]}" log --format= "$commits" >/dev/null
	files=$(touched | grep -x -F -f <(compiled) || true)
fi
[ -n "$files" ] || { echo "clang-tidy: no file to look at"; exit 0; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export build folder seconds
one() {
	if [ -n "$seconds" ] && [ $(($(date +%s) - start)) -ge "$seconds" ]; then
		echo "$1" >>"$folder/left"
	elif clang-tidy-19 -p "$build/tidy" --quiet --extra-arg=-Wno-ignored-gch "${@:2}" "$1" \
		>"$folder/$$" 2>/dev/null; then
		echo "$1" >>"$folder/done"
	else
		cat "$folder/$$"
		echo "$1" >>"$folder/wrong"
	fi
}
export -f one
export start=$(date +%s)
touch "$folder"/{left,done,wrong}
echo "$files" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'one "$@"' bash {} "${options[@]}"
total=$(echo "$files" | wc -l)
left=$(wc -l <"$folder/left") wrong=$(wc -l <"$folder/wrong")
echo "clang-tidy: $((total - left)) of $total files looked at, $left left out for want of time, $wrong with findings"
[ "$wrong" -eq 0 ]
