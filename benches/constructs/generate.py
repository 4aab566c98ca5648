#!/usr/bin/env python3
"""Writes the construct matrix of a seed: usage: generate.py SEED FOLDER [KERNELS (100) [SOURCES (10)]]
FOLDER gets amp_N.cpp, cuda_N.cu and openmp_N.cpp, and kernels.txt with a line for each kernel: its name and constructs."""

import os
import sys

sys.dont_write_bytecode = True  # beside the sources

from backends import Amp, Cuda, Openmp
from plain import ROWS, Plain
from tiled import Tiled

# The rows of the issue, five of a hundred each. The other half is chosen freely.
ALL_ROWS = ROWS + ["tile constants"]


def describe(seed, number):
    row = ALL_ROWS[number // 2 % len(ALL_ROWS)] if number % 2 == 0 else ""
    kernel = (Tiled if row == "tile constants" or not row and number % 4 == 1 else Plain)(seed, number)
    kernel.describe(row)
    # Integers are exact. Of real numbers each side rounds in its own order, and has its own functions.
    kernel.tolerance = {"float": 2e-4, "double": 1e-10, "unsigned": 0}[kernel.scalar]
    if kernel.quick:
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
