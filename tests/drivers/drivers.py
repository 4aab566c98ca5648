#!/usr/bin/env python3
"""Compiles every kernel of the tests, the corpus, the kernel suite and the examples with Mesa's compiler for AMD (RADV), without hardware.

Each kernel is compiled for each chip of FAMILIES, with its own workgroup size, in the forms that the library passes to the driver: the general form,
the form without aliasing captures, and the form with textures as images. --long adds validation, and subgroups of 32 on chips that have both sizes.
--icd FILE is the manifest of another RADV than the system's, and --also CHIP adds a chip that it knows. --shim FILE replaces RADV with Mesa's
driver for Intel (FILE is named anv) or NVIDIA (nvk), on devices that Mesa's drm-shim imitates (tests/drivers/drm-shim).

A refused kernel and a crash of the driver are failures. The driver's figures are compared with the table of the Mesa version,
tests/drivers/radv-VERSION.tsv, if there is one. A program fails if it has over 2 % more instructions than in the table, more kernels that spill
registers or use scratch memory, or a different number of kernel forms. --update writes the figures of FAMILIES to the table; with --shim it has no
effect. --only PATTERN compiles (and with --update writes) only the programs whose names match.
usage: drivers.py PREFIX BUILD [--long] [--update] [--only PATTERN] [--icd FILE] [--also CHIP] [--shim FILE]
PREFIX is an installed package, BUILD the folder that `make test` filled.
"""
import argparse
import concurrent.futures
import functools
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = ('polaris10', 'vega10', 'navi10', 'navi21', 'gfx1100')
# Chips whose compiler can use subgroups of 32 for compute.
SUBGROUP_32_CHIPS = ('navi10', 'navi21', 'gfx1100')
# The names of chips in later versions of Mesa.
RENAMED = {'gfx1100': 'navi31'}
# Devices by their names in drm-shim. Intel: Skylake, Tiger Lake, Arc and Lunar Lake. NVIDIA: Turing and Ampere.
DEVICES = {'anv': ('skl', 'tgl', 'dg2', 'lnl'), 'nvk': ('162', '172')}
# Programs that have a kernel for which NVK's compiler takes more than ten minutes.
TOO_LARGE = {'nvk': re.compile('random_textures_')}
# Errors that these devices may report. Some lack doubles or 64 KiB of tile_static memory. Intel's devices allow less than 1 MiB of local variables
# per thread.
OVER_LIMITS = re.compile(r'lacks what the kernel needs|bytes of workgroup memory, but the limit|large_tile_static_beside_large_locals')
COLUMNS = ('forms', 'instructions', 'vector registers', 'spilling', 'scratch', 'LDS')
# The names of COLUMNS in the statistics of RADV, ANV and NVK.
NAMES = {
    'instructions': ('Instructions', 'Instruction Count', 'Instruction count'),
    'vector registers': ('VGPRs', 'Max live registers', 'Number of GPRs'),
    'spilling': ('Spilled SGPRs', 'Spilled VGPRs', 'Spill Count'), 'scratch': ('Scratch size', 'Scratch Memory Size', 'SLM Size'),
    'LDS': ('LDS size', 'Workgroup Memory Size'),
}
# Programs that have the same kernels as another program.
DUPLICATES = re.compile(r'namesake_|-clang/|_unoptimised$|random_native_')


def system_icd():
    """The manifest of the system's RADV; None if there is none."""
    found = [path for folder in ('/usr/share', '/etc', '/usr/local/share') for path in glob.glob(f'{folder}/vulkan/icd.d/radeon_icd*.json')]
    return found[0] if found else None


def programs(build):
    """Paths of the programs that contain kernels, by name."""
    found = {}
    for folder in ('tests/kernels/gcc', 'tests/corpus/build', 'examples/*'):
        for path in sorted(glob.glob(f'{build}/{folder}/*')):
            if os.path.isfile(path) and os.access(path, os.X_OK) and not DUPLICATES.search(path):
                with open(path, 'rb') as file:
                    if b'RVMPKERN' in file.read():
                        found[os.path.relpath(path, build)] = path
    return found


