// Post 001, fourth sample: a view over a staging array. A launch writes the view, and the host reads the results by the
// view's pointer.
#include "report.hpp"

#include <numeric>

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    const posts::named_view device = posts::default_named_view();
    posts::report report("Post 001, sample 4: a view over a staging array");

    array<int> staging(count, posts::host().view, device.view);
    const array_view<int> view(staging);
    std::iota(staging.data(), staging.data() + count, 0);
    report.step("The host fills the staging array", posts::no_bytes);
    parallel_for_each(
        device.view, view.extent, [=](index<1> i) restrict(amp) { view[i] += 5; });
    report.launch("A launch captures the view", device, {size, 0}, view);
    const int *results = view.data();
    report.step("The host asks the view for its pointer", {0, size});
    report.check("the results are there", results[10] == 15 && std::accumulate(results, results + count, 0) == 504500);
    report.check("the elements of the staging array are the same memory", staging.data() == results);

    parallel_for_each(
        device.view, view.extent, [=](index<1> i) restrict(amp) { view[i] *= 2; });
    report.launch("Another launch captures the view, which the host may have written", device, {size, 0}, view);
    const int element = staging[11];
    report.step("The host reads an element of the staging array itself", {0, size});
    report.check("it has the result", element == 32);
    return report.result();
}
