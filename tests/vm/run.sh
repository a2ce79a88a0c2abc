#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Boots Debian's stock kernels with the build's own programs and runs tests inside them:
#
#   tests/vm/run.sh SOURCE BUILD prepare|short|full [kernel...]
#
# `prepare` fetches the kernels and packs the programs, which `short` needs done before. With ICEPATH_ONCE_MORE set,
# only the boots that failed the last time are made again, and only the failed steps of one whose steps are independent.
#
# Nothing of it is about time: an emulated CPU is some fifty times slower than a real one, and unevenly so.
set -eu
if [ "$(uname -m)" != x86_64 ] || ! command -v apt-get >/dev/null; then
	echo "skipped: Debian's kernels are fetched by apt-get, and for x86-64 only"
	exit 77
fi
source=$(realpath "$1") build=$(realpath "$2") length=$3
shift 3
# A CPU more than the two that may both be polled on, for the kernel's threads that carry messages (vsock, SQPOLL).
# Each line is a boot of its own, of independent steps: what the emulator stumbles over is begun again from there.
case $length in
prepare | short)
	kernels=${*:-6.1 6.12}
	steps='doctor capture-tiers lifetimes stacks renamed-function fentry kprobe under-fifo'
	steps="$steps without-root members-tasks attach"
	seconds=1200 programs=
	# The emulator would take the CPUs from the tests beside it: two that poll wait for a turn with each message. At
	# nice 5 a task weighs a third of theirs, and no less, as helpers inside must answer within seconds.
	[ "$length" = prepare ] || renice -n 5 $$ >/dev/null ;;
full)
	kernels=${*:-6.1 6.12 6.1-rt 6.12-rt}
	steps='doctor doctor-tiers capture stacks memory watchpoints renamed
fentry every-fentry
kprobe every-kprobe
tracepoint every-tracepoint
middleware
without-user-namespaces
without-root-all
members-tasks-all
attach-all
conformance
confined user-100-all-transports not-denied
confined user-100-all-installed not-denied'
	# The daemons of middleware are where an ordinary user's PATH doesn't lead.
	seconds=1800
	programs="bpftrace unshare $(PATH=$PATH:/usr/sbin command -v iox-roudi mosquitto nats-server dbus-daemon || true)"
	;;
*) echo "vm: prepare, short or full, not $length" >&2; exit 2 ;;
esac
fetched=$build/vm
failed=0

if [ "$length" != short ]; then
	# shellcheck disable=SC2086
	"$source/tests/vm/fetch.sh" "$fetched" $kernels || exit
	# shellcheck disable=SC2086
	"$source/tests/vm/initramfs.sh" "$source" "$build" "$fetched" "$fetched/initramfs" $programs
	[ "$length" != prepare ] || exit 0
fi
once_more=${ICEPATH_ONCE_MORE:-}
for kernel in $kernels; do
	rm -f "$fetched/console-$kernel"-*.verdict
	[ -n "$once_more" ] || rm -f "$fetched/boot-$kernel"-*
done
# KERNEL CPUS "KERNEL OPTIONS -- STEPS" [independent]: what is left to do of it is in a file: nothing, some of its
# steps, or all of them.
boot() {
	local left before=${3%%-- *} steps=${3##*-- }
	left=$fetched/boot-$1-${steps%% *}
	if [ -n "$once_more" ] && [ -e "$left" ]; then
		[ -s "$left" ] || return 0
		[ -z "${4:-}" ] || steps=$(cat "$left")
	fi
	if "$source/tests/vm/boot.sh" "$fetched" "$1" "$fetched/initramfs" "$seconds" "$2" "$before-- $steps" "$left"; then
		: >"$left"
	else
		failed=1
	fi
}
boots_of() {
	local kernel=$1 failed=0 isolation line tier form user=user-15-uds-stream,tcp,vsock,shm-ring,mqueue
	# The witness looks at sk_data_ready, which came with 6.3.
	[ "$length-${kernel%-rt}" = full-6.1 ] || [ "$length" = short ] || boot "$kernel" 2 "-- witness"
	while read -r line; do
		boot "$kernel" 3 "-- $line" independent
	done <<<"$steps"
	[ "$length" = short ] || for tier in fentry kprobe tracepoint; do
		# No CPU more: its ticks would take time from the two, of a host that has two as well.
		boot "$kernel" 2 "-- selftest-$tier"
		for form in txt json; do
			sed -n "s/^$form: //p" "$fetched/console-$kernel-selftest-$tier.log" \
				>"$fetched/selftest-$kernel-$tier.$form"
		done
	done
	boot "$kernel" 4 "isolcpus=domain,managed_irq,2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0 -- isolated-by-boot"
	case $length-$kernel in # before 6.2 icepath makes no partition
	short-6.1) isolation="isolated-by-partition callers-hands called-from-own-group confined $user" ;;
	short-*) isolation="isolated-by-partition isolated-by-icepath callers-hands confined $user" ;;
	*)
		isolation='isolated-by-partition isolated-by-icepath noise random-kills changed-machine callers-hands-all'
		isolation="$isolation called-from-own-group confined"
		;;
	esac
	boot "$kernel" 4 "-- $isolation user-under-full not-denied"
	return $failed
}
# The short version asserts no figure of time, so its machines may share the host's CPUs. Of the full one, the
# selftest's figures are kept. Each machine is a process group, so that none outlives this script.
set -m
trap 'for machine in $(jobs -p); do kill -- "-$machine"; done; exit 130' INT TERM
for kernel in $kernels; do
	if [ "$length" = short ]; then
		boots_of "$kernel" &
	else
		boots_of "$kernel" || failed=1
	fi
done
for machine in $(jobs -p); do
	wait "$machine" || failed=1
done
# Once more at the end, where no other machine's output is between.
[ $failed -eq 0 ] || for kernel in $kernels; do cat "$fetched/console-$kernel"-*.verdict; done
exit $failed
