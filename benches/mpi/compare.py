#!/usr/bin/env python3
"""Prints the tables of docs/mpi.md from the results of benches/mpi/run.sh in FOLDER. The figures are medians over the rounds. A ratio is
CUDA's time divided by revamp's time. usage: compare.py FOLDER"""
import collections
import re
import statistics
import sys

folder = sys.argv[1]
times = collections.defaultdict(list)
for line in open(folder + "/exchange.times"):
    parts = line.split()
    # round, who, ranks, what, bytes, microseconds
    if len(parts) == 6 and parts[1] in ("revamp", "cuda"):
        times[parts[1], int(parts[2]), parts[3], int(parts[4]), int(parts[0])].append(float(parts[5]))

# If a round measured several ways, the fastest counts.
medians = collections.defaultdict(list)
for (who, ranks, what, size, _), found in times.items():
    medians[who, ranks, what, size].append(min(found))
ranks_seen = sorted({key[1] for key in medians})
sizes = sorted({key[3] for key in medians if key[2] == "row"})


def middle(who, ranks, what, size):
    found = medians.get((who, ranks, what, size))
    return statistics.median(found) if found else None


def number(value, form="{:.1f}"):
    return "-" if value is None else form.format(value)


columns = ["row", "column", "pack_row", "unpack_row", "pack_column", "unpack_column", "mpi_alone", "kernel", "kernel_and_row"]
for ranks in ranks_seen:
    print(f"\n{ranks} rank(s), microseconds: revamp / CUDA (ratio); {len(medians.get(('revamp', ranks, 'row', sizes[0]), []))} rounds\n")
    print("| bytes | " + " | ".join(columns) + " |\n|" + " --- |" * (len(columns) + 1))
    for size in sizes:
        cells = []
        for what in columns:
            ours, theirs = middle("revamp", ranks, what, size), middle("cuda", ranks, what, size)
            ratio = f" ({theirs / ours:.2f})" if ours and theirs else ""
            cells.append(f"{number(ours)} / {number(theirs)}{ratio}")
        print(f"| {size} | " + " | ".join(cells) + " |")
    for who in ("revamp", "cuda"):
        print(f"\nall_reduce of one number, {who}: {number(middle(who, ranks, 'all_reduce', 8))}")

steps = collections.defaultdict(list)
for line in open(folder + "/heat.times"):
    found = re.match(r"(\S+) (\d+) (\d+) .* ([0-9.e+]+) microseconds a step", line)
    if found:
        who, ranks, share, time = found.groups()
        steps[who, int(ranks), int(share)].append(float(time))
print("\nheat, microseconds for each step; each rank has `shares` times the rows that it has when `shares` is 1\n")
print("| who | ranks | shares | a step | rounds |\n| --- | --- | --- | --- | --- |")
step = {key: statistics.median(found) for key, found in steps.items()}
for key in sorted(step):
    print("| " + " | ".join(map(str, key)) + f" | {step[key]:.1f} | {len(steps[key])} |")
print()
for who in ("revamp", "cuda"):
    for ranks in (2, 4):
        if (who, ranks, 1) not in step:
            continue
        many = step[who, ranks, 1]
        if (who, 1, 1) in step:
            print(f"{who}, {ranks} ranks: weak scaling, one device for each rank: {step[who, 1, 1] / many:.3f}")
        if (who, 1, ranks) in step:
            print(f"{who}, {ranks} ranks: speed relative to one rank that does the work of all ranks: {step[who, 1, ranks] / many:.3f}")
for ranks in (1, 2, 4):
    if ("revamp", ranks, 1) in step and ("cuda", ranks, 1) in step:
        print(f"heat, {ranks} ranks: CUDA's time / revamp's: {step['cuda', ranks, 1] / step['revamp', ranks, 1]:.3f}")
