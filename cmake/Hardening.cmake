# SPDX-License-Identifier: Apache-2.0
# Every program and plug-in is hardened, not only what keeps root: all of them read what others wrote.
# tests/house/hardened.sh looks at what is installed.
#
# A distribution's own CFLAGS, CXXFLAGS and LDFLAGS decide where they speak of the same: a kind of flag that is in them
# isn't given here.
include_guard(GLOBAL)
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(OUTPUT_VARIABLE why_no_pie LANGUAGES C CXX)
if(NOT CMAKE_CXX_LINK_PIE_SUPPORTED)
  message(FATAL_ERROR "Programs can't be linked as position independent: ${why_no_pie}")
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# harden(KIND FLAG): FLAG for every source, unless the builder's flags have a word with KIND in it, or the compiler
# doesn't know it here.
function(harden kind flag)
  string(MAKE_C_IDENTIFIER "has${flag}" known)
  if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "${kind}")
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
      add_compile_options(${flag})
    endif()
  endif()
endfunction()

harden(stack-protector -fstack-protector-strong)
harden(stack-clash-protection -fstack-clash-protection)
harden(cf-protection -fcf-protection) # x86
# glibc wants optimization for it; AddressSanitizer has its own checks, which it would hide.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(ICEPATH_FORTIFIED OFF)
if(NOT ICEPATH_SANITIZE AND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-O[1-3sg]")
  set(ICEPATH_FORTIFIED ON)
  harden(FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
