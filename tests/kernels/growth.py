#!/usr/bin/env python3
"""Checks what compiling a kernel costs: the instructions of the kernel compiler's own processes, with LLVM in them and without Clang's, by
cachegrind. With --long also those of the process that reads the whole source by libclang, that they grow linearly with the kernels of a source,
and the memory of the largest process for 300 kernels.
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
# By how much a later kernel may cost more than an early one. The times of a61f82b (11, 28, 89 s for 32, 64, 128 kernels) give 1.46.
LIMIT = 1.25
# Million instructions a kernel, a fifth above what was counted.
EACH = 322
# What reads the source takes 6 of them, and 2,700 for amp.h, a minute under cachegrind.
READER = "--revamp-check-amp"
# Kernels, and the memory of the largest process for them, which is Clang's, over that of Clang alone.
MOST, MEMORY = 300, 1.1


def source(count):
    head = "#include <amp.h>\n#include <vector>\nusing namespace concurrency;\n"
    return head + "".join(KERNEL.format(n=n, size=n + 2, rounds=n % 7 + 3, step=n + 1) for n in range(count))


def compiled(folder, count, *compiler):
    """Compiles a source of so many kernels."""
    (folder / "kernels.cpp").write_text(source(count))
    command = [*compiler, "-O2", "-c", "kernels.cpp", "-o", "kernels.o"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def instructions(folder, compiler, count, without):
    """What compiling so many kernels takes, without the processes that have one of these arguments."""
    for old in folder.glob("counted.*"):
        old.unlink()
    counting = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"]
    counting += ["--trace-children-skip=*clang*,*ld,*objcopy*,*/as", f"--trace-children-skip-by-arg={without}"]
    counting += [f"--cachegrind-out-file={folder}/counted.%p"]
    compiled(folder, count, *counting, compiler, "-famp-jobs=1")
    totals = [re.search(r"^summary: (\d+)", file.read_text(errors="replace"), re.M) for file in folder.glob("counted.*")]
    return sum(int(total[1]) for total in totals if total)


def largest_process(folder, count, *compiler):
    """The memory in MiB of the largest process of all so far, with a compiler of so many kernels."""
    compiled(folder, count, *compiler)
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
        check(f"MiB of the largest process for {MOST} kernels", largest_process(folder, MOST, compiler, "-famp-jobs=1"), MEMORY * alone)
    one, three = (instructions(folder, compiler, count, without) for count in (1, 3))
    check("million instructions a kernel", (three - one) / 2e6, EACH)
    if long:
        few, many = (instructions(folder, compiler, count, without) for count in (FEW, MANY))
        first, later = (few - one) / (FEW - 1), (many - few) / (MANY - FEW)
        check(f"million instructions for each kernel from {FEW} to {MANY}", later / 1e6, LIMIT * first / 1e6)
    print(f"{sum(checks)} passed, {len(checks) - sum(checks)} failed")
    return int(not all(checks))


sys.exit(main())
