// storage.h: containers whose elements kernels can use.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "functional.h"
#include <memory>
#include <vector>

namespace algo
{
    using concurrency::array;
    using concurrency::array_view;
    using concurrency::extent;
    using concurrency::index;
    using concurrency::tiled_extent;
    using concurrency::tiled_index;
    using concurrency::parallel_for_each;

    template <typename T> class storage_base
    {
    public:
        typedef T value_type;
        typedef size_t size_type;

        storage_base() : m_size(0) {}
        explicit storage_base(size_type size) : m_size(size) {}
        size_type size() const { return m_size; }
        bool empty() const { return m_size == 0; }

    protected:
        void set_size(size_type size) { m_size = size; }
        size_type m_size;
        static const int s_page = 4096;
    };

    template <typename T> class device_vector : public storage_base<T>
    {
    public:
        typedef storage_base<T> base;
        typedef typename base::size_type size_type;

        explicit device_vector(size_type size) : base(size), m_view((int)size) {}

        template <typename Iterator> device_vector(Iterator first, Iterator last)
            : base(std::distance(first, last)), m_view((int)std::distance(first, last))
        {
            concurrency::copy(first, last, m_view);
        }

        array_view<T, 1> view() const { return m_view; }

        void clear()
        {
            set_size(0); //@ set_size
            m_view = array_view<T, 1>(1);
        }

        int pages() const
        {
            return (int)(m_size * sizeof(T) + s_page - 1) / s_page; //@ m_size; s_page
        }

        std::vector<T> to_host() const
        {
            std::vector<T> result(this->size());
            std::vector<T>::iterator out = result.begin(); //@ iterator
            concurrency::copy(m_view, out);
            return result;
        }

        void resize(size_type size)
        {
            this->set_size(size);
            base::m_size = size;
            m_view = array_view<T, 1>((int)size);
        }

    private:
        array_view<T, 1> m_view;
    };

    // A row-major matrix.
    template <typename T, unsigned int Tile = 16> class matrix
    {
    public:
        matrix(int rows, int columns) : m_rows(rows), m_columns(columns), m_values(rows * columns) {}

        T &operator()(int row, int column) { return m_values[row * m_columns + column]; }
        const T &operator()(int row, int column) const { return m_values[row * m_columns + column]; }
        int rows() const { return m_rows; }
        int columns() const { return m_columns; }
        static void transpose_tile(tiled_index<Tile, Tile> t, array_view<T, 2> view) restrict(amp);

        array_view<T, 2> view() { return array_view<T, 2>(m_rows, m_columns, m_values); }
        array_view<const T, 2> view() const { return array_view<const T, 2>(m_rows, m_columns, m_values); }
        void swap(matrix &other)
        {
            std::swap(m_rows, other.m_rows);
            std::swap(m_columns, other.m_columns);
            m_values.swap(other.m_values);
        }

    private:
        int m_rows, m_columns;
        std::vector<T> m_values;
    };

    template <typename T> struct pool
    {
        typedef std::vector<std::pair<size_t, T>> entries;

        T *take(size_t size)
        {
            for (typename entries::iterator i = m_free.begin(); i != m_free.end(); ++i)
            {
                if (i->first >= size)
                    return &i->second;
            }
            entries::iterator last = m_free.insert(m_free.end(), std::make_pair(size, T())); //@ entries::iterator
            return &last->second;
        }

        template <int N> struct bucket
        {
            T items[N];
        };
        template <> struct bucket<0> {}; //@ template <>

    private:
        entries m_free;
    };
}
