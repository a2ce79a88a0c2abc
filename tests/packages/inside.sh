#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What installing, using, replacing and purging the packages does to a bare Debian, in which this runs as root:
# inside.sh DEBS OLDER-DEBS. Prints each step; 0 if all of them went as they should.
set -u
debs=$1 older=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export DEBIAN_FRONTEND=noninteractive
failed=0
helper=/usr/libexec/icepath/icepath-helper

step() { # NAME STATUS
	if [ "$2" -eq 0 ]; then
		echo "ok: $1"
	else
		echo "FAILED: $1"
		[ ! -s said ] || sed 's/^/    /' said
		failed=1
	fi
	: >said
}
try() { # NAME command...
	"${@:2}" >said 2>&1
	step "$1" $?
}
version_of() { dpkg-query -W -f '${Version}' "$1"; }
deb() { echo "$1"/icepath"${2:+-$2}"_*.deb; } # FOLDER [PACKAGE, without "icepath-"]

# What a package needs of Debian's, so that what it itself brings is all that dpkg changes.
get_ready_for() { # DEB...
	local wanted
	wanted=$(for file in "$@"; do dpkg-deb -f "$file" Depends; done | tr , '\n' | grep -v icepath | grep . | sort -u |
		paste -s -d ,)
	[ -z "$wanted" ] || apt-get -q -y --no-install-recommends satisfy "$wanted" >said 2>&1
}
files() { # all but what changes by itself (and .ci/bare-root brings), with owner and mode; of /etc also the content
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /srv -o \
		-path /var/cache -o -path /root/.cache/ccache -o -path /var/log -o -path /var/lib/dpkg -o \
		-path /var/lib/apt -o -path /var/tmp \) -prune -o \
		-printf '%p %u:%g %m %y %l\n' | sort
	find /etc -xdev -type f -print0 | sort -z | xargs -0 sha256sum
}
leaves_nothing() { # NAME BEFORE
	files >after
	diff "$2" after >said
	step "$1 leaves nothing" $?
}
targets() { # of one adapter, which can all be measured here
	icepath list --json | python3 -c '
import json, sys
told = json.load(sys.stdin)
mine = [t for t in told["targets"] if t["kind"] == "adapter"]
for t in mine:
    print(t["name"], t["library_version"], t["why_not"], t["why_no_daemon"])
sys.exit(not mine or any(t["why_not"] or t["why_no_daemon"] for t in mine))'
}
has_capabilities() { # FILE
	python3 -c 'import os, sys; sys.exit("security.capability" not in os.listxattr(sys.argv[1]))' "$1"
}

apt-get -q update >said 2>&1
apt-get -q -y --no-install-recommends install python3 g++ pkg-config >>said 2>&1
step "python3, g++ and pkg-config are there" $?
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d # no daemon of Debian's starts
chmod +x /usr/sbin/policy-rc.d
groupadd --system icepath
apt-mark showmanual | sort >manual
echo icepath >>manual # installed, while adapters are tried
sort -o manual manual

# icepath, its documents, its header
all=("$(deb "$debs")" "$(deb "$debs" dev)" "$(deb "$debs" doc)")
before=("$(deb "$older")" "$(deb "$older" dev)" "$(deb "$older" doc)")
get_ready_for "${all[@]}" "${before[@]}"
step "what they need is there" $?
files >bare
try "the older ones are installed" dpkg -i "${before[@]}"
replaced=$(version_of icepath)
icepath --version >said 2>&1 && grep -q "^commit ${replaced##*.}" said
step "icepath --version says the commit that the package's version has" $?
icepath list >said 2>&1 && grep -q '^uds-stream ' said && grep -q 'zeromq (icepath-zeromq)' said
step "icepath list has the transports, and names the adapters' packages" $?
icepath run -q -t zeromq/ipc -d 2 >said 2>&1
[ $? -eq 2 ] && grep -q "zeromq/ipc isn't installed: the package icepath-zeromq has it" said
step "icepath run says which package has an adapter" $?
for _ in {1..60}; do # the CPUs may be another icepath's, of the machine outside
	icepath run -q -t uds-stream -s 64 --patterns pingpong -d 3 -o run >said 2>&1
	[ $? -eq 3 ] && grep -q 'another icepath .* is measuring' said || break
	sleep 5
