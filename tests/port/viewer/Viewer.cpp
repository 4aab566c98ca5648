// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "StdAfx.h" //@ stdafx.h
#include "Viewer.h"
#include <WindowsX.h> //@ windowsx.h
#include <shlwapi.h> //@ shlwapi.h
#include <math.h>
#include <assert.h>

#pragma comment(lib, "d3d11.lib") //@ #pragma comment
#pragma intrinsic(memcpy) //@ #pragma intrinsic

static inline int Escape(double cx, double cy, int limit) restrict(amp, cpu)
{
    double x = 0, y = 0;
    int n = 0;
    while (x * x + y * y < 4 && n < limit)
    {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        ++n;
    }
    return n;
}

CViewer::CViewer(HINSTANCE instance) : m_instance(instance), m_hwnd(NULL), m_cookie(0) //@ HINSTANCE
{
    SecureZeroMemory(&m_state, sizeof(m_state)); //@ SecureZeroMemory
    m_state.scale = 4.0;
    m_state.iterations = 256u;
}

CViewer::~CViewer(void)
{
    if (m_hwnd)
        DestroyWindow(m_hwnd); //@ DestroyWindow
}

HRESULT CViewer::Initialize(int nCmdShow)
{
    WNDCLASSEX wc = {sizeof(WNDCLASSEX)}; //@ WNDCLASSEX
    wc.lpfnWndProc = &CViewer::WndProc;
    wc.hInstance = m_instance;
    wc.hCursor = LoadCursor(NULL, IDC_ARROW); //@ LoadCursor; IDC_ARROW
    wc.lpszClassName = VIEWER_CLASS;
    if (!RegisterClassEx(&wc)) //@ RegisterClassEx
        return HRESULT_FROM_WIN32(GetLastError()); //@ HRESULT_FROM_WIN32; GetLastError
    RECT rc = {0, 0, 1024, 768}; //@ RECT
    AdjustWindowRect(&rc, WS_OVERLAPPEDWINDOW, FALSE); //@ AdjustWindowRect; WS_OVERLAPPEDWINDOW; FALSE
    m_hwnd = CreateWindowEx(0, VIEWER_CLASS, TEXT("Fractal"), WS_OVERLAPPEDWINDOW, CW_USEDEFAULT, CW_USEDEFAULT, //@ CreateWindowEx; TEXT(; WS_OVERLAPPEDWINDOW; CW_USEDEFAULT
                            rc.right - rc.left, rc.bottom - rc.top, NULL, NULL, m_instance, this);
    if (m_hwnd == NULL)
        return E_FAIL;
    ShowWindow(m_hwnd, nCmdShow); //@ ShowWindow
    UINT flags = D3D11_CREATE_DEVICE_BGRA_SUPPORT; //@ D3D11_CREATE_DEVICE_BGRA_SUPPORT
    D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0; //@ D3D_FEATURE_LEVEL; D3D_FEATURE_LEVEL_11_0
    HRESULT hr = D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, flags, &level, 1, D3D11_SDK_VERSION, &m_device, NULL, NULL); //@ D3D11CreateDevice; D3D_DRIVER_TYPE_HARDWARE; D3D11_SDK_VERSION
    if (SUCCEEDED(hr))
    {
        accelerator_view av = concurrency::direct3d::create_accelerator_view(m_device.Get()); //@ create_accelerator_view
        std::wstring name = av.accelerator.description;
        SetWindowTextW(m_hwnd, name.c_str()); //@ SetWindowTextW
    }
    return hr;
}

void CViewer::Compute()
{
    const int width = max(m_state.window.cx, 1), height = max(m_state.window.cy, 1); //@ max(
    m_pixels.resize(width * height);
    array_view<COLORREF, 2> view(height, width, m_pixels); //@ COLORREF
    view.discard_data();
    const ViewState s = m_state;
    try
    {
        parallel_for_each(view.extent, [=](index<2> i) restrict(amp) {
            const double x = s.centerX + (i[1] - width / 2) * s.scale / width;
            const double y = s.centerY + (i[0] - height / 2) * s.scale / width;
            const int n = Escape(x, y, s.iterations);
            view[i] = n == s.iterations ? 0 : (n * 8 & 0xFF) << 16 | (n * 4 & 0xFF) << 8 | (n & 0xFF);
        });
        view.synchronize();
    }
    catch (accelerator_view_removed &e)
    {
        wchar_t text[128];
        _snwprintf_s(text, _TRUNCATE, L"removed: %08X", e.get_view_removed_reason()); //@ _snwprintf_s; _TRUNCATE
        MessageBoxW(m_hwnd, text, L"Fractal", MB_ICONERROR | MB_OKCANCEL); //@ MessageBoxW; MB_ICONERROR; MB_OKCANCEL
    }
    m_state.dirty = FALSE; //@ FALSE
}

void CViewer::Zoom(double factor, POINT where) //@ POINT
{
    m_history.push_back(m_state);
    if (m_history.size() > 100)
        m_history.pop_front();
    m_state.scale /= factor;
    m_state.centerX += (where.x - m_state.window.cx / 2) * m_state.scale / m_state.window.cx;
    m_state.dirty = TRUE; //@ TRUE
    InvalidateRect(m_hwnd, NULL, FALSE); //@ InvalidateRect; FALSE
}

