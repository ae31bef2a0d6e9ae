# Users write <attograd/core/tensor.h>, in this tree as in an installed one, while the folders stand at
# the top: the build folder holds one forwarding header per header. (A symlink would do as well where
# there are symlinks; with forwarders, messages also name the source file itself.)
function(attograd_forward_headers target)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    core/*.h nn/*.h optim/*.h)
  foreach(header IN LISTS headers ITEMS attograd.h)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/attograd/${header}
      CONTENT "#include \"${PROJECT_SOURCE_DIR}/${header}\"\n" @ONLY)
  endforeach()
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:include>)
endfunction()
