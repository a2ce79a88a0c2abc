#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A machine that is interrupted leaves no emulator behind: boot.sh with one that does nothing. interrupted.sh SOURCE
set -eu
folder=$(mktemp -d /tmp/icepath-vm-XXXXXX)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/unpacked/usr/bin"
cat >"$folder/unpacked/usr/bin/qemu-system-x86_64" <<END
#!/bin/sh
echo \$\$ >$folder/pid.new && mv $folder/pid.new $folder/pid
exec sleep 300
END
chmod +x "$folder/unpacked/usr/bin/qemu-system-x86_64"

set -m # a group of its own, as run.sh has it
"$1/tests/vm/boot.sh" "$folder" none "$folder/none" 300 1 "-- step" "$folder/left" >/dev/null 2>&1 &
machine=$!
until [ -e "$folder/pid" ]; do sleep 0.1; done
kill -- -$machine
wait $machine || true
emulator=$(cat "$folder/pid")
for _ in $(seq 100); do
	# Ended, or only its parent has to take note of it.
	[ -e "/proc/$emulator" ] && ! grep -q '^State:.*Z' "/proc/$emulator/status" || exit 0
	sleep 0.1
done
echo "the emulator, process $emulator, outlives the test that began it"
kill "$emulator"
exit 1
