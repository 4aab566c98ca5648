#!/usr/bin/env python3
"""Tests a debug build under gdb, lldb, AddressSanitizer and UBSan, and a build with coverage.
usage: debugging.py REVAMP_CXX SOURCE FOLDER PART; PART is gdb, lldb, sanitizers or coverage."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CXX, SOURCE, FOLDER, PART = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
PRINTERS = Path(CXX).resolve().parent.parent / "share/revamp/debugger.py"
LINES = {mark: n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) for mark in re.findall(r"// (\w+)$", line)}
# Host threads, even if there is a GPU.
ENVIRONMENT = {**os.environ, "CPPAMP_DEFAULT_ACCELERATOR": "host", "TERM": "dumb"}
# With REVAMP_MEMORY, kernels may use memory of the library, where sanitizers do not know the end of the program's data.
ENVIRONMENT.pop("REVAMP_MEMORY", None)


def run(*command):
    done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=110)
    return done.returncode, done.stdout


def build(*flags):
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / f"debugged_{PART}"
    code, output = run(CXX, "-g", *flags, str(SOURCE), "-o", str(program))
    if code:
        sys.exit(output)
    return str(program)


def expect(output, *parts):
    """Checks that the text has the parts, in this order."""
    at = 0
    for part in parts:
        found = output.find(part, at)
        if found < 0:
            sys.exit(f"{output}\n'{part}' is missing after character {at}")
        at = found + len(part)


def place(mark):
    return f"{SOURCE.name}:{LINES[mark]}"


def with_gdb():
    commands = ["set width 0", f"source {PRINTERS}",
                f"break {place('calls')} if idx[0] == 5 && t.local[1] == 2 && t.tile[1] == 0",
                "run", "set scheduler-locking step", "print idx", "print t", "print a[idx]", "print offset", "print a.extent", "step", "bt 2", "finish", "next", "next",
                "next", "print other", "print s", "next", "print a[idx]", "kill"]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    _, output = run("gdb", "-nx", "-q", "-batch", *arguments, build("-O0"))
    expect(output, "Breakpoint 1, ", "t=global (5, 2), local (1, 2), tile (1, 0), tile_origin (4, 0)",
           f"{LINES['calls']}\t", "= (5, 2)", "= global (5, 2)", "= 42", "= (1, 2, 3, 4)", "= (8, 8)", "changed (x=42)", f"{LINES['in_amp']}\t",
           "#1 ", f"{SOURCE.name}:{LINES['calls']}", "Value returned is", "= 84", f"{LINES['behind']}\t", f"{LINES['writes']}\t",
           "= 98", "{{64, 66, 68, 70}, {80, 82, 84, 86}, {96, 98, 100, 102}, {112, 114, 116, 118}}", "= 99")


def with_lldb():
    program = next((name for name in ("lldb-22", "lldb") if shutil.which(name)), "lldb")
    condition = "idx.m_values[0] == 5 && idx.m_values[1] == 2"
    commands = [f"command script import {PRINTERS}",
                f"breakpoint set -f {SOURCE.name} -l {LINES['writes']} -c '{condition}'",
                "run", "frame variable idx t s other", "frame variable this->a this->offset", "next", "frame variable this->a[42]"]
    arguments = [argument for command in commands for argument in ("-o", command)]
    _, output = run(program, "--no-lldbinit", "-b", *arguments, build("-O0"))
    expect(output, "stop reason = breakpoint 1.1", f"-> {LINES['writes']}", "idx = (5, 2)",
           "t = global (5, 2), local (1, 2), tile (1, 0), tile_origin (4, 0)", "[1] = (80, 82, 84, 86)", "other = 98",
           "this->a = extent (8, 8)", "[0, 1] = ", "this->offset = (1, 2, 3, 4)", "stop reason = step over", "= 99")


def with_sanitizers():
    program = build("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
    code, output = run(program)
    if code or not output.endswith(" -2\n"):
        sys.exit(f"{code}: {output}")
    # An argument moves the accesses out of bounds.
    code, output = run(program, "more")
    if code == 0:
        sys.exit("an index of -1 is not reported")
    expect(output, f"{place('behind')}", "runtime error: index -1 out of bounds for type")
    program = build("-O0", "-fsanitize=address")
    code, output = run(program, "more")
    if code == 0:
        sys.exit("an access after the last element is not reported")
    expect(output, "AddressSanitizer: heap-buffer-overflow", "#0 ", place("outside"))
    if "WARNING" in output:
        sys.exit(output)


def with_coverage():
    for flags in (["-Og"], ["-O2", "--coverage"]):
        code, output = run(build(*flags))
        if code or not output.endswith(" -2\n"):
            sys.exit(f"{flags}: {code}: {output}")
    # The coverage files must be in the folder of the program, not in the folder of its object file.
    files = {path.name for path in FOLDER.iterdir()}
    names = {f"debugged_coverage-{SOURCE.stem}.{ending}" for ending in ("gcno", "gcda")}
    if not names <= files:
        sys.exit(f"{names - files} are missing in {files}")


{"gdb": with_gdb, "coverage": with_coverage, "lldb": with_lldb, "sanitizers": with_sanitizers}[PART]()
