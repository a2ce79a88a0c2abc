# SPDX-License-Identifier: Apache-2.0
# add_bpf_skeleton(name source): compiles a BPF program and makes <name>.skel.h of it.
#
# The INTERFACE target <name>_skel brings the header's folder and libbpf. vmlinux.h, with the kernel's types, is
# generated once per build folder from ICEPATH_VMLINUX_BTF; programs are CO-RE, so the kernel that runs them may be
# another.
include_guard(GLOBAL)

set(ICEPATH_VMLINUX_BTF /sys/kernel/btf/vmlinux CACHE FILEPATH "Kernel type information from which vmlinux.h is made")
set(bpf_folder ${CMAKE_BINARY_DIR}/bpf)

# Chosen by trying: a clang may lack the BPF target, and Ubuntu's bpftool is a script that refuses foreign kernels.
function(icepath_find_bpf_clang result)
  file(WRITE ${bpf_folder}/trial.c "int trial(void *context) { return context != 0; }\n")
  foreach(candidate clang-19 clang-20 clang-21 clang-18 clang-17 clang-16 clang-15 clang clang-14)
    find_program(clang_path ${candidate} NO_CACHE)
    if(clang_path)
      execute_process(COMMAND ${clang_path} -O2 -g -target bpf -mcpu=v3 -c ${bpf_folder}/trial.c
        -o ${bpf_folder}/trial.o
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(NOT failed)
        set(${result} ${clang_path} PARENT_SCOPE)
        return()
      endif()
    endif()
    unset(clang_path)
  endforeach()
  message(FATAL_ERROR
    "No clang here compiles for the BPF target (-target bpf -mcpu=v3): run `make deps`, or install clang-19.")
endfunction()

function(icepath_find_bpftool result)
  # Debian keeps it in sbin, which isn't on an ordinary user's PATH.
  find_program(bpftool_path bpftool NO_CACHE PATHS /usr/sbin /usr/local/sbin)
  if(bpftool_path)
    execute_process(COMMAND ${bpftool_path} version RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(NOT bpftool_path OR failed)
    message(FATAL_ERROR
      "bpftool, which makes the BPF skeleton, is missing or doesn't run: run `make deps`, or install bpftool.")
  endif()
  set(${result} ${bpftool_path} PARENT_SCOPE)
endfunction()

if(NOT EXISTS ${ICEPATH_VMLINUX_BTF})
  message(FATAL_ERROR
    "${ICEPATH_VMLINUX_BTF} isn't there, so vmlinux.h can't be made: mount /sys (in a chroot), use a kernel "
    "built with CONFIG_DEBUG_INFO_BTF, or give a copy of another kernel's by -DICEPATH_VMLINUX_BTF=FILE.")
endif()
pkg_check_modules(LIBBPF REQUIRED IMPORTED_TARGET GLOBAL libbpf>=1.1)
icepath_find_bpf_clang(ICEPATH_BPF_CLANG)
icepath_find_bpftool(ICEPATH_BPFTOOL)
message(STATUS "BPF programs: ${ICEPATH_BPF_CLANG}, ${ICEPATH_BPFTOOL}, types of ${ICEPATH_VMLINUX_BTF}")

# The names by which bpf_tracing.h knows the machines whose registers it can read.
set(bpf_arch_of_x86_64 x86)
set(bpf_arch_of_aarch64 arm64)
set(bpf_arch_of_riscv64 riscv)
set(bpf_arch_of_ppc64le powerpc)
set(bpf_arch_of_s390x s390)
set(ICEPATH_BPF_ARCH ${bpf_arch_of_${CMAKE_SYSTEM_PROCESSOR}})
if(NOT ICEPATH_BPF_ARCH)
  message(FATAL_ERROR
    "No BPF programs for ${CMAKE_SYSTEM_PROCESSOR}: add its bpf_tracing.h name to cmake/BpfObject.cmake.")
endif()

# Written under another name first: a failed dump must not leave an empty header that looks up to date.
add_custom_command(OUTPUT ${bpf_folder}/vmlinux.h
  COMMAND ${ICEPATH_BPFTOOL} btf dump file ${ICEPATH_VMLINUX_BTF} format c > ${bpf_folder}/vmlinux.h.new
  COMMAND ${CMAKE_COMMAND} -E rename ${bpf_folder}/vmlinux.h.new ${bpf_folder}/vmlinux.h
  COMMENT "vmlinux.h" VERBATIM)
add_custom_target(icepath_vmlinux DEPENDS ${bpf_folder}/vmlinux.h)

function(add_bpf_skeleton name source)
  get_filename_component(source ${source} ABSOLUTE)
  set(object ${bpf_folder}/${name}.bpf.o)
  set(skeleton ${bpf_folder}/${name}.skel.h)
  set(includes ${LIBBPF_INCLUDE_DIRS})
  list(TRANSFORM includes PREPEND -I)
  add_custom_command(OUTPUT ${object}
    COMMAND ${ICEPATH_BPF_CLANG} -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_${ICEPATH_BPF_ARCH}
      -Wall -Wextra $<$<BOOL:${ICEPATH_WERROR}>:-Werror> -Wno-missing-declarations -Wno-unused-parameter
      -I${CMAKE_SOURCE_DIR} -isystem ${bpf_folder} ${includes} -MD -MF ${object}.d -MT ${object} -c ${source}
      -o ${object}
    DEPENDS ${source} icepath_vmlinux ${bpf_folder}/vmlinux.h DEPFILE ${object}.d COMMENT "BPF ${name}" VERBATIM
    COMMAND_EXPAND_LISTS)
  add_custom_command(OUTPUT ${skeleton}
    COMMAND ${ICEPATH_BPFTOOL} gen skeleton ${object} name ${name}_bpf > ${skeleton}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.new ${skeleton}
    DEPENDS ${object} COMMENT "BPF ${name}.skel.h" VERBATIM)
  add_custom_target(${name}_skel_header DEPENDS ${skeleton})
  add_library(${name}_skel INTERFACE)
  add_dependencies(${name}_skel ${name}_skel_header)
  # Generated code doesn't follow the house's warnings.
  target_include_directories(${name}_skel SYSTEM INTERFACE ${bpf_folder})
  target_link_libraries(${name}_skel INTERFACE PkgConfig::LIBBPF)
endfunction()
