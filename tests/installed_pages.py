"""Checks the pages that scripts/install-docs has installed: each link must lead to an existing file. usage: installed_pages.py FOLDER"""
import re
import sys
from pathlib import Path

folder = Path(sys.argv[1])
pages = sorted(folder.rglob("*.md"))
bad = []
for page in pages:
    for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)", re.sub(r"(?s)```.*?```|`[^`\n]*`", "", page.read_text())):
        if not re.match(r"[a-z]+:", link) and not (page.parent / link).exists():
            bad.append(f"{page.relative_to(folder)}: {link} is not installed")
if len(pages) < 50:
    bad.append(f"{folder} has only {len(pages)} pages")
print("\n".join(bad))
sys.exit(bool(bad))
