//! Tests of kernels on host threads: domains, tiles, barriers, errors and panics.

use super::super::domain::MAX_DOMAIN_THREADS;
use super::*;
use crate::error::ErrorKind;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

fn kernel<F: Fn(&ThreadId<'_>) -> Result<()> + Send + Sync>(f: F) -> F {
    f
}

fn linear(index: &[i32], extent: &[i32]) -> usize {
    index.iter().zip(extent).fold(0, |a, (&i, &e)| {
        assert!((0..e).contains(&i));
        a * e as usize + i as usize
    })
}

/// Runs a kernel over the domain, and checks that every thread ran once, with consistent indices.
fn check_coverage(pool: &ThreadPool, domain: &Domain, wait: bool) {
    let total = domain.check().unwrap();
    let seen: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(0)).collect();
    let run = kernel(|t| {
        assert_eq!(t.rank(), domain.extent.len());
        seen[linear(t.global(), &domain.extent)].fetch_add(1, Ordering::Relaxed);
        if let Some(tile) = &domain.tile {
            for d in 0..t.rank() {
                assert_eq!(t.tile_origin()[d], t.tile()[d] * tile[d]);
                assert_eq!(t.global()[d], t.tile_origin()[d] + t.local()[d]);
                assert!((0..tile[d]).contains(&t.local()[d]));
            }
        } else {
            assert!(t.local().is_empty() && t.tile().is_empty() && t.tile_origin().is_empty());
        }
        if wait { t.barrier() } else { Ok(()) }
    });
    execute(pool, domain, &run).unwrap();
    assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 1), "{domain:?}");
}

#[test]
fn untiled_domains_run_every_thread_once() {
    for threads in [1, 2, 4] {
        let pool = ThreadPool::new(threads);
        for extent in
            [&[1][..], &[7], &[100_003], &[3, 5, 7], &[1, 1, 1, 1, 5], &[65537, 8], &[2, 65537], &[9, 1, 11, 13, 2]]
        {
            check_coverage(&pool, &Domain::new(extent), false);
        }
    }
}

#[test]
fn rank_128_runs() {
    let mut extent = vec![1; 128];
    (extent[0], extent[64], extent[126], extent[127]) = (3, 5, 2, 7);
    check_coverage(&ThreadPool::new(2), &Domain::new(&extent), false);
}

#[test]
fn tiled_domains_run_every_thread_once() {
    let pool = ThreadPool::new(3);
    let domains: [(&[i32], &[i32]); 8] = [
        (&[1], &[1]),
        (&[4096], &[1024]),
        (&[999], &[9]),
        (&[48, 80], &[16, 16]),
        (&[6, 10, 14], &[2, 5, 7]),
        (&[64, 4, 4], &[64, 4, 4]),
        (&[1024, 3], &[1024, 1]),
        (&[5, 2048], &[1, 1024]),
    ];
    for (extent, tile) in domains {
        check_coverage(&pool, &Domain::tiled(extent, tile, 0), false);
        check_coverage(&pool, &Domain::tiled(extent, tile, 0), true);
    }
    check_coverage(&pool, &Domain::tiled(&[65535 * 4], &[4], 0), false);
}

