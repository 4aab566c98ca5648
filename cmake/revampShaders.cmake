# revamp_embed_spirv(<target> SOURCES <file>... [NAMESPACE <prefix>] [TARGET_ENV <env>] [OPTIMIZE]
#                    [DEFINES <NAME[=VALUE]>...] [INCLUDE_DIRS <folder>...])
#
# Compiles kernels into a target. Each source is GLSL (compiled by glslc as a compute shader, and again when it or a file it
# includes changes) or a ready SPIR-V module (*.spv, taken as it is). A kernel's name is its file's up to the first dot, as a
# C identifier, behind "<prefix>_" if NAMESPACE is given: image/blur.comp with NAMESPACE image is image_blur. Then
#   - revamp_kernel_find(accelerator, "image_blur", &kernel) loads it. This holds for executables, for static libraries (in
#     whatever they are linked into) and for shared libraries, plugins included, as long as they are loaded.
#   - #include "image_blur.spv.h" declares image_blur_spv (an array of uint32_t) and image_blur_spv_size (bytes).
# The target is linked to revamp::revamp. It must be of this directory, and C or C++ must be enabled.
#
# TARGET_ENV is glslc's --target-env, by default vulkan1.2. OPTIMIZE is its -O. Relative paths start at the current source
# directory. glslc is only looked for when there is GLSL; set REVAMP_GLSLC to name another one.
include_guard()

# Functions keep the policies under which they are defined, so the project's own do not matter (CMP0057, CMP0116).
cmake_policy(PUSH)
cmake_policy(VERSION 3.21)

function(_revamp_find_glslc)
    find_program(REVAMP_GLSLC NAMES glslc HINTS ENV VULKAN_SDK PATH_SUFFIXES bin DOC "Compiler of GLSL to SPIR-V")
    if(NOT REVAMP_GLSLC)
        message(FATAL_ERROR "revamp_embed_spirv: glslc, which compiles GLSL to SPIR-V, was not found. Install it (the Debian "
            "and Ubuntu package is glslc, elsewhere it is in shaderc or the Vulkan SDK), name it with -DREVAMP_GLSLC=<path>, "
            "or give ready .spv files.")
    endif()
endfunction()

