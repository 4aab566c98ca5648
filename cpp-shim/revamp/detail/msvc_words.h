// Words of the Microsoft headers that C++ AMP programs take for granted: HRESULT and its usual values, UINT, IUnknown,
// and the SAL annotations. Existing definitions are kept. If REVAMP_NO_MSVC_WORDS is defined, this header only defines
// HRESULT, in namespace Concurrency, because the exceptions need it.
//
// Not defined: `__in`, `__out` and other words that headers of the standard library use as names.
#ifndef REVAMP_DETAIL_MSVC_WORDS_H
#define REVAMP_DETAIL_MSVC_WORDS_H

#include "config.h"

// A type of 32 bits. On Windows, it is the type that the system's headers use. Elsewhere, it is the type that other
// replacements of Microsoft's headers use, so that a program can include them too.
#ifdef _WIN32
#define REVAMP_HRESULT long
#else
#define REVAMP_HRESULT int
#endif

#ifdef REVAMP_NO_MSVC_WORDS

REVAMP_NAMESPACE_BEGIN
typedef REVAMP_HRESULT HRESULT;
REVAMP_NAMESPACE_END

#else

#ifdef _WIN32
// <winerror.h> defines the values without checking for earlier definitions, so it must come first.
#include <winerror.h>
#endif

typedef REVAMP_HRESULT HRESULT;
typedef unsigned int UINT;
struct IUnknown;

REVAMP_NAMESPACE_BEGIN
using ::HRESULT;
REVAMP_NAMESPACE_END

#ifndef S_OK
#define S_OK (static_cast<HRESULT>(0))
#endif
#ifndef S_FALSE
#define S_FALSE (static_cast<HRESULT>(1))
#endif
#ifndef E_NOTIMPL
#define E_NOTIMPL (static_cast<HRESULT>(0x80004001U))
#endif
#ifndef E_PENDING
#define E_PENDING (static_cast<HRESULT>(0x8000000AU))
#endif
#ifndef E_BOUNDS
#define E_BOUNDS (static_cast<HRESULT>(0x8000000BU))
#endif
#ifndef E_NOINTERFACE
#define E_NOINTERFACE (static_cast<HRESULT>(0x80004002U))
#endif
#ifndef E_POINTER
#define E_POINTER (static_cast<HRESULT>(0x80004003U))
#endif
#ifndef E_ABORT
#define E_ABORT (static_cast<HRESULT>(0x80004004U))
#endif
#ifndef E_FAIL
#define E_FAIL (static_cast<HRESULT>(0x80004005U))
#endif
#ifndef E_UNEXPECTED
#define E_UNEXPECTED (static_cast<HRESULT>(0x8000FFFFU))
#endif
#ifndef E_ACCESSDENIED
#define E_ACCESSDENIED (static_cast<HRESULT>(0x80070005U))
#endif
#ifndef E_HANDLE
#define E_HANDLE (static_cast<HRESULT>(0x80070006U))
#endif
#ifndef E_OUTOFMEMORY
#define E_OUTOFMEMORY (static_cast<HRESULT>(0x8007000EU))
#endif
#ifndef E_INVALIDARG
#define E_INVALIDARG (static_cast<HRESULT>(0x80070057U))
#endif
#ifndef SUCCEEDED
#define SUCCEEDED(result) (static_cast<HRESULT>(result) >= 0)
#endif
#ifndef FAILED
#define FAILED(result) (static_cast<HRESULT>(result) < 0)
#endif

#include "sal.h"

#endif

#undef REVAMP_HRESULT

#endif
