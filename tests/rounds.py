#!/usr/bin/env python3
"""Tests scripts/rounds with a runner that may end early. The last line is `N passed, N failed`."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES = ['"Z:/a/one.exe"', '"Z:/a/two.exe" first', '"Z:/a/two.exe" second', '"Z:/a/three.exe"']
NORMAL_RUNNER = 'say() { while read -r line; do echo "passed $line: 0"; done; }'
CASES = {
    # For each case: the runner, the results at the end, and the printed text.
    "all programs run in the first round": (NORMAL_RUNNER, ["passed"] * 4, ""),
    "the first round ends after one program": (
        'say() { [ -e again ] && { while read -r line; do echo "passed $line: 0"; done; return; }; touch again; read -r line; echo "passed $line: 0"; return 1; }',
        ["passed"] * 4,
        "round 2: 3 programs were not run and are run again\n",
    ),
    "the first round runs no program": (
        'say() { [ -e again ] || { touch again; return 1; }; while read -r line; do echo "skipped $line: 77"; done; }',
        ["skipped"] * 4,
        "round 2: 4 programs were not run and are run again\n",
    ),
    "a program cannot be started in the first round": (
        """say() { while read -r line; do case "$line" in
            *first) if [ -e again ]; then echo "FAILED $line: 3"; else touch again; echo "FAILED $line: it cannot be started: error 1359"; fi ;;
            *) echo "passed $line: 0" ;; esac; done; }""",
        ["FAILED", "passed", "passed", "passed"],
        "round 2: 1 programs were not run and are run again\n",
    ),
    "a failed program is not run again": (
        "say() { [ -e again ] && echo twice; touch again; while read -r line; do printf 'FAILED %s: 1\\r\\n    why\\r\\n' \"$line\"; done; }",
        ["FAILED"] * 4,
        "",
    ),
    "a program is not run in any round": (
        'say() { while read -r line; do case "$line" in *second) ;; *) echo "passed $line: 0" ;; esac; done; }',
        ["passed"] * 3,
        "round 2: 1 programs were not run and are run again\nround 3: 1 programs were not run and are run again\n"
        'not run: "Z:/a/two.exe" second\n',
    ),
}
passed = failed = 0
for name, (runner, expected, printed) in CASES.items():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "list").write_text("".join(line + "\n" for line in LINES))
        script = f"set -eu\n. '{ROOT}/scripts/rounds'\n{runner}\nrun_all list said say\n"
        done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True)
        said = Path(folder, "said").read_text().splitlines()
        verdicts = sorted(line.split()[0] for line in said if not line.startswith(" "))
        right = done.returncode == 0 and verdicts == sorted(expected) and done.stdout == printed
    passed, failed = passed + right, failed + (not right)
    print(f"{'ok     ' if right else 'FAILED '} {name}" + ("" if right else f"\n    {done}\n    {said}"))
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
