//! Tests with modules that are designed to be slow to read: the time for each module must grow linearly with its size.
//!
//! `SLOW_MB=4 cargo test --release --lib kernel::tests::slow -- --nocapture` prints the times for modules of 4 MB.

use super::fuzz::exercise;
use std::time::{Duration, Instant};

pub(crate) const LOAD: u32 = 61;
pub(crate) const VARIABLE: u32 = 59;
pub(crate) const DECORATE: u32 = 71;
pub(crate) const MEMBER_DECORATE: u32 = 72;
pub(crate) const POINTER: u32 = 32;
pub(crate) const STRUCT: u32 = 30;
const ARRAY: u32 = 28;
pub(crate) const CONSTANT: u32 = 43;
const ACCESS_CHAIN: u32 = 65;

/// The first word of an instruction.
pub(crate) fn op(len: u32, opcode: u32) -> u32 {
    len << 16 | opcode
}

/// A module with `decorations` before its types, `globals` after them and `body` in its entry point. Id 3 is the type `uint`, id 2
/// a function type; ids from 20 on are free.
pub(crate) fn assembled(decorations: &[u32], globals: &[u32], body: &[u32]) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x1_0300, 0, 0x3f_0000, 0, op(2, 17), 1, op(3, 14), 0, 1];
    words.extend([op(5, 15), 5, 10, u32::from_le_bytes(*b"main"), 0, op(6, 16), 10, 17, 1, 1, 1]);
    words.extend(decorations);
    words.extend([op(2, 19), 1, op(3, 33), 2, 1, op(4, 21), 3, 32, 0]);
    words.extend(globals);
    words.extend([op(5, 54), 1, 10, 0, 2, op(2, 248), 11]);
    words.extend(body);
    words.extend([op(1, 253), op(1, 56)]);
    super::bytes(&words)
}

/// The words that `each` returns for 0 to `n` - 1, concatenated.
fn repeat<const W: usize>(n: u32, each: impl Fn(u32) -> [u32; W]) -> Vec<u32> {
    (0..n).flat_map(each).collect()
}

fn joined(parts: &[&[u32]]) -> Vec<u32> {
    parts.concat()
}

/// A literal string of `count` letters.
fn letters(count: u32) -> Vec<u32> {
    let mut words = vec![0x4141_4141; count as usize / 4];
    words.push(0);
    words
}

/// Variables 100000, 100001, ... of storage class `class` and type 501, in set 0 at bindings 0, 1, ..., and loads of each.
fn variables(n: u32, class: u32) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let id = |i| 100_000 + i;
    let decorations = repeat(n, |i| [op(4, DECORATE), id(i), 34, 0, op(4, DECORATE), id(i), 33, i]);
    let globals = repeat(n, |i| [op(4, VARIABLE), 501, id(i), class]);
    let loads = repeat(n, |i| [op(4, LOAD), 500, 1_000_000 + i, id(i)]);
    (decorations, globals, loads)
}

