//! Handles: slot and generation, never addresses (decision 27).
//!
//! A handle is 64 bits: the object type's tag (8), the slot (24), the slot's generation (32). A
//! slot's generation grows each time it is freed, so a freed handle stays an error. Slots live in
//! chunks that never move, so looking up takes one lock of the slot itself.

use crate::error::{Error, ErrorKind, Result};
use crate::grow::Grow;
use crate::lock::{Mutex, rank};
use crate::runtime::HandleCell;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::spirv_kernel::SpirvKernel;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::ArrayView;
use crate::runtime::data::texture::Texture;
use crate::runtime::operations::completion::Completion;
use crate::runtime::user::User;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// A type that C sees through a handle.
pub(super) trait Object: Send + Sync + 'static {
    /// Its tag, unique among the types.
    const TAG: u8;
    /// What messages call it.
    const NAME: &'static str;
    /// Its table.
    fn table() -> &'static Table<Self>
    where
        Self: Sized;
}

macro_rules! object {
    ($type:ty, $tag:literal, $name:literal) => {
        impl Object for $type {
            const TAG: u8 = $tag;
            const NAME: &'static str = $name;
            fn table() -> &'static Table<Self> {
                static TABLE: Table<$type> = Table::new();
                &TABLE
            }
        }
    };
}

object!(Accelerator, 0xA1, "accelerator");
object!(AcceleratorView, 0xA2, "accelerator_view");
object!(Array, 0xA3, "array");
object!(SpirvKernel, 0xA4, "kernel");
object!(Completion, 0xA5, "completion");
object!(ArrayView, 0xA6, "array_view");
object!(Texture, 0xA7, "texture");
object!(User, 0xA8, "user");

/// The name of the type with this tag.
fn tag_name(tag: u8) -> Option<&'static str> {
    [
        (Accelerator::TAG, Accelerator::NAME),
        (AcceleratorView::TAG, AcceleratorView::NAME),
        (Array::TAG, Array::NAME),
        (SpirvKernel::TAG, SpirvKernel::NAME),
        (Completion::TAG, Completion::NAME),
        (ArrayView::TAG, ArrayView::NAME),
        (Texture::TAG, Texture::NAME),
        (User::TAG, User::NAME),
    ]
    .into_iter()
    .find_map(|(t, name)| (t == tag).then_some(name))
}

struct Entry<T> {
    references: u32,
    object: Option<Arc<T>>,
}

/// On a cache line of its own, so that threads with handles of their own do not share one.
#[repr(align(64))]
struct Slot<T> {
    /// Changed only under the entry's lock. No handle has the greatest value.
    generation: AtomicU32,
    entry: Mutex<Entry<T>, { rank::HANDLE }>,
}

impl<T> Slot<T> {
    fn new() -> Self {
        Self { generation: AtomicU32::new(1), entry: Mutex::new(Entry { references: 0, object: None }) }
    }

    /// Ends the life of its handle; the entry is locked and empty. False if no other may have the
    /// slot.
    fn retire(&self) -> bool {
        let next = self.generation.load(Ordering::Relaxed).saturating_add(1);
        self.generation.store(next, Ordering::Release);
        next < u32::MAX
    }
}

type Chunk<T> = Box<[Slot<T>]>;

/// Slots of the first chunk; each further chunk is twice as large.
const FIRST: usize = 64;
/// Chunks: together 2^24 slots.
const CHUNKS: usize = 18;

/// All objects of one type that C holds handles of.
pub(super) struct Table<T> {
    chunks: [OnceLock<Chunk<T>>; CHUNKS],
    free: Mutex<Free, { rank::HANDLES }>,
}

struct Free {
    slots: Vec<u32>,
    next: u32,
}

/// Chunk and place in it of a slot.
fn locate(slot: u32) -> (usize, usize) {
    let n = slot as usize / FIRST + 1;
    let chunk = n.ilog2() as usize;
    (chunk, slot as usize - FIRST * ((1 << chunk) - 1))
}

