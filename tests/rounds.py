#!/usr/bin/env python3
"""scripts/rounds with a runner that ends before its time. Closes with `N passed, N failed`."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES = ['"Z:/a/one.exe"', '"Z:/a/two.exe" first', '"Z:/a/two.exe" second', '"Z:/a/three.exe"']
RIGHT = 'say() { while read -r line; do echo "passed $line: 0"; done; }'
CASES = {
    # What the runner does; what was said in the end, and what is printed.
    "all is run at once": (RIGHT, ["passed"] * 4, ""),
    "it ends without a word after the first": (
        'say() { [ -e again ] && { while read -r line; do echo "passed $line: 0"; done; return; }; touch again; read -r line; echo "passed $line: 0"; return 1; }',
        ["passed"] * 4,
        "round 2: 3 programs were not run and are run again\n",
    ),
    "it says nothing at first": (
        'say() { [ -e again ] || { touch again; return 1; }; while read -r line; do echo "skipped $line: 77"; done; }',
        ["skipped"] * 4,
        "round 2: 4 programs were not run and are run again\n",
    ),
    "a start fails once": (
        """say() { while read -r line; do case "$line" in
            *first) if [ -e again ]; then echo "FAILED $line: 3"; else touch again; echo "FAILED $line: it cannot be started: error 1359"; fi ;;
            *) echo "passed $line: 0" ;; esac; done; }""",
        ["FAILED", "passed", "passed", "passed"],
        "round 2: 1 programs were not run and are run again\n",
    ),
    "what fails is not run again": (
        "say() { [ -e again ] && echo twice; touch again; while read -r line; do printf 'FAILED %s: 1\\r\\n    why\\r\\n' \"$line\"; done; }",
        ["FAILED"] * 4,
        "",
    ),
    "a start always fails": (
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
        words = sorted(line.split()[0] for line in said if not line.startswith(" "))
        right = done.returncode == 0 and words == sorted(expected) and done.stdout == printed
    passed, failed = passed + right, failed + (not right)
    print(f"{'ok     ' if right else 'FAILED '} {name}" + ("" if right else f"\n    {done}\n    {said}"))
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
