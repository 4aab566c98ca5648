//! The log. Level from `REVAMP_LOG` (by default only what the user should fix); output to standard error or to the hook that
//! the program set.

use super::delivery;
use crate::lock::{Mutex, RwLock, rank, waits};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Severity of a message. A level lets itself and everything more severe through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Nothing is logged.
    Off = 0,
    /// A failure that no call can return.
    Error = 1,
    /// A problem that the user should fix.
    Warn = 2,
    /// What the library chose, and why.
    Info = 3,
    /// Details of what the library does.
    Debug = 4,
}

/// Receives messages instead of standard error, on any thread, soon after they are written.
pub type Hook = Arc<dyn Fn(Level, &str) + Send + Sync>;

/// A call of the program.
enum Delivery {
    /// A message for the hook.
    Message(Level, String),
    /// A callback for which no thread could be created.
    Callback(Box<dyn FnOnce() + Send>),
}

/// Calls of the program. They are added anywhere, also under locks, and done only where no lock is held.
static PENDING: Mutex<VecDeque<Delivery>, { rank::LOG }> = Mutex::new(VecDeque::new());
/// True if there may be some.
static ANY: AtomicBool = AtomicBool::new(false);
/// True while a thread calls the hook. One thread does so at a time, so that messages come in order.
static DELIVERING: AtomicBool = AtomicBool::new(false);

static LEVEL: AtomicU8 = AtomicU8::new(Level::Warn as u8);
static HOOK: RwLock<Option<Hook>, { rank::LOG }> = RwLock::new(None);

impl Level {
    /// The level named by a word or a digit, as `REVAMP_LOG` takes it.
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

/// Lets messages up to `level` through.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// True if a message of `level` would be written.
pub fn enabled(level: Level) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

/// Sends messages to `hook`, or to standard error again when `None`.
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
    // A closed standard error is no failure.
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "revamp [{}] {line}", level.name());
}

/// Calls the program by `callback` where no lock is held, if no thread could be created for that.
pub fn call_back(callback: Box<dyn FnOnce() + Send>) {
    add(Delivery::Callback(callback));
}

fn add(delivery: Delivery) {
    PENDING.lock().push_back(delivery);
    ANY.store(true, Ordering::Release);
}

/// Gives the hook the messages written for it. Called where a thread leaves the library or has ended a job, and holds no
/// lock.
#[inline]
pub fn deliver() {
    if ANY.load(Ordering::Relaxed) {
        deliver_all();
    }
}

#[cold]
fn deliver_all() {
    delivery::deliver(&ANY, &DELIVERING, || {
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
