//! Tests protocols of the library under all interleavings of their threads: the state words of host accesses, the notifier of
//! callbacks, the order of asynchronous operations, the release of an array's last view, the delivery of log messages, and the board of
//! parallel loops.

#![allow(clippy::unwrap_used)]

/// Replaces the library's `runtime/sync.rs`.
mod sync {
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

    #[derive(Default)]
    pub struct Mutex<T, const RANK: u8>(loom::sync::Mutex<T>);

    impl<T, const RANK: u8> Mutex<T, RANK> {
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }
}
mod lock {
    pub use revamp::lock::rank;
}
mod geometry {
    pub use revamp::geometry::Region;
}
mod kernel {
    pub use revamp::kernel::Access;
}
#[path = "../../src/host/board.rs"]
mod board;
#[path = "../../src/trace/delivery.rs"]
mod delivery;
#[path = "../../src/runtime/data/host_access.rs"]
mod host_access;
#[path = "../../src/runtime/operations/notifier.rs"]
mod notifier;
#[path = "../../src/runtime/operations/order.rs"]
mod order;
#[path = "../../src/runtime/data/users.rs"]
mod users;

use board::{Board, Loop, Portion};
use host_access::{HOST_MAY_READ, HOST_MAY_WRITE, HostAccess, Words};
use kernel::Access;
use loom::thread;
use notifier::Notifier;
use order::{Gate, HeldUp};
use sync::{Arc, AtomicBool, AtomicU32, AtomicU64, Ordering};

fn region(start: u64, end: u64) -> geometry::Region {
    geometry::Region::linear(start..end)
}

fn word() -> Arc<AtomicU32> {
    Arc::new(AtomicU32::new(0))
}

fn state_words(count: usize) -> Arc<Words> {
    Arc::new((0..count).map(|_| AtomicU32::new(0)).collect())
}

/// Two threads publish the state words of views while a third thread revokes host access. In every interleaving, the table
/// contains each word that has a bit set, so a later `revoke` clears all words.
#[test]
fn no_word_is_forgotten_by_the_table() {
    loom::model(|| {
        let words = Arc::new(HostAccess::default());
        let (a, b) = (state_words(1), state_words(1));
        let publish = |id, word: &Arc<Words>| {
            let (words, word) = (words.clone(), word.clone());
            thread::spawn(move || words.publish((id, 0), &word, 0, &region(0, 8), HOST_MAY_READ | HOST_MAY_WRITE))
        };
        let threads = [publish(1, &a), publish(2, &b)];
        words.revoke(&region(0, 8), Access::Write);
        threads.into_iter().for_each(|t| t.join().unwrap());
        words.revoke(&region(0, 8), Access::Write);
        assert_eq!((a[0].load(Ordering::Acquire), b[0].load(Ordering::Acquire)), (0, 0));
    });
}

/// A read by a launch revokes the host's permission to write and keeps the host's permission to read, whatever another thread
/// publishes meanwhile.
#[test]
fn a_read_revokes_only_write_access() {
    loom::model(|| {
        let words = Arc::new(HostAccess::default());
        let (a, other) = (state_words(1), state_words(1));
        words.publish((1, 0), &a, 0, &region(0, 8), HOST_MAY_READ | HOST_MAY_WRITE);
        let thread = {
            let (words, other) = (words.clone(), other.clone());
            thread::spawn(move || words.publish((2, 0), &other, 0, &region(8, 16), HOST_MAY_READ | HOST_MAY_WRITE))
        };
        words.revoke(&region(4, 6), Access::Read);
        thread.join().unwrap();
        assert_eq!(a[0].load(Ordering::Acquire), HOST_MAY_READ);
        assert_eq!(other[0].load(Ordering::Acquire), HOST_MAY_READ | HOST_MAY_WRITE, "no common element");
    });
}

