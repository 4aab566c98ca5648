# revamp_add_kernels(<target> [STRICT] [BOUNDS off|zero|report] [SOURCES <file>...])
#
# Compiles the C++ AMP kernels of a target for devices: each C++ source that launches some (parallel_for_each with a lambda or
# functor) goes through revamp-kernelc, and its object then holds the kernels. The sources stay as they are, the project's
# compiler too: GCC or Clang compiles all the others, and the objects link together.
#
#   add_executable(app main.cpp work.cpp)
#   target_link_libraries(app PRIVATE revamp::amp)
#   revamp_add_kernels(app)                     # or SOURCES work.cpp, if only that one launches kernels
#
# Sources that overload functions on restriction go there too, also without a launch.
#
# BOUNDS says what becomes of accesses outside of arrays and array_views (docs/kernel-compiler.md); without it they are reported
# where nothing is optimised (-O0), and not checked elsewhere.
# STRICT refuses in kernels what C++ AMP does not have, also where revamp has it (char, goto, ...), for sources that MSVC compiles too.
#
# A launcher that the target has by then (CMAKE_CXX_COMPILER_LAUNCHER=ccache) is kept: beside GCC or Clang for sources without kernels, with
# revamp-c++ as the project's compiler for all.
#
# Works with executables and static, shared, module and object libraries, with the generators of Make and Ninja. Clang 22
# with its libclang and LLVM tools must be there; set REVAMP_CLANG (a CMake variable or an environment variable) to name one.
include_guard()

cmake_policy(PUSH)
cmake_policy(VERSION 3.21)

function(revamp_add_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STRICT" "BOUNDS" "SOURCES")
    set(where "revamp_add_kernels(${target})")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${where}: unknown arguments: ${arg_UNPARSED_ARGUMENTS}. Sources follow the word SOURCES.")
    endif()
    if(DEFINED arg_BOUNDS AND NOT arg_BOUNDS MATCHES "^(off|zero|report)$")
        message(FATAL_ERROR "${where}: BOUNDS is off, zero or report, not \"${arg_BOUNDS}\".")
    endif()
    if(NOT TARGET ${target})
        message(FATAL_ERROR "${where}: there is no such target; call add_executable() or add_library() first.")
    endif()
    get_target_property(directory ${target} SOURCE_DIR)
    get_target_property(type ${target} TYPE)
    if(NOT directory STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "${where}: the target is made in ${directory}; call this there.")
    endif()
    if(NOT type MATCHES "^(EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY|OBJECT_LIBRARY)$")
        message(FATAL_ERROR "${where}: kernels cannot be compiled into a target of type ${type}.")
    endif()
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
        message(FATAL_ERROR "${where}: the project's compiler is ${CMAKE_CXX_COMPILER_ID}; kernels can be compiled beside GCC or Clang.")
    endif()
    if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
        message(FATAL_ERROR "${where}: the generator is ${CMAKE_GENERATOR}; use Ninja or Make.")
    endif()
    get_property(done TARGET ${target} PROPERTY REVAMP_KERNELS)
    if(done)
        message(FATAL_ERROR "${where}: called twice; name all sources in one call.")
    endif()
    # The compiler runs where the project is built: that of the package beside it if this package is for another system.
    get_filename_component(kernelc "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin/revamp-kernelc" ABSOLUTE)
    if(CMAKE_HOST_WIN32)
        set(kernelc "${kernelc}.exe")
    elseif(NOT EXISTS "${kernelc}")
        get_filename_component(kernelc "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../../bin/revamp-kernelc" ABSOLUTE)
    endif()
    if(NOT EXISTS "${kernelc}")
        message(FATAL_ERROR "${where}: ${kernelc} is missing: revamp was installed without the kernel compiler.")
    endif()

    get_target_property(before ${target} CXX_COMPILER_LAUNCHER)
    if(NOT before)
        set(before "")
    endif()
    set(options)
    if(arg_BOUNDS)
        list(APPEND options "-famp-bounds=${arg_BOUNDS}")
        if(arg_BOUNDS STREQUAL "report")
            # The same headers in all sources of the target, also in those without kernels.
            target_compile_definitions(${target} PRIVATE REVAMP_CHECK_BOUNDS)
        endif()
    endif()
    if(arg_STRICT)
        list(APPEND options -famp-strict)
    endif()
    set(only)
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(source "${source}" ABSOLUTE)
        get_source_file_property(generated "${source}" GENERATED)
        if(NOT generated AND NOT EXISTS "${source}")
            message(FATAL_ERROR "${where}: ${source} does not exist.")
        endif()
        list(APPEND only --only "${source}")
    endforeach()
    set(launcher)
    if(REVAMP_CLANG)
        list(APPEND launcher "${CMAKE_COMMAND}" -E env "REVAMP_CLANG=${REVAMP_CLANG}")
    endif()
    if(CMAKE_CXX_COMPILER MATCHES "revamp-c\\+\\+(\\.exe)?$")
        # It finds kernels itself, so what the project uses (ccache) stands before it.
        list(APPEND launcher ${before})
        foreach(option IN LISTS options)
            target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${option}>")
        endforeach()
    else()
        list(APPEND launcher "${kernelc}" ${only} ${options})
        if(before)
            # For sources without kernels; objects with kernels are made without it.
            list(APPEND launcher --launcher ${before})
        endif()
        list(APPEND launcher --)
    endif()
    set_target_properties(${target} PROPERTIES
        REVAMP_KERNELS ON
        CXX_COMPILER_LAUNCHER "${launcher}"
        # Modules compiled by the project's compiler are of no use to Clang.
        CXX_SCAN_FOR_MODULES OFF)
    # Objects are made anew when the kernel compiler changes; the headers that it reads are in the files of dependencies.
    set(sources ${arg_SOURCES})
    if(NOT sources)
        get_target_property(sources ${target} SOURCES)
    endif()
    foreach(source IN LISTS sources)
        if(source MATCHES "\\.(cpp|cc|cxx|C|c\\+\\+|cp)$" AND NOT source MATCHES "[<>$]")
            set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${kernelc}")
        endif()
    endforeach()
endfunction()

cmake_policy(POP)
