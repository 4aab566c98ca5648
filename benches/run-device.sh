#!/bin/sh
# Runs the benchmarks from the folder that benches/bundle filled, on a machine that needs only a GPU and its driver.
# Results go to $OUT (default: out/ in this folder). Arguments go to revamp-bench.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
mkdir -p "$out"

. "$here/loader.sh"

# This machine's nvcc compiles the CUDA peer. Without nvcc, the tables have no lines for CUDA.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [ -n "$nvcc" ]; then
    (cd "$here" && "$nvcc" -O3 -arch=sm_90 -shared -Xcompiler -fPIC -o libcuda_peer.so cuda_peer.cu) ||
        echo "the CUDA peer could not be built" >&2
    # The log has the registers and shared memory of each kernel.
    suite() { # LIBRARY [FLAG...]: compiles the suite
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
