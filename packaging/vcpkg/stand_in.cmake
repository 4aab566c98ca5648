# What vcpkg would run of a portfile, where there is no vcpkg: cmake -DPORT_DIR=... -DROOT=... -P stand_in.cmake. For scripts/test-packages: it shows
# that the portfile's steps work and what they install, not that vcpkg's own checks pass.
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
