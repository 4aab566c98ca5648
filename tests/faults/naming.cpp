// Tests that Vulkan tools get the labels of objects in a run without validation. naming_layer.c writes the names to a
// file. usage: naming FILE
#include <amp.h>
#include <revamp/trace.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace concurrency;

static int has_failed;

// Checks that the file has exactly these lines, and empties the file.
static void check_names(const char *path, const char *what, const std::string &expected) {
    std::ifstream file(path);
    const std::string names{std::istreambuf_iterator<char>(file), {}};
    std::ofstream(path, std::ios::trunc);
    if (names == expected) return;
    std::printf("WRONG: %s: the names are \"%s\", not \"%s\"\n", what, names.c_str(), expected.c_str());
    has_failed = 1;
}

static void launch(const accelerator_view &queue, const array_view<int> &view) {
    parallel_for_each(
        queue, view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    view.synchronize();
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    const char *path = arguments[1];
    setenv("REVAMP_NAMES", path, 1);
    std::ofstream(path, std::ios::trunc);
    accelerator device;
    for (const accelerator &one : accelerator::get_all())
        if (one.device_path.find(L"vulkan") != std::wstring::npos) device = one;
    accelerator_view queue = device.create_view();
    check_names(path, "start", "");
    revamp::set_label(queue, "a queue");
    check_names(path, "queue", "4 a queue\n");
    {
        const array<int> numbers(1 << 20, queue);
        revamp::set_label(numbers, "an array");
        check_names(path, "array", "9 an array\n");
        revamp::set_label(array_view<const int>(numbers), "a view of the array");
        check_names(path, "an array keeps its label", "");
    }
    // The library may reuse the VkBuffer.
    queue.wait();
    check_names(path, "the name of a destroyed array is removed", "9 \n");
    std::vector<int> first(1 << 20), second(1 << 20);
    array_view<int> early(1 << 20, first), late(1 << 20, second);
    revamp::set_label(early, "early");
    check_names(path, "no buffer yet", "");
    launch(queue, early);
    check_names(path, "a buffer that is made after the label", "9 early\n");
    launch(queue, late);
    check_names(path, "no label", "");
    revamp::set_label(late, "late");
    check_names(path, "a buffer that was made before the label", "9 late\n");
    return has_failed;
}
