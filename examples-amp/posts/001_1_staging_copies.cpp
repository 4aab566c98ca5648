// Post 001, samples 1 to 3: the program copies data to an accelerator and back. It copies from a vector, by a
// constructor with iterators, and through a staging array.
#include "report.hpp"

#include <algorithm>

using namespace concurrency;

namespace {

const int count = 1000;
const std::uint64_t size = count * sizeof(int);

// Each number becomes its square.
void square(array<int> &numbers) {
    parallel_for_each(
        numbers.extent, [&numbers](index<1> i) restrict(amp) { numbers[i] *= numbers[i]; });
}

} // namespace

int main() {
    const posts::named_view device = posts::second_view();
    const accelerator_view cpu = posts::host().view;
    posts::report report("Post 001, samples 1 to 3: copies by the program", {device});

    std::vector<int> numbers(count, 3);
    array<int> device_array(count, device.view);
    copy(numbers.begin(), numbers.end(), device_array);
    report.step("A vector is copied to an array", {size, 0});
    square(device_array);
    report.launch("A launch without a target captures the array", device, posts::no_bytes,
                  array_view<int>(device_array));
    copy(device_array, numbers.begin());
    report.step("The array is copied to the vector", {0, size});
    report.check("the numbers are right", numbers[5] == 9);

    array<int> constructed(count, numbers.begin(), numbers.end(), device.view), on_default_view(count, numbers.begin());
    report.step("Two arrays are constructed from iterators: construction and copy", {2 * size, 0});
    report.check("without an accelerator_view it is the default one",
                 constructed.accelerator_view == device.view &&
                     on_default_view.accelerator_view == posts::default_named_view().view);

    array<int> staging(count, cpu, device.view);
    report.check("a staging array lives on its first accelerator_view and is associated with the second",
                 staging.accelerator_view == cpu && staging.associated_accelerator_view == device.view);
    int next = 0;
    std::generate(staging.data(), staging.data() + count, [&next] { return next++; });
    report.step("The host fills a staging array by its pointer", posts::no_bytes);
    copy(staging, device_array);
    report.step("The staging array is copied to the array: one transfer", {size, 0});
    square(device_array);
    copy(device_array, staging);
    report.step("The array is copied to the staging array: one transfer", {0, size});
    report.check("the host reads the results in the staging array", staging[12] == 144 && staging.data()[13] == 169);

    bool refused = false;
    try {
        square(staging);
    } catch (const runtime_exception &) {
        refused = true;
    }
    report.check("a kernel does not take the staging array itself", refused);
    return report.result();
}
