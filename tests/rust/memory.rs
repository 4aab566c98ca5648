//! Tests that allocations whose size depends on the caller fail with an out-of-memory error, and that the process continues. The test
//! runs in a child process, because it limits the memory of its process.
#![allow(unsafe_code, clippy::unwrap_used, clippy::panic)]

use revamp::error::ErrorKind;
use revamp::kernel::Module;
use std::process::Command;

/// A module of about 6 MB with names, types, constants, decorations and loads.
fn module() -> Vec<u8> {
    const N: u32 = 60_000;
    let op = |len: u32, opcode: u32| len << 16 | opcode;
    let mut words = vec![0x0723_0203, 0x1_0300, 0, 0x3f_0000, 0, op(2, 17), 1, op(3, 14), 0, 1];
    words.extend([op(5, 15), 5, 10, u32::from_le_bytes(*b"main"), 0, op(6, 16), 10, 17, 1, 1, 1]);
    words.extend((0..N).flat_map(|i| [op(3, 5), 1000 + i, u32::from_le_bytes(*b"abc\0")]));
    words.extend((0..N).flat_map(|i| [op(4, 71), 200_000 + i, 1, i]));
    words.extend([op(2, 19), 1, op(3, 33), 2, 1, op(4, 21), 3, 32, 0, op(3, 30), 500, 3, op(4, 32), 501, 4, 500]);
    words.extend((0..N).flat_map(|i| [op(3, 30), 1000 + i, 3]));
    words.extend((0..N).flat_map(|i| [op(4, 50), 3, 200_000 + i, i]));
    words.extend((0..N).flat_map(|i| [op(4, 59), 501, 400_000 + i, 4]));
    words.extend([op(5, 54), 1, 10, 0, 2, op(2, 248), 11]);
    words.extend((0..N).flat_map(|i| [op(4, 61), 500, 600_000 + i, 400_000 + i]));
    words.extend([op(1, 253), op(1, 56)]);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Limits the process's address space to its current size and `extra_bytes` bytes. `None` removes the limit.
fn allow(extra_bytes: Option<u64>) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let current_bytes = pages.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
    let rlim_cur = extra_bytes.map_or(libc::RLIM_INFINITY, |extra_bytes| current_bytes + extra_bytes);
    let limit = libc::rlimit { rlim_cur, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is an initialized struct.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

#[test]
#[ignore = "run by the test below"]
fn child_reads_with_little_memory() {
    let bytes = module();
    let mut refused = 0;
    for extra_bytes in (0..20).map(|step| step << 21) {
        allow(Some(extra_bytes));
        let read = Module::new(&bytes, None).map(drop);
        allow(None);
        if let Err(e) = read {
            assert_eq!(e.kind, ErrorKind::OutOfMemory, "{e}");
            assert!(e.message.contains("could not be allocated"), "{e}");
            refused += 1;
        }
    }
    allow(None);
    Module::new(&bytes, None).unwrap();
    println!("{refused} of 20 refused");
    assert!(refused > 3);
}

#[test]
fn a_module_too_large_for_memory_is_an_error() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child_reads_with_little_memory", "--ignored", "--nocapture", "--test-threads=1"]);
    // Limits malloc to one arena, so that each attempt can reuse the memory that the previous attempt freed.
    let output = command.env("MALLOC_ARENA_MAX", "1").output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    println!("{text}");
}
