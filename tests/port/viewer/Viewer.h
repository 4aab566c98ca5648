// Viewer.h: a window that shows a fractal, in the style of a Visual Studio 2012 sample.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once

#ifndef STRICT
#define STRICT
#endif
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0601
#endif

#include <windows.h> //@ windows.h
#include <d3d11.h> //@ d3d11.h
#include <wrl/client.h> //@ wrl/client.h
#include <amp.h>
#include <amp_graphics.h>
#include <vector>
#include <deque>
#include <complex>

using Microsoft::WRL::ComPtr; //@ ComPtr
using namespace concurrency;
using namespace concurrency::graphics;

#define VIEWER_CLASS L"FractalViewer"
#define SAFE_RELEASE(p) if (p) { (p)->Release(); (p) = NULL; }

struct ViewState
{
    double centerX, centerY, scale;
    UINT iterations;
    SIZE window; //@ SIZE
    BOOLEAN dirty; //@ BOOLEAN
};

class CViewer
{
public:
    CViewer(HINSTANCE instance); //@ HINSTANCE
    ~CViewer(void);

    HRESULT Initialize(int nCmdShow);
    int Run();
    void Zoom(double factor, POINT where); //@ POINT
    VOID OnPaint(HDC dc); //@ VOID; HDC
    BOOL SaveAs(LPCTSTR fileName) const; //@ BOOL; LPCTSTR
    __declspec(noinline) void Compute(); //@ noinline

    static LRESULT CALLBACK WndProc(HWND hwnd, UINT message, WPARAM wParam, LPARAM lParam); //@ LRESULT; CALLBACK; HWND; WPARAM; LPARAM

private:
    HINSTANCE m_instance; //@ HINSTANCE
    HWND m_hwnd; //@ HWND
    ViewState m_state;
    std::vector<COLORREF> m_pixels; //@ COLORREF
    std::deque<ViewState> m_history;
    ComPtr<ID3D11Device> m_device; //@ ComPtr; ID3D11Device
    ComPtr<ID3D11Texture2D> m_texture; //@ ComPtr; ID3D11Texture2D
    DWORD_PTR m_cookie; //@ DWORD_PTR
    WORD m_lastKey; //@ WORD
};
