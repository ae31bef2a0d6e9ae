# cmake -DBLOCK=<file> -DSOURCE=<file> -P excerpt.cmake: the block stands in the source, word for word.
file(READ ${BLOCK} block)
file(READ ${SOURCE} source)
string(FIND "${source}" "${block}" place)
if(place EQUAL -1)
  message("the document quotes ${SOURCE}, which does not say\n${block}")
  message(FATAL_ERROR "not a quotation")
endif()