#[test]
fn bad_domains_are_errors_that_name_the_numbers() {
    let error = |extent: &[i32], tile: Option<&[i32]>| {
        let domain = tile.map_or(Domain::new(extent), |t| Domain::tiled(extent, t, 0));
        let e = execute(&ThreadPool::new(1), &domain, &kernel(|_| Ok(()))).unwrap_err();
        assert_eq!(e.kind, ErrorKind::InvalidComputeDomain);
        e.message.to_string()
    };
    let has = |text: String, words: &[&str]| {
        for word in words {
            assert!(text.contains(word), "{text:?} lacks {word:?}");
        }
    };
    has(error(&[], None), &["rank 0"]);
    has(error(&[3, 0, 5], None), &["(3, 0, 5)", "dimension 1"]);
    has(error(&[-7], None), &["-7"]);
    has(error(&[65536, 65536], None), &["(65536, 65536)", "4294967296", "4294967295"]);
    has(error(&[i32::MAX; 3], None), &["2^64"]);
    has(error(&[2; 128], None), &["2^64", "..."]);
    has(error(&[10], Some(&[4])), &["10", "4", "pad"]);
    has(error(&[8, 9], Some(&[4, 2])), &["(8, 9)", "dimension 1", "9", "2"]);
    has(error(&[8, 8], Some(&[8])), &["rank 1", "rank 2"]);
    has(error(&[2, 2, 2, 2], Some(&[1, 1, 1, 1])), &["rank 4", "1 to 3"]);
    has(error(&[8], Some(&[])), &["rank 0"]);
    has(error(&[2048], Some(&[2048])), &["2048", "1024"]);
    has(error(&[64, 64], Some(&[64, 64])), &["(64, 64)", "4096", "1024"]);
    has(error(&[8], Some(&[0])), &["(0)"]);
    has(error(&[8], Some(&[-1])), &["(-1)"]);
    // Exactly the limit.
    for extent in [&[65537, 65535][..], &[286_331_153, 5, 3]] {
        assert_eq!(Domain::new(extent).check().unwrap(), MAX_DOMAIN_THREADS);
    }
}

/// Runs all 2^32-1 threads of the largest domain, a row at a time, like a C++ kernel.
#[test]
fn the_largest_domain_runs() {
    struct Rows(AtomicU64);
    impl HostKernel for Rows {
        fn run(&self, _: &ThreadId<'_>) -> Result<()> {
            Ok(())
        }
        fn run_row(&self, _: &mut ThreadId<'_>, count: u32) -> Result<()> {
            self.0.fetch_add(u64::from(count), Ordering::Relaxed);
            Ok(())
        }
    }
    for extent in [&[65537, 65535][..], &[286_331_153, 5, 3]] {
        if extent.len() == 3 && cfg!(debug_assertions) {
            continue; // 1.4e9 short rows
        }
        let rows = Rows(AtomicU64::new(0));
        execute(&ThreadPool::new(2), &Domain::new(extent), &rows).unwrap();
        assert_eq!(rows.0.into_inner(), MAX_DOMAIN_THREADS);
    }
}

/// Word `at` of the tile's memory.
fn word<'a>(t: &'a ThreadId<'_>, at: usize) -> &'a AtomicI64 {
    let memory = t.tile_memory();
    assert!((at + 1) * 8 <= memory.len() as usize && memory.address() % 64 == 0);
    #[allow(unsafe_code)]
    // SAFETY: inside the tile's memory, which lives as long as the thread; atomics allow concurrent access.
    unsafe {
        &*memory.as_ptr().cast::<AtomicI64>().add(at)
    }
}

#[test]
fn tiles_reduce_with_barriers() {
    let pool = ThreadPool::new(3);
    for (tile, tiles) in [(64, 100), (256, 40), (1024, 12)] {
        let sums: Vec<AtomicI64> = (0..tiles).map(|_| AtomicI64::new(0)).collect();
        let reduce = kernel(|t| {
            let i = t.local()[0] as usize;
            word(t, i).store(i64::from(t.global()[0]), Ordering::Relaxed);
            t.barrier()?;
            let mut half = tile / 2;
            while half > 0 {
                if i < half {
                    word(t, i).fetch_add(word(t, i + half).load(Ordering::Relaxed), Ordering::Relaxed);
                }
                t.barrier()?;
                half /= 2;
            }
            if i == 0 {
                sums[t.tile()[0] as usize].store(word(t, 0).load(Ordering::Relaxed), Ordering::Relaxed);
            }
            Ok(())
        });
        let extent = (tile * tiles) as i32;
        execute(&pool, &Domain::tiled(&[extent], &[tile as i32], tile * 8), &reduce).unwrap();
        for (n, sum) in sums.iter().enumerate() {
            let first = (n * tile) as i64;
            let expected: i64 = (first..first + tile as i64).sum();
            assert_eq!(sum.load(Ordering::Relaxed), expected);
        }
    }
}

