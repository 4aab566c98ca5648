// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "stdafx.h"

typedef struct _SIM_PARAMS
{
    int width;
    int height;
    float viscosity;
    float timeStep;
    ULONG iterations; //@ ULONG
} SIM_PARAMS, *PSIM_PARAMS;

typedef void *SIM_HANDLE;
typedef VOID(CALLBACK *SIM_CALLBACK)(PVOID context, int step); //@ VOID; CALLBACK; PVOID

SIM_API SIM_HANDLE SIM_CALL SimCreate(_In_ const SIM_PARAMS *params);
SIM_API VOID SIM_CALL SimDestroy(_In_opt_ SIM_HANDLE handle); //@ VOID
SIM_API HRESULT SIM_CALL SimStep(SIM_HANDLE handle, int steps, SIM_CALLBACK callback, PVOID context); //@ PVOID
SIM_API BOOL SIM_CALL SimRead(SIM_HANDLE handle, _Out_writes_(count) float *values, SIZE_T count); //@ BOOL; SIZE_T
SIM_API INT64 SIM_CALL SimTicks(); //@ INT64
