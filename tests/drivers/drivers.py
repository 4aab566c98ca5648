#!/usr/bin/env python3
"""Lets AMD's compiler in Mesa (RADV) compile every kernel of the tests, the corpus, the kernel suite and the examples, without a card.

Each kernel is compiled in all forms in which the library would give it to the driver, for each chip of FAMILIES; with --long also with
validation, and with subgroups of 32 where the chip has both sizes. A refused kernel or a driver that crashes is a failure. The driver's
figures are compared with the table of the Mesa version, tests/drivers/radv-VERSION.tsv: it is a failure if a program has more instructions
by 2 %, or more kernels that spill registers or use scratch memory. --update writes the table.
usage: drivers.py PREFIX BUILD [--long | --update]; PREFIX is an installed package, BUILD the folder with what `make test` has built.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = ('polaris10', 'vega10', 'navi10', 'navi21', 'gfx1100')
# Chips whose compiler may take subgroups of 32 for compute.
TWO_SIZES = ('navi10', 'navi21', 'gfx1100')
COLUMNS = ('forms', 'instructions', 'vector registers', 'spilling', 'scratch', 'LDS')
# The same kernels as in another program.
LEFT_OUT = re.compile(r'namesake_|-clang/|_unoptimised$|random_native_')
ICD = glob.glob('/usr/share/vulkan/icd.d/radeon_icd*.json')


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


def compile_program(prefix, path, family, long):
    """What the driver says of a program's kernels: counts by COLUMNS, and what is wrong."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(('REVAMP_', 'CPPAMP_', 'VK_', 'RADV_'))}
    environment.update(VK_ICD_FILENAMES=ICD[0], VK_DRIVER_FILES=ICD[0], RADV_FORCE_FAMILY=family.split(',')[0])
    if ',' in family:
        environment['RADV_PERFTEST'] = family.split(',')[1]
    if long:
        environment['REVAMP_VALIDATION'] = '1'
    run = subprocess.run([f'{prefix}/bin/revamp-info', '--kernels', path], env=environment, capture_output=True, text=True, errors='replace')
    wrong = re.findall(r'.*\n    refused: .*', run.stdout)
    if run.returncode not in (0, 1) or (run.returncode and not wrong):
        wrong.append(f'it ended with {run.returncode}: {run.stderr.strip()[-500:]}')
    counts = dict.fromkeys(COLUMNS, 0)
    for line in run.stdout.splitlines():
        if not line.startswith('    subgroup '):
            continue
        figures = {name: float(value) for name, value in re.findall(r', ([^,]+) ([0-9.e+]+)(?=,|$)', line)}
        counts['forms'] += 1
        counts['instructions'] += int(figures.get('Instructions', 0))
        counts['vector registers'] += int(figures.get('VGPRs', 0))
        counts['spilling'] += figures.get('Spilled SGPRs', 0) + figures.get('Spilled VGPRs', 0) > 0
        counts['scratch'] += figures.get('Scratch size', 0) > 0
        counts['LDS'] += int(figures.get('LDS size', 0))
        if 'Instructions' not in figures:
            wrong.append(f'the driver gives no figures: {line}')
    return counts, wrong


def table_name(prefix):
    """The table of this driver's version."""
    environment = dict(os.environ, VK_ICD_FILENAMES=ICD[0], VK_DRIVER_FILES=ICD[0], RADV_FORCE_FAMILY=FAMILIES[0])
    said = subprocess.run([f'{prefix}/bin/revamp-info'], env=environment, capture_output=True, text=True).stdout
    version = re.search(r'radv Mesa ([0-9.]+)', said)
    if not version or 'it compiles kernels' not in said:
        sys.exit(f'0 passed, 1 failed\nRADV of mesa-vulkan-drivers gives no device without hardware:\n{said}')
    return f'{HERE}/radv-{version[1]}.tsv'


def read_table(name):
    """The counts by family and program; None if there is no table."""
    if not os.path.exists(name):
        return None
    with open(name, encoding='utf-8') as file:
        rows = [line.rstrip('\n').split('\t') for line in file][1:]
    return {(row[0], row[1]): dict(zip(COLUMNS, map(int, row[2:]))) for row in rows}


def worse(now, before):
    """What of the counts is worse than in the table."""
    found = [f'{now[c]} kernels, {before[c]} in the table: {c}' for c in ('spilling', 'scratch') if now[c] > before[c]]
    if now['instructions'] > 1.02 * before['instructions']:
        found.append(f'{now["instructions"]} instructions, {before["instructions"]} in the table')
    return found


def main():
    prefix, build = sys.argv[1:3]
    long, update = '--long' in sys.argv, '--update' in sys.argv
    if not ICD:
        sys.exit('0 passed, 1 failed\nno RADV here: install mesa-vulkan-drivers')
    table = table_name(prefix)
    known = None if update else read_table(table)
    if known is None and not update:
        print(f'no {os.path.basename(table)}: figures are not compared; --update writes it')
    families = list(FAMILIES) + ([f'{family},cswave32' for family in TWO_SIZES] if long else [])
    work = [(family, name, path) for family in families for name, path in programs(build).items()]
    passed, failed, rows = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda one: compile_program(prefix, one[2], one[0], long), work)
        for (family, name, _), (counts, wrong) in zip(work, results):
            rows.append((family, name, counts))
            before = (known or {}).get((family, name))
            if before and before['forms'] == counts['forms']:
                wrong += worse(counts, before)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            for line in wrong:
                print(f'FAILED  {family} {name}: {line}')
    for family in families:
        sums = {c: sum(counts[c] for of, _, counts in rows if of == family) for c in COLUMNS}
        print(f'{family}: ' + ', '.join(f'{value} {c}' for c, value in sums.items()))
    if update:
        with open(table, 'w', encoding='utf-8') as file:
            file.write('\t'.join(('family', 'program') + COLUMNS) + '\n')
            for family, name, counts in rows:
                file.write('\t'.join([family, name] + [str(int(counts[c])) for c in COLUMNS]) + '\n')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


sys.exit(main())
