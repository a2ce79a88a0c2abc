#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installed into ~/.local, icepath reads runs for an ordinary user, whose PATH has it: home.sh BUILD SMALL-RUN.
set -eu
build=$1 small_run=$2
[ -f "$build/profiler/cli/icepath-run.1" ] || { echo "skipped: not everything is built"; exit 77; }
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
"$small_run" "$home/run" >/dev/null
# What `make install` does after it has built, if that is in the home.
make_in_home() { # GOAL
	(cd "$(dirname "$0")/../.." && env -u MAKEFLAGS HOME="$home" make -n BUILD="$build" PREFIX='~/.local' "$1" |
		grep -F "\"$home/.local\"" | sh)
}
make_in_home install
as=()
if [ "$(id -u)" -eq 0 ]; then
	chown -R 65534:65534 "$home"
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
cd "$home"
failed=0
says() { # TEXT command...
	"${as[@]}" env -i HOME="$home" PATH="$home/.local/bin:/usr/bin:/bin" LANG=C.UTF-8 "${@:2}" >/tmp/said.$$ 2>&1 &&
		grep -q -e "$1" /tmp/said.$$ || { echo "FAILED: ${*:2}: no $1"; cat /tmp/said.$$; failed=1; }
	rm -f /tmp/said.$$
}

says '^icepath 0' icepath --version
says 'one way, µs' icepath report run
says '^the tails' icepath explain run
for format in csv hgrm perfetto speedscope; do
	says '^' icepath export -f $format -o "$format.out" run
	[ -s "$format.out" ] || { echo "FAILED: no file of -f $format"; failed=1; }
done
says '^pipe ' icepath list # workers and plug-ins are found
says 'no capabilities' icepath setup # and so is the helper
for file in man/man1/icepath-run.1 bash-completion/completions/icepath doc/icepath/docs/options.md \
	doc/icepath/examples/sudoers.d/icepath; do
	[ -s ".local/share/$file" ] || { echo "FAILED: no $file"; failed=1; }
done
programs=$(ls .local/bin .local/libexec/icepath | paste -s -d ' ')
[ "$programs" = ".local/bin: icepath  .local/libexec/icepath: icepath-helper icepath-worker" ] ||
	{ echo "FAILED: programs are $programs"; failed=1; }
make_in_home uninstall
left=$(find .local ! -type d | paste -s -d ' ')
[ -z "$left" ] || { echo "FAILED: after make uninstall there is $left"; failed=1; }
exit $failed
