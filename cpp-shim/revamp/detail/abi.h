// The namespaces of the shim and the words its functions are declared with.
//
// Everything lives in an inline ABI namespace, so that two versions of the shim in one program do not meet at link
// time. Reopen them only through these macros:
//
//     REVAMP_NAMESPACE_BEGIN ... REVAMP_NAMESPACE_END      namespace Concurrency, what programs name
//     REVAMP_DETAIL_BEGIN ... REVAMP_DETAIL_END            namespace revamp::detail, what they do not
//
// Internals are outside Concurrency, since `using namespace concurrency;` would otherwise make a program's own
// `detail` ambiguous, and argument-dependent look-up would find them.
#ifndef REVAMP_DETAIL_ABI_H
#define REVAMP_DETAIL_ABI_H

#define REVAMP_ABI abi_1
#define REVAMP_NAMESPACE_BEGIN                                                                                         \
    namespace Concurrency {                                                                                            \
    inline namespace REVAMP_ABI {
#define REVAMP_NAMESPACE_END                                                                                           \
    }                                                                                                                  \
    }
#define REVAMP_DETAIL_BEGIN                                                                                            \
    namespace revamp {                                                                                                 \
    inline namespace REVAMP_ABI {                                                                                      \
    namespace detail {
#define REVAMP_DETAIL_END                                                                                              \
    }                                                                                                                  \
    }                                                                                                                  \
    }

REVAMP_NAMESPACE_BEGIN
REVAMP_NAMESPACE_END
namespace concurrency = Concurrency;

REVAMP_DETAIL_BEGIN
REVAMP_DETAIL_END

// REVAMP_DEVICE_LANGUAGE: the compiler knows host and device functions (Clang's HIP mode), in either pass.
// REVAMP_DEVICE_PASS: this pass makes device code.
#if defined(__HIP__)
#define REVAMP_DEVICE_LANGUAGE 1
#define REVAMP_HOST __attribute__((host))
#define REVAMP_DEVICE __attribute__((device))
#else
#define REVAMP_DEVICE_LANGUAGE 0
#define REVAMP_HOST
#define REVAMP_DEVICE
#endif
#if defined(__HIP_DEVICE_COMPILE__)
#define REVAMP_DEVICE_PASS 1
#else
#define REVAMP_DEVICE_PASS 0
#endif
// Goes before a function that is restrict(amp,cpu).
#define REVAMP_HD REVAMP_HOST REVAMP_DEVICE

#endif
