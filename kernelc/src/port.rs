//! `revamp-port`: lists what in a source only Microsoft's compiler takes, or revamp does not have, with the reason and what to
//! write instead. It looks at tokens; comments and the insides of strings do not count.

use crate::wide_formats;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

/// A row of the table: where the pattern's tokens follow each other, the reason and the replacement are told.
struct Row {
    /// Tokens between blanks.
    pattern: &'static str,
    reason: &'static str,
    replacement: &'static str,
}

const fn row(pattern: &'static str, reason: &'static str, replacement: &'static str) -> Row {
    Row { pattern, reason, replacement }
}

const INTEROP: &str = "there is no Direct3D to work with";
const THROUGH_HOST: &str = "copy through the host; accelerator_views need no locks";
const PPL: &str = "the Parallel Patterns Library is not part of C++ AMP";
const CRT: &str = "a function of Microsoft's C library";

/// In the order in which they are told of one place.
const ROWS: &[Row] = &[
    // Includes.
    row("# include \"stdafx.h\"", "a precompiled header of Visual Studio", "drop it, or include what it includes"),
    row("# include \"pch.h\"", "a precompiled header of Visual Studio", "drop it, or include what it includes"),
    row("# include <windows.h>", "a header of Windows", "drop it; HRESULT, UINT, FAILED come with <amp.h>"),
    row("# include <tchar.h>", "a header of Windows", "drop it; char"),
    row("# include <sdkddkver.h>", "a header of Windows", "drop it"),
    row("# include <atlbase.h>", "a header of Windows", "drop it"),
    row("# include <conio.h>", "a header of Windows", "drop it; std::cin.get()"),
    row("# include <malloc.h>", "_aligned_malloc is not there", "<cstdlib>: std::aligned_alloc"),
    row("# include <intrin.h>", "intrinsics of MSVC", "<immintrin.h>, __builtin_ functions"),
    row(
        "# include <ppl.h>",
        PPL,
        "std::for_each(std::execution::par, ...), OpenMP, or a launch on accelerator(L\"host\")",
    ),
    row("# include <ppltasks.h>", PPL, "concurrency::task of <amp.h> has then, get, wait; else std::async"),
    row("# include <agents.h>", PPL, "std::thread with a queue, std::promise"),
    row("# include <concrt.h>", PPL, "std::mutex, std::thread"),
    row("# include <concurrent_vector.h>", PPL, "std::vector with a std::mutex, or tbb::concurrent_vector"),
    row("# include <concurrent_queue.h>", PPL, "std::queue with a std::mutex, or tbb::concurrent_queue"),
    row("# include <d3d11.h>", INTEROP, THROUGH_HOST),
    row("# include <d3dx11.h>", INTEROP, THROUGH_HOST),
    row("# include <wrl.h>", "smart pointers of Windows", "std::shared_ptr"),
    row("# include <wincodec.h>", "a header of Windows", "a library of your own for images"),
    row("# include <gdiplus.h>", "a header of Windows", "a library of your own for images"),
    row("# include <atlimage.h>", "a header of Windows", "a library of your own for images"),
    row("# include <atlstr.h>", "a header of Windows", "<string>"),
    row("# include <afxwin.h>", "a header of MFC", "drop it"),
    row("# include <afx.h>", "a header of MFC", "drop it"),
    row("# include <xnamath.h>", "a header of Windows", "concurrency::graphics::float_4, a class of your own"),
    row("# include <directxmath.h>", "a header of Windows", "concurrency::graphics::float_4, a class of your own"),
    row("# include <mmsystem.h>", "a header of Windows", "drop it; std::chrono"),
    row("# include <crtdbg.h>", "a header of Microsoft's C library", "drop it; -fsanitize=address"),
    row("# include <strsafe.h>", "a header of Windows", "<cstdio>, <string>"),
    row("# include <process.h>", "a header of Microsoft's C library", "<thread>"),
    row("# include <io.h>", "a header of Microsoft's C library", "<unistd.h>, <filesystem>"),
    row("# include <direct.h>", "a header of Microsoft's C library", "<filesystem>"),
    row("# include <comdef.h>", "a header of COM", "drop it"),
    row("# include <winsock2.h>", "a header of Windows", "<sys/socket.h>"),
    row("# pragma warning", "warnings of MSVC", "drop it (GCC warns of it under -Wall)"),
    row("# pragma comment", "names a library to MSVC's linker", "link it: -l, target_link_libraries"),
    row("# pragma region", "an outline of Visual Studio", "drop it"),
    row("# import", "reads a type library", "no counterpart"),
    // The beginning of a program.
    row("_tmain", "main of <tchar.h>", "int main()"),
    row("wmain", "main with wide arguments", "int main()"),
    row("wWinMain", "the entry of a program with windows", "int main()"),
    row("_tWinMain", "the entry of a program with windows", "int main()"),
    row("WinMain", "the entry of a program with windows", "int main()"),
    row("void main (", "main returns int", "int main()"),
    row("_TCHAR", "a type of <tchar.h>", "char"),
    row("TCHAR", "a type of <tchar.h>", "char"),
    row("LPTSTR", "a type of Windows", "char *"),
    row("LPCTSTR", "a type of Windows", "const char *"),
    row("_T (", "a macro of <tchar.h>", "the string itself"),
    row("_TEXT (", "a macro of <tchar.h>", "the string itself"),
    row("TEXT (", "a macro of Windows", "the string itself"),
    // The language.
    row(
        "__declspec ( property",
        "properties; revamp-c++ takes them (-fdeclspec), GCC does not",
        "call the functions that get= and put= name",
    ),
    row("__declspec ( align", "MSVC's alignas", "alignas(N)"),
    row("__declspec ( dllexport", "MSVC's way to export", "__attribute__((visibility(\"default\")))"),
    row("__declspec ( dllimport", "MSVC's way to import", "drop it"),
    row("__declspec ( noinline", "MSVC's attribute", "__attribute__((noinline))"),
    row("__declspec ( thread", "MSVC's thread_local", "thread_local"),
    row("__declspec ( novtable", "MSVC's attribute", "drop it"),
    row("__declspec ( selectany", "MSVC's way to define a variable in a header", "inline"),
    row("__declspec ( noreturn", "MSVC's attribute", "[[noreturn]]"),
    row("__declspec ( deprecated", "MSVC's attribute", "[[deprecated]]"),
    row("__declspec ( restrict", "MSVC's attribute", "drop it"),
    row("__declspec ( naked", "MSVC's attribute", "no counterpart"),
    row("throw ( . . . )", "MSVC's way to say that exceptions come", "noexcept(false), or drop it"),
    row("exception ( \"\"", "std::exception takes no text", "std::runtime_error(\"...\") of <stdexcept>"),
    row("__asm", "MSVC's assembler", "no counterpart; intrinsics"),
    row("gcnew", "C++/CLI", "standard C++"),
    row("_int64", "MSVC's type", "std::int64_t"),
    row("__forceinline", "MSVC's keyword", "inline"),
    row("__inline", "MSVC's keyword", "inline"),
    row("__cdecl", "a calling convention of Windows", "drop it"),
    row("__stdcall", "a calling convention of Windows", "drop it"),
    row("WINAPI", "a calling convention of Windows", "drop it"),
    row("__int64", "MSVC's type", "std::int64_t"),
    row("__int32", "MSVC's type", "std::int32_t"),
    row("__int16", "MSVC's type", "std::int16_t"),
    row("__uint64", "MSVC's type", "std::uint64_t"),
    row("DWORD", "a type of Windows", "std::uint32_t"),
    row("BOOL", "a type of Windows", "bool"),
    row("BYTE", "a type of Windows", "unsigned char"),
    row("WORD", "a type of Windows", "std::uint16_t"),
    row("ULONG", "a type of Windows", "std::uint32_t"),
    row("HANDLE", "a type of Windows", "an object of the standard library"),
    row("HWND", "a type of Windows", "no counterpart"),
    row("LPVOID", "a type of Windows", "void *"),
    row("LPWSTR", "a type of Windows", "wchar_t *"),
    row("LPCWSTR", "a type of Windows", "const wchar_t *"),
    row("LPSTR", "a type of Windows", "char *"),
    row("LPCSTR", "a type of Windows", "const char *"),
    row("IUnknown", "COM", THROUGH_HOST),
    row("CString", "a class of MFC and ATL", "std::string"),
    row("CStringA", "a class of MFC and ATL", "std::string"),
    row("CStringW", "a class of MFC and ATL", "std::wstring"),
    row("SYSTEMTIME", "a type of Windows", "std::chrono::system_clock"),
    row("LONGLONG", "a type of Windows", "std::int64_t"),
    row("LARGE_INTEGER", "a type of Windows", "std::int64_t, std::chrono"),
    row("__assume (", "MSVC's hint", "drop it, or __builtin_unreachable() behind an if"),
    row("__debugbreak", "MSVC's breakpoint", "__builtin_trap()"),
    row("__noop", "MSVC's nothing", "(void)0"),
    row("__super", "MSVC's base class", "the name of the base class"),
    row("__if_exists", "MSVC's conditional", "if constexpr"),
    row("__FUNCSIG__", "MSVC's name of the function", "__PRETTY_FUNCTION__"),
    row("__pragma (", "MSVC's pragma in a macro", "_Pragma(\"...\")"),
    row("for each (", "MSVC's loop", "for (auto &x : v)"),
    row("__try", "structured exceptions of Windows", "try"),
    row("__except", "structured exceptions of Windows", "catch"),
    row("__finally", "structured exceptions of Windows", "a destructor"),
    row(
        "static_assert ( false",
        "fails also where the template is never made",
        "a condition that depends on a parameter: sizeof(T) == 0",
    ),
    row("std :: auto_ptr", "gone since C++17", "std::unique_ptr"),
    row("std :: bind1st", "gone since C++17", "a lambda"),
    row("std :: bind2nd", "gone since C++17", "a lambda"),
    row("std :: mem_fun", "gone since C++17", "std::mem_fn"),
    row("std :: ptr_fun", "gone since C++17", "a lambda"),
    row("std :: random_shuffle", "gone since C++17", "std::shuffle"),
    row("stdext ::", "MSVC's extensions of the library", "the iterator itself"),
    row("std :: tr1 ::", "the library before C++11", "std::"),
    // Macros and functions.
    row("__max (", "a macro of MSVC", "std::max"),
    row("__min (", "a macro of MSVC", "std::min"),
    row("_countof (", "a macro of MSVC", "std::size"),
    row("ARRAYSIZE (", "a macro of Windows", "std::size"),
    row("ZeroMemory (", "a macro of Windows", "std::memset"),
    row("CopyMemory (", "a macro of Windows", "std::memcpy"),
    row("UNREFERENCED_PARAMETER (", "a macro of Windows", "(void)name"),
    row("_ASSERT (", "a macro of MSVC", "assert of <cassert>"),
    row("_ASSERTE (", "a macro of MSVC", "assert of <cassert>"),
    row("QueryPerformanceCounter", "a clock of Windows", "std::chrono::steady_clock::now()"),
    row(
        "QueryPerformanceFrequency",
        "a clock of Windows",
        "std::chrono::steady_clock; there is no frequency to ask for",
    ),
    row("GetTickCount", "a clock of Windows", "std::chrono::steady_clock"),
    row("GetTickCount64", "a clock of Windows", "std::chrono::steady_clock"),
    row("timeGetTime", "a clock of Windows", "std::chrono::steady_clock"),
    row("Sleep (", "a function of Windows", "std::this_thread::sleep_for"),
    row("OutputDebugString", "a function of Windows", "std::cerr"),
    row("OutputDebugStringA", "a function of Windows", "std::cerr"),
    row("OutputDebugStringW", "a function of Windows", "std::wcerr"),
    row("MessageBox", "a function of Windows", "std::cerr"),
    row("GetLastError", "a function of Windows", "errno"),
    row("CreateThread", "a function of Windows", "std::thread"),
    row("WaitForSingleObject", "a function of Windows", "join, std::condition_variable"),
    row("InitializeCriticalSection", "a lock of Windows", "std::mutex"),
    row("CRITICAL_SECTION", "a lock of Windows", "std::mutex"),
    row("InterlockedIncrement", "an atomic of Windows", "std::atomic; in kernels atomic_fetch_inc"),
    row("InterlockedExchangeAdd", "an atomic of Windows", "std::atomic; in kernels atomic_fetch_add"),
    row("CoInitialize", "COM", "drop it"),
    row("CoInitializeEx", "COM", "drop it"),
    row("CComPtr", "COM", "std::shared_ptr"),
    row("ComPtr", "COM", "std::shared_ptr"),
    row("_getch", CRT, "std::cin.get()"),
    row("_kbhit", CRT, "no counterpart"),
    row("fopen_s", CRT, "std::fopen"),
    row("_wfopen_s", CRT, "std::fopen"),
    row("sprintf_s", CRT, "std::snprintf"),
    row("swprintf_s", CRT, "std::swprintf, with %ls for wide text and %hs for narrow (%s is narrow there)"),
    row("_snprintf", CRT, "std::snprintf"),
    row("strcpy_s", CRT, "std::string"),
    row("strncpy_s", CRT, "std::string"),
    row("strcat_s", CRT, "std::string"),
    row("scanf_s", CRT, "std::scanf"),
    row("sscanf_s", CRT, "std::sscanf"),
    row("printf_s", CRT, "std::printf"),
    row("wprintf", "wide output; printf and std::cout are lost after it", "std::printf, with %ls for wide text"),
    row("_tprintf", "a macro of <tchar.h>", "std::printf"),
    row("localtime_s", CRT, "localtime_r, with its arguments exchanged"),
    row("memcpy_s", CRT, "std::memcpy"),
    row("rand_s", CRT, "<random>"),
    row("_aligned_malloc", CRT, "std::aligned_alloc(alignment, size), its arguments exchanged"),
    row("_aligned_free", CRT, "std::free"),
    row("_stricmp", CRT, "strcasecmp of <strings.h>"),
    row("_strnicmp", CRT, "strncasecmp of <strings.h>"),
    row("_wcsicmp", CRT, "wcscasecmp of <wchar.h>"),
    row("strtok_s", CRT, "strtok_r"),
    row("_alloca", CRT, "std::vector"),
    row("_itoa", CRT, "std::to_string"),
    row("_access", CRT, "std::filesystem::exists"),
    row("_mkdir", CRT, "std::filesystem::create_directory"),
    row("_time64", CRT, "std::time"),
    row("timeBeginPeriod", "a clock of Windows", "drop it"),
    row("timeEndPeriod", "a clock of Windows", "drop it"),
    row("system ( \"\"", "what it names is a command of Windows, as pause", "drop it, or a command of this system"),
    row("_strdup", CRT, "strdup"),
    row("_wtoi", CRT, "std::stoi"),
    row("_ttoi", CRT, "std::atoi"),
    row("_itoa_s", CRT, "std::to_string"),
    row("_isnan", CRT, "std::isnan"),
    row("_finite", CRT, "std::isfinite"),
    row("_hypot", CRT, "std::hypot"),
    row("_CrtSetDbgFlag", CRT, "drop it; -fsanitize=address"),
    row("_CrtDumpMemoryLeaks", CRT, "drop it; -fsanitize=address"),
    row("_CrtSetReportMode", CRT, "drop it"),
    row("_controlfp_s", CRT, "<cfenv>"),
    row("_beginthreadex", CRT, "std::thread"),
    // PPL and agents.
    row("parallel_for (", PPL, "a loop, OpenMP, or a launch on accelerator(L\"host\")"),
    row("parallel_invoke (", PPL, "std::async"),
    row("parallel_sort (", PPL, "std::sort(std::execution::par, ...)"),
    row("parallel_transform (", PPL, "std::transform(std::execution::par, ...)"),
    row("parallel_reduce (", PPL, "std::reduce"),
    row("concurrent_vector", PPL, "std::vector with a std::mutex, or tbb::concurrent_vector"),
    row("concurrent_queue", PPL, "std::queue with a std::mutex, or tbb::concurrent_queue"),
    row("combinable", PPL, "one value a thread, added at the end"),
    row("concurrent_unordered_map", PPL, "std::unordered_map with a std::mutex"),
    row("structured_task_group", PPL, "std::async"),
    row("cancellation_token_source", PPL, "std::atomic<bool>"),
    row("reader_writer_lock", PPL, "std::shared_mutex"),
    row("task_group", PPL, "std::async"),
    row("critical_section", PPL, "std::mutex"),
    row("unbounded_buffer", PPL, "std::queue with a std::mutex"),
    row("create_task (", PPL, "std::async; completion_future::to_task gives a task"),
    row("task_from_result", PPL, "std::promise; completion_future::to_task gives a task"),
    row("task_completion_event", PPL, "std::promise"),
    // C++ AMP that is not there, or is different.
    row("direct3d :: get_device", INTEROP, THROUGH_HOST),
    row("direct3d :: get_buffer", INTEROP, THROUGH_HOST),
    row("direct3d :: make_array", INTEROP, THROUGH_HOST),
    row(
        "direct3d :: create_accelerator_view",
        "only with an accelerator; there is no Direct3D device to give",
        "accelerator::create_view()",
    ),
    row("make_array <", INTEROP, THROUGH_HOST),
    row("scoped_d3d_access_lock", INTEROP, "drop it; accelerator_views need no locks"),
    row("d3d_access_lock", INTEROP, "drop it; accelerator_views need no locks"),
    row("ID3D11Device", INTEROP, THROUGH_HOST),
    row("ID3D11Buffer", INTEROP, THROUGH_HOST),
    row("ID3D11Texture2D", INTEROP, THROUGH_HOST),
    row("make_texture", INTEROP, THROUGH_HOST),
    row("get_texture", INTEROP, THROUGH_HOST),
    row("make_sampler", INTEROP, "a sampler of its filter and address mode"),
    row("get_sampler", INTEROP, "a sampler of the other API's own"),
];

