#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# .ci/in-a-home gives each home what it says, ends as its command does, and leaves nothing behind, however it ends:
# in_a_home.sh SOURCE. Prints each step; 0 if all of them went as they should. Users, folders and processes are those of
# namespaces: nothing of them is left, and no call outside is disturbed.
set -u
source=$(cd "$1" && pwd)
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
[ "${2:-}" = inside ] ||
	exec unshare --mount --propagation private --pid --fork --kill-child --mount-proc "$0" "$source" inside
failed=0

prepare() {
	set -e
	mount -t tmpfs -o mode=755 tmpfs /mnt
	cp -a /etc /mnt/etc 2>/mnt/said || true # what ends meanwhile, such as locks
	# Of calls outside.
	rm -f /mnt/etc/*.lock
	sed -i '/icepath-home-/d' /mnt/etc/{passwd,group,shadow,gshadow,subuid,subgid}
	rm -f /mnt/etc/sudoers.d/icepath-home-*
	mkdir -p /mnt/checkout/{.ci,cmake,build,results/2026-run} /mnt/{opt,srv,home,run} /mnt/cache
	cp "$source"/.ci/{in-a-home,alone} /mnt/checkout/.ci
	cp "$source/cmake/quietly.sh" /mnt/checkout/cmake
	touch /mnt/checkout/build/file
	mkdir -m 700 /mnt/root
	for folder in etc opt srv home run root; do
		mount --bind /mnt/$folder /$folder
	done
	export HOME=/root CCACHE_DIR=/mnt/cache
	cd /mnt/checkout
	set +e
}

# What a call may change.
state() {
	cat /etc/passwd /etc/group /etc/shadow /etc/subuid /etc/subgid
	ls -A /etc/sudoers.d /home /opt /run /srv /root
	stat -c '%U %a' "$CCACHE_DIR"
	cat /proc/[0-9]*/comm 2>/dev/null | grep -x sleep || true
}

step() { # NAME STATUS
	[ "$2" -eq 0 ] && echo "ok: $1" || { echo "FAILED: $1"; failed=1; }
}

is() { # NAME EXPECTED FOUND
	[ "$2" = "$3" ]
	step "$1: $3" $?
	[ "$2" = "$3" ] || echo "    instead of: $2"
}

nothing_left() { # AFTER WHAT
	for _ in $(seq 50); do # what was killed needs a moment to end
		state >/mnt/after
		! cmp -s /mnt/before /mnt/after || break
		sleep 0.1
	done
	diff /mnt/before /mnt/after
	step "nothing is left after $1" $?
}

# Starts one that takes long, in the background, and waits until its command runs. Sets call.
begin() { # KIND
	rm -f /tmp/in-a-home.$$
	env --default-signal=INT .ci/in-a-home "$1" sh -c "touch /tmp/in-a-home.$$ && exec sleep 9876" >/mnt/said 2>&1 &
	call=$!
	for _ in $(seq 300); do
		[ ! -e /tmp/in-a-home.$$ ] || break
		sleep 0.1
	done
	[ -e /tmp/in-a-home.$$ ]
	step "a call of kind $1 is under way" $?
	rm -f /tmp/in-a-home.$$
}

prepare || exit 1
state >/mnt/before
tell='pwd; id -un; stat -c "%a %U" ..; ls -d build* results/*; touch made && echo may write; echo "$BUILD"'
of() { .ci/in-a-home "$1" sh -c "$tell" 2>/mnt/said | paste -s -d ' '; }
is root "in a home: root, /root/icepath-home-0/icepath /root/icepath-home-0/icepath root 700 root may write " \
	"$(of root)"
is user 'in a home: user, /home/icepath-home-0/icepath /home/icepath-home-0/icepath icepath-home-0 700 icepath-home-0 '\
'may write ' "$(of user)"
is "its sudo" root "$(.ci/in-a-home user sudo -n id -un 2>/mnt/said | tail -n 1)"
place='/srv/icepath-home-0/a folder with an ü/icepath'
is space "in a home: space, $place $place root 755 root may write " "$(of space)"
place=/srv/icepath-home-0/icepath
is read-only "in a home: read-only, $place $place root 755 root /opt/icepath-home-0/build" "$(of read-only)"
.ci/in-a-home root sh -c 'kill -INT $$' >/mnt/said
is "the status of a command that an interrupt ends" 130 $?
is "of a commit" "$(.ci/in-a-home of-commit pwd)" "$(.ci/in-a-home of-commit pwd)"
.ci/in-a-home user sh -c 'exit 7' >/mnt/said
is "a command's status" 7 $?
.ci/in-a-home each sh -c '[ $IN_A_HOME = space ] || exit 3' >/mnt/said 2>&1
is "the status of each" 1 $?
ends() { grep -E '^in a home: .* s  ' /mnt/said | sed -E 's/^in a home: //; s/ +[0-9]+ s  / /' | paste -s -d ';'; }
is "what each says" 'root FAILED, status 3;user FAILED, status 3;space ok;read-only FAILED, status 3' "$(ends)"
.ci/in-a-home "space root" sh -c 'echo "$IN_A_HOME after $HOMES_BEFORE"' >/mnt/said 2>&1
is "the status of two" 0 $?
is "what two say" 'space ok;root ok' "$(ends)"
is "what is told to the second" 'root after space' "$(grep '^root after' /mnt/said)"
.ci/in-a-home "space rot" touch /mnt/begun >/mnt/said 2>&1
is "the status of a list with a wrong kind" 2 $?
is "what it says" "in-a-home: no kind 'rot': some of root user space read-only, or of-commit or each" \
	"$(cat /mnt/said)"
[ ! -e /mnt/begun ]
step "it began none of them" $?
nothing_left "these"

for signal in INT TERM HUP; do
	for kind in user read-only; do
		begin $kind
		kill -$signal $call
		wait $call
		status=$?
		is "its status after $signal" $((128 + $(kill -l $signal))) $status
		nothing_left "$signal in $kind"
	done
done

# Neither of them can remove anything then.
begin user
kill -KILL $(cat /proc/$call/task/$call/children) $call
wait $call 2>/dev/null
[ -e /etc/sudoers.d/icepath-home-0 ] && [ -e /home/icepath-home-0 ]
step "a kill -9 leaves things behind" $?
.ci/in-a-home root true >/mnt/said
nothing_left "the next call"

begin user
first=$call
is "a second call beside it" /root/icepath-home-1/icepath "$(.ci/in-a-home root pwd | tail -n 1)"
kill $first
wait $first
nothing_left "both"
exit $failed
