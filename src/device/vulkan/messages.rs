//! Receives the messages of the validation layer: logs and counts them, and keeps the latest for `REVAMP_VALIDATION=2`.

#![allow(unsafe_code)]

use super::printf;
use crate::lock::{Mutex, rank};
use crate::log;
use ash::vk;
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// A message that is known to be wrong, or that gives advice which revamp deliberately does not follow.
struct FalsePositive {
    /// The id of the message.
    id: &'static str,
    /// A part of its text, because other messages may have the same id.
    text_part: &'static str,
    /// The reason why it is ignored, with a link.
    why: &'static str,
    /// The layer version in which it was seen.
    layer: &'static str,
}

/// Messages that are logged at debug level and not counted.
const FALSE_POSITIVES: &[FalsePositive] = &[FalsePositive {
    id: "UNASSIGNED-CoreValidation-DrawState-InvalidImageLayout",
    text_part: "For optimal performance",
    why: "images stay in the layout GENERAL, which kernels need to read one level and write another (decision 34)",
    layer: "1.3.239",
}];

/// The number of message texts that are kept.
const MAX_TEXTS: usize = 16;

/// The number of messages, and the latest texts.
struct Store {
    count: AtomicU64,
    last: Mutex<VecDeque<String>, { rank::MESSAGES }>,
}

static STORE: Store = Store { count: AtomicU64::new(0), last: Mutex::new(VecDeque::new()) };

/// The number of errors and warnings of the validation layer since the process started.
pub fn validation_messages() -> u64 {
    STORE.count.load(Ordering::Acquire)
}

/// The text of the latest error or warning of the validation layer.
pub fn last_validation_message() -> Option<String> {
    STORE.last.lock().back().cloned()
}

/// The texts of the latest errors and warnings, oldest first.
pub fn recent_validation_messages() -> Vec<String> {
    STORE.last.lock().iter().cloned().collect()
}

pub(super) fn create_info(verbose: bool) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type};
    let mut severity = Severity::WARNING | Severity::ERROR;
    if verbose {
        severity |= Severity::INFO;
    }
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(severity)
        .message_type(Type::GENERAL | Type::VALIDATION | Type::PERFORMANCE)
        .pfn_user_callback(Some(callback))
}

unsafe extern "system" fn callback(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // A log hook of the program may panic, but a panic must not unwind into the driver.
    let _ = std::panic::catch_unwind(|| {
        // SAFETY: the layer passes null or a structure that lives through the call.
        let Some(data) = (unsafe { data.as_ref() }) else { return };
        // SAFETY: both are null or strings that live through the call.
        let (id, text) = unsafe { (text(data.p_message_id_name), text(data.p_message)) };
        if !printf::print(&id, &text) {
            STORE.receive(severity, types, &id, &text);
        }
    });
    // The Vulkan specification reserves VK_TRUE for tests of layers.
    vk::FALSE
}

/// # Safety
/// `p` is null or a string that ends with a zero.
unsafe fn text(p: *const c_char) -> String {
    if p.is_null() {
        return String::new();
    }
    // SAFETY: by the caller.
    unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
}

impl Store {
    fn receive(
        &self,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        types: vk::DebugUtilsMessageTypeFlagsEXT,
        id: &str,
        text: &str,
    ) {
        use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type};
        let line = format!("Vulkan: {id}: {text}");
        if printf::is_printf(id) && severity.intersects(Severity::WARNING | Severity::ERROR) {
            // The output of a kernel is missing or incomplete. Logged as an error, because the user asked for this output.
            log!(Error, "{line}");
        } else if !types.intersects(Type::VALIDATION | Type::PERFORMANCE)
            || !severity.intersects(Severity::WARNING | Severity::ERROR)
        {
            log!(Debug, "{line}");
        } else if let Some(known) = FALSE_POSITIVES.iter().find(|f| f.id == id && text.contains(f.text_part)) {
            log!(Debug, "known false positive of layer {} ({}): {line}", known.layer, known.why);
        } else {
            {
                let mut last = self.last.lock();
                if last.len() == MAX_TEXTS {
                    last.pop_front();
                }
                last.push_back(line.clone());
                self.count.fetch_add(1, Ordering::Release);
            }
            log!(Warn, "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_validation_warnings_and_errors_count() {
        use vk::{DebugUtilsMessageSeverityFlagsEXT as S, DebugUtilsMessageTypeFlagsEXT as T};
        // Not the global store: other tests check that it stays empty.
        let store = Store { count: AtomicU64::new(0), last: Mutex::default() };
        store.receive(S::ERROR, T::GENERAL, "loader", "quiet");
        store.receive(S::INFO, T::VALIDATION, "x", "quiet");
        assert_eq!(store.count.load(Ordering::Acquire), 0);
        for i in 0..2 * MAX_TEXTS {
            store.receive(S::WARNING, T::VALIDATION, "VUID-unit-test", &format!("n{i}"));
        }
        store.receive(S::ERROR, T::PERFORMANCE, "VUID-unit-test", "newest");
        assert_eq!(store.count.load(Ordering::Acquire), 2 * MAX_TEXTS as u64 + 1);
        let last = store.last.lock();
        assert_eq!(last.len(), MAX_TEXTS);
        assert_eq!(last.back().map(String::as_str), Some("Vulkan: VUID-unit-test: newest"));
    }
}
