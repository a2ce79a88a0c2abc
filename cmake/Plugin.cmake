# SPDX-License-Identifier: Apache-2.0
# icepath_plugin(name sources...): one shared object, icepath-<name>.so, that icepath finds at run time. What it shares
# with others is linked into it: it must load alone.
function(icepath_plugin name)
  add_library(icepath-${name} MODULE ${ARGN})
  target_link_libraries(icepath-${name} PRIVATE icepath_plugin_kit)
  target_compile_definitions(icepath-${name} PRIVATE ICEPATH_PLUGIN_VERSION="${PROJECT_VERSION}")
  set_target_properties(icepath-${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${ICEPATH_PLUGIN_OUTPUT}
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden)
  set_property(GLOBAL APPEND PROPERTY ICEPATH_PLUGINS icepath-${name})
  # An adapter is a package of its own, which brings its library: see packaging/.
  set(component icepath)
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/middleware_adapters/")
    set(component ${name})
    set_property(GLOBAL APPEND PROPERTY ICEPATH_ADAPTERS ${name})
  endif()
  install(TARGETS icepath-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/icepath COMPONENT ${component})
endfunction()

# The Debian package of an adapter's daemon, as in the plug-in's icepath_daemon.
function(icepath_adapter_daemon name package)
  set_property(GLOBAL PROPERTY ICEPATH_DAEMON_OF_${name} ${package})
endfunction()

# Those that an earlier configuration built and this one doesn't: icepath would find them.
function(icepath_remove_other_plugins)
  get_property(plugins GLOBAL PROPERTY ICEPATH_PLUGINS)
  file(GLOB built ${ICEPATH_PLUGIN_OUTPUT}/icepath-*.so)
  foreach(file ${built})
    get_filename_component(name ${file} NAME_WE)
    if(NOT name IN_LIST plugins)
      file(REMOVE ${file})
    endif()
  endforeach()
endfunction()
