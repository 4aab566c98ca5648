//! Stackful coroutines for the threads of a tile. Each coroutine runs until it waits at the tile barrier.
//!
//! A suspended coroutine is never dropped, because its unwinding would pass through C frames. [`run`] resumes all coroutines until they end.
#![allow(unsafe_code)]

use super::sanitizer::{self, Switch};
use crate::error::{Error, Result};
use crate::host::threads::caught;
use crate::lock::{Condvar, Mutex, rank};
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, Yielder};
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// The stack size of each thread of a tile, in bytes.
pub const STACK_BYTES: usize = 64 << 10;
/// The tops of stacks differ by multiples of this; otherwise the hot ends of all stacks would share cache sets.
const COLOUR_STEP: usize = 128;
/// The number of different offsets, which together span one page.
const COLOURS: usize = 32;
/// The maximum number of stacks: each takes two of the 65530 mappings that Linux allows a process.
const MAX_STACKS: usize = 24 << 10;

/// A stack whose top is `shift` bytes lower than that of `stack`; see [`COLOUR_STEP`].
struct Coloured {
    stack: DefaultStack,
    shift: usize,
}

// SAFETY: the stack is `DefaultStack` with its guard page; its top is `shift` bytes lower. `new` reserves
// COLOUR_STEP * COLOURS bytes more than STACK_BYTES, and `shift` is less and a multiple of the stack alignment.
unsafe impl Stack for Coloured {
    fn base(&self) -> StackPointer {
        let base = self.stack.base();
        StackPointer::new(base.get() - self.shift).unwrap_or(base)
    }
    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }
    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.stack.teb_fields()
    }
    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack.update_teb_fields(stack_limit, guaranteed_stack_bytes)
    }
}

/// The stacks of the whole process, shared by all threads. Their number grows to the maximum needed at one time.
struct Store {
    free: Vec<Coloured>,
    /// The number of stacks that exist.
    existing: usize,
}

static STORE: Mutex<Store, { rank::STACKS }> = Mutex::new(Store { free: Vec::new(), existing: 0 });
static RETURNED: Condvar = Condvar::new();

thread_local! {
    /// The number of [`Stacks`] in use on this thread: more than one when a kernel itself launches kernels.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Returns unused stacks to the system.
pub fn trim() {
    let free = {
        let mut store = STORE.lock();
        store.existing -= store.free.len();
        std::mem::take(&mut store.free)
    };
    drop(free);
}

/// The stacks with which one OS thread runs a series of tiles. They return to the store afterwards.
pub struct Stacks {
    spare_lists: Vec<Coroutines>,
    free: Vec<Coloured>,
    /// The number of stacks taken from the store.
    out: usize,
}

impl Coloured {
    /// The addresses of the stack.
    fn addresses(&self) -> Range<usize> {
        self.limit().get()..self.base().get()
    }
}

/// A coroutine that has begun.
struct Fibre {
    coroutine: Coroutine<(), (), (), Coloured>,
    stack: Range<usize>,
}

impl Fibre {
    /// Resumes the coroutine. True if it has ended.
    fn resume(&mut self) -> bool {
        let switch = Switch::to(self.stack.clone());
        let ended = self.coroutine.resume(()).as_return().is_some();
        switch.returned();
        ended
    }
}

/// Storage for suspended coroutines, kept for reuse.
type Coroutines = Vec<Fibre>;

impl Default for Stacks {
    fn default() -> Self {
        Self::new()
    }
}

impl Stacks {
    /// An object without stacks.
    pub fn new() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self { spare_lists: Vec::new(), free: Vec::new(), out: 0 }
    }

    /// Makes sure that `count` stacks are free. Takes either all missing stacks from the store or none, so that no two
    /// threads wait for each other's stacks.
    fn reserve(&mut self, count: usize) -> Result<()> {
        let Some(lacking) = count.checked_sub(self.free.len()).filter(|&n| n > 0) else { return Ok(()) };
        let mut store = STORE.lock();
        loop {
            let mut refused = None;
            while store.free.len() < lacking && store.existing < MAX_STACKS {
                match DefaultStack::new(STACK_BYTES + COLOUR_STEP * COLOURS) {
                    Ok(stack) => {
                        let shift = store.existing % COLOURS * COLOUR_STEP;
                        store.free.push(Coloured { stack, shift });
                        store.existing += 1;
                    }
                    Err(e) => {
                        refused = Some(e);
                        break;
                    }
                }
            }
            if store.free.len() >= lacking {
                let from = store.free.len() - lacking;
                self.free.extend(store.free.drain(from..));
                self.out += lacking;
                return Ok(());
            }
            // Other threads return stacks when their tiles are done, so waiting helps, unless an outer kernel of this thread holds stacks.
            let held_by_others = store.existing - store.free.len() - self.out;
            if held_by_others == 0 || DEPTH.get() > 1 {
                let why = refused.map_or(String::new(), |e| format!(": {e}"));
                return Err(Error::out_of_memory(format!(
                    "the barriers of a tile need {count} stacks of {STACK_BYTES} bytes, but only {} could be \
                     allocated{why}; use smaller tiles, or raise vm.max_map_count or the process's memory limit",
                    store.free.len()
                )));
            }
            RETURNED.wait(&mut store, rank::NONE);
        }
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if self.out > 0 {
            STORE.lock().free.append(&mut self.free);
            RETURNED.notify_all();
        }
    }
}

