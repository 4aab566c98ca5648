// Post 000, first sample: a launch without a target runs where its data is. Temperatures are converted on a second
// accelerator_view; the launch that uses the result names no target.
#include "report.hpp"

#include <cmath>

using namespace concurrency;

int main() {
    const int count = 1000;
    const posts::bytes one_vector = {count * sizeof(float), 0};
    std::vector<float> celsius_data(count, 20.0f), kelvin_data(count), distance_data(count);
    const posts::place second = posts::second_view();
    posts::report report("Post 000, sample 1: a launch without a target runs where its data is", {second});

    const array_view<const float> celsius(celsius_data);
    const array_view<float> kelvin(kelvin_data);
    parallel_for_each(
        second.view,
        kelvin.extent, [=](index<1> i) restrict(amp) { kelvin[i] = celsius[i] + 273.15f; }); // advice: 4000
    // The result was not discarded before, so its old contents go there too.
    report.launch("A launch that names the second accelerator_view reads a view and writes another", second,
                  {2 * one_vector.in, 0}, kelvin);

    const array_view<float> distance(distance_data);
    distance.discard_data();
    parallel_for_each(
        distance.extent, [=](index<1> i) restrict(amp) { distance[i] = kelvin[i] - 300.0f; });
    report.launch("A launch without a target reads the result and writes a discarded view", second, posts::nothing,
                  distance);

    // Decided otherwise here: accelerator_views of one accelerator share its copy.
    parallel_for_each(
        posts::default_view().view, kelvin.extent, [=](index<1> i) restrict(amp) { kelvin[i] += 1.0f; });
    report.launch("A launch that names the default accelerator_view changes the first result", posts::default_view(),
                  {one_vector.in, one_vector.in}, posts::nothing, kelvin);

    distance.synchronize();
    report.step("The program synchronizes the second result", {0, one_vector.in});
    report.check("the numbers are right",
                 std::abs(distance_data[7] + 6.85f) < 1e-3f && std::abs(kelvin[7] - 294.15f) < 1e-3f);
    return report.result();
}
