//! Handles of the C API. A handle has a slot number and a generation, never an address (decision 27).
//!
//! A handle is 64 bits: the object type's tag (8), the slot (24), the slot's generation (32). A
//! slot's generation grows each time it is freed, so a freed handle stays invalid. Slots live in
//! chunks that never move, so a lookup takes only the lock of the slot.

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
    /// The tag in handles of this type, unique among the types.
    const TAG: u8;
    /// The name of this type in messages.
    const NAME: &'static str;
    /// The table of all handles of this type.
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

/// The slot of a handle. Aligned to a cache line, so that threads that use different handles do not share a cache line.
#[repr(align(64))]
struct Slot<T> {
    /// Changed only under the entry's lock. No handle has the generation `u32::MAX`.
    generation: AtomicU32,
    entry: Mutex<Entry<T>, { rank::HANDLE }>,
}

impl<T> Slot<T> {
    fn new() -> Self {
        Self { generation: AtomicU32::new(1), entry: Mutex::new(Entry { references: 0, object: None }) }
    }

    /// Invalidates the slot's handle; the caller has locked and emptied the entry. False if the slot
    /// must not be used again.
    fn retire(&self) -> bool {
        let next = self.generation.load(Ordering::Relaxed).saturating_add(1);
        self.generation.store(next, Ordering::Release);
        next < u32::MAX
    }
}

type Chunk<T> = Box<[Slot<T>]>;

/// Number of slots in the first chunk; each further chunk has twice as many.
const FIRST: usize = 64;
/// Number of chunks; together they have just under 2^24 slots.
const CHUNKS: usize = 18;

/// All objects of one type that have handles in C.
pub(super) struct Table<T> {
    chunks: [OnceLock<Chunk<T>>; CHUNKS],
    free: Mutex<Free, { rank::HANDLES }>,
}

struct Free {
    slots: Vec<u32>,
    next: u32,
}

/// The chunk of a slot, and the slot's index in that chunk.
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
                            "there are {slot} handles of type {}, which is the limit; release handles that are no \
                             longer needed",
                            T::NAME
                        )));
                    };
                    if cell.get().is_none() {
                        let count = FIRST << chunk;
                        let mut slots = Vec::new();
                        slots.make_room(count)?;
                        slots.extend((0..count).map(|_| Slot::new()));
                        // Reserves room in the list of free slots for every slot, so that freeing never allocates. The list is empty here.
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

    /// True if a handle that was valid before is still valid. Another thread may free it at any time.
    fn is_alive(&self, handle: u64) -> bool {
        let slot = self.slot((handle >> 32) as u32 & 0xFF_FFFF);
        slot.is_some_and(|s| s.generation.load(Ordering::Acquire) == handle as u32)
    }

    /// Runs `f` on the slot and the live entry behind `handle`.
    fn with<R>(&self, handle: u64, f: impl FnOnce(&Slot<T>, &mut Entry<T>) -> R) -> Result<R> {
        let bad = |why: String| Err(Error::new(ErrorKind::InvalidHandle, why));
        if handle == 0 {
            return bad(format!("the {} handle is null; pass a handle that the library made", T::NAME));
        }
        let tag = (handle >> 56) as u8;
        if tag != T::TAG {
            return bad(match tag_name(tag) {
                Some(other) => format!("expected a handle of type {}, but got a handle of type {other}", T::NAME),
                None => format!("{handle:#x} is not a handle of this library; pass a handle of type {}", T::NAME),
            });
        }
        let freed = || format!("the {} handle {handle:#x} is not alive; it was freed, or was never created", T::NAME);
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
        // The object is dropped after the slot is unlocked, because dropping it may wait for the device.
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

/// Returns the handle that the object's `cell` stores, or creates one if that handle is not alive. For objects that the
/// library hands out repeatedly.
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

/// Calls `f` with the object behind a handle and returns its result.
pub(super) fn with_object<T: Object, H, R>(handle: *mut H, f: impl FnOnce(&T) -> R) -> Result<R> {
    T::table()
        .with(handle as usize as u64, |_, e| e.object.as_deref().map(f))?
        .ok_or_else(|| Error::internal("a live handle has an empty slot"))
}

/// True if a handle that [`get`] or [`with_object`] once accepted has not been freed. Another thread may
/// free it at any time.
pub(super) fn is_alive<T: Object, H>(handle: *mut H) -> bool {
    T::table().is_alive(handle as usize as u64)
}

/// Adds a reference.
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

/// Removes a reference. Removing the last reference frees the object.
pub(super) fn release<T: Object, H>(handle: *mut H) -> Result<()> {
    T::table().release(handle as usize as u64)
}

/// Frees every object. array_views write their data back, so they come before arrays and textures; accelerators come last. No `User` exists at
/// this point.
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
    fn foreign_numbers_are_rejected() {
        let local = 5;
        let error = get::<Thing, _>((&raw const local).cast_mut()).err().unwrap();
        assert!(error.message.contains("not a handle of this library"), "{error}");
        let array = (0xA3_u64 << 56 | 1) as usize as *mut ();
        assert!(get::<Thing, _>(array).err().unwrap().message.contains("a handle of type array"));
        assert!(get::<Thing, ()>(std::ptr::null_mut()).err().unwrap().message.contains("null"));
    }
}
