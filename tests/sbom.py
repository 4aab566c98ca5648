"""Tests scripts/sbom: compares the bill of materials with cargo's metadata of the same build. The test has its own code to evaluate the metadata."""

import json
import subprocess
import tomllib
from urllib.parse import unquote


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked_packages(metadata):
    """Maps the name of each package that is linked into the build to the package and the names of the linked packages that it depends on."""
    packages = {p["id"]: p for p in metadata["packages"]}
    nodes = {n["id"]: n for n in metadata["resolve"]["nodes"]}

    def is_macro(package):
        return any("proc-macro" in t["kind"] for t in packages[package]["targets"])

    dependencies, pending = {}, list(metadata["workspace_members"])
    while pending:
        package = pending.pop()
        if package in dependencies:
            continue
        normal = [d["pkg"] for d in nodes[package]["deps"] if any(k["kind"] is None for k in d["dep_kinds"])]
        dependencies[package] = [d for d in normal if not is_macro(d)]
        pending += dependencies[package]
    return {packages[p]["name"]: (packages[p], {packages[d]["name"] for d in to}) for p, to in dependencies.items()}


text = output("scripts/sbom")
assert text == output("scripts/sbom"), "two runs differ"
bom = json.loads(text)
assert (bom["bomFormat"], bom["specVersion"], bom["version"]) == ("CycloneDX", "1.5", 1)

host = next(l.split(": ")[1] for l in output("rustc", "-vV").splitlines() if l.startswith("host: "))
metadata = json.loads(output("cargo", "metadata", "--quiet", "--locked", "--format-version", "1", "--filter-platform", host))
expected = linked_packages(metadata)
with open("Cargo.lock", "rb") as file:
    sums = {(p["name"], p["version"]): p.get("checksum") for p in tomllib.load(file)["package"]}

components = [bom["metadata"]["component"], *bom["components"]]
by_ref = {c["bom-ref"]: c for c in components}
assert len(by_ref) == len(components), "a bom-ref occurs twice"
crates = {c["name"]: c for c in components if c["name"] in expected}
missing = expected.keys() - crates.keys()
assert not missing, f"crates missing in the bill of materials: {missing}"
non_crates = {c["name"] for c in components} - crates.keys()
assert non_crates == {"std", "msun", "vulkan-loader", "clang"}, non_crates

edges = {d["ref"]: d["dependsOn"] for d in bom["dependencies"]}
for name, (package, to) in expected.items():
    c = crates[name]
    assert c["version"] == package["version"], c
    assert c["licenses"] == [{"expression": package["license"].replace("/", " OR ")}], c
    kind = "generic" if package["source"] is None else "cargo"
    assert unquote(c["purl"]) == f"pkg:{kind}/{name}@{package['version']}" and "+" not in c["purl"], c
    checksum = sums[name, package["version"]]
    assert c.get("hashes") == ([{"alg": "SHA-256", "content": checksum}] if checksum else None), c
    dependency_names = {by_ref[ref]["name"] for ref in edges[c["bom-ref"]]}
    assert dependency_names & expected.keys() - {"revamp-kernelc"} == to, (name, dependency_names, to)
print(f"{len(components)} components, {sum(map(len, edges.values()))} dependencies")
