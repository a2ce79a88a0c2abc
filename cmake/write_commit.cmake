# SPDX-License-Identifier: Apache-2.0
# Run in each build: writes OUTPUT with the commit that SOURCE is, if it says something else. Where SOURCE is no
# checkout of git's own, as an unpacked archive, the commit is unknown.
cmake_minimum_required(VERSION 3.25)
# Read only: under sudo, git would leave an index that is root's.
set(ENV{GIT_OPTIONAL_LOCKS} 0)
function(ask_git answer)
  execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    set(output unknown)
  endif()
  set(${answer} "${output}" PARENT_SCOPE)
endfunction()

ask_git(folder rev-parse --show-prefix) # of SOURCE below the checkout's top: empty if it is the top
set(commit unknown)
set(date "")
if(folder STREQUAL "")
  ask_git(commit describe --always --dirty --exclude=* --abbrev=12)
  ask_git(date log -1 --format=%cs)
endif()
if(commit STREQUAL unknown OR date STREQUAL unknown)
  set(date "")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Made by cmake/write_commit.cmake.
#pragma once

namespace icepath::cli {

inline constexpr const char *kCommit = \"@commit@\"; // -dirty: with changes that aren't committed
inline constexpr const char *kCommitDate = \"@date@\"; // empty: unknown

} // namespace icepath::cli
" @ONLY)
