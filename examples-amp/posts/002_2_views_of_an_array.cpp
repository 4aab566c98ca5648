// Post 002, second sample: all views of one array, and sections of these, have one data source and are coherent.
#include "report.hpp"

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    const posts::place device = posts::default_view();
    posts::report report("Post 002, sample 2: several views of one array");
    const std::vector<int> zeros(count);
    array<int> numbers(count, zeros.begin(), device.view);
    const array_view<int> whole(numbers), other(numbers), half = whole.section(0, count / 2);
    report.step("An array is constructed, with three views", {size, 0});

    parallel_for_each(
        half.extent, [=](index<1> i) restrict(amp) { half[i] = 7; });
    report.launch("A launch writes a section of one view", device, posts::nothing, half);
    const array_view<const int> reader(other);
    report.check("another view has it, and the rest as it was", reader[2] == 7 && reader[count - 1] == 0);
    report.step("That view was read on the host", {0, size});

    half[3] = 9;
    report.step("The host writes the section", posts::nothing);
    parallel_for_each(
        other.extent, [=](index<1> i) restrict(amp) { other[i] += 1; });
    report.launch("A launch reads and writes the other view: what the host may have written goes to the array", device,
                  {size / 2, 0}, other);
    report.check("all views have both changes", whole[3] == 10 && half[2] == 8 && other[count - 1] == 1);
    return report.result();
} // advice: 4000
