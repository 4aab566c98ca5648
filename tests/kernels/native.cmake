# Checks which compiler flags produce native kernels, and that every native kernel has the line numbers of its lambda.
# cmake -DCXX=revamp-c++ -DSOURCE=file -DFOLDER=folder -P native.cmake
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
find_program(nm nm REQUIRED)
find_program(objdump objdump REQUIRED)
function(compiled) # arguments: `native` or `none` (the expected result), then compiler flags
  list(POP_FRONT ARGN expected)
  execute_process(COMMAND "${CXX}" -w ${ARGN} -c "${SOURCE}" -o one.o WORKING_DIRECTORY "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${nm}" one.o WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "revamp[.]native[.][0-9a-f]+[.]v[134][.][^\n]*" names "${names}")
  list(LENGTH names count)
  if((expected STREQUAL "none" AND NOT count EQUAL 0) OR (expected STREQUAL "native" AND NOT count EQUAL 3))
    message(FATAL_ERROR "${ARGN}: ${count} native functions: ${names}")
  endif()
  set(names "${names}" PARENT_SCOPE)
endfunction()
compiled(native -O1)
compiled(native -Os -fPIC -ffunction-sections -fno-exceptions -flto -march=native -O0 -O2)
# Builds without optimization, or with sanitizers, coverage or bounds checks, have no native kernels: they run the host-compiled lambda itself.
compiled(none)
compiled(none -O0)
compiled(none -O2 -fsanitize=undefined)
compiled(none -O2 --coverage)
compiled(none -O2 -famp-bounds=report)
compiled(none -O2 -DREVAMP_CHECK_BOUNDS)
# With -famp-bounds=zero, only native kernels check bounds on host threads. The compiler either emits native kernels or rejects the source.
compiled(native -O2 -famp-bounds=zero)
compiled(native -O0 -famp-bounds=zero)
foreach(flag -fsanitize=undefined --coverage "-DELEMENT=long double")
  execute_process(COMMAND "${CXX}" -w -O2 -famp-bounds=zero "${flag}" -c "${SOURCE}" -o refused.o WORKING_DIRECTORY "${FOLDER}"
                  RESULT_VARIABLE code ERROR_VARIABLE messages)
  if(code EQUAL 0 OR NOT messages MATCHES "-famp-bounds=zero: native kernels, which check bounds on host threads, cannot be compiled")
    message(FATAL_ERROR "-famp-bounds=zero ${flag}: ${code}, ${messages}")
  endif()
endforeach()
# Kernels with long double have no native kernels, because devices treat long double as double and host code does not.
compiled(none -O2 "-DELEMENT=long double")
# The native kernel for each processor level must have line numbers of the lambda.
compiled(native -O2 -g)
foreach(name IN LISTS names)
  execute_process(COMMAND "${objdump}" -dl "--disassemble=${name}" one.o WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE code
                  COMMAND_ERROR_IS_FATAL ANY)
  if(NOT code MATCHES "native_flags[.]cpp:(14|15|16)")
    message(FATAL_ERROR "${name} has no lines of the lambda:\n${code}")
  endif()
endforeach()
