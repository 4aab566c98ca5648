//! Counters of transfers and their bytes, and a log of the latest transfers.

use crate::lock::{Mutex, rank};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident $id:literal,)*) => {
        /// The rule (docs/spec) that causes an implicit transfer: a transfer that the program did not request.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Rule { $($(#[$doc])* $rule),* }

        impl Rule {
            /// The id of the rule.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$rule => $id),* }
            }
        }
    };
}

rules! {
    /// A launch captures a view.
    Av2 "AV-2",
    /// A launch captures a view over a staging array.
    Stg11 "STG-11",
    /// The host accesses a view.
    Av4 "AV-4",
    /// The host accesses a view over a staging array.
    Stg12 "STG-12",
    /// The last view is destroyed.
    Dst1 "DST-1",
    /// The last view over an array is destroyed.
    Dst4 "DST-4",
    /// The program uses an array whose elements were changed through a view at another location.
    Coh12 "COH-12",
    /// Bytes pass through the home location on the way between two other locations.
    Coh19 "COH-19",
}

/// The API call that caused a transfer.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The name of the C function.
    pub name: &'static CStr,
    /// The rule that causes the call's transfers; `None` if they are explicit. Launches, accesses to elements and
    /// releases of views transfer implicitly.
    pub rule: Option<Rule>,
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.rule == other.rule && (std::ptr::eq(self.name, other.name) || self.name == other.name)
    }
}

impl Eq for Call {}

impl Call {
    /// True if the transfers of the call are implicit.
    pub const fn is_implicit(self) -> bool {
        self.rule.is_some()
    }

    /// Returns the call. If its transfers are implicit, the result of `rule` replaces its rule.
    pub fn with_rule(self, rule: impl FnOnce(Rule) -> Rule) -> Self {
        Self { rule: self.rule.map(rule), ..self }
    }
}

/// A call whose transfers are implicit.
pub const fn implicit(name: &'static CStr, rule: Rule) -> Call {
    Call { name, rule: Some(rule) }
}

/// A call that requests a transfer.
pub const fn explicit(name: &'static CStr) -> Call {
    Call { name, rule: None }
}

/// The direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferDirection {
    /// From the host to an accelerator's memory.
    To,
    /// From an accelerator's memory to the host.
    From,
    /// Within one memory.
    Local,
}

/// The number of transfers with the same direction and cause, and the number of bytes that they moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Total {
    /// Number of bytes.
    pub bytes: u64,
    /// Number of transfers.
    pub count: u64,
}

/// Totals by cause (implicit or explicit) and [`TransferDirection`].
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
    pub fn add(&self, call: Call, direction: TransferDirection, bytes: u64) {
        let (b, n) = &self.cells[usize::from(!call.is_implicit())][direction as usize];
        b.fetch_add(bytes, Ordering::Relaxed);
        n.fetch_add(1, Ordering::Relaxed);
    }

    /// The total for one cause and direction.
    pub fn total(&self, is_implicit: bool, direction: TransferDirection) -> Total {
        let (b, n) = &self.cells[usize::from(!is_implicit)][direction as usize];
        Total { bytes: b.load(Ordering::Relaxed), count: n.load(Ordering::Relaxed) }
    }
}

/// Counts all transfers of the process.
pub static PROCESS_COUNTERS: Counters = Counters::new();

/// One transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferRecord {
    /// The number of the transfer, counted from 1.
    pub number: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// The call that caused the transfer.
    pub call: Call,
    /// The id of the accelerator from which the bytes came; 0: the host.
    pub from: u64,
    /// The id of the accelerator to which the bytes went; 0: the host.
    pub to: u64,
    /// The id of the data source of the view that was used; 0: none.
    pub source: u64,
}

impl TransferRecord {
    /// False for a transfer within one memory.
    fn is_between_memories(&self) -> bool {
        self.from != self.to
    }
}

/// The number of transfers that the log keeps.
pub const MAX_RECORDS: usize = 4096;

struct Log {
    next: u64,
    latest: VecDeque<TransferRecord>,
    /// The highest number of a transfer between two memories that has left the log; 0: none.
    last_dropped: u64,
}

impl Log {
    const fn new() -> Self {
        Self { next: 1, latest: VecDeque::new(), last_dropped: 0 }
    }

