include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attograd)

install(TARGETS attograd EXPORT attograd_targets)
install(EXPORT attograd_targets NAMESPACE attograd:: DESTINATION ${package_dir})
install(FILES attograd.h DESTINATION include/attograd)
install(DIRECTORY core nn optim DESTINATION include/attograd FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/attograd-config.cmake.in attograd-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(attograd-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attograd-config.cmake
  ${PROJECT_BINARY_DIR}/attograd-config-version.cmake cmake/FindCBLAS.cmake
  DESTINATION ${package_dir})
