# Functions that the ctest suites share. They add ctest entries for the tests of a source and for code that must not compile, and compile
# the kernels of the C tests.
set(REVAMP_TESTS "${CMAKE_CURRENT_LIST_DIR}")

# Adds a ctest entry SUITE.name for each TEST(name) of FILE. The entry runs COMMAND with the name. Tests that match WITHOUT get no entry.
function(revamp_add_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SUITE;FILE;TIMEOUT;WITHOUT;ENVIRONMENT" "COMMAND")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${arg_FILE}")
  file(STRINGS "${arg_FILE}" lines REGEX "^TEST\\(")
  foreach(line ${lines})
    string(REGEX REPLACE "^TEST\\(([A-Za-z0-9_]+)\\).*" "\\1" test "${line}")
    if(arg_WITHOUT AND test MATCHES "${arg_WITHOUT}")
      continue()
    endif()
    add_test(NAME ${arg_SUITE}.${test} COMMAND ${arg_COMMAND} ${test})
    set_tests_properties(${arg_SUITE}.${test} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
  endforeach()
endfunction()

# Adds ctest entries for code that must not compile. A case in FILE is
#     #ifdef FAIL_name // the regular expression that the message must match
# and everything up to the #endif. If no case is defined, FILE must compile. COMMAND is one string, to which the source is appended. If OUTPUT is
# given, the command writes the file OUTPUT.name. All entries require FIXTURE.
function(revamp_add_rejections)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SUITE;FILE;COMMAND;OUTPUT;FIXTURE" "")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${arg_FILE}")
  set(run ${CMAKE_COMMAND} "-DCOMMAND=${arg_COMMAND}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${arg_FILE}")
  set(script -P "${REVAMP_TESTS}/rejection.cmake")
  file(STRINGS "${arg_FILE}" lines REGEX "^#ifdef FAIL_")
  foreach(line "" ${lines})
    set(name compiles)
    set(case)
    if(line)
      if(NOT line MATCHES "^#ifdef FAIL_([A-Za-z0-9_]+) // (.+)$")
        message(FATAL_ERROR "${arg_FILE}: a case without a message: ${line}")
      endif()
      set(name "${CMAKE_MATCH_1}")
      set(case "-DCASE=FAIL_${name}" "-DMESSAGE=${CMAKE_MATCH_2}")
    endif()
    if(arg_OUTPUT)
      list(APPEND case "-DOUTPUT=${arg_OUTPUT}.${name}")
    endif()
    add_test(NAME ${arg_SUITE}.${name} COMMAND ${run} ${case} ${script})
    set_tests_properties(${arg_SUITE}.${name} PROPERTIES FIXTURES_REQUIRED "${arg_FIXTURE}")
  endforeach()
endfunction()

# revamp_test_modules(FORMAT SOURCES): the target `modules` compiles each kernel of SOURCES (in tests-c/kernels) to SPIR-V words, in the file
# NAME.inc in the folder `modules` of the build. FORMAT is a format of glslc: c (with braces) or num.
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

# revamp_test_samples(SOURCES): the target `samples` compiles each case of SOURCES (in tests-c/kernels). A case begins with "#ifdef CASE_name"
# and, if the library must reject the case, "// refused: text". The file samples.inc, in the folder `modules` of the build, has the SPIR-V words
# of all cases and a table of SAMPLE(name, text).
function(revamp_test_samples)
  set(folder "${REVAMP_TESTS}/../tests-c/kernels")
  set(out "${CMAKE_CURRENT_BINARY_DIR}/modules")
  find_program(GLSLC glslc REQUIRED)
  set(words "")
  set(table "#define SAMPLES(SAMPLE)")
  set(outputs)
  foreach(source ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/${source}")
    get_filename_component(language ${source} EXT)
    set(options -fshader-stage=compute --target-env=vulkan1.2)
    # For HLSL, glslc must declare buffers as in SPIR-V 1.3.
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
      list(APPEND outputs "${out}/sample_${name}.inc")
      string(APPEND words "static const uint32_t ${name}_words[] =\n#include \"sample_${name}.inc\"\n    ;\n")
      string(APPEND table " \\\n    SAMPLE(${name}, \"${text}\")")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${out}/samples.inc" CONTENT "${words}${table}\n" @ONLY)
  add_custom_target(samples DEPENDS ${outputs})
endfunction()

# Makes the files of the target `modules` available to `target`.
function(revamp_use_modules target)
  add_dependencies(${target} modules)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/modules")
endfunction()
