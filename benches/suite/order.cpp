// The family `order` of the kernel suite: scans, sorts, reductions.
#include "family.h"

namespace SUITE_FAMILY {
namespace {

// Each tile scans its 256 elements.
void scan_data(Problem &p) {
    const int n = p.pick(1 << 16, 1 << 25);
    p.n = {n};
    p.numbers(n, 1000), p.out<int>(n);
    p.bytes = 8.0 * n;
}
void scan_cpu(Problem &p) {
    for (int i = 0, sum = 0; i < p.n[0]; i++) {
        if (i % 256 == 0) sum = 0;
        p.at<int>(1)[i] = sum += p.at<int>(0)[i];
    }
}
void scan(Arrays &d) {
    const int n = d.n[0];
    const array<int> &in = d.get<int>(0, n);
    array<int> &out = d.get<int>(1, n);
    parallel_for_each(
        in.extent.tile<256>(), [&](tiled_index<256> t) restrict(amp) {
            tile_static int part[2][256];
            const int i = t.local[0];
            int from = 0;
            part[0][i] = in[t.global];
            t.barrier.wait();
            for (int d = 1; d < 256; d *= 2) {
                part[1 - from][i] = i >= d ? part[from][i] + part[from][i - d] : part[from][i];
                from = 1 - from;
                t.barrier.wait();
            }
            out[t.global] = part[from][i];
        });
}

// Blelloch's scan of doubles in tiles of 512 elements. A second kernel scans the sums of the tiles. A third kernel adds
// the scanned sums to the elements.
void prefix_data(Problem &p) {
    const int n = p.pick(1 << 15, 1 << 23);
    p.n = {n};
    p.doubles(n), p.out<double>(n), p.in<double>(n / 512);
    p.tolerance = 1e-12;
}
void prefix_cpu(Problem &p) {
    double sum = 0;
    for (int i = 0; i < p.n[0]; i++) {
        p.at<double>(1)[i] = sum;
        sum += p.at<double>(0)[i];
    }
}
void prefix(Arrays &d) {
    const int n = d.n[0], tiles = n / 512;
    array_view<const double> in(d.get<double>(0, n));
    array_view<double> out(d.get<double>(1, n)), sums(d.get<double>(2, tiles));
    parallel_for_each(
        extent<1>(n / 2).tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            tile_static double part[512];
            const int i = t.local[0], first = t.tile[0] * 512;
            part[2 * i] = in[first + 2 * i];
            part[2 * i + 1] = in[first + 2 * i + 1];
            int offset = 1;
            for (int d = 256; d > 0; d >>= 1) {
                t.barrier.wait();
                if (i < d) part[offset * (2 * i + 2) - 1] += part[offset * (2 * i + 1) - 1];
                offset *= 2;
            }
            if (i == 0) {
                sums[t.tile] = part[511];
                part[511] = 0;
            }
            for (int d = 1; d < 512; d *= 2) {
                offset >>= 1;
                t.barrier.wait();
                if (i < d) {
                    const int a = offset * (2 * i + 1) - 1, b = offset * (2 * i + 2) - 1;
                    const double left = part[a];
                    part[a] = part[b];
                    part[b] += left;
                }
            }
            t.barrier.wait();
            out[first + 2 * i] = part[2 * i];
            out[first + 2 * i + 1] = part[2 * i + 1];
        });
    parallel_for_each(
        extent<1>(256).tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            tile_static double part[256];
            const int i = t.local[0], per_thread = (tiles + 255) / 256;
            double sum = 0;
            for (int k = i * per_thread; k < (i + 1) * per_thread && k < tiles; k++)
                sum += sums[k];
            part[i] = sum;
            t.barrier.wait();
            double before = 0;
            for (int k = 0; k < i; k++)
                before += part[k];
            for (int k = i * per_thread; k < (i + 1) * per_thread && k < tiles; k++) {
                const double value = sums[k];
                sums[k] = before;
                before += value;
            }
        });
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] += sums[i[0] / 512]; });
}

