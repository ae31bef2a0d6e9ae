# cmake -DROOT=<tree> -P public_headers.cmake: attograd.h brings, by itself or through the headers it includes,
# every header but the kernels', which come with what uses them.
file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/core/*.h ${ROOT}/nn/*.h ${ROOT}/optim/*.h)
list(FILTER headers EXCLUDE REGEX "^core/kernels/")

set(brought attograd.h)
set(index 0)
list(LENGTH brought size)
while(index LESS size)
  list(GET brought ${index} header)
  if(EXISTS ${ROOT}/${header})
    file(STRINGS ${ROOT}/${header} includes REGEX "^#include <attograd/.*>$")
    list(TRANSFORM includes REPLACE "^#include <attograd/(.*)>$" "\\1")
    list(APPEND brought ${includes})
    list(REMOVE_DUPLICATES brought)
  endif()
  list(LENGTH brought size)
  math(EXPR index "${index} + 1")
endwhile()

list(REMOVE_ITEM headers ${brought})
list(LENGTH headers count)
if(count)
  list(TRANSFORM headers REPLACE "^(.+)$" "  #include <attograd/\\1>\n")
  string(JOIN "" missing ${headers})
  message("attograd.h: every public header is in it, got ${count} missing; add, to core/ops.h for an "
    "operation, else to attograd.h:\n${missing}")
  message(FATAL_ERROR "missing headers")
endif()