impl<T: Object> Table<T> {
    const fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS], free: Mutex::new(Free { slots: Vec::new(), next: 0 }) }
    }

    fn slot(&self, slot: u32) -> Option<&Slot<T>> {
        let (chunk, place) = locate(slot);
        self.chunks.get(chunk)?.get()?.get(place)
    }

    fn insert(&self, object: Arc<T>) -> Result<u64> {
        let slot = {
            let mut free = self.free.lock();
            match free.slots.pop() {
                Some(slot) => slot,
                None => {
                    let slot = free.next;
                    let (chunk, _) = locate(slot);
                    let Some(cell) = self.chunks.get(chunk) else {
                        return Err(Error::out_of_memory(format!(
                            "there are {slot} handles of type {}, which is the limit; release some",
                            T::NAME
                        )));
                    };
                    if cell.get().is_none() {
                        let count = FIRST << chunk;
                        let mut slots = Vec::new();
                        slots.make_room(count)?;
                        slots.extend((0..count).map(|_| Slot::new()));
                        // The list of free slots, which is empty, then has room for all.
                        free.slots.make_room(slot as usize + count)?;
                        let _ = cell.set(slots.into_boxed_slice());
                    }
                    free.next += 1;
                    slot
                }
            }
        };
        let Some(place) = self.slot(slot) else {
            return Err(Error::internal("a slot of the handle table is missing"));
        };
        let mut entry = place.entry.lock();
        *entry = Entry { references: 1, object: Some(object) };
        let generation = place.generation.load(Ordering::Relaxed);
        drop(entry);
        Ok(u64::from(T::TAG) << 56 | u64::from(slot) << 32 | u64::from(generation))
    }

    /// True if a handle that once was alive still is, as far as other threads do not free it
    /// meanwhile.
    fn is_alive(&self, handle: u64) -> bool {
        let slot = self.slot((handle >> 32) as u32 & 0xFF_FFFF);
        slot.is_some_and(|s| s.generation.load(Ordering::Acquire) == handle as u32)
    }

    /// Runs `f` on the slot and the live entry behind `handle`.
    fn with<R>(&self, handle: u64, f: impl FnOnce(&Slot<T>, &mut Entry<T>) -> R) -> Result<R> {
        let bad = |why: String| Err(Error::new(ErrorKind::InvalidHandle, why));
        if handle == 0 {
            return bad(format!("the {} handle is null; pass one made by the library", T::NAME));
        }
        let tag = (handle >> 56) as u8;
        if tag != T::TAG {
            return bad(match tag_name(tag) {
                Some(other) => format!("expected a handle of type {}, was given one of type {other}", T::NAME),
                None => format!("{handle:#x} is not a handle of this library; expected one of type {}", T::NAME),
            });
        }
        let freed = || format!("the {} handle {handle:#x} is not alive: it was freed, or never made", T::NAME);
        let Some(slot) = self.slot((handle >> 32) as u32 & 0xFF_FFFF) else {
            return bad(freed());
        };
        let mut entry = slot.entry.lock();
        if slot.generation.load(Ordering::Relaxed) != handle as u32 || entry.object.is_none() {
            return bad(freed());
        }
        Ok(f(slot, &mut entry))
    }

    fn release(&self, handle: u64) -> Result<()> {
        // Dropped after the slot's lock: dropping may wait for the device.
        let dropped = self.with(handle, |slot, entry| {
            entry.references -= 1;
            if entry.references > 0 {
                return (None, false);
            }
            (entry.object.take(), slot.retire())
        })?;
        if dropped.1 {
            self.free.lock().slots.push((handle >> 32) as u32 & 0xFF_FFFF);
        }
        drop(dropped.0);
        Ok(())
    }

    fn clear(&self) -> Vec<Arc<T>> {
        let next = self.free.lock().next;
        let mut objects = Vec::new();
        for slot in 0..next {
            let Some(place) = self.slot(slot) else { continue };
            let mut entry = place.entry.lock();
            if let Some(object) = entry.object.take() {
                entry.references = 0;
                if place.retire() {
                    self.free.lock().slots.push(slot);
                }
                objects.push(object);
            }
        }
        objects
    }
}

/// A new handle that owns one reference.
pub(super) fn insert<T: Object, H>(object: Arc<T>) -> Result<*mut H> {
    T::table().insert(object).map(|h| h as usize as *mut H)
}

