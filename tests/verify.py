#!/usr/bin/env python3
"""Compiles SOURCE with COMMAND and compares the errors and warnings of each line with those that the source expects.
usage: verify.py SOURCE KIND[,KIND...] COMMAND...
A comment `// KIND: TEXT` with one of the given KINDs means that its line must have an error that contains TEXT (a warning if the kind is
given as KIND=warning). No other line may have errors or warnings. The compiler must fail if and only if the source expects errors."""
import re
import subprocess
import sys

source, command = sys.argv[1], sys.argv[3:]
kinds = {name: said or "error" for name, _, said in (word.partition("=") for word in sys.argv[2].split(","))}
expected = {}
for number, line in enumerate(open(source, encoding="utf-8"), 1):
    found = re.search(r"// (\w+): (.+?)\s*$", line)
    if found and found[1] in kinds:
        expected[number] = (kinds[found[1]], found[2])
ran = subprocess.run([*command, source], capture_output=True, text=True)
said = {}
for line in (ran.stdout + ran.stderr).splitlines():
    found = re.match(r"(.*?):(\d+):\d+: (error|warning|fatal error): (.*)", line)
    if found and found[1].endswith(source.rsplit("/", 1)[-1]):
        said.setdefault(int(found[2]), []).append((found[3], found[4]))
    elif found:
        said.setdefault(0, []).append((found[3], line))
wrong = []
for number, (kind, text) in expected.items():
    if not any(k == kind and text in t for k, t in said.get(number, [])):
        wrong.append(f"{source}:{number}: expected {kind}: {text}\n    said: {said.get(number)}")
wrong += [f"{source}:{n}: not expected: {s}" for n, s in said.items() if n not in expected]
if (ran.returncode != 0) != any(kind == "error" for kind, _ in expected.values()):
    wrong.append(f"the compiler ended with {ran.returncode}:\n{ran.stderr[-3000:]}")
print("\n".join(wrong) or f"{len(expected)} lines as expected")
sys.exit(1 if wrong else 0)
