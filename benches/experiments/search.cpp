// The same for ours: microseconds of a launch, medians of 15 of 20 launches each.
#include <algorithm>
#include <amp.h>
#include <chrono>
#include <cstdio>
#include <vector>
using namespace concurrency;
template <class F> void time(const char *name, accelerator_view view, const F &launch) {
    std::vector<double> all;
    launch();
    view.wait();
    for (int r = 0; r < 15; r++) {
        const auto a = std::chrono::steady_clock::now();
        for (int k = 0; k < 20; k++)
            launch();
        view.wait();
        all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - a).count() * 5e4);
    }
    std::sort(all.begin(), all.end());
    std::printf("%-28s %8.2f us\n", name, all[7]);
}
int main(int argc, char **) {
    const int n = argc > 1 ? 1 << 16 : 1 << 24, length = 8;
    accelerator_view view = accelerator().default_view;
    std::vector<unsigned> t(n / 4 + 2);
    unsigned long long s = 12345;
    for (auto &x : t) {
        s = s * 6364136223846793005ULL + 1442695040888963407ULL;
        x = unsigned(s >> 33) * 2654435761U & 0x01010101;
    }
    std::vector<unsigned> pat(8);
    for (int i = 0; i < 8; i++)
        pat[i] = i % 3 == 0;
    array<unsigned> text(n / 4 + 2, t.begin(), t.end(), view), pattern(8, pat.begin(), pat.end(), view),
        found(n / 32, view);
    array<int> count(1, view);
    time("plain", view, [&] {
        parallel_for_each(
            view, extent<1>(n), [&text, &pattern, &count, &found, length ](index<1> idx) restrict(amp) {
                const int i = idx[0];
                int k = 0;
                while (k < length && (text[(i + k) / 4] >> (i + k) % 4 * 8 & 255) == pattern[k])
                    k++;
                if (k < length) return;
                atomic_fetch_inc(&count[0]);
                atomic_fetch_or(&found[i / 32], 1U << i % 32);
            });
    });
    time("no atomics", view, [&] {
        parallel_for_each(
            view, extent<1>(n), [&text, &pattern, &found, length ](index<1> idx) restrict(amp) {
                const int i = idx[0];
                int k = 0;
                while (k < length && (text[(i + k) / 4] >> (i + k) % 4 * 8 & 255) == pattern[k])
                    k++;
                if (k < length) return;
                found[i / 32] = i;
            });
    });
    time("count only", view, [&] {
        parallel_for_each(
            view, extent<1>(n), [&text, &pattern, &count, length ](index<1> idx) restrict(amp) {
                const int i = idx[0];
                int k = 0;
                while (k < length && (text[(i + k) / 4] >> (i + k) % 4 * 8 & 255) == pattern[k])
                    k++;
                if (k < length) return;
                atomic_fetch_inc(&count[0]);
            });
    });
    time("bits only", view, [&] {
        parallel_for_each(
            view, extent<1>(n), [&text, &pattern, &found, length ](index<1> idx) restrict(amp) {
                const int i = idx[0];
                int k = 0;
                while (k < length && (text[(i + k) / 4] >> (i + k) % 4 * 8 & 255) == pattern[k])
                    k++;
                if (k < length) return;
                atomic_fetch_or(&found[i / 32], 1U << i % 32);
            });
    });
    time("length a constant, unrolled", view, [&] {
        parallel_for_each(
            view, extent<1>(n), [&text, &pattern, &count, &found ](index<1> idx) restrict(amp) {
                const int i = idx[0];
                int k = 0;
                while (k < 8 && (text[(i + k) / 4] >> (i + k) % 4 * 8 & 255) == pattern[k])
                    k++;
                if (k < 8) return;
                atomic_fetch_inc(&count[0]);
                atomic_fetch_or(&found[i / 32], 1U << i % 32);
            });
    });
    time("clear", view, [&] {
        parallel_for_each(
            view, found.extent, [&found, &count ](index<1> i) restrict(amp) {
                found[i] = 0;
                if (i[0] == 0) count[0] = 0;
            });
    });
    time("nothing, n threads", view, [&] {
        parallel_for_each(
            view, extent<1>(n), [&found](index<1> i) restrict(amp) {
                if (i[0] < 0) found[0] = 1;
            });
    });
}
