//! Reads and writes through pointers that C passed. Plain data is dereferenced only here.

use super::sizes::{self, Sized_};
use crate::error::{Error, Result};
use std::ffi::{CStr, c_char};

#[cold]
fn null(what: &str) -> Error {
    Error::invalid(format!("{what} is NULL"))
}

/// Reads an option struct; `None` if `pointer` is null. Fields that the caller's version lacks are
/// zero.
///
/// # Safety
/// `pointer` is null or points to a `T`, which begins with its size.
pub(super) unsafe fn read_optional<T: Sized_>(pointer: *const T) -> Result<Option<T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller vouches for a readable struct_size at the start.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    if size == size_of::<T>() {
        // SAFETY: the caller vouches for that many readable bytes.
        return Ok(Some(unsafe { pointer.read_unaligned() }));
    }
    sizes::check::<T>(size)?;
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: the caller vouches for `size` readable bytes, sizes::check accepts no size larger than T, and zeroes are a value
    // of the remaining fields (Sized_).
    Ok(Some(unsafe {
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), size);
        value.assume_init()
    }))
}

/// Reads a struct; fails if `pointer` is null.
///
/// # Safety
/// As [`read_optional`].
pub(super) unsafe fn read<T: Sized_>(pointer: *const T) -> Result<T> {
    // SAFETY: the same contract.
    unsafe { read_optional(pointer) }?.ok_or_else(|| null(T::NAME))
}

/// Writes the fields of an info struct that the caller's version has, except struct_size.
///
/// # Safety
/// `pointer` is null or points to a writable `T`, which begins with its size.
pub(super) unsafe fn write_info<T: Sized_>(pointer: *mut T, value: T) -> Result<()> {
    if pointer.is_null() {
        return Err(null(T::NAME));
    }
    // SAFETY: the caller vouches for a readable struct_size at the start.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    sizes::check::<T>(size)?;
    let head = std::mem::size_of::<usize>();
    // SAFETY: the caller vouches for `size` writable bytes; sizes::check accepts no size larger than T.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const value).cast::<u8>().add(head),
            pointer.cast::<u8>().add(head),
            size - head,
        );
    }
    Ok(())
}

#[cold]
fn impossible_count(what: &str, count: usize) -> Error {
    Error::invalid(format!("{what} has a count of {count}, which exceeds the address space; pass the true count"))
}

/// The distance between the structs of a list in bytes: struct_size of the first one.
///
/// # Safety
/// `pointer` is null or points to a `T`, which begins with its size.
#[inline]
pub(super) unsafe fn stride<T: Sized_>(pointer: *const T, what: &str) -> Result<usize> {
    if pointer.is_null() {
        return Err(null(what));
    }
    // SAFETY: the caller vouches for a readable struct_size at the start.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    sizes::check::<T>(size)?;
    Ok(size)
}

/// The addresses of `count` structs, all as large as struct_size of the first one.
///
/// # Safety
/// As [`stride`].
pub(super) unsafe fn each<T: Sized_>(
    pointer: *const T,
    count: usize,
    what: &str,
) -> Result<impl Iterator<Item = *const T>> {
    // SAFETY: the same contract.
    let stride = if count == 0 { 0 } else { unsafe { stride(pointer, what) }? };
    if count > isize::MAX as usize / stride.max(1) {
        return Err(impossible_count(what, count));
    }
    Ok((0..count).map(move |n| pointer.wrapping_byte_add(n * stride)))
}

/// A caller's list of structs to be written, all as large as struct_size of the first one.
pub(super) struct Structs<T> {
    next: *mut T,
    size: usize,
    left: usize,
}

impl<T: Sized_> Structs<T> {
    /// The list at `pointer`.
    ///
    /// # Safety
    /// `pointer` is null or points to `capacity` writable structs as large as the first one's
    /// struct_size, which stay writable as long as the returned list lives.
    pub(super) unsafe fn new(pointer: *mut T, capacity: usize) -> Result<Self> {
        if capacity == 0 {
            return Ok(Self { next: pointer, size: 0, left: 0 });
        }
        // SAFETY: the caller vouches for a readable struct_size at the start.
        let size = unsafe { stride(pointer, T::NAME) }?;
        Ok(Self { next: pointer, size, left: capacity })
    }

