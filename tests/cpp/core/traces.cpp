// Tests of <revamp/trace.hpp>: traces, labels, and scopes that must not transfer data.
#include <amp.h>
#include <revamp/trace.hpp>

#include "../check.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace concurrency;

namespace {

void add_one(const array_view<int> &view) {
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp, cpu) { view[i] += 1; });
}

std::string message_of(const revamp::assert_no_transfers &scope) {
    try {
        scope.check();
    } catch (const runtime_exception &error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(a_trace_contains_the_labels) {
    const std::string path = "revamp_cpp_test.pftrace";
    std::vector<int> numbers(64);
    array_view<int> view(64, numbers);
    array<int> kept(64);
    revamp::set_label(view, "the numbers");
    revamp::set_label(kept, "kept");
    revamp::set_label(accelerator().default_view, "the queue");
    revamp::trace_begin(path);
    add_one(view);
    copy(view, kept);
    view.synchronize();
    revamp::trace_end();
    std::ifstream file(path, std::ios::binary);
    const std::string trace((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CHECK(trace.find("the numbers") != std::string::npos);
    CHECK(trace.find("the queue") != std::string::npos);
    CHECK(trace.find("revamp_array_view_synchronize") != std::string::npos);
    std::remove(path.c_str());
    CHECK_THROWS(runtime_exception, revamp::trace_end());
}

TEST(transfers_are_listed_at_the_end_of_a_scope) {
    if (accelerator().supports_cpu_shared_memory) SKIP("in shared memory, no data moves");
    std::vector<int> numbers(64);
    array_view<int> view(64, numbers);
    add_one(view);
    {
        const revamp::assert_no_transfers no_transfers;
        add_one(view);
    }
    std::string message;
    try {
        const revamp::assert_no_transfers no_transfers;
        view.synchronize();
    } catch (const runtime_exception &error) {
        message = error.what();
    }
    CHECK(message.find("256 bytes from") != std::string::npos);
    CHECK(message.find("explicit, by revamp_array_view_synchronize") != std::string::npos);
    // The scope does not replace another exception.
    const auto fail = [&] {
        const revamp::assert_no_transfers no_transfers;
        add_one(view);
        view.synchronize();
        throw std::logic_error("other");
    };
    CHECK_THROWS(std::logic_error, fail());
    const revamp::assert_no_transfers last;
    CHECK(message_of(last).empty());
}

CHECK_MAIN
