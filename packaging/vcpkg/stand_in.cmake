# Runs a portfile without vcpkg: cmake -DPORT_DIR=... -DROOT=... -P stand_in.cmake. scripts/test-packages uses it to test
# the portfile's steps and the files that they install. vcpkg's own checks do not run.
cmake_minimum_required(VERSION 3.21)
set(CURRENT_PACKAGES_DIR "${ROOT}")
set(PORT revamp)
set(_build "${ROOT}-build")
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    execute_process(COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${arg_SOURCE_PATH}" -B "${_build}" -DCMAKE_BUILD_TYPE=Release
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${arg_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
    execute_process(COMMAND "${CMAKE_COMMAND}" --install "${_build}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
include("${PORT_DIR}/portfile.cmake")
