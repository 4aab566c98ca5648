// Tests of all forms of copy and copy_async, exceptions for wrong arguments, properties of accelerators and containers.
#include "conformance.h"
#include <deque>
#include <list>
#include <numeric>
#include <string>

static std::vector<int> ascending(int n) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 0);
    return v;
}
static bool equals(const array<int, 2> &a, const std::vector<int> &expected) {
    return std::vector<int>(a) == expected;
}

struct copies_to_arrays {
    static int run() {
        const std::vector<int> v = ascending(12);
        const std::list<int> list(v.begin(), v.end());
        std::vector<int> source(v);
        array<int, 2> from(3, 4, v.begin());
        const array<int, 2> constant(from);
        array_view<int, 2> view(3, 4, source);
        array_view<const int, 2> const_view(3, 4, source);
        array<int, 2> to(3, 4), zero(3, 4, std::vector<int>(12).begin());
        copy(from, to);
        REQUIRE(equals(to, v));
        copy(zero, to);
        copy(constant, to);
        REQUIRE(equals(to, v));
        copy(zero, to);
        copy(view, to);
        REQUIRE(equals(to, v));
        copy(zero, to);
        copy(const_view, to);
        REQUIRE(equals(to, v));
        copy(zero, to);
        copy(list.begin(), list.end(), to);
        REQUIRE(equals(to, v));
        copy(zero, to);
        copy(list.begin(), to);
        REQUIRE(equals(to, v));
        copy(zero, to);
        copy(v.data(), v.data() + 12, to);
        REQUIRE(equals(to, v));
        return 0;
    }
};
struct copies_to_views {
    static int run() {
        const std::vector<int> v = ascending(12), nothing(12);
        std::vector<int> target(12);
        array<int, 2> from(3, 4, v.begin());
        array_view<int, 2> to(3, 4, target);
        const array_view<int, 2> const_handle(to);
        auto check_and_clear = [&]() {
            to.synchronize();
            const bool there = target == v;
            copy(nothing.begin(), nothing.end(), to);
            return there;
        };
        copy(from, to);
        REQUIRE(check_and_clear());
        copy(from, const_handle);
        REQUIRE(check_and_clear());
        copy(array_view<const int, 2>(from), to);
        REQUIRE(check_and_clear());
        copy(array_view<int, 2>(from), to.section(0, 0, 3, 4));
        REQUIRE(check_and_clear());
        const std::deque<int> deque(v.begin(), v.end());
        copy(deque.begin(), deque.end(), to);
        REQUIRE(check_and_clear());
        copy(deque.begin(), to);
        REQUIRE(check_and_clear());
        return 0;
    }
};
struct copies_to_iterators {
    static int run() {
        const std::vector<int> v = ascending(12);
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
        const std::vector<int> v = ascending(12);
        std::vector<int> source(v), target(12), out(12);
        array<int, 2> from(3, 4, v.begin()), to(3, 4);
        array_view<int, 2> view(3, 4, source), target_view(3, 4, target);
        array_view<const int, 2> const_view(view);
        const std::vector<int> zeros(12);
        // Waits for a copy to the array or the view, and clears the destination for the next copy.
        const auto fills_array = [&](completion_future done) {
            done.get();
            const bool is_right = equals(to, v);
            copy(zeros.begin(), to);
            return is_right;
        };
        const auto fills_view = [&](completion_future done) {
            done.wait();
            std::vector<int> found(12);
            copy(target_view, found.begin());
            copy(zeros.begin(), target_view);
            return found == v;
        };
        REQUIRE(fills_array(copy_async(from, to)) && fills_array(copy_async(view, to)));
        REQUIRE(fills_array(copy_async(const_view, to)) && fills_array(copy_async(v.begin(), v.end(), to)));
        REQUIRE(fills_array(copy_async(v.begin(), to)));
        REQUIRE(fills_view(copy_async(from, target_view)) && fills_view(copy_async(v.begin(), v.end(), target_view)));
        REQUIRE(fills_view(copy_async(v.begin(), target_view)) && fills_view(copy_async(view, target_view)));
        REQUIRE(fills_view(copy_async(const_view, target_view.section(index<2>(), extent<2>(3, 4)))));
        copy_async(from, out.begin()).get();
        REQUIRE(out == v);
        std::vector<int> from_view(12), from_const_view(12);
        completion_future f = copy_async(view, from_view.begin()), g = copy_async(const_view, from_const_view.begin());
        f.wait();
        g.get();
        REQUIRE(from_view == v && from_const_view == v);
        std::shared_future<void> shared = copy_async(from, to);
        shared.wait();
        REQUIRE(equals(to, v));
        return 0;
    }
};
struct copies_of_strided_parts {
    static int run() {
        std::vector<int> data = ascending(24), other(24);
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
        const std::vector<int> v = ascending(6);
        array<int, 2> a(2, 3, v.begin()), b(2, 3);
        b = a;
        array<int, 2> c(b), d(array_view<const int, 2>(2, 3, v)), e(array_view<int, 2>(a).section(index<2>(0, 0)));
        d = array_view<const int, 2>(c);
        a.copy_to(e);
        a.copy_to(array_view<int, 2>(c));
        std::vector<int> w = b;
        w = c;
        REQUIRE(w == v && equals(d, v) && equals(e, v));
        return 0;
    }
};

