#!/usr/bin/env python3
"""Prints the machine code of the kernels in a pipeline cache of NVIDIA's Vulkan driver.
usage: sass.py FILE FOLDER; FILE: pipelines-*.bin of REVAMP_CACHE_DIR; FOLDER gets N.sass for each kernel.
Needs the module zstandard and nvdisasm (CUDA, or `pip download nvidia-cuda-nvdisasm` unpacked) in PATH or in $NVDISASM.
The layout is NVIDIA's own, found by looking at driver 580.159.04: objects compressed by zstd, in each a table behind `NVuc` whose
entry of kind 1 is the code."""
import os
import struct
import subprocess
import sys

import zstandard

ZSTD, TABLE = b"\x28\xb5\x2f\xfd", b"NVuc"


def objects(data):
    at = 0
    while (at := data.find(ZSTD, at)) >= 0:
        stream = zstandard.ZstdDecompressor().decompressobj()
        yield stream.decompress(data[at:])
        at = len(data) - len(stream.unused_data)


def code(unit):
    base = unit.index(TABLE)
    for at in range(base + 0x20, base + 0x120, 4):
        kind, size, offset = struct.unpack_from("<III", unit, at)
        if kind == 1 and size >= 0x80 and 0x100 <= offset < 0x200:
            return unit[base + offset:base + offset + size]
    raise SystemExit("no code was found in an object: another layout?")


def main(file, folder):
    os.makedirs(folder, exist_ok=True)
    with open(file, "rb") as f:
        data = f.read()
    for n, unit in enumerate(objects(data)):
        path = os.path.join(folder, str(n))
        with open(path + ".bin", "wb") as f:
            f.write(code(unit))
        text = subprocess.run([os.environ.get("NVDISASM", "nvdisasm"), "-b", "SM90", "-c", path + ".bin"], check=True,
                              capture_output=True, text=True).stdout
        with open(path + ".sass", "w", encoding="utf-8") as f:
            f.write(text)
        name = unit.partition(b"_Z")[2].split(b"\0")[0].decode("latin1")
        print(f"{path}.sass: {text.count(chr(10))} lines, {name}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
