// pch.h: precompiled header of the imaging library and its tests.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once

#ifndef PCH_H
#define PCH_H

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h> //@ windows.h
#include <tchar.h>   //@ tchar.h
#include <strsafe.h> //@ strsafe.h

#include <amp.h>
#include <amp_graphics.h>
#include <algorithm>
#include <string>
#include <vector>
#include <memory>
#include <iostream>
#include <fstream>

#endif // PCH_H
