// stdafx.h : include file for standard system include files
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once

#include "targetver.h" //@ targetver.h

#define _CRT_SECURE_NO_WARNINGS
#include <Windows.h> //@ windows.h
#include <process.h> //@ process.h
#include <crtdbg.h>  //@ crtdbg.h
#include <stdio.h>
#include <stdlib.h>

#include <AMP.h> //@ AMP.h
#include <amp_math.h>
#include <map>
#include <string>
#include <vector>

#ifdef SIMULATION_EXPORTS
#define SIM_API extern "C" __declspec(dllexport) //@ dllexport
#else
#define SIM_API extern "C" __declspec(dllimport) //@ dllimport
#endif
#define SIM_CALL __stdcall //@ __stdcall
