//! Tests of the findings and edits in small sources.

use crate::checks::findings;
use crate::edits::{applied, ordered};
use crate::findings::Finding;
use crate::source::{Settings, Source};
use crate::table::{Row, rows};
use std::path::Path;

fn findings_in(source: &[u8], folder: Option<&Path>) -> Vec<Finding> {
    findings(&Source::read(source, folder, &Settings::default()))
}

/// Each source with its findings: `LINE FOUND`.
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
    ("int a = min(1, 2);\nint b = std::min(1, 2) + x.max(1) + p->max(2);\nreturn max(a, b);", &["1 min(", "3 max("]),
    ("using namespace std;\nint a = min(1, 2) + abs(x);", &[]),
    ("#include <cmath>\nfloat a = abs(x) + std::abs(x);", &["2 abs("]),
    ("float abs(float);\nint count;\nfloat a = abs(x);", &[]),
    ("int count;\nvoid f() { count = abs(n.count); }", &[]),
    ("#define min(a, b) ((a) < (b) ? (a) : (b))\nint a = min(1, 2);", &["1 #define min"]),
    ("#include <math.h>\nfloat a = abs(x);", &[]),
    ("struct AABB { float min() const; float max() const; float size() const { return max() - min(); } };", &[]),
    ("using namespace concurrency;\nusing namespace concurrency::direct3d;\nfloat a = abs(x);", &[]),
    (
        "void f(float *p) restrict(amp) { *p = abs(*p); }\nvoid g() { parallel_for_each(e, [=](index<1> i) restrict(amp, cpu) { a[i] = abs(a[i]); });\nfloat b = abs(x); }",
        &["3 abs("],
    ),
    (
        "task<int> t([] { return 1; });\nauto u = concurrency::task<void>{[=] {}};\ntask<void> v = f.to_task(), w(v);",
        &["1 task<...>([", "2 task<...>(["],
    ),
    ("template <class T> T min(T a, T b); int &max(int &a);", &[]),
    (
        "template <class T> void f(std::vector<T> &v) {\n  std::vector<T>::iterator i = v.begin();\n  typename \
      std::vector<T>::iterator k;\n  std::vector<int>::iterator n;\n}",
        &["2 std::vector<T>::iterator"],
    ),
    (
        "template <unsigned int D>\nvoid f(tiled_index<D> t);\ntemplate <int E> void g(tiled_index<E> t);",
        &["2 tiled_index<D>"],
    ),
    ("template <size_t A, int B> void f(const tiled_index<B, A> &t);", &["1 tiled_index<A>"]),
    ("#include <amp.h>\nvoid f() { memcpy(a, b, 1); printf(\"x\"); s << setw(3); }", &["2 setw"]),
    ("void f() { memcpy(a, b, 1); printf(\"x\"); }", &["1 memcpy", "1 printf"]),
    ("#include <string.h>\nvoid f() { memcpy(a, b, 1); s.time(); }", &[]),
    ("#include <stdio.h>\nvoid f() { printf(t);\nstd::printf(t); }", &["3 printf"]),
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
    // Temporaries.
    (
        "struct s { int a; };\nvoid f(s &x, int n = 0); void g(const s &x); s made();\nvoid h(s y) { f(s()); f(y, 1); g(s()); f(made()); f(*p); }",
        &["3 made() for s &", "3 s() for s &"],
    ),
    ("void f(float &x); void f(const float &x); void g() { f(1.0f); }", &[]),
    ("void f(float &x);\nvoid g(float *p) { f(1.0f); f(*p); f(p[1]); }", &["2 1.0f for float &"]),
    (
        "void f(array_view<float, 1> &v); void g(std::vector<int> &w);\nvoid h() { f(concurrency::array_view<float, 1>(3, d)); g(std::vector<int>{1}); \
         f(v.section(0, 2)); g(w); f(v); f(u[1]); }",
        &[
            "2 concurrency::array_view<float, 1>(3, d) for array_view<float, 1> &",
            "2 std::vector<int> { 1 } for std::vector<int> &",
            "2 v.section(0, 2) for array_view<float, 1> &",
        ],
    ),
    // Names in templates.
    (
        "template <class T> void f(array_view<T, 1> v) { auto e = v.extent; g(v.extent.tile<4>().pad(), e.tile<4>()); }\n\
         template <int W> void h(array_view<int, 1> v) { g(v.extent.tile<W>(), v.extent.template tile<W>(), extent<1>(W * 2).tile<W>()); }\n\
         template <class T> struct s { void f() { g(this->v.extent.tile<2, 2>(), n.tile<2>()); } array_view<T, 2> v; extent<1> n; };",
        &["1 e.tile", "1 v.extent.tile", "3 this->v.extent.tile"],
    ),
    (
        "template <class T> struct a { int n; void f(); };\ntemplate <class T> struct b : a<T> { int k; void g() { f(); n = k; this->n = b::n; } };\n\
         struct c : a<int> { void g() { f(); } };",
        &["2 f", "2 n"],
    ),
    ("template <class T> struct a { int n; };\ntemplate <class T> struct b : a<T> { void g(int n) { n = 1; } };", &[]),
    (
        "template <class T> void f(T t) { g(1); h(t); k(t); }\nvoid g(int);\nstruct s {};\nvoid h(s);\nvoid k(int);",
        &["1 g(", "1 k("],
    ),
    ("void g(int);\ntemplate <class T> void f() { g(1); }\nvoid g(int) {}", &[]),
    ("template <class T> struct a { struct b {}; a<T>::b f(); typename T::c d; T::e g; };", &["1 T::e"]),
    ("template <class T> void f(std::vector<T> v) { if (a<T>::value && T::n < 3) v.template g<T>(); }", &[]),
    ("template <size_t N> struct s { void f(tiled_index<N> t); };", &[]),
    (
        "template <class T> struct a { int n; };\ntemplate <class T> struct b : a<T> { using a<T>::n; int f() { return n; } };",
        &[],
    ),
    ("template <class A, class T> struct s { typedef typename x<A>::template rebind<T>::other type; };", &[]),
    ("template <class T> struct f { f(f g) { f(g).h(); } };\ntemplate <class T> f(T) -> f<T>;", &[]),
    ("struct s { template <class T> struct a {}; template <> struct a<int> {}; };", &["1 template <> in a class"]),
    ("float f(float x) restrict(amp);\nfloat f(float y);\nfloat f(int) restrict(amp);", &["2 f("]),
    // Words and calls.
    (
        "class a sealed {}; class b abstract : c {}; struct d { void f() sealed; void g() abstract; bool sealed; };",
        &["1 abstract", "1 sealed"],
    ),
    (
        "parallel_for_each(v.begin(), v.end(), f); parallel_for_each(e, [=](index<1> i) {});",
        &["1 parallel_for_each(begin"],
    ),
    ("void f() { system(\"pause\"); system(\"ls\"); std::system(\"CLS\"); }", &["1 system(\"cls", "1 system(\"pause"]),
    (
        "#include <fstream>\nvoid f(const std::wstring &w, const std::string &n) {\nstd::ifstream a(w.c_str()), b(n);\nstd::ofstream c(L\"x\");\nc.open(w); }",
        &["3 ifstream(wide name", "4 ofstream(wide name", "5 open(wide name"],
    ),
    ("printf(\"%I64u %Id %d\", a);", &["1 %I64u", "1 %Id", "1 printf"]),
    (
        "void f(HRESULT hr, LONG n, DWORD s, long k) {\nprintf(\"hr=0x%08lX %ld\", hr, k);\nlog(1, \"%*ld%% of\" \" %lu\", 4, n, s);\nprintf(\"%ld %lu\", (long)n, sizeof(s)); }",
        &["1 DWORD", "1 LONG", "2 %08lX", "2 printf", "3 %*ld", "3 %lu"],
    ),
    ("f(\"%08I64X %-5I64d %5I64u %%I64d %I32\");", &["1 %-5I64d", "1 %08I64X", "1 %5I64u"]),
    (
        "auto f = [](int x) -> DWORD { return p->DWORD + g()->DWORD; }; auto g() const -> BOOL;\nauto h(int) restrict(amp) -> INT; auto i = j()->BOOL;",
        &["1 BOOL", "1 DWORD", "2 INT"],
    ),
    (
        "template <class INT> INT f(INT a);\ntemplate <int SIZE> struct s { int a[SIZE]; };\nINT g(SIZE b);",
        &["3 INT", "3 SIZE"],
    ),
    ("struct T { int LONG; static const int POINT = 16; int a[POINT]; T() : LONG(POINT) {} };", &[]),
    // Names of Microsoft's headers; <amp.h> declares some of them too.
    (
        "#include <windows.h>\nDECLARE_HANDLE(HMINE);\nEXTERN_C_START\nHMINE f(HMINE);\nEXTERN_C_END",
        &["1 #include <windows.h>", "2 DECLARE_HANDLE(", "3 EXTERN_C_START", "5 EXTERN_C_END"],
    ),
    (
        "#include <windows.h>\n#include <amp.h>\nHRESULT f(int i) { return i ? E_BOUNDS : E_CHANGED_STATE; }",
        &["1 #include <windows.h>", "3 E_CHANGED_STATE"],
    ),
    ("#include <amp.h>\nvoid f(_In_opt_z_ const char *s, _Out_writes_to_(n, *m) int *p, int n, int *m);", &[]),
    ("#include <sal.h>\nvoid f(_In_opt_z_ const char *s, _Out_ int *n);", &["1 #include <sal.h>", "2 _In_opt_z_"]),
    (
        "_ftprintf_s(stderr, t); _tprintf_s(t);\n_putts(t); fread_s(b, 1, 1, 3, f);",
        &["1 _ftprintf_s", "1 _tprintf_s", "2 _putts", "2 fread_s"],
    ),
    // Names of Windows that are not in the table.
    (
        "#include <windows.h>\nint Own(int); enum e { OWN_VALUE };\nint f() { Frobnicate(Own(1)); return FROBNICATED | OWN_VALUE | INT_MAX; }",
        &["1 #include <windows.h>", "3 FROBNICATED", "3 Frobnicate"],
    ),
    (
        "#include <windows.h>\n#include <other/library.h>\nint f() { Frobnicate(FROBNICATED); }",
        &["1 #include <windows.h>"],
    ),
    ("int f() { Frobnicate(FROBNICATED); }", &[]),
    ("int f() { return ::GetLastError() + mine::GetLastError(); }", &["1 GetLastError"]),
    ("const char *s = \"\";\n#ifdef _WIN32\nwprintf(L\"%s\", __int64);\n#endif", &[]),
    ("swprintf_s(b, 9, L\"%d\", 1);\nswprintf(b, 9, L\"%s %ls\", w, w);", &["1 swprintf_s", "2 %s"]),
];

