//! The log. `REVAMP_LOG` sets the level; the default is warnings and errors. Messages go to standard error, or to the hook that
//! the program has set.

use super::delivery;
use crate::lock::{Mutex, RwLock, rank, waits};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Severity of a message. A level enables messages of this level and of more severe levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Nothing is logged.
    Off = 0,
    /// A failure that no call can report to the program.
    Error = 1,
    /// A problem that the user should fix.
    Warn = 2,
    /// Choices of the library, with reasons.
    Info = 3,
    /// Details of the library's work.
    Debug = 4,
}

/// Receives messages in place of standard error, on any thread, soon after they are written.
pub type Hook = Arc<dyn Fn(Level, &str) + Send + Sync>;

/// A pending call from the library into the program.
enum Delivery {
    /// A message for the hook.
    Message(Level, String),
    /// A callback for which no thread could be created.
    Callback(Box<dyn FnOnce() + Send>),
}

/// Pending calls into the program. Any code may add a call, even while it holds locks. A call is made only while no lock is held.
static PENDING: Mutex<VecDeque<Delivery>, { rank::LOG }> = Mutex::new(VecDeque::new());
/// True if there may be pending calls.
static HAS_PENDING: AtomicBool = AtomicBool::new(false);
/// True while a thread makes pending calls. Only one thread does so at a time, so that messages arrive in order.
static DELIVERING: AtomicBool = AtomicBool::new(false);

static LEVEL: AtomicU8 = AtomicU8::new(Level::Warn as u8);
static HOOK: RwLock<Option<Hook>, { rank::LOG }> = RwLock::new(None);

impl Level {
    /// The level that a value of `REVAMP_LOG` (a word or a digit) names.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "off" | "none" | "0" => Self::Off,
            "error" | "1" => Self::Error,
            "warn" | "warning" | "2" => Self::Warn,
            "info" | "3" => Self::Info,
            "debug" | "trace" | "4" => Self::Debug,
            _ => return None,
        })
    }
    /// The word for the level.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

/// Enables messages up to `level`.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// True if a message of `level` would be written.
pub fn enabled(level: Level) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

/// Sends messages to `hook`. `None`: sends them to standard error again.
pub fn set_hook(hook: Option<Hook>) {
    *HOOK.write() = hook;
}

/// Writes one message if its level is enabled.
pub fn write(level: Level, text: std::fmt::Arguments<'_>) {
    if !enabled(level) {
        return;
    }
    let line = text.to_string();
    if HOOK.read().is_some() {
        add(Delivery::Message(level, line));
        return;
    }
    // A failure to write to standard error is ignored.
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "revamp [{}] {line}", level.name());
}

/// Calls `callback` later, while no lock is held. It is a function of the program for which no thread could be created.
pub fn call_back(callback: Box<dyn FnOnce() + Send>) {
    add(Delivery::Callback(callback));
}

fn add(delivery: Delivery) {
    PENDING.lock().push_back(delivery);
    HAS_PENDING.store(true, Ordering::Release);
}

/// Makes the pending calls into the program. Threads call this function when they leave the library or have finished a job, and
/// hold no lock.
#[inline]
pub fn deliver() {
    if HAS_PENDING.load(Ordering::Relaxed) {
        deliver_all();
    }
}

#[cold]
fn deliver_all() {
    delivery::deliver(&HAS_PENDING, &DELIVERING, || {
        let next = PENDING.lock().pop_front();
        let Some(next) = next else { return false };
        let hook = HOOK.read().clone();
        waits(rank::NONE);
        match (next, hook) {
            (Delivery::Message(level, line), Some(hook)) => hook(level, &line),
            (Delivery::Message(..), None) => {}
            (Delivery::Callback(callback), _) => callback(),
        }
        true
    });
}

/// `log!(Level, "format", ...)`.
#[macro_export]
#[doc(hidden)]
macro_rules! log {
    ($level:ident, $($arg:tt)*) => {
        $crate::trace::log::write($crate::trace::log::Level::$level, format_args!($($arg)*))
    };
}