/// Functions and classes that MSVC's headers bring by the way, the header that brings them elsewhere, and its name in C.
const BROUGHT: &[(&[&str], &str, &str)] = &[
    (&["assert"], "<cassert>", "<assert.h>"),
    (&["memcpy", "memset", "memmove", "memcmp", "strlen", "strcmp", "strcpy", "strcat"], "<cstring>", "<string.h>"),
    (&["printf", "fprintf", "sprintf", "snprintf", "getchar", "puts", "scanf"], "<cstdio>", "<stdio.h>"),
    (&["rand", "srand", "atoi", "atof", "malloc", "free", "exit"], "<cstdlib>", "<stdlib.h>"),
    (&["time", "clock", "localtime"], "<ctime>", "<time.h>"),
    (&["setw", "setprecision", "setfill"], "<iomanip>", ""),
    (&["stringstream", "ostringstream", "istringstream", "wstringstream"], "<sstream>", ""),
    (&["ifstream", "ofstream", "fstream"], "<fstream>", ""),
    (&["accumulate", "iota", "inner_product", "partial_sum"], "<numeric>", ""),
    (&["mt19937", "uniform_int_distribution", "uniform_real_distribution", "random_device"], "<random>", ""),
];
/// Headers of C++ AMP, in whose names Windows does not mind the case.
const OURS: [&str; 5] = ["<amp.h>", "<amprt.h>", "<amp_math.h>", "<amp_short_vectors.h>", "<amp_graphics.h>"];

