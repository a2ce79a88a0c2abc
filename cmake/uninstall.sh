#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Removes what `make install` of this build makes, below PREFIX, or its own, and DESTDIR: uninstall.sh BUILD [PREFIX].
# What was installed by a build with other adapters, or by another version, stays where this one has no such file.
set -eu
build=$1 root=${DESTDIR:-}
prefix=${2:-$(sed -n 's/^CMAKE_INSTALL_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")}
bindir=$(sed -n 's/^CMAKE_INSTALL_BINDIR:[A-Z]*=//p' "$build/CMakeCache.txt")

# As before the helper is replaced: whoever holds it open could go on executing it with its capabilities.
if [ -z "$root" ] && [ -x "$prefix/$bindir/icepath" ]; then
	"$prefix/$bindir/icepath" setup --caps --undo >/dev/null 2>&1 || true
fi

# Installed once more, elsewhere, to know what there is.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
DESTDIR=$made "$(dirname "$0")/quietly.sh" cmake --install "$build" --prefix "$prefix"
(cd "$made" && find . ! -type d) | sed 's/^\.//' | while IFS= read -r file; do
	rm -f "$root$file"
done
# Folders of icepath's own. Others may be used by other programs.
(cd "$made" && find . -depth -type d -path '*/icepath*') | sed 's/^\.//' | while IFS= read -r folder; do
	rmdir "$root$folder" 2>/dev/null || true
done
