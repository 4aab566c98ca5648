# Checks the output of PROGRAM. If it uses narrow and wide streams, it must print everything in order. If it uses one kind only, it must print
# the same bytes as PLAIN, which is built without the support for mixed output.
function(capture_output program what out)
  execute_process(COMMAND "${program}" ${what} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE error)
  set(${out} "${status}|${text}|${error}" PARENT_SCOPE)
endfunction()

foreach(what wide wide_ascii wide_locale wide_wprintf wide_wprintf_locale narrow)
  capture_output("${PROGRAM}" ${what} got)
  capture_output("${PLAIN}" ${what} expected)
  if(NOT got STREQUAL expected)
    message(FATAL_ERROR "${what}: the program prints\n${got}\nand with REVAMP_NO_WIDE_OUTPUT\n${expected}")
  endif()
endforeach()

function(check what expected)
  capture_output("${PROGRAM}" ${what} got)
  if(NOT got STREQUAL expected)
    message(FATAL_ERROR "${what}: the program prints\n${got}\nexpected\n${expected}")
  endif()
endfunction()
check(both_ascii "0|wide text 1\nwww\nnarrow 2\nnnn\nprintf 3\ntext\nend\n|error text\nerror\n")
check(both_locale "0|wide café € 😀 1\nwww\nnarrow 2\nnnn\nprintf 3\ncafé € 😀\nend\n|error café € 😀\nerror\n")
check(narrow_first_ascii "0|first wide text 1\nwww\nlast\n|error text\n")
check(interrupted "0||")

# PLAIN is built with -DREVAMP_NO_WIDE_OUTPUT, which disables the support for mixed output.
capture_output("${PLAIN}" both_ascii got)
if(NOT got MATCHES "output of this program was lost")
  message(FATAL_ERROR "with -DREVAMP_NO_WIDE_OUTPUT: ${got}")
endif()
