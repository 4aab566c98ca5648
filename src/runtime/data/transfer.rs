//! Moves bytes between host memory and device memory, or between devices, and counts the moved bytes.

use crate::device::hazard::Point;
use crate::device::physical::DeviceKind;
use crate::device::{Buffer, Device, Direction, TimerSlot, WINDOW_BYTES};
use crate::error::Result;
use crate::geometry::CopyPlan;
use crate::host::{HostBlock, HostSpan, Workers, strided};
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::bridge::End;
use crate::runtime::data::storage::Storage;
use crate::trace::events::{self, EventContent, Span, Track};
use crate::trace::names::Name;
use crate::trace::transfers::{self, Call, Counters, TransferDirection, TransferRecord};
use smallvec::SmallVec;
use std::sync::Arc;

/// Copies of at least this many bytes between two devices use a bridge (host memory that both devices import). A bridge does
/// not speed up smaller copies.
const BRIDGE_BYTES: u64 = 128 << 10;
/// The host does copies of at most this many bytes between host-visible buffers, because a submission takes longer.
const HOST_COPY_BYTES: u64 = 256 << 10;
/// The host writes at most this many rows over the bus to device memory that it can address.
const WINDOW_ROWS: u64 = 16;
/// Copies between two devices that cannot import host memory pass through host memory in pieces of this many bytes.
const HOP_BYTES: u64 = 32 << 20;

/// One end of a transfer.
pub(in crate::runtime) enum Endpoint {
    /// Memory of the host.
    Host(HostSpan),
    /// A buffer of a device.
    Device {
        /// The buffer.
        buffer: Arc<dyn Buffer>,
        /// The device that made the buffer.
        device: Arc<dyn Device>,
        /// The view whose queue runs the copies.
        view: Arc<AcceleratorView>,
        /// The accelerator that counts the transfers. For a staging array: the cpu.
        accelerator: Arc<Accelerator>,
    },
}

impl Endpoint {
    /// The endpoint of an array.
    pub fn of(array: &Storage) -> Self {
        Self::Device {
            buffer: array.buffer().clone(),
            device: array.device().clone(),
            view: array.copy_view().clone(),
            accelerator: array.view().accelerator().clone(),
        }
    }

    /// The id of the buffer; `None` for host memory.
    pub fn buffer(&self) -> Option<u64> {
        match self {
            Self::Host(_) => None,
            Self::Device { buffer, .. } => Some(buffer.id()),
        }
    }

    /// The accelerator that counts the transfers; `None` for the cpu accelerator.
    fn accelerator(&self) -> Option<&Arc<Accelerator>> {
        match self {
            Self::Host(_) => None,
            Self::Device { accelerator, .. } => Some(accelerator).filter(|a| a.kind() != DeviceKind::Cpu),
        }
    }
}

impl Endpoint {
    /// The view whose queue copies the bytes of the endpoint; `None` if the endpoint belongs to the cpu accelerator.
    fn view(&self) -> Option<&Arc<AcceleratorView>> {
        match self {
            Self::Device { view, .. } => self.accelerator().map(|_| view),
            Self::Host(_) => None,
        }
    }

    /// The queue and accelerator of the endpoint in a trace; `None` if the endpoint belongs to the cpu accelerator.
    fn track(&self) -> Option<Track> {
        self.view().map(|view| view.track())
    }
}

/// The counters to which a transfer is added, and its description in the log of transfers and in traces.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Tally<'a> {
    /// The call that caused the transfer.
    pub call: Call,
    /// The id of the data source; 0: none.
    pub source: u64,
    /// The view or array that the transfer concerns, for its name in traces.
    pub object: Option<&'a dyn Named>,
    /// Counters of views and data sources.
    pub accounts: [Option<&'a Counters>; 4],
}

/// An object with a name.
pub(in crate::runtime) trait Named {
    /// The name.
    fn name(&self) -> String;
}

