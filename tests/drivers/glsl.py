#!/usr/bin/env python3
"""Compares what Mesa's driver for AMD's chips makes of 15 kernels in C++ AMP with what it makes of the same in GLSL, written by hand.

Prints a table: our figure / GLSL's, and the geometric means. A kernel of ours that spills registers or uses scratch memory where GLSL's does not
is a failure. Latency and throughput are the driver's own estimates of the time of one thread and of many; instructions are counted once, so an
unrolled loop has more.
usage: glsl.py PREFIX [CHIP]...; PREFIX is an installed package, the chips are navi21 and gfx1100.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

import drivers

HERE = os.path.dirname(os.path.abspath(__file__))
BENCHES = f'{HERE}/../../benches'
FIGURES = ('Instructions', 'VGPRs', 'Latency', 'Inverse Throughput')
SOURCES = (f'{HERE}/glsl/kernels.cpp', f'{BENCHES}/compiled_kernels.cpp')
# The GLSL of each kernel, and what our kernel's name has.
PAIRS = {
    **{name: name for name in ('bitonic', 'advect', 'jacobi', 'nbody', 'mandelbrot', 'matmul')},
    'aes_encrypt': 'aesILb1', 'aes_decrypt': 'aesILb0',
    **{f'compiled_{name.lower()}': name for name in ('Saxpy', 'Matmul', 'NBody', 'Stencil', 'Histogram')},
    'compiled_tiled_matmul': 'TiledMatmul', 'compiled_reduce': 'Reduction',
}


def figures(options, file, chip):
    """The driver's figures by kernel, of the general form."""
    found = {}
    for name, of_kernel in drivers.kernels(drivers.info(options, chip, '--kernels', file).stdout):
        found.setdefault(name, of_kernel)
    return found


def build(prefix, folder):
    """The objects of our kernels, and the modules of GLSL."""
    objects = []
    for source in SOURCES:
        objects.append(f'{folder}/{os.path.basename(source)}.o')
        subprocess.run([f'{prefix}/bin/revamp-c++', '-O2', '-w', '-c', source, '-o', objects[-1]], check=True)
    for name in PAIRS:
        shader = f'{BENCHES}/shaders/{name}.comp' if name.startswith('compiled_') else f'{HERE}/glsl/{name}.comp'
        subprocess.run(['glslc', '-O', '--target-env=vulkan1.2', shader, '-o', f'{folder}/{name}.spv'], check=True)
    return objects


def compare(options, folder, objects, chip):
    """Prints the table of a chip; the names of kernels that are worse than they may be."""
    ours = [figures(options, file, chip) for file in objects]
    ratios, bad = {}, []
    for name, part in PAIRS.items():
        glsl = next(iter(figures(options, f'{folder}/{name}.spv', chip).values()))
        of_source = ours[name.startswith('compiled_')]
        # A length stands before each name.
        mine = next(value for key, value in of_source.items() if re.search(rf'[0-9]{part}', key))
        ratios[name] = [mine[key] / glsl[key] for key in FIGURES]
        if any(mine[key] > 0 and glsl[key] == 0 for key in ('Spilled VGPRs', 'Spilled SGPRs', 'Scratch size')):
            bad.append(name)
    print(f'| {chip} | ' + ' | '.join(FIGURES) + ' |\n|' + ' --- |' * (1 + len(FIGURES)))
    for name, row in ratios.items():
        print(f'| {name} | ' + ' | '.join(f'{value:.2f}' for value in row) + ' |')
    means = [math.exp(sum(math.log(row[k]) for row in ratios.values()) / len(ratios)) for k in range(len(FIGURES))]
    print('| geometric mean | ' + ' | '.join(f'{value:.2f}' for value in means) + ' |')
    return bad


def main():
    prefix, chips = sys.argv[1], sys.argv[2:] or ['navi21', 'gfx1100']
    options = argparse.Namespace(prefix=prefix, icd=drivers.system_icd(), long=False)
    with tempfile.TemporaryDirectory() as folder:
        objects = build(prefix, folder)
        bad = [f'{chip} {name}' for chip in chips for name in compare(options, folder, objects, chip)]
    for name in bad:
        print(f'FAILED  {name} spills or uses scratch memory, its GLSL does not')
    checked = len(PAIRS) * len(chips)
    print(f'{checked - len(bad)} passed, {len(bad)} failed')
    return bool(bad)


sys.exit(main())
