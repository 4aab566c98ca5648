# What the suites of ctest share: entries for the tests of a source, for what must not compile, and the kernels of the tests in C.
set(REVAMP_TESTS "${CMAKE_CURRENT_LIST_DIR}")

# One entry of ctest, SUITE.name, for each TEST(name) of FILE: COMMAND with the name. Those that match WITHOUT are left out.
function(revamp_add_tests)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "SUITE;FILE;TIMEOUT;WITHOUT;ENVIRONMENT" "COMMAND")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${of_FILE}")
  file(STRINGS "${of_FILE}" lines REGEX "^TEST\\(")
  foreach(line ${lines})
    string(REGEX REPLACE "^TEST\\(([A-Za-z0-9_]+)\\).*" "\\1" test "${line}")
    if(of_WITHOUT AND test MATCHES "${of_WITHOUT}")
      continue()
    endif()
    add_test(NAME ${of_SUITE}.${test} COMMAND ${of_COMMAND} ${test})
    set_tests_properties(${of_SUITE}.${test} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${of_TIMEOUT} ENVIRONMENT "${of_ENVIRONMENT}")
  endforeach()
endfunction()

# What must not compile. A case in FILE is
#     #ifdef FAIL_name // the regular expression that the message matches
# and everything up to its #endif. Without any of them the file must compile. COMMAND is one string, the source follows. With OUTPUT
# the command writes one, OUTPUT.name. FIXTURE is required by all.
function(revamp_add_rejections)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "SUITE;FILE;COMMAND;OUTPUT;FIXTURE" "")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${of_FILE}")
  set(run ${CMAKE_COMMAND} "-DCOMMAND=${of_COMMAND}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${of_FILE}")
  set(script -P "${REVAMP_TESTS}/rejection.cmake")
  file(STRINGS "${of_FILE}" lines REGEX "^#ifdef FAIL_")
  foreach(line "" ${lines})
    set(name compiles)
    set(case)
    if(line)
      if(NOT line MATCHES "^#ifdef FAIL_([A-Za-z0-9_]+) // (.+)$")
        message(FATAL_ERROR "${of_FILE}: a case without a message: ${line}")
      endif()
      set(name "${CMAKE_MATCH_1}")
      set(case "-DCASE=FAIL_${name}" "-DMESSAGE=${CMAKE_MATCH_2}")
    endif()
    if(of_OUTPUT)
      list(APPEND case "-DOUTPUT=${of_OUTPUT}.${name}")
    endif()
    add_test(NAME ${of_SUITE}.${name} COMMAND ${run} ${case} ${script})
    set_tests_properties(${of_SUITE}.${name} PROPERTIES FIXTURES_REQUIRED "${of_FIXTURE}")
  endforeach()
endfunction()

# Words of the kernels SOURCES (in tests-c/kernels) as NAME.inc in the folder modules of the build; the target `modules` makes them.
# FORMAT: of glslc, c (with braces) or num.
function(revamp_test_modules format)
  set(folder "${REVAMP_TESTS}/../tests-c/kernels")
  set(out "${CMAKE_CURRENT_BINARY_DIR}/modules")
  find_program(GLSLC glslc REQUIRED)
  file(MAKE_DIRECTORY "${out}")
  set(modules)
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    add_custom_command(
      OUTPUT "${out}/${name}.inc"
      COMMAND "${GLSLC}" --target-env=vulkan1.2 -g -mfmt=${format} -o "${out}/${name}.inc" "${folder}/${source}"
      DEPENDS "${folder}/${source}" "${folder}/coverage.glsl"
      VERBATIM)
    list(APPEND modules "${out}/${name}.inc")
  endforeach()
  add_custom_target(modules DEPENDS ${modules})
endfunction()

# Words of each case of SOURCES (in tests-c/kernels), which begins with "#ifdef CASE_name" and, if it is refused, "// refused: text":
# samples.inc in the folder modules of the build has them and a table of SAMPLE(name, text); the target `samples` makes them.
function(revamp_test_samples)
  set(folder "${REVAMP_TESTS}/../tests-c/kernels")
  set(out "${CMAKE_CURRENT_BINARY_DIR}/modules")
  find_program(GLSLC glslc REQUIRED)
  set(words "")
  set(table "#define SAMPLES(SAMPLE)")
  set(made)
  foreach(source ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/${source}")
    get_filename_component(language ${source} EXT)
    set(options -fshader-stage=compute --target-env=vulkan1.2)
    # HLSL's buffers are declared as SPIR-V 1.3 has them.
    if(language STREQUAL .hlsl)
      set(options -x hlsl -fshader-stage=compute -fentry-point=main --target-env=vulkan1.1)
    endif()
    file(STRINGS "${folder}/${source}" cases REGEX "^#ifdef CASE_")
    foreach(case ${cases})
      if(NOT case MATCHES "^#ifdef CASE_([a-z0-9_]+)( // refused: (.*))?$")
        message(FATAL_ERROR "${source}: ${case}")
      endif()
      set(name "${CMAKE_MATCH_1}")
      set(text "${CMAKE_MATCH_3}")
      add_custom_command(
        OUTPUT "${out}/sample_${name}.inc"
        COMMAND "${GLSLC}" -w -g ${options} -DCASE_${name} -mfmt=c -o "${out}/sample_${name}.inc" "${folder}/${source}"
        DEPENDS "${folder}/${source}"
        VERBATIM)
      list(APPEND made "${out}/sample_${name}.inc")
      string(APPEND words "static const uint32_t ${name}_words[] =\n#include \"sample_${name}.inc\"\n    ;\n")
      string(APPEND table " \\\n    SAMPLE(${name}, \"${text}\")")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${out}/samples.inc" CONTENT "${words}${table}\n" @ONLY)
  add_custom_target(samples DEPENDS ${made})
endfunction()

# `target` includes them.
function(revamp_use_modules target)
  add_dependencies(${target} modules)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/modules")
endfunction()
