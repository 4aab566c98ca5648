"""Conan's test package: builds the template project with the revamp package, and runs it."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain


class Test(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        self.folders.build = "build"

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["START_KERNELS"] = os.environ.get("START_KERNELS", "ON")
        toolchain.cache_variables["CMAKE_PREFIX_PATH"] = self.dependencies["revamp"].package_folder
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=os.path.join(self.recipe_folder, "..", "..", "template"))
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.build_folder, "start"), env="conanrun")
