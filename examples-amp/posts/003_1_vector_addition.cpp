// Post 003: which data is synchronized when the last view of a data source is destroyed. One vector addition follows
// the post's guidelines (const inputs, a discarded output, an explicit synchronize), another does not.
// 000_1_launch_choice.cpp explains the marks `advice: KIND N`.
#include "report.hpp"

using namespace concurrency;

namespace {

const int count = 1000;
const std::uint64_t size = count * sizeof(int);

} // namespace

int main() {
    const posts::named_view device = posts::default_named_view();
    posts::report report("Post 003: a vector addition, and which data moves when its views are destroyed");
    std::vector<int> a_data(count, 1), b_data(count, 2), sum_data(count);
    {
        const array_view<const int> a(a_data), b(b_data);
        const array_view<int> sum(sum_data);
        sum.discard_data();
        parallel_for_each(
            sum.extent, [=](index<1> i) restrict(amp) { sum[i] = a[i] + b[i]; });
        report.launch("With the guidelines: a launch with const inputs and a discarded output", device, {2 * size, 0},
                      sum);
        sum.synchronize();
        report.step("The output is synchronized", {0, size});
    }
    report.step("The views are destroyed: nothing is left to do", posts::no_bytes);
    report.check("the sums are right", sum_data[9] == 3);
    {
        const array_view<int> a(a_data), b(b_data), sum(sum_data);
        parallel_for_each(
            sum.extent, [=](index<1> i) restrict(amp) {
                sum[i] = 2 * a[i] + b[i]; // advice: missing discard 4000, view only read 0
            });
        report.launch("Without the guidelines: all three views are array_view<int>, and nothing is discarded", device,
                      {3 * size, 0}, sum);
    } // advice: destructor write-back 4000
    // If the compiler knows that a kernel only reads a view, the view's data does not move back. The post does not
    // promise this.
    report.at_most("The views are destroyed: the output comes back, and the inputs may", {0, 3 * size});
    report.check("the sums are right", sum_data[9] == 4 && a_data[9] == 1 && b_data[9] == 2);
    {
        const array_view<int> sum(sum_data);
        parallel_for_each(
            sum.extent, [=](index<1> i) restrict(amp) { sum[i] += 1; });
        sum.discard_data();
        report.step("A launch writes a view, and the program discards it", {size, 0});
    }
    report.step("The view is destroyed: what was discarded does not come back", posts::no_bytes);
    return report.result();
}