done
[ -f run/run.json ] && grep -q '"complete": *[1-9]' run/run.json
step "icepath run, with paths" $?
for command in report "export -f csv"; do
	try "icepath $command" icepath $command run
done
try "icepath setup --caps" icepath setup --caps
exec 9<$helper

# Replaced by the newer ones
try "the newer ones take their place" dpkg -i "${all[@]}"
[ "$(version_of icepath)" = "$(dpkg-deb -f "${all[0]}" Version)" ] &&
	dpkg --compare-versions "$(version_of icepath)" gt "$replaced"
step "dpkg has their higher version: $(version_of icepath) instead of $replaced" $?
! has_capabilities /proc/self/fd/9
step "the old helper, still open, has no capabilities any more" $?
exec 9<&-
has_capabilities $helper && [ "$(stat -c '%U:%G %a' $helper)" = 'root:icepath 750' ]
step "the new one has them again" $?
[ ! -e /etc/icepath ]
step "no mark of that is left" $?
try "icepath report of a run by the older one" icepath report run
cp /usr/share/doc/icepath/examples/template/template.cc . &&
	g++ -std=c++20 -shared -fPIC $(pkg-config --cflags icepath-plugin) -o icepath-template.so template.cc \
		$(pkg-config --libs icepath-plugin) >said 2>&1 &&
	ICEPATH_PLUGIN_PATH=$PWD icepath list >said 2>&1 && grep -q '^template ' said
step "the template is built with icepath-dev, and found" $?
man_page=$(dpkg -L icepath | grep 'man1/icepath-run.1.gz$') && zcat "$man_page" | grep -q '^\.TH'
step "man pages are there" $?

# Removed: the administrator's wish stays until it is purged.
try "icepath is removed" dpkg -r icepath
[ "$(cat /etc/icepath/setup-caps 2>/dev/null)" = icepath ]
step "whose the helper was is kept" $?
try "icepath is installed again" dpkg -i "${all[0]}"
has_capabilities $helper
step "the helper has its capabilities again" $?
try "icepath setup --caps --undo" icepath setup --caps --undo
try "icepath replaces itself" dpkg -i "${all[0]}"
! has_capabilities $helper && [ ! -e /etc/icepath ]
step "what the administrator has undone stays so" $?
try "icepath setup --caps once more" icepath setup --caps
try "all are purged" dpkg --purge icepath icepath-dev icepath-doc
leaves_nothing "purging" bare

# Each adapter alone: with what it depends on, and nothing that another one brought
dpkg -i "${all[0]}" >said 2>&1
remove_what_was_needed() {
	apt-mark showmanual | sort | comm -13 manual - | xargs -r apt-mark auto >/dev/null
	apt-get -q -y --purge autoremove >/dev/null 2>&1
}
remove_what_was_needed
for file in "$debs"/icepath-*.deb; do
	name=$(dpkg-deb -f "$file" Package)
	case $name in icepath-dev | icepath-doc) continue ;; esac
	get_ready_for "$file"
	step "$name: what it needs is there" $?
	files >bare
	try "$name is installed alone" dpkg -i "$file"
	targets >said 2>&1
	step "$name: its targets can be measured" $?
	try "$name is purged" dpkg --purge "$name"
	leaves_nothing "purging $name" bare
	remove_what_was_needed
done
dpkg --purge icepath >said 2>&1
rm /usr/sbin/policy-rc.d
echo "$(grep -h ^PRETTY_NAME /etc/os-release): $([ $failed -eq 0 ] && echo all steps passed || echo FAILED)"
exit $failed
