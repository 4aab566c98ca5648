#!/usr/bin/env python3
"""Prints the results of a run as tables. FOLDER has times.tsv, and after a run on a GPU also driver.log.gz, cuda.log.gz and sass.txt.
usage: report.py FOLDER"""

import collections
import gzip
import math
import os
import re
import sys


def lines(path):
    if not os.path.exists(path):
        return []
    with (gzip.open(path, "rt", errors="replace") if path.endswith(".gz") else open(path, encoding="utf-8", errors="replace")) as f:
        return f.read().splitlines()


def driver(folder):
    """Returns the registers, spilled bytes and instructions that the Vulkan driver reports for the last pipeline of each kernel."""
    of, kernel = {}, ""
    for line in lines(f"{folder}/driver.log.gz"):
        if line.startswith("kernel "):
            kernel = line.split()[1]
            continue
        figures = {name.lower().strip(): float(value) for name, value in re.findall(r"([A-Za-z][A-Za-z ]*?) ([0-9.]+)(?:,|$)", line.split("subgroups of", 1)[-1])}
        if not kernel or not figures:
            continue
        registers = next((v for n, v in figures.items() if "register" in n), None)
        spills = next((v for n, v in figures.items() if "spill" in n or "stack" in n or "local" in n), None)
        code = next((v for n, v in figures.items() if "instruction" in n), None)
        if code is None and "binary size" in figures:
            code = figures["binary size"] / 16
        of[kernel] = (registers, spills, code)
    return of


def cuda(folder):
    of, kernel = collections.defaultdict(lambda: [None, None, None]), ""
    for line in lines(f"{folder}/cuda.log.gz"):
        if found := re.search(r"(?:entry function|Function properties for) '?\S*?(k\d+)_kernel", line):
            kernel = found[1]
        elif found := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            of[kernel][1] = int(found[1]) + int(found[2])
        elif found := re.search(r"Used (\d+) registers", line):
            of[kernel][0] = int(found[1])
    for line in lines(f"{folder}/sass.txt"):
        if found := re.search(r"(k\d+)_kernel\S* (\d+)", line):
            of[found[1]][2] = int(found[2])
    return of


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def figures(of):
    return " / ".join("-" if v is None else f"{v:.0f}" for v in of)


def main(folder):
    rows, other = [], []
    for line in lines(f"{folder}/times.tsv"):
        parts = line.split("\t")
        (rows if len(parts) >= 6 else other).append(parts)
    if not rows:
        raise SystemExit(f"{folder}/times.tsv has no kernels")
    rows.sort(key=lambda row: float(row[-3]))
    ratios = [float(row[-3]) for row in rows]
    wrong = [row for row in rows if row[-2] != "right"] + [row for row in other if len(row) < 2 or row[1] != "right"]
    out_of_range = sum(not 50 <= float(row[2]) <= 2000 for row in rows)
    print(f"{len(rows)} kernels: geometric mean {mean(ratios):.3f}, minimum {ratios[0]:.2f}, {sum(r >= 0.9 for r in ratios)} of at least 0.90, "
          f"{sum(r < 0.8 for r in ratios)} below 0.80. {len(wrong)} wrong or not run; {out_of_range} outside of 0.05 to 2 ms.\n")
    for row in wrong:
        print(f"- {row[0]}: {row[-2] if len(row) > 2 else ' '.join(row[1:])}")
    by = collections.defaultdict(list)
    for row, ratio in zip(rows, ratios):
        for construct in row[-1].split("; "):
            by[construct].append(ratio)
    print("\n| construct | kernels | geometric mean | minimum |\n| --- | --- | --- | --- |")
    for construct, some in sorted(by.items(), key=lambda item: mean(item[1])):
        if len(some) >= 3:
            print(f"| {construct} | {len(some)} | {mean(some):.2f} | {min(some):.2f} |")
    ours, theirs = driver(folder), cuda(folder)
    print("\nRegisters / bytes spilled / instructions, reported for revamp by the Vulkan driver, and for CUDA by ptxas and cuobjdump.\n")
    print("| kernel | speed | threads | ours us | peers us | driver | CUDA | constructs |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row[0]} | {row[-3]} | {row[1]} | {row[2]} | {', '.join(row[3:-3])} | {figures(ours.get(row[0], []))} | {figures(theirs.get(row[0], []))} | {row[-1]} |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
