#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts sudo into the root of an initramfs, for the user nobody, without a password, and in the caller's terminal as
# where use_pty is off:
#
#   tests/vm/sudo.sh UNPACKED ROOT
set -eu
unpacked=$1 root=$2
modules=lib/x86_64-linux-gnu/security
mkdir -p "$root/usr/bin" "$root/usr/libexec" "$root/etc/pam.d" "$root/$modules"
cp "$unpacked/usr/bin/sudo" "$root/usr/bin"
chmod 4755 "$root/usr/bin/sudo"
cp -r "$unpacked/usr/libexec/sudo" "$root/usr/libexec"
cp "$unpacked/$modules/pam_permit.so" "$root/$modules"
for kind in auth account session; do
	echo "$kind required pam_permit.so"
done >"$root/etc/pam.d/sudo"
printf 'Defaults !use_pty\nnobody ALL=(root) NOPASSWD: ALL\n' >"$root/etc/sudoers"
chmod 440 "$root/etc/sudoers"
