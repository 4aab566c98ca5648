//! Moving bytes between any two memories, and counting them.

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
use crate::trace::events::{self, Span, Track, What};
use crate::trace::names::Name;
use crate::trace::transfers::{self, Call, Counters, TransferRecord, Way};
use smallvec::SmallVec;
use std::sync::Arc;

/// Copies of at least this many bytes between two devices use a bridge. Smaller copies are no faster in pieces.
const BRIDGE_BYTES: u64 = 128 << 10;
/// The host itself copies at most this many bytes between host-visible memories; submission to a queue takes longer.
const HOST_COPY_BYTES: u64 = 256 << 10;
/// The host writes at most this many rows over the bus.
const WINDOW_ROWS: u64 = 16;
/// Bytes that pass through host memory at a time between two devices that cannot import it.
const HOP_BYTES: u64 = 32 << 20;

/// One end of a transfer.
pub(in crate::runtime) enum Endpoint {
    /// Memory of the host.
    Host(HostSpan),
    /// A buffer of a device.
    Device {
        /// The buffer.
        buffer: Arc<dyn Buffer>,
        /// The device that made it.
        device: Arc<dyn Device>,
        /// The view whose queue is used.
        view: Arc<AcceleratorView>,
        /// The accelerator to which transfers are accounted; for a staging array the cpu.
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

    /// The id of the buffer, if it is one.
    pub fn buffer(&self) -> Option<u64> {
        match self {
            Self::Host(_) => None,
            Self::Device { buffer, .. } => Some(buffer.id()),
        }
    }

    /// The accelerator to which it is accounted, unless that is the host.
    fn accelerator(&self) -> Option<&Arc<Accelerator>> {
        match self {
            Self::Host(_) => None,
            Self::Device { accelerator, .. } => Some(accelerator).filter(|a| a.kind() != DeviceKind::Cpu),
        }
    }
}

impl Endpoint {
    /// The accelerator in a trace, unless that is the host.
    fn track(&self) -> Option<Track> {
        match self {
            Self::Device { view, .. } => self.accelerator().map(|_| view.track()),
            Self::Host(_) => None,
        }
    }
}

/// To which counters a transfer is added.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Tally<'a> {
    /// The call that caused it.
    pub call: Call,
    /// The id of the data source; 0: none.
    pub source: u64,
    /// What messages call it.
    pub object: Option<&'a dyn Named>,
    /// Counters of views and data sources.
    pub accounts: [Option<&'a Counters>; 4],
}

/// What messages have a name for.
pub(in crate::runtime) trait Named {
    /// The name.
    fn name(&self) -> String;
}

impl Tally<'_> {
    /// The tally of a transfer that concerns no view.
    pub fn of(call: Call) -> Self {
        Tally { call, source: 0, object: None, accounts: [None; 4] }
    }

    /// What messages call the view or array.
    fn name(&self) -> Name {
        Name::of(&self.object.map_or_else(|| "array".to_owned(), Named::name))
    }

    /// The transfer in a trace.
    fn event(&self, from: &Endpoint, to: &Endpoint, plan: &CopyPlan) -> What {
        let object = self.name();
        let host = [(from, plan.source_hull().start), (to, plan.destination_hull().start)];
        let address = host.into_iter().find_map(|(side, offset)| match side {
            Endpoint::Host(memory) => Some(memory.as_ptr().addr() + offset as usize),
            Endpoint::Device { .. } => None,
        });
        What::Transfer {
            bytes: plan.bytes(),
            from: from.track().map(|track| track.accelerator),
            to: to.track().map(|track| track.accelerator),
            source: self.source,
            object,
            address: address.unwrap_or(0),
            is_staged: is_staged(from, to, plan.bytes()),
        }
    }

    /// Has a trace show when the device copied, if `timer` tells.
    fn trace_times(&self, to: &Endpoint, event: u64, points: &[Point], timer: Option<&TimerSlot>) {
        let timer = timer.and_then(TimerSlot::get);
        if let (Endpoint::Device { view, .. }, Some(timer), [point, ..]) = (to, timer, points) {
            view.trace_times(self.name(), event, point, timer);
        }
    }

