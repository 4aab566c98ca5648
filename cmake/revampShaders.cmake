# revamp_embed_spirv(<target> SOURCES <file>... [NAMESPACE <prefix>] [TARGET_ENV <env>] [OPTIMIZE]
#                    [DEFINES <NAME[=VALUE]>...] [INCLUDE_DIRS <folder>...])
#
# Compiles kernels into a target. A source is either a SPIR-V module (*.spv), which is used unchanged, or GLSL, which glslc compiles
# as a compute shader. GLSL is recompiled when the source or an included file changes. A kernel's name is its file name up to the
# first dot, as a C identifier. NAMESPACE puts "<prefix>_" before the name: image/blur.comp with NAMESPACE image is image_blur.
#   - revamp_kernel_find(accelerator, "image_blur", &kernel) loads this kernel. The target may be an executable, a static library
#     (after it is linked into another binary), or a shared library or plugin (while it is loaded).
#   - #include "image_blur.spv.h" declares image_blur_spv (an array of uint32_t) and image_blur_spv_size (bytes).
# The target is linked to revamp::revamp. It must be created in the calling directory, and C or C++ must be enabled.
#
# TARGET_ENV is glslc's --target-env, by default vulkan1.2. OPTIMIZE is glslc's -O. Relative paths start at the current source
# directory. glslc is needed only for GLSL; REVAMP_GLSLC selects another glslc.
include_guard()

# Functions keep the policies under which they are defined, so the project's policies do not matter (CMP0057, CMP0116).
cmake_policy(PUSH)
cmake_policy(VERSION 3.21)

function(_revamp_find_glslc)
    find_program(REVAMP_GLSLC NAMES glslc HINTS ENV VULKAN_SDK PATH_SUFFIXES bin DOC "Compiler of GLSL to SPIR-V")
    if(NOT REVAMP_GLSLC)
        message(FATAL_ERROR "revamp_embed_spirv: glslc, which compiles GLSL to SPIR-V, was not found. Install glslc (the Debian "
            "and Ubuntu package is glslc; on other systems, shaderc and the Vulkan SDK contain glslc), pass its path as "
            "-DREVAMP_GLSLC=<path>, or list .spv files as SOURCES.")
    endif()
endfunction()

function(revamp_embed_spirv target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZE" "NAMESPACE;TARGET_ENV" "SOURCES;DEFINES;INCLUDE_DIRS")
    set(where "revamp_embed_spirv(${target})")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${where}: the arguments ${arg_UNPARSED_ARGUMENTS} are unknown; write kernels after the word SOURCES.")
    endif()
    if(NOT arg_SOURCES)
        message(FATAL_ERROR "${where}: the argument SOURCES is missing; write kernels after the word SOURCES.")
    endif()
    set(embed "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/revampEmbed.cmake")
    if(NOT TARGET ${target})
        message(FATAL_ERROR "${where}: the target does not exist; call add_executable() or add_library() first.")
    endif()
    get_target_property(directory ${target} SOURCE_DIR)
    get_target_property(type ${target} TYPE)
    if(NOT directory STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "${where}: the target was created in ${directory}; call revamp_embed_spirv() in the same directory.")
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
        message(FATAL_ERROR "${where}: the project enables neither C nor CXX; enable one of these languages in project().")
    endif()

    # Each call has its own folder and number. The number makes the symbols of the call's records unique in the target.
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
            message(FATAL_ERROR "${where}: two kernels would have the name ${name}; rename one of them, or pass a NAMESPACE.")
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
#pragma GCC visibility push(hidden) /* so that two libraries can have kernels of the same name */
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

    # This source registers the kernels when the program or library is loaded, and unregisters them when it is unloaded.
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
#ifndef _WIN32 /* on Windows, a DLL shows only the names that it exports */
__attribute__((visibility("hidden")))
#endif
extern int revamp_embedded_@id@;
int revamp_embedded_@id@ = @length@;
#ifdef __cplusplus
}
#endif

__attribute__((constructor)) static void register_records(void) {
    size_t count = 0;
@records@    // If this call fails, revamp_kernel_find() reports that the kernels are missing.
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
    # Set as properties, because target_link_libraries() refuses to mix its two signatures, and the project may use either.
    set_property(TARGET ${target} APPEND PROPERTY SOURCES ${sources})
    set_property(TARGET ${target} APPEND PROPERTY INCLUDE_DIRECTORIES "${folder}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES revamp::revamp)
    if(type STREQUAL "STATIC_LIBRARY")
        # A link item, not a link option: the item must reach every binary that the archive is linked into, also through PRIVATE
        # dependencies.
        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES
            "$<LINK_ONLY:revamp::revamp>" "-Wl,-u,revamp_embedded_${id}")
    elseif(type STREQUAL "OBJECT_LIBRARY")
        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES "$<LINK_ONLY:revamp::revamp>")
    endif()
endfunction()

cmake_policy(POP)
