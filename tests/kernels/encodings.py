#!/usr/bin/env python3
"""Compiles and runs sources in UTF-8 and other encodings: revamp-c++ must either read a source correctly or refuse it.
usage: encodings.py FOLDER COMMAND...
Each program has an amp function, and a host function that is a worse match for the call. If revamp-c++ has read the restrictions in the
source, host code calls the host function and prints 1. Otherwise it prints 2."""
import shutil
import subprocess
import sys
from pathlib import Path

FUNCTIONS = b"""inline int which(float) restrict(amp) { return 2; }
inline int which(double) { return 1; }
inline int moved(int x) restrict(amp, cpu) noexcept { return x; }
"""
PROGRAM = b"""#include <amp.h>
#include <cstdio>
%s
int main() {
    using namespace concurrency;
    int made = 0;
    array_view<int> v(1, &made);
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { v[i] = which(1.0f) + moved(1) - 1; });
    v.synchronize();
    // The literal stays as its author encoded it.
    const char literal[] = "\xa9";
    std::printf("%%d %%d %%02x", which(1.0f), made, literal[0] & 0xff);
}
"""
RIGHT = "1 2 a9"
COPYRIGHT = b"// \xa9 1999 M\xfcller\r\n/* \xa9 */\r\n"
INCLUDE = b'#include "functions.h"'


def case(name, files, flags=(), refused=None):
    """Writes the files and compiles main.cpp. Checks that the compiler refuses it, or checks the output of the program."""
    case_folder = folder / name
    (case_folder / "more").mkdir(parents=True)
    for file, content in files.items():
        (case_folder / file).write_bytes(content)
    built = subprocess.run([*command, "-w", "-O1", *flags, "main.cpp", "-o", "main"], cwd=case_folder, capture_output=True)
    messages = built.stderr.decode(errors="replace")
    if refused:
        if built.returncode == 0 or refused not in messages:
            sys.exit(f"{name}: expected a refusal with \"{refused}\"; the compiler ended with {built.returncode}: {messages}")
        return
    if built.returncode:
        sys.exit(f"{name}: {messages}")
    ran = subprocess.run([case_folder / "main"], capture_output=True, text=True)
    if ran.stdout != RIGHT:
        sys.exit(f"{name}: it printed \"{ran.stdout}{ran.stderr}\", not \"{RIGHT}\"")


def many_headers(count):
    """Many headers, and a header all.h that includes all of them."""
    files = {f"more/{n}.h": b"#pragma once\n" for n in range(count)}
    files["all.h"] = b"".join(b'#include "more/%d.h"\n' % n for n in range(count))
    return files


folder, command = Path(sys.argv[1]).absolute(), sys.argv[2:]
shutil.rmtree(folder, ignore_errors=True)
including_program = PROGRAM % INCLUDE
case("utf8", {"main.cpp": including_program, "functions.h": FUNCTIONS})
case("main_file", {"main.cpp": COPYRIGHT + PROGRAM % FUNCTIONS})
case("header", {"main.cpp": including_program, "functions.h": COPYRIGHT + FUNCTIONS})
case("byte_order_mark", {"main.cpp": b"\xef\xbb\xbf" + including_program, "functions.h": b"\xef\xbb\xbf" + COPYRIGHT + FUNCTIONS})
between = COPYRIGHT + b'#pragma once\n#include "functions.h"\n'
case("header_of_a_header", {"main.cpp": PROGRAM % b'#include "between.h"', "between.h": between, "functions.h": FUNCTIONS})
case("name_of_a_header", {"main.cpp": PROGRAM % b'#include "m\xc3\xbcller.h"', "m\u00fcller.h": COPYRIGHT + FUNCTIONS})
case("include_next", {"main.cpp": PROGRAM % b"#include <functions.h>", "functions.h": b"#include_next <functions.h>\n",
                      "more/functions.h": FUNCTIONS}, ["-I.", "-Imore"])
case("import", {"main.cpp": PROGRAM % b'#import "functions.h"', "functions.h": FUNCTIONS})
case("many_headers", {"main.cpp": PROGRAM % b'#include "functions.h"\n#include "all.h"', "functions.h": FUNCTIONS, **many_headers(2500)})
for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
    utf16_functions = mark + FUNCTIONS.decode().encode(encoding)
    case(encoding, {"main.cpp": including_program, "functions.h": utf16_functions}, refused="byte order mark detected in")
    main = mark + including_program.decode("latin-1").encode(encoding)
    case(f"main_{encoding}", {"main.cpp": main, "functions.h": FUNCTIONS}, refused="byte order mark detected in")
print("all sources are read or refused as expected")