    fn count(&self, from: &Endpoint, to: &Endpoint, bytes: u64) {
        let (from, to) = (from.accelerator(), to.accelerator());
        let add = |way, accelerator: Option<&Arc<Accelerator>>| {
            let own = accelerator.map(|a| a.transfers());
            for c in self.accounts.into_iter().chain([Some(&transfers::ALL), own]).flatten() {
                c.add(self.call, way, bytes);
            }
        };
        match (from, to) {
            // For host threads, which use the host's memory, the transfer is counted once, for the other accelerator.
            (Some(a), Some(b)) if a.id() != b.id() && b.is_host_memory() => add(Way::From, Some(a)),
            (Some(a), Some(b)) if a.id() != b.id() && a.is_host_memory() => add(Way::To, Some(b)),
            (Some(a), Some(b)) if a.id() != b.id() => {
                add(Way::From, Some(a));
                add(Way::To, Some(b));
            }
            (None, Some(a)) => add(Way::To, Some(a)),
            (Some(a), None) => add(Way::From, Some(a)),
            (same, _) => add(Way::Local, same),
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
pub(in crate::runtime) enum Then {
    /// The caller waits for the transfer, or needs it for its next command.
    Wait,
    /// The caller continues with other work, and waits only for the transfer later.
    Other,
}

/// Does or begins a transfer, which is done when the points are reached. When this returns, a source in host memory is no
/// longer needed, and a destination in host memory has its bytes. If the device times the transfer, its timer goes to `timer`.
pub(in crate::runtime) fn run(
    from: &Endpoint,
    to: &Endpoint,
    plan: &CopyPlan,
    tally: Tally<'_>,
    then: Then,
    timer: Option<&TimerSlot>,
) -> Result<SmallVec<[Point; 2]>> {
    let span = Span::new(|| tally.event(from, to, plan));
    let own = TimerSlot::default();
    // Over the bus, a copy that is timed would not run beside kernels.
    let is_timed = || events::times_devices() && from.track().is_some() && to.track().is_some();
    let timer = timer.or_else(|| is_timed().then_some(&own));
    let moved = move_bytes(from, to, plan, then, timer);
    if let (Ok(points), true) = (&moved, events::times_devices()) {
        tally.trace_times(to, span.id(), points, timer);
    }
    span.unless_failed(&moved);
    let points = moved?;
    tally.count(from, to, plan.bytes());
    Ok(points)
}

fn move_bytes(
    from: &Endpoint,
    to: &Endpoint,
    plan: &CopyPlan,
    then: Then,
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
        (Endpoint::Device { .. }, Endpoint::Device { .. }) => between(from, to, plan, then, timer)?,
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

/// Lets the host copy between two buffers of a device. True if it did: both are host-visible, small and not in use.
fn by_host(source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<bool> {
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

fn between(
    from: &Endpoint,
    to: &Endpoint,
    plan: &CopyPlan,
    then: Then,
    timer: Option<&TimerSlot>,
) -> Result<SmallVec<[Point; 2]>> {
    let (
        Endpoint::Device { buffer: a, device: of_a, view: view_a, accelerator: at_a },
        Endpoint::Device { buffer: b, device: of_b, view: view_b, accelerator: at_b },
    ) = (from, to)
    else {
        return Ok(SmallVec::new());
    };
    if of_a.id() == of_b.id() {
        if by_host(a, b, plan)? {
            return Ok(SmallVec::new());
        }
        // Uses the queue of the side whose memory is on the device.
        let is_staging = at_b.kind() == DeviceKind::Cpu && at_a.kind() != DeviceKind::Cpu;
        let view = if is_staging { view_a } else { view_b };
        let queue = view.queue();
        let point = match (timer, then) {
            (Some(timer), _) => queue.copy_timed(a, b, plan, timer)?,
            (None, Then::Wait) => queue.copy(a, b, plan)?,
            (None, Then::Other) => queue.copy_beside(a, b, plan)?,
        };
        view_a.attach([point.clone()]);
        view_b.attach([point.clone()]);
        return Ok(SmallVec::from_iter([point]));
    }
    // The other side's device treats host-visible memory as host memory.
    if let Some(host) = a.host() {
        a.tracker().wait(&plan.source_hull(), Access::Read)?;
        let points = of_b.transfer(Direction::Upload, host, b, plan, &**view_b.queue())?;
        view_b.attach(points.iter().cloned());
        return Ok(points);
    }
    if let Some(host) = b.host() {
        b.tracker().wait(&plan.destination_hull(), Access::Write)?;
        let points = of_a.transfer(Direction::Download, host, a, plan, &**view_a.queue())?;
        view_a.attach(points.iter().cloned());
        return Ok(points);
    }
    // A bridge outlives the copy, so devices of the program, which may be destroyed soon, get none.
    if plan.bytes() >= BRIDGE_BYTES && !view_a.is_lent() && !view_b.is_lent() {
        let from = End { buffer: a, device: of_a, queue: &**view_a.queue() };
        let to = End { buffer: b, device: of_b, queue: &**view_b.queue() };
        if let Some(points) = view_a.accelerator().bridges.copy(&from, &to, plan)? {
            view_b.attach(points.iter().cloned());
            return Ok(points);
        }
    }
    let mut points = SmallVec::new();
    for piece in plan.pieces(HOP_BYTES) {
        let block = HostBlock::new(piece.bytes())?;
        let (down, up) = piece.through_packed();
        of_a.transfer(Direction::Download, block.span(), a, &down, &**view_a.queue())?;
        points.extend(of_b.transfer(Direction::Upload, block.span(), b, &up, &**view_b.queue())?);
    }
    view_b.attach(points.iter().cloned());
    Ok(points)
}
