#!/bin/sh
# Measures from the folder that benches/mpi/bundle filled: the exchange and the heat equation by revamp and by a plain program
# of MPI and CUDA, on 1, 2 and 4 ranks; as many devices as there are, shared where ranks are more. run.sh [SECONDS]: no round
# begins after so many (default 90). Results go to $OUT; exits with 1 if a result was wrong.
set -u
cd "$(dirname "$0")" || exit 1
here=$PWD
out=${OUT:-$here/out}
mkdir -p "$out"
seconds=${1:-90}
begun=$(date +%s)
status=0
# The loader for Vulkan, where the machine has none: Debian packages that whoever runs this put beside it.
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
# Debian's library is large, and a checkout with this folder must not be.
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
    say "plain_cuda.cu is not compiled here; the program that was brought along is used, if any"
fi
[ ! -x plain_cuda ] || programs="cuda revamp"
ranks() { # processes, program, arguments...
    processes=$1
    shift
    timeout 60 ./mpiexec.hydra -launcher fork -n "$processes" "$@"
}
exchange() { # round, who, ranks
    case $2 in
    revamp) ranks "$3" ./exchange "$most" "$rounds" ;;
    cuda) ranks "$3" ./plain_cuda exchange "$most" "$rounds" ;;
    esac >"$out/now" 2>"$out/errors" || { status=1; say "FAILED: exchange, $2, $3 ranks"; head -n 20 "$out/errors"; }
    sed "s/^/$1 /" "$out/now" >>"$out/exchange.times"
}
heat() { # who, ranks, shares
    case $1 in
    revamp) program="./heat" ;;
    cuda) program="./plain_cuda heat" ;;
    esac
    # shellcheck disable=SC2086
    ranks "$2" $program $((rows * $3)) "$width" "$steps" 0 >"$out/now" 2>"$out/errors" ||
        { status=1; say "FAILED: heat, $1, $2 ranks"; head -n 20 "$out/errors"; }
    sed "s/^/$1 $2 $3 /" "$out/now" >>"$out/heat.times"
}
most=${MOST:-1073741824} rounds=${ROUNDS:-2000} rows=${ROWS:-4096} width=${WIDTH:-8192} steps=${STEPS:-200} counts=${COUNTS:-1 2 4}
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
