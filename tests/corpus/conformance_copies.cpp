// copy and copy_async in all their forms, what is wrong about arguments and which exception says so, properties as
// Visual C++ has them.
#include "conformance.h"
#include <deque>
#include <list>
#include <numeric>
#include <string>

static std::vector<int> counted(int n) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 0);
    return v;
}
static bool holds(const array<int, 2> &a, const std::vector<int> &expected) {
    return std::vector<int>(a) == expected;
}

struct copies_to_arrays {
    static int run() {
        const std::vector<int> v = counted(12);
        const std::list<int> list(v.begin(), v.end());
        std::vector<int> source(v);
        array<int, 2> from(3, 4, v.begin());
        const array<int, 2> constant(from);
        array_view<int, 2> view(3, 4, source);
        array_view<const int, 2> const_view(3, 4, source);
        array<int, 2> to(3, 4), zero(3, 4, std::vector<int>(12).begin());
        copy(from, to);
        REQUIRE(holds(to, v));
        copy(zero, to);
        copy(constant, to);
        REQUIRE(holds(to, v));
        copy(zero, to);
        copy(view, to);
        REQUIRE(holds(to, v));
        copy(zero, to);
        copy(const_view, to);
        REQUIRE(holds(to, v));
        copy(zero, to);
        copy(list.begin(), list.end(), to);
        REQUIRE(holds(to, v));
        copy(zero, to);
        copy(list.begin(), to);
        REQUIRE(holds(to, v));
        copy(zero, to);
        copy(v.data(), v.data() + 12, to);
        REQUIRE(holds(to, v));
        return 0;
    }
};
struct copies_to_views {
    static int run() {
        const std::vector<int> v = counted(12), nothing(12);
        std::vector<int> target(12);
        array<int, 2> from(3, 4, v.begin());
        array_view<int, 2> to(3, 4, target);
        const array_view<int, 2> const_handle(to);
        auto is_there = [&]() {
            to.synchronize();
            const bool there = target == v;
            copy(nothing.begin(), nothing.end(), to);
            return there;
        };
        copy(from, to);
        REQUIRE(is_there());
        copy(from, const_handle);
        REQUIRE(is_there());
        copy(array_view<const int, 2>(from), to);
        REQUIRE(is_there());
        copy(array_view<int, 2>(from), to.section(0, 0, 3, 4));
        REQUIRE(is_there());
        const std::deque<int> deque(v.begin(), v.end());
        copy(deque.begin(), deque.end(), to);
        REQUIRE(is_there());
        copy(deque.begin(), to);
        REQUIRE(is_there());
        return 0;
    }
};
struct copies_to_iterators {
    static int run() {
        const std::vector<int> v = counted(12);
        std::vector<int> source(v);
        array<int, 2> from(3, 4, v.begin());
        array_view<int, 2> view(3, 4, source);
        std::vector<int> a(12), b;
        copy(from, a.begin());
        copy(view, std::back_inserter(b));
        REQUIRE(a == v && b == v);
        std::list<int> c(12);
        copy(array_view<const int, 2>(view), c.begin());
        int d[12];
        copy(from, d);
        REQUIRE(std::equal(c.begin(), c.end(), v.begin()) && std::equal(d, d + 12, v.begin()));
        copy(view.section(1, 1, 2, 2), d);
        REQUIRE(d[0] == 5 && d[1] == 6 && d[2] == 9 && d[3] == 10);
        return 0;
    }
};
struct asynchronous_copies {
    static int run() {
        const std::vector<int> v = counted(12);
        std::vector<int> source(v), target(12), out(12);
        array<int, 2> from(3, 4, v.begin()), to(3, 4);
        array_view<int, 2> view(3, 4, source), target_view(3, 4, target);
        array_view<const int, 2> const_view(view);
        copy_async(from, to).get();
        REQUIRE(holds(to, v));
        copy_async(view, to).wait();
        copy_async(const_view, to).get();
        copy_async(v.begin(), v.end(), to).get();
        copy_async(v.begin(), to).get();
        REQUIRE(holds(to, v));
        copy_async(to, target_view).get();
        REQUIRE(target_view(2, 3) == 11);
        copy_async(v.begin(), v.end(), target_view).get();
        copy_async(v.begin(), target_view).get();
        copy_async(view, target_view).get();
        copy_async(const_view, target_view.section(index<2>(), extent<2>(3, 4))).get();
        copy_async(to, out.begin()).get();
        REQUIRE(out == v);
        completion_future f = copy_async(target_view, out.begin()), g = copy_async(const_view, out.begin());
        f.wait();
        g.get();
        std::shared_future<void> shared = copy_async(to, from);
        shared.wait();
        REQUIRE(out == v && holds(from, v));
        return 0;
    }
};
struct copies_of_strided_parts {
    static int run() {
        std::vector<int> data = counted(24), other(24);
        array_view<int, 3> from(2, 3, 4, data), to(extent<3>(2, 3, 4), other);
        copy(from.section(0, 1, 1, 2, 2, 2), to.section(0, 0, 2, 2, 2, 2));
        REQUIRE(to(0, 0, 2) == 5 && to(0, 1, 3) == 10 && to(1, 0, 2) == 17 && to(1, 1, 3) == 22 && to(1, 2, 3) == 0);
        array<int, 2> plane(3, 4);
        from[1].copy_to(plane);
        array_view<int>(plane[2]).copy_to(to[0][2]);
        REQUIRE(to(0, 2, 3) == 23);
        return 0;
    }
};
struct assignment_of_arrays {
    static int run() {
        const std::vector<int> v = counted(6);
        array<int, 2> a(2, 3, v.begin()), b(2, 3);
        b = a;
        array<int, 2> c(b), d(array_view<const int, 2>(2, 3, v)), e(array_view<int, 2>(a).section(index<2>(0, 0)));
        d = array_view<const int, 2>(c);
        a.copy_to(e);
        a.copy_to(array_view<int, 2>(c));
        std::vector<int> w = b;
        w = c;
        REQUIRE(w == v && holds(d, v) && holds(e, v));
        return 0;
    }
};

