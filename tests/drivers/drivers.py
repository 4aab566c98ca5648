#!/usr/bin/env python3
"""Lets AMD's compiler in Mesa (RADV) compile every kernel of the tests, the corpus, the kernel suite and the examples, without a card.

Each kernel is compiled for each chip of FAMILIES as the library gives it to the driver, with its own workgroup: in general, where no captures
alias, and with textures as images; with --long also with
validation, and with subgroups of 32 where the chip has both sizes. --icd FILE: the manifest of another RADV than the system's, which may know
more chips (--also CHIP). A refused kernel or a driver that crashes is a failure. The driver's
figures are compared with the table of the Mesa version, tests/drivers/radv-VERSION.tsv, if there is one: it is a failure if a program has more
instructions by 2 %, more kernels that spill registers or use scratch memory, or other kernels. --update writes the table; with --only PATTERN the rows of the
programs whose names match, and no others are compiled.
usage: drivers.py PREFIX BUILD [--long] [--update] [--only PATTERN] [--icd FILE] [--also CHIP]
PREFIX is an installed package, BUILD the folder with what `make test` has built.
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
# Chips whose compiler may take subgroups of 32 for compute.
TWO_SIZES = ('navi10', 'navi21', 'gfx1100')
# What later versions call them.
RENAMED = {'gfx1100': 'navi31'}
COLUMNS = ('forms', 'instructions', 'vector registers', 'spilling', 'scratch', 'LDS')
# The same kernels as in another program.
LEFT_OUT = re.compile(r'namesake_|-clang/|_unoptimised$|random_native_')


def system_icd():
    """The manifest of the system's RADV; None if there is none."""
    found = [path for folder in ('/usr/share', '/etc', '/usr/local/share') for path in glob.glob(f'{folder}/vulkan/icd.d/radeon_icd*.json')]
    return found[0] if found else None


def programs(build):
    """Programs with kernels, by name."""
    found = {}
    for folder in ('tests/kernels/gcc', 'tests/corpus/build', 'examples/*'):
        for path in sorted(glob.glob(f'{build}/{folder}/*')):
            if os.path.isfile(path) and os.access(path, os.X_OK) and not LEFT_OUT.search(path):
                with open(path, 'rb') as file:
                    if b'RVMPKERN' in file.read():
                        found[os.path.relpath(path, build)] = path
    return found


@functools.lru_cache
def knows_chip(program, icd, chip):
    """Whether the driver has a chip of this name."""
    environment = dict(os.environ, VK_ICD_FILENAMES=icd, VK_DRIVER_FILES=icd, RADV_FORCE_FAMILY=chip)
    return 'Unknown family' not in subprocess.run([program], env=environment, capture_output=True, text=True, errors='replace').stderr


def info(options, family, *arguments):
    """Runs revamp-info with the driver for a chip; "CHIP,cswave32": with subgroups of 32."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(('REVAMP_', 'CPPAMP_', 'VK_', 'RADV_'))}
    program = [f'{options.prefix}/bin/revamp-info', *arguments]
    chip, _, test = family.partition(',')
    environment.update(VK_ICD_FILENAMES=options.icd, VK_DRIVER_FILES=options.icd, RADV_FORCE_FAMILY=chip, RADV_PERFTEST=test)
    if chip in RENAMED and not knows_chip(program[0], options.icd, chip):
        environment['RADV_FORCE_FAMILY'] = RENAMED[chip]
    if options.long:
        environment['REVAMP_VALIDATION'] = '2'
    return subprocess.run(program, env=environment, capture_output=True, text=True, errors='replace')


def kernels(said):
    """Name and figures of each kernel that revamp-info lists."""
    found, name = [], ''
    for line in said.splitlines():
        if line.startswith('    subgroup '):
            found.append((name, {key: float(value) for key, value in re.findall(r', ([^,]+) ([0-9.e+]+)(?=,|$)', line)}))
        else:
            name = line
    return found


def compile_program(options, path, family):
    """What the driver says of a program's kernels: counts by COLUMNS, and what is wrong."""
    run = info(options, family, '--kernels', path)
    wrong = re.findall(r'.*\n    refused: .*', run.stdout)
    if run.returncode not in (0, 1) or (run.returncode and not wrong):
        wrong.append(f'it ended with {run.returncode}: {run.stderr.strip()[-500:]}')
    counts = dict.fromkeys(COLUMNS, 0)
    for _, figures in kernels(run.stdout):
        counts['forms'] += 1
        counts['instructions'] += int(figures.get('Instructions', 0))
        counts['vector registers'] += int(figures.get('VGPRs', 0))
        counts['spilling'] += figures.get('Spilled SGPRs', 0) + figures.get('Spilled VGPRs', 0) > 0
        counts['scratch'] += figures.get('Scratch size', 0) > 0
        counts['LDS'] += int(figures.get('LDS size', 0))
        if 'Instructions' not in figures:
            wrong.append('the driver gives no figures')
    return counts, wrong


