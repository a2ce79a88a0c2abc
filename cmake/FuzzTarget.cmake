# SPDX-License-Identifier: Apache-2.0
# fuzz_target(name sources… LIBS libraries…): the program fuzz-<name>, whose LLVMFuzzerTestOneInput() libFuzzer calls
# with more and more bytes, and the test fuzz.<name>, which calls it once with each file of tests/fuzz/corpus/<name>.
# tests/fuzz/run.sh runs all of them for some time. They are in builds with ICEPATH_SANITIZE=memory alone.
include_guard(GLOBAL)

if(ICEPATH_SANITIZE STREQUAL memory)
  add_custom_target(fuzzers)
endif()

function(fuzz_target name)
  if(NOT ICEPATH_SANITIZE STREQUAL memory)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" LIBS)
  add_executable(fuzz-${name} ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(fuzz-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  target_link_libraries(fuzz-${name} PRIVATE ${arg_LIBS})
  add_dependencies(fuzzers fuzz-${name})
  target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME fuzz.${name} COMMAND fuzz-${name} -runs=0 ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 120)
endfunction()
