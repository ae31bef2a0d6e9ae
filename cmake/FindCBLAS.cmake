# CBLAS::CBLAS: OpenBLAS with its C interface.
#
# Debian's OpenBLASConfig.cmake sets variables but makes no target; OpenBLAS's own CMake build exports
# OpenBLAS::OpenBLAS. Both are served. The link name is libopenblas, never libblas: the program needs
# OpenBLAS's own functions (openblas_set_num_threads) beside the cblas_ ones.
find_package(OpenBLAS CONFIG QUIET)
find_path(CBLAS_INCLUDE_DIR cblas.h HINTS ${OpenBLAS_INCLUDE_DIRS} PATH_SUFFIXES openblas)
find_library(CBLAS_LIBRARY openblas HINTS ${OpenBLAS_LIBRARY_DIRS})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBLAS REQUIRED_VARS CBLAS_LIBRARY CBLAS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install OpenBLAS, e.g. apt install libopenblas-dev")
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARY)

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS UNKNOWN IMPORTED)
  set_target_properties(CBLAS::CBLAS PROPERTIES
    IMPORTED_LOCATION ${CBLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${CBLAS_INCLUDE_DIR})
endif()
