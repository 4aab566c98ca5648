#!/usr/bin/env python3
"""Tests that scripts/tracked finds files that git should not track."""
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def run_tracked(folder):
    done = subprocess.run([str(SOURCE / "scripts/tracked"), folder], capture_output=True, text=True)
    return done.returncode, done.stderr


with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)

    def track(name, data):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
        subprocess.run(["git", "-C", folder, "add", "-f", name], check=True)

    subprocess.run(["git", "init", "-q", folder], check=True)
    track(".gitignore", (SOURCE / ".gitignore").read_bytes())
    track("docs/large.png", b"\0" * 200_000)
    track("src/small.bin", b"\0" * 90_000)
    track("src/large.rs", b"// text\n" * 30_000)
    assert run_tracked(folder) == (0, ""), run_tracked(folder)
    for name, data, part in [
        ("src/large.bin", b"\0" * 200_000, "src/large.bin is a binary of 200000 bytes"),
        ("picture.png", b"\0", "picture.png lies in the root"),
        (".gitignore", b"/target/\n", "mandelbrot.png, which an example writes, is not in .gitignore"),
    ]:
        before = (root / name).read_bytes() if (root / name).exists() else None
        track(name, data)
        code, text = run_tracked(folder)
        assert code == 1 and part in text, (name, code, text)
        if before is None:
            subprocess.run(["git", "-C", folder, "rm", "-qf", name], check=True)
        else:
            track(name, before)
    assert run_tracked(folder) == (0, ""), run_tracked(folder)
print("tests/tracked.py: ok", file=sys.stderr)