/// A kind of module: its name, and a function that makes the module with about the given number of words.
type Kind = (&'static str, fn(u32) -> Vec<u8>);

const STORAGE: u32 = 12;

const KINDS: [Kind; 18] = [
    // The sizes of these types grow exponentially; the work must not.
    ("structs that double", |words| {
        let n = words / 4;
        let structs = repeat(n, |i| [op(4, STRUCT), 1001 + i, 1000 + i, 1000 + i]);
        let workgroup = [op(4, POINTER), 500, 4, 1000 + n, op(4, VARIABLE), 500, 501, 4];
        let globals = joined(&[&[op(3, STRUCT), 1000, 3], &structs, &workgroup]);
        assembled(&[], &globals, &[op(4, LOAD), 1000 + n, 502, 501])
    }),
    ("arrays of arrays", |words| {
        let arrays = repeat(words / 4, |i| [op(4, ARRAY), 1001 + i, 1000 + i, 500]);
        assembled(&[], &joined(&[&[op(4, CONSTANT), 3, 500, 2, op(3, STRUCT), 1000, 3], &arrays]), &[])
    }),
    ("bindings that are arrays of arrays", |words| {
        let (depth, n) = (words / 12, words / 24);
        let arrays = repeat(depth, |i| [op(4, ARRAY), 300_001 + i, 300_000 + i, 499]);
        let (decorations, list, loads) = variables(n, STORAGE);
        let head = [op(4, CONSTANT), 3, 499, 1, op(3, STRUCT), 300_000, 3];
        let globals = joined(&[&head, &arrays, &[op(4, POINTER), 501, STORAGE, 300_000 + depth], &list]);
        assembled(&decorations, &globals, &loads)
    }),
    ("chained operations", |words| {
        let chain = repeat(words / 6, |i| [op(6, 52), 3, 1001 + i, 128, 1000 + i, 1000 + i]);
        assembled(&[], &joined(&[&[op(4, 50), 3, 1000, 2], &chain]), &[])
    }),
    ("extracts of a wide composite", |words| {
        let wide = joined(&[&[op(60_003, 44), 3, 500], &vec![500; 60_000]]);
        assembled(&[], &joined(&[&wide, &repeat(words / 5, |i| [op(5, 52), 3, 1000 + i, 81, 500])]), &[])
    }),
    ("decorations of groups that multiply", |words| {
        let decorations = repeat(words / 3, |i| [op(3, DECORATE), 500, 100 + i]);
        let targets = joined(&[&[op(60_002, 74), 500], &(0..60_000).collect::<Vec<_>>()]);
        assembled(&joined(&[&decorations, &[op(2, 73), 500], &targets]), &[], &[])
    }),
    ("groups without targets", |words| {
        let decorations = repeat(words / 6, |i| [op(3, DECORATE), 500, 100 + i]);
        assembled(&joined(&[&decorations, &[op(2, 73), 500], &repeat(words / 4, |_| [op(2, 74), 500])]), &[], &[])
    }),
    ("variables of a big block", |words| {
        let n = (words / 30).min(60_000);
        let block = joined(&[&[op(n + 2, STRUCT), 500], &vec![3; n as usize]]);
        let readonly = repeat(n, |i| [op(5, MEMBER_DECORATE), 500, i, 35, i * 4, op(4, MEMBER_DECORATE), 500, i, 24]);
        let (decorations, list, loads) = variables(n, STORAGE);
        let globals = joined(&[&block, &[op(4, POINTER), 501, STORAGE, 500], &list]);
        assembled(&joined(&[&decorations, &readonly]), &globals, &loads)
    }),
    ("variables of a block with a long name", |words| {
        let (decorations, list, loads) = variables(words / 20, STORAGE);
        let name = letters((words / 5 * 4).min(250_000));
        let name = joined(&[&[op(name.len() as u32 + 2, 5), 500], &name]);
        let globals = joined(&[&[op(3, STRUCT), 500, 3, op(4, POINTER), 501, STORAGE, 500], &list]);
        assembled(&joined(&[&name, &decorations]), &globals, &loads)
    }),
    ("loads of a whole push-constant block", |words| {
        let n = (words / 30).min(60_000);
        let block = joined(&[&[op(n + 2, STRUCT), 500], &vec![3; n as usize]]);
        let offsets = repeat(n, |i| [op(5, MEMBER_DECORATE), 500, i, 35, i * 4]);
        let globals = joined(&[&block, &[op(4, POINTER), 501, 9, 500, op(4, VARIABLE), 501, 502, 9]]);
        assembled(&offsets, &globals, &repeat(words / 8, |i| [op(4, LOAD), 500, 1_000_000 + i, 502]))
    }),
    ("many built-ins", |words| {
        let n = words / 12;
        let (_, list, loads) = variables(n, 1);
        let decorations = repeat(n, |i| [op(4, DECORATE), 100_000 + i, 11, 26]);
        assembled(&decorations, &joined(&[&[op(4, 23), 500, 3, 3, op(4, POINTER), 501, 1, 500], &list]), &loads)
    }),
    // The last built-in has a different type, and many pointers point into it.
    ("pointers into many built-ins", |words| {
        let n = words / 16;
        let (_, list, _) = variables(n, 1);
        let decorations = repeat(n + 1, |i| [op(4, DECORATE), 100_000 + i, 11, 26]);
        let types = [op(4, 23), 500, 3, 3, op(4, POINTER), 501, 1, 500, op(4, 21), 502, 32, 1, op(4, 23), 503, 502, 3];
        let more = [op(4, POINTER), 504, 1, 503, op(4, POINTER), 505, 1, 502, op(4, CONSTANT), 3, 506, 0];
        let last = [op(4, VARIABLE), 504, 100_000 + n, 1];
        let used = repeat(n, |i| [op(4, LOAD), 500, 700_000 + i, 100_000 + i]);
        let chains = repeat(words / 16, |i| [op(5, ACCESS_CHAIN), 505, 1_000_000 + i, 100_000 + n, 506]);
        assembled(&decorations, &joined(&[&types, &more, &list, &last]), &joined(&[&used, &chains]))
    }),
    ("a long name of a set of instructions", |words| {
        let name = letters(240_000);
        let set = joined(&[&[op(name.len() as u32 + 2, 11), 500], &name]);
        assembled(&set, &[], &repeat(words / 5, |i| [op(5, 12), 1, 1000 + i, 500, 1]))
    }),
    ("functions that call each other", |words| {
        let n = words / 16;
        let each = |i: u32| {
            let call = [op(4, 57), 1, 400_000 + i, 100_000 + (i * 7 + 1) % n, op(1, 253), op(1, 56)];
            let head = [op(5, 54), 1, 100_000 + i, 0, 2, op(2, 248), 250_000 + i];
            let mut all = [0; 13];
            all[..7].copy_from_slice(&head);
            all[7..].copy_from_slice(&call);
            all
        };
        let mut bytes = assembled(&[], &[], &[op(4, 57), 1, 20, 100_000]);
        bytes.extend(super::bytes(&repeat(n, each)));
        bytes
    }),
    ("an entry point that calls many functions", |words| {
        let n = words / 13;
        let each = |i: u32| {
            let label = 250_000 + i;
            [op(5, 54), 1, 100_000 + i, 0, 2, op(2, 248), label, op(1, 253), op(1, 56)]
        };
        let mut bytes = assembled(&[], &[], &repeat(n, |i| [op(4, 57), 1, 400_000 + i, 100_000 + i]));
        bytes.extend(super::bytes(&repeat(n, each)));
        bytes
    }),
    ("specialization constants, all given", |words| {
        let decorations = repeat(words / 8, |i| [op(4, DECORATE), 1000 + i, 1, i]);
        assembled(&decorations, &repeat(words / 8, |i| [op(4, 50), 3, 1000 + i, i]), &[])
    }),
    ("entry points", |words| {
        let name = u32::from_le_bytes(*b"abc\0");
        assembled(&repeat(words / 4, |_| [op(4, 15), 5, 10, name]), &[], &[])
    }),
    ("extensions that nobody knows", |words| {
        let name = u32::from_le_bytes(*b"abc\0");
        assembled(&repeat(words / 2, |_| [op(2, 10), name]), &[], &[])
    }),
];

/// Enough time for every kind if the work is linear, and too little if it is quadratic.
const MAX_TIME: Duration = Duration::from_secs(20);

#[test]
fn modules_designed_to_be_slow_are_read_quickly() {
    let megabytes = std::env::var("SLOW_MB").ok().and_then(|n| n.parse::<u32>().ok()).unwrap_or(1);
    let only = std::env::var("SLOW_KIND").unwrap_or_default();
    for (what, make) in KINDS.into_iter().filter(|(what, _)| what.contains(&only)) {
        let bytes = make((megabytes << 20) / 4);
        let start = Instant::now();
        let taken = exercise(&bytes, None);
        let time = start.elapsed();
        println!("{what}: {} bytes, {} ms, {}", bytes.len(), time.as_millis(), if taken { "taken" } else { "refused" });
        assert!(time < MAX_TIME, "{what}: {time:?} for {} bytes", bytes.len());
    }
}