function(revamp_embed_spirv target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZE" "NAMESPACE;TARGET_ENV" "SOURCES;DEFINES;INCLUDE_DIRS")
    set(where "revamp_embed_spirv(${target})")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${where}: unknown arguments: ${arg_UNPARSED_ARGUMENTS}. Kernels follow the word SOURCES.")
    endif()
    if(NOT arg_SOURCES)
        message(FATAL_ERROR "${where}: no SOURCES.")
    endif()
    set(embed "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/revampEmbed.cmake")
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
    if(NOT arg_TARGET_ENV)
        set(arg_TARGET_ENV vulkan1.2)
    endif()
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("C" IN_LIST languages)
        set(extension c)
    elseif("CXX" IN_LIST languages)
        set(extension cpp)
    else()
        message(FATAL_ERROR "${where}: the project enables neither C nor CXX.")
    endif()

    # Each call has a folder of its own and a number that makes the symbols of its records unique in the target.
    get_target_property(number ${target} REVAMP_EMBED_CALLS)
    if(NOT number)
        set(number 0)
    endif()
    math(EXPR number "${number} + 1")
    set_target_properties(${target} PROPERTIES REVAMP_EMBED_CALLS ${number})
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/revamp/${target}/${number}")
    file(MAKE_DIRECTORY "${folder}")

    set(flags -fshader-stage=compute --target-env=${arg_TARGET_ENV})
    if(arg_OPTIMIZE)
        list(APPEND flags -O)
    endif()
    foreach(define IN LISTS arg_DEFINES)
        string(REGEX REPLACE "^-D" "" define "${define}")
        list(APPEND flags "-D${define}")
    endforeach()
    foreach(include IN LISTS arg_INCLUDE_DIRS)
        get_filename_component(include "${include}" ABSOLUTE)
        list(APPEND flags -I "${include}")
    endforeach()

    get_target_property(taken ${target} REVAMP_EMBED_NAMES)
    if(NOT taken)
        set(taken)
    endif()
    set(sources)
    set(includes)
    set(records)
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(source "${source}" ABSOLUTE)
        get_source_file_property(generated "${source}" GENERATED)
        if(NOT generated AND NOT EXISTS "${source}")
            message(FATAL_ERROR "${where}: ${source} does not exist.")
        endif()
        get_filename_component(name "${source}" NAME_WE)
        if(arg_NAMESPACE)
            set(name "${arg_NAMESPACE}_${name}")
        endif()
        string(MAKE_C_IDENTIFIER "${name}" name)
        if(name IN_LIST taken)
            message(FATAL_ERROR "${where}: two kernels would have the name ${name}; rename one or give a NAMESPACE.")
        endif()
        list(APPEND taken ${name})

        if(source MATCHES "\\.spv$")
            set(module "${source}")
        else()
            _revamp_find_glslc()
            set(module "${folder}/${name}.spv")
            add_custom_command(
                OUTPUT "${module}"
                COMMAND "${REVAMP_GLSLC}" ${flags} -MD -MF "${module}.d" -MT "${module}" -o "${module}" "${source}"
                DEPENDS "${source}"
                DEPFILE "${module}.d"
                COMMENT "Compiling kernel ${name}"
                VERBATIM)
        endif()
        add_custom_command(
            OUTPUT "${folder}/${name}.spv.${extension}"
            COMMAND "${CMAKE_COMMAND}" "-DINPUT=${module}" "-DOUTPUT=${folder}/${name}.spv.${extension}" "-DSYMBOL=${name}"
                -P "${embed}"
            DEPENDS "${module}" "${embed}"
            COMMENT "Embedding kernel ${name}"
            VERBATIM)
        file(CONFIGURE OUTPUT "${folder}/${name}.spv.h" @ONLY CONTENT [=[
/* Made by revamp_embed_spirv(); do not edit. The kernel @name@ as SPIR-V. */
#ifndef REVAMP_EMBEDDED_@name@
#define REVAMP_EMBEDDED_@name@
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility push(hidden) /* kernels of the same name in two libraries stay apart */
#endif
extern const uint32_t @name@_spv[];
extern const size_t @name@_spv_size; /* in bytes */
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
]=])
        list(APPEND sources "${folder}/${name}.spv.${extension}")
        string(APPEND includes "#include \"${name}.spv.h\"\n")
        string(APPEND records "    records[count].struct_size = sizeof records[count];\n"
            "    records[count].name = \"${name}\";\n"
            "    records[count].spirv = ${name}_spv;\n"
            "    records[count++].spirv_size = ${name}_spv_size;\n")
    endforeach()
    set_target_properties(${target} PROPERTIES REVAMP_EMBED_NAMES "${taken}")

    # What registers the kernels when the program or library is loaded, and takes them back when it is unloaded.
    list(LENGTH arg_SOURCES length)
    string(MAKE_C_IDENTIFIER "${target}_${number}" id)
    file(CONFIGURE OUTPUT "${folder}/records.${extension}" @ONLY CONTENT [=[
/* Made by revamp_embed_spirv(); do not edit. Registers the kernels compiled into the target @target@. */
#include <revamp.h>
@includes@
#ifndef __GNUC__
#error "revamp_embed_spirv() needs a compiler with __attribute__((constructor)), such as GCC or Clang"
#endif

static revamp_kernel_record records[@length@];

#ifdef __cplusplus
extern "C" {
#endif
/* A static library's users refer to this name by a linker option, so that the linker takes this object. */
#ifndef _WIN32 /* there only what is exported is seen */
__attribute__((visibility("hidden")))
#endif
extern int revamp_embedded_@id@;
int revamp_embedded_@id@ = @length@;
#ifdef __cplusplus
}
#endif

__attribute__((constructor)) static void register_records(void) {
    size_t count = 0;
@records@    // A kernel that is missing is reported when it is asked for.
    revamp_status status = revamp_kernel_register(records, count);
    (void)status;
}

__attribute__((destructor)) static void unregister_records(void) {
    (void)revamp_kernel_unregister(records, sizeof records / sizeof records[0]);
}
]=])
    list(APPEND sources "${folder}/records.${extension}")
    set_source_files_properties(${sources} PROPERTIES
        SKIP_AUTOGEN ON SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    # By properties: target_link_libraries() refuses to mix its two signatures, and the project's choice is not known.
    set_property(TARGET ${target} APPEND PROPERTY SOURCES ${sources})
    set_property(TARGET ${target} APPEND PROPERTY INCLUDE_DIRECTORIES "${folder}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES revamp::revamp)
    if(type STREQUAL "STATIC_LIBRARY")
        # As a link item, not as a link option: it must reach whatever the archive is linked into, however private the way.
        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES
            "$<LINK_ONLY:revamp::revamp>" "-Wl,-u,revamp_embedded_${id}")
    elseif(type STREQUAL "OBJECT_LIBRARY")
        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES "$<LINK_ONLY:revamp::revamp>")
    endif()
endfunction()

cmake_policy(POP)
