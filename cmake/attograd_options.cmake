# Warnings and sanitizers of this project's own targets; users' targets see none of them.
function(attograd_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    $<$<BOOL:${ATTOGRAD_WERROR}>:-Werror>)
  if(ATTOGRAD_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${ATTOGRAD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
      -Wno-maybe-uninitialized -Wno-unknown-warning-option)  # g++ sees what the sanitizers add as uses
    target_link_options(${target} PUBLIC -fsanitize=${ATTOGRAD_SANITIZE})
  endif()
endfunction()
