# cmake -DROOT=<tree> -P includes.cmake: dependencies point one way.
#
#   kernels -> std, cblas, OpenMP, other kernels        core -> kernels        nn -> core        optim -> core
#
# Headers name only the standard library and attograd: whoever includes them needs nothing else.
set(std "[a-z_0-9]+")

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/core/*.h ${ROOT}/core/*.cpp ${ROOT}/nn/*.h
  ${ROOT}/nn/*.cpp ${ROOT}/optim/*.h ${ROOT}/optim/*.cpp)
set(wrong "")
set(count 0)
foreach(file IN LISTS files)
  if(file MATCHES "^core/kernels/")
    set(allowed "${std}|attograd/core/kernels/.*")
    set(allowed_in_cpp "cblas\\.h|omp\\.h")
  elseif(file MATCHES "^core/")
    set(allowed "${std}|attograd/core/.*")
    set(allowed_in_cpp "nlohmann/json\\.hpp|[a-z]+\\.h|sys/[a-z]+\\.h")
  else()
    string(REGEX MATCH "^[a-z]+" folder ${file})
    set(allowed "${std}|attograd/core/.*|attograd/${folder}/.*")
    set(allowed_in_cpp "")
  endif()
  if(file MATCHES "\\.cpp$" AND allowed_in_cpp)
    string(APPEND allowed "|${allowed_in_cpp}")
  endif()
  file(STRINGS ${ROOT}/${file} includes REGEX "^ *# *include")
  foreach(include IN LISTS includes)
    if(NOT include MATCHES "<(${allowed})>")
      math(EXPR count "${count} + 1")
      string(APPEND wrong "  ${file}: ${include}\n")
    endif()
  endforeach()
endforeach()
if(count)
  message("includes: dependencies point one way (kernels -> nothing; core -> kernels; nn -> core; "
    "optim -> core; headers -> std and attograd), got ${count} wrong:\n${wrong}")
  message(FATAL_ERROR "wrong includes")
endif()
