// Post 001, fifth sample: how long a pointer to an element of a staging array is valid. It becomes invalid when a copy
// or launch with the array begins. Afterwards operator[] works, and so does a new pointer.
#include "report.hpp"

#include <algorithm>

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    const posts::named_view device = posts::default_named_view();
    posts::report report("Post 001, sample 5: pointers to elements of a staging array");

    array<int> staging(count, posts::host().view, device.view), device_array(count, device.view);
    for (int i = 0; i < count; i++)
        staging[i] = count - i;
    int *first = staging.data(), *second = &staging[1];
    std::sort(first, first + count);
    report.check("before any copy the pointers are good", *second == 2);

    copy(staging, device_array); // `first` and `second` become invalid
    report.step("The staging array is copied to an array", {size, 0});
    staging[1] += 10;
    report.check("after the copy, operator[] reads and writes an element", staging[1] == 12);

    const array_view<int> view(staging);
    int *view_pointer = &view[0];
    report.check("a view's pointer is good if it is taken after the copy", view_pointer[1] == 12);
    parallel_for_each(
        device.view, view.extent, [=](index<1> i) restrict(amp) { view[i] *= 2; }); // `view_pointer` becomes invalid
    report.launch("A launch captures the view", device, {size, 0}, view);
    view_pointer = view.data();
    report.step("The host asks for the pointer again", {0, size});
    report.check("it shows the results", view_pointer[0] == 2 && view_pointer[1] == 24 && view_pointer[2] == 6);
    report.check("so does the staging array", staging[2] == 6);
    return report.result();
}
