#!/usr/bin/env python3
"""Tests scripts/setup with stubs in place of the system's package tools. The last line is `N passed, N failed`."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = "cat chmod cp cut dirname env grep head mkdir printf sed sh sort tr touch".split()
PACKAGES = """make cmake ninja-build clang clang-format gcc g++ libvulkan1 libvulkan-dev mesa-vulkan-drivers
    vulkan-validationlayers glslc spirv-tools pkg-config ccache valgrind gdb python3 python3-pip libstb-dev abigail-tools""".split()
COMPILER = {"clang-22": "22.1.8", "llvm-22": "22.1.8", "libclang1-22": "22.1.8", "lld-22": "22.1.8", "lldb-22": "22.1.8", "libclang-rt-22-dev": "22.1.8"}
# The packages of PyPI in build/tools.
READER = ["perfetto-0.59.1", "protobuf-6.33.6"]
DEBIAN_12 = {**dict.fromkeys([*PACKAGES, "chromium"], "1"), **COMPILER, "rustc": "1.63.0+dfsg1-2", "rustc-web": "1.96.0+dfsg1-1", "cargo-web": "1.96.0"}
# Versions from `apt-cache policy` in trixie. A package of one Clang version, such as libclang-rt-14-dev, is in one release of Debian only.
DEBIAN_13 = {
    "make": "4.4.1-2", "cmake": "3.31.6-2", "ninja-build": "1.12.1-1", "clang": "1:19.0-63", "clang-format": "1:19.0-63", "gcc": "4:14.2.0-1",
    "g++": "4:14.2.0-1", "libvulkan1": "1.4.309.0-1", "libvulkan-dev": "1.4.309.0-1", "mesa-vulkan-drivers": "25.0.7-2+deb13u1",
    "vulkan-validationlayers": "1.4.309.0-1", "glslc": "2025.2-1", "spirv-tools": "2025.1~rc1-1", "pkg-config": "1.8.1-4", "ccache": "4.11.2-2", "abigail-tools": "2.6-2", "valgrind": "1:3.24.0-3",
    "chromium": "156.0.8078.108-1~deb13u1", "python3": "3.13.5-1", "python3-pip": "25.1.1+dfsg-1", "libstb-dev": "0.0~git20241109.5c20573+ds-1", "clang-19": "1:19.1.7-3+b1",
    "libclang-rt-19-dev": "1:19.1.7-3+b1", "clang-22": "1:22.1.8-1~deb13u5", "llvm-22": "1:22.1.8-1~deb13u5",
    "libclang1-22": "1:22.1.8-1~deb13u5", "lld-22": "1:22.1.8-1~deb13u5", "lldb-22": "1:22.1.8-1~deb13u5", "libclang-rt-22-dev": "1:22.1.8-1~deb13u5",
    "gdb": "16.3-1",
    "rustc": "1.85.1+dfsg1-1+deb13u1", "cargo": "1.85.1+dfsg1-1+deb13u1", "rustc-web": "1.96.0+dfsg1-1~deb13u1+b1", "cargo-web": "1.96.0+dfsg1-1~deb13u1+b1",
}  # fmt: skip
# Ubuntu 24.04 without updates has no packages of LLVM 22 and Chromium, and an old Rust.
UBUNTU_24_04 = {
    **dict.fromkeys(PACKAGES, "1"), "clang": "1:18.0-59~exp2", "clang-18": "1:18.1.3-1ubuntu1", "cmake": "3.28.3-1build7",
    "rustc": "1.75.0+dfsg0ubuntu1-0ubuntu7", "cargo": "1.75.0+dfsg0ubuntu1-0ubuntu7",
}  # fmt: skip
# The stubs read two folders. lists/ has one file per package that apt knows; the file contains the version. mirror/ has the lists after an update.
STUBS = {
    "apt-get": """echo "apt-get $*" >>"$STATE/calls"
