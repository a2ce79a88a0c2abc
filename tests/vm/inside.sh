#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs inside the VM: the steps that are named on its command line, each with a line of its own on the console. Ends
# with 1 if one failed.
build=$(tail -n 1 /etc/icepath-folders)
bin=$build/bin
failed_steps=

# step NAME command...: what the command said is shown where it failed.
step() {
	name=$1
	shift
	begin=$(date +%s)
	if "$@" >/tmp/step.log 2>&1; then
		echo "vm: ok $name ($(($(date +%s) - begin)) s)"
	else
		echo "vm: FAILED $name"
		cat /tmp/step.log
		case " $failed_steps " in *" $steps "*) ;; *) failed_steps="$failed_steps $steps" ;; esac
	fi
}

says() { # FILE PATTERN...: each is in the file
	file=$1
	shift
	for pattern; do
		grep -q -- "$pattern" "$file" || { cat "$file"; echo "expected: $pattern"; return 1; }
	done
}

doctor_can_run() {
	"$bin/icepath" doctor --json >/tmp/doctor.json || { cat /tmp/doctor.json; return 1; }
	case $(uname -v) in
	*PREEMPT_RT*) says /tmp/doctor.json '"can_run": true' '"preemptible (PREEMPT_RT)' ;;
	*) says /tmp/doctor.json '"can_run": true' '"not preemptible' ;;
	esac
}

gtest() { # BINARY FILTER: all of it passes, and none is skipped
	"$bin/$1" --gtest_brief=1 --gtest_filter="$2" >/tmp/gtest.log 2>&1 && ! grep -q SKIPPED /tmp/gtest.log &&
		! grep -q ' 0 tests from' /tmp/gtest.log || { cat /tmp/gtest.log; return 1; }
}

# By every wait: a small message both ways, a large one (in parts), and how it ends. Of 8 B for signals, which carry no
# more.
conformance_filter='Every/Messages.*_64:Every/Messages.*_8:Every/Messages.*_oneway_65536'
conformance_filter=$conformance_filter':Every/Ends.*_oneway_64:Every/Ends.*_oneway_8:Every/FanIn.*_64:Every/Absent.*'
conformance() { # NAME or *: each plug-in by itself, so that a failure names it
	for plugin in "$build"/lib/icepath/icepath-$1.so; do
		name=$(basename "$plugin" .so)
		name=${name#icepath-}
		[ "$name" != ros ] || continue # its daemon is a Python program, and the VM has no Python
		ICEPATH_CONFORMANCE_PLUGIN=$name step "conformance $name" gtest test_conformance "$conformance_filter"
	done
}

isolated_by_boot() {
	"$bin/icepath" doctor -v >/tmp/doctor.txt
	says /tmp/doctor.txt 'CPUs 2 and 3: both isolated' 'the kernel puts no other tasks on these CPUs' \
		'nohz_full: no tick'
}

# Only who is in the partition may run there.
isolated_by_partition() {
	cgroup=/sys/fs/cgroup
	echo +cpuset >$cgroup/cgroup.subtree_control && mkdir $cgroup/quiet && echo 2-3 >$cgroup/quiet/cpuset.cpus &&
		echo isolated >$cgroup/quiet/cpuset.cpus.partition || return 1
	sh -c "echo \$\$ >$cgroup/quiet/cgroup.procs; exec '$bin/icepath' doctor -v" >/tmp/doctor.txt
	says /tmp/doctor.txt 'CPUs 2 and 3: both isolated' 'the kernel puts no other tasks on these CPUs' || return 1
	rmdir $cgroup/quiet
}

# On the console: how much of the time of busy tasks is on the run's CPUs, without and with --isolate full.
isolated_by_icepath() {
	gtest test_partition '*'
	result=$?
	grep '^busy tasks' /tmp/gtest.log
	return $result
}

# On the console: what takes time from the run's CPUs beside a busy task for each CPU, before and after isolating them.
noise() {
	hogs=
	for _ in 1 2 3 4; do
		while :; do :; done &
		hogs="$hogs $!"
	done
	"$bin/icepath" doctor --noise --isolate full --cpus 2,3 -d 3 >/tmp/noise.txt 2>&1
	result=$?
	kill $hogs
	sed 's/^/txt: /' /tmp/noise.txt >/dev/console
	[ $result -eq 0 ]
}

# Before 6.2 there are no partitions that a run could lose or have.
changed_machine() {
	case $(uname -r) in 6.1.*) those='-*artition*' ;; *) those='*' ;; esac
	gtest test_changed_machine "${changes:-$those}"
}