def table_name(options):
    """The table of this driver's version."""
    said = info(options, FAMILIES[0]).stdout
    version = re.search(r'radv Mesa ([0-9.]+)', said)
    if not version or 'can compile kernels' not in said:
        sys.exit(f'0 passed, 1 failed\n{options.icd} gives no device without hardware:\n{said}')
    return f'{HERE}/radv-{version[1]}.tsv'


def read_table(name):
    """The counts by family and program; None if there is no table."""
    if not os.path.exists(name):
        return None
    with open(name, encoding='utf-8') as file:
        rows = [line.rstrip('\n').split('\t') for line in file][1:]
    return {(row[0], row[1]): dict(zip(COLUMNS, map(int, row[2:]))) for row in rows}


def regressions(now, before):
    """What is worse than in the table."""
    found = [f'{now[c]} kernels, {before[c]} in the table: {c}' for c in ('spilling', 'scratch') if now[c] > before[c]]
    if now['instructions'] > 1.02 * before['instructions']:
        found.append(f'{now["instructions"]} instructions, {before["instructions"]} in the table')
    return found


def against_table(now, before):
    """What differs from the table so that it must be looked at; nothing of another version's driver, which has no table."""
    if before is None:
        return ['it is not in the table: run scripts/test-drivers with --update']
    if now['forms'] != before['forms']:
        return [f'{now["forms"]} forms of kernels, {before["forms"]} in the table: look at both, then run scripts/test-drivers with --update']
    return regressions(now, before)


def planted_faults(options, folder):
    """The planted faults that were not detected: a missing feature, a large variable, too many values."""
    missed = []
    for name, expected in (('lacking', 'lacks what the kernel needs: capability AtomicFloat64'), ('scratch', 'scratch'), ('spilling', 'spilling')):
        module = f'{folder}/{name}.spv'
        subprocess.run(['glslc', '-O', '--target-env=vulkan1.2', f'{HERE}/faults/{name}.comp', '-o', module], check=True)
        counts, wrong = compile_program(options, module, 'navi21')
        found = wrong + regressions(counts, dict.fromkeys(COLUMNS, 0))
        if not any(expected in line for line in found):
            missed.append(f'planted fault {name}: {found}')
    return missed


def report(work, results, known):
    """Prints what is wrong. Returns the number of failures, and rows for the table."""
    failed, rows = 0, []
    for (family, name, _), (counts, wrong) in zip(work, results):
        rows.append((family, name, counts))
        if known is not None and family in FAMILIES:
            wrong += against_table(counts, known.pop((family, name), None))
        failed += bool(wrong)
        for line in wrong:
            print(f'FAILED  {family} {name}: {line}')
    for family, name in known or {}:
        failed += 1
        print(f'FAILED  {family} {name}: it is in the table, and there is no such program')
    for family in dict.fromkeys(family for family, _, _ in rows):
        sums = {c: sum(counts[c] for of, _, counts in rows if of == family) for c in COLUMNS}
        print(f'{family}: ' + ', '.join(f'{value} {c}' for c, value in sums.items()))
    return failed, rows


def write_table(name, kept, rows):
    table = kept | {(family, program): counts for family, program, counts in rows}
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
    options = parser.parse_args()
    if not options.icd:
        sys.exit('0 passed, 1 failed\nno RADV here: install mesa-vulkan-drivers')
    table = table_name(options)
    read = read_table(table)
    known = None if options.update or read is None else {key: row for key, row in read.items() if re.search(options.only, key[1])}
    if known is None and not options.update:
        print(f'no {os.path.basename(table)}: figures are not compared; --update writes it')
    families = [*FAMILIES, *options.also] + [f'{family},cswave32' for family in TWO_SIZES if options.long]
    work = [(family, name, path) for family in families for name, path in programs(options.build).items() if re.search(options.only, name)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed, rows = report(work, pool.map(lambda one: compile_program(options, one[2], one[0]), work), known)
    with tempfile.TemporaryDirectory() as folder:
        missed = planted_faults(options, folder)
    for line in missed:
        print(f'FAILED  {line}')
    if options.update:
        write_table(table, (read if options.only else None) or {}, rows)
    failed += len(missed)
    print(f'{len(work) + 3 - failed} passed, {failed} failed')
    return failed > 0 or not work


if __name__ == '__main__':
    sys.exit(main())
