//! Calls of the operating system that differ between systems.

#![allow(unsafe_code)]

/// Bytes of the host's memory; 0 if unknown.
#[cfg(unix)]
pub fn total_memory() -> u64 {
    // SAFETY: sysconf takes a number and returns one.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).unwrap_or(0) * u64::try_from(size).unwrap_or(0)
}

/// Bytes of a page of the host's memory.
#[cfg(unix)]
pub fn page_size() -> u64 {
    // SAFETY: sysconf takes a number and returns one.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(0).max(1)
}

/// Bytes of a page of the host's memory.
#[cfg(not(unix))]
pub fn page_size() -> u64 {
    // On all processors on which Windows runs.
    4096
}

/// Bytes of the host's memory; 0 if unknown.
#[cfg(not(unix))]
pub fn total_memory() -> u64 {
    0
}

/// Writes to standard error; takes no lock and allocates nothing.
#[cfg(unix)]
pub fn say(text: &str) {
    // SAFETY: the bytes are the text's own. What cannot be written is not said.
    let _ = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// Writes to standard error.
#[cfg(not(unix))]
pub fn say(text: &str) {
    eprint!("{text}");
}

/// Keeps the module that contains `code` loaded for good; false if no module does. Takes the loader's lock.
#[cfg(unix)]
pub fn keep_loaded(code: usize) -> bool {
    let Some(found) = module_of(code) else { return false };
    // The program itself is never unloaded, and the loader knows no name for it.
    #[cfg(target_os = "linux")]
    // SAFETY: getauxval takes a number and returns one.
    if module_of(unsafe { libc::getauxval(libc::AT_ENTRY) } as usize)
        .is_some_and(|own| own.dli_fbase == found.dli_fbase)
    {
        return true;
    }
    // SAFETY: the loader's own name of a module that is loaded. The handle is kept for ever.
    let handle = unsafe { libc::dlopen(found.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    if handle.is_null() {
        crate::log!(
            Info,
            "a module with host kernels or callbacks cannot be kept loaded; do not unload it while they run"
        );
    }
    true
}

/// The module that contains `code`.
#[cfg(unix)]
fn module_of(code: usize) -> Option<libc::Dl_info> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr only compares the address and fills `info`, of which all zeros is a value too.
    unsafe {
        let found = libc::dladdr(std::ptr::without_provenance(code), info.as_mut_ptr()) != 0;
        Some(info.assume_init()).filter(|i| found && !i.dli_fname.is_null())
    }
}

/// Keeps the module that contains `code` loaded for good; false if no module does. Takes the loader's lock.
#[cfg(windows)]
pub fn keep_loaded(code: usize) -> bool {
    const PIN_FROM_ADDRESS: u32 = 1 | 4;
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const u16, module: *mut *mut std::ffi::c_void) -> i32;
    }
    let mut module = std::ptr::null_mut();
    // SAFETY: with these flags the address is only compared, and the module is never let go.
    unsafe { GetModuleHandleExW(PIN_FROM_ADDRESS, std::ptr::without_provenance(code), &raw mut module) != 0 }
}

/// Ends the process at once; no exit handlers run.
#[cfg(unix)]
pub fn end_process(status: i32) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(status) }
}

/// Ends the process at once; no exit handlers run.
#[cfg(not(unix))]
pub fn end_process(status: i32) -> ! {
    std::process::exit(status)
}
