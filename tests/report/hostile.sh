#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Neither the content nor the name of a stranger's run directory controls the terminal: hostile.sh ICEPATH SMALL_RUN
set -u
icepath=$1 small_run=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
# Controls except line feed and JSON's indentation, C1, directional marks, invisible characters.
harm='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f\xad]|\xe2\x80[\x8b-\x8f\xa8-\xae]'
harm=$harm'|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xd8\x9c'

# harmless FILE WHAT
harmless() {
	[ -s "$1" ] || { echo "$2: nothing"; failed=1; }
	if LC_ALL=C grep -a -n -P "$harm" "$1" | cat -v; then :; fi | head -n 3 >"$folder/found"
	[ ! -s "$folder/found" ] || { echo "$2:"; cat "$folder/found"; failed=1; }
}

"$small_run" "$folder/run" hostile || exit 1
for locale in C C.UTF-8; do
	for words in report "report --verbose" "report --json" "report --html" explain "explain --worst" \
		"explain --modes" "explain --message 1:5" "explain --message 1:5 --json" "explain --json" \
		"explain --cell pingpong --against oneway" "flamegraph --folded" flamegraph \
		"export -f hgrm,hlog,csv,paths,speedscope,firefox"; do
		status=0
		LC_ALL=$locale "$icepath" $words "$folder/run" >"$folder/out" 2>"$folder/err" || status=$?
		case $words:$status in
		*:0 | "explain --cell pingpong --against oneway:4") ;;
		*) echo "$words: ended with $status"; failed=1 ;;
		esac
		harmless "$folder/out" "$words"
		[ ! -s "$folder/err" ] || harmless "$folder/err" "what $words complains of"
	done
done
for file in "$folder"/run/*; do
	case $file in */capture.icp) ;; *) harmless "$file" "$file" ;; esac
done

# Complaints about unreadable runs, which name the run.
evil=$(printf 'run\033[2J\033]0;x\007\302\233\342\200\256\n.icp')
mkdir "$folder/$evil"
cp "$folder/run/capture.icp" "$folder/cut.icp"
truncate -s 900 "$folder/cut.icp"
printf 'nothing' >"$folder/$evil.icp"
mv "$folder/cut.icp" "$folder/$evil/capture.icp"
for run in "$evil" "$evil.icp" "$evil.nowhere"; do
	for words in report flamegraph "export -f csv"; do
		"$icepath" $words "$folder/$run" >"$folder/out" 2>"$folder/err"
		[ $? -eq 2 ] || { echo "$words: a bad run ended with another code than 2"; failed=1; }
		harmless "$folder/err" "what $words complains of"
		[ "$(wc -l <"$folder/err")" -eq 1 ] || { echo "$words: complained in several lines"; failed=1; }
	done
done
"$icepath" "$evil" 2>"$folder/err"
harmless "$folder/err" "what an unknown command is answered"
exit $failed
