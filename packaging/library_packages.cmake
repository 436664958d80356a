# libstoa for programs: libstoa1 has the library, libstoa-dev what programs are built with.
if(NOT TARGET stoa_shared)
  return() # under sanitizers
endif()
set(libdir lib/${CMAKE_LIBRARY_ARCHITECTURE})
# The paths of stoa.pc are relative to itself, so they are right wherever the files lie.
file(RELATIVE_PATH STOA_PREFIX_OF_PKGCONFIG /${libdir}/pkgconfig /)
set(STOA_LIBDIR ${libdir})
configure_file(${CMAKE_CURRENT_LIST_DIR}/stoa.pc.in ${CMAKE_BINARY_DIR}/stoa.pc @ONLY)
install(TARGETS stoa_shared LIBRARY DESTINATION ${libdir} COMPONENT library NAMELINK_COMPONENT development)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/copyright DESTINATION share/doc/libstoa1 COMPONENT library)
install(FILES ${CMAKE_SOURCE_DIR}/frontends/native/lib/stoa.h ${CMAKE_SOURCE_DIR}/frontends/native/lib/stoa.hpp
        DESTINATION include COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/stoa.pc DESTINATION ${libdir}/pkgconfig COMPONENT development)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/copyright ${CMAKE_SOURCE_DIR}/docs/programmers/libstoa.md
        DESTINATION share/doc/libstoa-dev COMPONENT development)

list(APPEND CPACK_COMPONENTS_ALL library development)
set(about "libstoa reads and writes the files of a Stoa server, without a mount:
blocking calls in the manner of POSIX, many small files in one message,
and rings of operations under way. What it caches is coherent with the
clients of all other protocols.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libstoa1)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "files of a Stoa server for programs\n${about}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
# What programs that are packaged themselves depend on: the version that brought the newest symbol they use.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/libstoa1/symbols
    ${CMAKE_SOURCE_DIR}/packaging/debian/libstoa1/shlibs ${CMAKE_SOURCE_DIR}/packaging/debian/libstoa1/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libstoa-dev)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "files of a Stoa server for programs: headers\n${about}
.
This package has what programs are built with.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libstoa1 (= ${PROJECT_VERSION})")