/// The handle kept in an object's own cell, for objects the library hands out again and again.
pub(super) fn of<T: Object, H>(cell: &HandleCell, object: &Arc<T>) -> Result<*mut H> {
    let alive = |h: u64| get::<T, H>(h as usize as *mut H).is_ok();
    let make = || insert::<T, H>(object.clone()).map(|h| h as usize as u64);
    cell.get_or_make(alive, make).map(|h| h as usize as *mut H)
}

/// The object behind a handle.
pub(super) fn get<T: Object, H>(handle: *mut H) -> Result<Arc<T>> {
    T::table()
        .with(handle as usize as u64, |_, e| e.object.clone())?
        .ok_or_else(|| Error::internal("a live handle has an empty slot"))
}

/// What `f` finds in the object behind a handle.
pub(super) fn look<T: Object, H, R>(handle: *mut H, f: impl FnOnce(&T) -> R) -> Result<R> {
    T::table()
        .with(handle as usize as u64, |_, e| e.object.as_deref().map(f))?
        .ok_or_else(|| Error::internal("a live handle has an empty slot"))
}

/// True if a handle that [`get`] or [`look`] took once has not been freed, as far as other threads
/// do not free it now.
pub(super) fn is_alive<T: Object, H>(handle: *mut H) -> bool {
    T::table().is_alive(handle as usize as u64)
}

/// One more reference.
pub(super) fn retain<T: Object, H>(handle: *mut H) -> Result<()> {
    T::table()
        .with(handle as usize as u64, |_, e| match e.references.checked_add(1) {
            Some(n) => {
                e.references = n;
                Ok(())
            }
            None => Err(Error::runtime(
                "the handle was retained 4294967295 times, which is the limit; release it as often as it is retained",
            )),
        })
        .and_then(|r| r)
}

/// One reference less; the last one frees the object.
pub(super) fn release<T: Object, H>(handle: *mut H) -> Result<()> {
    T::table().release(handle as usize as u64)
}

/// Frees every object: views (which write back), then arrays and kernels, then what they stand on. There are no users then.
pub(super) fn clear_all() {
    drop(Completion::table().clear());
    drop(ArrayView::table().clear());
    drop(Array::table().clear());
    drop(Texture::table().clear());
    drop(SpirvKernel::table().clear());
    drop(AcceleratorView::table().clear());
    drop(Accelerator::table().clear());
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing;
    object!(Thing, 0x77, "thing");

    #[test]
    fn slots_locate_without_gaps() {
        let mut last = (0, usize::MAX);
        for slot in 0..10_000 {
            let at = locate(slot);
            assert!(at == (last.0, last.1.wrapping_add(1)) || at == (last.0 + 1, 0), "{slot}: {at:?} after {last:?}");
            assert!(at.1 < FIRST << at.0);
            last = at;
        }
        assert!(locate((1 << 24) - FIRST as u32 - 1).0 < CHUNKS);
    }

    #[test]
    fn freed_handles_stay_dead_when_the_slot_is_used_again() {
        let first: *mut () = insert(Arc::new(Thing)).unwrap();
        retain::<Thing, _>(first).unwrap();
        release::<Thing, _>(first).unwrap();
        assert!(get::<Thing, _>(first).is_ok() && is_alive::<Thing, _>(first));
        release::<Thing, _>(first).unwrap();
        assert!(!is_alive::<Thing, _>(first));
        let second: *mut () = insert(Arc::new(Thing)).unwrap();
        assert_ne!(first, second);
        let error = get::<Thing, _>(first).err().unwrap();
        assert!(error.message.contains("freed"), "{error}");
        assert!(!is_alive::<Thing, _>(first) && is_alive::<Thing, _>(second));
        assert_eq!(error.kind, ErrorKind::InvalidHandle);
        assert!(release::<Thing, _>(first).is_err());
        release::<Thing, _>(second).unwrap();
    }

    #[test]
    fn foreign_numbers_are_told_apart() {
        let local = 5;
        let error = get::<Thing, _>((&raw const local).cast_mut()).err().unwrap();
        assert!(error.message.contains("not a handle of this library"), "{error}");
        let array = (0xA3_u64 << 56 | 1) as usize as *mut ();
        assert!(get::<Thing, _>(array).err().unwrap().message.contains("one of type array"));
        assert!(get::<Thing, ()>(std::ptr::null_mut()).err().unwrap().message.contains("null"));
    }
}