    fn record(&mut self, mut r: TransferRecord) {
        r.number = self.next;
        self.next += 1;
        // Without memory for another record, the log drops its oldest record.
        if self.latest.len() == MAX_RECORDS || self.latest.try_reserve(1).is_err() {
            let oldest = self.latest.pop_front();
            oldest.iter().for_each(|oldest| self.note_dropped(oldest));
        }
        if self.latest.len() < self.latest.capacity() {
            self.latest.push_back(r);
        } else {
            self.note_dropped(&r);
        }
    }

    fn note_dropped(&mut self, r: &TransferRecord) {
        if r.is_between_memories() {
            self.last_dropped = r.number;
        }
    }

    fn since(&self, first: u64) -> impl Iterator<Item = &TransferRecord> {
        let skip = self.latest.partition_point(|r| r.number < first);
        self.latest.iter().skip(skip)
    }

    fn moves_since(&self, first: u64) -> Moves {
        Moves {
            logged: self.since(first).filter(|r| r.is_between_memories()).copied().collect(),
            are_all: self.last_dropped < first.max(1),
        }
    }
}

static LOG: Mutex<Log, { rank::MESSAGES }> = Mutex::new(Log::new());

/// Numbers a transfer, and adds it to the log.
pub fn record(r: TransferRecord) {
    LOG.lock().record(r);
}

/// The number that the next transfer gets.
pub fn next() -> u64 {
    LOG.lock().next
}

/// Returns at most `limit` transfers from the log. They are the oldest whose number is at least `first`.
pub fn read(first: u64, limit: usize) -> Vec<TransferRecord> {
    LOG.lock().since(first).take(limit).copied().collect()
}

/// Transfers between two memories.
pub struct Moves {
    /// The transfers that the log has.
    pub logged: Vec<TransferRecord>,
    /// False if some of the transfers have left the log.
    pub are_all: bool,
}

/// The transfers between two memories with the numbers `first` and higher.
pub fn moves_since(first: u64) -> Moves {
    LOG.lock().moves_since(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_separate_causes_and_directions() {
        let c = Counters::new();
        c.add(implicit(c"a", Rule::Av2), TransferDirection::To, 8);
        c.add(implicit(c"a", Rule::Stg11), TransferDirection::To, 4);
        c.add(explicit(c"b"), TransferDirection::From, 16);
        assert_eq!(c.total(true, TransferDirection::To), Total { bytes: 12, count: 2 });
        assert_eq!(c.total(false, TransferDirection::From), Total { bytes: 16, count: 1 });
        assert_eq!(c.total(true, TransferDirection::Local), Total::default());
    }

    #[test]
    fn the_log_forgets_the_oldest() {
        let call = explicit(c"test");
        for n in 0..MAX_RECORDS as u64 + 10 {
            record(TransferRecord { number: 0, bytes: n, call, from: 0, to: 0, source: u64::MAX });
        }
        let all = read(0, usize::MAX);
        assert_eq!(all.len(), MAX_RECORDS);
        assert!(all.windows(2).all(|w| w[0].number + 1 == w[1].number));
        let last = all[MAX_RECORDS - 1];
        assert_eq!(read(last.number, 5), [last]);
    }

    #[test]
    fn moves_that_have_left_the_log_are_noticed() {
        let mut log = Log::new();
        let call = explicit(c"test");
        let within_memory = TransferRecord { number: 0, bytes: 1, call, from: 7, to: 7, source: 0 };
        let upload = TransferRecord { from: 0, ..within_memory };
        let moves = |log: &Log, first| {
            let Moves { logged, are_all } = log.moves_since(first);
            (logged.iter().map(|r| r.number).collect::<Vec<_>>(), are_all)
        };
        log.record(within_memory);
        log.record(upload);
        (3..=MAX_RECORDS).for_each(|_| log.record(within_memory));
        log.record(within_memory);
        // Only a transfer within one memory has left the log.
        assert_eq!(moves(&log, 0), (vec![2], true));
        log.record(upload);
        let last = MAX_RECORDS as u64 + 2;
        assert_eq!(moves(&log, 0), (vec![last], false));
        assert_eq!(moves(&log, 2), (vec![last], false));
        assert_eq!(moves(&log, 3), (vec![last], true));
        assert_eq!(moves(&log, last + 1), (vec![], true));
    }
}
