# One run of what prints: PROGRAM, WHAT, and PRINTS, the value of REVAMP_DEBUG_PRINTF. Lines of different threads have no order.
set(ENV{REVAMP_DEBUG_PRINTF} "${PRINTS}")
set(mode)
if(PRINTS)
  set(mode prints)
endif()
execute_process(COMMAND "${PROGRAM}" ${WHAT} ${mode} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE text)
if(status EQUAL 77)
  message("${out}")
  return()
endif()
set(expected)
if(PRINTS AND WHAT STREQUAL "values")
  foreach(n RANGE 7)
    list(APPEND expected "in a function: ${n}")
  endforeach()
  list(APPEND expected
       "100% of 50% x A: 3 -3    12|3   |+4"
       "4294967284 fffffff4 FFFFFFF4 0xfffffff4 10 000000ff"
       "2.500000 2.50    2.500 2.500000e+00 2.5"
       "5000000006 123456789abc 7"
       "small -7 1 9")
elseif(PRINTS AND WHAT STREQUAL "errorf")
  set(expected "thread 17 at 2")
elseif(PRINTS AND WHAT STREQUAL "abort")
  set(expected "Reference Rasterizer: Shader abort instruction hit")
endif()
string(REPLACE "\n" ";" lines "${text}")
list(REMOVE_ITEM lines "")
list(SORT lines)
list(SORT expected)
if(NOT status EQUAL 0 OR NOT lines STREQUAL expected)
  message(FATAL_ERROR "${WHAT}: ${status}\n${text}\nexpected, in any order:\n${expected}")
endif()
