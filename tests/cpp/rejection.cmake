# One test of what must not compile: see revamp_cpp_rejections() in CMakeLists.txt. Without CASE the source must compile.
set(define)
if(CASE)
  set(define "-D${CASE}")
endif()
separate_arguments(INCLUDES)
execute_process(
  COMMAND "${COMPILER}" -std=c++17 -Wall -Wextra -Wconversion -Wpedantic -Wshadow -fsyntax-only ${INCLUDES} ${define} "${SOURCE}"
  RESULT_VARIABLE status
  OUTPUT_VARIABLE text
  ERROR_VARIABLE text)
if(NOT CASE)
  if(NOT status EQUAL 0 OR text)
    message(FATAL_ERROR "it does not compile without warnings:\n${text}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "it compiles")
elseif(NOT text MATCHES "error: [^\n]*(${MESSAGE})")
  message(FATAL_ERROR "the message does not match \"${MESSAGE}\":\n${text}")
endif()
