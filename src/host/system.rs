//! Operating-system calls that differ between systems.

#![allow(unsafe_code)]

/// Bytes of the host's memory; 0 if unknown.
#[cfg(unix)]
pub fn total_memory() -> u64 {
    // SAFETY: sysconf takes a number and returns one.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).unwrap_or(0) * u64::try_from(size).unwrap_or(0)
}

/// The host clock to which device clocks are calibrated (CLOCK_MONOTONIC), in nanoseconds.
#[cfg(unix)]
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A function that reads the processor's time stamp counter; `None` unless Linux uses the counter as its clock source.
/// Otherwise the counter may run at a varying rate, or differ between processors.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn counter() -> Option<fn() -> u64> {
    fn count() -> u64 {
        // SAFETY: reads a register that every x86-64 processor has.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    source.is_ok_and(|source| source.trim() == "tsc").then_some(count)
}

/// `None`: no clock that is faster to read than [`now`] is known.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub fn counter() -> Option<fn() -> u64> {
    None
}

/// The host clock to which device clocks are calibrated (Windows' performance counter), in nanoseconds.
#[cfg(windows)]
pub fn now() -> u64 {
    let (mut count, mut frequency) = (0_i64, 1_i64);
    // SAFETY: both are writable.
    unsafe {
        kernel32::QueryPerformanceCounter(&raw mut count);
        kernel32::QueryPerformanceFrequency(&raw mut frequency);
    }
    (i128::from(count) * 1_000_000_000 / i128::from(frequency.max(1))) as u64
}

/// Bytes of a page of the host's memory.
#[cfg(unix)]
pub fn page_size() -> u64 {
    // SAFETY: sysconf takes a number and returns one.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(0).max(1)
}

/// Bytes of a page of the host's memory.
#[cfg(windows)]
pub fn page_size() -> u64 {
    // The page size on all processors that Windows supports.
    4096
}

/// The functions of kernel32.dll that this file calls.
#[cfg(windows)]
mod kernel32 {
    use std::ffi::c_void;

    /// Windows' MEMORYSTATUSEX.
    #[repr(C)]
    #[derive(Default)]
    pub struct MemoryStatus {
        pub length: u32,
        pub load: u32,
        /// Bytes of the machine's memory.
        pub total: u64,
        /// The remaining six fields, unused.
        pub unused: [u64; 6],
    }

    #[link(name = "kernel32")]
    unsafe extern "system" {
        pub fn GetModuleHandleExW(flags: u32, name: *const u16, module: *mut *mut c_void) -> i32;
        pub fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, units: u32) -> u32;
        pub fn GetProcAddress(module: *mut c_void, name: *const std::ffi::c_char) -> *mut c_void;
        pub fn QueryPerformanceCounter(count: *mut i64) -> i32;
        pub fn QueryPerformanceFrequency(frequency: *mut i64) -> i32;
        pub fn GlobalMemoryStatusEx(status: *mut MemoryStatus) -> i32;
        pub fn GetStdHandle(which: u32) -> *mut c_void;
        pub fn WriteFile(file: *mut c_void, data: *const u8, bytes: u32, written: *mut u32, how: *mut c_void) -> i32;
        pub fn VirtualAlloc(address: *mut c_void, bytes: usize, kind: u32, protection: u32) -> *mut c_void;
        pub fn VirtualFree(address: *mut c_void, bytes: usize, kind: u32) -> i32;
        pub fn GetCurrentProcess() -> *mut c_void;
        pub fn TerminateProcess(process: *mut c_void, status: u32) -> i32;
    }
}

/// Bytes of the host's memory; 0 if unknown.
#[cfg(windows)]
pub fn total_memory() -> u64 {
    let mut status = kernel32::MemoryStatus {
        length: u32::try_from(size_of::<kernel32::MemoryStatus>()).unwrap_or_default(),
        ..Default::default()
    };
    // SAFETY: `length` holds the size of the struct, and the call fills the struct.
    let known = unsafe { kernel32::GlobalMemoryStatusEx(&raw mut status) } != 0;
    if known { status.total } else { 0 }
}

