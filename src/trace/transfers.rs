//! Transfers: counters of them and their bytes, and a log of the latest ones.

use crate::lock::{Mutex, rank};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The API call that caused a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Its name in C.
    pub name: &'static CStr,
    /// True if the program did not ask for a transfer, but launched, accessed an element or released a view.
    pub is_implicit: bool,
}

/// A call whose transfers are implicit.
pub const fn implicit(name: &'static CStr) -> Call {
    Call { name, is_implicit: true }
}

/// A call that asks for a transfer.
pub const fn explicit(name: &'static CStr) -> Call {
    Call { name, is_implicit: false }
}

/// The direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the host to an accelerator's memory.
    To,
    /// From an accelerator's memory to the host.
    From,
    /// Within one memory.
    Local,
}

/// Bytes and number of transfers of one way and cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Total {
    /// Number of bytes.
    pub bytes: u64,
    /// Number of transfers.
    pub count: u64,
}

/// Totals by cause (implicit or explicit) and [`Way`].
#[derive(Debug, Default)]
pub struct Counters {
    cells: [[(AtomicU64, AtomicU64); 3]; 2],
}

impl Counters {
    /// Counters at zero.
    pub const fn new() -> Self {
        Self { cells: [const { [const { (AtomicU64::new(0), AtomicU64::new(0)) }; 3] }; 2] }
    }

    /// Counts one transfer.
    pub fn add(&self, call: Call, way: Way, bytes: u64) {
        let (b, n) = &self.cells[usize::from(!call.is_implicit)][way as usize];
        b.fetch_add(bytes, Ordering::Relaxed);
        n.fetch_add(1, Ordering::Relaxed);
    }

    /// The total of one cause and way.
    pub fn total(&self, is_implicit: bool, way: Way) -> Total {
        let (b, n) = &self.cells[usize::from(!is_implicit)][way as usize];
        Total { bytes: b.load(Ordering::Relaxed), count: n.load(Ordering::Relaxed) }
    }
}

/// All transfers of the process.
pub static ALL: Counters = Counters::new();

/// One transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferRecord {
    /// Its number, counted from 1.
    pub number: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// The call that caused it.
    pub call: Call,
    /// The id of the accelerator the bytes came from; 0: the host.
    pub from: u64,
    /// The id of the accelerator they went to; 0: the host.
    pub to: u64,
    /// The id of the data source of the view used; 0: none.
    pub source: u64,
}

/// How many transfers are remembered.
const KEPT: usize = 4096;

struct Log {
    next: u64,
    latest: VecDeque<TransferRecord>,
}

static LOG: Mutex<Log, { rank::MESSAGES }> = Mutex::new(Log { next: 1, latest: VecDeque::new() });

/// Adds a transfer to the log, and gives it its number.
pub fn record(mut r: TransferRecord) {
    let mut log = LOG.lock();
    r.number = log.next;
    log.next += 1;
    // If there is no memory for more, it remembers fewer.
    if log.latest.len() == KEPT || log.latest.try_reserve(1).is_err() {
        log.latest.pop_front();
    }
    if log.latest.len() < log.latest.capacity() {
        log.latest.push_back(r);
    }
}

/// The number that the next transfer gets.
pub fn next() -> u64 {
    LOG.lock().next
}

/// At most `most` of the remembered transfers numbered `first` and higher.
pub fn read(first: u64, most: usize) -> Vec<TransferRecord> {
    let log = LOG.lock();
    let skip = log.latest.partition_point(|r| r.number < first);
    log.latest.iter().skip(skip).take(most).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_keep_causes_and_ways_apart() {
        let c = Counters::new();
        c.add(implicit(c"a"), Way::To, 8);
        c.add(implicit(c"a"), Way::To, 4);
        c.add(explicit(c"b"), Way::From, 16);
        assert_eq!(c.total(true, Way::To), Total { bytes: 12, count: 2 });
        assert_eq!(c.total(false, Way::From), Total { bytes: 16, count: 1 });
        assert_eq!(c.total(true, Way::Local), Total::default());
    }

    #[test]
    fn the_log_forgets_the_oldest() {
        let call = explicit(c"test");
        for n in 0..KEPT as u64 + 10 {
            record(TransferRecord { number: 0, bytes: n, call, from: 0, to: 0, source: u64::MAX });
        }
        let all = read(0, usize::MAX);
        assert_eq!(all.len(), KEPT);
        assert!(all.windows(2).all(|w| w[0].number + 1 == w[1].number));
        let last = all[KEPT - 1];
        assert_eq!(read(last.number, 5), [last]);
    }
}
