//! The words that let the host go ahead without a call, the notifier of callbacks, the order of asynchronous operations and the delivery of
//! log messages and the board of parallel loops, under all interleavings of their users.

#![allow(clippy::unwrap_used)]

/// What `runtime/sync.rs` is in the library.
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

/// Two threads publish views while a third takes words back. Whatever comes first: a word with a bit is known to the
/// table, so that taking back afterwards leaves none.
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
        words.take_back(&region(0, 8), Access::Write);
        threads.into_iter().for_each(|t| t.join().unwrap());
        words.take_back(&region(0, 8), Access::Write);
        assert_eq!((a[0].load(Ordering::Acquire), b[0].load(Ordering::Acquire)), (0, 0));
    });
}

/// A reader elsewhere leaves the host its leave to read, and no more, whatever another thread publishes meanwhile.
#[test]
fn a_reader_takes_back_writing_only() {
    loom::model(|| {
        let words = Arc::new(HostAccess::default());
        let (a, other) = (state_words(1), state_words(1));
        words.publish((1, 0), &a, 0, &region(0, 8), HOST_MAY_READ | HOST_MAY_WRITE);
        let thread = {
            let (words, other) = (words.clone(), other.clone());
            thread::spawn(move || words.publish((2, 0), &other, 0, &region(8, 16), HOST_MAY_READ | HOST_MAY_WRITE))
        };
        words.take_back(&region(4, 6), Access::Read);
        thread.join().unwrap();
        assert_eq!(a[0].load(Ordering::Acquire), HOST_MAY_READ);
        assert_eq!(other[0].load(Ordering::Acquire), HOST_MAY_READ | HOST_MAY_WRITE, "it has no element in common");
    });
}

/// A view that is dropped while another thread takes words back is gone for good.
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
        words.take_back(&region(0, 8), Access::Write);
        thread.join().unwrap();
        assert_eq!(b[0].load(Ordering::Acquire), 0);
        // Nothing but the test holds the words.
        words.take_back(&region(0, 8), Access::Write);
        assert_eq!((Arc::strong_count(&a), Arc::strong_count(&b)), (1, 1));
    });
}

/// Two threads publish slices of one view while a third takes back what one of them covers. That one's word is clear
/// afterwards unless it was published later, and a last look finds all words that are set.
#[test]
fn words_of_slices_are_taken_back() {
    loom::model(|| {
        let access = Arc::new(HostAccess::default());
        let slices = state_words(3);
        let publish = |at: usize| {
            let (access, slices) = (access.clone(), slices.clone());
            let covers = region(at as u64 * 8, at as u64 * 8 + 8);
            thread::spawn(move || access.publish((1, 1), &slices, at, &covers, HOST_MAY_READ | HOST_MAY_WRITE))
        };
        let threads = [publish(0), publish(2)];
        access.take_back(&region(0, 8), Access::Read);
        threads.into_iter().for_each(|t| t.join().unwrap());
        access.take_back(&region(16, 24), Access::Read);
        assert_eq!(slices[2].load(Ordering::Acquire), HOST_MAY_READ);
        assert!(access.any());
        access.take_back(&region(0, 24), Access::Write);
        assert!(slices.iter().all(|w| w.load(Ordering::Acquire) == 0));
        assert!(!access.any());
    });
}

/// A view that goes while another thread publishes and takes back another view's slice: nothing of it is left.
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
        assert!(access.any(), "the other one is known");
    });
}

/// Something to be notified of: when it is done, and how often that was delivered.
#[derive(Clone)]
struct Awaited {
    done: Arc<AtomicU32>,
    delivered: Arc<AtomicU32>,
}

impl Awaited {
    fn new(done: bool) -> Self {
        Self { done: Arc::new(AtomicU32::new(done.into())), delivered: word() }
    }

    fn deliveries(&self) -> u32 {
        self.delivered.load(Ordering::Acquire)
    }
}

type Tasks = std::sync::Arc<std::sync::Mutex<Vec<thread::JoinHandle<()>>>>;

