//! Tests of host devices: queues of jobs, copies, transfers and imported memory.

#![allow(unsafe_code)]

use super::*;
use crate::config::Config;
use crate::device::hazard::Timeline;
use crate::device::{Buffer, Device, Direction, Placement, Queue, Use};
use crate::error::ErrorKind;
use crate::error::{Error, Result};
use crate::geometry::CopyPlan;
use crate::geometry::Layout;
use crate::host::pool::ThreadPool;
use crate::host::threads::Tasks;
use crate::host::{HostBlock, HostSpan, Workers, strided};
use crate::kernel::Access;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn device() -> Arc<HostDevice> {
    HostDevice::new(HostKind::Threads, &Config::read(|_| None).0, Workers::new(2))
}

fn buffer(device: &HostDevice, bytes: u64) -> Arc<dyn Buffer> {
    device.allocate(bytes, Placement::Device, "test").unwrap()
}

fn whole_buffer_use(buffer: &Arc<dyn Buffer>, access: Access) -> Use {
    Use { buffer: Arc::clone(buffer), range: 0..buffer.size(), access }
}

fn span(bytes: &mut [u8]) -> HostSpan {
    // SAFETY: the tests keep the slice alive, and look at it only after the operation.
    unsafe { HostSpan::new(bytes.as_mut_ptr(), bytes.len() as u64) }
}

#[test]
fn jobs_run_in_order_and_points_are_reached() {
    let device = device();
    let queue = device.create_queue(false).unwrap();
    let (send, receive) = mpsc::channel();
    let points: Vec<_> = (0..100)
        .map(|i| {
            let send = send.clone();
            queue.run(&[], Box::new(move || send.send(i).map_err(|_| Error::internal("gone")))).unwrap()
        })
        .collect();
    assert!(points.windows(2).all(|p| p[0].value < p[1].value && p[0].sequence < p[1].sequence));
    assert!(points[50].wait(None).unwrap() && points[50].reached());
    assert!(queue.marker().unwrap().wait(None).unwrap());
    assert!(points.iter().all(|p| p.reached() && p.timeline.is_signalled(p.value)));
    assert_eq!(receive.try_iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
}

#[test]
fn work_starts_without_a_wait() {
    let device = device();
    let queue = device.create_queue(true).unwrap();
    for _ in 0..50 {
        let (send, receive) = mpsc::channel();
        queue.run(&[], Box::new(move || send.send(()).map_err(|_| Error::internal("gone")))).unwrap();
        receive.recv_timeout(Duration::from_secs(10)).unwrap();
    }
}

#[test]
fn a_marker_of_an_idle_queue_is_reached() {
    let queue = device().create_queue(true).unwrap();
    let marker = queue.marker().unwrap();
    assert!(marker.reached() && marker.wait(Some(Duration::ZERO)).unwrap());
}

#[test]
fn waits_with_timeout_do_not_overrun() {
    let queue = device().create_queue(true).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let point = queue
        .run(
            &[],
            Box::new(move || {
                while !seen.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            }),
        )
        .unwrap();
    let start = Instant::now();
    assert!(!point.wait(Some(Duration::ZERO)).unwrap());
    assert!(!point.wait(Some(Duration::from_millis(30))).unwrap());
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(30) && took < Duration::from_secs(5), "{took:?}");
    stop.store(true, Ordering::Relaxed);
    assert!(point.wait(Some(Duration::MAX)).unwrap());
}

