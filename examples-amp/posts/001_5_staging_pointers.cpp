// Post 001, fifth sample: how long a pointer to an element of a staging array lives. It ends where a copy or launch
// with the array begins; an operator[] afterwards, or a pointer asked for again, is right.
#include "report.hpp"

#include <algorithm>

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    const posts::place device = posts::default_view();
    posts::report report("Post 001, sample 5: pointers to elements of a staging array");

    array<int> staging(count, posts::host().view, device.view), plain(count, device.view);
    for (int i = 0; i < count; i++)
        staging[i] = count - i;
    int *first = staging.data(), *second = &staging[1];
    std::sort(first, first + count);
    report.check("before any copy the pointers are good", *second == 2);

    copy(staging, plain); // `first` and `second` end here
    report.step("The staging array is copied to an array", {size, 0});
    staging[1] += 10;
    report.check("an element asked for again can be read and written", staging[1] == 12);

    const array_view<int> view(staging);
    int *again = &view[0];
    report.check("a pointer asked of a view after the copy is good", again[1] == 12);
    parallel_for_each(
        device.view, view.extent, [=](index<1> i) restrict(amp) { view[i] *= 2; }); // `again` ends here
    report.launch("A launch captures the view", device, {size, 0}, view);
    again = view.data();
    report.step("The host asks for the pointer again", {0, size});
    report.check("it shows the results", again[0] == 2 && again[1] == 24 && again[2] == 6);
    report.check("so does the staging array", staging[2] == 6);
    return report.result();
}
