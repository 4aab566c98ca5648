// Server.cpp: answers requests for convolutions over a socket or a pipe, with a cache in shared memory.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include <winsock2.h> //@ winsock2.h
#include <ws2tcpip.h> //@ ws2tcpip.h
#include <Windows.h> //@ windows.h
#include <Psapi.h> //@ psapi.h
#include <io.h> //@ io.h
#include <fcntl.h>
#include <amp.h>
#include <amp_math.h>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#pragma comment(lib, "Ws2_32.lib") //@ #pragma comment
#pragma comment(lib, "psapi.lib") //@ #pragma comment

namespace dsp = concurrency::precise_math;

#define BUFFER_BYTES 4096
#define LOG(...) _ftprintf(stderr, __VA_ARGS__) //@ _ftprintf
#define THROW_LAST() throw std::runtime_error(std::to_string(::GetLastError())) //@ GetLastError

enum REQUEST_KIND { REQUEST_NONE, REQUEST_CONVOLVE, REQUEST_STOP };

struct Message
{
    REQUEST_KIND kind;
    UINT32 size; //@ UINT32
    ULONGLONG stamp; //@ ULONGLONG
    unsigned __int16 port; //@ __int16
};

template <typename T> class Convolver
{
public:
    typedef std::map<std::wstring, std::vector<T>> Cache;

    explicit Convolver(std::vector<T> taps) : m_taps(std::move(taps)) {}

    void Run(const std::vector<T> &in, std::vector<T> &out)
    {
        const int n = (int)in.size(), k = (int)m_taps.size();
        out.resize(n);
        concurrency::array_view<const T, 1> a(n, in), w(k, m_taps);
        concurrency::array_view<T, 1> b(n, out);
        b.discard_data();
        concurrency::parallel_for_each(b.extent, [=](concurrency::index<1> i) restrict(amp) {
            T sum = 0;
            for (int j = 0; j < k; ++j)
            {
                const int at = i[0] + j - k / 2;
                if (at >= 0 && at < n)
                    sum += a[at] * w[j];
            }
            b[i] = sum;
        });
        b.synchronize();
    }

    const std::vector<T> *Find(const std::wstring &name) const
    {
        Cache::const_iterator found = m_cache.find(name); //@ Cache::const_iterator
        return found == m_cache.end() ? nullptr : &found->second;
    }

    void Keep(std::wstring &name, const std::vector<T> &values) { m_cache[name] = values; }

private:
    std::vector<T> m_taps;
    Cache m_cache;
};

class Socket
{
public:
    Socket() : m_socket(INVALID_SOCKET) {} //@ INVALID_SOCKET
    explicit Socket(SOCKET s) : m_socket(s) {} //@ SOCKET
    ~Socket() { if (m_socket != INVALID_SOCKET) closesocket(m_socket); } //@ INVALID_SOCKET; closesocket

    bool Listen(USHORT port) //@ USHORT
    {
        m_socket = ::socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
        if (m_socket == INVALID_SOCKET) //@ INVALID_SOCKET
            return false;
        SOCKADDR_IN address = {0}; //@ SOCKADDR_IN
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        if (::bind(m_socket, (LPSOCKADDR)&address, sizeof(address)) == SOCKET_ERROR) //@ LPSOCKADDR; SOCKET_ERROR
        {
            LOG(_T("bind: %d\n"), WSAGetLastError()); //@ _T(; WSAGetLastError
            return false;
        }
        u_long nonBlocking = 1;
        ioctlsocket(m_socket, FIONBIO, &nonBlocking); //@ ioctlsocket
        return ::listen(m_socket, SOMAXCONN) == 0;
    }

private:
    SOCKET m_socket; //@ SOCKET
};

