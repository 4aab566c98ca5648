#!/usr/bin/env python3
"""Tests scripts/imports, which compares the modules of two crates with the tables of ARCHITECTURE.md. It must report imports from a higher row,
cyclic imports, modules without a row, and rows without a module."""
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
PAGE = """# Architecture

## The rooms

| `src/top.rs` | |
| `src/left.rs`, `src/right.rs` | |
| `src/low/` | |

## The rooms of the kernel compiler

| `kernelc/src/main.rs` | |
| `kernelc/src/top.rs` | |
| `kernelc/src/left.rs`, `kernelc/src/right.rs` | |
| `kernelc/src/low/` | |

## Words
"""
MODULES = {
    "main.rs": "fn main() {}",
    "lib.rs": "mod left; mod low; mod right; mod top;",
    "top.rs": "use crate::{left, low::first};",
    "left.rs": "use crate::low;\n#[cfg(test)]\nmod tests { use crate::top; }",
    "right.rs": "fn f() { crate::low::first::g() }",
    "low/mod.rs": "mod first; mod second;",
    "low/first.rs": "use super::second;",
    "low/second.rs": "",
}

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)

    def write(name, text):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    def run_imports():
        done = subprocess.run([sys.executable, root / "scripts/imports"], capture_output=True, text=True)
        assert not done.stderr, done.stderr
        return done.returncode, done.stdout

    write("scripts/imports", (SOURCE / "scripts/imports").read_text())
    write("ARCHITECTURE.md", PAGE)
    for source in ("src", "kernelc/src"):
        for name, text in MODULES.items():
            write(f"{source}/{name}", text)
    (root / "src/main.rs").unlink()
    assert run_imports() == (0, ""), run_imports()
    for source in ("src", "kernelc/src"):
        for name, text, part in [
            ("low/second.rs", "use crate::top::T;", "low::second imports top, which is not in a lower row"),
            ("left.rs", "use crate::right;", "left imports right, which is not in a lower row"),
            ("low/second.rs", "fn f() { super::first::g() }",
             f"these import each other in a circle: {source}/low/first.rs, {source}/low/second.rs"),
            ("new.rs", "", f"{source}/new.rs: no row of ARCHITECTURE.md has its room"),
        ]:
            write(f"{source}/{name}", text)
            code, text = run_imports()
            assert code == 1 and part in text and text.count("\n") == 1, (source, name, code, text)
            if name in MODULES:
                write(f"{source}/{name}", MODULES[name])
            else:
                (root / source / name).unlink()
        (root / source / "right.rs").unlink()
        assert run_imports() == (1, f"ARCHITECTURE.md: the room {source}/right.rs does not exist\n"), run_imports()
        write(f"{source}/right.rs", MODULES["right.rs"])
    assert run_imports() == (0, ""), run_imports()
print("tests/imports.py: ok", file=sys.stderr)