/// Lets code on a coroutine suspend itself.
#[derive(Clone, Copy)]
pub struct Suspender<'a> {
    yielder: &'a Yielder<(), ()>,
    /// The addresses of the stack that resumed the coroutine.
    resumed: &'a RefCell<Range<usize>>,
}

impl Suspender<'_> {
    /// Stops here until every other coroutine of the [`run`] has stopped or ended.
    pub fn suspend(&self) {
        // A destructor may call this during a panic. Switching then would hand the panic to another coroutine.
        if !std::thread::panicking() {
            let switch = Switch::to(self.resumed.borrow().clone());
            self.yielder.suspend(());
            self.resumed.replace(switch.returned());
        }
    }
}

/// Starts `body` on coroutines, one after another, until `remaining()` is 0. Then resumes the suspended coroutines in turn until
/// all have ended. `body` takes work items, which `remaining` counts. If `body` returns without having suspended, the next
/// coroutine uses the same stack.
///
/// Fails if no stack could be allocated, or if `body` panicked. Even then all started coroutines have ended.
pub fn run(stacks: &mut Stacks, remaining: &dyn Fn() -> usize, body: &dyn Fn(Suspender<'_>)) -> Result<()> {
    let mut suspended = stacks.spare_lists.pop().unwrap_or_default();
    let panicked = Cell::new(None);
    let mut result = Ok(());
    let mut left = remaining();
    while left > 0 {
        // Reserves one stack at first, since most kernels never wait, then all other stacks at once.
        result = stacks.reserve(if suspended.is_empty() { 1 } else { left });
        if result.is_err() {
            break;
        }
        let Some(stack) = stacks.free.pop() else { break };
        let start = |yielder: &Yielder<(), ()>, ()| {
            let resumed = RefCell::new(sanitizer::begun());
            if let Err(text) = caught(|| body(Suspender { yielder, resumed: &resumed })) {
                panicked.set(Some(text));
            }
            sanitizer::ends(resumed.take());
        };
        let addresses = stack.addresses();
        // SAFETY: the function borrows `body` and `panicked`, which outlive this call, and every coroutine is run to
        // its end before this function returns: `resume` does not unwind as the function catches panics.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, start) };
        let mut fibre = Fibre { coroutine, stack: addresses };
        if fibre.resume() {
            stacks.free.push(fibre.coroutine.into_stack());
        } else {
            suspended.push(fibre);
        }
        left = remaining();
        // A body that panics takes no more work.
        if let Some(text) = panicked.take() {
            panicked.set(Some(text));
            break;
        }
    }
    while !suspended.is_empty() {
        let mut ended = 0;
        for fibre in &mut suspended {
            ended += usize::from(fibre.resume());
        }
        if ended == suspended.len() {
            stacks.free.extend(suspended.drain(..).map(|fibre| fibre.coroutine.into_stack()));
        } else if ended > 0 {
            let (done, unfinished): (Vec<_>, Vec<_>) = suspended.drain(..).partition(|fibre| fibre.coroutine.done());
            stacks.free.extend(done.into_iter().map(|fibre: Fibre| fibre.coroutine.into_stack()));
            suspended = unfinished;
        }
    }
    stacks.spare_lists.push(suspended);
    match panicked.take() {
        Some(text) => Err(Error::runtime(format!("a kernel panicked: {text}"))),
        None => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Runs `body` `count` times, with the numbers from 0.
    fn each(stacks: &mut Stacks, count: usize, body: impl Fn(usize, Suspender<'_>)) -> Result<()> {
        let next = Cell::new(0);
        run(stacks, &|| count - next.get(), &|suspender| {
            let i = next.get();
            next.set(i + 1);
            body(i, suspender);
        })
    }

    #[test]
    fn coroutines_take_turns_at_each_suspension() {
        let log = RefCell::new(Vec::new());
        each(&mut Stacks::new(), 3, |i, s| {
            for step in 0..3 {
                log.borrow_mut().push((step, i));
                s.suspend();
            }
        })
        .unwrap();
        let mut expected = Vec::new();
        for step in 0..3 {
            (0..3).for_each(|i| expected.push((step, i)));
        }
        assert_eq!(*log.borrow(), expected);
    }

    #[test]
    fn coroutines_may_end_early_or_never_suspend() {
        let steps = RefCell::new(vec![0; 40]);
        each(&mut Stacks::new(), 40, |i, s| {
            for _ in 0..i % 5 {
                steps.borrow_mut()[i] += 1;
                s.suspend();
            }
        })
        .unwrap();
        assert!(steps.borrow().iter().enumerate().all(|(i, &n)| n == i % 5));
    }

    #[test]
    fn a_panic_is_an_error_and_the_other_coroutines_end() {
        let ended = Cell::new(0);
        let e = each(&mut Stacks::new(), 8, |i, s| {
            s.suspend();
            if i == 3 {
                std::panic::resume_unwind(Box::new("third"));
            }
            s.suspend();
            ended.set(ended.get() + 1);
        })
        .unwrap_err();
        assert!(e.message.contains("third"), "{e}");
        assert_eq!(ended.get(), 7);
    }

    #[test]
    fn stacks_are_as_large_as_promised() {
        #[inline(never)]
        fn deep(n: usize) -> u64 {
            let block = std::hint::black_box([n as u8; 1024]);
            if n == 0 { 0 } else { deep(n - 1) + u64::from(block[n % 1024]) }
        }
        each(&mut Stacks::new(), 33, |_, s| {
            s.suspend();
            std::hint::black_box(deep(50));
        })
        .unwrap();
    }

    #[test]
    fn runs_nest() {
        let sum = Cell::new(0);
        each(&mut Stacks::new(), 4, |_, s| {
            s.suspend();
            each(&mut Stacks::new(), 4, |_, inner| {
                inner.suspend();
                sum.set(sum.get() + 1);
            })
            .unwrap();
            s.suspend();
        })
        .unwrap();
        assert_eq!(sum.get(), 16);
    }

    #[test]
    fn stacks_return_after_a_run_that_needs_too_many() {
        // Within another series of tiles, `reserve` does not wait for the stacks of other threads.
        let (_outer, mut stacks) = (Stacks::new(), Stacks::new());
        each(&mut stacks, 2, |_, s| s.suspend()).unwrap();
        let e = each(&mut stacks, MAX_STACKS + 2, |_, s| s.suspend()).unwrap_err();
        assert!(e.message.contains("use smaller tiles"), "{e}");
        assert_eq!(stacks.free.len(), stacks.out);
        trim();
    }
}
