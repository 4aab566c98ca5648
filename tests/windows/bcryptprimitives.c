/* A replacement for the system DLL bcryptprimitives.dll, which Rust's standard library needs and Wine 8 lacks. It is
 * for tests under Wine only. */
#include <windows.h>

#include <ntsecapi.h> /* needs the types of windows.h */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes);

BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes) {
    return RtlGenRandom(data, (ULONG)bytes);
}