void reduction_data(Problem &p) {
    const int n = p.pick(1 << 17, 1 << 25);
    p.n = {n, n / 2048};
    p.doubles(n), p.in<double>(n / 2048), p.out<double>(1);
    p.bytes = 8.0 * n, p.tolerance = 1e-12;
}
void reduction_cpu(Problem &p) {
    double sum = 0;
    for (int i = 0; i < p.n[0]; i++)
        sum += p.at<double>(0)[i];
    p.at<double>(2)[0] = sum;
}
void reduction(Arrays &d) {
    const int n = d.n[0], tiles = d.n[1];
    const array<double> &in = d.get<double>(0, n);
    array<double> &sums = d.get<double>(1, tiles), &out = d.get<double>(2, 1);
    parallel_for_each(
        extent<1>(tiles * 256).tile<256>(), [&in, &sums ](tiled_index<256> t) restrict(amp) {
            tile_static double part[256];
            double sum = 0;
            for (int k = 0; k < 8; k++)
                sum += in[t.tile[0] * 2048 + k * 256 + t.local[0]];
            part[t.local[0]] = sum;
            t.barrier.wait();
            for (int s = 128; s > 0; s /= 2) {
                if (t.local[0] < s) part[t.local[0]] += part[t.local[0] + s];
                t.barrier.wait();
            }
            if (t.local[0] == 0) sums[t.tile] = part[0];
        });
    parallel_for_each(
        extent<1>(256).tile<256>(), [&sums, &out, tiles ](tiled_index<256> t) restrict(amp) {
            tile_static double part[256];
            double sum = 0;
            for (int k = t.local[0]; k < tiles; k += 256)
                sum += sums[k];
            part[t.local[0]] = sum;
            t.barrier.wait();
            for (int s = 128; s > 0; s /= 2) {
                if (t.local[0] < s) part[t.local[0]] += part[t.local[0] + s];
                t.barrier.wait();
            }
            if (t.local[0] == 0) out[0] = part[0];
        });
}

// A bitonic sort with a launch for each step.
void bitonic_data(Problem &p) {
    const int n = p.pick(1 << 12, 1 << 20);
    p.n = {n};
    p.numbers(n), p.out<unsigned>(n);
}
void bitonic_cpu(Problem &p) {
    unsigned *to = p.at<unsigned>(1);
    std::copy_n(p.at<unsigned>(0), p.n[0], to);
    std::sort(to, to + p.n[0]);
}
void bitonic(Arrays &d) {
    const int n = d.n[0];
    const array<unsigned> &in = d.get<unsigned>(0, n);
    array<unsigned> &data = d.get<unsigned>(1, n);
    parallel_for_each(
        data.extent, [&](index<1> i) restrict(amp) { data[i] = in[i]; });
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j > 0; j /= 2)
            parallel_for_each(
                data.extent, [&data, j, k ](index<1> idx) restrict(amp) {
                    const int i = idx[0], other = i ^ j;
                    if (other <= i) return;
                    const unsigned a = data[i], b = data[other];
                    if ((a > b) == ((i & k) == 0)) {
                        data[i] = b;
                        data[other] = a;
                    }
                });
}

