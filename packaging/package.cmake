# What is installed where, and the Debian packages: cpack --config build/release/CPackConfig.cmake
# Each component is a package: `server` is stoa, `library` libstoa1, `development` libstoa-dev.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME server)
# Packing must not build tests and benchmarks first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(manual ${CMAKE_BINARY_DIR}/manual)
install(TARGETS stoa RUNTIME DESTINATION bin)
install(TARGETS stoad RUNTIME DESTINATION sbin)
# mount -t stoa looks for it; stoa sees by which name it was called.
file(CREATE_LINK ../bin/stoa ${CMAKE_BINARY_DIR}/mount.stoa SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/mount.stoa DESTINATION sbin)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/stoad.service DESTINATION /lib/systemd/system)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/stoad.toml DESTINATION /etc/stoa)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/copyright ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md
              ${CMAKE_SOURCE_DIR}/appliance/stoad.example.toml ${CMAKE_SOURCE_DIR}/frontends/admin/openapi.yaml
        DESTINATION share/doc/stoa)
install(FILES ${CMAKE_SOURCE_DIR}/appliance/monitoring/stoa.dashboard.json ${CMAKE_SOURCE_DIR}/appliance/monitoring/stoa.rules.yaml
        DESTINATION share/stoa/monitoring)
install(FILES ${manual}/stoa.bash DESTINATION share/bash-completion/completions RENAME stoa)
install(FILES ${manual}/stoad.bash DESTINATION share/bash-completion/completions RENAME stoad)
install(FILES ${manual}/_stoa ${manual}/_stoad DESTINATION share/zsh/vendor-completions)
install(FILES ${manual}/stoa.fish ${manual}/stoad.fish DESTINATION share/fish/vendor_completions.d)
# Debian wants manual pages and the changelog compressed, without a time stamp.
find_program(GZIP gzip REQUIRED)
foreach(page stoa.1 stoad.8 stoad.toml.5)
  string(REGEX MATCH "[0-9]$" section ${page})
  install(CODE "execute_process(COMMAND ${GZIP} -9nc ${manual}/${page} OUTPUT_FILE ${manual}/${page}.gz COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${manual}/${page}.gz DESTINATION share/man/man${section})
endforeach()

file(CREATE_LINK ../man1/stoa.1.gz ${CMAKE_BINARY_DIR}/mount.stoa.8.gz SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/mount.stoa.8.gz DESTINATION share/man/man8)

set(CPACK_COMPONENTS_ALL server)
include(${CMAKE_CURRENT_LIST_DIR}/library_packages.cmake)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PACKAGE_NAME stoa)
set(CPACK_PACKAGE_VENDOR "The Stoa authors")
set(CPACK_PACKAGE_CONTACT "The Stoa authors <stoa@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME stoa)
set(CPACK_DEBIAN_SERVER_DESCRIPTION "storage server: one namespace over NFSv3 and S3
Stoa serves one directory tree over NFSv3 and S3 at the same time,
with exact hard quotas on every directory. What one protocol has
acknowledged, the other sees at once.")
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/postinst
    ${CMAKE_SOURCE_DIR}/packaging/debian/prerm ${CMAKE_SOURCE_DIR}/packaging/debian/postrm ${CMAKE_BINARY_DIR}/conffiles)
file(WRITE ${CMAKE_BINARY_DIR}/conffiles "/etc/stoa/stoad.toml\n")
include(CPack)