# Before 6.2 there are no partitions.
callers_hands() { # FILTER
	case $(uname -r) in 6.1.*) those="$1:-PartitionOf*" ;; *) those=$1 ;; esac
	gtest test_callers_hands "$those"
}

# By sudo itself, from a group that systemd would have delegated to that user, who then writes VALUE to FILE in it. Of
# what is in it, a frozen icepath is killed by its user as well. FILE VALUE
called_from_own_group() {
	setting=/proc/sys/net/core/rmem_max delegated=/sys/fs/cgroup/delegated raised=7654321
	own=$delegated/own old=$(cat $setting)
	mkdir -p $own /home/nobody && chown -R nobody $delegated /home/nobody && rm -rf /home/nobody/run
	as_user() { su -s /bin/sh nobody -c "$1"; }
	settles_at() { # VALUE
		for _ in $(seq 600); do
			[ "$(cat $setting)" != "$1" ] || return 0
			sleep 0.1
		done
		echo "$setting is $(cat $setting) instead of $1"
		return 1
	}
	(
		echo 0 >$own/cgroup.procs
		as_user "ulimit -f 1000000; ulimit -t 1000; cd /home/nobody && exec sudo -n $bin/icepath run -t pipe \
			--patterns pingpong -d 60 --tune net.core.rmem_max=$raised -o run"
	) >/tmp/called.log 2>&1 &
	settles_at $raised && [ -n "$(cat $own/cgroup.procs)" ] || { # or it has ended by itself
		cat /tmp/called.log
		return 1
	}
	as_user "echo $2 >$own/$1"
	for process in $([ "$1" = cgroup.kill ] || cat $own/cgroup.procs); do
		[ "$(cat /proc/"$process"/comm)" != icepath ] || as_user "kill -KILL $process"
	done
	settles_at "$old"
	result=$?
	echo 0 >$own/cgroup.freeze
	echo 1 >$own/cgroup.kill
	wait
	for _ in $(seq 50); do
		! rmdir $own $delegated || break
		sleep 0.1
	done 2>/dev/null
	"$bin/icepath" doctor --restore || return 1
	return $result
}

random_kills() { ICEPATH_KILLS=${kills:-50} gtest test_end_to_end 'RandomKills.*'; }

# What is started from then on is confined. Root without a user to become may write to /etc, but for the profile.
confine() {
	apparmor_parser --replace --skip-cache /etc/apparmor.d/usr.bin.icepath &&
		says /sys/kernel/security/apparmor/profiles '^icepath (enforce)$' || return 1
	! "$bin/icepath" run -q -t pipe --patterns pingpong -d 10 -o /etc/run 2>/tmp/refused.txt && [ ! -e /etc/run ] &&
		says /tmp/refused.txt 'Permission denied' && dmesg -c | grep -q 'apparmor="DENIED".*profile="icepath".*/etc/run'
}

run_as_user() { # SECONDS TARGETS OPTIONS...
	seconds=$1 targets=$2
	shift 2
	mkdir -p /home/nobody && chown nobody /home/nobody && cd /home/nobody && rm -rf run &&
		SUDO_UID=$(id -u nobody) "$bin/icepath" run -q -t "$targets" -s 64 --patterns pingpong -d "$seconds" \
			-o run "$@" &&
		[ -s run/run.json ] && [ -z "$(find run ! -user nobody)" ]
}

