#!/usr/bin/env python3
"""Tests that scripts/ir-text reports Rust code that creates, searches or prints LLVM IR as text, but reports no tests, comments or other strings."""
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
FOUND = [
    'let text = module.print();',
    'if line.starts_with("define ") {}',
    'line(&format!("{name} = load {ty}, ptr {from}"));',
    'let at = text.find("addrspace(3)");',
    'text.contains("!\\"long double\\"")',
]
NOT_FOUND = [
    '// define void @f() is LLVM IR.',
    'println!("{name} is loaded from the file");',
    '#[cfg(test)]\nmod tests {\n    const TEXT: &str = "define void @f() {";\n}',
    'build.load(ty, from, 4, "loaded")',
]
passed = failed = 0
with tempfile.TemporaryDirectory() as folder:
    for code, expected in [*((code, True) for code in FOUND), *((code, False) for code in NOT_FOUND)]:
        Path(folder, "code.rs").write_text(f"use std::path::Path;\n\n{code}\n", encoding="utf-8")
        done = subprocess.run([SOURCE / "scripts/ir-text", folder], capture_output=True, text=True, check=False)
        if (done.returncode == 1) == expected and ("code.rs" in done.stdout) == expected:
            passed += 1
        else:
            failed += 1
            print(f"{code!r}: expected {'a finding' if expected else 'none'}, said {done.stdout!r} {done.stderr!r}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
