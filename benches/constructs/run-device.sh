#!/bin/sh
# Runs the construct matrix from the folder that `bundle` filled, on a machine with an NVIDIA GPU and nvcc. Writes these files to $OUT
# (default: out/ in this folder): constructs.md, times.tsv, driver.log.gz (the Vulkan driver's statistics of each pipeline), cuda.log.gz
# (the output of ptxas), sass.txt (the number of instructions of each CUDA kernel), and errors.txt. Arguments go to the program
# `constructs`, for example --only k012 or --seconds 150. `run-device.sh host` compares host threads with OpenMP instead, and writes
# host.tsv and host.md.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
mkdir -p "$out"
start=$(date +%s)
step() {
    echo "$(($(date +%s) - start)) s: $*"
}

. "$here/loader.sh"
LD_LIBRARY_PATH=$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

if [ "${1:-}" = host ]; then
    shift
    mkdir -p /tmp/constructs-host
    status=0
    "$here/start" "$here" /tmp/constructs-host "$@" || status=$?
    cp /tmp/constructs-host/times.tsv "$out/host.tsv"
    cp /tmp/constructs-host/constructs.md "$out/host.md"
    exit "$status"
fi

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc) || exit 1
work=/tmp/constructs-cuda
mkdir -p $work
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
compile() { # SOURCE NAME [OPTION...]: compiles NAME.o; the log has the registers, shared memory and spills of each kernel
    source=$1
    name=$2
    shift 2
    timeout 100 "$nvcc" -O3 -std=c++17 -arch="$arch" -Xptxas -v -Xcompiler -fPIC -I"$here" "$@" -c "$source" -o "$work/$name.o" >"$work/$name.log" 2>&1 ||
        { echo "nvcc failed: $name"; grep -m 5 error "$work/$name.log"; } >>"$out/errors.txt"
}
: >"$out/errors.txt"
compile "$here/peer.cpp" peer -x cu &
for source in "$here"/cuda_*.cu; do
    compile "$source" "$(basename "$source" .cu)" &
done
# While nvcc compiles, get the Vulkan driver's statistics of each pipeline.
REVAMP_CACHE_DIR=${REVAMP_CACHE_DIR:-/tmp/constructs-cache}
export REVAMP_CACHE_DIR
REVAMP_LOG=debug "$here/constructs" --once 2>&1 | grep -E '^kernel |subgroups of|pipeline made|failed|rror|no Vulkan device' | gzip >"$out/driver.log.gz"
gzip -dc "$out/driver.log.gz" | grep -q 'pipeline made' || { gzip -dc "$out/driver.log.gz"; echo "no pipeline was made: is there a Vulkan device?" >&2; exit 1; }
step "pipelines created"
wait
"$nvcc" -arch="$arch" -shared -o "$work/libconstructs-cuda.so" "$work"/*.o || exit 1
cat "$work"/*.log | gzip >"$out/cuda.log.gz"
"$(dirname "$nvcc")/cuobjdump" -sass "$work/libconstructs-cuda.so" |
    awk '/Function :/ { name = $3 } /^ *\/\*[0-9a-f]+\*\/ +[@A-Z]/ && !/ NOP/ { count[name]++ } END { for (name in count) print name, count[name] }' >"$out/sass.txt"
step "CUDA compiled"
level=x86-64-v3
! grep -q avx512vl /proc/cpuinfo || level=x86-64-v4
# The whole script takes at most 250 seconds.
status=0
"$here/constructs" --reference "$here/libopenmp-gcc-$level.so" \
    --peer "cuda=$work/libconstructs-cuda.so" --seconds $((235 - $(date +%s) + start)) "$@" >"$out/times.tsv" 2>"$out/run.log" || status=$?
grep -v '^kernel ' "$out/run.log" | head -n 50 >>"$out/errors.txt"
rm -f "$out/run.log"
step "timed"
{
    echo "Seed $(cat "$here/seed"), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1), nvcc $("$nvcc" --version | grep -o 'V[0-9][0-9.]*'), $(date -u '+%Y-%m-%d %H:%M') UTC."
    echo
    python3 "$here/report.py" "$out"
} >"$out/constructs.md"
head -n 40 "$out/constructs.md"
step "done"
exit "$status"
