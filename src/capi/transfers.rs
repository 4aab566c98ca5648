//! The C API of counters of transfers, and of the log of the latest transfers.

use super::guard::guard;
use super::handle::get;
use super::types::*;
use super::{accelerator, pointer};
use crate::device::physical::CPU_PATH;
use crate::error::{Error, Result};
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::data::array_view::ArrayView;
use crate::runtime::runtime;
use crate::trace::transfers::{self, Counters, MAX_RECORDS, Moves, TransferDirection};

/// The maximum number of transfers that a message lists.
const LISTED: usize = 20;

/// Writes `counters` to the C struct at `out`.
///
/// # Safety
/// `out` is null or points to a writable struct that begins with its size.
unsafe fn give(counters: &Counters, out: *mut revamp_transfer_counters) -> Result<()> {
    let of = |is_implicit, direction| counters.total(is_implicit, direction);
    let (implicit_to, implicit_from, implicit_local) =
        (of(true, TransferDirection::To), of(true, TransferDirection::From), of(true, TransferDirection::Local));
    let (explicit_to, explicit_from, explicit_local) =
        (of(false, TransferDirection::To), of(false, TransferDirection::From), of(false, TransferDirection::Local));
    let filled = revamp_transfer_counters {
        struct_size: 0,
        implicit_to_bytes: implicit_to.bytes,
        implicit_to_count: implicit_to.count,
        implicit_from_bytes: implicit_from.bytes,
        implicit_from_count: implicit_from.count,
        implicit_local_bytes: implicit_local.bytes,
        implicit_local_count: implicit_local.count,
        explicit_to_bytes: explicit_to.bytes,
        explicit_to_count: explicit_to.count,
        explicit_from_bytes: explicit_from.bytes,
        explicit_from_count: explicit_from.count,
        explicit_local_bytes: explicit_local.bytes,
        explicit_local_count: explicit_local.count,
    };
    // SAFETY: the same contract.
    unsafe { pointer::write_info(out, filled) }
}

/// Fills `counters` with the transfers caused by accesses to this view since its creation (set
/// struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_get_transfers(
    view: revamp_array_view,
    counters: *mut revamp_transfer_counters,
) -> revamp_status {
    // SAFETY: the caller vouches for a writable struct or NULL.
    guard(|| unsafe { give(get::<ArrayView, _>(view)?.part().counters(), counters) })
}

/// Fills `counters` with all transfers of bytes of the view's data source, whatever their cause (set
/// struct_size first).
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
    guard(|| unsafe { give(&transfers::PROCESS_COUNTERS, counters) })
}

/// Reads transfers numbered `first` and higher from the log of the latest 4096, oldest first, at
/// most `capacity`. `count` becomes the number of transfers written. `transfers` may be NULL if
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
        let accelerator_of = |id: u64| {
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
                is_implicit: r.call.is_implicit(),
                call: r.call.name.as_ptr(),
                source: accelerator_of(r.from)?,
                destination: accelerator_of(r.to)?,
                source_id: r.source,
            })?;
        }
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(count, "count", records.len()) }
    })
}

/// Gives the number that the next transfer will have in the log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_transfer_log_next(number: *mut u64) -> revamp_status {
    guard(|| {
        pointer::check_out(number, "number")?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(number, "number", transfers::next()) }
    })
}

/// Fails with REVAMP_ERROR_RUNTIME if bytes moved between memories, on any thread, in a transfer
/// numbered `first` or higher. The message lists those of these transfers that are in the log of the
/// latest 4096, with their causes. For tests: get `first` from revamp_transfer_log_next() before the
/// code that must move nothing. Copies within one memory do not count.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_check_no_transfers(first: u64) -> revamp_status {
    guard(|| {
        let Moves { logged: moved, are_all } = transfers::moves_since(first);
        if moved.is_empty() && are_all {
            return Ok(());
        }
        let all = runtime()?;
        let name = |id: u64| {
            let found = all.accelerators().iter().find(|a| a.id() == id);
            found.map_or_else(|| "host".to_owned(), |a| a.name())
        };
        let count = if are_all { moved.len().to_string() } else { format!("at least {}", moved.len() + 1) };
        let mut text = format!("{count} transfers happened, but none was expected");
        for r in moved.iter().take(LISTED) {
            let kind = r.call.rule.map_or_else(|| "explicit".to_owned(), |rule| format!("implicit ({})", rule.id()));
            let call = r.call.name.to_string_lossy();
            text += &format!("\n  {} bytes from {} to {}: {kind}, by {call}", r.bytes, name(r.from), name(r.to));
            if r.source != 0 {
                text += &format!(", of data source {}", r.source);
            }
        }
        if moved.len() > LISTED {
            text += &format!("\n  and {} more", moved.len() - LISTED);
        }
        if !are_all {
            text += &format!(
                "\n  and earlier transfers, from number {first} on, which are no longer in the log of the latest \
                 {MAX_RECORDS} transfers; check a shorter part of the program to list them"
            );
        }
        Err(Error::runtime(text))
    })
}
