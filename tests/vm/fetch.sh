#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches Debian's stock kernels, a qemu that runs them and what an initramfs needs, and unpacks them below a folder:
# nothing is installed. FOLDER/kernels/ gets a file for each KERNEL: 6.1, and 6.12 of the backports suite; 6.1-rt and
# 6.12-rt are the same with PREEMPT_RT. Kept for a week.
#
#   tests/vm/fetch.sh FOLDER KERNEL...
set -eu
folder=$(realpath -m "$1")
shift
done=$folder/fetched
packages='qemu-system-x86 qemu-system-common qemu-system-data seabios busybox-static cpio apparmor sudo libpam-modules'
if [ -n "$(find "$done" -mtime -7 2>/dev/null)" ] && [ "$(cat "$done")" = "$packages" ]; then
	missing=
	for kernel; do
		[ -f "$folder/kernels/$kernel" ] || missing=1
	done
	[ -n "$missing" ] || exit 0
	# With what is there already, or the next who wants that fetches everything again.
	# shellcheck disable=SC2046
	set -- $( (ls "$folder/kernels"; printf '%s\n' "$@") | sort -u)
fi
# Only what it made itself is removed.
if [ -n "$(ls -A "$folder" 2>/dev/null)" ] && [ ! -f "$folder/made-by-fetch.sh" ]; then
	echo "vm: $folder isn't empty and not of an earlier fetch" >&2
	exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"/{sources,lists/partial,cache/archives/partial,unpacked,kernels}

# apt with lists and a cache of its own: the host's sources, and of Debian's own archive the backports suite as well.
apt_options=(-q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$folder/sources"
	-o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o Dpkg::Use-Pty=0
	-o Debug::NoLocking=1 -o APT::Sandbox::User=root)
log=$folder/log
quietly() {
	"$@" >"$log" 2>&1 </dev/null || { cat "$log" >&2; echo "vm: $1 failed: can the packages be fetched?" >&2; exit 1; }
}
shopt -s nullglob
for source in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
	[ -f "$source" ] || continue
	cp "$source" "$folder/sources/debian.${source##*.}"
	case $source in
	*.sources) awk -v RS= '/Suites: *bookworm([ \n]|$)/ {
			sub(/Suites:[^\n]*/, "Suites: bookworm-backports"); print; exit }' \
			"$source" >"$folder/sources/backports.sources" ;;
	*) awk '$1 == "deb" {
			for (i = 2; i <= NF; i++) if ($i == "bookworm") { $i = "bookworm-backports"; print; exit } }' \
			"$source" >"$folder/sources/backports.list" ;;
	esac
done
touch "$folder/made-by-fetch.sh"
if [ -z "$(ls "$folder"/sources/backports.* 2>/dev/null)" ] ||
	! apt-get "${apt_options[@]}" update >"$log" 2>&1 </dev/null; then
	echo "skipped: packages of Debian 12 and its backports can't be fetched here"
	exit 77
fi
cd "$folder/cache/archives"
# shellcheck disable=SC2086
quietly apt-get "${apt_options[@]}" -y --no-install-recommends --download-only -t bookworm-backports install $packages
# What the host has already isn't fetched by the above.
# shellcheck disable=SC2086
quietly apt-get "${apt_options[@]}" -t bookworm-backports download $packages
for deb in *.deb; do
	dpkg-deb -x "$deb" "$folder/unpacked"
done

# The newest version of the flavour's package that begins with the number names the package with the kernel.
fetch_kernel() {
	local number=${1%-rt} flavour=linux-image-cloud-amd64 version package
	[ "$number" = "$1" ] || flavour=linux-image-rt-amd64
	version=$(apt-cache "${apt_options[@]}" madison $flavour | awk -v begin="$number." \
		'index($3, begin) == 1 && $4 != "Sources" { print $3; exit }')
	package=$(apt-cache "${apt_options[@]}" show "$flavour=$version" | grep -o 'linux-image-[0-9][^ ,]*' | head -n 1)
	[ -n "$package" ] || { echo "vm: the archive has no kernel $1 ($flavour)" >&2; exit 1; }
	quietly apt-get "${apt_options[@]}" download "$package"
	dpkg-deb -x "$package"_*.deb "$folder/unpacked"
	mv "$folder/unpacked/boot/vmlinuz-${package#linux-image-}" "$folder/kernels/$1"
}
for kernel; do
	fetch_kernel "$kernel"
done
echo "$packages" >"$done"