impl Tally<'_> {
    /// The tally of a transfer that concerns no view.
    pub fn of(call: Call) -> Self {
        Tally { call, source: 0, object: None, accounts: [None; 4] }
    }

    /// The name of the view or array.
    fn name(&self) -> Name {
        Name::of(&self.object.map_or_else(|| "array".to_owned(), Named::name))
    }

    /// The event that describes the transfer in a trace.
    fn event(&self, from: &Endpoint, to: &Endpoint, plan: &CopyPlan) -> EventContent {
        let object = self.name();
        let host = [(from, plan.source_hull().start), (to, plan.destination_hull().start)];
        let address = host.into_iter().find_map(|(side, offset)| match side {
            Endpoint::Host(memory) => Some(memory.as_ptr().addr() + offset as usize),
            Endpoint::Device { .. } => None,
        });
        EventContent::Transfer {
            bytes: plan.bytes(),
            from: from.track().map(|track| track.accelerator),
            to: to.track().map(|track| track.accelerator),
            source: self.source,
            object,
            address: address.unwrap_or(0),
            is_staged: is_staged(from, to, plan.bytes()),
            rule: self.call.rule,
        }
    }

    /// Adds the times at which the device began and ended the copy to the trace, if `timer` is set.
    fn trace_times(&self, from: &Endpoint, to: &Endpoint, event: u64, points: &[Point], timer: Option<&TimerSlot>) {
        let view = to.view().or_else(|| from.view());
        if let (Some(view), Some(timer), [point, ..]) = (view, timer.and_then(TimerSlot::get), points) {
            view.trace_times(self.name(), event, point, timer);
        }
    }

    fn count(&self, from: &Endpoint, to: &Endpoint, bytes: u64) {
        let (from, to) = (from.accelerator(), to.accelerator());
        let add = |direction, accelerator: Option<&Arc<Accelerator>>| {
            let own = accelerator.map(|a| a.transfers());
            for c in self.accounts.into_iter().chain([Some(&transfers::PROCESS_COUNTERS), own]).flatten() {
                c.add(self.call, direction, bytes);
            }
        };
        match (from, to) {
            // Host threads use the host's memory, so the transfer is counted once, for the other accelerator.
            (Some(a), Some(b)) if a.id() != b.id() && b.is_host_memory() => add(TransferDirection::From, Some(a)),
            (Some(a), Some(b)) if a.id() != b.id() && a.is_host_memory() => add(TransferDirection::To, Some(b)),
            (Some(a), Some(b)) if a.id() != b.id() => {
                add(TransferDirection::From, Some(a));
                add(TransferDirection::To, Some(b));
            }
            (None, Some(a)) => add(TransferDirection::To, Some(a)),
            (Some(a), None) => add(TransferDirection::From, Some(a)),
            (same, _) => add(TransferDirection::Local, same),
        }
        let id = |a: Option<&Arc<Accelerator>>| a.map_or(0, |a| a.id());
        transfers::record(TransferRecord {
            number: 0,
            bytes,
            call: self.call,
            from: id(from),
            to: id(to),
            source: self.source,
        });
    }
}

/// What the caller of [`run`] does next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) enum CallerNext {
    /// The caller waits for the transfer, or the next command of the caller needs the transferred bytes.
    Wait,
    /// The caller continues with other work, and waits for the transfer later.
    Other,
}

/// Does or begins a transfer. The transfer is done when the returned points are reached. When this function returns, a source
/// in host memory is no longer needed, and a destination in host memory has the transferred bytes. If the device times the
/// transfer, the timer of the device is put into `timer`.
pub(in crate::runtime) fn run(
    from: &Endpoint,
    to: &Endpoint,
    plan: &CopyPlan,
    tally: Tally<'_>,
    then: CallerNext,
    timer: Option<&TimerSlot>,
) -> Result<SmallVec<[Point; 2]>> {
    let span = Span::new(|| tally.event(from, to, plan));
    let own = TimerSlot::default();
    let timer = timer.or_else(|| (events::times_devices() && is_timed(from, to)).then_some(&own));
    let moved = move_bytes(from, to, plan, then, timer);
    if let (Ok(points), true) = (&moved, events::times_devices()) {
        tally.trace_times(from, to, span.id(), points, timer);
    }
    span.unless_failed(&moved);
    let points = moved?;
    tally.count(from, to, plan.bytes());
    Ok(points)
}

/// True if the device can time a transfer for a trace without running it on another queue.
fn is_timed(from: &Endpoint, to: &Endpoint) -> bool {
    match (from, to) {
        (Endpoint::Device { .. }, Endpoint::Device { .. }) => match (from.view(), to.view()) {
            (Some(_), Some(_)) => true,
            (Some(view), None) | (None, Some(view)) => view.queue().times_lanes(),
            (None, None) => false,
        },
        _ => false,
    }
}

fn move_bytes(
    from: &Endpoint,
    to: &Endpoint,
    plan: &CopyPlan,
    then: CallerNext,
    timer: Option<&TimerSlot>,
) -> Result<SmallVec<[Point; 2]>> {
    let points = match (from, to) {
        (Endpoint::Host(a), Endpoint::Host(b)) => {
            strided::copy_parallel(&Workers::shared().pool, plan, *a, *b)?;
            SmallVec::new()
        }
        (Endpoint::Host(a), Endpoint::Device { buffer, device, view, .. }) => {
            let points = device.transfer(Direction::Upload, *a, buffer, plan, &**view.queue())?;
            view.attach(points.iter().cloned());
            points
        }
        (Endpoint::Device { buffer, device, view, .. }, Endpoint::Host(b)) => {
            let points = device.transfer(Direction::Download, *b, buffer, plan, &**view.queue())?;
            view.attach(points.iter().cloned());
            points
        }
        (Endpoint::Device { .. }, Endpoint::Device { .. }) => copy_between_devices(from, to, plan, then, timer)?,
    };
    Ok(points)
}

