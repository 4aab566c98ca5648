// Post 000, first sample: a launch without a target runs where its data is. The first launch names a second
// accelerator_view as its target. The next launch, which reads the result, names no target. A trace of this program
// must give advice of kind KIND about N bytes for each line that ends with the mark `advice: KIND N`
// (scripts/test-examples). A line may have several marks.
// A mark at the closing brace of a block is about copies by the destructors of the block.
#include "report.hpp"

#include <cmath>

using namespace concurrency;

int main() {
    const int count = 1000;
    const posts::bytes one_vector = {count * sizeof(float), 0};
    std::vector<float> celsius_data(count, 20.0f), kelvin_data(count), distance_data(count);
    const posts::named_view second = posts::second_view();
    posts::report report("Post 000, sample 1: a launch without a target runs where its data is", {second});

    const array_view<const float> celsius(celsius_data);
    const array_view<float> kelvin(kelvin_data);
    parallel_for_each(
        second.view, kelvin.extent, [=](index<1> i) restrict(amp) {
            kelvin[i] = celsius[i] + 273.15f; // advice: missing discard 4000
        });
    // `kelvin` was not discarded before, so its old contents move to the second accelerator_view too.
    report.launch("A launch that names the second accelerator_view reads a view and writes another", second,
                  {2 * one_vector.in, 0}, kelvin);

    const array_view<float> distance(distance_data);
    distance.discard_data();
    parallel_for_each(
        distance.extent, [=](index<1> i) restrict(amp) {
            distance[i] = kelvin[i] - 300.0f; // advice: view only read 0
        });
    report.launch("A launch without a target reads the result and writes a discarded view", second, posts::no_bytes,
                  distance);

    // By the post, the next launch moves the vector to the host and then to the default view. In revamp it moves
    // nothing: accelerator_views of one accelerator share one copy of the data.
    parallel_for_each(
        posts::default_named_view().view, kelvin.extent, [=](index<1> i) restrict(amp) { kelvin[i] += 1.0f; });
    report.launch("A launch that names the default accelerator_view changes the first result",
                  posts::default_named_view(), {one_vector.in, one_vector.in}, posts::no_bytes, kelvin);

    distance.synchronize();
    report.step("The program synchronizes the second result", {0, one_vector.in});
    report.check("the numbers are right",
                 std::abs(distance_data[7] + 6.85f) < 1e-3f && std::abs(kelvin[7] - 294.15f) < 1e-3f);
    return report.result();
}
