// The program `output WHAT` prints through std::cout and std::wcout. tests/kernels/output.cmake checks the output. The
// file has a kernel, because otherwise revamp-c++ would pass the file to the project's compiler.
#include <amp.h>

#include <clocale>
#include <cstdio>
#include <cwchar>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

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

// Writes to a full pipe. A signal interrupts the write, and the handler of the signal makes room in the pipe.
static int interrupted() {
    static int ends[2];
    const char bytes[4096] = {};
    if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) return 3;
    while (write(ends[1], bytes, sizeof bytes) > 0) {
    }
    if (fcntl(ends[1], F_SETFL, 0) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) return 3;
    struct sigaction action = {};
    action.sa_handler = [](int) {
        char room[8192];
        if (read(ends[0], room, sizeof room) < 0) _exit(4);
    };
    if (sigaction(SIGALRM, &action, nullptr) != 0) return 3;
    alarm(1);
    std::wcout << L"text" << std::flush;
    return std::wcout ? 0 : 1;
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
    } else if (what == "interrupted") {
        return interrupted();
    } else if (what == "kernel") {
        concurrency::array<int> one(1);
        parallel_for_each(
            one.extent, [&one](concurrency::index<1> i) restrict(amp) { one[i] = 1; });
    } else {
        return 2;
    }
    return 0;
}