/// Adds what waits; its task is a thread of the model.
fn add(notifier: &Arc<Notifier<Awaited>>, item: &Awaited, tasks: &Tasks) {
    let start = || {
        let notifier = notifier.clone();
        let task = thread::spawn(move || {
            let deliver = |a: Awaited| {
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

fn bounded(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// The task ends when nothing waits, while another thread adds: that one is served by it or by a new one.
#[test]
fn the_notifier_forgets_nobody_when_it_ends() {
    bounded(|| {
        let (notifier, tasks) = (Arc::new(Notifier::default()), Tasks::default());
        let (a, b) = (Awaited::new(true), Awaited::new(true));
        add(&notifier, &a, &tasks);
        add(&notifier, &b, &tasks);
        join_all(&tasks);
        assert_eq!((a.deliveries(), b.deliveries()), (1, 1));
    });
}

/// Two threads add; one of what they wait for is done only later.
#[test]
fn the_notifier_delivers_once_what_is_done_meanwhile() {
    bounded(|| {
        let (notifier, tasks) = (Arc::new(Notifier::default()), Tasks::default());
        let (a, b) = (Awaited::new(false), Awaited::new(true));
        add(&notifier, &a, &tasks);
        let adds = {
            let (notifier, b, tasks) = (notifier.clone(), b.clone(), tasks.clone());
            thread::spawn(move || add(&notifier, &b, &tasks))
        };
        a.done.store(1, Ordering::Release);
        adds.join().unwrap();
        join_all(&tasks);
        assert_eq!((a.deliveries(), b.deliveries()), (1, 1));
    });
}

/// Where there is no thread for the task nothing was added, and the next one is served all the same.
#[test]
fn the_notifier_adds_nothing_without_a_task() {
    bounded(|| {
        let (notifier, tasks) = (Arc::new(Notifier::default()), Tasks::default());
        let (refused, b) = (Awaited::new(true), Awaited::new(true));
        let adds = {
            let (notifier, b, tasks) = (notifier.clone(), b.clone(), tasks.clone());
            thread::spawn(move || add(&notifier, &b, &tasks))
        };
        let added = notifier.add(refused.clone(), |_, item| Some(item), || Err(()));
        adds.join().unwrap();
        join_all(&tasks);
        // It is served by the task of the other, if that was there.
        assert_eq!((refused.deliveries(), b.deliveries()), (added.is_ok().into(), 1));
    });
}

/// What two gates hold up begins once, with the last of them that opens or with who made it.
#[test]
fn what_is_held_up_begins_once() {
    loom::model(|| {
        let gates: [Arc<Gate<AtomicU32>>; 2] = Default::default();
        let begin = |held: &HeldUp<AtomicU32>| {
            held.what.fetch_add(1, Ordering::AcqRel);
        };
        let opened = gates.clone().map(|gate| thread::spawn(move || gate.open().iter().for_each(|held| begin(held))));
        let held = HeldUp::new(AtomicU32::new(0));
        gates.iter().for_each(|gate| gate.hold_up(&held));
        if held.let_go() {
            begin(&held);
        }
        opened.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(held.what.load(Ordering::Acquire), 1);
        assert!(gates.iter().all(|gate| gate.open().is_empty()));
    });
}

/// A data source of an array, as far as its views go.
#[derive(Default)]
struct Source {
    views: users::Users,
    /// Something lies elsewhere that is to come home.
    away: AtomicU32,
    closed: AtomicU32,
}

/// Where an array keeps the source of its views.
type Slot = Arc<sync::Mutex<Option<Arc<Source>>, 0>>;

/// Makes a view of the array, writes by it elsewhere, and releases it.
fn use_a_view(slot: &Slot) -> Arc<Source> {
    let source = {
        let mut slot = slot.lock();
        let source = slot.clone().filter(|s| s.views.are_there()).unwrap_or_default();
        source.views.join();
        *slot = Some(source.clone());
        source
    };
    assert_eq!(source.closed.load(Ordering::Acquire), 0, "a view of a source that is closed");
    source.away.store(1, Ordering::Release);
    source.views.leave(
        || source.away.store(0, Ordering::Release),
        || slot.lock(),
        |()| {
            let is_home = source.away.load(Ordering::Acquire) == 0;
            source.closed.fetch_add(is_home.into(), Ordering::AcqRel);
            is_home
        },
    );
    source
}

/// Views of one array come and go on two threads: whichever goes last, all is home, and each source is closed once.
#[test]
fn the_last_view_closes_its_source_when_all_is_home() {
    bounded(|| {
        let slot = Slot::default();
        let other = {
            let slot = slot.clone();
            thread::spawn(move || use_a_view(&slot))
        };
        let mut sources = vec![use_a_view(&slot), use_a_view(&slot)];
        sources.push(other.join().unwrap());
        for source in sources {
            assert_eq!((source.away.load(Ordering::Acquire), source.closed.load(Ordering::Acquire)), (0, 1));
        }
    });
}

/// Two threads write messages and deliver: all are handed over when the last has returned.
#[test]
fn no_message_is_left_behind() {
    bounded(|| {
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

/// The items of a loop, and how often each ran.
type Items = [AtomicU64; 2];

/// What a worker does with a loop at this place; the items' other writes are as visible as their counts.
fn work(board: &Board<Items>, at: usize) -> Option<bool> {
    let first = board.claim(at)?;
    let this = first.of;
    let run = |from: u64, to: u64| (from..to).for_each(|i| count(&this.work[i as usize]));
    run(first.from, first.to);
    let mut items = first.to - first.from;
    while let Some(claim) = board.claim(at) {
        assert!(std::ptr::eq(claim.of, this), "another loop in the place of one that has not ended");
        run(claim.from, claim.to);
        items += claim.to - claim.from;
    }
    Some(this.end(items))
}

/// Not one atomic addition: two threads with one item would lose a count.
fn count(item: &AtomicU64) {
    let before = item.load(Ordering::Relaxed);
    item.store(before + 1, Ordering::Relaxed);
}

/// Two loops follow each other in one place while a worker looks for items: each item runs once, its loop stays until then, and
/// a caller that falls asleep is woken.
#[test]
#[allow(unsafe_code)]
fn each_item_of_a_loop_runs_once() {
    // All interleavings take minutes, and found no more than these.
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
            let own = Loop::new(2, portion, [AtomicU64::new(0), AtomicU64::new(0)]);
            // SAFETY: `own` stays until it has ended, which is waited for before it is closed.
            let at = unsafe { board.offer(&own) }.unwrap();
            assert_eq!(at, 0);
            assert_ne!(work(&board, at), Some(true));
            if !own.has_ended() && own.falls_asleep() {
                while !woken.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                woken.store(false, Ordering::Relaxed);
            }
            assert!(own.has_ended());
            assert_eq!((board.look(), board.claims_left(at), board.is_only(at)), (None, 0, true));
            assert!(own.work.iter().all(|item| item.load(Ordering::Relaxed) == 1));
            board.close(at);
        }
        worker.join().unwrap();
    });
}
