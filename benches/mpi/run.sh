#!/bin/sh
# Runs the MPI benchmark, in the folder that benches/mpi/bundle filled. It times the exchange and the heat equation,
# with revamp and with a plain MPI and CUDA program, on 1, 2 and 4 ranks. If there are more ranks than devices, ranks
# share devices. No round begins after SECONDS (default 90). Results go to $OUT. Exits with 1 if a result was wrong.
# usage: run.sh [SECONDS]
set -u
cd "$(dirname "$0")" || exit 1
here=$PWD
out=${OUT:-$here/out}
mkdir -p "$out"
seconds=${1:-90}
begun=$(date +%s)
status=0
# If the machine has no Vulkan loader, unpack it from Debian packages that the user has put next to this folder.
if ! ldconfig -p | grep -q 'libvulkan\.so\.1' && [ ! -e lib/libvulkan.so.1 ]; then
    for packages in "${GL_PACKAGES:-}" "$here/.gl" "$here/../.gl" ./.gl; do
        [ -n "$packages" ] && ls "$packages"/*.deb >/dev/null 2>&1 || continue
        for package in "$packages"/*.deb; do dpkg -x "$package" loader; done
        cp -a loader/usr/lib/*-linux-gnu/libvulkan.so.1* lib/
        break
    done
fi
icd=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
[ -n "${VK_DRIVER_FILES:-}" ] || ! [ -e "$icd" ] || { VK_DRIVER_FILES=$icd; export VK_DRIVER_FILES; }
# Decompresses Debian's MPICH library. The folder stores it compressed, because it is large.
[ -e lib/libmpich.so.12 ] || python3 -c "import lzma; open('lib/libmpich.so.12', 'wb').write(lzma.open('lib/libmpich.so.12.xz').read())"
chmod +x exchange heat hydra_pmi_proxy mpiexec.hydra
[ ! -e plain_cuda ] || chmod +x plain_cuda
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
UCX_MODULE_DIR=$here/lib/ucx
UCX_WARN_UNUSED_ENV_VARS=n
REVAMP_CACHE_DIR=$here/cache
export LD_LIBRARY_PATH UCX_MODULE_DIR UCX_WARN_UNUSED_ENV_VARS REVAMP_CACHE_DIR
elapsed() { echo $(($(date +%s) - begun)); }
say() { echo "[$(elapsed) s] $*"; }

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
programs=revamp
if [ -n "$nvcc" ] && "$nvcc" -O3 -arch=sm_90 -std=c++17 -I include plain_cuda.cu -o plain_cuda.here -Xlinker lib/libmpich.so.12 >"$out/nvcc.log" 2>&1; then
    mv plain_cuda.here plain_cuda
else
    cat "$out/nvcc.log" 2>/dev/null
    say "plain_cuda.cu could not be compiled here; the prebuilt program is used if the bundle has it"
fi
[ ! -x plain_cuda ] || programs="cuda revamp"
ranks() { # RANKS PROGRAM [ARGUMENT...]: runs the program on that many ranks
    processes=$1
    shift
    timeout 60 ./mpiexec.hydra -launcher fork -n "$processes" "$@"
}
exchange() { # ROUND WHO RANKS: times the exchanges of WHO (revamp or cuda)
    case $2 in
    revamp) ranks "$3" ./exchange "$max_count" "$kernel_iterations" ;;
    cuda) ranks "$3" ./plain_cuda exchange "$max_count" "$kernel_iterations" ;;
    esac >"$out/now" 2>"$out/errors" || { status=1; say "FAILED: exchange, $2, $3 ranks"; head -n 20 "$out/errors"; }
    sed "s/^/$1 /" "$out/now" >>"$out/exchange.times"
}
heat() { # WHO RANKS SHARES: times the heat equation of WHO; each rank has SHARES times $rows rows
    case $1 in
    revamp) program="./heat" ;;
    cuda) program="./plain_cuda heat" ;;
    esac
    # shellcheck disable=SC2086
    ranks "$2" $program $((rows * $3)) "$width" "$steps" 0 >"$out/now" 2>"$out/errors" ||
        { status=1; say "FAILED: heat, $1, $2 ranks"; head -n 20 "$out/errors"; }
    sed "s/^/$1 $2 $3 /" "$out/now" >>"$out/heat.times"
}
# The largest number of floats in a message, and the iterations of the kernel that runs during an exchange.
max_count=${MAX_COUNT:-1073741824} kernel_iterations=${KERNEL_ITERATIONS:-2000}
rows=${ROWS:-4096} width=${WIDTH:-8192} steps=${STEPS:-200} counts=${COUNTS:-1 2 4}
: >"$out/exchange.times"
: >"$out/heat.times"
nvidia-smi -L 2>/dev/null
nproc
for who in $programs; do
    case $who in revamp) program="./heat" ;; cuda) program="./plain_cuda heat" ;; esac
    for count in $counts; do
        # shellcheck disable=SC2086
        ranks "$count" $program 60 200 40 >"$out/now" 2>&1 && grep -q 'right$' "$out/now" || { status=1; echo "WRONG: heat, $who, $count ranks"; }
        cat "$out/now"
    done
done
say "checked"
round=0
while [ "$round" -lt 5 ] && { [ "$round" = 0 ] || [ "$(elapsed)" -lt "$seconds" ]; }; do
    round=$((round + 1))
    for count in $counts; do
        for who in $programs; do
            [ "$round" = 1 ] || [ "$(elapsed)" -lt "$((seconds + 10))" ] || break 3
            [ "$count" = 1 ] && [ "$round" -gt 3 ] || exchange "$round" "$who" "$count"
            heat "$who" "$count" 1
            [ "$count" = 1 ] || [ "$round" -gt 2 ] || heat "$who" 1 "$count"
        done
    done
    say "round $round"
done
rm -f "$out/now" "$out/errors"
python3 compare.py "$out" | tee "$out/mpi.md"
say "done"
exit $status