/// Two queues get jobs on one buffer in turn. The jobs run in the order in which they were added.
#[test]
fn two_queues_are_ordered_by_the_buffers_they_share() {
    let device = device();
    let (a, b) = (device.create_queue(false).unwrap(), device.create_queue(true).unwrap());
    let (shared, other) = (buffer(&device, 64), buffer(&device, 64));
    let seen = Arc::new(parking_lot::Mutex::new(Vec::new()));
    for i in 0..200u32 {
        let queue = if i % 2 == 0 { &a } else { &b };
        let seen = Arc::clone(&seen);
        // Each job also uses a second buffer, in either order, and names one buffer twice.
        let mut uses = vec![
            whole_buffer_use(&shared, Access::ReadWrite),
            whole_buffer_use(&other, Access::Write),
            whole_buffer_use(&shared, Access::Read),
        ];
        if i % 3 == 0 {
            uses.reverse();
        }
        queue
            .run(
                &uses,
                Box::new(move || {
                    if i % 7 == 0 {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    seen.lock().push(i);
                    Ok(())
                }),
            )
            .unwrap();
    }
    a.marker().unwrap().wait(None).unwrap();
    b.marker().unwrap().wait(None).unwrap();
    assert_eq!(*seen.lock(), (0..200).collect::<Vec<_>>());
}

#[test]
fn independent_work_of_two_queues_overlaps() {
    let device = device();
    let (a, b) = (device.create_queue(true).unwrap(), device.create_queue(true).unwrap());
    let shared = buffer(&device, 64);
    let meet = Arc::new(std::sync::Barrier::new(2));
    let halves = [0..32, 32..64];
    for (queue, range) in [&a, &b].into_iter().zip(halves) {
        let meet = Arc::clone(&meet);
        let use_ = Use { buffer: Arc::clone(&shared), range, access: Access::Write };
        // The jobs end only if both run at once.
        queue
            .run(
                &[use_],
                Box::new(move || {
                    meet.wait();
                    Ok(())
                }),
            )
            .unwrap();
    }
    let done = [a, b].map(|q| q.marker().unwrap().wait(Some(Duration::from_secs(10))).unwrap());
    assert_eq!(done, [true, true]);
}

#[test]
fn concurrent_jobs_never_write_the_same_buffer() {
    let device = device();
    let queues: Vec<_> = (0..6).map(|_| device.create_queue(true).unwrap()).collect();
    let buffers: Vec<_> = (0..4).map(|_| buffer(&device, 64)).collect();
    let busy: Arc<Vec<AtomicBool>> = Arc::new((0..4).map(|_| AtomicBool::new(false)).collect());
    std::thread::scope(|s| {
        for t in 0..4usize {
            let (queues, buffers, busy) = (&queues, &buffers, &busy);
            s.spawn(move || {
                for i in 0..150 {
                    let (x, y) = ((i + t) % 4, (i * 3 + t * 2 + 1) % 4);
                    let uses = [
                        whole_buffer_use(&buffers[x], Access::Write),
                        whole_buffer_use(&buffers[y], Access::ReadWrite),
                    ];
                    let busy = Arc::clone(busy);
                    let ran = queues[(i + t) % 6].run(
                        &uses,
                        Box::new(move || {
                            // No other job uses a buffer that this job writes.
                            let mine = if x == y { vec![x] } else { vec![x, y] };
                            let free = mine.iter().all(|&b| !busy[b].swap(true, Ordering::AcqRel));
                            std::thread::yield_now();
                            mine.iter().for_each(|&b| busy[b].store(false, Ordering::Release));
                            if free { Ok(()) } else { Err(Error::internal("two writers at once")) }
                        }),
                    );
                    let point = ran.unwrap();
                    if i % 20 == 0 {
                        assert!(point.wait(None).unwrap());
                    }
                }
            });
        }
    });
    device.drain();
    for queue in &queues {
        queue.marker().unwrap().wait(None).unwrap();
    }
}

#[test]
fn points_report_failures_always_and_markers_once() {
    let queue = device().create_queue(true).unwrap();
    let ok = || -> crate::device::HostJob { Box::new(|| Ok(())) };
    let good = queue.run(&[], ok()).unwrap();
    let bad = queue.run(&[], Box::new(|| Err(Error::invalid("job two")))).unwrap();
    let after = queue.run(&[], ok()).unwrap();
    let marker = queue.marker().unwrap();
    assert!(after.wait(None).unwrap() && good.wait(None).unwrap());
    for _ in 0..2 {
        let e = marker.wait(None).unwrap_err();
        assert_eq!((e.kind, e.message.as_ref()), (ErrorKind::InvalidArgument, "job two"));
        assert!(bad.wait(None).is_err() && bad.reached());
    }
    // The failure was reported, so a later marker reports nothing.
    queue.run(&[], ok()).unwrap();
    assert!(queue.marker().unwrap().wait(None).unwrap());
    // A marker does not repeat a failure that the job's point has reported.
    let bad = queue.run(&[], Box::new(|| Err(Error::runtime("job five")))).unwrap();
    assert!(bad.wait(None).unwrap_err().message.contains("five"));
    assert!(queue.marker().unwrap().wait(None).unwrap());
    // Two failures: each of two markers reports one.
    for text in ["six", "seven"] {
        queue.run(&[], Box::new(move || Err(Error::runtime(text)))).unwrap();
    }
    let first = queue.marker().unwrap().wait(None).unwrap_err();
    queue.run(&[], ok()).unwrap();
    let second = queue.marker().unwrap().wait(None).unwrap_err();
    assert_eq!((first.message.as_ref(), second.message.as_ref()), ("six", "seven"));
}

#[test]
fn panics_of_jobs_are_errors_and_the_queue_goes_on() {
    let queue = device().create_queue(true).unwrap();
    let bad = queue.run(&[], Box::new(|| std::panic::resume_unwind(Box::new("on purpose")))).unwrap();
    let e = bad.wait(None).unwrap_err();
    assert!(e.kind == ErrorKind::Internal && e.message.contains("on purpose"), "{e}");
    assert!(queue.run(&[], Box::new(|| Ok(()))).unwrap().wait(None).unwrap());
}

#[test]
fn a_failed_job_does_not_fail_jobs_that_depend_on_it() {
    let device = device();
    let (a, b) = (device.create_queue(true).unwrap(), device.create_queue(true).unwrap());
    let shared = buffer(&device, 8);
    let (go, gone) = mpsc::channel::<()>();
    let bad = a
        .run(
            &[whole_buffer_use(&shared, Access::Write)],
            Box::new(move || {
                let _ = gone.recv();
                Err(Error::runtime("first"))
            }),
        )
        .unwrap();
    let next = b.run(&[whole_buffer_use(&shared, Access::Read)], Box::new(|| Ok(()))).unwrap();
    drop(go);
    assert!(next.wait(None).unwrap());
    // The marker and the point of the failed job still report the failure.
    assert!(a.marker().unwrap().wait(None).unwrap_err().message.contains("first"));
    assert!(bad.wait(None).is_err());
}

#[test]
fn copies_and_transfers_move_the_bytes_of_their_plans() {
    let device = device();
    let queue = device.create_queue(true).unwrap();
    for len in [1000u64, 5 << 20] {
        let (a, b) = (buffer(&device, len), buffer(&device, len));
        let mut data: Vec<u8> = (0..len).map(|i| (i * 31 % 251) as u8).collect();
        let plan = CopyPlan::linear(0, 0, len);
        assert!(device.transfer(Direction::Upload, span(&mut data), &a, &plan, &*queue).unwrap().is_empty());
        queue.copy(&a, &b, &plan).unwrap();
        let mut back = vec![0u8; len as usize];
        // A transfer does not wait for host threads, so the test waits for the copy first.
        b.tracker().wait_for_all(&(0..len), Access::Read).unwrap();
        let host = span(&mut back);
        device.transfer(Direction::Download, host, &b, &plan, &*queue).unwrap();
        assert!(host.to_vec() == data);
        // A strided copy within one buffer.
        let whole = Layout::packed(0, 4, &[10, 25]);
        let plan = CopyPlan::new(&whole.section(&[0, 0], &[5, 5]), &whole.section(&[5, 20], &[5, 5])).unwrap();
        queue.copy(&b, &b, &plan).unwrap().wait(None).unwrap();
        let after = b.host().unwrap().to_vec();
        for y in 0..5 {
            assert_eq!(after[(y + 5) * 100 + 80..][..20], data[y * 100..][..20]);
        }
        let e = queue.copy(&a, &b, &CopyPlan::linear(1, 0, len)).unwrap_err();
        assert!(e.message.contains(&len.to_string()), "{e}");
    }
}

#[test]
fn kernels_are_dispatched() {
    let device = device();
    let queue = device.create_queue(false).unwrap();
    let data = buffer(&device, 4000);
    let memory = data.host().unwrap();
    let fill: Arc<dyn HostKernel> = Arc::new(move |t: &ThreadId<'_>| -> Result<()> {
        let at = t.global()[0] as u64 * 4;
        memory.sub(at..at + 4)?.write(&t.global()[0].to_ne_bytes())
    });
    let pool = &device.workers().pool;
    let uses = [whole_buffer_use(&data, Access::Write)];
    let point = launch_host_kernel(&*queue, pool, &uses, Domain::new(&[1000]), Arc::clone(&fill), None).unwrap();
    assert!(point.wait(None).unwrap());
    let words: Vec<i32> = memory.to_vec().chunks(4).map(|c| i32::from_ne_bytes(c.try_into().unwrap())).collect();
    assert_eq!(words, (0..1000).collect::<Vec<_>>());
    let point = launch_host_kernel(&*queue, pool, &uses, Domain::new(&[0]), Arc::clone(&fill), None).unwrap();
    assert_eq!(point.wait(None).unwrap_err().kind, ErrorKind::InvalidComputeDomain);
    // Thread 1000 is outside: the kernel's own error arrives at the point.
    let point = launch_host_kernel(&*queue, pool, &uses, Domain::new(&[1001]), fill, None).unwrap();
    assert!(point.wait(None).unwrap_err().message.contains("4000"));
}

