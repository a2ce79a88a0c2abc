#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing of the given sections of debian-packages.txt: install-packages.sh build [test]
set -eu
list=$(dirname "$0")/debian-packages.txt

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
	echo "deps: this system has no apt-get; install what $list names by your own package manager" >&2
	exit 0
fi

installed() {
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Prints the packages of a section of which no alternative is installed.
missing() {
	sed -n "/^\[$1\]/,/^\[/{ s/#.*//; /^\[/d; /[^ ]/p }" "$list" | while read -r alternatives; do
		found=
		for package in $(echo "$alternatives" | tr '|' ' '); do
			if installed "$package"; then found=yes; fi
		done
		[ -n "$found" ] || echo "${alternatives%%|*}"
	done
}

wanted=$(for section in "$@"; do missing "$section"; done)
[ -n "$wanted" ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "deps: missing packages, and neither root nor sudo to install them; as root: apt-get install" $wanted >&2
		exit 1
	fi
	sudo=sudo
fi
apt() {
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" </dev/null
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# With V=1 everything is shown, else only what went wrong.
quietly() {
	if [ "${V:-0}" = 1 ]; then
		"$@"
	elif ! "$@" >"$log" 2>&1; then
		cat "$log" >&2
		return 1
	fi
}

echo "deps: installing" $wanted
# Lists older than a week may name files that the mirror has dropped.
if [ -z "$(find /var/lib/apt/lists -name '*_Packages*' -mtime -7 2>/dev/null | head -n 1)" ]; then
	quietly apt update || echo "deps: apt-get update failed; trying with the lists that are there" >&2
	updated=yes
fi
if ! quietly apt install --no-install-recommends $wanted; then
	if [ -n "${updated:-}" ]; then exit 1; fi
	echo "deps: trying again with fresh package lists" >&2
	quietly apt update
	quietly apt install --no-install-recommends $wanted
fi