VOID CViewer::OnPaint(HDC dc) //@ VOID; HDC
{
    if (m_state.dirty)
        Compute();
    BITMAPINFO bmi = {}; //@ BITMAPINFO
    bmi.bmiHeader.biSize = sizeof(BITMAPINFOHEADER); //@ BITMAPINFOHEADER
    bmi.bmiHeader.biWidth = m_state.window.cx;
    bmi.bmiHeader.biHeight = -m_state.window.cy;
    bmi.bmiHeader.biPlanes = 1;
    bmi.bmiHeader.biBitCount = 32;
    SetDIBitsToDevice(dc, 0, 0, m_state.window.cx, m_state.window.cy, 0, 0, 0, m_state.window.cy, m_pixels.data(), &bmi, DIB_RGB_COLORS); //@ SetDIBitsToDevice; DIB_RGB_COLORS
}

BOOL CViewer::SaveAs(LPCTSTR fileName) const //@ BOOL; LPCTSTR
{
    if (PathFileExists(fileName) && MessageBox(m_hwnd, fileName, _T("Overwrite?"), MB_YESNO) != IDYES) //@ PathFileExists; MessageBox; _T(; MB_YESNO; IDYES
        return FALSE; //@ FALSE
    HANDLE file = CreateFile(fileName, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL); //@ HANDLE; CreateFile; GENERIC_WRITE; CREATE_ALWAYS; FILE_ATTRIBUTE_NORMAL
    if (file == INVALID_HANDLE_VALUE) //@ INVALID_HANDLE_VALUE
        return FALSE; //@ FALSE
    DWORD written = 0; //@ DWORD
    const DWORD size = static_cast<DWORD>(m_pixels.size() * sizeof(COLORREF)); //@ DWORD; COLORREF
    BOOL ok = WriteFile(file, &m_pixels[0], size, &written, NULL); //@ BOOL; WriteFile
    CloseHandle(file); //@ CloseHandle
    assert(written == size, "all bytes are written"); //@ assert(
    return ok && written == size;
}

LRESULT CALLBACK CViewer::WndProc(HWND hwnd, UINT message, WPARAM wParam, LPARAM lParam) //@ LRESULT; CALLBACK; HWND; WPARAM; LPARAM
{
    CViewer *self = reinterpret_cast<CViewer *>(GetWindowLongPtr(hwnd, GWLP_USERDATA)); //@ GetWindowLongPtr; GWLP_USERDATA
    switch (message)
    {
    case WM_CREATE: //@ WM_CREATE
        self = (CViewer *)((LPCREATESTRUCT)lParam)->lpCreateParams; //@ LPCREATESTRUCT
        SetWindowLongPtr(hwnd, GWLP_USERDATA, (LONG_PTR)self); //@ SetWindowLongPtr; GWLP_USERDATA; LONG_PTR
        return 0;
    case WM_SIZE: //@ WM_SIZE
        self->m_state.window.cx = LOWORD(lParam); //@ LOWORD
        self->m_state.window.cy = HIWORD(lParam); //@ HIWORD
        self->m_state.dirty = TRUE; //@ TRUE
        return 0;
    case WM_LBUTTONDOWN: //@ WM_LBUTTONDOWN
    {
        POINT p = {GET_X_LPARAM(lParam), GET_Y_LPARAM(lParam)}; //@ POINT; GET_X_LPARAM; GET_Y_LPARAM
        self->Zoom(GetKeyState(VK_SHIFT) < 0 ? 0.5 : 2.0, p); //@ GetKeyState; VK_SHIFT
        return 0;
    }
    case WM_PAINT: //@ WM_PAINT
    {
        PAINTSTRUCT ps; //@ PAINTSTRUCT
        HDC dc = BeginPaint(hwnd, &ps); //@ HDC; BeginPaint
        self->OnPaint(dc);
        EndPaint(hwnd, &ps); //@ EndPaint
        return 0;
    }
    case WM_DESTROY: //@ WM_DESTROY
        PostQuitMessage(0); //@ PostQuitMessage
        return 0;
    default:
        return DefWindowProc(hwnd, message, wParam, lParam); //@ DefWindowProc
    }
}

int CViewer::Run()
{
    MSG msg = {0}; //@ MSG
    while (GetMessage(&msg, NULL, 0, 0)) //@ GetMessage
    {
        TranslateMessage(&msg); //@ TranslateMessage
        DispatchMessage(&msg); //@ DispatchMessage
    }
    return (int)msg.wParam;
}

int APIENTRY _tWinMain(HINSTANCE hInstance, HINSTANCE, LPTSTR lpCmdLine, int nCmdShow) //@ APIENTRY; _tWinMain; HINSTANCE; LPTSTR
{
    UNREFERENCED_PARAMETER(lpCmdLine); //@ UNREFERENCED_PARAMETER
    HeapSetInformation(NULL, HeapEnableTerminationOnCorruption, NULL, 0); //@ HeapSetInformation; HeapEnableTerminationOnCorruption
    if (FAILED(CoInitialize(NULL))) //@ CoInitialize
        return -1;
    int result = -1;
    {
        CViewer viewer(hInstance);
        if (SUCCEEDED(viewer.Initialize(nCmdShow)))
            result = viewer.Run();
    }
    CoUninitialize(); //@ CoUninitialize
    return result;
}
