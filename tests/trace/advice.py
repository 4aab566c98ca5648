#!/usr/bin/env python3
"""Compares the advice of a report with the marks of a source. A mark, `// advice: KIND BYTES`, is at the end of the line that must get the
advice; a line may have several, as in `// advice: KIND BYTES, KIND BYTES`. No other line and no other kind may get advice. A mark
`// code: CODE` has a line that the proposed code must contain.
usage: advice.py SOURCE REPORT [FUNCTION], where REPORT is the output of `revamp-trace report --json`; FUNCTION: only its marks count."""
import json
import re
import sys
from pathlib import Path

# Advice of these kinds is not about work that takes time.
UNTIMED = {"race", "swallowed error", "view only read"}


def marks(path, function):
    """Yields the line, the kind (`advice` or `code`) and the text of each mark of the source or function. A function ends at the first line that
    begins with a brace."""
    lines = path.read_text(encoding="utf-8").splitlines()
    first, last = 0, len(lines)
    if function:
        first = lines.index(f"void {function}() {{")
        last = next(number for number in range(first, len(lines)) if lines[number].startswith("}")) + 1
    for number, line in enumerate(lines[first:last], first + 1):
        mark = re.search(r"// (advice|code): (.*)$", line)
        if mark:
            yield number, mark[1], mark[2]


def main(source, report, function=None):
    with open(report, encoding="utf-8") as file:
        advice = json.load(file)["advice"]
    expected, codes = [], []
    for number, mark, text in marks(Path(source), function):
        if mark == "advice":
            expected += [(number, kind, int(size)) for kind, size in (one.rsplit(" ", 1) for one in text.split(", "))]
        else:
            codes.append(text)
    found = sorted((int(a["line"].rsplit(":", 1)[1]), a["kind"], a["bytes"]) for a in advice)
    assert found == sorted(expected), f"found {found}, marked {expected}"
    for a in advice:
        assert Path(a["line"].rsplit(":", 1)[0]).name == Path(source).name, a
        assert a["count"] > 0 and a["what"] and a["instead"] and a["code"], a
        assert (a["ns"] > 0) == (a["kind"] not in UNTIMED), a
    proposed = [line.split(" // ")[0] for a in advice for line in a["code"].splitlines()]
    assert set(codes) <= set(proposed), f"proposed {proposed}, marked {codes}"


main(*sys.argv[1:])