/// Sources, before and after `--fix`.
const FIXES: &[(&str, &str)] = &[
    // Types keep their sizes and signs.
    (
        "std::vector<BOOL> v; BOOLEAN b; double d = _wtof(t);",
        "std::vector<int> v; unsigned char b; double d = _wtof(t);",
    ),
    (
        "__int8 a; unsigned __int8 b; signed __int8 c; _int8 unsigned d;",
        "signed char a; unsigned char b; signed char c; char unsigned d;",
    ),
    // `alignas` moves to a place where C++ allows it.
    (
        "__declspec(align(32)) struct S {\n}; template <class T> __declspec(align(f(1))) class C : B<T> {}; struct DECLSPEC_ALIGN(8) D;",
        "struct alignas(32) S {\n}; template <class T> class alignas(f(1)) C : B<T> {}; struct alignas(8) D;",
    ),
    (
        "#pragma once\n__declspec(align(8)) float f; static __declspec(align(8)) int g; __declspec(align(8)) struct T t; \
         typedef __declspec(align(8)) struct { int x; } U; static __declspec(noreturn) void h();",
        "#pragma once\nalignas(8) float f; static __declspec(align(8)) int g; __declspec(align(8)) struct T t; \
         typedef __declspec(align(8)) struct { int x; } U; static __attribute__((noreturn)) void h();",
    ),
    ("printf(\"%08I64X %-5I64d %5.*Iu %%I64d %I32d\");", "printf(\"%08llX %-5lld %5.*zu %%I64d %d\");"),
    // Only non-static members get `this->`.
    (
        "template <class T> struct a { int n; static const int size = 3; static int f(); typedef T item; };\n\
         template <class T> struct b : public a<T> { int g() { item i[size]; f(); return n; } };",
        "template <class T> struct a { int n; static const int size = 3; static int f(); typedef T item; };\n\
         template <class T> struct b : public a<T> { int g() { item i[size]; f(); return this->n; } };",
    ),
    // `std::exception` changes only in throw expressions.
    (
        "struct My : std::exception { My() : exception(\"x\") {} My(int) : std::exception(\"y\") { throw std::exception(\"z\"); } };",
        "struct My : std::exception { My() : exception(\"x\") {} My(int) : std::exception(\"y\") { throw std::runtime_error(\"z\"); } };",
    ),
    // Arguments of stringizing macros stay, because their spelling matters.
    (
        "#define NAME(x) NAME_(x)\n#define NAME_(x) #x\n#define ID(x) x##DWORD\n#define F(x) x\n\
         f(NAME(DWORD), NAME_(INT), F(DWORD), g(ID(a)), TRUE); struct DWORDa; std::vector<INT> v(NAME(f(BOOL)));",
        "#define NAME(x) NAME_(x)\n#define NAME_(x) #x\n#define ID(x) x##DWORD\n#define F(x) x\n\
         f(NAME(DWORD), NAME_(INT), F(std::uint32_t), g(ID(a)), true); struct DWORDa; std::vector<int> v(NAME(f(BOOL)));",
    ),
    // The macros min and max accept arguments of two types, std::min and std::max do not.
    (
        "enum { LAST = 4 }; int n; float x; int a = min(LAST, (n + 1) / 2), b = max(1, min(n, 2)); float y = max(x, 1.0); y = __max(x, 1.0f);\n\
         LONGLONG t = max(ticks(), 1i64); unsigned long u, v = min(u, w.size()); v = min((unsigned)n, 3u);",
        "enum { LAST = 4 }; int n; float x; int a = min(LAST, (n + 1) / 2), b = std::max(1, std::min(n, 2)); float y = max(x, 1.0); y = std::max(x, 1.0f);\n\
         long long t = std::max(ticks(), 1ll); unsigned long u, v = std::min(u, w.size()); v = std::min((unsigned)n, 3u);",
    ),
    (
        "short s, t; int a = min(-s, t); float x; x = max(x, 1e-5f); double d = max(d, 1e-5f);\n\
         size_t n; LONGLONG q; a = min(n + q, 1ull) + min(n + q, 1ll) + min(min(n, q), 1ull) + min(min(s, t), s);",
        "short s, t; int a = min(-s, t); float x; x = std::max(x, 1e-5f); double d = max(d, 1e-5f);\n\
         size_t n; long long q; a = std::min(n + q, 1ull) + min(n + q, 1ll) + std::min(min(n, q), 1ull) + std::min(std::min(s, t), s);",
    ),
    (
        "DECLARE_HANDLE(HMINE);\nEXTERN_C_START\nULONGLONG n = MAXINT32;\nEXTERN_C_END",
        "struct HMINE__ { int unused; }; typedef HMINE__ *HMINE;\nextern \"C\" {\nunsigned long long n = INT32_MAX;\n}",
    ),
    // `::` prevents a call of a member with the new name.
    (
        "struct s { void close() { closesocket(n); } int h(){ return a?b:closesocket(n) + ::_fileno(f) + stricmp(a, b); } };",
        "struct s { void close() { ::close(n); } int h(){ return a?b: ::close(n) + ::fileno(f) + ::strcasecmp(a, b); } };",
    ),
];

