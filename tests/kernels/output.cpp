// What programs print by std::cout and std::wcout: `output WHAT`. tests/kernels/output.cmake compares. A source without
// kernels is compiled as by the program's own compiler, so there is one.
#include <amp.h>

#include <clocale>
#include <cstdio>
#include <cwchar>
#include <iostream>
#include <string>

static void wide(const wchar_t *text) {
    std::wcout << L"wide " << text << L' ' << 1 << std::endl;
    std::wcout << std::wstring(3, L'w') << L"\n";
    std::wcerr << L"error " << text << std::endl;
}

static void narrow() {
    std::cout << "narrow " << 2 << std::endl;
    std::cout << std::string(3, 'n') << "\n";
    std::cerr << "error" << std::endl;
}

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what.find("locale") != std::string::npos) std::setlocale(LC_ALL, "C.UTF-8");
    const wchar_t *const text = what.find("ascii") == std::string::npos ? L"caf\u00e9 \u20ac \U0001f600" : L"text";
    if (what.find("both") == 0) {
        wide(text);
        narrow();
        std::printf("printf %d\n", 3);
        std::wcout << text << std::endl;
        std::cout << "end" << std::endl;
    } else if (what.find("narrow_first") == 0) {
        std::cout << "first ";
        wide(text);
        std::cout << "last" << std::endl;
    } else if (what.find("wide") == 0) {
        wide(text);
        std::wcout.flush();
        if (what.find("wprintf") != std::string::npos) {
            std::wprintf(L"%ls of C\n", text);
            wide(text);
        }
        if (!std::wcout) return 1;
    } else if (what == "narrow") {
        narrow();
    } else if (what == "kernel") {
        concurrency::array<int> one(1);
        parallel_for_each(
            one.extent, [&one](concurrency::index<1> i) restrict(amp) { one[i] = 1; });
    } else {
        return 2;
    }
    return 0;
}