// A radix sort pass over 4 bits: counts the digits in tiles, scans the counts, and scatters the numbers in order.
void radix_data(Problem &p) {
    const int n = p.pick(1 << 15, 1 << 22), tiles = n / 1024;
    p.n = {n, tiles};
    p.numbers(n), p.out<unsigned>(n), p.in<int>(16 * tiles);
}
void radix_cpu(Problem &p) {
    unsigned *to = p.at<unsigned>(1);
    for (unsigned digit = 0; digit < 16; digit++)
        for (int i = 0; i < p.n[0]; i++)
            if ((p.at<unsigned>(0)[i] >> 8 & 15) == digit) *to++ = p.at<unsigned>(0)[i];
}
void radix(Arrays &d) {
    const int n = d.n[0], tiles = d.n[1];
    const array<unsigned> &in = d.get<unsigned>(0, n);
    array<unsigned> &out = d.get<unsigned>(1, n);
    array<int> &counts = d.get<int>(2, 16 * tiles);
    const int shift = 8;
    parallel_for_each(
        extent<1>(tiles * 256).tile<256>(), [ =, &in, &counts ](tiled_index<256> t) restrict(amp) {
            tile_static int part[16];
            if (t.local[0] < 16) part[t.local[0]] = 0;
            t.barrier.wait();
            for (int k = 0; k < 4; k++)
                atomic_fetch_inc(&part[in[t.tile[0] * 1024 + t.local[0] * 4 + k] >> shift & 15]);
            t.barrier.wait();
            if (t.local[0] < 16) counts[t.local[0] * tiles + t.tile[0]] = part[t.local[0]];
        });
    parallel_for_each(
        extent<1>(256).tile<256>(), [ =, &counts ](tiled_index<256> t) restrict(amp) {
            tile_static int part[256];
            const int all = 16 * tiles, per_thread = (all + 255) / 256, first = t.local[0] * per_thread;
            int sum = 0;
            for (int k = first; k < first + per_thread && k < all; k++)
                sum += counts[k];
            part[t.local[0]] = sum;
            t.barrier.wait();
            for (int d = 1; d < 256; d *= 2) {
                const int before = t.local[0] >= d ? part[t.local[0] - d] : 0;
                t.barrier.wait();
                part[t.local[0]] += before;
                t.barrier.wait();
            }
            int before = part[t.local[0]] - sum;
            for (int k = first; k < first + per_thread && k < all; k++) {
                const int count = counts[k];
                counts[k] = before;
                before += count;
            }
        });
    parallel_for_each(
        extent<1>(tiles * 256).tile<256>(), [ =, &in, &out, &counts ](tiled_index<256> t) restrict(amp) {
            tile_static int ranks[16][256];
            const int i = t.local[0];
            int digit_counts[16];
            unsigned keys[4];
            for (int digit = 0; digit < 16; digit++)
                digit_counts[digit] = 0;
            for (int k = 0; k < 4; k++) {
                keys[k] = in[t.tile[0] * 1024 + i * 4 + k];
                digit_counts[keys[k] >> shift & 15]++;
            }
            for (int digit = 0; digit < 16; digit++)
                ranks[digit][i] = digit_counts[digit];
            t.barrier.wait();
            for (int d = 1; d < 256; d *= 2) {
                int before[16];
                for (int digit = 0; digit < 16; digit++)
                    before[digit] = i >= d ? ranks[digit][i - d] : 0;
                t.barrier.wait();
                for (int digit = 0; digit < 16; digit++)
                    ranks[digit][i] += before[digit];
                t.barrier.wait();
            }
            for (int k = 0; k < 4; k++) {
                const int digit = keys[k] >> shift & 15;
                const int at = counts[digit * tiles + t.tile[0]] + ranks[digit][i] - digit_counts[digit];
                out[at] = keys[k];
                digit_counts[digit]--;
            }
        });
}

// Stream compaction within tiles: each tile keeps its numbers with bit 6 set, in order, and counts them.
void compaction_data(Problem &p) {
    const int n = p.pick(1 << 16, 1 << 25);
    p.n = {n};
    p.numbers(n), p.out<unsigned>(n), p.out<int>(n / 256);
    p.bytes = 6.0 * n;
}
void compaction_cpu(Problem &p) {
    for (int tile = 0; tile < p.n[0] / 256; tile++) {
        int count = 0;
        for (int i = 0; i < 256; i++) {
            const unsigned value = p.at<unsigned>(0)[tile * 256 + i];
            if (value & 64) p.at<unsigned>(1)[tile * 256 + count++] = value;
        }
        p.at<int>(2)[tile] = count;
    }
}
void compaction(Arrays &d) {
    const int n = d.n[0];
    array_view<const unsigned> in(d.get<unsigned>(0, n));
    array_view<unsigned> out(d.get<unsigned>(1, n));
    array_view<int> counts(d.get<int>(2, n / 256));
    parallel_for_each(
        in.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            tile_static int kept_count[256];
            const int i = t.local[0];
            const unsigned value = in[t];
            const bool keep = (value & 64) != 0;
            kept_count[i] = keep;
            t.barrier.wait_with_tile_static_memory_fence();
            for (int d = 1; d < 256; d *= 2) {
                const int before = i >= d ? kept_count[i - d] : 0;
                t.barrier.wait_with_tile_static_memory_fence();
                kept_count[i] += before;
                t.barrier.wait_with_tile_static_memory_fence();
            }
            if (keep) out[t.tile[0] * 256 + kept_count[i] - 1] = value;
            if (i == 255) counts[t.tile] = kept_count[255];
        });
}

} // namespace

void order(std::vector<Case> &all) {
    all.insert(all.end(), {{"tile scan", scan_data, scan_cpu, scan},
                           {"prefix sums of doubles", prefix_data, prefix_cpu, prefix},
                           {"double reduction", reduction_data, reduction_cpu, reduction},
                           {"bitonic sort", bitonic_data, bitonic_cpu, bitonic},
                           {"radix sort pass", radix_data, radix_cpu, radix},
                           {"stream compaction", compaction_data, compaction_cpu, compaction}});
}
} // namespace SUITE_FAMILY