case " $* " in
*" update "*) [ -e "$STATE/mirror" ] || exit 100; cp "$STATE"/mirror/* "$STATE/lists/" ;;
*" install "*)
    [ -e "$STATE/mirror" ] || exit 100
    for package; do
        [ -e "$STATE/lists/$package" ] || continue
        touch "$STATE/installed/$package"
        case $package in
        chromium) cp "$STATE/true" "$STATE/bin/chromium" ;;
        clang-22) cp "$STATE/true" "$STATE/bin/clang++-22" ;;
        llvm-22) cp "$STATE/true" "$STATE/bin/opt-22" ;;
        lld-22) cp "$STATE/true" "$STATE/bin/ld.lld-22" ;;
        rustc*) cp "$STATE/true" "$STATE/bin/cargo"; printf '#!/bin/sh\\necho "rustc %s (x)"\\n' "$(cut -d+ -f1 "$STATE/lists/$package")" >"$STATE/bin/rustc"; chmod 755 "$STATE/bin/rustc" ;;
        esac
    done ;;
esac""",
    "apt-cache": """[ "$1" = policy ] && [ -e "$STATE/lists/$2" ] && printf '%s:\\n  Candidate: %s\\n' "$2" "$(cat "$STATE/lists/$2")"
exit 0""",
    "dpkg-query": """shift 2
for package; do [ -e "$STATE/installed/$package" ] && echo "ii  $package"; done
exit 0""",
    "id": 'echo "${USER_ID:-0}"',
    "python3": """echo "python3 $*" >>"$STATE/calls"; [ -e "$STATE/mirror" ]""",
}
ALL = [*PACKAGES, *COMPILER, *READER, "chromium"]


class Machine:
    """A machine: `installed` packages, packages `known` to apt, and packages on the `mirror` (None: no network)."""

    def __init__(self, installed=(), known=None, mirror=DEBIAN_12, rust=None, without=(), sudo=False, user=0):
        self.root = Path(tempfile.mkdtemp())
        self.user = user
        self.folders = ["bin"]  # the folders in PATH
        for folder in ("bin", "front", "installed", "lists"):
            (self.root / folder).mkdir()
        for tool in TOOLS:
            (self.root / "bin" / tool).symlink_to(shutil.which(tool))
        for name, text in {**STUBS, **({"sudo": 'echo "sudo $1" >>"$STATE/calls"; exec "$@"'} if sudo else {})}.items():
            if name not in without:
                self.program(name, text)
        self.program("../true", "exit 0")
        for package in installed:
            (self.root / "installed" / package).touch()
        # The scripts are copied, because the packages of PyPI lie beside them.
        shutil.copytree(ROOT / "scripts", self.root / "tree/scripts")
        shutil.copy(ROOT / "Cargo.toml", self.root / "tree")
        for package in READER:
            if package in installed:
                (self.root / f"tree/build/tools/{package}.dist-info").mkdir(parents=True)
        if "chromium" in installed:
            self.program("chromium", "exit 0")
        if "clang-22" in installed:
            self.program("clang++-22", "exit 0")
            self.program("opt-22", "exit 0")
            self.program("ld.lld-22", "exit 0")
        self.packages("lists", known or {})
        if mirror is not None:
            (self.root / "mirror").mkdir()
            self.packages("mirror", mirror)
        if rust:
            self.program("cargo", "exit 0")
            self.program("rustc", f'echo "rustc {rust} (x)"')

    def program(self, name, text):
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def packages(self, folder, versions):
        for package, version in versions.items():
            (self.root / folder / package).write_text(version)

    def setup(self):
        """Runs scripts/setup; returns its exit status, its messages, and the calls of apt-get and sudo."""
        environment = {"PATH": ":".join(str(self.root / folder) for folder in self.folders), "STATE": str(self.root), "HOME": str(self.root), "USER_ID": str(self.user)}
        done = subprocess.run([self.root / "tree/scripts/setup"], env=environment, capture_output=True, text=True, check=False)
        calls = self.root / "calls"
        call_log = calls.read_text() if calls.exists() else ""
        shutil.rmtree(self.root)
        return done.returncode, done.stdout + done.stderr, call_log


def check(condition, details):
    if not condition:
        raise AssertionError(details)


def old_lists_do_not_hide_the_kernel_compiler():
    code, output, calls = Machine(known=dict.fromkeys(PACKAGES, "1")).setup()
    check(code == 0 and "offers no" not in output, output)
    check(calls.index("update") < calls.index("install") and "clang-22" in calls and "llvm-22" in calls, calls)


def empty_lists():
    code, output, calls = Machine().setup()
    check(code == 0 and all(f" {package}" in calls for package in [*PACKAGES, "clang-22"]), (output, calls))


def rust_of_debian_12():
    _, output, calls = Machine().setup()
    check("rustc-web cargo-web" in calls and " rustc " not in calls, (output, calls))


def all_of_debian_13():
    code, output, calls = Machine(mirror=DEBIAN_13).setup()
    check(code == 0 and "offers no" not in output and "clang-22" in calls, (code, output, calls))
    check("rustc cargo" in calls and "rustc-web" not in calls, (output, calls))


def ubuntu_24_04():
    code, output, calls = Machine(mirror=UBUNTU_24_04).setup()
    check(code != 0 and "Rust 1.85 or later is missing" in output and "rustup" in output and "install" not in calls, (code, output, calls))
    code, output, calls = Machine(mirror=UBUNTU_24_04, rust="1.90.0").setup()
    check(code == 0 and output.count("this system offers no") == len(COMPILER) + 1 and "no package chromium" in output and "get LLVM 22 from https://apt.llvm.org" in output, (code, output, calls))


def no_rust_is_new_enough():
    code, output, _ = Machine(mirror={**dict.fromkeys(PACKAGES, "1"), **COMPILER, "rustc": "1.63.0"}).setup()
    check(code != 0 and "rustup" in output, output)


def an_old_rust_is_replaced():
    code, output, calls = Machine(installed=ALL, rust="1.70.0").setup()
    check(code == 0 and "rustc-web cargo-web" in calls, (code, output, calls))


def an_old_rust_stays_first_on_path():
    machine = Machine(installed=ALL)
    machine.folders.insert(0, "front")
    machine.program("../front/rustc", 'echo "rustc 1.70.0 (x)"')
    code, output, _ = machine.setup()
    check(code != 0 and "Rust 1.70.0" in output and "rustup update" in output, (code, output))


def nothing_is_missing():
    code, output, calls = Machine(installed=ALL, rust="1.90.0").setup()
    check((code, output, calls) == (0, "", ""), (code, output, calls))


def a_system_without_the_kernel_compiler():
    code, output, calls = Machine(mirror={name: version for name, version in DEBIAN_12.items() if name not in COMPILER}).setup()
    check(code == 0 and "offers no clang-22" in output and "cmake" in calls, (code, output, calls))


def the_reader_of_traces_is_missing():
    installed = [package for package in ALL if package not in READER]
    code, output, calls = Machine(installed=installed, rust="1.90.0").setup()
    check((code, output, calls.count("python3 -m pip install")) == (0, "", 2) and "apt-get" not in calls, (code, output, calls))
    code, output, calls = Machine(installed=installed, rust="1.90.0", mirror=None).setup()
    check(code == 0 and output.count("cannot install the package") == 2, (code, output, calls))


def a_system_without_another_package():
    code, output, _ = Machine(mirror={name: version for name, version in DEBIAN_12.items() if name != "glslc"}).setup()
    check(code != 0 and "offers no glslc, which is needed" in output, (code, output))


def no_network():
    code, output, _ = Machine(known=DEBIAN_12, mirror=None).setup()
    check(code != 0 and "apt-get update failed" in output, (code, output))


def neither_root_nor_sudo():
    code, output, calls = Machine(user=1000).setup()
    check(code != 0 and calls == "" and "run as root: apt-get update && apt-get install" in output and "clang-22" in output, (code, output, calls))


def installs_with_sudo():
    code, output, calls = Machine(user=1000, sudo=True).setup()
    check(code == 0 and calls.count("sudo") == 2, (code, output, calls))


def a_system_without_apt():
    code, output, _ = Machine(without=("apt-get", "apt-cache", "dpkg-query")).setup()
    check(code != 0 and "no apt-get" in output and "cmake" in output and "rust" in output, (code, output))


TESTS = [
    old_lists_do_not_hide_the_kernel_compiler, empty_lists, rust_of_debian_12, all_of_debian_13, ubuntu_24_04, no_rust_is_new_enough,
    an_old_rust_is_replaced, an_old_rust_stays_first_on_path, nothing_is_missing, a_system_without_the_kernel_compiler, the_reader_of_traces_is_missing,
    a_system_without_another_package,
    no_network, neither_root_nor_sudo, installs_with_sudo, a_system_without_apt,
]  # fmt: skip

if __name__ == "__main__":
    os.environ.pop("REVAMP_CLANG", None)
    failed = 0
    for test in TESTS:
        try:
            test()
        except AssertionError as error:
            failed += 1
            print(f"FAILED {test.__name__}: {error}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    raise SystemExit(failed > 0)
