#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tries the Debian packages in a bare Debian 12 and a bare Debian 13, as root: run.sh BUILD FOLDER [SUITE…]. Those of
# Debian 12 are BUILD's; Debian 13 has other libraries, so its packages are built there. The older ones, which they take
# the place of, are of the commit before. FOLDER holds all of that, and is removed at the end.
set -eu
cd "$(dirname "$0")/../.."
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
build=$(realpath "$1") folder=$(realpath -m "$2")
shift 2
[ $# -gt 0 ] || set -- bookworm trixie
mkdir -p "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT

# The packages of a source, in FOLDER/NAME.
make_packages() { # SOURCE BUILD NAME
	make -s -C "$1" BUILD="$2" configure
	make -s -C "$1" BUILD="$2" package
	mkdir -p "$folder/$3"
	cp "$2"/packages/*.deb "$folder/$3"
}

failed=0
for suite in "$@"; do
	root=$folder/$suite
	if [ "$suite" = bookworm ]; then
		make_packages . "$build" bookworm-newer
		mkdir "$folder/before"
		git -c safe.directory='*' archive HEAD~1 | tar -x -C "$folder/before" # no checkout, so of version 0.1.0
		make_packages "$folder/before" "$folder/build-before" bookworm-older
		lintian --fail-on error --suppress-tags-from-file tests/packages/not-debian.txt \
			"$folder"/bookworm-newer/*.deb || failed=1
	else
		# One version of it, under two names: what is tried is that dpkg replaces one by the other.
		SUITE=$suite .ci/bare-root "$root-build" sh -c 'make deps middleware-deps package-deps &&
			make BUILD=/var/tmp/build configure && PACKAGE_VERSION=0.0.1 make BUILD=/var/tmp/build package &&
			mv /var/tmp/build/packages /var/tmp/older && make BUILD=/var/tmp/build package'
		cp -r "$root-build/var/tmp/older" "$folder/$suite-older"
		cp -r "$root-build/var/tmp/build/packages" "$folder/$suite-newer"
		rm -rf --one-file-system "$root-build"
	fi
	SUITE=$suite .ci/bare-root "$root" true
	cp -r "$folder/$suite-older" "$folder/$suite-newer" "$root/srv"
	SUITE=$suite .ci/bare-root "$root" tests/packages/inside.sh /srv/$suite-newer /srv/$suite-older || failed=1
	rm -rf --one-file-system "$root"
done
exit $failed
