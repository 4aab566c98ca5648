#!/usr/bin/env python3
"""Checks the cost of compiling a kernel. Cachegrind counts the instructions of the kernel compiler's processes, in which LLVM runs. Clang's processes
are not counted. With --long, also counts the process that reads the whole source with libclang, checks that the instructions grow linearly
with the number of kernels, and checks the memory of the largest process for 300 kernels.
usage: growth.py FOLDER REVAMP-C++ [--long]"""

import os
import pathlib
import re
import resource
import subprocess
import sys

KERNEL = """void kernel_{n}(std::vector<float> &data) {{
    array_view<float> a(int(data.size()), data);
    parallel_for_each(a.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {{
        tile_static float s[64];
        tile_static float other[{size}];
        const int l = t.local[0];
        s[l] = a[t.global];
        if (l < {size}) other[l] = s[l] * {n}.5f;
        t.barrier.wait();
        float sum = 0;
        for (int i = 0; i < {rounds}; ++i) sum += s[(l + i * {step}) % 64] * other[i % {size}];
        t.barrier.wait();
        a[t.global] = sum;
    }});
}}
"""
FEW, MANY = 8, 32
# The highest allowed ratio of a later kernel's cost to an early kernel's. The ratio was 1.46 at commit a61f82b, where 32, 64 and 128 kernels took
# 11, 28 and 89 s.
LIMIT = 1.25
# Million instructions per kernel, a fifth above the measured figure.
MAX_MEGAINSTRUCTIONS_PER_KERNEL = 322
# The argument that identifies the process that reads the source. This process is counted only with --long, because it takes a minute under
# cachegrind: 2,700 million instructions for amp.h, and 6 million per kernel.
READER = "--revamp-check-amp"
# For the check of memory: the number of kernels. The largest process of revamp-c++ is Clang. It may use MEMORY_LIMIT times the memory of Clang
# without revamp-c++.
MOST, MEMORY_LIMIT = 300, 1.1


def source(count):
    head = "#include <amp.h>\n#include <vector>\nusing namespace concurrency;\n"
    return head + "".join(KERNEL.format(n=n, size=n + 2, rounds=n % 7 + 3, step=n + 1) for n in range(count))


def compile_kernels(folder, count, *compiler):
    """Compiles a source with `count` kernels."""
    (folder / "kernels.cpp").write_text(source(count))
    command = [*compiler, "-O2", "-c", "kernels.cpp", "-o", "kernels.o"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def instructions(folder, compiler, count, without):
    """Returns the number of instructions to compile `count` kernels. Processes with the argument `without` are not counted."""
    for old in folder.glob("counted.*"):
        old.unlink()
    counting = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"]
    counting += ["--trace-children-skip=*clang*,*ld,*objcopy*,*/as", f"--trace-children-skip-by-arg={without}"]
    counting += [f"--cachegrind-out-file={folder}/counted.%p"]
    compile_kernels(folder, count, *counting, compiler, "-famp-jobs=1")
    totals = [re.search(r"^summary: (\d+)", file.read_text(errors="replace"), re.M) for file in folder.glob("counted.*")]
    return sum(int(total[1]) for total in totals if total)


def largest_process(folder, count, *compiler):
    """Compiles `count` kernels. Returns the memory in MiB of the largest process so far."""
    compile_kernels(folder, count, *compiler)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


def main():
    folder, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    checks = []

    def check(what, number, limit):
        print(f"{'ok     ' if number <= limit else 'FAILED '} {what}: {number:.0f}, at most {limit:.0f}")
        checks.append(number <= limit)

    long = "--long" in sys.argv[3:]
    without = "" if long else READER
    if long:
        clang = os.environ.get("REVAMP_CLANG", "clang++-22")
        includes = [f"-I{compiler.parent.parent}/include/{name}" for name in ("revamp-amp", "")]
        alone = largest_process(folder, MOST, clang, "-std=c++17", *includes)
        check(f"MiB of the largest process for {MOST} kernels", largest_process(folder, MOST, compiler, "-famp-jobs=1"), MEMORY_LIMIT * alone)
    one, three = (instructions(folder, compiler, count, without) for count in (1, 3))
    check("million instructions a kernel", (three - one) / 2e6, MAX_MEGAINSTRUCTIONS_PER_KERNEL)
    if long:
        few, many = (instructions(folder, compiler, count, without) for count in (FEW, MANY))
        cost_of_first, cost_of_later = (few - one) / (FEW - 1), (many - few) / (MANY - FEW)
        check(f"million instructions for each kernel from {FEW} to {MANY}", cost_of_later / 1e6, LIMIT * cost_of_first / 1e6)
    print(f"{sum(checks)} passed, {len(checks) - sum(checks)} failed")
    return int(not all(checks))


sys.exit(main())
