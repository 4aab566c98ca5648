//! Transfers: counters and the log of the latest ones.

use super::guard::guard;
use super::handle::get;
use super::types::*;
use super::{accelerator, pointer};
use crate::device::physical::CPU_PATH;
use crate::error::{Error, Result};
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::data::array_view::ArrayView;
use crate::runtime::runtime;
use crate::trace::transfers::{self, Counters, Way};

/// How many transfers a message lists.
const LISTED: usize = 20;

/// Writes counters.
///
/// # Safety
/// `out` is null or points to a writable struct that begins with its size.
unsafe fn give(counters: &Counters, out: *mut revamp_transfer_counters) -> Result<()> {
    let of = |is_implicit, way| counters.total(is_implicit, way);
    let (it, iff, il) = (of(true, Way::To), of(true, Way::From), of(true, Way::Local));
    let (et, ef, el) = (of(false, Way::To), of(false, Way::From), of(false, Way::Local));
    let filled = revamp_transfer_counters {
        struct_size: 0,
        implicit_to_bytes: it.bytes,
        implicit_to_count: it.count,
        implicit_from_bytes: iff.bytes,
        implicit_from_count: iff.count,
        implicit_local_bytes: il.bytes,
        implicit_local_count: il.count,
        explicit_to_bytes: et.bytes,
        explicit_to_count: et.count,
        explicit_from_bytes: ef.bytes,
        explicit_from_count: ef.count,
        explicit_local_bytes: el.bytes,
        explicit_local_count: el.count,
    };
    // SAFETY: the same contract.
    unsafe { pointer::write_info(out, filled) }
}

/// Fills `counters` with the transfers that uses of this view have caused since it was made (set
/// struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_get_transfers(
    view: revamp_array_view,
    counters: *mut revamp_transfer_counters,
) -> revamp_status {
    // SAFETY: the caller vouches for a writable struct or NULL.
    guard(|| unsafe { give(get::<ArrayView, _>(view)?.part().counters(), counters) })
}

/// Fills `counters` with all transfers of bytes of the view's data source, whatever caused them
/// (set struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_get_source_transfers(
    view: revamp_array_view,
    counters: *mut revamp_transfer_counters,
) -> revamp_status {
    // SAFETY: the caller vouches for a writable struct or NULL.
    guard(|| unsafe { give(get::<ArrayView, _>(view)?.part().source().counters(), counters) })
}

/// Fills `counters` with the transfers to, from and within the memory of an accelerator (set
/// struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_get_transfers(
    accelerator: revamp_accelerator,
    counters: *mut revamp_transfer_counters,
) -> revamp_status {
    // SAFETY: the caller vouches for a writable struct or NULL.
    guard(|| unsafe { give(get::<Accelerator, _>(accelerator)?.transfers(), counters) })
}

/// Fills `counters` with all transfers of the process (set struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_get_transfers(counters: *mut revamp_transfer_counters) -> revamp_status {
    // SAFETY: the caller vouches for a writable struct or NULL.
    guard(|| unsafe { give(&transfers::ALL, counters) })
}

/// Reads from the log of the latest 4096 transfers: those numbered `first` and higher, oldest
/// first, at most `capacity`. `count` becomes how many were written. `transfers` may be NULL if
/// `capacity` is 0. Set struct_size of transfers[0]; it applies to all. For more, call again with
/// `first` one above the last number read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_transfer_log_read(
    first: u64,
    transfers: *mut revamp_transfer,
    capacity: usize,
    count: *mut usize,
) -> revamp_status {
    guard(|| {
        pointer::check_out(count, "count")?;
        let records = transfers::read(first, capacity);
        let all = runtime()?;
        let cpu = all.find(CPU_PATH)?;
        let named = |id: u64| {
            let found = all.accelerators().iter().find(|a| a.id() == id);
            accelerator::handle_of(found.unwrap_or(&cpu))
        };
        // SAFETY: the caller vouches for `capacity` writable structs of the size the first one says, or NULL.
        let mut out = unsafe { pointer::Structs::new(transfers, capacity) }?;
        for r in &records {
            out.push(revamp_transfer {
                struct_size: 0,
                number: r.number,
                bytes: r.bytes,
                is_implicit: r.call.is_implicit,
                call: r.call.name.as_ptr(),
                source: named(r.from)?,
                destination: named(r.to)?,
                source_id: r.source,
            })?;
        }
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(count, "count", records.len()) }
    })
}

/// Gives the number that the next transfer gets in the log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_transfer_log_next(number: *mut u64) -> revamp_status {
    guard(|| {
        pointer::check_out(number, "number")?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(number, "number", transfers::next()) }
    })
}

/// Fails with REVAMP_ERROR_RUNTIME if bytes moved between memories, on any thread, in a transfer
/// numbered `first` or higher; the message lists these transfers with their causes. For tests: get
/// `first` from revamp_transfer_log_next() before the code that must move nothing. Copies within one
/// memory do not count.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_check_no_transfers(first: u64) -> revamp_status {
    guard(|| {
        let moved: Vec<_> = transfers::read(first, usize::MAX).into_iter().filter(|r| r.from != r.to).collect();
        if moved.is_empty() {
            return Ok(());
        }
        let all = runtime()?;
        let name = |id: u64| {
            let found = all.accelerators().iter().find(|a| a.id() == id);
            found.map_or_else(|| "host".to_owned(), |a| a.name())
        };
        let mut text = format!("{} transfers, where none was expected", moved.len());
        for r in moved.iter().take(LISTED) {
            let kind = if r.call.is_implicit { "implicit" } else { "explicit" };
            let call = r.call.name.to_string_lossy();
            text += &format!("\n  {} bytes from {} to {}: {kind}, by {call}", r.bytes, name(r.from), name(r.to));
            if r.source != 0 {
                text += &format!(", of data source {}", r.source);
            }
        }
        if moved.len() > LISTED {
            text += &format!("\n  and {} more", moved.len() - LISTED);
        }
        Err(Error::runtime(text))
    })
}