#[test]
fn tiles_transpose() {
    const N: usize = 96;
    let out: Vec<AtomicI64> = (0..N * N).map(|_| AtomicI64::new(-1)).collect();
    let transpose = kernel(|t| {
        let (y, x) = (t.local()[0] as usize, t.local()[1] as usize);
        let from = t.global()[0] as usize * N + t.global()[1] as usize;
        word(t, y * 16 + x).store(from as i64, Ordering::Relaxed);
        t.barrier()?;
        let to = (t.tile_origin()[1] as usize + y) * N + t.tile_origin()[0] as usize + x;
        out[to].store(word(t, x * 16 + y).load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    });
    execute(&ThreadPool::new(2), &Domain::tiled(&[N as i32, N as i32], &[16, 16], 16 * 16 * 8), &transpose).unwrap();
    for y in 0..N {
        for x in 0..N {
            assert_eq!(out[y * N + x].load(Ordering::Relaxed), (x * N + y) as i64);
        }
    }
}

#[test]
fn barriers_separate_phases_in_three_dimensions() {
    let phases = kernel(|t| {
        let count = word(t, 0);
        if t.local() == [0, 0, 0] {
            count.store(0, Ordering::Relaxed);
        }
        for phase in 1..=5 {
            t.barrier()?;
            count.fetch_add(1, Ordering::Relaxed);
            t.barrier()?;
            assert_eq!(count.load(Ordering::Relaxed), phase * 4 * 6 * 8);
        }
        Ok(())
    });
    execute(&ThreadPool::new(2), &Domain::tiled(&[8, 12, 16], &[4, 6, 8], 8), &phases).unwrap();
}

#[test]
fn divergent_barriers_neither_hang_nor_lose_threads() {
    let pool = ThreadPool::new(2);
    for pick in [0usize, 1, 2, 3, 4] {
        let ended = AtomicU64::new(0);
        let divergent = kernel(|t| {
            let i = t.local()[0];
            let waits = match pick {
                0 => i32::from(i != 0),
                1 => i32::from(i == 0),
                2 => i % 5,
                3 => i32::from(i == 31),
                _ => 31 - i,
            };
            for _ in 0..waits {
                t.barrier()?;
            }
            ended.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        execute(&pool, &Domain::tiled(&[32 * 20], &[32], 0), &divergent).unwrap();
        assert_eq!(ended.into_inner(), 640);
    }
}

/// Threads that have not started when the first thread waits still take part in that barrier.
#[test]
fn late_starters_meet_the_barrier() {
    let late = kernel(|t| {
        let i = t.local()[0];
        if i == 0 {
            word(t, 0).store(0, Ordering::Relaxed);
            return Ok(());
        }
        word(t, 0).fetch_add(1, Ordering::Relaxed);
        t.barrier()?;
        assert_eq!(word(t, 0).load(Ordering::Relaxed), 15);
        Ok(())
    });
    execute(&ThreadPool::new(2), &Domain::tiled(&[160], &[16], 8), &late).unwrap();
}

#[test]
fn a_barrier_without_tiles_is_an_error() {
    for heed in [true, false] {
        let wrong = kernel(|t| {
            let r = t.barrier();
            if heed { r } else { Ok(()) }
        });
        let e = execute(&ThreadPool::new(2), &Domain::new(&[1000]), &wrong).unwrap_err();
        assert!(e.kind == ErrorKind::Runtime && e.message.contains("without tiles"), "{e}");
    }
}

#[test]
fn a_thread_fails_the_launch_with_its_first_error() {
    for domain in [Domain::new(&[1000]), Domain::tiled(&[1024], &[64], 0)] {
        let failing = kernel(|t| {
            if t.global()[0] == 77 {
                t.fail(Error::runtime("first"));
                t.fail(Error::runtime("second"));
            }
            Ok(())
        });
        let e = execute(&ThreadPool::new(2), &domain, &failing).unwrap_err();
        assert!(e.kind == ErrorKind::Runtime && e.message == "first", "{e}");
    }
}

#[test]
fn errors_and_panics_end_the_launch() {
    let pool = ThreadPool::new(2);
    let domains = [Domain::new(&[100_000]), Domain::tiled(&[102_400], &[64], 8)];
    for domain in &domains {
        for at in [0, 77, 99_999] {
            let e = execute(
                &pool,
                domain,
                &kernel(|t| {
                    if t.is_tiled() {
                        t.barrier()?;
                    }
                    if t.global()[0] == at { Err(Error::invalid(format!("thread {at}"))) } else { Ok(()) }
                }),
            )
            .unwrap_err();
            assert_eq!((e.kind, e.message.as_ref()), (ErrorKind::InvalidArgument, &*format!("thread {at}")));
            let e = execute(
                &pool,
                domain,
                &kernel(|t| {
                    if t.is_tiled() && t.local()[0] % 2 == 0 {
                        t.barrier()?;
                    }
                    if t.global()[0] == at {
                        std::panic::resume_unwind(Box::new("kernel thread"));
                    }
                    Ok(())
                }),
            )
            .unwrap_err();
            assert!(e.message.contains("panicked: kernel thread"), "{e}");
        }
        check_coverage(&pool, domain, false);
    }
}

/// A panic with a message fits on the stack of a tile's thread, even with a backtrace if the environment asks for one.
#[test]
fn ordinary_panics_fit_on_a_fibre() {
    let e = execute(
        &ThreadPool::new(1),
        &Domain::tiled(&[64], &[64], 0),
        &kernel(|t| {
            t.barrier()?;
            assert_ne!(t.local()[0], 5, "five");
            Ok(())
        }),
    )
    .unwrap_err();
    assert!(e.message.contains("five"), "{e}");
}

#[test]
fn kernels_may_launch_kernels() {
    let pool = ThreadPool::new(2);
    let sum = AtomicU64::new(0);
    let outer = kernel(|t| {
        word(t, 0).store(i64::from(t.tile()[0]), Ordering::Relaxed);
        t.barrier()?;
        let inner = kernel(|u| {
            word(u, 0).store(-1, Ordering::Relaxed);
            u.barrier()?;
            sum.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        execute(&pool, &Domain::tiled(&[16], &[8], 8), &inner)?;
        t.barrier()?;
        assert_eq!(word(t, 0).load(Ordering::Relaxed), i64::from(t.tile()[0]));
        Ok(())
    });
    execute(&pool, &Domain::tiled(&[16], &[4], 8), &outer).unwrap();
    assert_eq!(sum.into_inner(), 256);
}

#[test]
fn concurrent_launches_run_every_thread_once() {
    let pool = ThreadPool::new(3);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for n in 1..20 {
                    check_coverage(&pool, &Domain::tiled(&[n * 64], &[64], 0), true);
                    check_coverage(&pool, &Domain::new(&[n * 97]), false);
                }
            });
        }
    });
}

