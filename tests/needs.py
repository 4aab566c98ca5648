#!/usr/bin/env python3
"""Tests scripts/needs with stub programs. Each case removes one of the things that `make test` needs, and scripts/needs must print the
sentence that the table in CONTRIBUTING.md has for it. The last line of the output is `N passed, N failed`."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = "setup needs rounds rust headers instructions consumers examples c cpp kernels corpus faults trace drivers".split()
TOOLS = "sh dirname env cat grep sed pwd mkdir rm id nproc uname readlink".split()
PROGRAMS = "cmake ninja gcc g++ clang clang++ pkg-config ccache glslc spirv-val spirv-as valgrind clang++-22 opt-22 gdb lldb-22 ldconfig ls chromium python3".split()
# For each package: the programs to remove, or the items that the stubs must no longer report.
CASES = {
    "cmake": ["cmake"],
    "ninja-build": ["ninja"],
    "g++": ["g++"],
    "clang": ["clang++"],
    "pkg-config": ["pkg-config"],
    "ccache": ["ccache"],
    "glslc": ["glslc"],
    "spirv-tools": ["spirv-val"],
    "valgrind": ["valgrind"],
    "libvulkan1": ["libvulkan.so.1"],
    "libvulkan-dev": ["vulkan.pc"],
    "mesa-vulkan-drivers": ["lvp_icd"],
    "vulkan-validationlayers": ["VkLayer_khronos"],
    "clang-22": ["clang++-22"],
    "llvm-22": ["opt-22"],
    "libclang1-22": ["libclang"],
    "gdb": ["gdb"],
    "lldb-22": ["lldb-22"],
    "libclang-rt-22-dev": ["sanitizers"],
    "chromium": ["chromium"],
    "perfetto": ["perfetto"],
}
STUBS = {
    "python3": '[ ! -e "$AWAY/perfetto" ]',
    "ldconfig": '[ -e "$AWAY/libvulkan.so.1" ] || echo "libvulkan.so.1 (libc6) => /x/libvulkan.so.1"',
    "pkg-config": '[ ! -e "$AWAY/vulkan.pc" ]',
    "ls": 'for file in "$AWAY"/*; do case "$*" in *"${file##*/}"*) exit 1 ;; esac; done; [ -e "$AWAY/libclang" ] || case "$1" in "$HOME/bin/../lib") echo libclang-22.so.1 ;; esac',
    # Prints `opt` like a Clang that has no `opt` in its own folder.
    "clang++-22": 'case "$*" in *fsanitize*) [ ! -e "$AWAY/sanitizers" ] ;; *) echo opt ;; esac',
}


def needs(away, command=("scripts/needs", *PARTS), root=ROOT):
    """Runs the command without the items in `away`; returns its output and exit status."""
    with tempfile.TemporaryDirectory() as folder:
        bin_folder, gone = Path(folder, "bin"), Path(folder, "away")
        bin_folder.mkdir()
        gone.mkdir()
        for tool in TOOLS:
            (bin_folder / tool).symlink_to(shutil.which(tool))
        for name in PROGRAMS:
            if name not in away:
                (bin_folder / name).write_text("#!/bin/sh\n" + STUBS.get(name, "exit 0") + "\n")
                (bin_folder / name).chmod(0o755)
        for name in away:
            (gone / name).touch()
        variables = {"PATH": str(bin_folder), "AWAY": str(gone), "HOME": folder, "LANG": "C"}
        done = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True)
        return done.stdout.strip(), done.returncode


passed = failed = 0


def check(name, right, said):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    print(f"{'ok     ' if right else 'FAILED '} {name}" + ("" if right else f"\n    {said}"))


check("nothing is missing", needs([]) == ("", 0), needs([]))
page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
table = dict(re.findall(r"^\| `([^`]+)` \| `(make test: .*)` \|$", page, re.MULTILINE))
for package, away in CASES.items():
    said, status = needs(away)
    lines = [line for line in said.splitlines() if f"(package {package})" in line]
    # Without pkg-config, scripts/needs cannot find the Vulkan headers and reports them too.
    only_these_lines = said.splitlines() == lines or package == "pkg-config"
    check(f"without {package}", status == 1 and len(lines) == 1 and only_these_lines, said)
    check(f"the sentence of CONTRIBUTING.md for {package}", [table.get(package)] == lines, f"{table.get(package)}\n    {lines}")
said, status = needs(["valgrind"], ("scripts/needs", *(p for p in PARTS if p != "instructions")))
check("a part that is left out needs nothing", (said, status) == ("", 0), said)
with tempfile.TemporaryDirectory() as copy:
    # scripts/test empties a folder of its tree, so it runs in a copy.
    shutil.copytree(ROOT / "scripts", Path(copy, "scripts"))
    shutil.copy(ROOT / "Cargo.toml", copy)
    for package in ("cmake", "mesa-vulkan-drivers", "llvm-22"):
        said, status = needs(CASES[package], ("scripts/test",), copy)
        lines = said.splitlines()
        right = status == 1 and lines[-1:] == ["0 passed, 1 failed"] and lines[0].startswith(table.get(package, "-"))
        check(f"scripts/test fails without {package}, and begins no test", right and len(lines) == 2, said)
check("each row of CONTRIBUTING.md is tried", set(table) == set(CASES), sorted(set(table) ^ set(CASES)))
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