/// A token and the line it is on.
struct Token {
    text: String,
    line: usize,
    /// As it is written, of the name of a header.
    header: Option<String>,
}

/// What is to be edited.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    line: usize,
    found: String,
    reason: &'static str,
    replacement: String,
}

/// A source, with its own headers by their names.
struct Source<'t> {
    tokens: &'t [Token],
    headers: &'t [(String, Vec<Token>)],
}

impl Source<'_> {
    /// What the source includes, as do its own headers.
    fn included(&self) -> BTreeSet<&str> {
        let all = self.tokens.iter().chain(self.headers.iter().flat_map(|(_, inside)| inside));
        all.filter(|t| t.header.is_some()).map(|t| t.text.as_str()).collect()
    }
}

/// Finds some kind of edits.
type Check = fn(&Source<'_>, &mut BTreeSet<Finding>);

const CHECKS: [Check; 8] = [rows, spellings, missing, numbers, calls, asserts, tasks, templates];

/// The whole of `revamp-port FILE...`: 0 if nothing is to be done, 1 if something is, 2 if a file cannot be read.
pub fn port(arguments: &[OsString]) -> i32 {
    let help = arguments.first().is_some_and(|a| a == "--help" || a == "-h");
    if arguments.is_empty() || help {
        print!("{HELP}");
        return if help { 0 } else { 2 };
    }
    let mut status = 0;
    for file in arguments.iter().map(Path::new) {
        match std::fs::read(file) {
            Ok(bytes) => {
                for f in findings(&bytes, file.parent()) {
                    println!("{}:{}: {}: {}; {}", file.display(), f.line, f.found, f.reason, f.replacement);
                    status = status.max(1);
                }
            }
            Err(e) => {
                eprintln!("revamp-port: error: {}: {e}", file.display());
                status = 2;
            }
        }
    }
    status
}

const HELP: &str = "\
usage: revamp-port FILE...

Lists what in C++ AMP sources only Microsoft's compiler takes or revamp does not have, before they are compiled here: file, line, what
was found, why, and what to write instead. Comments and strings do not count. Exits with 0 if there is nothing to do, with 1 if there is,
with 2 if a file cannot be read. docs/porting.md has more.
";

/// What is to be edited in a source, by line. `folder`: where its own headers are.
fn findings(bytes: &[u8], folder: Option<&Path>) -> BTreeSet<Finding> {
    let mut all = BTreeSet::new();
    let (text, is_wide) = text_of(bytes);
    if is_wide {
        let replacement = "iconv -f UTF-16 -t UTF-8".to_owned();
        all.insert(Finding { line: 1, found: "UTF-16".to_owned(), reason: "compilers here read UTF-8", replacement });
    }
    let tokens = tokens(&text);
    let headers = folder.map(|folder| own_headers(&tokens, folder)).unwrap_or_default();
    let source = Source { tokens: &tokens, headers: &headers };
    CHECKS.iter().for_each(|check| check(&source, &mut all));
    for wide_formats::Conversion { start, text: found } in wide_formats::found(&text) {
        let line = text[..start].matches('\n').count() + 1;
        let replacement = wide_formats::REPLACEMENT.to_owned();
        all.insert(Finding { line, found, reason: wide_formats::REASON, replacement });
    }
    all
}

/// The source as text, and whether it was UTF-16.
fn text_of(bytes: &[u8]) -> (String, bool) {
    let words = |of: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes[2..].chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect()
    };
    match bytes {
        [0xFF, 0xFE, ..] => (String::from_utf16_lossy(&words(u16::from_le_bytes)), true),
        [0xFE, 0xFF, ..] => (String::from_utf16_lossy(&words(u16::from_be_bytes)), true),
        _ => (String::from_utf8_lossy(bytes).into_owned(), false),
    }
}

