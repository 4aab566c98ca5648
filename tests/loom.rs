//! The words that let the host go ahead without a call, under all interleavings of their users.

#![allow(clippy::unwrap_used)]

/// What `runtime/sync.rs` is in the library.
mod sync {
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

    #[derive(Default)]
    pub struct Mutex<T, const RANK: u8>(loom::sync::Mutex<T>);

    impl<T, const RANK: u8> Mutex<T, RANK> {
        pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }
}
mod lock {
    pub use revamp::lock::rank;
}
mod coherence {
    pub use revamp::coherence::Region;
}
mod device {
    pub use revamp::device::Access;
}
#[path = "../src/runtime/words.rs"]
mod words;

use device::Access;
use loom::thread;
use sync::{Arc, AtomicU32, Ordering};
use words::{HOST_MAY_READ, HOST_MAY_WRITE, Words};

fn region(start: u64, end: u64) -> coherence::Region {
    coherence::Region::linear(start..end)
}

fn word() -> Arc<AtomicU32> {
    Arc::new(AtomicU32::new(0))
}

/// Two threads publish views while a third takes words back. Whatever comes first: a word with a bit is known to the
/// table, so that taking back afterwards leaves none.
#[test]
fn no_word_is_forgotten_by_the_table() {
    loom::model(|| {
        let words = Arc::new(Words::default());
        let (a, b) = (word(), word());
        let publish = |id, word: &Arc<AtomicU32>| {
            let (words, word) = (words.clone(), word.clone());
            thread::spawn(move || words.publish(id, &word, &region(0, 8), HOST_MAY_READ | HOST_MAY_WRITE))
        };
        let threads = [publish(1, &a), publish(2, &b)];
        words.take_back(&region(0, 8), Access::Write);
        threads.into_iter().for_each(|t| t.join().unwrap());
        words.take_back(&region(0, 8), Access::Write);
        assert_eq!((a.load(Ordering::Acquire), b.load(Ordering::Acquire)), (0, 0));
    });
}

/// A reader elsewhere leaves the host its leave to read, and no more, whatever another thread publishes meanwhile.
#[test]
fn a_reader_takes_back_writing_only() {
    loom::model(|| {
        let words = Arc::new(Words::default());
        let (a, other) = (word(), word());
        words.publish(1, &a, &region(0, 8), HOST_MAY_READ | HOST_MAY_WRITE);
        let thread = {
            let (words, other) = (words.clone(), other.clone());
            thread::spawn(move || words.publish(2, &other, &region(8, 16), HOST_MAY_READ | HOST_MAY_WRITE))
        };
        words.take_back(&region(4, 6), Access::Read);
        thread.join().unwrap();
        assert_eq!(a.load(Ordering::Acquire), HOST_MAY_READ);
        assert_eq!(other.load(Ordering::Acquire), HOST_MAY_READ | HOST_MAY_WRITE, "it has no element in common");
    });
}

/// A view that is dropped while another thread takes words back is gone for good.
#[test]
fn a_dropped_view_is_forgotten() {
    loom::model(|| {
        let words = Arc::new(Words::default());
        let (a, b) = (word(), word());
        words.publish(1, &a, &region(0, 8), HOST_MAY_READ);
        words.publish(2, &b, &region(0, 8), HOST_MAY_READ);
        let thread = {
            let words = words.clone();
            thread::spawn(move || words.forget(1))
        };
        words.take_back(&region(0, 8), Access::Write);
        thread.join().unwrap();
        assert_eq!(b.load(Ordering::Acquire), 0);
        // Nothing but the test holds the words.
        words.take_back(&region(0, 8), Access::Write);
        assert_eq!((Arc::strong_count(&a), Arc::strong_count(&b)), (1, 1));
    });
}