    /// Writes the next struct if there is room.
    pub(super) fn push(&mut self, value: T) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        // SAFETY: there is room for one more struct of `size` bytes (`new`), whose size is set first.
        unsafe {
            self.next.cast::<usize>().write_unaligned(self.size);
            write_info(self.next, value)?;
        }
        self.next = self.next.wrapping_byte_add(self.size);
        self.left -= 1;
        Ok(())
    }
}

/// Checks an output pointer before the work that computes the output.
pub(super) fn check_out<T>(pointer: *mut T, what: &str) -> Result<()> {
    if pointer.is_null() { Err(null(what)) } else { Ok(()) }
}

/// Writes an output.
///
/// # Safety
/// `pointer` is null or writable.
pub(super) unsafe fn write<T>(pointer: *mut T, what: &str, value: T) -> Result<()> {
    check_out(pointer, what)?;
    // SAFETY: not null; the caller vouches for it being writable.
    unsafe { pointer.write(value) };
    Ok(())
}

/// The largest address of a program on any existing machine (57 bits). No list reaches beyond it.
const LAST_ADDRESS: usize = usize::MAX >> (usize::BITS / 64 * 7);

/// The longest accepted text in bytes. A text may become part of a message.
const LONGEST_TEXT: usize = 1 << 20;

/// The error for a `pointer` that cannot have `count` values.
#[cold]
fn invalid_list<T>(pointer: *const T, count: usize, what: &str) -> Error {
    Error::invalid(if pointer.is_null() {
        format!("{what} is NULL, but the count of its elements is {count}; pass the elements, or the count 0")
    } else if !pointer.is_aligned() {
        format!("{what} is at {pointer:p}, which is not aligned to {} bytes; align it", std::mem::align_of::<T>())
    } else {
        format!("{what} has a count of {count}, which exceeds the address space; pass the true count")
    })
}

/// A list of `count` values.
///
/// # Safety
/// `pointer` is null or points to `count` readable values that stay unchanged during the call.
#[inline]
pub(super) unsafe fn slice<'a, T>(pointer: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    let size = std::mem::size_of::<T>().max(1);
    let fits = count <= LAST_ADDRESS / size && pointer.addr() <= LAST_ADDRESS - count * size;
    if pointer.is_null() || !pointer.is_aligned() || !fits {
        return Err(invalid_list(pointer, count, what));
    }
    // SAFETY: not null, aligned, of a possible length; the caller vouches for the contents.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Like [`slice`], `None` if `pointer` is null.
///
/// # Safety
/// As [`slice`].
#[inline]
pub(super) unsafe fn optional_slice<'a, T>(pointer: *const T, count: usize, what: &str) -> Result<Option<&'a [T]>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the same contract.
    unsafe { slice(pointer, count, what) }.map(Some)
}

/// A string; `None` if `pointer` is null.
///
/// # Safety
/// `pointer` is null or points to a zero-terminated string that stays unchanged during the call.
pub(super) unsafe fn optional_text<'a>(pointer: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: not null; the caller vouches for the terminator.
    let text = unsafe { CStr::from_ptr(pointer) };
    let bytes = text.to_bytes().len();
    if bytes > LONGEST_TEXT {
        return Err(Error::invalid(format!("{what} has {bytes} bytes; the limit is {LONGEST_TEXT}")));
    }
    text.to_str().map(Some).map_err(|_| Error::invalid(format!("{what} is not valid UTF-8; convert it")))
}

/// A string; fails if `pointer` is null.
///
/// # Safety
/// As [`optional_text`].
pub(super) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: the same contract.
    unsafe { optional_text(pointer, what) }?.ok_or_else(|| null(what))
}
