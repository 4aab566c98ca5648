#!/bin/sh
# Times all variants of the folder that `build` filled at the suite's large sizes, and keeps the code of some kernels; in $OUT.
# On a machine with the Vulkan loader; about 4 minutes.
set -u
cd "$(dirname "$0")" || exit 1
LD_LIBRARY_PATH=$PWD
export LD_LIBRARY_PATH
for name in base model all bonus addresses division base; do
    REVAMP_CACHE_DIR=/tmp/cache-$name REVAMP_WORKGROUPS=off timeout 60 ./check-$name --large >>"$OUT/$name.txt" 2>&1
    for kernel in "string search" "rays and balls" functions "Game of Life" "pairs on the sky" Mandelbrot "tile scan"; do
        REVAMP_CACHE_DIR="$OUT/code-$name/$(echo "$kernel" | tr -d ' ')" REVAMP_WORKGROUPS=off \
            timeout 20 ./check-$name "$kernel" >>"$OUT/$name.small" 2>&1
    done
done
