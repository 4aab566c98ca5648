// A program that prints like the samples: descriptions through wcout, results through cout.
#include <amp.h>

int main() {
    std::wcout << L"wide \u20ac " << 1 << std::endl;
    std::cout << "narrow " << 2 << std::endl;
    std::wcout << std::wstring(3, L'w') << std::endl;
    std::wcerr << L"error" << std::endl;
}
