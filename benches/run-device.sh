#!/bin/sh
# Runs the benchmarks from the folder that benches/bundle filled, on a machine that has nothing but its driver.
# Results go to $OUT (default: out/ in this folder). Arguments go to revamp-bench.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
mkdir -p "$out"

# The Vulkan loader, where the machine has none: Debian packages in .gl, put there by whoever made the bundle.
if ! ldconfig -p | grep -q 'libvulkan\.so\.1'; then
    for packages in "${GL_PACKAGES:-}" "$here/.gl" "$here/../.gl" ./.gl; do
        [ -n "$packages" ] && ls "$packages"/*.deb >/dev/null 2>&1 || continue
        loader=$here/loader
        mkdir -p "$loader"
        for package in "$packages"/*.deb; do dpkg -x "$package" "$loader"; done
        LD_LIBRARY_PATH=$(ls -d "$loader"/usr/lib/*-linux-gnu | head -n 1)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        export LD_LIBRARY_PATH
        break
    done
fi
icd=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -z "${VK_DRIVER_FILES:-}" ] && [ -e "$icd" ]; then
    VK_DRIVER_FILES=$icd
    export VK_DRIVER_FILES
fi

# The CUDA peer needs this machine's compiler; without it its lines are left out.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [ -n "$nvcc" ]; then
    (cd "$here" && "$nvcc" -O3 -arch=sm_90 -shared -Xcompiler -fPIC -o libcuda_peer.so cuda_peer.cu) ||
        echo "the CUDA peer could not be built" >&2
    # With what each kernel takes of registers and shared memory.
    suite() { # library, flags...
        library=$1
        shift
        "$nvcc" -O3 -arch=sm_90 -Xptxas -v -shared -Xcompiler -fPIC "$@" -o "$here/$library.so" "$here/suite/suite.cu" \
            >"$out/$library.log" 2>&1 || cat "$out/$library.log" >&2
    }
    suite libcuda_suite &
    suite libcuda_suite_fast --use_fast_math &
    wait
fi
LD_LIBRARY_PATH=$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$here/revamp-bench" --json "$out/bench.json" --markdown "$out/bench.md" "$@"
