#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What contrib/sudoers.d/icepath gives to an ordinary user of the group, and what not, by sudo itself: sudoers.sh BUILD.
# Prints each step; 0 if all of them went as they should. Users, rules and sudo's notes are those of a mount namespace,
# so nothing of them is left.
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
if [ -z "${2:-}" ]; then
	[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
	folder=$(mktemp -d)
	chmod 755 "$folder"
	unshare --mount --propagation private "$0" "$build" "$folder"
	status=$?
	rm -rf "$folder"
	exit $status
fi
folder=$2
cd "$folder" || exit 1
failed=0

prepare() {
	set -e
	cmake --install "$build" --prefix "$folder/usr" >log
	cp -a /etc/passwd /etc/group /etc/shadow .
	hash=$(perl -e 'print crypt("password", q($6$icepath$))')
	for user in member:61001 stranger:61002; do
		name=${user%:*} number=${user#*:}
		echo "$name:x:$number:$number::$folder/$name:/bin/sh" >>passwd
		echo "$name:x:$number:" >>group
		echo "$name:$hash:20000::::::" >>shadow
		install -d -o "$number" -g "$number" "$name"
	done
	echo 'icepath:x:61003:member' >>group
	mkdir sudoers.d roots
	sed "s,/usr/bin/icepath,$folder/usr/bin/icepath,g" "$source/contrib/sudoers.d/icepath" >sudoers.d/icepath
	# As Debian has it. Without a note of who gave a password, and a lecture.
	printf '%s\n' 'Defaults env_reset, use_pty, !syslog, lecture=never, timestamp_timeout=0' \
		'Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"' \
		'root ALL=(ALL:ALL) ALL' '@includedir /etc/sudoers.d' >sudoers
	chmod 440 sudoers sudoers.d/icepath
	for file in passwd group shadow sudoers sudoers.d; do
		mount --bind "$folder/$file" "/etc/$file"
	done
	echo 'nobody else reads this' >roots/secret
	chmod 600 roots/secret
	# Says who loads it.
	mkdir hostile
	cat >hostile.c <<-END
		#include <stdio.h>
		#include <unistd.h>
		__attribute__((constructor)) static void loaded(void)
		{
			char name[64];
			snprintf(name, sizeof(name), "/$folder/member/loaded-by-%d", (int)geteuid());
			fclose(fopen(name, "w"));
		}
	END
	cc -shared -fPIC -o hostile/icepath-hostile.so hostile.c
	set +e
}

as() { # USER command...: in the user's folder, with the environment that the user may make
	(cd "$folder/$1" && printf 'password\n' | timeout 240 setpriv --reuid="$1" --regid="$1" --init-groups \
		env -i PATH=/usr/bin:/bin LANG=C.UTF-8 ICEPATH_PLUGIN_PATH="$folder/hostile" \
		SUDO_UID=0 DOAS_USER=root PKEXEC_UID=0 "${@:2}" >"$folder/said" 2>&1)
}

step() { # NAME STATUS
	if [ "$2" -eq 0 ]; then
		echo "ok: $1"
	else
		echo "FAILED: $1"
		cat "$folder/said"
		failed=1
	fi
}

may() { # command...
	as member sudo -S -p '' "$@"
	step "may: $*" $?
}

may_not() { # USER sudo's arguments...
	as "$1" sudo -S -p '' "${@:2}"
	[ $? -ne 0 ] && grep -qE 'not allowed|not permitted|may not run|not in the sudoers file' "$folder/said"
	step "$1 may not: ${*:2}" $?
}

writes_nothing() { # icepath's arguments...: as root could, and the user can't
	as member sudo -S -p '' "$icepath" "$@"
	[ $? -ne 0 ] && [ "$(ls roots)" = secret ] && ! grep -q 'nobody else' said &&
		grep -qi 'permission denied\|may not be\|can.t be' said
	step "is the user, not root: $*" $?
}

prepare || exit 1
visudo -c -f "$source/contrib/sudoers.d/icepath" >said 2>&1
step "visudo takes the rules" $?

icepath=$folder/usr/bin/icepath
a_run=(run -q -t pipe -s 64 --patterns pingpong -d 3)
may "$icepath" "${a_run[@]}" -o out
[ -f member/out/capture.icp ] && [ -z "$(find member/out ! -user member)" ]
step "the run is the user's" $?
may "$icepath" doctor
as member sudo -S -p '' "$icepath" selftest -q --only sender-busy -d 10
[ $? -le 1 ] && grep -q '^sender-busy  *\(lands\|strays\|undecided\)' said # which of them, isn't this test's
step "may: $icepath selftest" $?
may "$icepath" calibrate
[ "$(stat -c %U member/calibration.json)" = member ]
step "the calibration is the user's" $?

[ -z "$(ls member | grep loaded)" ]
step "nothing of the user's was loaded" $?
as member "$icepath" list
[ -f member/loaded-by-61001 ]
step "without sudo it would have been" $?

for command in report list export; do
	may_not member "$icepath" $command
done
may_not member "$folder/usr/libexec/icepath/icepath-helper"
may_not member "$folder/usr/libexec/icepath/icepath-worker"
may_not member /bin/sh
may_not member "$icepath" --no-colour run
may_not member -u stranger "$icepath" doctor
may_not member -E "$icepath" doctor
may_not member --preserve-env=ICEPATH_PLUGIN_PATH "$icepath" doctor
may_not member ICEPATH_PLUGIN_PATH="$folder/hostile" "$icepath" doctor
may_not member SUDO_UID=0 "$icepath" doctor
may_not member LD_PRELOAD="$folder/hostile/icepath-hostile.so" "$icepath" doctor
may_not member -D / "$icepath" doctor
may_not member -R "$folder" "$icepath" doctor
may_not stranger "$icepath" doctor

writes_nothing "${a_run[@]}" -o "$folder/roots/run"
ln -s "$folder/roots" member/link
writes_nothing "${a_run[@]}" -o link/run
writes_nothing "${a_run[@]}" --calibration "$folder/roots/secret" -o other
writes_nothing "${a_run[@]}" --arm "b:config=$folder/roots/secret" -o other
rm -f member/loaded-by-61001
as member sudo -S -p '' "$icepath" "${a_run[@]}" --arm "b:plugins=$folder/hostile" -o other
[ $? -eq 2 ] && [ -f member/loaded-by-61001 ]
step "an arm's plug-in is the user's, and runs as the user" $?
writes_nothing calibrate -o "$folder/roots/calibration.json"
writes_nothing selftest -q --only sender-busy -d 10 --json link/matrix.json
[ -z "$(ls member | grep loaded-by-0)" ]
step "root loaded nothing of the user's" $?
exit $failed
