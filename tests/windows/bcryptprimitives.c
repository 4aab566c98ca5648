/* Stands in for the system's DLL of this name, which Wine 8 lacks and Rust's standard library needs. For tests under
 * Wine only. */
#include <windows.h>

#include <ntsecapi.h> /* needs the types of windows.h */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes);

BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes) {
    return RtlGenRandom(data, (ULONG)bytes);
}
