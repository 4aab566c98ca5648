// Post 002, third sample: two views made independently over the same memory have two data sources; a copy of a view has
// the same data source.
// 000_1_launch_choice.cpp explains the mark `advice: KIND N`.
#include "report.hpp"

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    const posts::named_view device = posts::default_named_view();
    posts::report report("Post 002, sample 3: independent views, and copies of a view");
    std::vector<int> storage(count, 11);
    const array_view<int> view(storage), copied(view), separate_view(storage);
    report.step("Three views are made", posts::no_bytes);

    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = 22; }); // advice: missing discard 4000
    report.launch("A launch writes the first view", device, {size, 0}, view);

    // Printed, but not checked: if an accelerator works in the program's memory, both views show the same numbers.
    report.note("    the independent view has " + std::to_string(array_view<const int>(separate_view)[0]) +
                " (post: not the changed value; mixed use is undefined)");
    report.step("The independent view is read on the host", posts::no_bytes);

    const int of_copy = copied[0];
    report.step("The copy of the view is read on the host", {0, size});
    report.check("view and copy are both 22", of_copy == 22 && view[0] == 22);
    return report.result();
}
