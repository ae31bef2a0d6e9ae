# cmake -DROOT=<tree> -P includes.cmake: dependencies point one way.
#
#   kernels -> std, cblas, OpenMP, other kernels        core -> kernels        nn -> core        optim -> core
#
# Public headers, which are all but the kernels', name only the standard library and each other.
set(std "[a-z_0-9]+")
set(kernels "attograd/core/kernels/.*")
set(core "attograd/core/.*")

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/core/*.h ${ROOT}/core/*.cpp ${ROOT}/nn/*.h
  ${ROOT}/nn/*.cpp ${ROOT}/optim/*.h ${ROOT}/optim/*.cpp)
set(wrong "")
set(count 0)
foreach(file IN LISTS files)
  if(file MATCHES "^core/kernels/")
    set(allowed "${std}|cblas\\.h|omp\\.h|${kernels}")
  elseif(file MATCHES "^core/.*\\.h$")
    set(allowed "${std}|${core}")
  elseif(file MATCHES "^(nn|optim)/.*\\.h$")
    set(allowed "${std}|${core}|attograd/${CMAKE_MATCH_1}/.*")
  elseif(file MATCHES "^core/")
    set(allowed "${std}|${core}|nlohmann/json\\.hpp|[a-z]+\\.h|sys/[a-z]+\\.h")
  elseif(file MATCHES "^(nn|optim)/")
    set(allowed "${std}|${core}|attograd/${CMAKE_MATCH_1}/.*")
  endif()
  file(STRINGS ${ROOT}/${file} includes REGEX "^ *# *include")
  foreach(include IN LISTS includes)
    set(private FALSE)
    if(file MATCHES "\\.h$" AND NOT file MATCHES "^core/kernels/" AND include MATCHES "<${kernels}>")
      set(private TRUE)
    endif()
    if(private OR NOT include MATCHES "<(${allowed})>")
      math(EXPR count "${count} + 1")
      string(APPEND wrong "  ${file}: ${include}\n")
    endif()
  endforeach()
endforeach()
if(count)
  message("includes: dependencies point one way (kernels -> nothing; core -> kernels; nn -> core; "
    "optim -> core; public headers -> std), got ${count} wrong:\n${wrong}")
  message(FATAL_ERROR "wrong includes")
endif()
