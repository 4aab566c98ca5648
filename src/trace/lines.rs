//! Finds the source line of the program that called the library, in the text of a backtrace.
//!
//! A frame belongs to the program if its code is in the executable, or in a library that is neither this library nor part of the
//! system. Frames of headers of C++ AMP, of system headers and of the C and C++ runtimes do not belong to the program either:
//! their code can be in the executable. The search ends at `main`, because no code of the program calls `main`.

use std::backtrace::Backtrace;
use std::path::{Path, PathBuf};

/// Returns the shared library that contains the code at an address. `None`: the executable contains the code.
pub type LibraryOf = fn(usize) -> Option<PathBuf>;

/// The file and line of the innermost frame of the program. This frame comes after the function of the C API. `None` if the
/// program has no debug information.
pub fn of_program(backtrace: &Backtrace, library_of: LibraryOf) -> Option<String> {
    // The long form of the text contains the addresses.
    find(&format!("{backtrace:#}"), library_of)
}

/// [`of_program`] for the text of a backtrace. The text has a line `N: ADDRESS - FUNCTION` for each frame. A line
/// `at FILE:LINE:COLUMN` follows if the file and line are known.
fn find(text: &str, library_of: impl Fn(usize) -> Option<PathBuf>) -> Option<String> {
    let mut this_library = None;
    let (mut is_after_api_frame, mut is_candidate, mut is_last) = (false, false, false);
    for line in text.lines().map(str::trim) {
        if let Some(source_position) = line.strip_prefix("at ") {
            if is_candidate && !is_header(source_position) {
                return Some(without_column(source_position).to_owned());
            }
        } else if let Some((address, function)) = frame(line) {
            if is_last || (is_after_api_frame && is_start_code(function)) {
                return None;
            }
            if is_exported(function) {
                (is_after_api_frame, is_candidate) = (true, false);
                this_library = library_of(address);
            } else if is_after_api_frame {
                is_last = is_main(function);
                let library = library_of(address);
                is_candidate = library.is_none_or(|l| Some(&l) != this_library.as_ref() && !is_system_library(&l));
            }
        }
    }
    None
}

/// The address and the function of a frame.
fn frame(line: &str) -> Option<(usize, &str)> {
    let (_, frame) = line.split_once(": ")?;
    let (address, function) = frame.split_once(" - ")?;
    let address = address.trim().strip_prefix("0x")?;
    Some((usize::from_str_radix(address, 16).ok()?, function))
}

fn is_exported(function: &str) -> bool {
    function.starts_with("revamp_") && !function.contains("::")
}

fn is_main(function: &str) -> bool {
    ["main", "wmain", "WinMain", "wWinMain"].contains(&function)
}

/// True for functions of the C and C++ runtimes that call `main` or the function of a thread. The linker can put them into the
/// executable.
fn is_start_code(function: &str) -> bool {
    ["__libc_", "__scrt_"].iter().any(|prefix| function.starts_with(prefix))
        || [
            "_start",
            "execute_native_thread_routine",
            "invoke_main",
            "mainCRTStartup",
            "wmainCRTStartup",
            "WinMainCRTStartup",
            "wWinMainCRTStartup",
            "__tmainCRTStartup",
        ]
        .contains(&function)
}

/// True for libraries of the operating system, and for the C and C++ runtimes in any folder.
fn is_system_library(path: &Path) -> bool {
    const FOLDERS: [&str; 8] =
        ["/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/system/", "c:/windows/"];
    const RUNTIMES: [&str; 14] = [
        "ld-linux",
        "ld-musl",
        "libasan.",
        "libc++",
        "libc.",
        "libgcc_s",
        "libgomp.",
        "libomp.",
        "libpthread",
        "libstdc++",
        "libtsan.",
        "msvcp",
        "ucrtbase",
        "vcruntime",
    ];
    let path = path.to_string_lossy().replace('\\', "/").to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    FOLDERS.iter().any(|folder| path.starts_with(folder)) || RUNTIMES.iter().any(|runtime| name.starts_with(runtime))
}

/// True for source files that are not part of the program, although their code can be in the executable.
fn is_header(source_position: &str) -> bool {
    const PARTS: [&str; 15] = [
        // C++ AMP
        "/include/revamp-amp/",
        "/cpp-shim/",
        // System headers
        "/usr/include/",
        "/usr/local/include/",
        "/include/c++/",
        "/lib/clang/",
        "/lib/gcc/",
        "/Microsoft Visual Studio/",
        "/Windows Kits/",
        // Sources of runtimes
        "/compiler-rt/",
        "/libstdc++-v3/",
        "/mingw-w64-crt/",
        "/rustc/",
        "/sysdeps/",
        "/vctools/crt/",
    ];
    let source_position = source_position.replace('\\', "/");
    PARTS.iter().any(|part| source_position.contains(part))
}