# As where AppArmor or a container forbids them: icepath-space makes those of middleware. SECONDS TARGETS
without_user_namespaces() {
	echo 0 >/proc/sys/user/max_user_namespaces && run_as_user "$1" "$2"
	result=$?
	echo 1000 >/proc/sys/user/max_user_namespaces
	return $result
}

user_under_full() {
	run_as_user 15 uds-stream,zeromq/ipc --isolate full --cpus 2,3 && says run/run.json '"level": "full"' \
		"interrupts of devices keep off CPUs 2-3" && [ ! -s /run/icepath.journal ]
}

# Users may have it from root alone: RLIMIT_RTPRIO is 0.
under_fifo() {
	run_as_user 12 uds-stream,zeromq/ipc --sched fifo:7 && says run/run.json '"fifo_priority": 7'
}

# Of icepath where only root writes, as if it were installed, after `setup --caps`.
run_as_member() { # SECONDS TARGET
	there=/mnt/installed
	grep -q ^member: /etc/passwd || {
		echo 'member:x:61001:61001::/home/member:/bin/sh' >>/etc/passwd
		echo 'icepath:x:61003:member' >>/etc/group
	}
	mkdir -p $there /home/member && chown 61001:61001 /home/member &&
		mount -t tmpfs -o mode=755 tmpfs $there || return 1
	mkdir -p $there/bin $there/lib/icepath &&
		cp "$bin/icepath" "$bin/icepath-helper" "$bin/icepath-worker" $there/bin &&
		cp "$build/lib/icepath/icepath-$2.so" $there/lib/icepath && $there/bin/icepath setup --caps &&
		rm -rf /home/member/run &&
		su member -c "cd && $there/bin/icepath run -q -t $2 -s 64 --patterns pingpong -d $1 -o run" &&
		says /home/member/run/run.json '"complete": *[1-9]' && [ -z "$(find /home/member/run ! -user member)" ]
	result=$?
	umount $there
	return $result
}

was_denied_nothing() { ! dmesg | grep 'apparmor="DENIED"' >/tmp/denied.txt || { sort -u /tmp/denied.txt; return 1; }; }

# TIER: each injection but one can be made on this kernel, and is measured by at least six pairs. The matrix is on the
# console; its verdicts aren't judged: an emulated CPU is too uneven for them (results/README.md).
selftest() {
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control # for throttle
	"$bin/icepath" selftest -q -d "${selftest_seconds:-300}" --stretch "${selftest_stretch:-3}" --tier "$1" \
		--json /tmp/matrix.json >/tmp/matrix.txt 2>&1
	result=$?
	sed 's/^/txt: /' /tmp/matrix.txt >/dev/console
	sed 's/^/json: /' /tmp/matrix.json >/dev/console
	# sk_data_ready is a tracepoint since 6.3, and without it nothing tells to which socket the bytes of a relay go.
	case $(uname -r)-$1 in 6.1.*-tracepoint) unjudged=1 ;; *) unjudged=0 ;; esac
	[ $result -le 1 ] && says /tmp/matrix.json '"not injected": 1,$' &&
		says /tmp/matrix.json "\"not judged\": $unjudged$" && ! grep -q 'too few\|no pair of blocks' /tmp/matrix.txt
}

