//! Tests of imported host memory. They run the tests `child_...` in separate processes, because a process reads its
//! settings once.

use super::super::device::VulkanDevice;
use super::super::instance::instance;
use super::super::memory::VulkanBuffer;
use super::super::messages::{recent_validation_messages, validation_messages};
use super::super::physical::physical_devices;
use super::*;
use crate::config;
use crate::device::physical::DeviceType;
use crate::device::{BoundAs, BoundBuffer, Buffer, Device, Direction, Dispatch, Placement, Queue, Use};
use crate::geometry::{CopyDim, CopyPlan};
use crate::kernel::{Access, Module};
use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

const PAGE: usize = 4096;

proptest! {
    #[test]
    fn ranges_are_aligned_and_stay_in_touched_pages(words in 1u64..1 << 40, len in 1u64..1 << 40, shift in 0u32..17) {
        let (address, alignment) = (words * WORD, 1u64 << shift);
        let (start, end) = (address, address + len);
        match aligned_range(address, len, alignment, PAGE as u64) {
            Ok((base, size)) => {
                prop_assert!((start - base) % alignment == 0 && size % alignment == 0);
                prop_assert!(start - base + size >= end && base < alignment && size < base + len + alignment);
                let page = PAGE as u64;
                prop_assert!((start - base) / page == start / page);
                prop_assert!((start - base + size - 1) / page == (end - 1) / page);
            }
            Err(_) => prop_assert!(alignment > PAGE as u64 && (start % alignment != 0 || len % alignment != 0)),
        }
    }
}

#[test]
fn memory_that_cannot_be_imported_is_refused() {
    assert_eq!(aligned_range(8196, 8, 4096, 4096).unwrap(), (4, 4096));
    assert_eq!(aligned_range(8192 + 4092, 8, 4096, 4096).unwrap(), (4092, 8192));
    assert_eq!(aligned_range(1 << 16, 1 << 17, 1 << 16, 4096).unwrap(), (0, 1 << 17));
    for (address, len) in [(0, 4), (8192, 0), (8193, 8), (8194, 8), (u64::MAX - 3, 4), (8192, u64::MAX)] {
        assert!(aligned_range(address, len, 4096, 4096).is_err(), "{address} {len}");
    }
    assert!(aligned_range(1 << 16, (1 << 16) + 4096, 1 << 16, 4096).is_err());
}

/// Host memory filled with a pattern. `first`: the offset of its first page boundary.
struct Host {
    bytes: Vec<u8>,
    first: usize,
}

impl Host {
    fn new(pages: usize) -> Self {
        let bytes: Vec<u8> = (0..(pages + 1) * PAGE).map(|i| (i * 7 + i / 251) as u8).collect();
        let first = bytes.as_ptr().align_offset(PAGE);
        Self { bytes, first }
    }

    /// `len` bytes, beginning `at` bytes after the first page boundary.
    fn span(&mut self, at: usize, len: usize) -> HostSpan {
        let part = &mut self.bytes[self.first + at..][..len];
        // SAFETY: the tests keep the memory until the device is gone, and read it only while nothing else uses it.
        unsafe { HostSpan::new(part.as_mut_ptr(), len as u64) }
    }

    fn at(&self, at: usize, len: usize) -> &[u8] {
        &self.bytes[self.first + at..][..len]
    }
}

fn linear(source: u64, destination: u64, bytes: u64) -> CopyPlan {
    CopyPlan::linear(source, destination, bytes)
}

/// The usable devices under the current settings, each modified by `change`.
fn physicals(change: impl Fn(&mut Physical)) -> Vec<Physical> {
    let Ok(instance) = instance() else {
        println!("SKIPPED: no Vulkan here");
        return Vec::new();
    };
    let mut all = physical_devices(instance, config::get()).unwrap();
    all.retain(|p| p.usable.is_ok());
    all.iter_mut().for_each(change);
    all
}

