// Lists the accelerators, chooses one, and provokes exceptions, like the samples of the C++ AMP book (ShowAmpDevices).
#include "stdafx.h"
#include <algorithm>
#include <amp.h>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace Concurrency;

static int g_failed = 0;

void expect(bool condition, const wchar_t *what) {
    if (!condition) {
        std::wcout << L"FAILED: " << what << std::endl;
        ++g_failed;
    }
}

inline std::wstring bool_to_str(bool b) {
    return b ? L"true" : L"false";
}

void list_accelerators(bool show_all) {
    std::vector<accelerator> accls = accelerator::get_all();
    if (!show_all) {
        accls.erase(std::remove_if(accls.begin(), accls.end(),
                                   [](accelerator &a) {
                                       return (a.device_path == accelerator::cpu_accelerator) ||
                                              (a.device_path == accelerator::direct3d_ref);
                                   }),
                    accls.end());
    }
    if (accls.empty()) {
        std::wcout << L"No accelerators found that are compatible with C++ AMP" << std::endl;
        return;
    }
    std::cout << "Show " << (show_all ? "all " : "") << "AMP Devices (";
#if defined(_DEBUG)
    std::cout << "DEBUG";
#else
    std::cout << "RELEASE";
#endif
    std::cout << " build)" << std::endl;
    std::wcout << L"Found " << accls.size() << L" accelerator device(s) that are compatible with C++ AMP:" << std::endl;
    int n = 0;
    std::for_each(accls.cbegin(), accls.cend(), [=, &n](const accelerator &a) {
        std::wcout << L"  " << ++n << L": " << a.description << L", has_display=" << bool_to_str(a.has_display)
                   << L", is_emulated=" << bool_to_str(a.is_emulated) << std::endl;
        std::wcout << L"       device_path                      = " << a.device_path << std::endl;
        std::wcout << L"       dedicated_memory                 = " << std::setprecision(4)
                   << float(a.dedicated_memory) / (1024.0f * 1024.0f) << L" Mb" << std::endl;
        std::wcout << L"       version                          = " << (a.version >> 16) << L"." << (a.version & 0xffff)
                   << std::endl;
        std::wcout << L"       is_debug                         = " << bool_to_str(a.is_debug) << std::endl;
        std::wcout << L"       supports_cpu_shared_memory       = " << bool_to_str(a.supports_cpu_shared_memory)
                   << std::endl;
        std::wcout << L"       supports_double_precision        = " << bool_to_str(a.supports_double_precision)
                   << std::endl;
        std::wcout << L"       supports_limited_double_precision= " << bool_to_str(a.supports_limited_double_precision)
                   << std::endl;
    });
}

// The first accelerator that is not emulated, has double precision and no display; if there is none, WARP.
accelerator pick_accelerator() {
    std::vector<accelerator> accls = accelerator::get_all();
    accelerator best = accls[0];
    auto result = std::find_if(accls.begin(), accls.end(), [](const accelerator &acc) {
        return !acc.is_emulated && acc.supports_double_precision && !acc.has_display;
    });
    if (result != accls.end())
        best = *result;
    else
        best = accelerator(accelerator::direct3d_warp);
    return best;
}

bool is_available(const std::wstring &path) {
    std::vector<accelerator> accls = accelerator::get_all();
    return std::find_if(accls.begin(), accls.end(),
                        [&](const accelerator &a) { return a.device_path.compare(path) == 0; }) != accls.end();
}

void exceptions(const accelerator &acc) {
    accelerator_view view = acc.create_view(queuing_mode_immediate);
    expect(view != acc.default_view, L"a new view");
    expect(view.queuing_mode == queuing_mode_immediate, L"queuing_mode");
    expect(view.accelerator == acc && !view.is_auto_selection, L"the view's accelerator");

    try {
        parallel_for_each(view, extent<1>(0), [=](index<1>) restrict(amp){});
        expect(false, L"an empty domain throws");
    } catch (invalid_compute_domain &ex) {
        std::cout << "invalid_compute_domain: " << ex.what() << std::endl;
    }
    try {
        std::vector<int> data(10);
        array_view<int> av(data);
        parallel_for_each(
            view, av.extent.tile<4>(), [=](tiled_index<4> t) restrict(amp) { av[t] = 1; });
        expect(false, L"a domain that is not a multiple of the tile throws");
    } catch (const invalid_compute_domain &ex) {
        std::cout << "invalid_compute_domain: " << ex.what() << std::endl;
    }
    try {
        accelerator nothing(L"no such path");
        expect(false, L"an unknown path throws");
    } catch (const runtime_exception &ex) {
        std::cout << "runtime_exception: " << ex.what() << std::endl;
    }
    try {
        std::vector<int> data(10);
        array<int> a(11, data.begin(), data.end());
        expect(false, L"too few elements throw");
    } catch (const runtime_exception &ex) {
        std::cout << "runtime_exception: " << ex.what() << ", error code " << std::hex << ex.get_error_code()
                  << std::dec << std::endl;
    }
    try {
        accelerator cpu(accelerator::cpu_accelerator);
        parallel_for_each(cpu.default_view, extent<1>(1), [=](index<1>) restrict(amp){});
        expect(false, L"a kernel on the cpu throws");
    } catch (const std::exception &ex) {
        std::cout << "std::exception: " << ex.what() << std::endl;
        expect(std::string(ex.what()).find("not supported on the selected accelerator") != std::string::npos,
               L"the text of the exception");
    }
    try {
        array<float> on_view(16, view);
        array<float> on_default(16, acc.default_view);
        parallel_for_each(
            on_view.extent, [&on_view, &on_default ](index<1> i) restrict(amp) { on_view[i] = on_default[i]; });
        expect(false, L"arrays on two accelerator_views throw");
    } catch (const runtime_exception &ex) {
        std::cout << "runtime_exception: " << ex.what() << std::endl;
    }
}

int _tmain(int argc, _TCHAR *argv[]) {
    const bool show_all = argc > 1 && std::string(argv[1]) == "/a";
    list_accelerators(show_all);
    expect(is_available(accelerator::cpu_accelerator), L"the cpu is listed");
    expect(!is_available(L"nowhere"), L"the path \"nowhere\" is not listed");

    accelerator def;
    expect(def == accelerator(accelerator::default_accelerator), L"the default accelerator");
    expect(def.default_view.accelerator.device_path == def.device_path, L"the default view's accelerator");
    // After its first use, the default accelerator cannot be changed.
    std::vector<int> first_result(1);
    array_view<int> one_vw(first_result);
    parallel_for_each(
        one_vw.extent, [=](index<1> i) restrict(amp) { one_vw[i] = 42; });
    expect(one_vw[0] == 42, L"a first kernel");
    expect(!accelerator::set_default(accelerator::cpu_accelerator), L"set_default after a use");
    std::wcout << L"Default: " << def.description << std::endl;

    const accelerator picked = pick_accelerator();
    std::wcout << L"Picked: " << picked.description << std::endl;
    std::vector<int> data(100);
    array_view<int> av(data);
    parallel_for_each(
        picked.default_view, av.extent, [=](index<1> i) restrict(amp) { av[i] = i[0] * i[0]; });
    expect(av[99] == 9801, L"a kernel on the picked accelerator");
    exceptions(def);
    return g_failed ? 1 : 0;
}
