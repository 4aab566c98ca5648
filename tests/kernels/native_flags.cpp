// A kernel that native.cmake compiles with various flags.
#include <amp.h>

using namespace concurrency;

#ifndef ELEMENT
#define ELEMENT int
#endif

void reverse_tiles(array_view<ELEMENT> o) {
    parallel_for_each(
        o.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static ELEMENT s[32];
            s[t.local[0]] = o[t.global];
            t.barrier.wait();
            o[t.global] = s[31 - t.local[0]];
        });
}
