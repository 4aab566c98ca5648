// make_running() prepares a case on an accelerator. compare() checks the results of a case.
#include <cmath>
#include <stdexcept>

#include "family.h"

namespace suite {

std::unique_ptr<PreparedCase> prepare_case(const Case &which, const Problem &problem, const std::string &device_path) {
    const accelerator device =
        device_path.empty() ? accelerator() : accelerator(std::wstring(device_path.begin(), device_path.end()));
    return std::make_unique<Arrays>(which, problem, device.get_default_view());
}

namespace {

template <class T> void compare(const Problem &p, size_t buffer, const char *got_bytes, const char *expected_bytes) {
    const size_t count = p.buffers[buffer].bytes.size() / sizeof(T);
    const T *got = reinterpret_cast<const T *>(got_bytes), *expected = reinterpret_cast<const T *>(expected_bytes);
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += std::fabs(static_cast<double>(expected[i])) / static_cast<double>(count);
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < count; i++) {
        const double e = static_cast<double>(expected[i]), g = static_cast<double>(got[i]);
        if (g == e || std::fabs(g - e) <= p.tolerance * (std::fabs(e) + mean)) continue;
        if (wrong++ == 0) first = i;
    }
    if (static_cast<double>(wrong) > p.wrong_share * static_cast<double>(count))
        throw std::runtime_error(std::to_string(wrong) + " of " + std::to_string(count) + " wrong in buffer " +
                                 std::to_string(buffer) + ", first at " + std::to_string(first) + ": " +
                                 std::to_string(got[first]) + ", expected " + std::to_string(expected[first]));
}

} // namespace

void compare(const Problem &got, const Problem &expected) {
    for (size_t i = 0; i < got.buffers.size(); i++) {
        const Buffer &actual = got.buffers[i], &expected_buffer = expected.buffers[i];
        if (!actual.result) continue;
        if (actual.kind == Kind::f32) compare<float>(got, i, actual.bytes.data(), expected_buffer.bytes.data());
        if (actual.kind == Kind::f64) compare<double>(got, i, actual.bytes.data(), expected_buffer.bytes.data());
        if (actual.kind == Kind::i32) compare<int>(got, i, actual.bytes.data(), expected_buffer.bytes.data());
    }
}

} // namespace suite
