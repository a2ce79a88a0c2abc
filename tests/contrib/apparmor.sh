#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether the parser takes a profile, without a warning, for kernels that have what it speaks of: apparmor.sh PROFILE.
PATH=$PATH:/usr/sbin:/sbin
said=$(apparmor_parser --skip-kernel-load --skip-cache --warn all --features-file /etc/apparmor.d/abi/3.0 "$1" 2>&1)
status=$?
[ -z "$said" ] || echo "$said"
[ $status -eq 0 ] && [ -z "$said" ]
