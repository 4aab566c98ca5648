#!/bin/sh
# Times the variants of the folder that `build` filled at the suite's large sizes, in turns; and string search taken apart, ours and
# CUDA's. Results in $OUT: turns.txt (a line with the variant, then its kernels: least, median, processor's ms), search.txt.
# On a machine with the Vulkan loader and nvcc; about 4 minutes.
set -u
cd "$(dirname "$0")" || exit 1
LD_LIBRARY_PATH=$PWD
REVAMP_WORKGROUPS=off
export LD_LIBRARY_PATH REVAMP_WORKGROUPS
nvcc -O3 -arch=sm_90 -std=c++17 -o search_cuda search.cu && ./search_cuda >"$OUT/search.txt"
REVAMP_CACHE_DIR=/tmp/cache-search ./search >>"$OUT/search.txt"
for round in 1 2 3 4 5 6 7; do
    for name in base larger four addresses; do
        echo "# $round $name" >>"$OUT/turns.txt"
        REVAMP_CACHE_DIR=/tmp/cache-$name timeout 60 ./check-$name --large "rays and balls" gemver correlation doitgen adi \
            atax bicg prefix "double reduction" radix Lennard "n bodies" MRI-Q >>"$OUT/turns.txt" 2>&1
    done
done
