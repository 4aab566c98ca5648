// sort.h: bitonic sort and radix sort.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "transform.h"

namespace algo
{
    namespace detail
    {
        template <typename T, typename Compare>
        void exchange(array_view<T, 1> keys, int i, int j, bool up, Compare less) restrict(amp)
        {
            const T a = keys[i], b = keys[j];
            if (less(b, a) == up)
            {
                keys[i] = b;
                keys[j] = a;
            }
        }

        inline unsigned int digit(unsigned int key, int shift, int bits) restrict(amp, cpu)
        {
            return (key >> shift) & ((1u << bits) - 1);
        }

        inline int power_of_two(int size)
        {
            int power = 1;
            while (power < size)
                power *= 2;
            return power;
        }

        template <typename T> struct padding
        {
            static T value() { return limits<T>::highest(); }
        };
    }

    template <typename T, typename Compare> void bitonic_sort(std::vector<T> &values, Compare less)
    {
        const int size = (int)values.size();
        const int padded = detail::power_of_two(size);
        values.resize(padded, detail::padding<T>::value());
        array_view<T, 1> keys(padded, values);
        for (int k = 2; k <= padded; k *= 2)
        {
            for (int j = k / 2; j > 0; j /= 2)
            {
                parallel_for_each(keys.extent, [=](index<1> id) restrict(amp) {
                    const int i = id[0], other = i ^ j;
                    if (other > i)
                        detail::exchange(keys, i, other, (i & k) == 0, less);
                });
            }
        }
        keys.synchronize();
        values.resize(size);
    }

    template <typename T> void sort(std::vector<T> &values) { bitonic_sort(values, less<T>()); }

    template <typename Key, typename Value> class radix_sorter
    {
    public:
        static const int bits = 4;
        static const int digits = 1 << bits;
        typedef std::pair<Key, Value> item;
        typedef typename std::vector<item> items;

        radix_sorter() : m_passes(0) {}

        void sort(std::vector<Key> &keys, std::vector<Value> &values)
        {
            for (int shift = 0; shift < (int)sizeof(Key) * 8; shift += bits)
            {
                pass(keys, values, shift);
                m_passes++;
            }
        }

        int passes() const { return m_passes; }

        item front(const std::vector<Key> &keys, const std::vector<Value> &values) const
        {
            const items::const_iterator none = items::const_iterator(); //@ const_iterator
            return none == items::const_iterator() ? item(keys[0], values[0]) : *none; //@ const_iterator
        }

    private:
        void pass(std::vector<Key> &keys, std::vector<Value> &values, int shift)
        {
            const int size = (int)keys.size();
            const int localSize = 128;
            std::vector<int> counts(digits);
            array_view<int, 1> histogram(digits, counts);
            array_view<const Key, 1> in(size, keys);
            const tiled_extent<localSize> domain = extent<1>(size).tile<localSize>().pad();
            parallel_for_each(domain, [=](tiled_index<localSize> t) restrict(amp) {
                tile_static int local[digits];
                if (t.local[0] < digits)
                    local[t.local[0]] = 0;
                t.barrier.wait();
                if (t.global[0] < size)
                    concurrency::atomic_fetch_add(&local[detail::digit(in[t.global], shift, bits)], 1);
                t.barrier.wait();
                if (t.local[0] < digits)
                    concurrency::atomic_fetch_add(&histogram[t.local[0]], local[t.local[0]]);
            });
            histogram.synchronize();
            std::vector<int> places(digits);
            exclusive_scan(counts.begin(), counts.end(), places.begin());
            std::vector<Key> sorted_keys(size);
            std::vector<Value> sorted_values(size);
            for (int i = 0; i < size; i++)
            {
                const int to = places[detail::digit(keys[i], shift, bits)]++;
                sorted_keys[to] = keys[i];
                sorted_values[to] = values[i];
            }
            keys.swap(sorted_keys);
            values.swap(sorted_values);
        }

        int m_passes;
    };

    template <typename Key, typename Value>
    void sort_by_key(std::vector<Key> &keys, std::vector<Value> &values)
    {
        radix_sorter<Key, Value> sorter;
        sorter.sort(keys, values);
    }

    template <typename T> bool is_sorted(const std::vector<T> &values)
    {
        for (size_t i = 1; i < values.size(); i++)
        {
            if (values[i] < values[i - 1])
                return false;
        }
        return true;
    }

    template <typename T> struct merge_path
    {
        struct place
        {
            int a, b;
        };

        merge_path(const std::vector<T> &a, const std::vector<T> &b) : m_a(a), m_b(b) {}

        merge_path<T>::place find(int diagonal) const
        {
            int low = diagonal > (int)m_b.size() ? diagonal - (int)m_b.size() : 0;
            int high = min(diagonal, (int)m_a.size());
            while (low < high)
            {
                const int middle = (low + high) / 2;
                if (m_a[middle] < m_b[diagonal - 1 - middle])
                    low = middle + 1;
                else
                    high = middle;
            }
            place found = {low, diagonal - low};
            return found;
        }

    private:
        const std::vector<T> &m_a, &m_b;
    };
}
