// scan.h: prefix sums, and algorithms that use them.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "reduce.h"

namespace algo
{
    enum class scan_kind
    {
        inclusive,
        exclusive
    };

    namespace detail
    {
        template <int Tile, typename T, typename Op> class scanner
        {
        public:
            scanner(T identity, Op op) : m_identity(identity), m_op(op) {}

            // Scans each tile separately, and stores the sum of each tile.
            void tiles(array_view<const T, 1> in, array_view<T, 1> out, array_view<T, 1> sums) const
            {
                const T identity = m_identity;
                const Op op = m_op;
                const int size = in.extent[0];
                parallel_for_each(out.extent.tile<Tile>().pad(), [=](tiled_index<Tile> t) restrict(amp) { //@ out.extent.tile
                    tile_static T buffer[2][Tile];
                    const int l = t.local[0], g = t.global[0];
                    int from = 0, to = 1;
                    buffer[from][l] = g < size ? in[g] : identity;
                    t.barrier.wait();
                    for (int offset = 1; offset < Tile; offset *= 2)
                    {
                        if (l >= offset)
                            buffer[to][l] = op(buffer[from][l - offset], buffer[from][l]);
                        else
                            buffer[to][l] = buffer[from][l];
                        const int other = from;
                        from = to;
                        to = other;
                        t.barrier.wait();
                    }
                    if (g < size)
                        out[g] = buffer[from][l];
                    if (l == Tile - 1)
                        sums[t.tile[0]] = buffer[from][l];
                });
            }

            void add(array_view<T, 1> out, array_view<const T, 1> sums) const
            {
                const Op op = m_op;
                parallel_for_each(out.extent, [=](index<1> i) restrict(amp) {
                    const int tile = i[0] / Tile;
                    if (tile > 0)
                        out[i] = op(sums[tile - 1], out[i]);
                });
            }

            void run(array_view<const T, 1> in, array_view<T, 1> out) const
            {
                const int tiles = (in.extent[0] + Tile - 1) / Tile;
                std::vector<T> sums(tiles);
                array_view<T, 1> view(tiles, sums);
                this->tiles(in, out, view);
                view.synchronize();
                for (int i = 1; i < tiles; i++)
                    sums[i] = m_op(sums[i - 1], sums[i]);
                view.refresh();
                add(out, view);
            }

        private:
            T m_identity;
            Op m_op;
        };
    }

    template <typename In, typename Out, typename T, typename Op>
    Out scan(In first, In last, Out result, T identity, Op op, scan_kind kind)
    {
        const int size = (int)std::distance(first, last);
        if (size == 0)
            return result;
        std::vector<T> in(first, last), out(size);
        array_view<const T, 1> input(size, in);
        array_view<T, 1> output(size, out);
        output.discard_data();
        detail::scanner<256, T, Op> scanner(identity, op);
        scanner.run(input, output);
        output.synchronize();
        if (kind == scan_kind::exclusive)
        {
            *result++ = identity;
            return std::copy(out.begin(), out.end() - 1, result);
        }
        return std::copy(out.begin(), out.end(), result);
    }

    template <typename In, typename Out> Out inclusive_scan(In first, In last, Out result)
    {
        typedef std::iterator_traits<In>::value_type T; //@ value_type
        return scan(first, last, result, T(0), plus<T>(), scan_kind::inclusive);
    }

    template <typename In, typename Out> Out exclusive_scan(In first, In last, Out result)
    {
        typedef typename std::iterator_traits<In>::value_type T;
        return scan(first, last, result, T(0), plus<T>(), scan_kind::exclusive);
    }

    // Copies the elements for which the predicate is true, in order.
    template <typename In, typename Out, typename Predicate> Out copy_if(In first, In last, Out result, Predicate p)
    {
        typedef typename std::iterator_traits<In>::value_type T;
        const int size = (int)std::distance(first, last);
        std::vector<T> in(first, last);
        std::vector<int> flags(size), places(size);
        array_view<const T, 1> input(size, in);
        array_view<int, 1> f(size, flags);
        parallel_for_each(f.extent, [=](index<1> i) restrict(amp) { f[i] = p(input[i]) ? 1 : 0; });
        f.synchronize();
        exclusive_scan(flags.begin(), flags.end(), places.begin());
        const int kept = size ? places[size - 1] + flags[size - 1] : 0;
        std::vector<T> out(kept + 1);
        array_view<T, 1> output(kept + 1, out);
        array_view<const int, 1> where(size, places), keep(size, flags);
        parallel_for_each(input.extent, [=](index<1> i) restrict(amp) {
            if (keep[i])
                output[where[i]] = input[i];
        });
        output.synchronize();
        return std::copy(out.begin(), out.begin() + kept, result);
    }

    template <typename In, typename Out> Out unique_copy(In first, In last, Out result)
    {
        typedef typename std::iterator_traits<In>::value_type T;
        const std::vector<T> values(first, last);
        std::vector<int> heads(values.size());
        for (size_t i = 0; i < values.size(); i++)
            heads[i] = i == 0 || !(values[i] == values[i - 1]);
        for (size_t i = 0; i < values.size(); i++)
        {
            if (heads[i])
                *result++ = values[i];
        }
        return result;
    }
}
