#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes an initramfs of a build's programs, with their libraries, at the very paths that they have here:
#
#   tests/vm/initramfs.sh SOURCE BUILD FETCHED FILE [program...]
#
# FETCHED is fetch.sh's folder; the programs (paths) are wanted inside as well, such as bpftrace.
set -eu
source=$1 build=$2 fetched=$3 file=$4
shift 4
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
find_program() { PATH=$PATH:$fetched/unpacked/bin:$fetched/unpacked/usr/bin command -v "$1"; }

mkdir -p "$root"/{bin,proc,sys,dev,tmp,mnt,etc,run,"$build/bin","$build/lib/icepath/selftest","$source"}
chmod 755 "$root" # for who isn't root
cp "$(find_program busybox)" "$root/bin/busybox"
cp "$(find_program sleep)" "$root/bin" # that gets rights in tests: busybox would give them up
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
"$source/tests/vm/sudo.sh" "$fetched/unpacked" "$root"
cp "$source/tests/vm/init" "$root/init"
cp "$source/tests/vm/inside.sh" "$root/inside.sh"
cp -r "$fetched/unpacked/etc/apparmor.d" "$root/etc"
cp "$(PATH=$fetched/unpacked/sbin command -v apparmor_parser)" "$root/bin"
sed -e "s,^@{icepath} = .*,@{icepath} = \"$build\"," -e "s,/libexec/icepath/,/bin/," \
	"$source/contrib/apparmor.d/usr.bin.icepath" >"$root/etc/apparmor.d/usr.bin.icepath"
cp -r --parents "$source/tools" "$root"
printf '%s\n' "$source" "$build" >"$root/etc/icepath-folders"

# Debug information is nine tenths of a program.
for program in icepath icepath-helper icepath-worker test_conformance test_transports test_end_to_end \
	test_every_tier test_partition test_changed_machine test_callers_hands test_capture test_watchpoints \
	privilege_machine_test drops_rights attach_machine_test; do
	strip --strip-debug -o "$root$build/bin/$program" "$build/bin/$program"
done
for plugin in "$build"/lib/icepath/*.so "$build"/lib/icepath/selftest/*.so; do
	strip --strip-debug -o "$root$plugin" "$plugin"
done
find "$build/tests" -name 'icepath-*.so' -exec cp --parents {} "$root" \;
for program; do
	cp --parents -L "$(find_program "$program")" "$root"
done

# As ldd has it: "name => path" and the loader.
find "$root" -type f \( -perm -u+x -o -name '*.so' \) -exec ldd {} \; 2>/dev/null |
	sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | sort -u | while read -r library; do
	mkdir -p "$root$(dirname "$library")"
	cp -L "$library" "$root$library"
done

# Modules of both kernels: what the vsock target, the selftest's network devices and a test's file system need.
for name in vsock vmw_vsock_virtio_transport_common vsock_loopback veth sch_tbf sch_ingress cls_bpf fuse; do
	find "$fetched"/unpacked/lib/modules -name "$name.ko*" | while read -r module; do
		folder=$root/lib/modules/$(basename "${module%/kernel/*}")
		mkdir -p "$folder"
		cp "$module" "$folder"
		case $module in *.xz) xz -d "$folder/$(basename "$module")" ;; esac
	done
done

# Not compressed: unpacking would take the emulated CPU longer than copying. All of it is root's alone inside, whoever
# built it with whatever umask.
chmod -R go=rX "$root"
chmod 1777 "$root/tmp"
(cd "$root" && find . -print0 | "$(find_program cpio)" --null --quiet -o -H newc --owner=+0:+0) >"$file.new"
mv "$file.new" "$file"