// Returns 0 if the action throws an Exception with a message, 1 if it does not throw, 2 if the message is empty.
template <typename Exception, typename Action> int check_throws(Action action) {
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
        REQUIRE(check_throws<runtime_exception>([&]() { copy(five, six); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { copy(five, view); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { copy(view, five); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { copy(v.begin(), v.end(), five); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { copy(v.begin(), v.begin() + 5, view); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { five.copy_to(six); }) == 0 &&
                check_throws<runtime_exception>([&]() { view.copy_to(five); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { copy_async(five, six).get(); }) == 0);
        return 0;
    }
};
struct parts_outside_of_views {
    static int run() {
        std::vector<int> v(12);
        array_view<int> view(v);
        array_view<int, 2> m(3, 4, v);
        array<int, 2> a(3, 4);
        REQUIRE(check_throws<runtime_exception>([&]() { view.section(10, 3); }) == 0 &&
                check_throws<runtime_exception>([&]() { view.section(-1, 3); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { m.section(0, 0, 4, 1); }) == 0 &&
                check_throws<runtime_exception>([&]() { m.section(index<2>(3, 4)); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { a.section(index<2>(1, 1), extent<2>(3, 1)); }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { m[3]; }) == 0 &&
                check_throws<runtime_exception>([&]() { m[-1]; }) == 0);
        REQUIRE(check_throws<runtime_exception>([&]() { view.view_as(extent<2>(4, 4)); }) == 0);
        return 0;
    }
};
struct reinterpretation_with_a_remainder {
    struct three {
        int v[3];
    };
    static int run() {
        std::vector<int> v(10);
        array_view<int> view(v);
        array<int> a(10);
        REQUIRE(check_throws<runtime_exception>([&]() { view.reinterpret_as<three>(); }) == 0);
        REQUIRE(a.reinterpret_as<double>().extent[0] == 5);
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
struct invalid_domains {
    static int run() {
        REQUIRE(check_throws<invalid_compute_domain>(
                    []() { parallel_for_each(extent<1>(0), [=](index<1>) restrict(amp){}); }) == 0);
        REQUIRE(check_throws<invalid_compute_domain>(
                    []() { parallel_for_each(extent<2>(4, -1), [=](index<2>) restrict(amp){}); }) == 0);
        REQUIRE(check_throws<invalid_compute_domain>(
                    []() { parallel_for_each(extent<3>(65536, 65536, 2), [=](index<3>) restrict(amp){}); }) == 0);
        REQUIRE(check_throws<invalid_compute_domain>([]() {
                    parallel_for_each(extent<2>(8, 9).tile<4, 4>(), [=](tiled_index<4, 4>) restrict(amp){});
                }) == 0);
        REQUIRE(check_throws<runtime_exception>([]() { array<int, 2> a(4, 0); }) == 0 &&
                check_throws<runtime_exception>([]() { array<int> a(-4); }) == 0);
        return 0;
    }
};
struct error_code_of_kernels_on_the_cpu {
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
    const conformance::feature features[] = {CALLED_ON_HOST(copies_to_arrays),
                                             CALLED_ON_HOST(copies_to_views),
                                             CALLED_ON_HOST(copies_to_iterators),
                                             CALLED_ON_HOST(asynchronous_copies),
                                             CALLED_ON_HOST(copies_of_strided_parts),
                                             CALLED_ON_HOST(assignment_of_arrays),
                                             CALLED_ON_HOST(extents_that_differ),
                                             CALLED_ON_HOST(parts_outside_of_views),
                                             CALLED_ON_HOST(reinterpretation_with_a_remainder),
                                             CALLED_ON_HOST(classes_of_exceptions),
                                             CALLED_ON_HOST(invalid_domains),
                                             CALLED_ON_HOST(error_code_of_kernels_on_the_cpu),
                                             CALLED_ON_HOST(properties_of_accelerators),
                                             CALLED_ON_HOST(properties_of_containers),
                                             CALLED_ON_HOST(views_are_refreshed_and_discarded)};
    return conformance::main(features);
}