/// A view that is dropped while another thread revokes host access is removed from the table.
#[test]
fn a_dropped_view_is_forgotten() {
    loom::model(|| {
        let words = Arc::new(HostAccess::default());
        let (a, b) = (state_words(1), state_words(1));
        words.publish((1, 0), &a, 0, &region(0, 8), HOST_MAY_READ);
        words.publish((2, 0), &b, 0, &region(0, 8), HOST_MAY_READ);
        let thread = {
            let words = words.clone();
            thread::spawn(move || words.forget(1))
        };
        words.revoke(&region(0, 8), Access::Write);
        thread.join().unwrap();
        assert_eq!(b[0].load(Ordering::Acquire), 0);
        // Only the test still refers to the state words of `a` and `b`.
        words.revoke(&region(0, 8), Access::Write);
        assert_eq!((Arc::strong_count(&a), Arc::strong_count(&b)), (1, 1));
    });
}

/// Two threads publish slices of one view while a third thread revokes the region of one slice. A `revoke` after both slices
/// are published finds every word that has a bit set.
#[test]
fn words_of_slices_are_revoked() {
    loom::model(|| {
        let access = Arc::new(HostAccess::default());
        let slices = state_words(3);
        let publish = |at: usize| {
            let (access, slices) = (access.clone(), slices.clone());
            let slice_region = region(at as u64 * 8, at as u64 * 8 + 8);
            thread::spawn(move || access.publish((1, 1), &slices, at, &slice_region, HOST_MAY_READ | HOST_MAY_WRITE))
        };
        let threads = [publish(0), publish(2)];
        access.revoke(&region(0, 8), Access::Read);
        threads.into_iter().for_each(|t| t.join().unwrap());
        access.revoke(&region(16, 24), Access::Read);
        assert_eq!(slices[2].load(Ordering::Acquire), HOST_MAY_READ);
        assert!(access.any());
        access.revoke(&region(0, 24), Access::Write);
        assert!(slices.iter().all(|w| w.load(Ordering::Acquire) == 0));
        assert!(!access.any());
    });
}

/// A view is dropped while another thread publishes another view: the table keeps neither the dropped view nor its slices.
#[test]
fn a_view_is_forgotten_with_its_slices() {
    loom::model(|| {
        let access = Arc::new(HostAccess::default());
        let (whole, slices, other) = (state_words(1), state_words(2), state_words(1));
        access.publish((1, 0), &whole, 0, &region(0, 16), HOST_MAY_READ);
        access.publish((1, 1), &slices, 1, &region(8, 16), HOST_MAY_READ);
        let thread = {
            let (access, other) = (access.clone(), other.clone());
            thread::spawn(move || access.publish((2, 0), &other, 0, &region(0, 8), HOST_MAY_READ))
        };
        access.forget(1);
        thread.join().unwrap();
        assert_eq!((Arc::strong_count(&whole), Arc::strong_count(&slices)), (1, 1));
        assert!(access.any(), "the table still contains the other view");
    });
}

/// An item for the notifier: whether it is done, and how often it was delivered.
#[derive(Clone)]
struct NotifierItem {
    done: Arc<AtomicU32>,
    delivered: Arc<AtomicU32>,
}

impl NotifierItem {
    fn new(done: bool) -> Self {
        Self { done: Arc::new(AtomicU32::new(done.into())), delivered: word() }
    }

    fn deliveries(&self) -> u32 {
        self.delivered.load(Ordering::Acquire)
    }
}

type Tasks = std::sync::Arc<std::sync::Mutex<Vec<thread::JoinHandle<()>>>>;

/// Adds an item. If the notifier needs a task, the task is a thread of the loom model.
fn add(notifier: &Arc<Notifier<NotifierItem>>, item: &NotifierItem, tasks: &Tasks) {
    let start = || {
        let notifier = notifier.clone();
        let task = thread::spawn(move || {
            let deliver = |a: NotifierItem| {
                a.delivered.fetch_add(1, Ordering::AcqRel);
            };
            notifier.serve(|a| a.done.load(Ordering::Acquire) == 1, deliver, |_| thread::yield_now());
        });
        tasks.lock().unwrap().push(task);
        Ok::<(), ()>(())
    };
    notifier.add(item.clone(), |_, item| Some(item), start).unwrap();
}

fn join_all(tasks: &Tasks) {
    let all = std::mem::take(&mut *tasks.lock().unwrap());
    all.into_iter().for_each(|t| t.join().unwrap());
}