#[test]
fn the_cpu_accelerator_runs_no_kernels_and_always_shares_memory() {
    let (config, warnings) = Config::read(|n| (n == "REVAMP_MEMORY").then(|| "separate".into()));
    assert!(warnings.is_empty());
    let workers = Workers::new(1);
    let cpu = HostDevice::new(HostKind::Cpu, &config, workers.clone());
    let threads = HostDevice::new(HostKind::Threads, &config, workers);
    assert!(cpu.shares_memory() && !threads.shares_memory() && device().shares_memory());
    assert!(!cpu.runs_host_code() && threads.runs_host_code());
    assert!(buffer(&threads, 8).host().is_some() && buffer(&threads, 8).device_address().is_none());
    let queue = cpu.create_queue(true).unwrap();
    let kernel = Arc::new(|_: &ThreadId<'_>| -> Result<()> { Ok(()) });
    let e = launch_host_kernel(&*queue, &cpu.workers().pool, &[], Domain::new(&[1]), kernel, None).unwrap_err();
    assert_eq!((e.kind, e.hresult), (ErrorKind::Runtime, crate::error::E_INVALIDARG));
    assert!(
        e.message.contains(
            "concurrency::parallel_for_each is not supported on the selected accelerator \"CPU accelerator\"."
        )
    );
    let (a, b) = (buffer(&cpu, 100), buffer(&cpu, 100));
    a.host().unwrap().fill(3);
    queue.copy(&a, &b, &CopyPlan::linear(0, 0, 100)).unwrap().wait(None).unwrap();
    assert_eq!(b.host().unwrap().to_vec(), [3; 100]);
}

#[test]
fn failed_allocations_name_their_label() {
    let device = device();
    let e = device.allocate(1 << 60, Placement::Staging, "my array").err().unwrap();
    assert!(e.kind == ErrorKind::OutOfMemory && e.message.starts_with("my array"), "{e}");
    let (config, _) = Config::read(|n| (n == "REVAMP_TEST").then(|| "fail-alloc=2".into()));
    let device = HostDevice::new(HostKind::Threads, &config, Workers::new(1));
    let results: Vec<_> = (0..3).map(|_| device.allocate(8, Placement::Device, "").is_ok()).collect();
    assert_eq!(results, [true, false, true]);
}

#[test]
fn draining_waits_for_queues_that_were_dropped() {
    let device = device();
    let count = Arc::new(AtomicU64::new(0));
    for _ in 0..10 {
        let queue = device.create_queue(true).unwrap();
        for _ in 0..10 {
            let count = Arc::clone(&count);
            queue
                .run(
                    &[],
                    Box::new(move || {
                        std::thread::sleep(Duration::from_micros(300));
                        count.fetch_add(1, Ordering::Relaxed);
                        Ok(())
                    }),
                )
                .unwrap();
        }
    }
    device.drain();
    assert_eq!(count.load(Ordering::Relaxed), 100);
}

/// More queues wait for one queue than there are task threads. The work of all queues still gets done.
#[test]
fn more_waiting_queues_than_task_threads_make_progress() {
    let tasks = Arc::new(Tasks::with_limits(2, Duration::from_millis(100)));
    let workers = Workers { pool: Arc::new(ThreadPool::new(1)), tasks, callbacks: Arc::default() };
    let device = HostDevice::new(HostKind::Threads, &Config::read(|_| None).0, workers);
    let shared = buffer(&device, 8);
    let queues: Vec<_> = (0..8).map(|_| device.create_queue(true).unwrap()).collect();
    let count = Arc::new(AtomicU64::new(0));
    for i in 0..80u64 {
        let count = Arc::clone(&count);
        let job = Box::new(move || {
            let before = count.fetch_add(1, Ordering::Relaxed);
            if before == i { Ok(()) } else { Err(Error::internal("out of order")) }
        });
        queues[(i * 5 % 8) as usize].run(&[whole_buffer_use(&shared, Access::Write)], job).unwrap();
    }
    for queue in &queues {
        assert!(queue.marker().unwrap().wait(Some(Duration::from_secs(20))).unwrap());
    }
    assert_eq!(count.load(Ordering::Relaxed), 80);
}

#[test]
fn host_timelines_belong_to_no_device() {
    let queue = HostQueue::new(HostKind::Threads, Workers::new(1));
    assert_eq!(queue.timeline().device(), None);
    assert_eq!(queue.timeline().id(), queue.host_timeline().id());
    queue.timeline().flush(2).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn all_named_threads_of_the_library_block_signals() {
    let workers = Workers::new(3);
    workers.pool.parallel(64, &|_| std::thread::sleep(Duration::from_micros(100))).unwrap();
    let (hold, held) = mpsc::channel::<()>();
    workers.tasks.spawn(move || {
        let _ = held.recv();
    });
    // Threads get their names when they first run, which may take a while.
    let named = || {
        let mut found = 0;
        for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
            // Threads of other tests may end meanwhile.
            let Ok(status) = std::fs::read_to_string(task.path().join("status")) else { continue };
            // The test program itself is called revamp-<hash>.
            if !["Name:\trevamp-task", "Name:\trevamp-host"].iter().any(|n| status.starts_with(n)) {
                continue;
            }
            let line = status.lines().find_map(|l| l.strip_prefix("SigBlk:")).unwrap();
            let mask = u64::from_str_radix(line.trim(), 16).unwrap();
            let all = !(1u64 << 8 | 1 << 18 | 1 << 31 | 1 << 32);
            assert_eq!(mask & all, all, "{status}");
            found += 1;
        }
        found
    };
    let begin = Instant::now();
    while named() < 3 {
        assert!(begin.elapsed() < Duration::from_secs(60), "{}", named());
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(hold);
}

/// Prints times of jobs and copies. Run: `cargo test --release -- --ignored --nocapture figures`
#[test]
#[ignore = "prints figures"]
fn queue_figures() {
    let device = HostDevice::new(HostKind::Threads, &Config::read(|_| None).0, Workers::new(2));
    let queue = device.create_queue(true).unwrap();
    let median = |f: &mut dyn FnMut() -> f64| {
        let mut all: Vec<f64> = (0..9).map(|_| f()).collect();
        all.sort_by(f64::total_cmp);
        all[4]
    };
    let us = median(&mut || {
        let start = Instant::now();
        for _ in 0..2000 {
            queue.run(&[], Box::new(|| Ok(()))).unwrap().wait(None).unwrap();
        }
        start.elapsed().as_nanos() as f64 / 2e6
    });
    println!("empty job, added and waited for: {us:.2} us");
    let us = median(&mut || {
        let start = Instant::now();
        for _ in 0..2000 {
            queue.run(&[], Box::new(|| Ok(()))).unwrap();
        }
        queue.marker().unwrap().wait(None).unwrap();
        start.elapsed().as_nanos() as f64 / 2e6
    });
    println!("2000 empty jobs, one wait: {us:.2} us each");
    let len = 256u64 << 20;
    let (a, b) = (buffer(&device, len), buffer(&device, len));
    let plans = [
        ("linear", CopyPlan::linear(0, 0, len)),
        (
            "every second 4 bytes to packed",
            CopyPlan::new(
                &Layout { offset: 0, element: 4, dims: [(len / 8, 8)].into_iter().collect() },
                &Layout::packed(0, 4, &[len / 8]),
            )
            .unwrap(),
        ),
        (
            "rows of 1 KiB of 4",
            CopyPlan::new(
                &Layout::packed(0, 4, &[len / 4096, 1024]).section(&[0, 100], &[len / 4096, 256]),
                &Layout::packed(0, 4, &[len / 4096, 256]),
            )
            .unwrap(),
        ),
    ];
    let (from, to) = (a.host().unwrap(), b.host().unwrap());
    from.fill(1);
    to.fill(2);
    for (name, plan) in plans {
        for threads in [1, 2] {
            let pool = ThreadPool::new(threads);
            let gb = median(&mut || {
                let start = Instant::now();
                strided::copy_parallel(&pool, &plan, from, to).unwrap();
                plan.bytes() as f64 / start.elapsed().as_nanos() as f64
            });
            println!("copy {name}, {threads} threads: {gb:.1} GB/s of bytes moved");
        }
    }
    let ms = median(&mut || {
        let start = Instant::now();
        HostBlock::new(len).unwrap().span().fill(1);
        start.elapsed().as_nanos() as f64 / 1e6
    });
    println!("first touch of 256 MiB: {ms:.1} ms");
}

#[test]
fn imported_buffers_use_the_hosts_memory() {
    let device = device();
    let queue = device.create_queue(false).unwrap();
    let mut bytes = vec![1_u8; 100];
    let memory = span(&mut bytes[3..83]);
    let imported = device.import(memory, "test").unwrap().unwrap();
    assert_eq!((imported.size(), imported.base()), (80, 0));
    assert_eq!(imported.host().map(|s| s.address()), Some(memory.address()));
    let source_buffer = buffer(&device, 80);
    source_buffer.host().unwrap().fill(2);
    queue.copy(&source_buffer, &imported, &CopyPlan::linear(0, 10, 20)).unwrap();
    imported.tracker().wait_for_all(&(0..80), Access::Read).unwrap();
    let wanted: Vec<u8> = (0..100).map(|i| if (13..33).contains(&i) { 2 } else { 1 }).collect();
    assert_eq!(bytes, wanted);
}

#[test]
fn separate_memory_imports_nothing() {
    let config = Config::read(|name| (name == "REVAMP_MEMORY").then(|| "separate".into())).0;
    let mut bytes = [0_u8; 8];
    for (kind, imports) in [(HostKind::Threads, false), (HostKind::Cpu, true)] {
        let device = HostDevice::new(kind, &config, Workers::new(1));
        assert_eq!(device.import(span(&mut bytes), "test").unwrap().is_some(), imports, "{kind:?}");
    }
}
