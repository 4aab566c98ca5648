// reduce.h: reductions by tiles.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "storage.h"
#include <numeric>

namespace algo
{
    namespace detail
    {
        static const int reduce_tile = 128;

        template <typename T, typename Op>
        void reduce_in_tile(T *values, int local, int size, Op op) restrict(amp)
        {
            for (int stride = size / 2; stride > 0; stride /= 2)
            {
                if (local < stride)
                    values[local] = op(values[local], values[local + stride]);
            }
        }

        template <typename T, typename Op> T reduce_on_device(array_view<const T, 1> in, T init, Op op)
        {
            const int localSize = 256;
            const int size = in.extent[0];
            const int tiles = (size + localSize - 1) / localSize;
            std::vector<T> partial(tiles, init);
            array_view<T, 1> out(tiles, partial);
            out.discard_data();
            tiled_extent<localSize> domain = extent<1>(tiles * localSize).tile<localSize>();
            parallel_for_each(domain, [=](tiled_index<localSize> t) restrict(amp) {
                tile_static T local[localSize];
                const int l = t.local[0], g = t.global[0];
                local[l] = g < size ? in[g] : init;
                t.barrier.wait();
                for (int s = localSize / 2; s > 0; s /= 2)
                {
                    if (l < s)
                        local[l] = op(local[l], local[l + s]);
                    t.barrier.wait();
                }
                if (l == 0)
                    out[t.tile[0]] = local[0];
            });
            out.synchronize();
            T result = init;
            for (int i = 0; i < tiles; i++)
                result = op(result, partial[i]);
            return result;
        }

        template <unsigned int W, typename T> T warp_sum(tiled_index<W> t, T value) restrict(amp) //@ tiled_index
        {
            tile_static T all[W];
            all[t.local[0]] = value;
            t.barrier.wait();
            T sum = 0;
            for (unsigned int i = 0; i < W; i++)
                sum += all[i];
            return sum;
        }
    }

    template <typename Iterator, typename T, typename Op>
    T reduce(options &how, Iterator first, Iterator last, T init, Op op)
    {
        typedef std::iterator_traits<Iterator>::value_type value_type; //@ value_type
        if (first == last)
            return init;
        how.note("reduce");
        std::vector<value_type> values(first, last);
        array_view<const value_type, 1> view((int)values.size(), values);
        return detail::reduce_on_device<value_type, Op>(view, init, op);
    }

    template <typename Iterator, typename T> T reduce(Iterator first, Iterator last, T init)
    {
        return algo::reduce(options(), first, last, init, plus<T>()); //@ options()
    }

    template <typename Iterator, typename T, typename Op> T reduce(Iterator first, Iterator last, T init, Op op)
    {
        options how;
        return algo::reduce(how, first, last, init, op);
    }

    template <typename Iterator>
    typename std::iterator_traits<Iterator>::value_type min_value(Iterator first, Iterator last)
    {
        typedef typename std::iterator_traits<Iterator>::value_type value_type;
        return algo::reduce(first, last, limits<value_type>::highest(), minimum<value_type>());
    }

    template <typename Iterator>
    typename std::iterator_traits<Iterator>::value_type max_value(Iterator first, Iterator last)
    {
        typedef typename std::iterator_traits<Iterator>::value_type value_type;
        return algo::reduce(first, last, limits<value_type>::lowest(), maximum<value_type>());
    }

    template <typename Iterator, typename Predicate> int count_if(Iterator first, Iterator last, Predicate p)
    {
        const int size = (int)std::distance(first, last);
        check_size(size); //@ check_size
        std::vector<int> flags(size);
        array_view<int, 1> out(size, flags);
        out.discard_data();
        typedef typename std::iterator_traits<Iterator>::value_type value_type;
        std::vector<value_type> values(first, last);
        array_view<const value_type, 1> in(size, values);
        parallel_for_each(in.extent, [=](index<1> i) restrict(amp) { out[i] = p(in[i]) ? 1 : 0; });
        out.synchronize();
        return algo::reduce(flags.begin(), flags.end(), 0);
    }

    template <typename Iterator, typename T> int count(Iterator first, Iterator last, const T &value)
    {
        const T wanted = value;
        return count_if(first, last, [=](const T &a) restrict(amp, cpu) { return a == wanted; });
    }

    template <typename Iterator, typename T> double mean(Iterator first, Iterator last, T init)
    {
        return algo::reduce(first, last, init) / double(std::distance(first, last));
    }

    template <typename A, typename B, typename T> T inner_product(A first1, A last1, B first2, T init)
    {
        const int size = (int)std::distance(first1, last1);
        std::vector<T> products(size);
        const int localSize = 64;
        array_view<T, 1> out(size, products);
        std::vector<T> a(first1, last1), b(first2, first2 + size);
        array_view<const T, 1> va(size, a), vb(size, b);
        out.discard_data();
        tiled_extent<localSize> domain(extent<1>((size + localSize - 1) / localSize * localSize));
        parallel_for_each(domain, [=](tiled_index<localSize> t) restrict(amp) {
            const int g = t.global[0];
            if (g < size)
                out[g] = va[g] * vb[g];
        });
        out.synchronize();
        return std::accumulate(products.begin(), products.end(), init);
    }

    inline void check_size(int size)
    {
        if (size < 0)
            throw std::exception("a range is backwards"); //@ exception(
    }
}
