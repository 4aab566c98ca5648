// An algorithms library like those published for C++ AMP: templates over indexable views.
#pragma once
#include <algorithm>
#include <amp.h>
#include <assert.h>
#include <functional>
#include <type_traits>

namespace amp_algorithms {

using namespace concurrency;

template <typename T> class plus {
  public:
    T operator()(const T &a, const T &b) const restrict(cpu, amp) { return (a + b); }
};
template <typename T> class max {
  public:
    T operator()(const T &a, const T &b) const restrict(cpu, amp) { return ((a < b) ? b : a); }
};
template <typename T> class less_equal {
  public:
    bool operator()(const T &a, const T &b) const restrict(cpu, amp) { return (a <= b); }
};

namespace details {
template <typename IndexableView> void check_view_rank() {
    static_assert(IndexableView::rank == 1, "The view must be one-dimensional");
}
inline accelerator_view auto_select_target() {
    static accelerator_view auto_select_accelerator_view = accelerator::get_auto_selection_view();
    return auto_select_accelerator_view;
}
inline int next_multiple(int n, int m) {
    return ((n + m - 1) / m) * m;
}
} // namespace details

// Iterators over a view, as in the published libraries.
template <typename T> class array_view_iterator {
  public:
    typedef T value_type;
    typedef int difference_type;
    array_view_iterator(const array_view<T> &view, int position) : m_view(view), m_position(position) {}
    array_view_iterator operator+(int n) const { return array_view_iterator(m_view, m_position + n); }
    int operator-(const array_view_iterator &other) const { return m_position - other.m_position; }
    bool operator==(const array_view_iterator &other) const { return m_position == other.m_position; }
    bool operator!=(const array_view_iterator &other) const { return !(*this == other); }
    const array_view<T> &base_view() const { return m_view; }
    int position() const { return m_position; }

  private:
    array_view<T> m_view;
    int m_position;
};
template <typename T> array_view_iterator<T> begin(const array_view<T> &view) {
    return array_view_iterator<T>(view, 0);
}
template <typename T> array_view_iterator<T> end(const array_view<T> &view) {
    return array_view_iterator<T>(view, view.extent[0]);
}
template <typename T> array_view<T> make_view(const array_view_iterator<T> &first, const array_view_iterator<T> &last) {
    return first.base_view().section(index<1>(first.position()), extent<1>(last - first));
}

//----------------------------------------------------------------------------
// fill, generate, transform
//----------------------------------------------------------------------------
template <typename OutputIndexableView, typename T>
void fill(const accelerator_view &accl_view, OutputIndexableView dest, const T &value) {
    details::check_view_rank<OutputIndexableView>();
    parallel_for_each(
        accl_view, dest.extent, [=](index<1> idx) restrict(amp) { dest[idx] = value; });
}
template <typename T, typename V> void fill(array_view_iterator<T> first, array_view_iterator<T> last, V value) {
    amp_algorithms::fill(details::auto_select_target(), make_view(first, last), T(value));
}
template <typename T, typename Generator>
void generate(array_view_iterator<T> first, array_view_iterator<T> last, const Generator &generator) {
    auto dest = make_view(first, last);
    dest.discard_data();
    parallel_for_each(
        dest.extent, [=](index<1> idx) restrict(amp) { dest[idx] = generator(); });
}
template <typename T> void iota(array_view_iterator<T> first, array_view_iterator<T> last, T value) {
    auto dest = make_view(first, last);
    parallel_for_each(
        dest.extent, [=](index<1> idx) restrict(amp) { dest[idx] = value + static_cast<T>(idx[0]); });
}
template <typename ConstInputIndexableView, typename OutputIndexableView, typename UnaryFunc>
void transform(const accelerator_view &accl_view, ConstInputIndexableView source, OutputIndexableView dest,
               const UnaryFunc &func) {
    static_assert(ConstInputIndexableView::rank == OutputIndexableView::rank, "The ranks differ");
    parallel_for_each(
        accl_view, dest.extent,
        [ source, dest, func ](index<OutputIndexableView::rank> idx) restrict(amp) { dest[idx] = func(source[idx]); });
}
template <typename T, typename U, typename UnaryFunc>
void transform(array_view_iterator<T> first, array_view_iterator<T> last, array_view_iterator<U> out,
               const UnaryFunc &func) {
    auto source = make_view(first, last);
    auto dest = make_view(out, out + (last - first));
    amp_algorithms::transform(details::auto_select_target(), array_view<const T>(source), dest, func);
}

//----------------------------------------------------------------------------
// reduce
//----------------------------------------------------------------------------
namespace details {
template <typename T, int tile_size, typename functor>
void tile_local_reduction(T *const mem, tiled_index<tile_size> tid, const functor &op,
                          int partial_data_length) restrict(amp) {
    // Reduces the data of one tile. The length may be any number.
    int local = tid.local[0];
    if (partial_data_length < tile_size) {
        if (local == 0) {
            for (int i = 1; i < partial_data_length; ++i)
                mem[0] = op(mem[0], mem[i]);
        }
        return;
    }
    for (int stride = 1; stride < tile_size; stride *= 2) {
        tid.barrier.wait_with_tile_static_memory_fence();
        if (local % (2 * stride) == 0 && local + stride < tile_size) mem[local] = op(mem[local], mem[local + stride]);
    }
}
} // namespace details

template <int tile_size, int max_tiles, typename InputIndexableView, typename BinaryFunction>
typename std::remove_const<typename std::decay<decltype(std::declval<InputIndexableView>()[0])>::type>::type
reduce(const accelerator_view &accl_view, const InputIndexableView &input_view, const BinaryFunction &binary_op) {
    typedef typename std::decay<decltype(input_view[0])>::type result_type;
    details::check_view_rank<InputIndexableView>();
    const int element_count = input_view.extent.size();
    int tile_count = (element_count + tile_size - 1) / tile_size;
    tile_count = std::min(max_tiles, tile_count);
    // Staging for the partial results.
    array<result_type> global_buffer(tile_count, accelerator(accelerator::cpu_accelerator).default_view, accl_view);
    array_view<result_type> global_buffer_view(global_buffer);
    const int thread_count = tile_count * tile_size;
    tiled_extent<tile_size> tiled_domain = extent<1>(thread_count).tile<tile_size>();
    global_buffer_view.discard_data();
    parallel_for_each(
        accl_view, tiled_domain, [=](tiled_index<tile_size> tid) restrict(amp) {
            tile_static result_type local_buffer[tile_size];
            int idx = tid.global[0];
            // The last tile may be short
            int tile_elements = element_count - tid.tile[0] * tile_size;
            tile_elements = tile_elements > tile_size ? tile_size : tile_elements;
            if (idx < element_count) {
                result_type smem = input_view[index<1>(idx)];
                idx += thread_count;
                while (idx < element_count) {
                    smem = binary_op(smem, input_view[index<1>(idx)]);
                    idx += thread_count;
                }
                local_buffer[tid.local[0]] = smem;
            }
            tid.barrier.wait_with_tile_static_memory_fence();
            details::tile_local_reduction(local_buffer, tid, binary_op, tile_elements);
            if (tid.local[0] == 0) global_buffer_view[tid.tile] = local_buffer[0];
        });
    global_buffer_view.synchronize();
    result_type retVal = global_buffer[0];
    for (int i = 1; i < tile_count; ++i)
        retVal = binary_op(retVal, global_buffer[i]);
    return retVal;
}
template <typename InputIndexableView, typename BinaryFunction>
auto reduce(const InputIndexableView &input_view, const BinaryFunction &op) ->
    typename std::decay<decltype(input_view[0])>::type {
    return reduce<128, 64>(details::auto_select_target(), input_view, op);
}

//----------------------------------------------------------------------------
// scan
//----------------------------------------------------------------------------
enum class scan_mode : int { exclusive = 0, inclusive = 1 };

namespace details {
template <int TileSize, scan_mode mode, typename BinaryOp, typename T>
inline T scan_tile(T *const tile_data, tiled_index<TileSize> tidx, const BinaryOp &op) restrict(amp) {
    const int lidx = tidx.local[0];
    for (int offset = 1; offset < TileSize; offset *= 2) {
        T value = tile_data[lidx];
        if (lidx >= offset) value = op(tile_data[lidx - offset], value);
        tidx.barrier.wait_with_tile_static_memory_fence();
        tile_data[lidx] = value;
        tidx.barrier.wait_with_tile_static_memory_fence();
    }
    const T total = tile_data[TileSize - 1];
    tidx.barrier.wait_with_tile_static_memory_fence();
    if (mode == scan_mode::exclusive) {
        const T before = lidx == 0 ? T() : tile_data[lidx - 1];
        tidx.barrier.wait_with_tile_static_memory_fence();
        tile_data[lidx] = before;
    }
    return total;
}
} // namespace details

template <int TileSize, scan_mode mode, typename T, typename BinaryOp>
void scan(const accelerator_view &accl_view, const array_view<const T> &input, const array_view<T> &output,
          const BinaryOp &op) {
    const int count = input.extent[0];
    const int tiles = (count + TileSize - 1) / TileSize;
    array<T> tile_results(tiles, accl_view);
    array_view<T> tile_results_vw(tile_results);
    parallel_for_each(
        accl_view, extent<1>(count).tile<TileSize>().pad(), [=](tiled_index<TileSize> tidx) restrict(amp) {
            tile_static T tile_data[TileSize];
            const int gidx = tidx.global[0], lidx = tidx.local[0];
            tile_data[lidx] = gidx < count ? input[gidx] : T();
            tidx.barrier.wait();
            const T total = details::scan_tile<TileSize, mode>(tile_data, tidx, op);
            if (lidx == TileSize - 1) tile_results_vw[tidx.tile] = total;
            if (gidx < count) output[gidx] = tile_data[lidx];
        });
    if (tiles == 1) return;
    array<T> offsets(tiles, accl_view);
    array_view<T> offsets_vw(offsets);
    scan<TileSize, scan_mode::exclusive, T>(accl_view, tile_results_vw, offsets_vw, op);
    parallel_for_each(
        accl_view, extent<1>(count).tile<TileSize>().pad(), [=](tiled_index<TileSize> tidx) restrict(amp) {
            const int gidx = tidx.global[0];
            if (gidx < count && tidx.tile[0] > 0) output[gidx] = op(offsets_vw[tidx.tile], output[gidx]);
        });
}

//----------------------------------------------------------------------------
// copy_if, by a scan of flags
//----------------------------------------------------------------------------
template <typename T, typename Predicate>
array_view_iterator<T> copy_if(array_view_iterator<T> first, array_view_iterator<T> last, array_view_iterator<T> out,
                               const Predicate &pred) {
    const int count = last - first;
    if (count <= 0) return out;
    accelerator_view target = accelerator().default_view;
    array<int> flags(count, target), positions(count, target);
    array_view<int> flags_vw(flags), positions_vw(positions);
    array_view<const T> source = make_view(first, last);
    array_view<T> dest = make_view(out, end(out.base_view()));
    parallel_for_each(
        target, flags_vw.extent, [=](index<1> idx) restrict(amp) { flags_vw[idx] = pred(source[idx]) ? 1 : 0; });
    scan<64, scan_mode::inclusive, int>(target, flags_vw, positions_vw, amp_algorithms::plus<int>());
    parallel_for_each(
        target, flags_vw.extent, [=](index<1> idx) restrict(amp) {
            if (flags_vw[idx]) dest[positions_vw[idx] - 1] = source[idx];
        });
    return out + positions_vw[count - 1];
}

} // namespace amp_algorithms
