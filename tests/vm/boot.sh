#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Boots a kernel with an initramfs under qemu, without KVM, and judges its console: what inside.sh says of its steps is
# printed; a hang, a kernel's complaint or a failed step fails it. What the console says of that is printed, and is in a
# file beside it (.verdict).
#
# If it fails, the steps to do again are written to LEFT: those that failed, or all where it didn't come to its end.
#
#   tests/vm/boot.sh FETCHED KERNEL INITRAMFS SECONDS CPUS "KERNEL OPTIONS -- STEPS" LEFT
set -eu
fetched=$1 kernel=$2 initramfs=$3 seconds=$4 cpus=$5 line=$6 left=$7
root=$fetched/unpacked
console=$fetched/console-$kernel-$(echo "${line##*-- }" | tr " " "-").log
log_length=60
# A loop of the delay calibration is two turns of it (lpj_fine).
tsc_khz=$(awk '/^bogomips/ { printf "%.0f", $3 * 500; exit }' /proc/cpuinfo)

# Multi-threaded TCG: each virtual CPU is a thread. "tsc=reliable": its default clock, the HPET, takes microseconds to
# read. It is the host's own counter, whose frequency a guest that begins on a busy host may find out wrong by a factor
# of two. "mitigations=off": what guards a real CPU's speculation only costs an emulated one time. "oops=panic": a
# kernel that one of its CPUs left in the middle of something would hang until the time is up. "--foreground": timeout
# would make a group of its own, and qemu outlive this script's.
boot() {
	LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu timeout --foreground "$seconds" \
		"$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/seabios" -L "$root/usr/share/qemu" \
		-accel tcg,thread=multi -cpu max -smp "$cpus" -m 2048 -nographic -nodefaults -no-reboot \
		-serial stdio -net none \
		-kernel "$fetched/kernels/$kernel" -initrd "$initramfs" \
		-append \
		"console=ttyS0 loglevel=5 panic=-1 tsc=reliable tsc_early_khz=$tsc_khz mitigations=off oops=panic $line" \
		</dev/null 2>&1 |
		sed -u 's/\r$//' | tee "$console" | sed -un "s/^vm: /$kernel: /p" || true
}
boot
# Each probe's coming and going patches the kernel's code by way of a breakpoint, and now and then an emulated CPU runs
# into one that is gone (an int3 that the kernel doesn't know, where its code reads as a nop): again then, and only
# then.
for _ in 1 2; do
	grep -aq 'Oops: int3' "$console" || break
	echo "$kernel: the emulator ran into a breakpoint that was gone: booting again"
	boot
done

verdict=
grep -aEq 'BUG:|Oops|WARNING: |general protection|Kernel panic|rcu: INFO|blocked for more than|soft lockup|BUG \(' \
	"$console" &&
	verdict='the kernel complained'
grep -aq '^vm: done 0$' "$console" || verdict=${verdict:-$(grep -aq '^vm: done' "$console" &&
	echo 'a step failed' || echo "it hung, or died, within $seconds s")}
if [ -n "$verdict" ]; then
	echo "$kernel: $verdict: $console"
	echo "${line##*-- }" >"$left"
	case $verdict in
	'a step failed')
		failed=$(sed -n 's/^vm: failed steps: //p' "$console")
		[ -z "$failed" ] || echo "$failed" >"$left"
		awk '/^vm: / { failed = /^vm: FAILED/ } failed' "$console" ;;
	*) cat "$console" ;;
	esac | tail -n $log_length
fi | tee "${console%.log}.verdict"
[ -z "$verdict" ]
