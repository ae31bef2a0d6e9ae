# cmake -DSOURCE= -DBUILD= -DWORK= -DWAY=installed|fetched -P consumer.cmake: a user's project builds and runs.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message("${command}\n${output}")
    message(FATAL_ERROR "exit code ${result}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
if(WAY STREQUAL "installed")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
  set(where -DCMAKE_PREFIX_PATH=${WORK}/prefix)
else()
  # Unoptimised: what is tested is that it builds and links.
  set(where -DATTOGRAD_SOURCE=${SOURCE} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
endif()
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/tests/house/consumer -B ${WORK}/build
  -DCMAKE_CXX_COMPILER=${COMPILER} ${where})
run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2)
run(${WORK}/build/consumer)
