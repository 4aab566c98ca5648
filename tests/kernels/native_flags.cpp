// A kernel that is compiled with many flags (native.cmake).
#include <amp.h>

using namespace concurrency;

void turned(array_view<int> o) {
    parallel_for_each(
        o.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            s[t.local[0]] = o[t.global];
            t.barrier.wait();
            o[t.global] = s[31 - t.local[0]];
        });
}
