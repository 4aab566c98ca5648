//! Reports of compiled kernels about accesses outside of arrays and array_views.
//!
//! A device has one report, in host memory. The first thread with an error takes the report and fills it in. At the end of each
//! call, the library reads a filled report and clears it, so that the next thread can take it. Only one report per launch is shown.

use crate::device::{Buffer, Device, Placement};
use crate::error::{Error, Result};
use crate::kernel::compiled::Checks;
use crate::lock::{Mutex, rank};
use crate::runtime::process;
use revamp_image::table::report;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// The reports of all devices.
static ALL: Mutex<Vec<Weak<Report>>, { rank::REPORTS }> = Mutex::new(Vec::new());

/// The number of launches so far of kernels that report.
static LAUNCHES: AtomicU32 = AtomicU32::new(0);

/// The maximum length of `State::reported`.
const REMEMBERED: usize = 256;

/// The report of a device.
pub(in crate::runtime) struct Report {
    buffer: Arc<dyn Buffer>,
    state: Mutex<State, { rank::REPORT }>,
}

#[derive(Default)]
struct State {
    /// The kernels that write this report, indexed by their numbers in the report.
    kernels: Vec<Arc<Checks>>,
    /// The most recent launches whose first report was shown.
    reported: Vec<u32>,
}

impl Report {
    /// Makes the report of a device.
    pub fn new(device: &Arc<dyn Device>) -> Result<Arc<Self>> {
        let buffer = device.allocate(report::BYTES, Placement::Staging, "report")?;
        let host = buffer.host().ok_or_else(|| Error::internal("the host cannot read the memory of reports"))?;
        host.fill(0);
        if buffer.device_address().is_none() {
            return Err(Error::internal("the memory of reports has no device address"));
        }
        let made = Arc::new(Self { buffer, state: Mutex::new(State::default()) });
        let mut all = ALL.lock();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&made));
        process::check_each_call_from_now();
        Ok(made)
    }

    /// The number by which reports identify a kernel. A kernel without a number gets a new one.
    pub fn number(&self, kernel: &Arc<Checks>) -> u32 {
        let mut state = self.state.lock();
        let known = state.kernels.iter().position(|one| Arc::ptr_eq(one, kernel));
        let number = known.unwrap_or(state.kernels.len());
        if known.is_none() {
            state.kernels.push(kernel.clone());
        }
        number as u32
    }

    /// The address of the report on the device.
    pub fn address(&self) -> u64 {
        self.buffer.device_address().unwrap_or(0)
    }

    fn take(&self) -> Option<String> {
        let host = self.buffer.host()?;
        let report_state = host.sub(report::STATE..report::STATE + 4).ok()?;
        let is_filled = || report_state.first_word() == Some(report::FILLED);
        // Fast path: almost always there is no report.
        if !is_filled() {
            return None;
        }
        let mut state = self.state.lock();
        // Another thread may have taken the report before this thread took the lock.
        if !is_filled() {
            return None;
        }
        let bytes = host.to_vec();
        // From here on, a kernel may fill the report again. It writes all fields, so only the state is cleared.
        report_state.set_first_word(0).ok()?;
        let launch = number(&bytes, report::LAUNCH);
        if state.reported.contains(&launch) {
            return None;
        }
        if state.reported.len() >= REMEMBERED {
            state.reported.remove(0);
        }
        state.reported.push(launch);
        let checks = state.kernels.get(number(&bytes, report::KERNEL) as usize);
        let site = checks.and_then(|checks| checks.sites.get(number(&bytes, report::SITE) as usize));
        Some(text(site.map_or("an access outside of an array_view", String::as_str), &bytes))
    }
}

/// The number of a new launch.
pub(in crate::runtime) fn launch() -> u32 {
    LAUNCHES.fetch_add(1, Ordering::Relaxed)
}

/// Fails if a kernel has reported something since the last call.
pub fn check() -> Result<()> {
    let all: Vec<Arc<Report>> = ALL.lock().iter().filter_map(Weak::upgrade).collect();
    all.iter().find_map(|report| report.take()).map_or(Ok(()), |text| Err(Error::runtime(text)))
}

fn number(bytes: &[u8], at: u64) -> u32 {
    let at = at as usize;
    bytes.get(at..at + 4).map_or(0, |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

fn wide(bytes: &[u8], at: u64) -> u64 {
    u64::from(number(bytes, at)) | u64::from(number(bytes, at + 4)) << 32
}

/// The text of a report.
fn text(site: &str, bytes: &[u8]) -> String {
    let rank = (number(bytes, report::RANK) as usize).min(3);
    let list = |at: u64| {
        let all: Vec<String> = (0..rank).map(|n| (number(bytes, at + 4 * n as u64) as i32).to_string()).collect();
        all.join(", ")
    };
    if rank > 0 {
        return format!("{site}: index ({}), extent ({})", list(report::INDEX), list(report::EXTENT));
    }
    let (offset, size) = (wide(bytes, report::OFFSET) as i64, wide(bytes, report::SIZE));
    if size == 0 {
        return format!("{site}: address {offset:#x} is outside of all array_views of the kernel");
    }
    format!("{site}: at byte {offset} of {size} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::device::host::{HostDevice, HostKind};
    use crate::host::Workers;
    use std::time::Duration;

    /// A thread finds a filled report and waits for the lock. Meanwhile, this thread takes the report, and a kernel begins to fill it
    /// again.
    #[test]
    fn a_report_that_is_being_filled_is_not_cleared() {
        let device = HostDevice::new(HostKind::Threads, &Config::read(|_| None).0, Workers::new(1));
        let buffer = device.allocate(report::BYTES, Placement::Device, "test").unwrap();
        let host = buffer.host().unwrap();
        let report = Report { buffer, state: Mutex::new(State::default()) };
        let taken = std::thread::scope(|scope| {
            let state = report.state.lock();
            host.set_first_word(report::FILLED).unwrap();
            let thread = scope.spawn(|| report.take());
            std::thread::sleep(Duration::from_millis(100));
            host.set_first_word(1).unwrap();
            drop(state);
            thread.join().unwrap()
        });
        assert_eq!((taken, host.first_word()), (None, Some(1)));
        host.set_first_word(report::FILLED).unwrap();
        assert!(report.take().is_some() && report.take().is_none());
        assert_eq!(host.first_word(), Some(0));
    }

    #[test]
    fn reports_say_index_and_extent_or_bytes() {
        let mut bytes = vec![0; report::BYTES as usize];
        let mut put = |at: u64, value: i64, size: usize| {
            bytes[at as usize..at as usize + size].copy_from_slice(&value.to_ne_bytes()[..size]);
        };
        put(report::OFFSET, -4, 8);
        put(report::SIZE, 400, 8);
        put(report::INDEX, -1, 4);
        put(report::INDEX + 4, 7, 4);
        put(report::EXTENT, 10, 4);
        put(report::EXTENT + 4, 7, 4);
        assert_eq!(text("a.cpp:3: a read", &bytes), "a.cpp:3: a read: at byte -4 of 400 bytes");
        bytes[report::RANK as usize] = 2;
        assert_eq!(text("a.cpp:3: a read", &bytes), "a.cpp:3: a read: index (-1, 7), extent (10, 7)");
    }
}
