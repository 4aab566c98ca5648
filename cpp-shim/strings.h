// Stands before the C library's <strings.h> on the include path and hides its functions `index` and `rindex`: they
// are in the global namespace, and make `index` ambiguous after `using namespace concurrency;`. <string.h> and
// <cstring> reach <strings.h> by this name too, so the order of includes does not matter. Programs call strchr and
// strrchr, which are the standard's names for both. Define REVAMP_KEEP_POSIX_INDEX to leave things as they are.
//
// The folder of this file must come before the system's, and must not be a system folder itself.
#pragma GCC system_header // #include_next is an extension
#if defined(__cplusplus) && !defined(REVAMP_KEEP_POSIX_INDEX)
#pragma push_macro("index")
#pragma push_macro("rindex")
#undef index
#undef rindex
#define index revamp_posix_index
#define rindex revamp_posix_rindex
#include_next <strings.h>
#undef index
#undef rindex
#pragma pop_macro("rindex")
#pragma pop_macro("index")
#else
#include_next <strings.h>
#endif
