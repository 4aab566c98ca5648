# An overlay port: vcpkg install revamp --overlay-ports=packaging/vcpkg/ports. The port builds the source tree that it is in. Rust must be on PATH.
# The library is always shared.
set(VCPKG_POLICY_ALLOW_EMPTY_FOLDERS enabled)
set(VCPKG_LIBRARY_LINKAGE dynamic)
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

# One build serves both configurations: debug builds of programs use the release library.
set(VCPKG_BUILD_TYPE release)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_cmake_install()

# vcpkg searches share/revamp. The file written there includes lib/cmake/revamp/revampConfig.cmake, which cannot move because it uses relative paths.
file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share/revamp")
file(WRITE "${CURRENT_PACKAGES_DIR}/share/revamp/revampConfig.cmake"
    "include(\"\${CMAKE_CURRENT_LIST_DIR}/../../lib/cmake/revamp/revampConfig.cmake\")\n")
file(COPY "${CURRENT_PACKAGES_DIR}/lib/cmake/revamp/revampConfigVersion.cmake" DESTINATION "${CURRENT_PACKAGES_DIR}/share/revamp")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
file(INSTALL "${SOURCE_PATH}/LICENSE-MIT" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}" RENAME copyright)