/// Imports `span`. The import must succeed on CPU devices, and must return `None` on devices without unified memory. Prints the outcome.
fn import(device: &VulkanDevice, p: &Physical, span: HostSpan) -> Option<Arc<dyn Buffer>> {
    let made = device.import(span, "test").unwrap();
    if !p.memory_types.unified || p.limits.import_alignment == 0 {
        assert!(made.is_none(), "{} has no memory to share", p.name);
    } else if p.device_type == DeviceType::Cpu {
        assert!(made.is_some(), "{} shares all memory", p.name);
    }
    println!("{}: {}", p.name, if made.is_some() { "IMPORTED" } else { "NOT IMPORTED" });
    made
}

fn whole(buffer: &Arc<dyn Buffer>, access: Access) -> Use {
    Use { buffer: buffer.clone(), range: 0..buffer.size(), access }
}

fn kernel() -> Arc<Module> {
    let source = "#version 460
        #extension GL_EXT_buffer_reference : require
        layout(local_size_x = 64) in;
        layout(set = 0, binding = 0) readonly buffer In { uint v[]; } from;
        layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out { uint v[]; };
        layout(push_constant) uniform Push { Out to; uint n; } p;
        void main() {
            uint i = gl_GlobalInvocationID.x;
            if (i < p.n) p.to.v[i] = from.v[i] * 3u + 1u;
        }";
    let mut glslc = Command::new("glslc")
        .args(["-fshader-stage=compute", "--target-env=vulkan1.2", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    glslc.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = glslc.wait_with_output().unwrap();
    assert!(output.status.success());
    Arc::new(Module::new(&output.stdout, None).unwrap())
}

/// Tests copies to and from imports, linear and strided, and a copy between two imports that share a page.
fn copies(device: &VulkanDevice, p: &Physical, queue: &dyn Queue) {
    let mut host = Host::new(6);
    let before = host.at(0, 6 * PAGE).to_vec();
    // Both spans include bytes of the page at 2 * PAGE.
    let (at, len) = (1004, 8192);
    let (at2, len2) = (at + len, 6000);
    let span = host.span(at, len);
    let Some(first) = import(device, p, span) else { return };
    let second = import(device, p, host.span(at2, len2)).unwrap();
    assert_eq!(first.host().map(|s| (s.address(), s.len())), Some((span.address(), len as u64)));
    assert_eq!((first.size(), first.base() % 4096, second.base() % 4096), (len as u64, 1004, 1004));
    assert_eq!(first.device_address().unwrap() % 4, 0);

    let device_buffer = device.allocate(len as u64, Placement::Device, "test").unwrap();
    let pattern: Vec<u8> = (0..len).map(|i| (i * 13 + 5) as u8).collect();
    let mut copy = pattern.clone();
    // SAFETY: `copy` lives to the end of this function, and nobody else uses it.
    let copy = unsafe { HostSpan::new(copy.as_mut_ptr(), len as u64) };
    device.transfer(Direction::Upload, copy, &device_buffer, &linear(0, 0, len as u64), queue).unwrap();

    // Device to host, host to host over the shared page, and device to host with strides. Only the last copy is waited for.
    let mut wanted = before;
    queue.copy(&device_buffer, &first, &linear(16, 8, 8000)).unwrap();
    wanted[at + 8..at + 8008].copy_from_slice(&pattern[16..8016]);
    queue.copy(&first, &second, &linear(8, 20, 4000)).unwrap();
    wanted.copy_within(at + 8..at + 4008, at2 + 20);
    let strided = CopyPlan {
        dims: [CopyDim { count: 40, source: 32, destination: 48 }].into_iter().collect(),
        ..linear(64, 4040, 16)
    };
    let last = queue.copy(&device_buffer, &second, &strided).unwrap();
    for i in 0..40 {
        wanted[at2 + 4040 + 48 * i..][..16].copy_from_slice(&pattern[64 + 32 * i..][..16]);
    }
    last.wait(None).unwrap();
    first.tracker().wait(&(0..len as u64), Access::Write).unwrap();
    assert_eq!(host.at(0, 6 * PAGE), wanted, "{}", p.name);

    let back = queue.copy(&second, &device_buffer, &linear(4, 0, 5996)).unwrap();
    back.wait(None).unwrap();
    device.transfer(Direction::Download, copy, &device_buffer, &linear(0, 0, 5996), queue).unwrap();
    assert_eq!(copy.to_vec()[..5996], wanted[at2 + 4..at2 + 6000]);

    // A transfer writes directly into the span.
    device.transfer(Direction::Upload, copy, &first, &linear(0, 100, 500), queue).unwrap();
    assert_eq!(host.at(at + 100, 500), &copy.to_vec()[..500]);
}

/// Tests a kernel that reads one import through a binding, and writes another import through the import's address.
fn kernels(device: &VulkanDevice, p: &Physical, queue: &dyn Queue) {
    let n = 2000_u32;
    let (from, to) = (PAGE + 256, 4 * PAGE + 36);
    let bytes = n as usize * 4;
    let mut host = Host::new(8);
    let Some(source) = import(device, p, host.span(from - 256, bytes + 256)) else { return };
    let destination = import(device, p, host.span(to, bytes)).unwrap();
    let unaligned = import(device, p, host.span(from + 12, 64)).unwrap();
    assert_eq!((source.base(), destination.base(), unaligned.base()), (0, 36, 268));
    drop(unaligned);
    let offset = import(device, p, host.span(from, bytes)).unwrap();
    assert_eq!(offset.base(), 256);

    let mut wanted = host.at(0, 8 * PAGE).to_vec();
    for i in 0..n as usize {
        let v = u32::from_ne_bytes(wanted[from + 4 * i..][..4].try_into().unwrap());
        wanted[to + 4 * i..][..4].copy_from_slice(&v.wrapping_mul(3).wrapping_add(1).to_ne_bytes());
    }
    let kernel = device.load(&kernel(), "test").unwrap();
    // The kernel runs twice. Its input is first a section of a buffer, then a buffer that begins within a page.
    let section = Use { buffer: source.clone(), range: 256..256 + bytes as u64, access: Access::Read };
    for bound in [section, whole(&offset, Access::Read)] {
        assert!(wanted != host.at(0, 8 * PAGE));
        let mut push = destination.device_address().unwrap().to_ne_bytes().to_vec();
        push.extend_from_slice(&n.to_ne_bytes());
        let point = queue.dispatch(&Dispatch {
            after: &[],
            kernel: &*kernel,
            spec: &Vec::new(),
            bindings: &[BoundBuffer { set: 0, binding: 0, element: 0, bound_as: BoundAs::Storage, bound }],
            images: &[],
            uses: &[whole(&destination, Access::Write)],
            push: &push,
            block: None,
            groups: [u64::from(n).div_ceil(64), 1, 1],
        });
        point.unwrap().wait(None).unwrap();
        assert!(wanted == host.at(0, 8 * PAGE), "{}", p.name);
        destination.host().unwrap().fill(0);
    }
}

#[test]
#[ignore = "run by the tests below"]
fn child_uses_imports() {
    for p in physicals(|_| {}) {
        let device = VulkanDevice::open(&p).unwrap();
        let queue = device.create_queue(false).unwrap();
        copies(&device, &p, &*queue);
        kernels(&device, &p, &*queue);
        let mut host = Host::new(1);
        assert!(device.import(host.span(18, 64), "test").unwrap().is_none(), "no kernel could use it");
        assert!(device.import(host.span(16, 0), "test").unwrap().is_none());
    }
    assert_eq!(validation_messages(), 0, "{:?}", recent_validation_messages());
}

#[test]
#[ignore = "run by the tests below"]
fn child_heeds_limits() {
    let mut host = Host::new(48);
    for p in physicals(|p| p.limits.max_allocations = 4) {
        let device = VulkanDevice::open(&p).unwrap();
        let Some(first) = import(&device, &p, host.span(0, 64)) else { continue };
        let second = device.import(host.span(64, 64), "test").unwrap();
        assert!(second.is_some());
        assert!(device.import(host.span(128, 64), "test").unwrap().is_none());
        drop(first);
        assert!(device.import(host.span(128, 64), "test").unwrap().is_some());
    }
    // If a device requires an alignment of more than a page, pages that the span does not touch must not be imported.
    for p in physicals(|p| p.limits.import_alignment = p.limits.import_alignment.max(1 << 16)) {
        let device = VulkanDevice::open(&p).unwrap();
        let first = host.at(0, 1).as_ptr().align_offset(1 << 16);
        assert!(device.import(host.span(first, PAGE), "test").unwrap().is_none());
        assert!(device.import(host.span(first + 64, 1 << 16), "test").unwrap().is_none());
        import(&device, &p, host.span(first, 1 << 16));
    }
    for p in physicals(|p| p.limits.max_allocation = 4 * PAGE as u64) {
        let device = VulkanDevice::open(&p).unwrap();
        assert!(device.import(host.span(64, 4 * PAGE), "test").unwrap().is_none());
        import(&device, &p, host.span(0, 4 * PAGE));
    }
    // These imports fail only after the buffer was created. The validation layer would report a leaked buffer.
    for p in physicals(|p| p.memory.memory_types = Default::default()) {
        let device = VulkanDevice::open(&p).unwrap();
        assert!(device.import(host.span(0, 64), "test").unwrap().is_none());
    }
    assert_eq!(validation_messages(), 0, "{:?}", recent_validation_messages());
}

#[test]
#[ignore = "run by the tests below"]
fn child_loses_its_device() {
    if let Some(p) = physicals(|_| {}).first() {
        let device = VulkanDevice::open(p).unwrap();
        let queue = device.create_queue(true).unwrap();
        let mut host = Host::new(1);
        let device_buffer = device.allocate(64, Placement::Device, "test").unwrap();
        assert!(queue.copy(&device_buffer, &device_buffer, &linear(0, 32, 16)).is_err());
        assert!(device.lost().is_some() && device.import(host.span(0, 64), "test").is_err());
    }
}

#[test]
#[ignore = "run by the tests below"]
fn child_labels_a_buffer() {
    for p in physicals(|_| {}) {
        let device = VulkanDevice::open(&p).unwrap();
        let buffer = device.allocate(1 << 20, Placement::Device, "test").unwrap();
        buffer.set_label("the label of a buffer");
        let vulkan = buffer.as_any().downcast_ref::<VulkanBuffer>().unwrap();
        let info = vk::BufferViewCreateInfo::default().buffer(vulkan.raw).format(vk::Format::R32_UINT).range(1024);
        // SAFETY: invalid on purpose: the buffer lacks the usage for such views, so the layer reports it by its label. Drivers tolerate it.
        unsafe {
            let view = vulkan.core.raw.create_buffer_view(&info, None).unwrap();
            vulkan.core.raw.destroy_buffer_view(view, None);
        }
        println!("LABELS: {} {:?}", vulkan.core.names.is_some(), recent_validation_messages());
    }
}

/// Runs a child with these environment variables and returns its output.
fn child(name: &str, variables: &[(&str, &str)]) -> String {
    let name = format!("device::vulkan::import::tests::{name}");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &name, "--ignored", "--nocapture", "--test-threads=1"]);
    for v in config::VARIABLES {
        command.env_remove(v.name);
    }
    let output = command.env("REVAMP_CACHE", "off").envs(variables.iter().copied()).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    println!("{text}");
    text
}

#[test]
fn imports_share_the_bytes_of_the_host() {
    child("child_uses_imports", &[]);
}

#[test]
fn imports_are_clean_under_validation() {
    for copy in ["copy=buffer", "copy=kernel", "copy=lane"] {
        child("child_uses_imports", &[("REVAMP_VALIDATION", "2"), ("REVAMP_TEST", copy)]);
    }
}

#[test]
fn separate_memory_imports_nothing() {
    let text = child("child_uses_imports", &[("REVAMP_MEMORY", "separate")]);
    assert!(!text.contains(": IMPORTED"), "{text}");
}

#[test]
fn imports_heed_limits() {
    child("child_heeds_limits", &[("REVAMP_VALIDATION", "2")]);
}

#[test]
fn a_lost_device_is_an_error() {
    child("child_loses_its_device", &[("REVAMP_TEST", "lose-device=1")]);
}

#[test]
fn the_validation_layer_knows_the_labels_of_buffers() {
    let text = child("child_labels_a_buffer", &[("REVAMP_VALIDATION", "1")]);
    assert!(!text.contains("LABELS: true") || text.contains("the label of a buffer"), "{text}");
}
