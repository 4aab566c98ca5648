//! Native kernels: functions for the host's processor that the kernel compiler made from a kernel. Each call runs a
//! whole tile, or a row of threads.

#![allow(unsafe_code)]

use super::kernel::{HostKernel, ThreadId};
use crate::device::block::{Block, BlockCopy};
use crate::error::{Error, Result};
use crate::host::{HostSpan, processor};
use crate::kernel::compiled::Compiled;
use smallvec::SmallVec;
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_void};
use std::io::Write;
use std::sync::Arc;

/// Runs a tile or a row of threads. Arguments: the argument block, the tile's memory, and `place` (see [`NativeKernel::call`]).
type NativeCode = unsafe extern "C" fn(*const c_void, *mut c_void, *const i32) -> u32;

/// The native code of a kernel for this machine's processor.
#[derive(Clone, Copy)]
pub struct NativeForm {
    code: NativeCode,
    /// Bytes of memory for a tile.
    memory: u64,
}

impl NativeForm {
    /// The native code of a kernel, if it exists for tiles of this extent and argument blocks of this many bytes.
    pub fn of(compiled: &Compiled, tile: Option<&[i32]>, block: u64) -> Option<Self> {
        let native = compiled.native.as_ref().filter(|native| !native.by_threads)?;
        let level = processor::level()?;
        let mut extent = [0; 3];
        if let Some(given) = tile {
            let given = given.iter().rev().map(|&t| t as u32);
            extent.iter_mut().zip(given.chain([1, 1])).for_each(|(to, from)| *to = from);
        }
        let address = native.functions[level];
        if extent != native.tile || address == 0 || block != compiled.block_size {
            return None;
        }
        // SAFETY: the kernel compiler wrote this address, which is that of a function of this type.
        let code = unsafe { std::mem::transmute::<usize, NativeCode>(address) };
        Some(Self { code, memory: native.memory })
    }

    /// The address of the code.
    pub fn address(self) -> usize {
        self.code as usize
    }
}

/// A native kernel with its argument block.
pub struct NativeKernel {
    form: NativeForm,
    extent: SmallVec<[i32; 4]>,
    compiled: Arc<Compiled>,
    block: BlockCopy,
}

impl NativeKernel {
    /// `form` belongs to `compiled`, and `block` has the size that was passed to [`NativeForm::of`].
    pub fn new(form: NativeForm, compiled: &Arc<Compiled>, extent: &[i32], block: &Block) -> Result<Self> {
        let block = BlockCopy::of(block)?;
        Ok(Self { form, extent: SmallVec::from_slice(extent), compiled: Arc::clone(compiled), block })
    }

    /// Calls the code for a tile or a row of threads. `place`: in x, y, z the index of the tile or of the row's first thread, then the number of
    /// threads in the row.
    fn call(&self, place: [i32; 4], memory: *mut c_void) -> Result<()> {
        // SAFETY: the function was compiled for a block of this size, and the memory has the size that the function
        // needs.
        match unsafe { (self.form.code)(self.block.as_ptr(), memory, place.as_ptr()) } {
            0 => Ok(()),
            1 => Err(Error::runtime(format!(
                "{}: the threads of a tile did not reach the same tile barriers; either all threads of a tile or none \
                 must wait at a barrier",
                self.compiled.location
            ))),
            _ => Err(Error::runtime(failure())),
        }
    }
}

impl HostKernel for NativeKernel {
    fn run(&self, _: &ThreadId<'_>) -> Result<()> {
        Err(Error::internal("a native kernel runs only whole tiles and rows, but a single thread was requested"))
    }

    fn run_row(&self, thread: &mut ThreadId<'_>, count: u32) -> Result<()> {
        let all = thread.global();
        let (rank, mut place) = (all.len(), [0, 0, 0, count as i32]);
        for (to, from) in place[..3].iter_mut().zip(all.iter().rev()) {
            *to = *from;
        }
        // The leading dimensions are folded into z, as on devices.
        let leading = &all[..rank.max(2) - 2];
        place[2] = leading.iter().zip(&self.extent).fold(0, |z, (&i, &e)| z.wrapping_mul(e).wrapping_add(i));
        self.call(place, std::ptr::null_mut())
    }

    fn identity(&self) -> usize {
        self.form.address()
    }

    fn whole_tile_memory(&self) -> Option<u64> {
        Some(self.form.memory)
    }

    fn run_tile(&self, tile: [i32; 3], memory: HostSpan) -> Result<()> {
        let mut place = [0; 4];
        for (to, from) in place.iter_mut().zip(tile[..self.extent.len()].iter().rev()) {
            *to = *from;
        }
        self.call(place, memory.as_ptr().cast())
    }
}

/// The size of the buffer into which native code writes why it abandons its tile.
const TEXT: usize = 4096;
thread_local! {
    static TEXT_OF_THREAD: UnsafeCell<[u8; TEXT]> = const { UnsafeCell::new([0; TEXT]) };
}

/// This thread's buffer of 4,096 bytes, into which native code writes why it abandons its tile.
pub fn failure_text() -> *mut c_char {
    TEXT_OF_THREAD.with(|text| text.get().cast())
}

/// Why native code of this thread abandoned its tile. If the first byte of the buffer is `E`, also prints the text to standard error.
fn failure() -> String {
    TEXT_OF_THREAD.with(|text| {
        // SAFETY: only this thread has the address of the buffer, and native code that writes it has returned.
        let text = unsafe { &*text.get() };
        let length = text.iter().position(|&b| b == 0).unwrap_or(TEXT);
        let message = String::from_utf8_lossy(text[..length].get(1..).unwrap_or_default()).into_owned();
        if text[0] == b'E' {
            // If printing fails, the returned error still has the message.
            let _ = std::io::stderr().write_all(message.as_bytes());
        }
        message
    })
}
