// transform.h: maps, fills and stencils.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "scan.h"

namespace algo
{
    template <typename In, typename Out, typename F> Out transform(In first, In last, Out result, F f)
    {
        typedef typename std::iterator_traits<In>::value_type T;
        typedef typename std::iterator_traits<Out>::value_type U;
        const int size = (int)std::distance(first, last);
        std::vector<T> in(first, last);
        std::vector<U> out(size);
        array_view<const T, 1> a(size, in);
        array_view<U, 1> b(size, out);
        b.discard_data();
        parallel_for_each(b.extent, [=](index<1> i) restrict(amp) { b[i] = f(a[i]); });
        b.synchronize();
        return std::copy(out.begin(), out.end(), result);
    }

    template <typename A, typename B, typename Out, typename F>
    Out transform(A first1, A last1, B first2, Out result, F f)
    {
        typedef typename std::iterator_traits<A>::value_type T;
        const int size = (int)std::distance(first1, last1);
        std::vector<T> x(first1, last1), y(first2, first2 + size), out(size);
        array_view<const T, 1> a(size, x), b(size, y);
        array_view<T, 1> c(size, out);
        c.discard_data();
        parallel_for_each(c.extent, [=](index<1> i) restrict(amp) { c[i] = f(a[i], b[i]); });
        c.synchronize();
        return std::copy(out.begin(), out.end(), result);
    }

    template <typename Iterator, typename T> void fill(Iterator first, Iterator last, T value)
    {
        std::vector<T> values(first, last);
        array_view<T, 1> view((int)values.size(), values);
        view.discard_data();
        parallel_for_each(view.extent, [=](index<1> i) restrict(amp) { view[i] = value; });
        view.synchronize();
        std::copy(values.begin(), values.end(), first);
    }

    template <typename T> void append(std::vector<T> &to, T &value) { to.push_back(value); }
    template <typename T> void append_all(std::vector<T> &to, const std::vector<T> &values)
    {
        for (size_t i = 0; i < values.size(); i++)
            append(to, values[i] + T(0)); //@ T &
    }

    inline void record(std::vector<float> &log, float &value) { log.push_back(value); }
    inline void record_all(std::vector<float> &log)
    {
        float one = 1;
        record(log, one);
        record(log, one * 2); //@ float &
        record(log, 3.0f); //@ float &
    }

    // A stencil with a compile-time radius.
    template <typename T, int Radius> class stencil
    {
    public:
        typedef array_view<T, 2> view_type;
        stencil(const std::vector<T> &weights) : m_weights(weights) {}

        void operator()(array_view<const T, 2> in, view_type out) const
        {
            const int width = 2 * Radius + 1;
            array_view<const T, 1> w(width * width, m_weights);
            static const int tile = 16;
            const int rows = in.extent[0], columns = in.extent[1];
            parallel_for_each(out.extent.tile<tile, tile>().pad(), [=](tiled_index<tile, tile> t) restrict(amp) { //@ out.extent.tile
                tile_static T halo[tile + 2 * Radius][tile + 2 * Radius];
                const int y = t.global[0], x = t.global[1];
                const int ly = t.local[0], lx = t.local[1];
                for (int dy = ly; dy < tile + 2 * Radius; dy += tile)
                {
                    for (int dx = lx; dx < tile + 2 * Radius; dx += tile)
                    {
                        const int sy = clamped(t.tile_origin[0] + dy - Radius, rows);
                        const int sx = clamped(t.tile_origin[1] + dx - Radius, columns);
                        halo[dy][dx] = in(sy, sx);
                    }
                }
                t.barrier.wait();
                if (y < rows && x < columns)
                {
                    T sum = 0;
                    for (int j = 0; j < width; j++)
                        for (int i = 0; i < width; i++)
                            sum += w[j * width + i] * halo[ly + j][lx + i];
                    out(y, x) = sum;
                }
            });
        }

    private:
        static int clamped(int i, int size) restrict(amp, cpu) { return i < 0 ? 0 : i >= size ? size - 1 : i; }
        std::vector<T> m_weights;
    };

    template <typename T, unsigned Tile> struct multiplier
    {
        static void run(const matrix<T> &a, const matrix<T> &b, matrix<T> &c)
        {
            array_view<const T, 2> va = a.view(), vb = b.view();
            array_view<T, 2> vc = c.view();
            vc.discard_data();
            const int inner = a.columns();
            parallel_for_each(vc.extent.tile<Tile, Tile>(), [=](tiled_index<Tile, Tile> t) restrict(amp) { //@ vc.extent.tile
                tile_static T la[Tile][Tile];
                tile_static T lb[Tile][Tile];
                T sum = 0;
                const int row = t.local[0], column = t.local[1];
                for (int k = 0; k < inner; k += Tile)
                {
                    la[row][column] = va(t.global[0], k + column);
                    lb[row][column] = vb(k + row, t.global[1]);
                    t.barrier.wait();
                    for (unsigned i = 0; i < Tile; i++)
                        sum += la[row][i] * lb[i][column];
                    t.barrier.wait();
                }
                vc[t.global] = sum;
            });
            vc.synchronize();
        }
    };

    template <typename Container> void print(const Container &values)
    {
        Container::const_iterator i = values.begin(); //@ const_iterator
        for (; i != values.end(); ++i)
            std::cout << *i << ' ';
        std::cout << std::endl;
        print_count(values.size()); //@ print_count
    }

    inline void print_count(size_t count) { std::cout << count << " values" << std::endl; }

    template <typename T> struct generator : public storage_base<T>
    {
        generator(T first, T step) : storage_base<T>(0), m_next(first), m_step(step) {}
        T next()
        {
            const T value = m_next;
            m_next += m_step;
            ++m_size; //@ m_size
            return value;
        }
        void reset(T first) { m_next = first; }

    private:
        T m_next, m_step;
    };
}
