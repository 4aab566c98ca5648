// Overloads on restriction: functions of a small vector library differ between device and host. Also uses templates,
// inheritance and functors.
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

using namespace concurrency;

#define AMP_ONLY restrict(amp)
#define EVERYWHERE restrict(cpu, amp)

namespace vectors {

template <typename T> struct vec3 {
    T x, y, z;
    vec3() EVERYWHERE : x(), y(), z() {}
    vec3(T a, T b, T c) EVERYWHERE : x(a), y(b), z(c) {}
    __declspec(property(get = GetLengthSquared)) T length_squared;
    T GetLengthSquared() const EVERYWHERE { return x * x + y * y + z * z; }
};
template <typename T> vec3<T> operator+(const vec3<T> &a, const vec3<T> &b) EVERYWHERE {
    return vec3<T>(a.x + b.x, a.y + b.y, a.z + b.z);
}
template <typename T> vec3<T> operator*(const vec3<T> &a, T s) EVERYWHERE {
    return vec3<T>(a.x * s, a.y * s, a.z * s);
}
template <typename T> std::ostream &operator<<(std::ostream &out, const vec3<T> &v) {
    return out << v.x << " " << v.y << " " << v.z;
}

// The reciprocal square root: fast on the device, exact on the host. The added 100 shows which overload ran.
inline float inverse_length(const vec3<float> &v) restrict(amp) {
    return fast_math::rsqrt(v.length_squared);
}
inline float inverse_length(const vec3<float> &v) restrict(cpu) {
    return 1.0f / std::sqrt(v.length_squared) + 100.0f;
}
template <typename T> vec3<T> normalized(const vec3<T> &v) EVERYWHERE {
    return v * inverse_length(v);
}

} // namespace vectors

typedef vectors::vec3<float> float3v;

// Counts on the host how often each algorithm is called.
class counter {
    std::shared_ptr<std::map<std::string, int>> m_calls;
    std::unique_ptr<std::mutex> m_mutex;

  public:
    counter() : m_calls(std::make_shared<std::map<std::string, int>>()), m_mutex(new std::mutex) {}
    counter(counter &&) = default;
    counter(const counter &) = delete;
    void call(const char *name) {
        std::lock_guard<std::mutex> lock(*m_mutex);
        ++(*m_calls)[name];
    }
    int calls(const char *name) const { return (*m_calls)[name]; }
};

struct plus_base {
    int bias;
    int value(int a) const { return a - 1000; }
};
struct plus_amp : plus_base {
    using plus_base::value;
    float value(float a) const AMP_ONLY { return a + bias; }
    int operator()(int a, int b) const AMP_ONLY { return a + b; }
    int operator()(int a, int b) const restrict(cpu) { return a + b; }
};

template <int tile_size, typename T, typename Op> class reducer {
    Op m_op;
    counter &m_counter;

  public:
    reducer(Op op, counter &c) : m_op(op), m_counter(c) {}
    reducer &operator=(const reducer &) = delete;

    T operator()(const array_view<const T> &data) const {
        m_counter.call(__FUNCTION__);
        const int tiles = (data.extent.size() + tile_size - 1) / tile_size;
        std::vector<T> partial(tiles);
        array_view<T> av_partial(tiles, partial);
        av_partial.discard_data();
        const Op op = m_op;
        parallel_for_each(
            data.extent.tile<tile_size>().pad(), [=](tiled_index<tile_size> tidx) restrict(amp) {
                struct local_sum {
                    T value;
                    explicit local_sum(T v) : value(v) {}
                    void add(T v, const Op &with) { value = with(value, v); }
                };
                tile_static T shared[tile_size];
                shared[tidx.local[0]] = data.extent.contains(tidx.global) ? data[tidx.global] : T();
                tidx.barrier.wait_with_tile_static_memory_fence();
                if (tidx.local[0] == 0) {
                    local_sum sum(shared[0]);
                    for (int i = 1; i < tile_size; ++i)
                        sum.add(shared[i], op);
                    av_partial[tidx.tile] = sum.value;
                }
            });
        av_partial.synchronize();
        T result = T();
        for (size_t i = 0; i < partial.size(); ++i)
            result = m_op(result, partial[i]);
        return result;
    }
};

template <typename T> T clamp_to(T v, T low, T high) EVERYWHERE {
    return v < low ? low : (v > high ? high : v);
}
template int clamp_to<int>(int, int, int) EVERYWHERE;

int triple(int v) AMP_ONLY {
    return clamp_to(v * 3, 0, 60);
}
template <int (*Function)(int)> struct mapper {
    array_view<int> m_data;
    mapper(const array_view<int> &data) : m_data(data) {}
    void operator()(index<1> idx) const AMP_ONLY { m_data[idx] = Function(m_data[idx]); }
};

int main() {
    bool passed = true;
    counter calls;
    counter moved(std::move(calls));

    std::vector<int> data(1000);
    for (size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<int>(i);
    plus_amp op;
    op.bias = 5;
    reducer<64, int, plus_amp> sum(op, moved);
    const int total = sum(array_view<const int>(1000, data));
    std::cout << "sum " << total << std::endl;
    passed = passed && total == 499500 && moved.calls("operator()") == 1;

    std::vector<float3v> points(128, float3v(0, 3, 4));
    std::vector<float> values(128);
    array_view<float3v> av_points(128, points);
    array_view<float> av_values(128, values);
    parallel_for_each(
        av_points.extent, [=](index<1> idx) restrict(amp) {
            av_points[idx] = vectors::normalized(av_points[idx]) + float3v(1, 0, 0);
            av_values[idx] = op.value(idx[0]);
        });
    av_points.synchronize();
    av_values.synchronize();
    std::cout << "normalized " << points[7] << ", here " << vectors::normalized(float3v(0, 3, 4)) << std::endl;
    passed = passed && std::fabs(points[7].y - 0.6f) < 0.001f && values[7] == 12 && op.value(7) == -993 &&
             vectors::normalized(float3v(0, 3, 4)).y > 100;

    array_view<int> av_data(1000, data);
    parallel_for_each(av_data.extent, mapper<triple>(av_data));
    auto element_future = std::async(std::launch::async, [=]() mutable { return av_data[30]; });
    const int thirtieth = element_future.get();
    passed = passed && thirtieth == 60 && av_data[3] == 9;

    char text[16];
    memset(text, 0, sizeof(text));
    strcpy(text, passed ? "PASSED" : "FAILED");
    std::cout << text << std::endl;
    return passed ? 0 : 1;
}
