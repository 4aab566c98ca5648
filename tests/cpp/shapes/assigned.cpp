// Assignment to objects with const members, which an optimiser may take for unchanged.
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

TEST(properties_of_objects_assigned_anew) {
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

    std::vector<accelerator> some = {cpu(), host(), cpu()};
    std::sort(some.begin(), some.end(),
              [](const accelerator &left, const accelerator &right) { return left.device_path > right.device_path; });
    CHECK(some[0] == host() && some[1] == cpu() && some[2].device_path == L"cpu");
    some.erase(std::remove_if(some.begin(), some.end(), [](const accelerator &one) { return one == cpu(); }),
               some.end());
    CHECK(some.size() == 1 && some[0].device_path == L"host");
    std::vector<accelerator_view> views(5, v);
    for (accelerator_view &view : views)
        view = host().create_view();
    std::swap(views[0], views[4]);
    CHECK(views[0] != views[4] && views[0].accelerator == host());
}

CHECK_MAIN
