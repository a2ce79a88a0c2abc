#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether a build takes a distribution's flags, and its own where that has none of the kind: distribution_flags.sh
# SOURCE. Prints what doesn't; 0 if all of it does.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags='-Og -g -Wp,-D_FORTIFY_SOURCE=2 -fstack-protector-all -ffile-prefix-map=/here=.'
export CFLAGS="$flags" CXXFLAGS="$flags" LDFLAGS=-Wl,--as-needed
cmake -S "$1" -B "$folder" -G Ninja >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

grep '^ *"command"' "$folder/compile_commands.json" >"$folder/commands"
has_no() { grep -e "$1" "$folder/commands" | sed "s,.* -c ,$1 all the same: ," || true; }
has() { grep -v -e "$1" "$folder/commands" | sed "s,.* -c ,without $1: ," || true; }
{
	has -ffile-prefix-map
	has -fstack-clash-protection
	has_no ' -O[123]'
	has_no ' -D_FORTIFY_SOURCE=3'
	has_no -fstack-protector-strong
	has_no ' -Werror'
	grep '^ *LINK_FLAGS = ' "$folder/build.ninja" | grep -v -e --as-needed | sed 's/^/linked without LDFLAGS:/' || true
	grep '^ *LINK_FLAGS = ' "$folder/build.ninja" | grep -v -e '-z,now' | sed 's/^/linked without -z now:/' || true
} >"$folder/found"
head -n 20 "$folder/found"
[ -s "$folder/commands" ] && [ ! -s "$folder/found" ]