/// More tiles run at once than the process may have stacks for, so they wait for each other's stacks. Run it also with `ulimit -v`.
#[test]
#[ignore = "takes most of the mappings a process may have"]
fn tiles_share_scarce_stacks() {
    let ended = AtomicU64::new(0);
    let hold = kernel(|t| {
        t.barrier()?;
        if t.local()[0] == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        t.barrier()?;
        ended.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    execute(&ThreadPool::new(40), &Domain::tiled(&[1024 * 400], &[1024], 0), &hold).unwrap();
    assert_eq!(ended.into_inner(), 1024 * 400);
    fibre::trim();
}

/// Prints times of launches and barriers. Run: `cargo test --release -- --ignored --nocapture figures`
#[test]
#[ignore = "prints figures"]
fn figures() {
    let median = |mut f: Box<dyn FnMut() -> f64>| {
        let mut all: Vec<f64> = (0..9).map(|_| f()).collect();
        all.sort_by(f64::total_cmp);
        all[4]
    };
    for threads in [1, 2] {
        let pool = std::sync::Arc::new(ThreadPool::new(threads));
        let p = pool.clone();
        let n = 1 << 22;
        let data: std::sync::Arc<Vec<AtomicU32>> = std::sync::Arc::new((0..n).map(|_| AtomicU32::new(0)).collect());
        let d = data.clone();
        let ns = median(Box::new(move || {
            let k = kernel(|t| {
                d[t.global()[0] as usize].store(1, Ordering::Relaxed);
                Ok(())
            });
            // Not inlined, like a call through a C function pointer.
            let k: &dyn HostKernel = std::hint::black_box(&k);
            let start = Instant::now();
            execute(&p, &Domain::new(&[n]), k).unwrap();
            start.elapsed().as_nanos() as f64 / f64::from(n)
        }));
        println!("{threads} threads: untiled, Rust closure: {ns:.2} ns an element");
        struct Opaque<F>(F);
        impl<F: Fn(&ThreadId<'_>) + Send + Sync> HostKernel for Opaque<F> {
            fn run(&self, t: &ThreadId<'_>) -> Result<()> {
                let f: &dyn Fn(&ThreadId<'_>) = std::hint::black_box(&self.0);
                f(t);
                Ok(())
            }
        }
        let p = pool.clone();
        let d = data.clone();
        let ns = median(Box::new(move || {
            let k = Opaque(|t: &ThreadId<'_>| d[t.global()[0] as usize].store(1, Ordering::Relaxed));
            let start = Instant::now();
            execute(&p, &Domain::new(&[n]), &k).unwrap();
            start.elapsed().as_nanos() as f64 / f64::from(n)
        }));
        println!("{threads} threads: untiled, call through a pointer: {ns:.2} ns an element");
        let p = pool.clone();
        let ns = median(Box::new(move || {
            let k = kernel(|t| {
                std::hint::black_box(t.local()[0]);
                Ok(())
            });
            let start = Instant::now();
            execute(&p, &Domain::tiled(&[n], &[256], 0), &k).unwrap();
            start.elapsed().as_nanos() as f64 / f64::from(n)
        }));
        println!("{threads} threads: tiled 256 without barrier: {ns:.2} ns a thread");
        for tile in [64, 256, 1024] {
            let p = pool.clone();
            let ns = median(Box::new(move || {
                let k = kernel(|t| {
                    for _ in 0..200 {
                        t.barrier()?;
                    }
                    Ok(())
                });
                let start = Instant::now();
                execute(&p, &Domain::tiled(&[tile * 16], &[tile], 0), &k).unwrap();
                start.elapsed().as_nanos() as f64 / f64::from(tile) / 16.0 / 200.0
            }));
            println!("{threads} threads: tile {tile}: {ns:.2} ns a thread and barrier (wall)");
            let p = pool.clone();
            let ns = median(Box::new(move || {
                let k = kernel(|t| t.barrier());
                let start = Instant::now();
                execute(&p, &Domain::tiled(&[tile * 256], &[tile], 0), &k).unwrap();
                start.elapsed().as_nanos() as f64 / f64::from(tile) / 256.0
            }));
            println!("{threads} threads: tile {tile}: {ns:.2} ns to start, meet once and end a thread (wall)");
        }
        let p = pool.clone();
        let us = median(Box::new(move || {
            let start = Instant::now();
            for _ in 0..1000 {
                p.parallel(2, &|i| {
                    std::hint::black_box(i);
                })
                .unwrap();
            }
            start.elapsed().as_nanos() as f64 / 1e6
        }));
        println!("{threads} threads: parallel loop of 2 empty chunks: {us:.2} us");
        if threads == 2 {
            let p = pool.clone();
            let us = median(Box::new(move || {
                let start = Instant::now();
                for _ in 0..1000 {
                    // Ends only when both threads are inside.
                    let inside = AtomicU32::new(0);
                    p.parallel(2, &|_| {
                        inside.fetch_add(1, Ordering::Relaxed);
                        while inside.load(Ordering::Relaxed) < 2 {
                            std::hint::spin_loop();
                        }
                    })
                    .unwrap();
                }
                start.elapsed().as_nanos() as f64 / 1e6
            }));
            println!("{threads} threads: parallel loop in which both threads meet: {us:.2} us");
        }
        let p = pool.clone();
        let us = median(Box::new(move || {
            let start = Instant::now();
            for _ in 0..1000 {
                execute(&p, &Domain::new(&[64]), &kernel(|_| Ok(()))).unwrap();
            }
            start.elapsed().as_nanos() as f64 / 1e6
        }));
        println!("{threads} threads: launch of 64 empty threads: {us:.2} us");
    }
}
