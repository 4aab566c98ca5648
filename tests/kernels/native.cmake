# Which objects hold native code, and what debuggers find of it.
# cmake -DCXX=revamp-c++ -DSOURCE=file -DFOLDER=folder -P native.cmake
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
find_program(nm nm REQUIRED)
find_program(objdump objdump REQUIRED)
function(compiled) # expects: native or none; flags
  list(POP_FRONT ARGN wanted)
  execute_process(COMMAND "${CXX}" -w ${ARGN} -c "${SOURCE}" -o one.o WORKING_DIRECTORY "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${nm}" one.o WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "revamp[.]native[.][0-9a-f]+[.]v[134][.][^\n]*" names "${names}")
  list(LENGTH names count)
  if((wanted STREQUAL "none" AND NOT count EQUAL 0) OR (wanted STREQUAL "native" AND NOT count EQUAL 3))
    message(FATAL_ERROR "${ARGN}: ${count} native functions: ${names}")
  endif()
  set(names "${names}" PARENT_SCOPE)
endfunction()
compiled(native -O1)
compiled(native -Os -fPIC -ffunction-sections -fno-exceptions -flto -march=native -O0 -O2)
# A debugger, a sanitizer, what counts, and what checks look at the lambda.
compiled(none)
compiled(none -O0)
compiled(none -O2 -fsanitize=undefined)
compiled(none -O2 --coverage)
compiled(none -O2 -famp-bounds=report)
compiled(none -O2 -DREVAMP_CHECK_BOUNDS)
# Native kernels alone check for host threads: they are made, or the source is refused.
compiled(native -O2 -famp-bounds=zero)
compiled(native -O0 -famp-bounds=zero)
foreach(flag -fsanitize=undefined --coverage "-DELEMENT=long double")
  execute_process(COMMAND "${CXX}" -w -O2 -famp-bounds=zero "${flag}" -c "${SOURCE}" -o refused.o WORKING_DIRECTORY "${FOLDER}"
                  RESULT_VARIABLE code ERROR_VARIABLE told)
  if(code EQUAL 0 OR NOT told MATCHES "-famp-bounds=zero: native kernels, which check bounds on host threads, cannot be made")
    message(FATAL_ERROR "-famp-bounds=zero ${flag}: ${code}, ${told}")
  endif()
endforeach()
# To devices it is double.
compiled(none -O2 "-DELEMENT=long double")
# Lines of the lambda in the code of each processor.
compiled(native -O2 -g)
foreach(name IN LISTS names)
  execute_process(COMMAND "${objdump}" -dl "--disassemble=${name}" one.o WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE code
                  COMMAND_ERROR_IS_FATAL ANY)
  if(NOT code MATCHES "native_flags[.]cpp:(14|15|16)")
    message(FATAL_ERROR "${name} has no lines of the lambda:\n${code}")
  endif()
endforeach()