// Which exception, and with which code
template <typename Exception, typename Action> int throws(Action action) {
    try {
        action();
    } catch (const Exception &e) {
        return e.what() != nullptr && *e.what() ? 0 : 2;
    }
    return 1;
}
struct extents_that_differ {
    static int run() {
        array<int> five(5), six(6);
        std::vector<int> v(6);
        array_view<int> view(v);
        REQUIRE(throws<runtime_exception>([&]() { copy(five, six); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { copy(five, view); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { copy(view, five); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { copy(v.begin(), v.end(), five); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { copy(v.begin(), v.begin() + 5, view); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { five.copy_to(six); }) == 0 &&
                throws<runtime_exception>([&]() { view.copy_to(five); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { copy_async(five, six).get(); }) == 0);
        return 0;
    }
};
struct parts_outside_of_views {
    static int run() {
        std::vector<int> v(12);
        array_view<int> view(v);
        array_view<int, 2> m(3, 4, v);
        array<int, 2> a(3, 4);
        REQUIRE(throws<runtime_exception>([&]() { view.section(10, 3); }) == 0 &&
                throws<runtime_exception>([&]() { view.section(-1, 3); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { m.section(0, 0, 4, 1); }) == 0 &&
                throws<runtime_exception>([&]() { m.section(index<2>(3, 4)); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { a.section(index<2>(1, 1), extent<2>(3, 1)); }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { m[3]; }) == 0 && throws<runtime_exception>([&]() { m[-1]; }) == 0);
        REQUIRE(throws<runtime_exception>([&]() { view.view_as(extent<2>(4, 4)); }) == 0);
        return 0;
    }
};
struct reinterpretation_that_does_not_divide {
    struct three {
        int v[3];
    };
    static int run() {
        std::vector<int> v(10);
        array_view<int> view(v);
        array<int> a(10);
        REQUIRE(throws<runtime_exception>([&]() { view.reinterpret_as<three>(); }) == 0 &&
                throws<runtime_exception>(
                    [&]() { a.reinterpret_as<double>().extent[0] == 5 ? throw runtime_exception("ok", 0) : 0; }) == 0);
        REQUIRE(view.section(0, 9).reinterpret_as<three>().extent[0] == 3);
        return 0;
    }
};
struct classes_of_exceptions {
    static int run() {
        runtime_exception a("text", E_FAIL), b(E_INVALIDARG);
        invalid_compute_domain c("domain"), d;
        out_of_memory e("memory"), f;
        uninitialized_object g("object"), h;
        unsupported_feature i("feature"), j;
        accelerator_view_removed k("removed", E_FAIL), l(E_FAIL);
        REQUIRE(std::string(a.what()) == "text" && a.get_error_code() == E_FAIL && b.get_error_code() == E_INVALIDARG);
        const runtime_exception *all[] = {&c, &d, &e, &f, &g, &h, &i, &j, &k, &l};
        for (const runtime_exception *one : all)
            REQUIRE(FAILED(one->get_error_code()));
        REQUIRE(e.get_error_code() == E_OUTOFMEMORY && k.get_view_removed_reason() == E_FAIL &&
                std::string(c.what()) == "domain");
        a = b;
        REQUIRE(a.get_error_code() == E_INVALIDARG);
        return 0;
    }
};
struct domains_that_are_wrong {
    static int run() {
        REQUIRE(throws<invalid_compute_domain>(
                    []() { parallel_for_each(extent<1>(0), [=](index<1>) restrict(amp){}); }) == 0);
        REQUIRE(throws<invalid_compute_domain>(
                    []() { parallel_for_each(extent<2>(4, -1), [=](index<2>) restrict(amp){}); }) == 0);
        REQUIRE(throws<invalid_compute_domain>(
                    []() { parallel_for_each(extent<3>(65536, 65536, 2), [=](index<3>) restrict(amp){}); }) == 0);
        REQUIRE(throws<invalid_compute_domain>([]() {
                    parallel_for_each(extent<2>(8, 9).tile<4, 4>(), [=](tiled_index<4, 4>) restrict(amp){});
                }) == 0);
        REQUIRE(throws<runtime_exception>([]() { array<int, 2> a(4, 0); }) == 0 &&
                throws<runtime_exception>([]() { array<int> a(-4); }) == 0);
        return 0;
    }
};
struct code_of_a_kernel_on_the_cpu {
    static int run() {
        try {
            parallel_for_each(accelerator(accelerator::cpu_accelerator).default_view,
                              extent<1>(1), [=](index<1>) restrict(amp){});
        } catch (const runtime_exception &e) {
            return e.get_error_code() == static_cast<HRESULT>(0x80070057) ? 0 : __LINE__;
        }
        return __LINE__;
    }
};

// Properties
struct properties_of_accelerators {
    static int run() {
        for (const accelerator &a : accelerator::get_all()) {
            REQUIRE(a.device_path == a.get_device_path() && a.description == a.get_description() &&
                    a.version == a.get_version() && a.dedicated_memory == a.get_dedicated_memory());
            REQUIRE(a.has_display == a.get_has_display() && a.is_debug == a.get_is_debug() &&
                    a.is_emulated == a.get_is_emulated() && a.default_view == a.get_default_view());
            REQUIRE(a.supports_double_precision == a.get_supports_double_precision() &&
                    a.supports_cpu_shared_memory == a.get_supports_cpu_shared_memory());
            REQUIRE(a.supports_limited_double_precision || !a.supports_double_precision);
            accelerator_view v = a.default_view;
            REQUIRE(v.accelerator == a && v.get_accelerator() == a && v.queuing_mode == queuing_mode_automatic &&
                    v.version == a.version && v.is_debug == a.is_debug && !v.is_auto_selection);
            const accelerator same(a.device_path);
            REQUIRE(same == a && !(same != a));
            std::wstring path = a.device_path + L"/" + a.description;
            REQUIRE(path.length() > 1 && !a.device_path.empty() && a.device_path.c_str()[0] != 0);
        }
        return 0;
    }
};
struct properties_of_containers {
    static int run() {
        accelerator_view av = accelerator().default_view;
        array<float, 2> a(3, 4, av);
        array_view<float, 2> v(a);
        const array<float, 2> &c = a;
        const extent<2> e = a.extent;
        REQUIRE(e == extent<2>(3, 4) && a.extent[1] == 4 && c.extent.size() == 12 && v.extent == a.extent &&
                v.extent[0] * v.extent[1] == 12);
        REQUIRE(a.accelerator_view == av && a.associated_accelerator_view == av && v.source_accelerator_view == av &&
                a.accelerator_view.accelerator == av.accelerator);
        REQUIRE(a.accelerator_view.accelerator.is_emulated == accelerator().is_emulated &&
                a.cpu_access_type == a.get_cpu_access_type());
        auto copied = v.extent;
        copied[0] = 100;
        REQUIRE(v.extent[0] == 3 && (array_view<float, 2>::rank == 2));
        std::vector<float> data(static_cast<size_t>(a.extent.size()));
        array<float, 2> b(a.extent, data.begin(), data.end(), a.accelerator_view);
        REQUIRE(b.extent == a.extent);
        return 0;
    }
};
struct views_are_refreshed_and_discarded {
    static int run() {
        std::vector<int> data(8, 1);
        array_view<int> v(data);
        parallel_for_each(
            v.extent, [=](index<1> i) restrict(amp) { v[i] += i[0]; });
        v.synchronize();
        REQUIRE(data[7] == 8);
        data[7] = 100;
        v.refresh();
        parallel_for_each(
            v.extent, [=](index<1> i) restrict(amp) { v[i] += 1; });
        v.synchronize_async().get();
        REQUIRE(data[7] == 101 && data[0] == 2);
        v.discard_data();
        parallel_for_each(
            v.extent, [=](index<1> i) restrict(amp) { v[i] = i[0]; });
        v.synchronize(access_type_read);
        REQUIRE(data[5] == 5);
        v.synchronize_to(accelerator().default_view);
        v.synchronize_to_async(accelerator().default_view, access_type_read_write).wait();
        REQUIRE(v[6] == 6);
        return 0;
    }
};

int main() {
    const conformance::feature features[] = {
        CPU(copies_to_arrays),           CPU(copies_to_views),          CPU(copies_to_iterators),
        CPU(asynchronous_copies),        CPU(copies_of_strided_parts),  CPU(assignment_of_arrays),
        CPU(extents_that_differ),        CPU(parts_outside_of_views),   CPU(reinterpretation_that_does_not_divide),
        CPU(classes_of_exceptions),      CPU(domains_that_are_wrong),   CPU(code_of_a_kernel_on_the_cpu),
        CPU(properties_of_accelerators), CPU(properties_of_containers), CPU(views_are_refreshed_and_discarded)};
    return conformance::main(features);
}
