// Tests of assignment to objects with const members. An optimiser may assume that const members never change.
#include <revamp/detail/runtime.h>

#include "../check.hpp"

#include <algorithm>
#include <utility>
#include <vector>

using namespace Concurrency;

static accelerator host() {
    return accelerator(L"host");
}
static accelerator cpu() {
    return accelerator(accelerator::cpu_accelerator);
}

TEST(properties_after_assignment) {
    accelerator a = cpu();
    CHECK(a.device_path == L"cpu" && !a.supports_double_precision);
    a = host();
    CHECK(a.device_path == L"host" && a.supports_double_precision && a == host() && a != cpu());
    a = *&a;
    CHECK(a == host());
    accelerator_view v = cpu().default_view;
    CHECK(v.queuing_mode == queuing_mode_automatic && v.accelerator == cpu());
    v = a.create_view(queuing_mode_immediate);
    CHECK(v.queuing_mode == queuing_mode_immediate && v.accelerator == host() && v.version == host().version);
    v = *&v;
    CHECK(v.queuing_mode == queuing_mode_immediate);
    v = a.default_view;
    CHECK(v.queuing_mode == queuing_mode_automatic && v == a.default_view);

    std::vector<accelerator> accelerators = {cpu(), host(), cpu()};
    std::sort(accelerators.begin(), accelerators.end(),
              [](const accelerator &left, const accelerator &right) { return left.device_path > right.device_path; });
    CHECK(accelerators[0] == host() && accelerators[1] == cpu() && accelerators[2].device_path == L"cpu");
    accelerators.erase(
        std::remove_if(accelerators.begin(), accelerators.end(), [](const accelerator &one) { return one == cpu(); }),
        accelerators.end());
    CHECK(accelerators.size() == 1 && accelerators[0].device_path == L"host");
    std::vector<accelerator_view> views(5, v);
    for (accelerator_view &view : views)
        view = host().create_view();
    std::swap(views[0], views[4]);
    CHECK(views[0] != views[4] && views[0].accelerator == host());
}

CHECK_MAIN