#[test]
fn members_of_dependent_bases() {
    let source = "template <class T> struct a { int n; static const int size = 3; typedef T item; };\n\
                  template <class T> struct b : public n::a<T *> { int g() { item i[size]; return n; } };";
    let found: Vec<String> = findings_in(source.as_bytes(), None).into_iter().map(|f| f.replacement).collect();
    assert_eq!(found, ["typename n::a<T *>::item", "this->n", "n::a<T *>::size"]);
}

#[test]
fn each_fix_gives_the_expected_source() {
    for (source, expected) in FIXES {
        let findings = findings_in(source.as_bytes(), None);
        let edits = ordered(findings.iter().flat_map(|finding| &finding.edits));
        assert_eq!(applied(source, &edits), *expected);
    }
}

#[test]
fn the_table() {
    for (source, expected) in CASES {
        let found = findings_in(source.as_bytes(), None);
        let found: Vec<String> = found.iter().map(|f| format!("{} {}", f.line, f.found)).collect();
        assert_eq!(found, *expected, "{source}");
    }
}

#[test]
fn every_row_is_found_by_its_own_pattern() {
    for row in rows() {
        let word = |word: &&str| match word.strip_suffix('*') {
            Some("") => "x".to_owned(),
            Some(begin) if begin.starts_with('<') => format!("{begin}x.h>"),
            Some(begin) => begin.to_owned(),
            None => (*word).to_owned(),
        };
        let words: Vec<String> = row.pattern.iter().map(word).collect();
        let found = findings_in(words.join(" ").as_bytes(), None);
        let is_row = |f: &Finding| f.line == 1 && f.reason == row.reason && f.replacement == row.replacement;
        assert!(found.iter().any(is_row), "{words:?}");
    }
}

