// Post 000, statements without a sample: an array, texture or writeonly_texture_view belongs to one accelerator_view. A
// launch that captures such objects runs there. It fails if they belong to different accelerator_views.
#include "report.hpp"

#include <amp_graphics.h>

#include <numeric>

using namespace concurrency;
using namespace concurrency::graphics;

namespace {

const int count = 1000;

template <class Launch> bool is_refused(const Launch &launch) {
    try {
        launch();
        return false;
    } catch (const runtime_exception &) {
        return true;
    }
}

} // namespace

int main() {
    const std::uint64_t size = count * sizeof(int);
    const posts::named_view second = posts::second_view();
    const accelerator_view default_target = posts::default_named_view().view;
    posts::report report("Post 000: objects that belong to an accelerator_view", {second});

    const bool is_warp = default_target.accelerator.device_path == accelerator::direct3d_warp;
    const accelerator other_accelerator(is_warp ? accelerator::direct3d_ref : accelerator::direct3d_warp);

    std::vector<int> numbers(count), results(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    array<int> an_array(count, numbers.begin(), second.view), on_default_view(count, numbers.begin(), default_target),
        on_other_accelerator(count, numbers.begin(), other_accelerator.default_view);
    texture<int, 1> a_texture(count, numbers.begin(), numbers.end(), second.view), written_texture(count, second.view);
    const writeonly_texture_view<int, 1> writer(written_texture);
    const array_view<int> result(results);

    report.at_most("Arrays and textures are constructed from iterators", {4 * size, 0});
    result.discard_data();
    parallel_for_each(
        result.extent, [ =, &an_array ](index<1> i) restrict(amp) { result[i] = an_array[i]; });
    report.launch("A launch captures an array", second, posts::no_bytes, result);
    result.discard_data();
    parallel_for_each(
        result.extent, [ =, &a_texture ](index<1> i) restrict(amp) { result[i] = 2 * a_texture[i]; });
    report.launch("A launch captures a texture", second, posts::no_bytes, result);
    result.discard_data();
    parallel_for_each(
        result.extent, [=](index<1> i) restrict(amp) {
            writer.set(i, i[0] + 1);
            result[i] = 3;
        });
    report.launch("A launch captures a writeonly_texture_view", second, posts::no_bytes, result);
    result.discard_data();
    parallel_for_each(
        result.extent, [ =, &an_array, &a_texture ](index<1> i) restrict(amp) {
            writer.set(i, an_array[i] + a_texture[i]);
            result[i] = an_array[i] + a_texture[i];
        });
    report.launch("A launch captures all three", second, posts::no_bytes, result);

    result.discard_data();
    parallel_for_each(
        second.view, result.extent, [ =, &an_array, &a_texture ](index<1> i) restrict(amp) {
            writer.set(i, an_array[i] + a_texture[i]);
            result[i] = an_array[i] + a_texture[i];
        });
    report.launch("A launch that names their accelerator_view captures them", second, posts::no_bytes, result);
    report.check("they stay where they are", an_array.accelerator_view == second.view &&
                                                 a_texture.accelerator_view == second.view &&
                                                 writer.accelerator_view == second.view);

    const array_view<int> unchanged(numbers);
    report.check("an array of another accelerator_view than the target is refused", is_refused([&] {
                     parallel_for_each(
                         default_target, unchanged.extent,
                         [ =, &an_array ](index<1> i) restrict(amp) { unchanged[i] = an_array[i]; });
                 }));
    report.check("so is an array of another accelerator", is_refused([&] {
                     parallel_for_each(
                         default_target, unchanged.extent, [ =, &on_other_accelerator ](index<1> i) restrict(amp) {
                             unchanged[i] = on_other_accelerator[i];
                         });
                 }));
    report.check("so is a texture", is_refused([&] {
                     parallel_for_each(
                         default_target, unchanged.extent,
                         [ =, &a_texture ](index<1> i) restrict(amp) { unchanged[i] = a_texture[i]; });
                 }));
    report.check("so is a writeonly_texture_view", is_refused([&] {
                     parallel_for_each(
                         default_target,
                         unchanged.extent, [=](index<1> i) restrict(amp) { writer.set(i, unchanged[i]); });
                 }));
    report.check("two arrays of different accelerator_views are refused", is_refused([&] {
                     parallel_for_each(
                         unchanged.extent, [&an_array, &on_default_view ](index<1> i) restrict(amp) {
                             an_array[i] = on_default_view[i];
                         });
                 }));
    report.check("so are an array and a texture", is_refused([&] {
                     parallel_for_each(
                         unchanged.extent, [&a_texture, &on_default_view ](index<1> i) restrict(amp) {
                             on_default_view[i] = a_texture[i];
                         });
                 }));
    report.check("so are an array and a writeonly_texture_view", is_refused([&] {
                     parallel_for_each(
                         unchanged.extent,
                         [ =, &on_default_view ](index<1> i) restrict(amp) { writer.set(i, on_default_view[i]); });
                 }));
    report.step("What is refused moves nothing", posts::no_bytes);

    std::vector<int> written(count);
    copy(written_texture, written.begin());
    report.check("the numbers are right", result[7] == 14 && written[7] == 14);
    return report.result();
}
