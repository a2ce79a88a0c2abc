#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make install` brings man pages and completion where programs look for them, and `make uninstall` leaves nothing:
# installed.sh SOURCE BUILD
set -eu
source=$1 build=$2
[ -f "$build/profiler/cli/icepath-run.1" ] || { echo "skipped: not everything is built"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")
share=$folder$prefix/share
failed=0

DESTDIR=$folder cmake --install "$build" >"$folder/log"
rm "$folder/log"
for file in man/man1/icepath.1 man/man1/icepath-run.1 bash-completion/completions/icepath \
	zsh/vendor-completions/_icepath fish/vendor_completions.d/icepath.fish doc/icepath/docs/options.md; do
	[ -s "$share/$file" ] || { echo "$file isn't installed"; failed=1; }
done
for command in $("$build/bin/icepath" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	[ -s "$share/man/man1/icepath-$command.1" ] || { echo "icepath-$command.1 isn't installed"; failed=1; }
done
# Somebody else's file stays, also in a folder of icepath's.
touch "$folder$prefix/lib/icepath/icepath-theirs.so" "$share/man/man1/theirs.1"
DESTDIR=$folder "$source/cmake/uninstall.sh" "$build"
left=$(cd "$folder$prefix" && find . ! -type d | sort | paste -s -d ' ')
[ "$left" = "./lib/icepath/icepath-theirs.so ./share/man/man1/theirs.1" ] ||
	{ echo "after make uninstall there is: $left"; failed=1; }
[ ! -e "$share/doc/icepath" ] || { echo "share/doc/icepath is still there"; failed=1; }
exit $failed
