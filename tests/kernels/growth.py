#!/usr/bin/env python3
"""Checks that the kernel compiler's work grows linearly with the kernels of a source: counts the instructions of its own processes, with LLVM
in them and without Clang's, by callgrind. Part of make test-long. usage: growth.py FOLDER REVAMP-C++"""

import pathlib
import re
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


def source(count):
    head = "#include <amp.h>\n#include <vector>\nusing namespace concurrency;\n"
    return head + "".join(KERNEL.format(n=n, size=n + 2, rounds=n % 7 + 3, step=n + 1) for n in range(count))


def instructions(folder, compiler, count):
    """What compiling so many kernels takes."""
    (folder / "kernels.cpp").write_text(source(count))
    for old in folder.glob("callgrind.*"):
        old.unlink()
    command = ["valgrind", "--tool=callgrind", "--trace-children=yes", "--trace-children-skip=*clang*,*ld,*objcopy*,*/as"]
    command += [f"--callgrind-out-file={folder}/callgrind.%p", compiler, "-O2", "-c", "kernels.cpp", "-o", "kernels.o"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    totals = [re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.M) for file in folder.glob("callgrind.*")]
    return sum(int(total[1]) for total in totals if total)


def main():
    folder, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    none, few, many = (instructions(folder, compiler, count) for count in (1, FEW, MANY))
    first, later = (few - none) / (FEW - 1), (many - few) / (MANY - FEW)
    print(f"{first / 1e6:.1f} million instructions for each of the first {FEW} kernels, {later / 1e6:.1f} for each of the next")
    failed = later > LIMIT * first
    print(f"{1 - failed} passed, {int(failed)} failed")
    return int(failed)


sys.exit(main())