fn check_bounded(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// An item is added while the notifier's task may be ending because no item waits. That task or a new task must serve the item.
#[test]
fn the_notifier_serves_items_added_while_its_task_ends() {
    check_bounded(|| {
        let (notifier, tasks) = (Arc::new(Notifier::default()), Tasks::default());
        let (a, b) = (NotifierItem::new(true), NotifierItem::new(true));
        add(&notifier, &a, &tasks);
        add(&notifier, &b, &tasks);
        join_all(&tasks);
        assert_eq!((a.deliveries(), b.deliveries()), (1, 1));
    });
}

/// Two threads add items, one of which is done only later. The notifier delivers each item once.
#[test]
fn the_notifier_delivers_each_item_once() {
    check_bounded(|| {
        let (notifier, tasks) = (Arc::new(Notifier::default()), Tasks::default());
        let (a, b) = (NotifierItem::new(false), NotifierItem::new(true));
        add(&notifier, &a, &tasks);
        let adding_thread = {
            let (notifier, b, tasks) = (notifier.clone(), b.clone(), tasks.clone());
            thread::spawn(move || add(&notifier, &b, &tasks))
        };
        a.done.store(1, Ordering::Release);
        adding_thread.join().unwrap();
        join_all(&tasks);
        assert_eq!((a.deliveries(), b.deliveries()), (1, 1));
    });
}

/// If no task can be started, the item is not added, and the next item is served nevertheless.
#[test]
fn the_notifier_adds_nothing_without_a_task() {
    check_bounded(|| {
        let (notifier, tasks) = (Arc::new(Notifier::default()), Tasks::default());
        let (refused, b) = (NotifierItem::new(true), NotifierItem::new(true));
        let adding_thread = {
            let (notifier, b, tasks) = (notifier.clone(), b.clone(), tasks.clone());
            thread::spawn(move || add(&notifier, &b, &tasks))
        };
        let added = notifier.add(refused.clone(), |_, item| Some(item), || Err(()));
        adding_thread.join().unwrap();
        join_all(&tasks);
        // The task of `b` serves `refused` if that task was already running.
        assert_eq!((refused.deliveries(), b.deliveries()), (added.is_ok().into(), 1));
    });
}

/// An item that two gates hold up begins once: when both gates are open and the creator of the item has called `let_go`.
#[test]
fn a_held_up_item_begins_once() {
    loom::model(|| {
        let gates: [Arc<Gate<AtomicU32>>; 2] = Default::default();
        let begin = |held: &HeldUp<AtomicU32>| {
            held.payload.fetch_add(1, Ordering::AcqRel);
        };
        let opened = gates.clone().map(|gate| thread::spawn(move || gate.open().iter().for_each(|held| begin(held))));
        let held = HeldUp::new(AtomicU32::new(0));
        gates.iter().for_each(|gate| gate.hold_up(&held));
        if held.let_go() {
            begin(&held);
        }
        opened.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(held.payload.load(Ordering::Acquire), 1);
        assert!(gates.iter().all(|gate| gate.open().is_empty()));
    });
}

/// The part of an array's data source that concerns its views.
#[derive(Default)]
struct Source {
    views: users::Users,
    /// 1 if changes on an accelerator must still be written back to the array.
    needs_write_back: AtomicU32,
    closed: AtomicU32,
}

/// The field of an array that holds the source of its views.
type Slot = Arc<sync::Mutex<Option<Arc<Source>>, 0>>;

/// Creates a view of the array, writes through the view on an accelerator, and releases the view.
fn use_a_view(slot: &Slot) -> Arc<Source> {
    let source = {
        let mut slot = slot.lock();
        let source = slot.clone().filter(|s| s.views.has_users()).unwrap_or_default();
        source.views.join();
        *slot = Some(source.clone());
        source
    };
    assert_eq!(source.closed.load(Ordering::Acquire), 0, "a view of a source that is closed");
    source.needs_write_back.store(1, Ordering::Release);
    source.views.leave(
        || source.needs_write_back.store(0, Ordering::Release),
        || slot.lock(),
        |()| {
            let is_written_back = source.needs_write_back.load(Ordering::Acquire) == 0;
            source.closed.fetch_add(is_written_back.into(), Ordering::AcqRel);
            is_written_back
        },
    );
    source
}

/// Two threads create and release views of one array. Whichever view is released last, all changes are written back to the array,
/// and each source is closed once.
#[test]
fn the_last_view_writes_back_and_closes_its_source() {
    check_bounded(|| {
        let slot = Slot::default();
        let other = {
            let slot = slot.clone();
            thread::spawn(move || use_a_view(&slot))
        };
        let mut sources = vec![use_a_view(&slot), use_a_view(&slot)];
        sources.push(other.join().unwrap());
        for source in sources {
            assert_eq!(
                (source.needs_write_back.load(Ordering::Acquire), source.closed.load(Ordering::Acquire)),
                (0, 1)
            );
        }
    });
}

/// Two threads write and deliver log messages. When both threads have ended, all messages are delivered.
#[test]
fn no_message_is_left_behind() {
    check_bounded(|| {
        let (any, delivering) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let written = Arc::new(AtomicU32::new(0));
        let write = || {
            let (any, delivering, written) = (any.clone(), delivering.clone(), written.clone());
            move || {
                written.fetch_add(1, Ordering::AcqRel);
                any.store(true, Ordering::Release);
                delivery::deliver(&any, &delivering, || written.swap(0, Ordering::AcqRel) > 0);
            }
        };
        let other = thread::spawn(write());
        write()();
        other.join().unwrap();
        assert_eq!(written.load(Ordering::Acquire), 0);
    });
}

/// The number of times that each item of a loop ran.
type Items = [AtomicU64; 2];

/// Runs items of the loop in slot `at`, like a worker. Returns true if the caller of the loop must be woken, or `None` if no item was
/// left. The counts represent everything that the items write, which the caller must see when the loop has ended.
fn work(board: &Board<Items>, at: usize) -> Option<bool> {
    let first = board.claim(at)?;
    let this = first.parallel_loop;
    let run = |from: u64, to: u64| (from..to).for_each(|i| count(&this.work[i as usize]));
    run(first.from, first.to);
    let mut items = first.to - first.from;
    while let Some(claim) = board.claim(at) {
        assert!(std::ptr::eq(claim.parallel_loop, this), "the slot has another loop, although this loop has not ended");
        run(claim.from, claim.to);
        items += claim.to - claim.from;
    }
    Some(this.end(items))
}

/// Uses a load and a store instead of one atomic addition: if two threads ran the same item at once, a count would be lost.
fn count(item: &AtomicU64) {
    let before = item.load(Ordering::Relaxed);
    item.store(before + 1, Ordering::Relaxed);
}

/// Two loops use the same slot one after the other while a worker looks for items. Each item must run once, each loop must exist
/// until its items have run, and a sleeping caller must be woken.
#[test]
#[allow(unsafe_code)]
fn each_item_of_a_loop_runs_once() {
    // Checking all interleavings takes minutes and found no further defects.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let board = Arc::new(Board::new(2));
        let woken = Arc::new(AtomicBool::new(false));
        let worker = {
            let (board, woken) = (board.clone(), woken.clone());
            thread::spawn(move || {
                for _ in 0..2 {
                    if board.look().and_then(|at| work(&board, at)) == Some(true) {
                        woken.store(true, Ordering::Release);
                    }
                }
            })
        };
        for portion in [Portion::One, Portion::Many(1)] {
            let offered = Loop::new(2, portion, [AtomicU64::new(0), AtomicU64::new(0)]);
            // SAFETY: the code below waits for the end of the loop before it closes the slot and drops the loop.
            let at = unsafe { board.offer(&offered) }.unwrap();
            assert_eq!(at, 0);
            assert_ne!(work(&board, at), Some(true));
            if !offered.has_ended() && offered.announce_sleep() {
                while !woken.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                woken.store(false, Ordering::Relaxed);
            }
            assert!(offered.has_ended());
            assert_eq!((board.look(), board.claims_left(at), board.is_only(at)), (None, 0, true));
            assert!(offered.work.iter().all(|item| item.load(Ordering::Relaxed) == 1));
            board.close(at);
        }
        worker.join().unwrap();
    });
}
