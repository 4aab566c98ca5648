#!/usr/bin/env python3
"""Writes the sources of the construct matrix of a seed: amp_N.cpp, cuda_N.cu and openmp_N.cpp. Also writes kernels.txt, which has a line
with the name and the constructs of each kernel. usage: generate.py SEED FOLDER [KERNELS (100) [SOURCES (10)]]"""

import os
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from backends import Amp, Cuda, Openmp
from plain import ROWS, Plain
from tiled import Tiled

# Every second kernel contains a construct of this list, in turn, so each construct is in at least five of a hundred kernels. The other
# kernels are random.
ALL_ROWS = ROWS + ["tile constants"]


def describe(seed, number):
    row = ALL_ROWS[number // 2 % len(ALL_ROWS)] if number % 2 == 0 else ""
    kernel = (Tiled if row == "tile constants" or not row and number % 4 == 1 else Plain)(seed, number)
    kernel.describe(row)
    # Integer results are exact. Floating-point results differ, because each language has its own order of operations and its own functions.
    kernel.tolerance = {"float": 2e-4, "double": 1e-10, "unsigned": 0}[kernel.scalar]
    if kernel.uses_fast_maths:
        kernel.tolerance = 5e-3
    return kernel


def write(path, lines):
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def main(seed, folder, kernels=100, sources=10):
    os.makedirs(folder, exist_ok=True)
    all_kernels = [describe(seed, number) for number in range(int(kernels))]
    write(f"{folder}/kernels.txt", [f"{k.name}\t{'; '.join(k.tags)}" for k in all_kernels])
    for source in range(int(sources)):
        some = all_kernels[source::int(sources)]
        for name, header, backend in (("amp_{}.cpp", "constructs.h", Amp), ("cuda_{}.cu", "peer.h", Cuda), ("openmp_{}.cpp", "peer.h", Openmp)):
            lines = [f"// Seed {seed}, by benches/constructs/generate.py.", f'#include "{header}"', "namespace {", "volatile int nothing = 0;"]
            for k in some:
                lines += ["", f"// {'; '.join(k.tags)}", *backend(k).print()]
            lines.append("} // namespace")
            if backend is Amp:
                lines += [f"void cases_{source}(std::vector<Case> &all) {{", *("    " + Amp(k).case() for k in some), "}"]
            write(f"{folder}/{name.format(source)}", lines)
    write(f"{folder}/sources.inc", [f"SOURCE({source})" for source in range(int(sources))])


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