/// True for what names are made of.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The tokens of a source. Strings are `""`, except the names of headers, which are in lower case and with `/`.
fn tokens(source: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let in_include = matches!(&found[..], [.., hash, word] if hash.text == "#" && word.text == "include");
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |n| n + 4),
            'R' if rest.starts_with("R\"") => raw_string(rest),
            '"' | '\'' => quoted(rest, first),
            '<' if in_include => rest.find(['>', '\n']).map_or(rest.len(), |n| n + 1),
            c if is_word(c) => {
                // A digit may be followed by the separator of digits.
                let number = c.is_ascii_digit();
                rest.find(|c| !(is_word(c) || number && (c == '\'' || c == '.'))).unwrap_or(rest.len())
            }
            _ if rest.starts_with("::") || rest.starts_with("->") => 2,
            c => c.len_utf8(),
        };
        let text = &rest[..length];
        let is_comment = text.starts_with("//") || text.starts_with("/*");
        if !first.is_whitespace() && !is_comment {
            let text = match first {
                '"' | '<' if in_include => text.to_lowercase().replace('\\', "/"),
                '"' | '\'' => "\"\"".to_owned(),
                _ if text.starts_with("R\"") => "\"\"".to_owned(),
                _ => text.to_owned(),
            };
            let header = (matches!(first, '"' | '<') && in_include).then(|| rest[..length].to_owned());
            found.push(Token { text, line, header });
        }
        line += text.matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// The length of a string or character that the source begins with.
