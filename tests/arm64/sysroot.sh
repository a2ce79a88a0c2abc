#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian 12's libraries for arm64, as far as icepath needs them, into FOLDER, unless that is there; and
# FOLDER/vmlinux.btf, the types of Debian's arm64 kernel, of which vmlinux.h is made: sysroot.sh FOLDER. Nothing in it
# is installed or run.
set -eu
folder=$1 source=$(cd "$(dirname "$0")/../.." && pwd)
[ ! -e "$folder/vmlinux.btf" ] || exit 0
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
# What is compiled for arm64 links the libraries of [build], and GoogleTest.
libraries=$(sed -n -E '/^\[build\]/,/^\[mid/s/^(lib[^ |]*-dev|nlohmann[^ ]*|zlib1g-dev) .*/\1/p' \
	"$source/cmake/debian-packages.txt" | paste -s -d ,)
rm -rf --one-file-system "$folder"
"$source/cmake/quietly.sh" mmdebstrap --architectures=arm64 --variant=extract --mode=root \
	--include="libc6-dev,libgtest-dev,linux-image-arm64,$libraries" bookworm "$folder" "deb $mirror bookworm main"
rm -rf "$folder/lib/modules" "$folder/usr/lib/modules"
python3 - "$folder" <<'END'
import glob, struct, sys, zlib

folder = sys.argv[1]
[path] = glob.glob(f"{folder}/boot/vmlinuz-*")
with open(path, "rb") as file:
    image = file.read()
if image[:2] == b"\x1f\x8b":
    image = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(image)
# struct btf_header: magic, version, flags, length of the header; then offsets and lengths of types and strings
header = struct.pack("<HBBI", 0xEB9F, 1, 0, 24)
found = []
at = image.find(header)
while at >= 0:
    _, _, strings_at, strings_length = struct.unpack_from("<4I", image, at + 8)
    found.append(image[at : at + 24 + strings_at + strings_length])
    at = image.find(header, at + 1)
with open(f"{folder}/vmlinux.btf", "wb") as file:
    file.write(max(found, key=len))
END