/// Writes to standard error; takes no lock and allocates nothing.
#[cfg(unix)]
pub fn write_to_stderr(text: &str) {
    // SAFETY: the pointer and the length are those of `text`. Errors are ignored.
    let _ = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// Writes to standard error; takes no lock of this process and allocates nothing.
#[cfg(windows)]
pub fn write_to_stderr(text: &str) {
    const STANDARD_ERROR: u32 = -12_i32 as u32;
    let mut written = 0;
    // SAFETY: the pointer and the length are those of `text`. Errors are ignored.
    unsafe {
        let file = kernel32::GetStdHandle(STANDARD_ERROR);
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        kernel32::WriteFile(file, text.as_ptr(), bytes, &raw mut written, std::ptr::null_mut());
    }
}

/// Keeps the module that contains `code` loaded for good; false if no module contains it. Takes the loader's lock.
#[cfg(unix)]
pub fn keep_loaded(code: usize) -> bool {
    let Some(found) = module_of(code) else { return false };
    // The program itself is never unloaded, and dlopen() does not know it by a name.
    if is_program(&found) {
        return true;
    }
    // SAFETY: the loader returned this name for a loaded module. The handle is never closed.
    let handle = unsafe { libc::dlopen(found.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    if handle.is_null() {
        crate::log!(
            Info,
            "a library with host kernels or callbacks cannot be kept loaded; do not unload the library while host \
             kernels or callbacks run"
        );
    }
    true
}

/// True if the module is known to be the executable, not a library.
#[cfg(unix)]
fn is_program(module: &libc::Dl_info) -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: getauxval takes a number and returns one.
        let entry = unsafe { libc::getauxval(libc::AT_ENTRY) } as usize;
        module_of(entry).is_some_and(|program| program.dli_fbase == module.dli_fbase)
    }
    #[cfg(not(target_os = "linux"))]
    {
        std::env::current_exe().is_ok_and(|program| path_of(module) == program)
    }
}

/// The path of a module.
#[cfg(unix)]
fn path_of(module: &libc::Dl_info) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: the loader returned this text for a module. `module_of` has checked that it is not null.
    let name = unsafe { std::ffi::CStr::from_ptr(module.dli_fname) };
    std::ffi::OsStr::from_bytes(name.to_bytes()).into()
}

/// The path of the shared library that contains `code`. `None` if the executable or no module contains `code`. Takes the
/// loader's lock.
#[cfg(unix)]
pub fn library_of(code: usize) -> Option<std::path::PathBuf> {
    module_of(code).filter(|module| !is_program(module)).map(|module| path_of(&module))
}

/// The path of the shared library that contains `code`. `None` if the executable or no module contains `code`. Takes the
/// loader's lock.
#[cfg(windows)]
pub fn library_of(code: usize) -> Option<std::path::PathBuf> {
    use std::os::windows::ffi::OsStringExt;
    const UNCHANGED: u32 = 2;
    const FROM_ADDRESS: u32 = 4;
    let (mut module, mut program) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mut name = [0; 1024];
    // SAFETY: with these flags the calls only compare the address, and keep no reference. `name` has room for the given
    // number of units.
    let length = unsafe {
        let address = std::ptr::without_provenance(code);
        if kernel32::GetModuleHandleExW(UNCHANGED | FROM_ADDRESS, address, &raw mut module) == 0 {
            return None;
        }
        kernel32::GetModuleHandleExW(UNCHANGED, std::ptr::null(), &raw mut program);
        kernel32::GetModuleFileNameW(module, name.as_mut_ptr(), name.len() as u32)
    };
    (module != program).then(|| std::ffi::OsString::from_wide(&name[..length as usize]).into())
}

/// The module that contains `code`.
#[cfg(unix)]
fn module_of(code: usize) -> Option<libc::Dl_info> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr only compares the address and fills `info`, for which all zeros is a valid value.
    unsafe {
        let found = libc::dladdr(std::ptr::without_provenance(code), info.as_mut_ptr()) != 0;
        Some(info.assume_init()).filter(|i| found && !i.dli_fname.is_null())
    }
}

