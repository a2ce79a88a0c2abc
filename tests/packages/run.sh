#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tries the Debian packages in a bare Debian 12 and a bare Debian 13, as root: run.sh FOLDER [SUITE…]. Each has other
# libraries, so in each they are built (build.sh), looked at by its lintian, and then installed and removed in one that
# has nothing else (inside.sh). The older ones, whose place they take, are of the commit before. FOLDER holds all of
# that, and is removed at the end.
set -eu
cd "$(dirname "$0")/../.."
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
folder=$(realpath -m "$1")
shift
[ $# -gt 0 ] || set -- bookworm trixie
mkdir -p "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT

failed=0
for suite in "$@"; do
	root=$folder/$suite
	in_root() { # FOLDER command...
		SUITE=$suite .ci/bare-root "$@"
	}
	say() { printf '\n-- %s, %d s: %s\n' "$suite" $SECONDS "$*"; }
	say "a bare one"
	in_root "$root" true
	cp -a "$root" "$root-build"

	say "the packages are built"
	git clone -q --no-checkout . "$root-build/srv/source"
	git diff --binary HEAD >"$root-build/srv/uncommitted"
	in_root "$root-build" tests/packages/build.sh "$(git rev-parse HEAD~1)" "$(git rev-parse HEAD)"

	say "lintian"
	in_root "$root-build" sh -c 'lintian --allow-root --fail-on error /srv/newer/*.deb' || failed=1

	say "they are installed, used, replaced, purged"
	mv "$root-build/srv/older" "$root-build/srv/newer" "$root/srv"
	rm -rf --one-file-system "$root-build"
	in_root "$root" tests/packages/inside.sh /srv/newer /srv/older || failed=1
	rm -rf --one-file-system "$root"
done
exit $failed
