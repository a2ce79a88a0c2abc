# SPDX-License-Identifier: Apache-2.0
# A toolchain file: compiles for arm64 by Debian's cross compiler, with the libraries that tests/arm64/sysroot.sh has
# unpacked into ICEPATH_ARM64_ROOT. Tests and programs of the build run by qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ICEPATH_ARM64_ROOT)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi) # which tells of a change in GCC 10
set(CMAKE_SYSROOT ${ICEPATH_ARM64_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${ICEPATH_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ICEPATH_ARM64_ROOT})
set(ENV{PKG_CONFIG_LIBDIR}
  ${ICEPATH_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ICEPATH_ARM64_ROOT}/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${ICEPATH_ARM64_ROOT})
