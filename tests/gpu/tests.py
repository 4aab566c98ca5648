#!/usr/bin/env python3
"""Copies the test programs of a CMake project into the GPU bundle, with lists of the tests for `run`.
usage: tests.py BUILD_FOLDER BUNDLE NAME

The programs go to programs/NAME. A line of lists/SUITE is: limit in seconds|variables|command|prefix of the names|tests. The command takes
the tests as arguments and runs them in one process, so that the device is opened once. A line without tests is a single test, whose name is
the prefix. Omits tests that start a compiler or whose output CTest compares, because they do not depend on the device."""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

# The first pattern that matches PROJECT/NAME of a test determines its suite.
SUITES = (
    (r"c/rules_", "rules-c"),
    (r"c/", "c"),
    (r"cpp/rules\.", "rules-cpp"),
    (r"kernels/amp_rules\.", "rules-cpp"),
    (r"cpp/", "cpp"),
    (r"kernels/random_", "random"),
    (r"kernels/expressions", "expressions"),
    (r"kernels/suite\.", "suite"),
    (r"kernels/amp_", "amp"),
    (r"kernels/(native|loops|limits)", "loops"),
    (r"kernels/", "kernels"),
    (r"corpus/", "corpus"),
)


# The maximum number of tests per process. With far fewer tests, opening the device would dominate; with far more, some processors would have no
# work.
MAX_TESTS = 12


def depends_on_device(properties):
    hides_features = any(one.startswith("REVAMP_LACKING=") for one in properties.get("ENVIRONMENT", []))
    return not properties.get("DISABLED") and "PASS_REGULAR_EXPRESSION" not in properties and not hides_features


def variables_of(project, properties):
    variables = list(properties.get("ENVIRONMENT", []))
    # Programs of the corpus that choose no accelerator run on host threads.
    if project == "corpus" and not variables:
        variables.append("CPPAMP_DEFAULT_ACCELERATOR=host")
    return variables


def chunks(tests):
    return [tests[at : at + MAX_TESTS] for at in range(0, max(len(tests), 1), MAX_TESTS)]


def main():
    build, bundle, project = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3]
    programs = bundle / "programs" / project
    programs.mkdir(parents=True)
    ctest_output = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True)
    groups = {}
    for test in json.loads(ctest_output.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if "command" not in test:
            sys.exit(f"{test['name']} has not been built")
        program = Path(test["command"][0])
        if build not in program.parents or not depends_on_device(properties):
            continue
        if not (programs / program.name).exists():
            shutil.copy(program, programs)
        name = f"{project}/{test['name']}"
        suite = next(suite for pattern, suite in SUITES if re.match(pattern, name))
        arguments = test["command"][1:]
        prefix, _, last = name.partition(".")
        # The commands of tests from revamp_add_tests() end with the name of the test. Their programs accept several names.
        is_grouped = arguments[-1:] == [last]
        command = " ".join([f"programs/{project}/{program.name}", *(arguments[:-1] if is_grouped else arguments)])
        line = (f"{properties.get('TIMEOUT', 120):.0f}", ";".join(variables_of(project, properties)), command, prefix + "." if is_grouped else name)
        groups.setdefault((suite, *line), []).extend([last] if is_grouped else [])
    lists = {}
    for (suite, *line), tests in groups.items():
        for part in chunks(tests):
            text = "|".join([*line, " ".join(part)])
            if re.search(r"[^\w./=;:, |-]", text):
                sys.exit(f"`run` cannot read this line: {text}")
            lists.setdefault(suite, []).append(text)
    if not lists:
        sys.exit(f"{build} has no tests")
    for suite, lines in lists.items():
        with open(bundle / "lists" / suite, "a", encoding="ascii") as file:
            file.writelines(line + "\n" for line in lines)
    # Copies the libraries that the tests load, and a program that they start.
    for extra_file in [*build.glob("*.so"), *build.glob("revamp_test_dlopen")]:
        shutil.copy(extra_file, programs)


main()
