# The output of a program. With both kinds of streams, it prints everything in order. With one kind, it prints the same bytes as without the
# support for both (PLAIN).
function(printed program what out)
  execute_process(COMMAND "${program}" ${what} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE error)
  set(${out} "${status}|${text}|${error}" PARENT_SCOPE)
endfunction()

foreach(what wide wide_ascii wide_locale wide_wprintf wide_wprintf_locale narrow)
  printed("${PROGRAM}" ${what} got)
  printed("${PLAIN}" ${what} expected)
  if(NOT got STREQUAL expected)
    message(FATAL_ERROR "${what}: it prints\n${got}\nand without the change\n${expected}")
  endif()
endforeach()

function(check what expected)
  printed("${PROGRAM}" ${what} got)
  if(NOT got STREQUAL expected)
    message(FATAL_ERROR "${what}: it prints\n${got}\nexpected\n${expected}")
  endif()
endfunction()
check(both_ascii "0|wide text 1\nwww\nnarrow 2\nnnn\nprintf 3\ntext\nend\n|error text\nerror\n")
check(both_locale "0|wide café € 😀 1\nwww\nnarrow 2\nnnn\nprintf 3\ncafé € 😀\nend\n|error café € 😀\nerror\n")
check(narrow_first_ascii "0|first wide text 1\nwww\nlast\n|error text\n")

# The option disables this support.
printed("${PLAIN}" both_ascii got)
if(NOT got MATCHES "output of this program was lost")
  message(FATAL_ERROR "with -DREVAMP_NO_WIDE_OUTPUT: ${got}")
endif()
