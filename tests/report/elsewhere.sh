#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A report needs only the run directory: no /proc, /sys or /dev, no other file. elsewhere.sh ICEPATH SMALL_RUN
set -eu
icepath=$1 small_run=$2
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root, for chroot"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$small_run" "$folder/run"

root=$folder/elsewhere
mkdir "$root"
cp "$icepath" "$root/icepath"
ldd "$icepath" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "$root${library%/*}"
	cp -L "$library" "$root$library"
done
cp -r "$folder/run" "$root/run"

there() { env -u SUDO_UID -u PKEXEC_UID LC_ALL=C chroot "$root" /icepath "$@"; }
here() { (cd "$folder" && env -u SUDO_UID -u PKEXEC_UID LC_ALL=C "$icepath" "$@"); }
for words in "report run" "report --verbose run" "explain run" "explain --worst --json run" \
	"flamegraph --folded run"; do
	here $words >"$folder/here"
	there $words >"$folder/there"
	[ -s "$folder/here" ]
	cmp "$folder/here" "$folder/there"
done
there flamegraph run >/dev/null
[ -s "$root/run/latency.svg" ]
rm "$root/run/capture.icp"
status=0
there report run 2>"$folder/err" || status=$?
[ "$status" -eq 2 ] && grep -q "isn't a run directory" "$folder/err"