fn quoted(source: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in source.char_indices().skip(1) {
        if c == '\n' && !escaped {
            return at;
        }
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    source.len()
}

/// The length of a raw string.
fn raw_string(source: &str) -> usize {
    let Some(open) = source.find('(') else { return source.len() };
    let end = format!("){}\"", &source[2..open]);
    source[open..].find(&end).map_or(source.len(), |n| open + n + end.len())
}

/// The source's own headers that are there, by their names, with what they include themselves.
fn own_headers(tokens: &[Token], folder: &Path) -> Vec<(String, Vec<Token>)> {
    let named = |tokens: &[Token]| -> Vec<(String, String)> {
        let quoted = tokens.iter().filter_map(|t| Some((t.text.clone(), t.header.clone()?)));
        quoted.filter(|(_, written)| written.starts_with('"')).collect()
    };
    let mut waiting = named(tokens);
    let mut found: Vec<(String, Vec<Token>)> = Vec::new();
    while let Some((name, written)) = waiting.pop() {
        let file = folder.join(written.trim_matches('"'));
        if found.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let Ok(bytes) = std::fs::read(file) else { continue };
        let inside = self::tokens(&text_of(&bytes).0);
        waiting.extend(named(&inside));
        found.push((name, inside));
    }
    found
}

/// The names that the source gives to types and macros of its own.
fn own_names(tokens: &[Token]) -> BTreeSet<&str> {
    let text = |at: usize| tokens.get(at).map_or("", |t| t.text.as_str());
    let declared = (0..tokens.len()).filter_map(|at| match (text(at), text(at + 1)) {
        ("#", "define") => Some(text(at + 2)),
        ("using", name) if text(at + 2) == "=" => Some(name),
        ("struct" | "class", name) if matches!(text(at + 2), "{" | ":") => Some(name),
        ("typedef", _) => (at..tokens.len()).find(|n| text(*n) == ";").map(|end| text(end - 1)),
        _ => None,
    });
    declared.collect()
}

/// Where the rows of the table occur.
fn rows(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let Source { tokens, headers } = source;
    let mut own = own_names(tokens);
    own.extend(headers.iter().flat_map(|(_, inside)| own_names(inside)));
    for Row { pattern, reason, replacement } in ROWS {
        let words: Vec<&str> = pattern.split(' ').collect();
        let is_there = headers.iter().any(|(name, _)| pattern.strip_prefix("# include ") == Some(name));
        if words.len() == 1 && own.contains(pattern) || is_there {
            continue;
        }
        for (at, place) in tokens.windows(words.len()).enumerate() {
            // A member of the program's own has nothing to do with it.
            let is_member = at > 0 && matches!(tokens[at - 1].text.as_str(), "." | "->");
            if !is_member && place.iter().zip(&words).all(|(token, word)| token.text == *word) {
                let found = words
                    .join(" ")
                    .replace(". . . ", "...")
                    .replace(" :: ", "::")
                    .replace("# ", "#")
                    .replace(" (", "(")
                    .replace("( ", "(");
                all.insert(Finding { line: place[0].line, found, reason, replacement: (*replacement).to_owned() });
            }
        }
    }
}

/// Headers in other spellings.
fn spellings(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    for (token, written) in source.tokens.iter().filter_map(|token| Some((token, token.header.as_ref()?))) {
        let is_known = token.text.starts_with('<') && ROWS.iter().any(|row| row.pattern.ends_with(&token.text));
        let (reason, replacement) = if written.contains('\\') {
            ("'/' stands between folders here", written.replace('\\', "/"))
        } else if OURS.contains(&token.text.as_str()) && token.text != *written {
            ("names of files have capital letters or not", token.text.clone())
        } else {
            continue;
        };
        if !is_known {
            let found = format!("#include {written}");
            all.insert(Finding { line: token.line, found, reason, replacement: format!("#include {replacement}") });
        }
    }
}

/// Headers that are missing.
fn missing(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let (tokens, included) = (source.tokens, source.included());
    // It brings what the original brought.
    let has_amp = OURS.iter().any(|name| included.contains(name));
    for (names, header, in_c) in BROUGHT {
        if included.contains(header) || included.contains(in_c) || has_amp && *header == "<cstring>" {
            continue;
        }
        let is_use = |at: usize, t: &Token| {
            let after = tokens.get(at + 1).map(|next| next.text.as_str());
            names.contains(&t.text.as_str())
                && matches!(after, Some("(" | "<") | None)
                && !(at > 0 && matches!(tokens[at - 1].text.as_str(), "." | "->"))
        };
        if let Some((_, first)) = tokens.iter().enumerate().find(|(at, t)| is_use(*at, t)) {
            let reason = "no header that is included here needs to bring it";
            let replacement = format!("#include {header}");
            all.insert(Finding { line: first.line, found: first.text.clone(), reason, replacement });
        }
    }
}

/// The index of the token that closes the bracket at `open`.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Numbers with the suffixes of MSVC.
fn numbers(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    for token in source.tokens.iter().filter(|t| t.text.starts_with(|c: char| c.is_ascii_digit())) {
        let suffixes = [("ui64", "ull"), ("i64", "ll"), ("ui32", "u"), ("i32", "")];
        let lower = token.text.to_lowercase();
        let Some((suffix, standard)) = suffixes.iter().find(|(suffix, _)| lower.ends_with(suffix)) else { continue };
        let replacement = format!("{}{standard}", &token.text[..token.text.len() - suffix.len()]);
        let (found, reason) = (token.text.clone(), "a suffix of MSVC");
        all.insert(Finding { line: token.line, found, reason, replacement });
    }
}

/// `min`, `max` and `abs` that are nobody's.
fn calls(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let (tokens, included) = (source.tokens, source.included());
    if tokens.windows(3).any(|t| t[0].text == "using" && t[1].text == "namespace" && t[2].text == "std") {
        return;
    }
    let of_floats = included.contains("<math.h>") || included.contains("<stdlib.h>");
    for (at, pair) in tokens.windows(2).enumerate() {
        let (name, line) = (pair[0].text.as_str(), pair[0].line);
        let before = at.checked_sub(1).map_or("", |n| tokens[n].text.as_str());
        // After a type it is declared, after `::`, `.` and `->` it is somebody's.
        let is_called = matches!(before, "return" | "") || !before.ends_with(|c| is_word(c) || ":.>*&".contains(c));
        if pair[1].text != "(" || !is_called {
            continue;
        }
        let (reason, replacement) = match name {
            "min" | "max" => (
                "a macro of <windows.h>, or a function that MSVC's headers leave in the global namespace",
                format!("std::{name}, with both of one type"),
            ),
            "abs" if !of_floats => (
                "by <cmath> alone it is that of int, and cuts fractions off",
                "std::abs, or #include <math.h>".to_owned(),
            ),
            _ => continue,
        };
        all.insert(Finding { line, found: format!("{name}("), reason, replacement });
    }
}

/// `assert` with a text.
fn asserts(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let tokens = source.tokens;
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].text != "assert" || pair[1].text != "(" {
            continue;
        }
        let end = closing(tokens, at + 1).unwrap_or(tokens.len());
        let mut depth = 0_usize;
        let has_two = tokens[at + 2..end].iter().any(|t| {
            match t.text.as_str() {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && t.text == ","
        });
        if has_two {
            let replacement = "assert(condition && \"text\")".to_owned();
            let (line, found, reason) =
                (pair[0].line, "assert(condition, text)".to_owned(), "the macro takes one argument");
            all.insert(Finding { line, found, reason, replacement });
        }
    }
}