@functools.lru_cache
def knows_chip(program, icd, chip):
    """True if the driver knows a chip of this name."""
    environment = dict(os.environ, VK_ICD_FILENAMES=icd, VK_DRIVER_FILES=icd, RADV_FORCE_FAMILY=chip)
    return 'Unknown family' not in subprocess.run([program], env=environment, capture_output=True, text=True, errors='replace').stderr


def info(options, family, *arguments):
    """Runs revamp-info with the driver for a chip. The family "CHIP,cswave32" is a chip with subgroups of 32."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(('REVAMP_', 'CPPAMP_', 'VK_', 'RADV_'))}
    program = [f'{options.prefix}/bin/revamp-info', *arguments]
    chip, _, test = family.partition(',')
    environment.update(VK_ICD_FILENAMES=options.icd, VK_DRIVER_FILES=options.icd, RADV_FORCE_FAMILY=chip, RADV_PERFTEST=test)
    if options.shim:
        program = [options.shim, chip, *program]
    elif chip in RENAMED and not knows_chip(program[0], options.icd, chip):
        environment['RADV_FORCE_FAMILY'] = RENAMED[chip]
    if options.long:
        environment['REVAMP_VALIDATION'] = '2'
    return subprocess.run(program, env=environment, capture_output=True, text=True, errors='replace')


def kernels(output):
    """Name and figures of each kernel that revamp-info lists."""
    found, name = [], ''
    for line in output.splitlines():
        if line.startswith('    subgroup '):
            found.append((name, {key: float(value) for key, value in re.findall(r', ([^,]+) ([0-9.e+]+)(?=,|$)', line)}))
        else:
            name = line
    return found


def compile_program(options, path, family):
    """Compiles the kernels of a program. Returns counts by COLUMNS, and a list of errors."""
    run = info(options, family, '--kernels', path)
    problems = re.findall(r'.*\n    refused: .*', run.stdout)
    if run.returncode not in (0, 1) or (run.returncode and not problems):
        problems.append(f'revamp-info exited with status {run.returncode}: {run.stderr.strip()[-500:]}')
    counts = dict.fromkeys(COLUMNS, 0)
    for _, figures in kernels(run.stdout):
        sums = {column: sum(figures.get(name, 0) for name in names) for column, names in NAMES.items()}
        counts['forms'] += 1
        for column in ('instructions', 'vector registers', 'LDS'):
            counts[column] += int(sums[column])
        for column in ('spilling', 'scratch'):
            counts[column] += sums[column] > 0
        if not sums['instructions']:
            problems.append('the driver reports no statistics of the kernel')
    return counts, problems


def compile_counted(options, path, family):
    """Like compile_program(), but counts kernels that exceed the device's limits instead of listing them as errors."""
    counts, problems = compile_program(options, path, family)
    over_limit = [line for line in problems if options.shim and OVER_LIMITS.search(line)]
    return counts | {'beyond the device': len(over_limit)}, [line for line in problems if line not in over_limit]


def table_name(options):
    """The path of the table for this version of the driver."""
    output = info(options, FAMILIES[0]).stdout
    version = re.search(r'radv Mesa ([0-9.]+)', output)
    if not version or 'can compile kernels' not in output:
        sys.exit(f'0 passed, 1 failed\n{options.icd} offers no device on a machine without the hardware:\n{output}')
    return f'{HERE}/radv-{version[1]}.tsv'


def read_table(name):
    """The counts by family and program; None if there is no table."""
    if not os.path.exists(name):
        return None
    with open(name, encoding='utf-8') as file:
        rows = [line.rstrip('\n').split('\t') for line in file][1:]
    return {(row[0], row[1]): dict(zip(COLUMNS, map(int, row[2:]))) for row in rows}


def regressions(now, before):
    """Messages about figures that are worse than in the table."""
    found = [f'{now[c]} kernels, {before[c]} in the table: {c}' for c in ('spilling', 'scratch') if now[c] > before[c]]
    if now['instructions'] > 1.02 * before['instructions']:
        found.append(f'{now["instructions"]} instructions, {before["instructions"]} in the table')
    return found


def table_problems(now, before):
    """Messages about differences from the table that need attention."""
    if before is None:
        return ['it is not in the table: run scripts/test-drivers with --update']
    if now['forms'] != before['forms']:
        return [f'{now["forms"]} forms of kernels, {before["forms"]} in the table: look at both, then run scripts/test-drivers with --update']
    return regressions(now, before)


