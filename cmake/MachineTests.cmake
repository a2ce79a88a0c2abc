# SPDX-License-Identifier: Apache-2.0
# machine_tests(target): registers the GoogleTests of `target` that need the machine for themselves: they load BPF
# programs, pin tasks or measure. They run one at a time with nothing beside them, and `ctest -LE machine` leaves them out.
# Discovery at the time of testing: building must not need the rights that such a program may ask for when it starts.
function(machine_tests target)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST ${ARGN}
    PROPERTIES LABELS machine RUN_SERIAL TRUE RESOURCE_LOCK machine TIMEOUT 300)
endfunction()
