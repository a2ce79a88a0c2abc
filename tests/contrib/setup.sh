#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `icepath setup` lets an ordinary user of the group do without root, and what not: setup.sh BUILD.
# Prints each step; 0 if all of them went as they should. Users and the installed icepath are those of a mount
# namespace, so nothing of them is left.
set -u
build=$(cd "$1" && pwd)
if [ -z "${2:-}" ]; then
	[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
	exec unshare --mount --propagation private "$0" "$build" inside
fi
folder=/mnt # nobody but root may write to it, or to what is above it
mount -t tmpfs -o mode=755 tmpfs $folder && cd $folder || exit 1
failed=0

prepare() {
	set -e
	cmake --install "$build" --prefix $folder/usr >log
	cp -a /etc/passwd /etc/group .
	for user in member:61001 stranger:61002 second:61004; do
		name=${user%:*} number=${user#*:}
		echo "$name:x:$number:$number::$folder/$name:/bin/sh" >>passwd
		echo "$name:x:$number:" >>group
		install -d -o "$number" -g "$number" "$name"
	done
	install -d root
	sed -i /^icepath:/d group
	echo 'icepath:x:61003:member,second' >>group
	mount --bind $folder/passwd /etc/passwd
	mount --bind $folder/group /etc/group
	set +e
}

as() { # USER command...
	(cd "$folder/$1" && timeout 240 setpriv --reuid="$1" --regid="$1" --init-groups \
		env -i PATH=/usr/bin:/bin LANG=C.UTF-8 "${@:2}" >$folder/said 2>&1)
}

step() { # NAME STATUS
	if [ "$2" -eq 0 ]; then
		echo "ok: $1"
	else
		echo "FAILED: $1"
		cat $folder/said
		failed=1
	fi
}

says() { # STATUS TEXT USER command...: ends with that status and says that
	as "${@:3}"
	[ $? -eq "$1" ] && grep -qF -- "$2" $folder/said
	step "$3: ${*:4}: $2" $?
}

is() { # RIGHTS: of the helper
	[ "$(stat -c '%U:%G %a' $helper)" = "$1" ]
	step "the helper is $1" $?
}

icepath=$folder/usr/bin/icepath helper=$folder/usr/libexec/icepath/icepath-helper
a_run=(run -q -t pipe,uds-stream -s 64 --patterns pingpong -d 6)
prepare || exit 1

says 0 'no capabilities' member $icepath setup
says 0 'makes it root:icepath 0750' member $icepath setup
says 3 'has no capabilities, which `sudo icepath setup --caps` gives it' member $icepath "${a_run[@]}"
says 3 'CAP_BPF (kernel.unprivileged_bpf_disabled=' member $icepath doctor -v
says 3 'only root can do this' member $icepath setup --caps
says 2 'there is no group nobodys' root $icepath setup --caps --group nobodys
chmod 777 usr/libexec/icepath
says 3 'may be written to by others' root $icepath setup --caps
chmod 755 usr/libexec/icepath
is 'root:root 755'

says 0 'root:icepath 0750, cap_perfmon,cap_bpf=p' root $icepath setup --caps
is 'root:icepath 750'
as member $icepath "${a_run[@]}" -o out
[ $? -eq 0 ] && [ -f member/out/capture.icp ] && [ -z "$(find member/out ! -user member)" ]
step "a member's run, which is the member's" $?
as member sh -c "grep -q '\"complete\": *[1-9]' out/run.json"
step "with paths" $?
says 0 'icepath-helper has CAP_BPF and CAP_PERFMON' member $icepath doctor -v
for refused in '--isolate full' '--tune net.core.rmem_max=8M' '--sched fifo'; do
	says 3 "${refused%% net*} needs root: run \`sudo icepath run\`" member $icepath "${a_run[@]}" $refused
done
says 3 'run `sudo icepath selftest`' member $icepath selftest
says 3 'run `sudo icepath calibrate`' member $icepath calibrate
says 3 'only members of the group icepath' stranger $icepath "${a_run[@]}"
says 3 'no_new_privs is set' member setpriv --no-new-privs $icepath "${a_run[@]}"
says 3 'user namespace' member unshare --user $icepath "${a_run[@]}"
says 2 'is started by icepath alone' member $helper
# While the named user measures, nobody else does on the same CPUs, until that is killed.
refused_beside() { # USER others...
	(cd "$1" && exec setpriv --reuid="$1" --regid="$1" --init-groups env -i PATH=/usr/bin:/bin \
		$icepath run -q -t pipe -s 64 --patterns pingpong -d 60 -o "beside-$2" >$folder/beside 2>&1) &
	measures=$!
	for _ in $(seq 300); do
		[ -e "$1/beside-$2/capture.icp.partial" ] && break
		sleep 0.1
	done
	for other in "${@:2}"; do
		says 3 "another icepath (pid $measures) is measuring on CPU" "$other" $icepath "${a_run[@]}"
	done
	kill -9 $measures
	wait $measures 2>$folder/killed
}
refused_beside member second root
refused_beside root member
as second $icepath "${a_run[@]}"
step "a run after these" $?
(cd member && SUDO_UID=61001 $icepath "${a_run[@]}" -o as-before >$folder/said 2>&1)
step "sudo's run" $?

# What a member still holds open of a helper that is replaced.
exec 9<$helper
cmake --install "$build" --prefix $folder/usr >$folder/said
python3 -c 'import os, sys; sys.exit("security.capability" in os.listxattr(9))'
step "an upgrade takes the old helper's capabilities" $?
exec 9<&-
says 0 'root:icepath 0750, cap_perfmon,cap_bpf=p' root $icepath setup --caps

says 0 'root:root 0755, no capabilities' root $icepath setup --caps --undo
is 'root:root 755'
says 0 'had been given nothing' root $icepath setup --caps --undo
says 3 'tracing needs root' member $icepath "${a_run[@]}"
exit $failed