/// Keeps the module that contains `code` loaded for good; false if no module contains it. Takes the loader's lock.
#[cfg(windows)]
pub fn keep_loaded(code: usize) -> bool {
    const PIN_FROM_ADDRESS: u32 = 1 | 4;
    let mut module = std::ptr::null_mut();
    // SAFETY: with these flags the call only compares the address, and the module is never released.
    unsafe { kernel32::GetModuleHandleExW(PIN_FROM_ADDRESS, std::ptr::without_provenance(code), &raw mut module) != 0 }
}

/// The type of a C library's function that registers functions for exit() to call.
#[cfg(windows)]
type Register = unsafe extern "C" fn(extern "C" fn()) -> *mut std::ffi::c_void;

/// Registers `hook` with each C library of the process that is a DLL, so that the program's exit() runs it while all threads
/// still exist. (Functions that a DLL registers by its own atexit() run after the threads have ended.) False if there is no such
/// C library. Only the first call takes the loader's lock, so its caller must hold no lock: an ending thread holds the loader's
/// lock while it waits for other threads of the library.
#[cfg(windows)]
pub fn at_exit_of_program(hook: extern "C" fn()) -> bool {
    static FOUND: std::sync::OnceLock<Vec<Register>> = std::sync::OnceLock::new();
    let all = FOUND.get_or_init(registers);
    for register in all {
        // SAFETY: these functions take a function without arguments. Their result is ignored: it only says whether memory
        // sufficed (`_onexit` returns a pointer, `_crt_atexit` a number).
        unsafe { register(hook) };
    }
    !all.is_empty()
}

/// The registration functions of all loaded C libraries.
#[cfg(windows)]
fn registers() -> Vec<Register> {
    /// The names of each DLL and of its registration function.
    const LIBRARIES: [(&str, &std::ffi::CStr); 3] =
        [("msvcrt.dll", c"_onexit"), ("ucrtbase.dll", c"_crt_atexit"), ("ucrtbased.dll", c"_crt_atexit")];
    const PIN: u32 = 1;
    let found = LIBRARIES.iter().filter_map(|(library, register)| {
        let name: Vec<u16> = library.encode_utf16().chain([0]).collect();
        let mut module = std::ptr::null_mut();
        // SAFETY: both names end in a zero. The functions have this type, and they stay loaded because the module is pinned.
        unsafe {
            if kernel32::GetModuleHandleExW(PIN, name.as_ptr(), &raw mut module) == 0 {
                return None;
            }
            let found = kernel32::GetProcAddress(module, register.as_ptr());
            (!found.is_null()).then(|| std::mem::transmute::<*mut std::ffi::c_void, Register>(found))
        }
    });
    found.collect()
}

/// Allocates zeroed pages; null if that fails. A page takes memory only once it is accessed.
#[cfg(windows)]
pub fn map(bytes: usize) -> *mut u8 {
    const RESERVE_AND_COMMIT: u32 = 0x3000;
    const READ_WRITE: u32 = 4;
    // SAFETY: the system chooses an unused address.
    unsafe { kernel32::VirtualAlloc(std::ptr::null_mut(), bytes, RESERVE_AND_COMMIT, READ_WRITE).cast() }
}

/// Frees pages of [`map`].
///
/// # Safety
/// [`map`] returned `start`, and nobody uses the pages any more.
#[cfg(windows)]
pub unsafe fn unmap(start: *mut u8) {
    const RELEASE: u32 = 0x8000;
    // SAFETY: the caller's promise. A size of 0 means the whole allocation.
    unsafe { kernel32::VirtualFree(start.cast(), 0, RELEASE) };
}

/// Ends the process at once; no exit handlers run.
#[cfg(unix)]
pub fn end_process(status: i32) -> ! {
    // SAFETY: _exit takes a number and does not return.
    unsafe { libc::_exit(status) }
}

/// Ends the process at once; no exit handlers run.
#[cfg(windows)]
pub fn end_process(status: i32) -> ! {
    // SAFETY: the handle means this process, which the call ends.
    unsafe { kernel32::TerminateProcess(kernel32::GetCurrentProcess(), status as u32) };
    std::process::abort()
}