/// Tasks that are made of a function: `task<int> t([] { ... })`.
fn tasks(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let tokens = source.tokens;
    let text = |at: usize| tokens.get(at).map_or("", |t| t.text.as_str());
    for at in 0..tokens.len() {
        if text(at) != "task" || text(at + 1) != "<" {
            continue;
        }
        let end = (at + 2..tokens.len()).take_while(|&n| !matches!(text(n), ";" | "(" | "{")).find(|&n| text(n) == ">");
        let Some(end) = end else { continue };
        let open = if text(end + 1).starts_with(is_word) { end + 2 } else { end + 1 };
        if matches!(text(open), "(" | "{") && text(open + 1) == "[" {
            let replacement = "std::async; completion_future::to_task gives a task".to_owned();
            all.insert(Finding { line: tokens[at].line, found: "task<...>([".to_owned(), reason: PPL, replacement });
        }
    }
}

/// What templates must say here: `typename`, and that the dimensions of a tile are int.
fn templates(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let tokens = source.tokens;
    let text = |at: usize| tokens.get(at).map_or("", |t| t.text.as_str());
    let mut types: BTreeSet<&str> = BTreeSet::new();
    let mut unsigned: BTreeSet<&str> = BTreeSet::new();
    for at in 0..tokens.len() {
        match (text(at), text(at + 1)) {
            ("class" | "typename", name) if matches!(text(at + 2), "," | ">" | "=") => {
                types.insert(name);
            }
            ("size_t", name) | ("unsigned", name) if matches!(text(at + 2), "," | ">" | "=") && name != "int" => {
                unsigned.insert(name);
            }
            ("unsigned", "int") if matches!(text(at + 3), "," | ">" | "=") => {
                unsigned.insert(text(at + 2));
            }
            _ => {}
        }
    }
    for at in 1..tokens.len() {
        let line = tokens[at].line;
        if matches!(text(at), "tiled_index" | "tiled_extent") && text(at + 1) == "<" {
            let arguments = (at + 2..tokens.len()).map_while(|n| Some(text(n)).filter(|t| *t != ">"));
            if let Some(name) = arguments.into_iter().find(|name| unsigned.contains(name)) {
                let reason = "its parameters are int, and are not deduced for an unsigned parameter of a template";
                let found = format!("{}<{name}>", text(at));
                all.insert(Finding { line, found, reason, replacement: format!("template <int {name}>") });
            }
        }
        // `std::vector<T>::iterator i` without typename.
        let nested = matches!(text(at), "iterator" | "const_iterator" | "value_type" | "size_type" | "reference");
        if !nested || text(at - 1) != "::" || at < 4 || text(at - 2) != ">" || !text(at + 1).starts_with(is_word) {
            continue;
        }
        let Some(open) = (0..at - 2).rev().find(|&n| text(n) == "<") else { continue };
        if !(open + 1..at - 2).any(|n| types.contains(text(n))) {
            continue;
        }
        let mut first = open.saturating_sub(1);
        while first >= 2 && text(first - 1) == "::" {
            first -= 2;
        }
        if first == 0 || text(first - 1) != "typename" {
            let found = format!("{}<...>::{}", text(open.saturating_sub(1)), text(at));
            let reason = "a type that depends on a parameter of a template";
            all.insert(Finding { line, found, reason, replacement: "typename before it".to_owned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each source with what is found in it: `line found`.
    const CASES: &[(&str, &[&str])] = &[
        ("#include <amp.h>\nint main() { return 0; }\n", &[]),
        (
            "#include \"StdAfx.h\"\n#include <Windows.h>\n#include \"sub\\stdafx.h\"\n",
            &["1 #include \"stdafx.h\"", "2 #include <windows.h>", "3 #include \"sub\\stdafx.h\""],
        ),
        ("int _tmain(int n, _TCHAR *v[])\n{\n  Sleep(1);\n}", &["1 _TCHAR", "1 _tmain", "3 Sleep("]),
        (
            "// _tmain __int64\n/* Sleep(1);\n */ const char *s = \"__int64 \\\" wmain\", c = '\\'';\n__int64 x;",
            &["4 __int64"],
        ),
        ("auto s = R\"x(wmain \" )\" )x\"; int n = 1'000; __int64 y;", &["1 __int64"]),
        ("this->Sleep(3); a.concurrent_vector; mine::wprintf_like();", &[]),
        (
            "__declspec(property(get = get_x)) int x;\n__declspec(align(16)) float f;",
            &["1 __declspec(property", "2 __declspec(align"],
        ),
        ("template <class T> struct s { static_assert(false, \"no\"); };", &["1 static_assert(false"]),
        (
            "#include <cassert>\nvoid f() { assert(g(1, 2)); assert(a<b, c>()); assert(x > 0, \"text\"); }",
            &["2 assert(condition, text)"],
        ),
        (
            "int a = min(1, 2);\nint b = std::min(1, 2) + x.max(1) + p->max(2);\nreturn max(a, b);",
            &["1 min(", "3 max("],
        ),
        ("using namespace std;\nint a = min(1, 2) + abs(x);", &[]),
        ("#include <cmath>\nfloat a = abs(x) + std::abs(x);\nfloat abs(float);", &["2 abs("]),
        ("#include <math.h>\nfloat a = abs(x);", &[]),
        (
            "task<int> t([] { return 1; });\nauto u = concurrency::task<void>{[=] {}};\ntask<void> v = f.to_task(), w(v);",
            &["1 task<...>([", "2 task<...>(["],
        ),
        ("template <class T> T min(T a, T b); int &max(int &a);", &[]),
        (
            "template <class T> void f(std::vector<T> &v) {\n  std::vector<T>::iterator i = v.begin();\n  typename \
          std::vector<T>::iterator k;\n  std::vector<int>::iterator n;\n}",
            &["2 vector<...>::iterator"],
        ),
        (
            "template <unsigned int D>\nvoid f(tiled_index<D> t);\ntemplate <int E> void g(tiled_index<E> t);",
            &["2 tiled_index<D>"],
        ),
        ("template <size_t A, int B> void f(const tiled_index<B, A> &t);", &["1 tiled_index<A>"]),
        ("#include <amp.h>\nvoid f() { memcpy(a, b, 1); printf(\"x\"); }", &["2 printf"]),
        ("#include <string.h>\nvoid f() { memcpy(a, b, 1); s.time(); }", &[]),
        (
            "#include <amp.h>\n#include <ppl.h>\nparallel_for(0, 9, f); parallel_for_each(e, f);",
            &["2 #include <ppl.h>", "3 parallel_for("],
        ),
        (
            "graphics::texture<float, 2> t; auto d = concurrency::direct3d::get_device(v); make_texture<float, 2>(v, d);",
            &["1 direct3d::get_device", "1 make_texture"],
        ),
        ("#pragma warning(disable : 4996)\n#pragma once\nvoid main(void) {}", &["1 #pragma warning", "3 void main("]),
        ("for each (int x in v) {} for (int x : v) each(x);", &["1 for each("]),
        (
            "sprintf_s(b, 9, \"\"); _aligned_malloc(1, 2);\nQueryPerformanceCounter(&t);",
            &["1 _aligned_malloc", "1 sprintf_s", "2 QueryPerformanceCounter"],
        ),
        ("typedef unsigned char BYTE; BYTE b; struct HANDLE { int i; }; HANDLE h; WORD w;", &["1 WORD"]),
        ("#include <AMP.h>\n#include \"..\\Common\\a.h\"", &["1 #include <AMP.h>", "2 #include \"..\\Common\\a.h\""]),
        ("auto a = 1i64 + 0x2ui64 + 3ull;", &["1 0x2ui64", "1 1i64"]),
        (
            "void f() throw(...) { throw std::exception(\"text\"); std::exception e(x); }",
            &["1 exception(\"\"", "1 throw(...)"],
        ),
        ("\"unterminated\n__int64 x; /* open", &["2 __int64"]),
        ("R\"(open", &[]),
        ("swprintf_s(b, 9, L\"%d\", 1);\nswprintf(b, 9, L\"%s %ls\", w, w);", &["1 swprintf_s", "2 %s"]),
    ];

    #[test]
    fn the_table() {
        for (source, expected) in CASES {
            let found = findings(source.as_bytes(), None);
            let found: Vec<String> = found.iter().map(|f| format!("{} {}", f.line, f.found)).collect();
            assert_eq!(found, *expected, "{source}");
        }
    }

    #[test]
    fn every_row_is_found_by_its_own_pattern() {
        for Row { pattern, reason, replacement } in ROWS {
            let found = findings(pattern.as_bytes(), None);
            let told = |f: &Finding| f.line == 1 && f.reason == *reason && f.replacement == *replacement;
            assert!(found.iter().any(told), "{pattern}");
        }
    }

    #[test]
    fn headers_that_are_there() {
        let folder = std::env::temp_dir().join(format!("revamp-port-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("stdafx.h"), "#include \"more.h\"\n#include <stdlib.h>\n").unwrap();
        std::fs::write(folder.join("more.h"), "#include \"stdafx.h\"\n#define _tmain main\n").unwrap();
        let source = "#include \"stdafx.h\"\n#include \"pch.h\"\nint _tmain() { return rand(); }";
        let found: Vec<String> = findings(source.as_bytes(), Some(&folder)).into_iter().map(|f| f.found).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, ["#include \"pch.h\""]);
    }

    #[test]
    fn sources_in_utf_16() {
        for (mark, of) in [([0xFF, 0xFE], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xFE, 0xFF], u16::to_be_bytes)] {
            let text = "int i;\n__int64 x;\n";
            let bytes: Vec<u8> = mark.into_iter().chain(text.encode_utf16().flat_map(of)).collect();
            let found: Vec<String> = findings(&bytes, None).iter().map(|f| format!("{} {}", f.line, f.found)).collect();
            assert_eq!(found, ["1 UTF-16", "2 __int64"]);
        }
    }
}
