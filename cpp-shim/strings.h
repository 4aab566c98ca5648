// Replaces the C library's <strings.h>, and hides the functions `index` and `rindex` of that header. These functions
// are in the global namespace, and make `index` ambiguous after `using namespace concurrency;`. <string.h> and
// <cstring> include <strings.h> by this name too, so the order of includes does not matter. Programs can call the
// standard functions strchr and strrchr instead. Define REVAMP_KEEP_POSIX_INDEX to keep `index` and `rindex`.
//
// On the include path, the folder of this file must come before the system's, and must not be a system folder itself.
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
