#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages of a build in BUILD/packages: make.sh BUILD. The version has the commit's time, its number,
# which differs in the same second, and the commit, so that a later one's is higher; PACKAGE_VERSION is another.
set -eu
build=$1 source=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -n "${PACKAGE_VERSION:-}" ]; then
	version=$PACKAGE_VERSION
elif commit=$(TZ=UTC git -c safe.directory='*' -C "$source" log -1 --date=format-local:%Y%m%d%H%M%S \
	--format="%cd.$(git -c safe.directory='*' -C "$source" rev-list --count HEAD 2>/dev/null).%h" --abbrev=8 \
	2>/dev/null); then
	version=$version+git$commit
fi
rm -rf "$build/packages"
mkdir -p "$build/packages"
"$source/cmake/quietly.sh" cpack --config "$build/CPackConfig.cmake" -B "$build/packages" \
	-D CPACK_PACKAGE_VERSION="$version" -D CPACK_DEBIAN_PACKAGE_VERSION="$version"
rm -rf "$build/packages/_CPack_Packages"
