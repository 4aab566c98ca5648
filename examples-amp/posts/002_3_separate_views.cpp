// Post 002, third sample: two views made independently over the same memory are two data sources; a copy of a view is
// another name of its own.
#include "report.hpp"

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    const posts::place device = posts::default_view();
    posts::report report("Post 002, sample 3: views made apart, and copies of a view");
    std::vector<int> storage(count, 11);
    const array_view<int> view(storage), copied(view), apart(storage);
    report.step("Three views are made", posts::nothing);

    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = 22; }); // advice: 4000
    report.launch("A launch writes the first view", device, {size, 0}, view);

    // Printed and not judged: where an accelerator works in the program's memory, both views name the same numbers.
    report.note("    the view made apart has " + std::to_string(array_view<const int>(apart)[0]) +
                " (post: not the changed value; mixed use is undefined)");
    report.step("The view made apart is read on the host", posts::nothing);

    const int of_copy = copied[0];
    report.step("The copy of the view is read on the host", {0, size});
    report.check("view and copy are both 22", of_copy == 22 && view[0] == 22);
    return report.result();
}