fn without_column(source_position: &str) -> &str {
    match source_position.rsplit_once(':') {
        Some((line, column)) if column.bytes().all(|c| c.is_ascii_digit()) && line.contains(':') => line,
        _ => source_position,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The address of a frame in the executable.
    const EXECUTABLE: u32 = 0x1000;

    /// Frames in the form of a backtrace: the address, the function, and the position or "".
    fn text(frames: &[(u32, &str, &str)]) -> String {
        let frame = |(n, (address, function, position)): (usize, &(u32, &str, &str))| {
            let at = if position.is_empty() { String::new() } else { format!("          at {position}:9\n") };
            format!("{n:4}: {address:#18x} - {function}\n{at}")
        };
        frames.iter().enumerate().map(frame).collect()
    }

    fn line(frames: &[(u32, &str, &str)]) -> Option<String> {
        find(&text(frames), |address| match address {
            0x2000.. => Some(
                [
                    "/opt/lib/librevamp.so.0.1",
                    "/lib/x86_64-linux-gnu/libc.so.6",
                    "/opt/gcc/libstdc++.so.6",
                    "/home/a/plugin.so",
                ][address / 0x1000 - 2]
                    .into(),
            ),
            _ => None,
        })
    }

    const LIBRARY: u32 = 0x2000;
    const LIBC: u32 = 0x3000;
    const LIBSTDCPP: u32 = 0x4000;
    const PLUGIN: u32 = 0x5000;
    const API: [(u32, &str, &str); 2] = [
        (LIBRARY, "revamp::trace::events::Begun::end::h12", "/build/src/trace/events.rs:20"),
        (LIBRARY, "revamp_array_view_synchronize", "/build/src/capi/array_view.rs:9"),
    ];
    const HEADER: (u32, &str, &str) = (EXECUTABLE, "synchronize", "/opt/include/revamp-amp/revamp/detail/view.h:973");
    /// The frames below `main`, on a machine with the debug information of the C library.
    const BELOW_MAIN: [(u32, &str, &str); 3] = [
        (LIBC, "__libc_start_call_main", "./csu/../sysdeps/nptl/libc_start_call_main.h:58"),
        (LIBC, "__libc_start_main_impl", "./csu/../csu/libc-start.c:360"),
        (EXECUTABLE, "_start", "./csu/start.c:1"),
    ];

    #[test]
    fn the_first_frame_outside_the_headers_is_returned() {
        let program = [HEADER, (EXECUTABLE, "_ZN1a1bEv", "/home/a/b.cpp:12"), (EXECUTABLE, "main", "/home/a/c.cpp:1")];
        let found = line(&[&API[..], &program, &BELOW_MAIN].concat());
        assert_eq!(found.as_deref(), Some("/home/a/b.cpp:12"));
        for header in ["C:\\Program Files\\Microsoft Visual Studio\\include\\thread:3", "/usr/local/include/a.h:4"] {
            let program = [(EXECUTABLE, "f", header), (EXECUTABLE, "main", "/home/a/c.cpp:1")];
            assert_eq!(line(&[&API[..], &program].concat()).as_deref(), Some("/home/a/c.cpp:1"), "{header}");
        }
        let plugin = [(PLUGIN, "f", "/home/a/p.cpp:7"), (EXECUTABLE, "main", "/home/a/c.cpp:1")];
        assert_eq!(line(&[&API[..], &plugin].concat()).as_deref(), Some("/home/a/p.cpp:7"));
    }

    #[test]
    fn frames_of_the_system_and_of_this_library_are_not_the_programs() {
        // A program without debug information.
        let main = [(EXECUTABLE, "main", "")];
        assert_eq!(line(&[&API[..], &main, &BELOW_MAIN].concat()), None);
        let unnamed_main = [(EXECUTABLE, "<unknown>", "")];
        assert_eq!(line(&[&API[..], &unnamed_main, &BELOW_MAIN].concat()), None);
        let thread = [
            (EXECUTABLE, "f", ""),
            (EXECUTABLE, "_ZNSt6thread11_State_implE", "/usr/bin/../include/c++/12/bits/std_thread.h:211"),
            (LIBSTDCPP, "execute_native_thread_routine", "../../../src/libstdc++-v3/src/c++11/thread.cc:82"),
            (LIBC, "start_thread", "./nptl/pthread_create.c:442"),
            (LIBC, "clone3", "./misc/clone3.S:81"),
        ];
        assert_eq!(line(&[&API[..], &thread].concat()), None);
        // A callback that this library calls.
        let callback = [
            (EXECUTABLE, "callback", ""),
            (LIBRARY, "corosensei::on_stack::h3", "/root/.cargo/registry/src/corosensei/src/lib.rs:3"),
            (LIBC, "start_thread", "./nptl/pthread_create.c:442"),
        ];
        assert_eq!(line(&[&API[..], &callback].concat()), None);
        // The C library calls a function of the program, and `main` has debug information.
        let sorted =
            [(EXECUTABLE, "f", ""), (LIBC, "msort", "./stdlib/msort.c:65"), (EXECUTABLE, "main", "/home/a/c.cpp:1")];
        assert_eq!(line(&[&API[..], &sorted].concat()).as_deref(), Some("/home/a/c.cpp:1"));
    }

    #[test]
    fn code_that_calls_main_is_not_the_programs() {
        // The linker has put the start code into the executable.
        for (main, start, position) in [
            ("main", "f", "/build/start/f.c:3"),
            ("wmain", "f", "/build/start/f.c:3"),
            ("<unknown>", "invoke_main", "D:\\a\\crt\\exe_common.inl:78"),
            ("<unknown>", "__libc_start_main", "/build/glibc/csu/libc-start.c:308"),
        ] {
            let frames = [(EXECUTABLE, main, ""), (EXECUTABLE, start, position)];
            assert_eq!(line(&[&API[..], &frames].concat()), None, "{main} {start}");
        }
    }

    #[test]
    fn without_debug_information_there_is_no_line() {
        assert_eq!(line(&[&API[..1], &[(LIBRARY, "revamp_dispatch", ""), (EXECUTABLE, "main", "")]].concat()), None);
        assert_eq!(line(&[]), None);
    }

    #[test]
    fn the_text_of_a_backtrace_has_frames_with_addresses() {
        let text = format!("{:#}", Backtrace::force_capture());
        let here = the_text_of_a_backtrace_has_frames_with_addresses as fn() as usize;
        let near = |address: usize| address.abs_diff(here) < 1 << 20;
        assert!(text.lines().filter_map(|line| frame(line.trim())).any(|(address, _)| near(address)), "{text}");
    }
}
