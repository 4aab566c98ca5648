//! Copies that bypass the caches, for blocks so large that they would evict all other data.
//!
//! glibc's memcpy also bypasses the caches for large sizes, but a parallel copy makes many smaller calls.

#![allow(unsafe_code)]

/// Copies `length` bytes.
///
/// # Safety
/// Both sides are valid for `length` bytes and do not overlap.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn copy(source: *const u8, destination: *mut u8, length: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const LINE: usize = 64;
    let head = destination.align_offset(LINE).min(length);
    let body = (length - head) / LINE * LINE;
    // SAFETY: all accesses are within `length` bytes. Streaming stores go to addresses aligned to 16 (SSE2 is part of x86-64). The
    // fence orders them before the store that signals the end of the copy to other threads.
    unsafe {
        std::ptr::copy_nonoverlapping(source, destination, head);
        let mut at = head;
        while at < head + body {
            let from = source.add(at).cast::<__m128i>();
            let to = destination.add(at).cast::<__m128i>();
            let (a, b) = (_mm_loadu_si128(from), _mm_loadu_si128(from.add(1)));
            let (c, d) = (_mm_loadu_si128(from.add(2)), _mm_loadu_si128(from.add(3)));
            _mm_stream_si128(to, a);
            _mm_stream_si128(to.add(1), b);
            _mm_stream_si128(to.add(2), c);
            _mm_stream_si128(to.add(3), d);
            at += LINE;
        }
        _mm_sfence();
        std::ptr::copy_nonoverlapping(source.add(at), destination.add(at), length - at);
    }
}

/// Copies `length` bytes.
///
/// # Safety
/// Both sides are valid for `length` bytes and do not overlap.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn copy(source: *const u8, destination: *mut u8, length: usize) {
    // SAFETY: the same contract.
    unsafe { std::ptr::copy_nonoverlapping(source, destination, length) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_alignment_and_length_is_copied() {
        let source: Vec<u8> = (0..1000_u32).map(|i| (i * 7) as u8).collect();
        for skew in 0..70 {
            for length in [0, 1, 15, 63, 64, 65, 127, 128, 300, 800] {
                let mut target = vec![0xAA_u8; 1000];
                // SAFETY: skew + length and 5 + length are below 1000.
                unsafe { super::copy(source.as_ptr().add(5), target.as_mut_ptr().add(skew), length) };
                assert_eq!(&target[skew..skew + length], &source[5..5 + length]);
                assert!(target[..skew].iter().chain(&target[skew + length..]).all(|&b| b == 0xAA));
            }
        }
    }
}