#[test]
fn types_and_constants_are_no_functions() {
    let is_capital = |name: &str| !name.contains(|c: char| c.is_lowercase());
    let functions = rows().iter().filter(|row| row.reason == "a function of Windows").filter_map(Row::single_name);
    assert_eq!(functions.filter(|name| is_capital(name)).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn the_programs_own_headers_are_read() {
    let folder = std::env::temp_dir().join(format!("revamp-port-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("stdafx.h"), "#include \"more.h\"\n#include <stdlib.h>\n").unwrap();
    std::fs::write(folder.join("more.h"), "#include \"stdafx.h\"\n#define _tmain main\n").unwrap();
    let source = "#include \"stdafx.h\"\n#include \"pch.h\"\nint _tmain() { return rand(); }";
    let found: Vec<String> = findings_in(source.as_bytes(), Some(&folder)).into_iter().map(|f| f.found).collect();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found, ["#include \"pch.h\""]);
}

#[test]
fn sources_in_windows_1252() {
    for (source, expected, is_note) in
        [(&b"// na\xefve\nint x;"[..], "1 Windows-1252", true), (b"int x;\nf(\"\x80\");", "2 Windows-1252", false)]
    {
        let found = findings_in(source, None);
        assert_eq!(found.iter().map(|f| format!("{} {}", f.line, f.found)).collect::<Vec<_>>(), [expected]);
        assert_eq!(found[0].is_note, is_note);
    }
}

#[test]
fn sources_in_utf_16() {
    for (byte_order_mark, to_bytes) in
        [([0xFF, 0xFE], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xFE, 0xFF], u16::to_be_bytes)]
    {
        let text = "int i;\n__int64 x;\n";
        let bytes: Vec<u8> = byte_order_mark.into_iter().chain(text.encode_utf16().flat_map(to_bytes)).collect();
        let found: Vec<String> = findings_in(&bytes, None).iter().map(|f| format!("{} {}", f.line, f.found)).collect();
        assert_eq!(found, ["1 UTF-16", "2 __int64"]);
    }
}

#[test]
fn damaged_sources_are_read() {
    for program in ["templates/storage.h", "pricing/Portfolio.cpp", "simulation/Worker.cpp"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/port").join(program);
        let whole = std::fs::read(file).unwrap();
        for cut in (0..whole.len()).step_by(23) {
            findings_in(&whole[..cut], None);
            findings_in(&whole[cut..], None);
            // The source without some of its brackets.
            let damaged: Vec<u8> = whole
                .iter()
                .enumerate()
                .filter(|(n, b)| !b"(){}<>".contains(b) || n * 7 % (cut + 1) > 3)
                .map(|(_, b)| *b)
                .collect();
            findings_in(&damaged, None);
        }
    }
}