/// True if a transfer between host memory and a device certainly passes through staging memory of the library.
fn is_staged(from: &Endpoint, to: &Endpoint, bytes: u64) -> bool {
    match (from, to) {
        (Endpoint::Host(_), Endpoint::Device { buffer, .. }) => {
            buffer.host().is_none() && (buffer.window().is_none() || bytes > WINDOW_BYTES)
        }
        (Endpoint::Device { buffer, .. }, Endpoint::Host(_)) => buffer.host().is_none(),
        _ => false,
    }
}

/// Copies between two buffers of a device with host threads, if both buffers are host-visible and idle and the copy is small.
/// Returns true if it copied.
fn copy_on_host(source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<bool> {
    let bytes = plan.bytes();
    let over_bus = || destination.window().filter(|_| bytes <= WINDOW_ROWS.saturating_mul(plan.run));
    let (Some(from), true) = (source.host(), bytes <= HOST_COPY_BYTES) else { return Ok(false) };
    let Some(to) = destination.host().or_else(over_bus) else { return Ok(false) };
    let (read, written) = (plan.source_hull(), plan.destination_hull());
    if !source.tracker().is_free(&read, Access::Read) || !destination.tracker().is_free(&written, Access::Write) {
        return Ok(false);
    }
    // Fails if the bytes were lost.
    source.tracker().wait(&read, Access::Read)?;
    strided::copy_parallel(&Workers::shared().pool, plan, from, to)?;
    Ok(true)
}

fn copy_between_devices(
    from: &Endpoint,
    to: &Endpoint,
    plan: &CopyPlan,
    then: CallerNext,
    timer: Option<&TimerSlot>,
) -> Result<SmallVec<[Point; 2]>> {
    let (
        Endpoint::Device { buffer: a, device: device_a, view: view_a, accelerator: accelerator_a },
        Endpoint::Device { buffer: b, device: device_b, view: view_b, accelerator: accelerator_b },
    ) = (from, to)
    else {
        return Ok(SmallVec::new());
    };
    if device_a.id() == device_b.id() {
        if copy_on_host(a, b, plan)? {
            return Ok(SmallVec::new());
        }
        // If the destination is a staging array, uses the queue of the source, whose memory is on the device.
        let is_staging = accelerator_b.kind() == DeviceKind::Cpu && accelerator_a.kind() != DeviceKind::Cpu;
        let view = if is_staging { view_a } else { view_b };
        let queue = view.queue();
        let point = match (timer, then) {
            (Some(timer), _) => queue.copy_timed(a, b, plan, then == CallerNext::Other, timer)?,
            (None, CallerNext::Wait) => queue.copy(a, b, plan)?,
            (None, CallerNext::Other) => queue.copy_unordered(a, b, plan)?,
        };
        view_a.attach([point.clone()]);
        view_b.attach([point.clone()]);
        return Ok(SmallVec::from_iter([point]));
    }
    // If one of the buffers is host-visible, the device of the other buffer treats it as host memory.
    if let Some(host) = a.host() {
        a.tracker().wait(&plan.source_hull(), Access::Read)?;
        let points = device_b.transfer(Direction::Upload, host, b, plan, &**view_b.queue())?;
        view_b.attach(points.iter().cloned());
        return Ok(points);
    }
    if let Some(host) = b.host() {
        b.tracker().wait(&plan.destination_hull(), Access::Write)?;
        let points = device_a.transfer(Direction::Download, host, a, plan, &**view_a.queue())?;
        view_a.attach(points.iter().cloned());
        return Ok(points);
    }
    // A bridge outlives the copy, so it is not used for Vulkan devices that the program owns and may destroy soon.
    if plan.bytes() >= BRIDGE_BYTES && !view_a.is_lent() && !view_b.is_lent() {
        let from = End { buffer: a, device: device_a, queue: &**view_a.queue() };
        let to = End { buffer: b, device: device_b, queue: &**view_b.queue() };
        if let Some(points) = view_a.accelerator().bridges.copy(&from, &to, plan)? {
            view_b.attach(points.iter().cloned());
            return Ok(points);
        }
    }
    let mut points = SmallVec::new();
    for piece in plan.pieces(HOP_BYTES) {
        let block = HostBlock::new(piece.bytes())?;
        let (down, up) = piece.through_packed();
        device_a.transfer(Direction::Download, block.span(), a, &down, &**view_a.queue())?;
        points.extend(device_b.transfer(Direction::Upload, block.span(), b, &up, &**view_b.queue())?);
    }
    view_b.attach(points.iter().cloned());
    Ok(points)
}
