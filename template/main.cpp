// A first program: a vector, a kernel that squares its elements, and a check of the result.
#include <amp.h>

#include <iostream>
#include <numeric>
#include <vector>

using namespace concurrency;

int main() {
    std::vector<float> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 1.0f);

    array_view<float, 1> view(int(numbers.size()), numbers);
    parallel_for_each(
        view.extent, [=](index<1> at) restrict(amp) { view[at] = view[at] * view[at]; });
    view.synchronize();

    const bool right = numbers[0] == 1.0f && numbers[999] == 1000000.0f;
    std::wcout << accelerator().description << (right ? L": right" : L": WRONG") << std::endl;
    return right ? 0 : 1;
}
