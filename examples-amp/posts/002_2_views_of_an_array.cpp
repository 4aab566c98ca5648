// Post 002, second sample: all views of one array, and their sections, have one data source and are coherent.
// 000_1_launch_choice.cpp explains the mark `advice: KIND N`.
#include "report.hpp"

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    const posts::named_view device = posts::default_named_view();
    posts::report report("Post 002, sample 2: several views of one array");
    const std::vector<int> zeros(count);
    array<int> numbers(count, zeros.begin(), device.view);
    const array_view<int> whole(numbers), other_view(numbers), half = whole.section(0, count / 2);
    report.step("An array is constructed, with three views", {size, 0});

    parallel_for_each(
        half.extent, [=](index<1> i) restrict(amp) { half[i] = 7; });
    report.launch("A launch writes a section of one view", device, posts::no_bytes, half);
    const array_view<const int> reader(other_view);
    report.check("another view has this change and no other", reader[2] == 7 && reader[count - 1] == 0);
    report.step("That view was read on the host", {0, size});

    half[3] = 9;
    report.step("The host writes the section", posts::no_bytes);
    parallel_for_each(
        other_view.extent, [=](index<1> i) restrict(amp) { other_view[i] += 1; });
    report.launch("A launch reads and writes the other view: what the host may have written goes to the array", device,
                  {size / 2, 0}, other_view);
    report.check("all views have both changes", whole[3] == 10 && half[2] == 8 && other_view[count - 1] == 1);
    return report.result();
} // advice: destructor write-back 4000
