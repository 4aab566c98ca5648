#!/bin/sh
# Runs the construct matrix from the folder that `bundle` filled, on a machine with an NVIDIA GPU and nvcc. In $OUT (default: out/ in this
# folder): constructs.md, times.tsv, driver.log.gz (what the Vulkan driver says of each pipeline), cuda.log.gz (what ptxas says),
# sass.txt (instructions of each CUDA kernel), errors.txt. Arguments go to the program, as --only k012 or --seconds 150.
# `run-device.sh host` runs host threads against OpenMP instead: host.tsv, host.md.
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
    "$here/start" "$here" /tmp/constructs-host "$@"
    cp /tmp/constructs-host/times.tsv "$out/host.tsv"
    cp /tmp/constructs-host/constructs.md "$out/host.md"
    exit 0
fi

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc) || exit 1
work=/tmp/constructs-cuda
mkdir -p $work
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
compile() { # source, name...: with what each kernel takes of registers, shared memory and spills
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
# In the meantime: the driver's figures of each pipeline.
REVAMP_CACHE_DIR=${REVAMP_CACHE_DIR:-/tmp/constructs-cache}
export REVAMP_CACHE_DIR
REVAMP_LOG=debug "$here/constructs" --once 2>&1 | grep -E '^kernel |subgroups of|pipeline made|failed|rror|no Vulkan device' | gzip >"$out/driver.log.gz"
gzip -dc "$out/driver.log.gz" | grep -q 'pipeline made' || { gzip -dc "$out/driver.log.gz"; echo "no pipeline was made: is there a Vulkan device?" >&2; exit 1; }
step "pipelines created"
wait
"$nvcc" -arch="$arch" -shared -o "$work/libcuda.so.constructs" "$work"/*.o || exit 1
cat "$work"/*.log | gzip >"$out/cuda.log.gz"
"$(dirname "$nvcc")/cuobjdump" -sass "$work/libcuda.so.constructs" |
    awk '/Function :/ { name = $3 } /^ *\/\*[0-9a-f]+\*\/ +[@A-Z]/ && !/ NOP/ { count[name]++ } END { for (name in count) print name, count[name] }' >"$out/sass.txt"
step "CUDA compiled"
level=x86-64-v3
! grep -q avx512vl /proc/cpuinfo || level=x86-64-v4
# All within 250 seconds.
"$here/constructs" --reference "$here/libopenmp-gcc-$level.so" \
    --peer "cuda=$work/libcuda.so.constructs" --seconds $((235 - $(date +%s) + start)) "$@" >"$out/times.tsv" 2>"$out/run.log"
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
