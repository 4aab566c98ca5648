#!/usr/bin/env python3
"""Copies the programs of a project's tests into the GPU bundle, with a list of the tests for `run`.
usage: tests.py BUILD_FOLDER BUNDLE NAME

A line of lists/SUITE is: limit in seconds|variables|command|prefix of the names|tests. The command runs the tests named behind
it in one process, so that the device is opened once; without tests the prefix names the only one. The programs are in
programs/NAME. Tests that start a compiler, or whose output CTest compares, stay behind: they do not depend on the device."""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

# The suite of a test, by the first pattern that matches PROJECT/NAME.
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


# Of one process; enough that opening the device does not count, few enough for all processors.
MOST_TESTS = 12


def is_about_the_device(properties):
    is_of_lacking_device = any(one.startswith("REVAMP_LACKING=") for one in properties.get("ENVIRONMENT", []))
    return not properties.get("DISABLED") and "PASS_REGULAR_EXPRESSION" not in properties and not is_of_lacking_device


def variables_of(project, properties):
    variables = list(properties.get("ENVIRONMENT", []))
    # A program of the corpus without an accelerator of its own is to run on host threads.
    if project == "corpus" and not variables:
        variables.append("CPPAMP_DEFAULT_ACCELERATOR=host")
    return variables


def chunks(tests):
    return [tests[at : at + MOST_TESTS] for at in range(0, max(len(tests), 1), MOST_TESTS)]


def main():
    build, bundle, project = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3]
    programs = bundle / "programs" / project
    programs.mkdir(parents=True)
    described = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True)
    groups = {}
    for test in json.loads(described.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if "command" not in test:
            sys.exit(f"{test['name']} has not been built")
        program = Path(test["command"][0])
        if build not in program.parents or not is_about_the_device(properties):
            continue
        if not (programs / program.name).exists():
            shutil.copy(program, programs)
        name = f"{project}/{test['name']}"
        suite = next(suite for pattern, suite in SUITES if re.match(pattern, name))
        arguments = test["command"][1:]
        prefix, _, last = name.partition(".")
        # As revamp_add_tests() makes them; these programs take further names.
        together = arguments[-1:] == [last]
        command = " ".join([f"programs/{project}/{program.name}", *(arguments[:-1] if together else arguments)])
        line = (f"{properties.get('TIMEOUT', 120):.0f}", ";".join(variables_of(project, properties)), command, prefix + "." if together else name)
        groups.setdefault((suite, *line), []).extend([last] if together else [])
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
    # Libraries and programs that the tests themselves load or start.
    for beside in [*build.glob("*.so"), *build.glob("revamp_test_dlopen")]:
        shutil.copy(beside, programs)


main()