class SharedMemory
{
public:
    SharedMemory(LPCWSTR name, DWORD size) //@ LPCWSTR; DWORD
    {
        m_mapping = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, size, name); //@ CreateFileMappingW; INVALID_HANDLE_VALUE; PAGE_READWRITE
        if (!m_mapping)
            THROW_LAST();
        m_view = MapViewOfFile(m_mapping, FILE_MAP_ALL_ACCESS, 0, 0, size); //@ MapViewOfFile; FILE_MAP_ALL_ACCESS
    }
    ~SharedMemory()
    {
        UnmapViewOfFile(m_view); //@ UnmapViewOfFile
        CloseHandle(m_mapping); //@ CloseHandle
    }
    PBYTE Bytes() const { return static_cast<PBYTE>(m_view); } //@ PBYTE

private:
    HANDLE m_mapping; //@ HANDLE
    LPVOID m_view; //@ LPVOID
};

static BOOL WINAPI OnControl(DWORD type) //@ BOOL; WINAPI; DWORD
{
    return type == CTRL_C_EVENT ? TRUE : FALSE; //@ CTRL_C_EVENT; TRUE; FALSE
}

static SIZE_T MemoryInUse() //@ SIZE_T
{
    PROCESS_MEMORY_COUNTERS counters; //@ PROCESS_MEMORY_COUNTERS
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters))) //@ GetProcessMemoryInfo; GetCurrentProcess
        return 0;
    return counters.WorkingSetSize;
}

static bool ReadRequest(HANDLE pipe, Message &message) //@ HANDLE
{
    DWORD read = 0, available = 0; //@ DWORD
    if (!PeekNamedPipe(pipe, NULL, 0, NULL, &available, NULL) || available < sizeof(Message)) //@ PeekNamedPipe
        return false;
    return ReadFile(pipe, &message, sizeof(message), &read, NULL) && read == sizeof(message); //@ ReadFile
}

static std::wstring KeyOf(const Message &message)
{
    std::wostringstream text;
    text << message.size << L"@" << message.stamp;
    return text.str();
}

int __cdecl main(int argc, char *argv[]) //@ __cdecl
{
    WSADATA data; //@ WSADATA
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0) //@ WSAStartup; MAKEWORD
        return EXIT_FAILURE;
    SetConsoleCtrlHandler(OnControl, TRUE); //@ SetConsoleCtrlHandler; TRUE
    _setmode(_fileno(stdout), _O_BINARY); //@ _setmode; _fileno; _O_BINARY
    Convolver<float> convolver(std::vector<float>(15, 1.0f / 15));
    SharedMemory memory(L"Local\\Convolver", BUFFER_BYTES);
    Socket socket;
    if (!socket.Listen(argc > 1 ? (USHORT)_ttoi(argv[1]) : 4711)) //@ USHORT; _ttoi
        return EXIT_FAILURE;
    HANDLE pipe = CreateNamedPipe(_T("\\\\.\\pipe\\convolver"), PIPE_ACCESS_DUPLEX, PIPE_TYPE_MESSAGE | PIPE_WAIT, 1, 0, 0, 0, NULL); //@ HANDLE; CreateNamedPipe; _T(; PIPE_ACCESS_DUPLEX; PIPE_TYPE_MESSAGE; PIPE_WAIT
    std::vector<float> in(256, 1.0f), out;
    for (;;)
    {
        Message message = {};
        if (!ReadRequest(pipe, message))
        {
            if (WaitForSingleObject(pipe, 50) == WAIT_ABANDONED) //@ WaitForSingleObject; WAIT_ABANDONED
                break;
            continue;
        }
        if (message.kind == REQUEST_STOP)
            break;
        convolver.Run(in, out);
        convolver.Keep(KeyOf(message), out); //@ KeyOf(
        memcpy_s(memory.Bytes(), BUFFER_BYTES, &out[0], min(out.size() * sizeof(float), (size_t)BUFFER_BYTES)); //@ memcpy_s; min(
        LOG(_T("%Iu bytes in use\n"), MemoryInUse()); //@ _T(; %Iu
    }
    WSACleanup(); //@ WSACleanup
    return EXIT_SUCCESS;
}
