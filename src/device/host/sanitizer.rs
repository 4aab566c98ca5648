//! Tells AddressSanitizer about switches between stacks, if the program uses AddressSanitizer. Without these calls, its reports on kernels in
//! coroutines name wrong frames, and `longjmp` in a coroutine leaves the skipped frames poisoned.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::OnceLock;

/// The functions of the sanitizer's interface (`sanitizer/common_interface_defs.h`).
#[derive(Clone, Copy)]
struct Interface {
    start: Start,
    finish: Finish,
    /// LeakSanitizer's `__lsan_register_root_region`, if the program has it.
    add_root: Option<AddRoot>,
}

type AddRoot = unsafe extern "C" fn(*const c_void, usize);
type Start = unsafe extern "C" fn(*mut *mut c_void, *const c_void, usize);
type Finish = unsafe extern "C" fn(*mut c_void, *mut *const c_void, *mut usize);

/// The interface of the sanitizer in this process; `None` without a sanitizer.
fn interface() -> Option<Interface> {
    static FOUND: OnceLock<Option<Interface>> = OnceLock::new();
    *FOUND.get_or_init(found)
}

#[cfg(unix)]
fn found() -> Option<Interface> {
    // SAFETY: the names are C strings, and symbols of these names have these types.
    unsafe {
        let symbol = |name: &std::ffi::CStr| {
            let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
            if found.is_null() { None } else { Some(found) }
        };
        let start = symbol(c"__sanitizer_start_switch_fiber")?;
        let finish = symbol(c"__sanitizer_finish_switch_fiber")?;
        // ThreadSanitizer also defines the two names above, but not this one.
        symbol(c"__asan_init")?;
        let add_root = symbol(c"__lsan_register_root_region");
        Some(Interface {
            add_root: add_root.map(|add_root| std::mem::transmute::<*mut c_void, AddRoot>(add_root)),
            start: std::mem::transmute::<*mut c_void, Start>(start),
            finish: std::mem::transmute::<*mut c_void, Finish>(finish),
        })
    }
}

#[cfg(not(unix))]
fn found() -> Option<Interface> {
    None
}

/// A switch from a stack to which execution returns later.
pub struct Switch {
    /// The sanitizer's data for the stack that the switch leaves.
    frames: *mut c_void,
}

impl Switch {
    /// Call this before the switch to the stack with these addresses.
    pub fn to(stack: Range<usize>) -> Self {
        let mut frames = std::ptr::null_mut();
        if let Some(interface) = interface() {
            // SAFETY: the switch follows, to a stack of these addresses.
            unsafe { (interface.start)(&mut frames, stack.start as *const c_void, stack.len()) }
        }
        Self { frames }
    }

    /// Call this after the switch back. Returns the addresses of the other stack, from which the switch came.
    pub fn returned(self) -> Range<usize> {
        finish(self.frames)
    }
}

/// Call this first on a new stack. Returns the addresses of the stack from which the switch came.
pub fn begun() -> Range<usize> {
    let left = finish(std::ptr::null_mut());
    keep(&left);
    left
}

/// Lets LeakSanitizer look for pointers on a thread's own stack while the thread runs a coroutine. This matters if a kernel in a coroutine calls
/// exit(). The region stays registered for good, since the sanitizer reads a region only where it is mapped.
fn keep(stack: &Range<usize>) {
    thread_local! {
        static KEPT: Cell<usize> = const { Cell::new(0) };
    }
    if let Some(add_root) = interface().and_then(|interface| interface.add_root) {
        if KEPT.replace(stack.start) != stack.start {
            // SAFETY: the sanitizer copies the addresses.
            unsafe { add_root(stack.start as *const c_void, stack.len()) }
        }
    }
}

/// Call this before the last switch from a stack. `to`: the addresses of the stack to which that switch leads.
pub fn ends(to: Range<usize>) {
    if let Some(interface) = interface() {
        // SAFETY: the switch follows; a null pointer for the data lets the sanitizer free its data on this stack.
        unsafe { (interface.start)(std::ptr::null_mut(), to.start as *const c_void, to.len()) }
    }
}

fn finish(frames: *mut c_void) -> Range<usize> {
    let (mut start, mut size) = (std::ptr::null(), 0);
    if let Some(interface) = interface() {
        // SAFETY: a switch has just ended, and the frames are those that the sanitizer gave for this stack.
        unsafe { (interface.finish)(frames, &mut start, &mut size) }
    }
    start.addr()..start.addr() + size
}
