#!/usr/bin/env python3
"""Compares the code that Mesa's driver for AMD GPUs generates for 15 C++ AMP kernels and for the same kernels in hand-written GLSL.

The GLSL does the same work: each matrix has its own row length, because an array_view may be a section, and threads outside the domain return.
The members of C++ AMP's argument block are push constants in GLSL.

Prints a table of ratios (the C++ AMP kernel's figure / the GLSL kernel's) and the geometric means. A C++ AMP kernel fails if it has over 1.25
times the instructions or VGPRs of its GLSL kernel, or if it spills registers or uses scratch memory and its GLSL kernel does not. A chip fails if a
geometric mean of instructions or VGPRs is over 1.05. Latency is the driver's estimate of the time of one thread; inverse throughput is its
estimate for many threads. Instructions are counted statically, so an unrolled loop has more.

A kernel that depends on aliasing has two forms. The form without aliasing is compared, because the driver assumes that GLSL's buffers do not alias: it
moves loads of read-only buffers over barriers, even if the buffers are decorated as Aliased.
usage: glsl.py PREFIX [CHIP]...; PREFIX is an installed package. The default chips are navi21 and gfx1100.
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
# The ratios of these figures are limited.
LIMITED = ('Instructions', 'VGPRs')
MAX_RATIO, MAX_MEAN = 1.25, 1.05
SOURCES = (f'{HERE}/glsl/kernels.cpp', f'{BENCHES}/compiled_kernels.cpp')
# The name of each kernel's GLSL file, and a part of the C++ AMP kernel's mangled name.
PAIRS = {
    **{name: name for name in ('bitonic', 'advect', 'jacobi', 'nbody', 'mandelbrot', 'matmul')},
    'aes_encrypt': 'aesILb1', 'aes_decrypt': 'aesILb0',
    **{f'compiled_{name.lower()}': name for name in ('Saxpy', 'Matmul', 'NBody', 'Histogram')},
    'compiled_tiled_matmul': 'TiledMatmul', 'compiled_reduce': 'Reduction', 'stencil': 'Stencil',
}


def figures(options, file, chip):
    """The driver's figures by kernel, for the form without aliasing if the kernel has one."""
    return {name.removesuffix(', no aliasing'): kernel_figures
            for name, kernel_figures in drivers.kernels(drivers.info(options, chip, '--kernels', file).stdout)}


def build(prefix, folder):
    """Builds our kernels and the GLSL modules. Returns the objects of our kernels."""
    objects = []
    for source in SOURCES:
        objects.append(f'{folder}/{os.path.basename(source)}.o')
        subprocess.run([f'{prefix}/bin/revamp-c++', '-O2', '-w', '-c', source, '-o', objects[-1]], check=True)
    for name in PAIRS:
        shader = f'{BENCHES}/shaders/{name}.comp' if name.startswith('compiled_') else f'{HERE}/glsl/{name}.comp'
        subprocess.run(['glslc', '-O', '--target-env=vulkan1.2', shader, '-o', f'{folder}/{name}.spv'], check=True)
    return objects


def compare(options, folder, objects, chip):
    """Prints the table of a chip. Returns what fails."""
    ours = [figures(options, file, chip) for file in objects]
    ratios, bad = {}, []
    for name, part in PAIRS.items():
        glsl = next(iter(figures(options, f'{folder}/{name}.spv', chip).values()))
        # In mangled names the length precedes each name.
        amp_figures = next(value for source_figures in ours for key, value in source_figures.items() if re.search(rf'[0-9]{part}', key))
        ratios[name] = [amp_figures[key] / glsl[key] for key in FIGURES]
        if any(amp_figures[key] > 0 and glsl[key] == 0 for key in ('Spilled VGPRs', 'Spilled SGPRs', 'Scratch size')):
            bad.append(f'{name} spills or uses scratch memory, its GLSL does not')
        bad += [f'{name} has {ratio:.2f} times the {key} of its GLSL' for key, ratio in zip(FIGURES, ratios[name])
                if key in LIMITED and ratio > MAX_RATIO]
    print(f'| {chip} | ' + ' | '.join(FIGURES) + ' |\n|' + ' --- |' * (1 + len(FIGURES)))
    for name, row in ratios.items():
        print(f'| {name} | ' + ' | '.join(f'{value:.2f}' for value in row) + ' |')
    means = [math.exp(sum(math.log(row[k]) for row in ratios.values()) / len(ratios)) for k in range(len(FIGURES))]
    print('| geometric mean | ' + ' | '.join(f'{value:.2f}' for value in means) + ' |')
    bad += [f'the mean ratio of {key} is {mean:.3f}' for key, mean in zip(FIGURES, means) if key in LIMITED and mean > MAX_MEAN]
    return [f'{chip}: {what}' for what in bad]


def main():
    prefix, chips = sys.argv[1], sys.argv[2:] or ['navi21', 'gfx1100']
    options = argparse.Namespace(prefix=prefix, icd=drivers.system_icd(), long=False, shim=None)
    with tempfile.TemporaryDirectory() as folder:
        objects = build(prefix, folder)
        bad = [what for chip in chips for what in compare(options, folder, objects, chip)]
    for what in bad:
        print(f'FAILED  {what}')
    # Each kernel is checked for its spills and for each limited figure, and each chip for the means.
    checks = len(chips) * (len(PAIRS) * (1 + len(LIMITED)) + len(LIMITED))
    print(f'{checks - len(bad)} passed, {len(bad)} failed')
    return bool(bad)


sys.exit(main())