def chips_to_test(options):
    """The chips to compile for."""
    if options.shim:
        return DEVICES[os.path.basename(options.shim)]
    return (*FAMILIES, *options.also, *(f'{family},cswave32' for family in SUBGROUP_32_CHIPS if options.long))


def planted_faults(options, folder, chip):
    """Tests that planted faults (a missing feature, a large variable, too many values) are detected. Returns those that were not."""
    missed = []
    for name, expected in (('lacking', 'lacks what the kernel needs: capability AtomicFloat64'), ('scratch', 'scratch'), ('spilling', 'spilling')):
        module = f'{folder}/{name}.spv'
        subprocess.run(['glslc', '-O', '--target-env=vulkan1.2', f'{HERE}/faults/{name}.comp', '-o', module], check=True)
        counts, problems = compile_program(options, module, chip)
        found = problems + regressions(counts, dict.fromkeys(COLUMNS, 0))
        if not any(expected in line for line in found):
            missed.append(f'planted fault {name}: {found}')
    return missed


def report(work, results, table_rows):
    """Prints the errors. Returns the number of failures, and rows for the table."""
    failed, rows = 0, []
    for (family, name, _), (counts, problems) in zip(work, results):
        rows.append((family, name, counts))
        if table_rows is not None and family in FAMILIES:
            problems += table_problems(counts, table_rows.pop((family, name), None))
        failed += bool(problems)
        for line in problems:
            print(f'FAILED  {family} {name}: {line}')
    for family, name in table_rows or {}:
        failed += 1
        print(f'FAILED  {family} {name}: the table has this program, but the build does not')
    for family in dict.fromkeys(family for family, _, _ in rows):
        sums = {c: sum(counts[c] for of, _, counts in rows if of == family) for c in rows[0][2]}
        print(f'{family}: ' + ', '.join(f'{value} {c}' for c, value in sums.items() if value or c in COLUMNS))
    return failed, rows


def write_table(name, old_rows, rows):
    table = old_rows | {(family, program): counts for family, program, counts in rows}
    with open(name, 'w', encoding='utf-8') as file:
        file.write('\t'.join(('family', 'program') + COLUMNS) + '\n')
        for (family, program), counts in table.items():
            file.write('\t'.join([family, program] + [str(int(counts[c])) for c in COLUMNS]) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('prefix')
    parser.add_argument('build')
    parser.add_argument('--long', action='store_true')
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--only', type=re.compile, default='')
    parser.add_argument('--icd', default=system_icd())
    parser.add_argument('--also', action='append', default=[])
    parser.add_argument('--shim')
    options = parser.parse_args()
    if not options.icd:
        sys.exit('0 passed, 1 failed\nno RADV here: install mesa-vulkan-drivers')
    table = '' if options.shim else table_name(options)
    read = read_table(table)
    table_rows = None if options.update or read is None else {key: row for key, row in read.items() if re.search(options.only, key[1])}
    if table_rows is None and not options.update and table:
        print(f'no {os.path.basename(table)}: figures are not compared; --update writes it')
    too_large = TOO_LARGE.get(os.path.basename(options.shim or ''))
    compiled = {name: path for name, path in programs(options.build).items() if re.search(options.only, name) and not (too_large and too_large.search(name))}
    work = [(family, name, path) for family in chips_to_test(options) for name, path in compiled.items()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed, rows = report(work, pool.map(lambda one: compile_counted(options, one[2], one[0]), work), table_rows)
    # NVK is left out: its devices do not lack the feature of the planted fault, and NVK does not count spills.
    chips = [chip for chip in ('navi21', 'skl') if chip in chips_to_test(options)]
    with tempfile.TemporaryDirectory() as folder:
        missed = [line for chip in chips for line in planted_faults(options, folder, chip)]
    for line in missed:
        print(f'FAILED  {line}')
    if options.update and table:
        # Later runs compare only these chips with the table.
        write_table(table, (read if options.only else None) or {}, [row for row in rows if row[0] in FAMILIES])
    failed += len(missed)
    print(f'{len(work) + 3 * len(chips) - failed} passed, {failed} failed')
    return failed > 0 or not work


if __name__ == '__main__':
    sys.exit(main())