for steps; do
	case $steps in
	selftest-*) step "selftest, ${steps#selftest-}" selftest "${steps#selftest-}" ;;
	without-user-namespaces)
		step "middleware without user namespaces" without_user_namespaces 60 zeromq/ipc,iceoryx,mqtt/qos0
		;;
	doctor) step doctor doctor_can_run ;;
	doctor-tiers) step "doctor, every tier" gtest test_end_to_end 'All/Doctor.*' ;;
	memory) step "shared memory" gtest test_transports 'SharedMapping.*' ;;
	conformance) conformance '*' ;;
	conformance-*) conformance "${steps#conformance-}" ;;
	capture-tiers) step "capture, every tier" gtest test_capture 'TiersTest.*' ;;
	# With fewer sockets, since each takes an emulated CPU long.
	lifetimes)
		export ICEPATH_SOCKET_TURNS=2
		step "objects by their lifetimes" gtest test_capture "Lifetimes.APipes*:All/LifetimesOf*/*_*"
		;;
	fentry | kprobe | tracepoint)
		step "tier $steps" gtest test_end_to_end "All/Tiers.*/$steps:All/KernelAddresses.*/$steps"
		;;
	every-*)
		tier=${steps#every-}
		for wait in block poll epoll spin; do
			step "every transport, $tier, $wait" gtest test_every_tier "All/EveryTier.*/${tier}_$wait"
		done
		;;
	renamed) step "renamed symbols" gtest test_end_to_end 'RenamedSymbol.*' ;;
	renamed-function) step "a renamed symbol" gtest test_end_to_end 'RenamedSymbol.OfAFunction*' ;;
	witness) step witness gtest test_end_to_end 'Witness.*' ;;
	middleware) step "threads and daemons" gtest test_end_to_end 'Middleware.MessagesAreFollowed*' ;;
	capture) step capture gtest test_capture '*' ;;
	stacks)
		step "programs that take stacks" gtest test_capture 'Verifier.*'
		step "whose stacks are told" gtest privilege_machine_test 'ToldStacks.*'
		;;
	attach)
		export ICEPATH_TAKES_BEFORE_KNOWN=160
		step "attach" gtest attach_machine_test 'TruthTest.*/unix:TruthTest.*/tcp_files'
		;;
	attach-all)
		export ICEPATH_TAKES_BEFORE_KNOWN=160
		step "attach" gtest attach_machine_test 'TruthTest.*'
		;;
	watchpoints) step watchpoints gtest test_watchpoints '*' ;;
	isolated-by-boot) step "isolated by the kernel's command line" isolated_by_boot ;;
	user-under-full) step "a user under --isolate full" user_under_full ;;
	under-fifo) step "a user under SCHED_FIFO" under_fifo ;;
	without-root | without-root-all)
		case $steps in *-all) those='WithoutRoot.*:MembersClaims.*' ;; *) those='MembersClaims.ItsCpus*' ;; esac
		step "without root" gtest privilege_machine_test "$those"
		step "a member measures" run_as_member 6 pipe
		;;
	# Debian's kernels have overlayfs as a module, which isn't here.
	members-tasks | members-tasks-all)
		case $steps in *-all) those='*MembersTasks*:-*Overlayfs*' ;; *) those='MembersTasks.Nothing*' ;; esac
		ICEPATH_SOCKET_TURNS=2 step "whom a member watches" gtest privilege_machine_test "$those"
		;;
	isolated-by-partition) step "isolated by a cgroup partition" isolated_by_partition ;;
	isolated-by-icepath)
		step "isolated by icepath" isolated_by_icepath && grep '^busy tasks' /tmp/step.log | sed 's/^/vm: /'
		;;
	changed-machine) step "the machine changes during a run" changed_machine ;;
	noise) step "noise beside busy tasks" noise ;;
	called-from-own-group)
		step "called by sudo from a group that is killed" called_from_own_group cgroup.kill 1
		step "called by sudo from a group that is frozen" called_from_own_group cgroup.freeze 1
		;;
	callers-hands)
		step "a caller's hands" callers_hands 'CallersHands.Kill*:CallersHands.Freeze*:*/FrozenByV2:PartitionOf*'
		;;
	callers-hands-all) step "a caller's hands" callers_hands '*' ;;
	random-kills) step "random kills under --isolate full" random_kills ;;
	confined) step "confined by AppArmor" confine ;;
	user-*)
		wish=${steps#user-}
		step "a user measures ${wish#*-}" run_as_user "${wish%%-*}" "${wish#*-}"
		;;
	not-denied) step "AppArmor denied nothing" was_denied_nothing ;;
	shell) setsid sh -c 'exec sh </dev/ttyS0 >/dev/ttyS0 2>&1' ;;
	*) step "there is no step $steps" false ;;
	esac
done
[ -n "$failed_steps" ] || exit 0
echo "vm: failed steps:$failed_steps"
exit 1
