#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Root reads a stranger's run with the stranger's rights, whatever it writes and wherever: reader.sh ICEPATH SMALL_RUN
set -u
icepath=$1 small_run=$2
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root, to read another's run"; exit 77; }
unset SUDO_UID PKEXEC_UID DOAS_USER
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
failed=0
fail() { echo "$*"; failed=1; }
"$small_run" "$folder/run" || exit 1
chown -R 65534:65534 "$folder/run"
mkdir -m 700 "$folder/roots"

# Into a folder where only root may write.
for format in hgrm,hlog,csv,paths; do
	"$icepath" export -f $format -o "$folder/roots/new" "$folder/run" >"$folder/out" 2>&1 ||
		fail "export ended with $?: $(cat "$folder/out")"
done
"$icepath" flamegraph -o "$folder/roots/new" "$folder/run" >>"$folder/out" 2>&1 ||
	fail "flamegraph ended with $?: $(cat "$folder/out")"
[ "$(wc -l <"$folder/out")" -eq 6 ] || fail "other files: $(cat "$folder/out")"
while read -r file; do
	[ "$(stat -c '%u %F' "$file")" = "0 regular file" ] || fail "$file isn't root's"
done <"$folder/out"
[ "$(ls "$folder/roots/new" | wc -l)" -eq 7 ] || fail "left behind: $(ls "$folder/roots/new")"
[ "$("$icepath" flamegraph -o "$folder/roots/one.svg" "$folder/run")" = "$folder/roots/one.svg" ] ||
	fail "flamegraph into a file doesn't print its path"
[ "$(stat -c '%u %F' "$folder/roots/one.svg")" = "0 regular file" ] || fail "the file isn't root's"
"$icepath" flamegraph -o "$folder/roots/one.json" "$folder/run" >"$folder/out" 2>&1
[ $? -eq 2 ] && [ ! -e "$folder/roots/one.json" ] || fail "a name of no folder was made one: $(cat "$folder/out")"

# A file that root named: whatever its name, also in a new folder, and no other file; a folder that only root sees is
# one.
for name in "my run.svg" two.folded fresh/three.svg; do
	[ "$("$icepath" flamegraph -o "$folder/roots/$name" "$folder/run" 2>&1)" = "$folder/roots/$name" ] ||
		fail "$name wasn't made"
	[ "$(stat -c '%u %F' "$folder/roots/$name")" = "0 regular file" ] || fail "$name isn't root's"
done
mkdir "$folder/roots/a.svg"
[ "$("$icepath" flamegraph -o "$folder/roots/a.svg" "$folder/run" 2>&1)" = "$folder/roots/a.svg/latency.svg" ] ||
	fail "a folder with a file's name: $(ls "$folder/roots/a.svg")"
[ "$(cd "$folder/roots" && ls a.svg fresh . | grep -c folded)" -eq 2 ] || fail "other files: $(ls -R "$folder/roots")"
for format in perfetto speedscope,firefox; do
	"$icepath" export -f $format -o "$folder/roots/json" "$folder/run" >"$folder/out" 2>&1 ||
		fail "export ended with $?: $(cat "$folder/out")"
done

# Existing files are replaced, and no link is followed.
rm "$folder/roots/new/messages.csv"
echo mine >"$folder/victim"
ln -s "$folder/victim" "$folder/roots/new/messages.csv"
"$icepath" export -f csv -o "$folder/roots/new" "$folder/run" >/dev/null || fail "export through a link ended with $?"
[ "$(cat "$folder/victim")" = mine ] && [ ! -h "$folder/roots/new/messages.csv" ] || fail "a link was followed"

# With the owner's rights: what the owner can't read isn't read.
chown 0:0 "$folder/run/capture.icp"
for words in "export -f csv" flamegraph; do
	"$icepath" $words -o "$folder/roots/other" "$folder/run" >"$folder/out" 2>&1
	[ $? -eq 2 ] && grep -q "Permission denied" "$folder/out" || fail "$words read as root: $(cat "$folder/out")"
done

# A stranger's file in root's folder, and a file whose owner this machine doesn't know.
chown 0:0 "$folder/run"
chmod 755 "$folder/run"
chown 4242424:0 "$folder/run/capture.icp"
for words in report "export -f csv -o $folder/roots/other" "flamegraph --folded"; do
	"$icepath" $words "$folder/run" >"$folder/out" 2>&1 ||
		fail "$words of an unknown owner's ended with $?: $(cat "$folder/out")"
done
chmod 700 "$folder/run"
"$icepath" report "$folder/run" >"$folder/out" 2>&1
[ $? -eq 2 ] || fail "report read a stranger's file as root"
exit $failed
