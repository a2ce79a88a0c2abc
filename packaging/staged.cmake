# SPDX-License-Identifier: Apache-2.0
# Called by cpack when what is installed is in place and not packed yet: what Debian's packages have besides. Licence
# and changelog of each, and man pages compressed.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
# In the file of licences a line begins with a space, and an empty one has a dot.
foreach(licence BSD-2-Clause BSD-3-Clause)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/../LICENSES/${licence}.txt ${licence})
  string(STRIP "${${licence}}" ${licence})
  string(REPLACE "\n" "\n " ${licence} " ${${licence}}")
  string(REPLACE "\n \n" "\n .\n" ${licence} "${${licence}}")
endforeach()
file(READ ${CMAKE_CURRENT_LIST_DIR}/debian/copyright copyright)
string(CONFIGURE "${copyright}" copyright @ONLY)
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(staged ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(documents ${staged}/share/doc/${package})
  file(WRITE ${documents}/copyright "${copyright}")
  file(WRITE ${documents}/changelog "icepath (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * This version: docs/ of icepath-doc says what it does.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
  file(GLOB pages ${staged}/share/man/man*/*)
  execute_process(COMMAND gzip -9nf ${documents}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE files LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/${component}/*)
  foreach(file ${files})
    if(IS_DIRECTORY ${file} AND NOT IS_SYMLINK ${file})
      file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
        WORLD_EXECUTE)
    endif()
  endforeach()
endforeach()
# icepath names the packages of adapters that aren't installed.
set(list ${CPACK_TEMPORARY_DIRECTORY}/icepath/usr/lib/icepath/not-built)
foreach(adapter ${CPACK_COMPONENTS_ALL})
  if(NOT adapter MATCHES "^(icepath|dev|doc)$")
    file(APPEND ${list} "${adapter} own icepath-${adapter}\n")
  endif()
endforeach()
