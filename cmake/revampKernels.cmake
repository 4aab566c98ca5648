# revamp_add_kernels(<target> [STRICT] [BOUNDS off|zero|report] [SOURCES <file>...])
#
# Compiles the C++ AMP kernels of a target for devices. revamp-kernelc compiles each C++ source that launches kernels
# (parallel_for_each with a lambda or functor); its object then holds the kernels. The project's compiler compiles all other
# sources, and the objects link together. No source needs changes.
#
#   add_executable(app main.cpp work.cpp)
#   target_link_libraries(app PRIVATE revamp::amp)
#   revamp_add_kernels(app)                     # or SOURCES work.cpp, if only that one launches kernels
#
# revamp-kernelc also compiles sources that overload functions on restriction specifiers, even if they launch no kernel.
#
# BOUNDS selects what happens on an access outside an array or array_view (docs/kernel-compiler.md). The default is `report` in
# builds without optimisation (-O0), else `off`.
# STRICT refuses extensions of revamp in kernels (char, goto, ...), for sources that MSVC compiles too.
#
# A compiler launcher that the target already has (CMAKE_CXX_COMPILER_LAUNCHER=ccache) is kept. If the project's compiler is GCC or
# Clang, the launcher runs only for sources without kernels. If the project's compiler is revamp-c++, it runs for all sources.
#
# Works with executables and static, shared, module and object libraries, and with Makefile and Ninja generators. Needs Clang 22
# with its libclang and LLVM tools; REVAMP_CLANG (a CMake variable or an environment variable) selects a Clang.
include_guard()

cmake_policy(PUSH)
cmake_policy(VERSION 3.21)

function(revamp_add_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STRICT" "BOUNDS" "SOURCES")
    set(where "revamp_add_kernels(${target})")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${where}: the arguments ${arg_UNPARSED_ARGUMENTS} are unknown; write sources after the word SOURCES.")
    endif()
    if(DEFINED arg_BOUNDS AND NOT arg_BOUNDS MATCHES "^(off|zero|report)$")
        message(FATAL_ERROR "${where}: BOUNDS is \"${arg_BOUNDS}\"; it must be off, zero or report.")
    endif()
    if(NOT TARGET ${target})
        message(FATAL_ERROR "${where}: the target does not exist; call add_executable() or add_library() first.")
    endif()
    get_target_property(directory ${target} SOURCE_DIR)
    get_target_property(type ${target} TYPE)
    if(NOT directory STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "${where}: the target was created in ${directory}; call revamp_add_kernels() in the same directory.")
    endif()
    if(NOT type MATCHES "^(EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY|OBJECT_LIBRARY)$")
        message(FATAL_ERROR "${where}: kernels cannot be compiled into a target of type ${type}.")
    endif()
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
        message(FATAL_ERROR "${where}: the project's compiler is ${CMAKE_CXX_COMPILER_ID}; kernels can only be compiled in projects that use GCC or Clang.")
    endif()
    if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
        message(FATAL_ERROR "${where}: the generator ${CMAKE_GENERATOR} is not supported; use Ninja or Make.")
    endif()
    get_property(done TARGET ${target} PROPERTY REVAMP_KERNELS)
    if(done)
        message(FATAL_ERROR "${where}: the function was called twice for this target; name all sources in one call.")
    endif()
    # A package for another system has no kernel compiler that runs on this machine, and may lie in a folder of this machine's
    # package. In that case, the kernel compiler of the outer package is used.
    get_filename_component(kernelc "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin/revamp-kernelc" ABSOLUTE)
    if(CMAKE_HOST_WIN32)
        set(kernelc "${kernelc}.exe")
    elseif(NOT EXISTS "${kernelc}")
        get_filename_component(kernelc "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../../bin/revamp-kernelc" ABSOLUTE)
    endif()
    if(NOT EXISTS "${kernelc}")
        message(FATAL_ERROR "${where}: ${kernelc} is missing: revamp was installed without the kernel compiler.")
    endif()

    get_target_property(project_launcher ${target} CXX_COMPILER_LAUNCHER)
    if(NOT project_launcher)
        set(project_launcher "")
    endif()
    set(options)
    if(arg_BOUNDS)
        list(APPEND options "-famp-bounds=${arg_BOUNDS}")
        if(arg_BOUNDS STREQUAL "report")
            # All sources of the target need the same form of the headers, also those without kernels.
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
        # revamp-c++ finds kernels itself; the project's launcher (ccache) runs it.
        list(APPEND launcher ${project_launcher})
        foreach(option IN LISTS options)
            target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${option}>")
        endforeach()
    else()
        list(APPEND launcher "${kernelc}" ${only} ${options})
        if(project_launcher)
            # The project's launcher runs for sources without kernels only.
            list(APPEND launcher --launcher ${project_launcher})
        endif()
        list(APPEND launcher --)
    endif()
    set_target_properties(${target} PROPERTIES
        REVAMP_KERNELS ON
        CXX_COMPILER_LAUNCHER "${launcher}"
        # The kernel compiler's Clang cannot use modules that the project's compiler made.
        CXX_SCAN_FOR_MODULES OFF)
    # Objects are rebuilt when the kernel compiler changes. The C++ AMP headers are in the dependency files already.
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
