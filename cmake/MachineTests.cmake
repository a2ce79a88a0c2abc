# SPDX-License-Identifier: Apache-2.0
# machine_tests(target [TOGETHER suite...] [BESIDE suite...] [ONE_AT_A_TIME | SIDE_BY_SIDE]): registers the GoogleTests
# of `target` that need the machine for themselves: they load BPF programs, pin tasks or measure. They run one at a time
# with nothing beside them, and `ctest -LE machine` leaves them out.
#
# ctest runs each test in a process of its own. The suites named by TOGETHER share something that takes long to make,
# such as a run of a minute, so each of them is one test.
#
# ONE_AT_A_TIME is for tests that assert nothing of what they measure, and look at nothing that tests without the
# machine change: they run beside those, but not beside each other. What one of them leaves behind is told from what
# others have (take_own_machine() in tests/end_to_end/command.cc). BESIDE names suites of that kind, where not all of
# `target` is. Tests that are SIDE_BY_SIDE also look at nothing that any other test changes: two of them run at a time,
# beside all that needn't be alone.
#
# A sanitized build has none of them, since a sanitizer takes time that they measure.
function(machine_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_AT_A_TIME;SIDE_BY_SIDE" "" "TOGETHER;BESIDE")
  set_property(GLOBAL APPEND PROPERTY ICEPATH_MACHINE_TESTS ${target})
  if(ICEPATH_SANITIZE)
    return()
  endif()
  # They take longer than all others together that run beside them, so they begin early (as in tests/vm).
  set(beside PROCESSORS 1 RESOURCE_LOCK machine COST 500)
  set(how RUN_SERIAL TRUE RESOURCE_LOCK machine)
  if(arg_ONE_AT_A_TIME)
    set(how ${beside})
  elseif(arg_SIDE_BY_SIDE)
    set(how PROCESSORS 3) # like conformance tests that poll
  endif()
  set(alone -)
  foreach(suite ${arg_TOGETHER})
    string(APPEND alone "${suite}.*:")
    add_test(NAME ${suite} COMMAND ${target} --gtest_filter=${suite}.*)
    set_tests_properties(${suite} PROPERTIES LABELS machine TIMEOUT 600 ${how}
      SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  endforeach()
  list(TRANSFORM arg_BESIDE APPEND ".*")
  list(JOIN arg_BESIDE ":" those_beside)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES TEST_FILTER "${alone}${those_beside}"
    PROPERTIES LABELS machine TIMEOUT 300 ${how})
  if(arg_BESIDE)
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES TEST_FILTER "${those_beside}"
      TEST_LIST ${target}_beside PROPERTIES LABELS machine TIMEOUT 300 ${beside})
  endif()
endfunction()
