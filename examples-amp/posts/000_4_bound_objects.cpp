// Post 000, what its text says without a sample: arrays, textures and writeonly_texture_views belong to one
// accelerator_view. Captured, they choose the target, and it is an error if they disagree.
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
    const posts::place second = posts::second_view();
    const accelerator_view normal = posts::default_view().view;
    posts::report report("Post 000: objects that belong to an accelerator_view", {second});

    const bool is_warp = normal.accelerator.device_path == accelerator::direct3d_warp;
    const accelerator other(is_warp ? accelerator::direct3d_ref : accelerator::direct3d_warp);

    std::vector<int> numbers(count), results(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    array<int> an_array(count, numbers.begin(), second.view), elsewhere(count, numbers.begin(), normal),
        far_away(count, numbers.begin(), other.default_view);
    texture<int, 1> a_texture(count, numbers.begin(), numbers.end(), second.view), to_write(count, second.view);
    const writeonly_texture_view<int, 1> writer(to_write);
    const array_view<int> result(results);

    report.at_most("Arrays and textures are constructed from iterators", {4 * size, 0});
    result.discard_data();
    parallel_for_each(
        result.extent, [ =, &an_array ](index<1> i) restrict(amp) { result[i] = an_array[i]; });
    report.launch("A launch captures an array", second, posts::nothing, result);
    result.discard_data();
    parallel_for_each(
        result.extent, [ =, &a_texture ](index<1> i) restrict(amp) { result[i] = 2 * a_texture[i]; });
    report.launch("A launch captures a texture", second, posts::nothing, result);
    result.discard_data();
    parallel_for_each(
        result.extent, [=](index<1> i) restrict(amp) {
            writer.set(i, i[0] + 1);
            result[i] = 3;
        });
    report.launch("A launch captures a writeonly_texture_view", second, posts::nothing, result);
    result.discard_data();
    parallel_for_each(
        result.extent, [ =, &an_array, &a_texture ](index<1> i) restrict(amp) {
            writer.set(i, an_array[i] + a_texture[i]);
            result[i] = an_array[i] + a_texture[i];
        });
    report.launch("A launch captures all three", second, posts::nothing, result);

    result.discard_data();
    parallel_for_each(
        second.view, result.extent, [ =, &an_array, &a_texture ](index<1> i) restrict(amp) {
            writer.set(i, an_array[i] + a_texture[i]);
            result[i] = an_array[i] + a_texture[i];
        });
    report.launch("A launch that names their accelerator_view captures them", second, posts::nothing, result);
    report.check("they stay where they are", an_array.accelerator_view == second.view &&
                                                 a_texture.accelerator_view == second.view &&
                                                 writer.accelerator_view == second.view);

    const array_view<int> left_alone(numbers);
    report.check("an array of another accelerator_view than the target is refused", is_refused([&] {
                     parallel_for_each(
                         normal, left_alone.extent,
                         [ =, &an_array ](index<1> i) restrict(amp) { left_alone[i] = an_array[i]; });
                 }));
    report.check("so is an array of another accelerator", is_refused([&] {
                     parallel_for_each(
                         normal, left_alone.extent,
                         [ =, &far_away ](index<1> i) restrict(amp) { left_alone[i] = far_away[i]; });
                 }));
    report.check("so is a texture", is_refused([&] {
                     parallel_for_each(
                         normal, left_alone.extent,
                         [ =, &a_texture ](index<1> i) restrict(amp) { left_alone[i] = a_texture[i]; });
                 }));
    report.check("so is a writeonly_texture_view", is_refused([&] {
                     parallel_for_each(
                         normal, left_alone.extent, [=](index<1> i) restrict(amp) { writer.set(i, left_alone[i]); });
                 }));
    report.check("two arrays of different accelerator_views are refused", is_refused([&] {
                     parallel_for_each(
                         left_alone.extent,
                         [&an_array, &elsewhere ](index<1> i) restrict(amp) { an_array[i] = elsewhere[i]; });
                 }));
    report.check("so are an array and a texture", is_refused([&] {
                     parallel_for_each(
                         left_alone.extent,
                         [&a_texture, &elsewhere ](index<1> i) restrict(amp) { elsewhere[i] = a_texture[i]; });
                 }));
    report.check("so are an array and a writeonly_texture_view", is_refused([&] {
                     parallel_for_each(
                         left_alone.extent,
                         [ =, &elsewhere ](index<1> i) restrict(amp) { writer.set(i, elsewhere[i]); });
                 }));
    report.step("What is refused moves nothing", posts::nothing);

    std::vector<int> written(count);
    copy(to_write, written.begin());
    report.check("the numbers are right", result[7] == 14 && written[7] == 14);
    return report.result();
}
