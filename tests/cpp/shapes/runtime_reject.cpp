// Uses of the runtime's classes that must not compile (docs/spec/accelerators.md, docs/spec/copies.md). See
// revamp_cpp_rejections() in ../CMakeLists.txt.
#include <revamp/detail/completion.h>

namespace c = concurrency;

void cases(c::accelerator &accelerator, c::accelerator_view &view, const c::completion_future &future) {
    (void)accelerator;
    (void)view;
    (void)future;
#ifdef FAIL_view_default // no matching
    c::accelerator_view x;
#endif
#ifdef FAIL_accelerator_implicit // conversion from|no viable conversion
    c::accelerator x = std::wstring(L"cpu");
#endif
#ifdef FAIL_description_assigned // no match|no viable|discards|passing
    accelerator.description = std::wstring(L"mine");
#endif
#ifdef FAIL_version_assigned // read-only|const-qualified
    accelerator.version = 3;
#endif
#ifdef FAIL_is_emulated_assigned // read-only|const-qualified
    accelerator.is_emulated = false;
#endif
#ifdef FAIL_default_view_assigned // no viable|discards|passing
    accelerator.default_view = view;
#endif
#ifdef FAIL_view_queuing_mode_assigned // read-only|const-qualified
    view.queuing_mode = c::queuing_mode_immediate;
#endif
#ifdef FAIL_view_accelerator_assigned // no viable|discards|passing
    view.accelerator = accelerator;
#endif
#ifdef FAIL_view_of_number // invalid conversion|cannot initialize
    accelerator.create_view(1);
#endif
#ifdef FAIL_compare_view_and_accelerator // no match|invalid operands
    (void)(view == accelerator);
#endif
#ifdef FAIL_then_with_argument // no match|no matching|too few arguments
    future.then([](int) {});
#endif
#ifdef FAIL_continuation_with_wrong_argument // a continuation must take the task's value or the task
    future.to_task().then([](const char *) {});
#endif
#ifdef FAIL_access_type_of_number // no viable|invalid conversion|no match
    accelerator.default_cpu_access_type = 1;
#endif
}
