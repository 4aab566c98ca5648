"""revamp for Conan 2: conan create . (Rust must be on PATH; scripts/test-packages runs this with test_package)."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import load


class Revamp(ConanFile):
    name = "revamp"
    license = "MIT OR Apache-2.0"
    description = "C++ AMP over Vulkan: a library, headers, and a compiler of kernels"
    topics = ("gpgpu", "vulkan", "c++-amp", "compute")
    package_type = "shared-library"
    # The library is written in Rust and has a C interface, so no C++ compiler setting affects it.
    settings = "os", "arch"
    test_package_folder = "packaging/conan"
    exports_sources = (
        "Cargo.*", "build.rs", "cbindgen.toml", "src/*", "image/*", "kernelc/*", "perfetto/*", "port/*", "source/*", "trace/*",
        "include/*", "cpp-shim/*", "cmake/*", "scripts/*",
        "packaging/debugger.py", "docs/*", "template/*", "examples-*", "benches/*", "tests/rust/*", "*.md", "LICENSE-*", ".cargo/*", "vendor/*",
    )

    def set_version(self):
        manifest = load(self, os.path.join(self.recipe_folder, "Cargo.toml"))
        self.version = re.search(r'^version = "(.*)"', manifest, re.M).group(1)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("this recipe builds on Linux")

    def build(self):
        self.run(os.path.join(self.source_folder, "scripts", "build"))

    def package(self):
        script = os.path.join(self.source_folder, "scripts", "install")
        self.run(f"PREFIX='{self.package_folder}' DESTDIR= '{script}' --no-build")

    def package_info(self):
        # Conan generates no CMake and pkg-config files: the package brings its own.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.set_property("pkg_config_name", "none")
        self.cpp_info.builddirs = ["lib/cmake/revamp"]
        self.cpp_info.libs = ["revamp"]
        self.cpp_info.includedirs = ["include", "include/revamp-amp"]
        self.buildenv_info.append_path("PATH", os.path.join(self.package_folder, "bin"))
