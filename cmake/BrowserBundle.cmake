# SPDX-License-Identifier: Apache-2.0
# add_browser_bundles(output.cc folder name=file...): makes a C++ file that defines icepath::pages::name for each, a
# std::string_view with the content of `file` in `folder`, bundled with what it imports. `folder` has the declarations
# in bundles.h. What is bundled of d3 is under the licence in LICENSES/BSD-3-Clause.txt, which scripts begin with.
include_guard(GLOBAL)

set(ICEPATH_NODE_MODULES /usr/share/nodejs CACHE PATH "Folder of the d3 modules that the scripts of report.html import")
find_program(ICEPATH_ESBUILD esbuild)
if(NOT ICEPATH_ESBUILD OR NOT EXISTS ${ICEPATH_NODE_MODULES}/d3-selection)
  message(FATAL_ERROR
    "esbuild or d3's modules in ${ICEPATH_NODE_MODULES} are missing: run `make deps`, or install esbuild and node-d3.")
endif()

function(add_browser_bundles output folder)
  get_filename_component(folder ${folder} ABSOLUTE)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.js ${folder}/*.css)
  set(texts)
  set(bundles)
  foreach(text ${ARGN})
    string(REGEX REPLACE ".*=" "" file ${text})
    set(bundle ${CMAKE_CURRENT_BINARY_DIR}/browser/${file})
    add_custom_command(OUTPUT ${bundle}
      COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${ICEPATH_NODE_MODULES} ${ICEPATH_ESBUILD} ${folder}/${file} --bundle
        --minify --format=iife --target=es2020 --legal-comments=none --log-level=warning --outfile=${bundle}
      DEPENDS ${sources} COMMENT "Bundle ${file}" VERBATIM)
    list(APPEND bundles ${bundle})
    string(REPLACE "=${file}" "=${bundle}" text ${text})
    list(APPEND texts ${text})
  endforeach()
  set(script ${CMAKE_SOURCE_DIR}/cmake/embed_texts.cmake)
  set(licence ${CMAKE_SOURCE_DIR}/LICENSES/BSD-3-Clause.txt)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DTEXTS=${texts}" "-DLICENCE=${licence}" -P ${script}
    DEPENDS ${bundles} ${script} ${licence} COMMENT "Embed bundles" VERBATIM)
endfunction()
