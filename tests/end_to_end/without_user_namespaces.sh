#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program in a root that forbids user namespaces, as a chroot does: without_user_namespaces.sh FOLDER BUILD
# PROGRAM ARGUMENT... FOLDER is that root's /tmp, BUILD keeps its path. Everything ends with the last process.
set -eu
folder=$1 build=$2
shift 2
mount --make-rprivate /
mount -t tmpfs root /mnt
# A root that isn't a mount point, as is possible with chroot.
mkdir /mnt/root
cd /mnt/root
for shared in usr bin lib lib64 etc proc dev sys; do
	[ -e /$shared ] || continue
	mkdir $shared
	mount --rbind /$shared $shared
done
mkdir run tmp
mount --bind "$folder" tmp
mkdir -p ".$build" # perhaps below /tmp
mount --bind "$build" ".$build"
exec chroot /mnt/root "$@"
