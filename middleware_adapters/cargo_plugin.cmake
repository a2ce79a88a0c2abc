# SPDX-License-Identifier: Apache-2.0
# Adapters that cargo builds in part, from crates that it fetches. None by default: then nothing looks for cargo.
set(ICEPATH_WITH_CARGO OFF CACHE STRING "Adapters to build by cargo: ON for all, or some of iceoryx2;ros2-client;zenoh")
set(cargo_adapters iceoryx2 ros2-client zenoh)
if(NOT ICEPATH_WITH_CARGO)
  set(with_cargo "")
elseif(ICEPATH_WITH_CARGO MATCHES "^(1|[Oo][Nn]|[Yy][Ee][Ss]|[Tt][Rr][Uu][Ee]|[Yy])$")
  set(with_cargo ${cargo_adapters})
else()
  set(with_cargo ${ICEPATH_WITH_CARGO})
endif()
foreach(name ${with_cargo})
  if(NOT name IN_LIST cargo_adapters)
    message(FATAL_ERROR "ICEPATH_WITH_CARGO names ${name}, which isn't one of ${cargo_adapters}")
  endif()
endforeach()

# The adapter `name` in the calling folder: `source`, and its crate, which exports C functions of another crate.
# Cargo.toml pins the version of that one only, which becomes `version_macro` in `source`.
function(icepath_cargo_plugin name source version_macro)
  if(NOT name IN_LIST with_cargo)
    icepath_not_built(${name} cargo -DICEPATH_WITH_CARGO=${name})
    return()
  endif()
  find_program(CARGO cargo REQUIRED)
  file(STRINGS Cargo.toml pinned REGEX "\"=[0-9.]+\"")
  string(REGEX REPLACE ".*\"=([0-9.]+)\".*" "\\1" version "${pinned}")
  string(REPLACE "-" "_" library libicepath_${name}_shim.a)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR})
  set(shim ${CMAKE_CURRENT_BINARY_DIR}/release/${library})
  add_custom_command(OUTPUT ${shim}
    COMMAND ${CARGO} build --quiet --release --locked --manifest-path ${folder}/Cargo.toml
      --target-dir ${CMAKE_CURRENT_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${shim} # if cargo found it up to date
    DEPENDS ${folder}/Cargo.toml ${folder}/Cargo.lock ${folder}/src/lib.rs ${folder}/../c_calls.rs
    COMMENT "cargo build: ${name}" VERBATIM)
  add_custom_target(${name}-shim DEPENDS ${shim})
  icepath_plugin(${name} ${source})
  add_dependencies(icepath-${name} ${name}-shim)
  target_link_libraries(icepath-${name} PRIVATE ${shim} Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(icepath-${name} PRIVATE LINKER:--exclude-libs,ALL)
  target_compile_definitions(icepath-${name} PRIVATE ${version_macro}="${version}")
endfunction()
