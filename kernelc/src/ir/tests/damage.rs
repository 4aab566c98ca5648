//! Fuzzes the kernel compiler with damaged texts of LLVM IR. LLVM or the kernel compiler may refuse a text. Nothing may panic or run
//! forever.
//!
//! With MINUTES in the environment, `for_minutes` runs for that number of minutes with the seed SEED. It writes failing texts to the folder
//! FUZZ_OUT.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::files::{FORMS, KINDS_OPTIMISED, SAXPY, SAXPY_OPTIMISED, TILES_NATIVE};
use super::invariants::check;
use super::{module, parsed};
use crate::bounds_option::Bounds;
use crate::ir::{Constant, Frame, LocationId, Op, Type, snapshot};
use crate::{llvm, lower, native};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Splits a text into pieces: words, numbers, names, and single other characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._%@!#".contains(c))).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(word.max(first.len_utf8()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A change that damages a text. Positions are fractions of the number of pieces (for `CopyLine`, of lines).
#[derive(Clone, Debug)]
enum Damage {
    Delete(f64),
    Repeat(f64),
    Swap(f64, f64),
    Copy(f64, f64),
    /// Replaces a piece by another piece of the same kind, such as a number by a number. LLVM often accepts the result.
    CopySameKind(f64, f64),
    Insert(f64, String),
    CopyLine(f64, f64),
    Truncate(f64),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let fraction = || 0.0..1.0_f64;
    // Mostly tokens that mean something to the parser.
    let token = prop_oneof![
        prop::sample::select(vec![
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "<",
            ">",
            ",",
            "=",
            "\"",
            "%",
            "@",
            "!",
            ":",
            ";",
            "\n",
            "-",
            "*",
            "c\"",
            "é",
            "18446744073709551615",
            "4294967296",
            "-1",
            "0x",
            "i0",
            "i99999999",
            "splat",
            "vscale",
            "x",
            "ptr",
            "zeroinitializer",
            "label",
            "asm",
            "to",
            "define",
            "type",
            "opaque",
            "alias",
            "%0",
            "@0",
            "!0",
            "phi",
        ])
        .prop_map(String::from),
        "[ -~]{0,4}",
        any::<char>().prop_map(String::from),
    ];
    prop_oneof![
        4 => fraction().prop_map(Damage::Delete),
        2 => fraction().prop_map(Damage::Repeat),
        3 => (fraction(), fraction()).prop_map(|(a, b)| Damage::Swap(a, b)),
        3 => (fraction(), fraction()).prop_map(|(a, b)| Damage::Copy(a, b)),
        9 => (fraction(), fraction()).prop_map(|(a, b)| Damage::CopySameKind(a, b)),
        3 => (fraction(), token).prop_map(|(a, text)| Damage::Insert(a, text)),
        2 => (fraction(), fraction()).prop_map(|(a, b)| Damage::CopyLine(a, b)),
        1 => fraction().prop_map(Damage::Truncate),
    ]
}

/// The kind of a piece: a local, a global, metadata, a number or a word; `None` for punctuation.
fn kind(piece: &str) -> Option<u8> {
    match piece.as_bytes() {
        [first @ (b'%' | b'@' | b'!'), ..] => Some(*first),
        [first, ..] if first.is_ascii_digit() => Some(b'0'),
        [first, ..] if first.is_ascii_alphabetic() => Some(b'a'),
        _ => None,
    }
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    for damage in damages {
        if let Damage::CopyLine(from, to) = damage {
            let line = lines[(from * lines.len() as f64) as usize];
            lines.insert((to * lines.len() as f64) as usize, line);
        }
    }
    let whole = lines.concat();
    let mut pieces = pieces(&whole);
    for damage in damages {
        if pieces.is_empty() {
            break;
        }
        let at = |fraction: &f64| (fraction * pieces.len() as f64) as usize;
        match damage {
            Damage::Delete(a) => {
                let a = at(a);
                pieces.remove(a);
            }
            Damage::Repeat(a) => {
                let a = at(a);
                pieces.insert(a, pieces[a]);
            }
            Damage::Swap(a, b) => {
                let (a, b) = (at(a), at(b));
                pieces.swap(a, b);
            }
            Damage::Copy(a, b) => {
                let (a, b) = (at(a), at(b));
                pieces[a] = pieces[b];
            }
            Damage::CopySameKind(a, b) => {
                // The first piece at or after `a` that has a kind, and the next piece of this kind after `b`.
                let from = at(a);
                let Some(a) = (from..pieces.len()).find(|&n| kind(pieces[n]).is_some()) else { continue };
                let count = pieces.len();
                let like = (0..count).map(|n| pieces[(at(b) + n) % count]);
                if let Some(other) = like.take(4000).find(|&p| kind(p) == kind(pieces[a]) && p != pieces[a]) {
                    pieces[a] = other;
                }
            }
            Damage::Insert(a, text) => {
                let a = at(a);
                pieces.insert(a, text);
            }
            Damage::CopyLine(..) => {}
            Damage::Truncate(a) => {
                let a = at(a);
                pieces.truncate(a);
            }
        }
    }
    pieces.concat()
}

/// Makes native kernels of a module (`native::split_kernels`). Each kernel that is left out must have a reason.
fn cut(module: llvm::Module) {
    let Ok(native) = native::split_kernels(module, false) else { return };
    assert!(native.left_out.iter().all(|(_, why)| !why.is_empty()));
    native.module(native::Processors::of("x86_64"), 0..3, &native::Owner::of_unit(1)).unwrap();
}

/// Runs all steps that read a module: `native::split_kernels`, the snapshot and the lowering.
fn try_out(module: Result<llvm::Module, String>) {
    if let Ok(module) = module {
        cut(module.clone());
        let module = snapshot(&module);
        check(&module);
        for id in 0..module.locations.len() {
            let _: Vec<Frame> = module.frames(LocationId(id));
        }
        // The lowering must cope with every module that LLVM accepts.
        let bounds = Bounds::Report;
        if let Ok(kernels) = lower::compile_module(&module, &lower::Options { lines: true, bounds, rolled: false }) {
            for kernel in kernels {
                assert!(kernel.spirv.len() > 5, "a SPIR-V module without instructions");
            }
        }
        // The time to compute a size grows with the number of parts of the type; the limits on types must keep it short.
        for ty in module.functions.iter().flat_map(|function| &function.locals).map(|local| &local.ty).take(100) {
            let _: (Option<u64>, Option<u64>) = (ty.size(), ty.align());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_for_the_host(damages in prop::collection::vec(any_damage(), 1..4)) {
        parsed(&damaged(TILES_NATIVE, &damages)).into_iter().for_each(cut);
    }
}

/// A sequence of damaged texts and of texts with pieces of the language in random order. A seed always gives the same sequence.
struct Texts {
    runner: TestRunner,
    strategy: BoxedStrategy<String>,
}

impl Texts {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let like = || (0.0..1.0_f64, 0.0..1.0_f64).prop_map(|(a, b)| Damage::CopySameKind(a, b));
        let damages = prop_oneof![prop::collection::vec(any_damage(), 1..6), prop::collection::vec(like(), 1..6)];
        let seeds = [SAXPY_OPTIMISED, KINDS_OPTIMISED, SMALL, SAXPY_OPTIMISED, FORMS, SAXPY, TILES_NATIVE];
        let words = (0.0..1.0_f64, prop::collection::vec(0.0..1.0_f64, 0..60), 0..3_u8);
        let strategy = prop_oneof![
            7 => (0..seeds.len(), damages).prop_map(move |(which, damages)| damaged(seeds[which], &damages)),
            1 => words.prop_map(|(from, order, around)| nonsense(from, &order, around)),
        ];
        Self { runner, strategy: strategy.boxed() }
    }

    fn next(&mut self) -> impl ValueTree<Value = String> + use<> {
        self.strategy.new_tree(&mut self.runner).unwrap()
    }
}

fn nonsense(from: f64, order: &[f64], around: u8) -> String {
    let pieces = pieces(FORMS);
    let near = |fraction: &f64| pieces[(from * pieces.len() as f64 + fraction * 200.0) as usize % pieces.len()];
    let body: String = order.iter().map(near).collect();
    match around {
        0 => body,
        1 => format!("define void @f(ptr %p) {{\n{body}\n  ret void\n}}"),
        _ => format!("@g = global {body}"),
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Tries the random texts of the seed SEED from text number FROM, and prints its progress. `for_minutes` runs this test in a child process,
/// because LLVM may crash or hang on a damaged text.
#[test]
fn a_part_of_the_texts() {
    let Some(from) = number("FROM") else { return };
    let (seed, count) = (number("SEED").unwrap_or(1), number("COUNT").unwrap_or(u64::MAX));
    let mut texts = Texts::new(seed);
    for n in 0..count {
        let text = texts.next();
        if n >= from {
            println!("\nparses {n}");
            let text = text.current();
            let module = parsed(&text);
            println!("{} {n}", if module.is_ok() { "read" } else { "refused" });
            try_out(module);
        } else if n % 1000 == 0 {
            println!("\nskips {n}");
        }
    }
    println!("\nall");
}

/// The progress of the child process that runs `a_part_of_the_texts`.
#[derive(Clone, Copy)]
enum Progress {
    /// The process has not printed the number of a text yet.
    Start,
    Parsing(u64),
    Parsed(u64),
    End,
}

/// The numbers of texts by outcome.
#[derive(Default)]
struct Counts {
    read: u64,
    refused: u64,
    /// LLVM crashed or took too long.
    ended: u64,
}

/// Tries random texts, which depend only on the seed: for MINUTES minutes if MINUTES is set, else 4,000 texts.
#[test]
fn for_minutes() {
    const DEFAULT_COUNT: u64 = 4_000;
    /// LLVM's parser has few defects. If LLVM crashes more often than this, revamp has a defect.
    const MAX_CRASHES_BEFORE_ANY_RESULT: u64 = 3;
    const TEXTS_PER_CRASH: u64 = 500;
    let (minutes, seed) = (number("MINUTES"), number("SEED").unwrap_or(1));
    let end = minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let count = if minutes.is_some() { u64::MAX } else { DEFAULT_COUNT };
    let time_is_up = || end.is_some_and(|end| Instant::now() > end);
    let (mut from, mut counts) = (0, Counts::default());
    while from < count && !time_is_up() {
        match process(from, seed, count, &time_is_up, &mut counts) {
            Progress::Start => panic!("a_part_of_the_texts did not run, or printed nothing for 30 seconds"),
            Progress::End => break,
            // A defect of LLVM, which the driver reports with a message.
            Progress::Parsing(n) => (from, counts.ended) = (n + 1, counts.ended + 1),
            Progress::Parsed(n) => {
                let mut texts = Texts::new(seed);
                (0..n).for_each(|_| drop(texts.next()));
                let folder = std::env::var_os("FUZZ_OUT").map_or_else(std::env::temp_dir, std::path::PathBuf::from);
                let file = folder.join(format!("kernelc-ir-{seed}-{n}.ll"));
                std::fs::write(&file, texts.next().current()).unwrap();
                panic!("text {n} of seed {seed}: {}", file.display());
            }
        }
        let max_crashes = MAX_CRASHES_BEFORE_ANY_RESULT + (counts.read + counts.refused) / TEXTS_PER_CRASH;
        assert!(counts.ended <= max_crashes, "{} texts ended LLVM, {} were read", counts.ended, counts.read);
    }
    let Counts { read, refused, ended } = counts;
    println!("kernelc-ir: {read} texts read, {refused} refused, {ended} ended LLVM, seed {seed}");
    assert!(read > 0 && refused > 0, "{read} texts read, {refused} refused");
    assert!(
        minutes.is_some() || read + refused + ended == DEFAULT_COUNT,
        "some of {DEFAULT_COUNT} texts were not tried"
    );
}

/// Runs `a_part_of_the_texts` in a child process until the process ends, crashes, or prints nothing for 30 seconds.
fn process(from: u64, seed: u64, count: u64, time_is_up: &dyn Fn() -> bool, counts: &mut Counts) -> Progress {
    const TIMEOUT: Duration = Duration::from_secs(30);
    /// The exit code of a test program in which a test failed.
    const FAILED: i32 = 101;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "ir::tests::damage::a_part_of_the_texts", "--nocapture"]);
    for (name, value) in [("FROM", from), ("SEED", seed), ("COUNT", count)] {
        command.env(name, value.to_string());
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (send, received_lines) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    let (mut at, mut text) = (Progress::Start, from);
    let silent = loop {
        match received_lines.recv_timeout(TIMEOUT) {
            Err(why) => break why == RecvTimeoutError::Timeout,
            Ok(line) if line == "all" => at = Progress::End,
            Ok(line) => match line.split_once(' ').map(|(word, n)| (word, n.parse())) {
                Some(("parses", Ok(n))) => (at, text) = (Progress::Parsing(n), n),
                Some((word @ ("read" | "refused"), Ok(n))) => {
                    at = Progress::Parsed(n);
                    *if word == "read" { &mut counts.read } else { &mut counts.refused } += 1;
                }
                _ => {}
            },
        }
        if time_is_up() && matches!(at, Progress::Parsing(_)) {
            at = Progress::End;
            break true;
        }
    };
    if silent {
        let _ = child.kill();
    }
    let ended = child.wait().unwrap();
    drop(received_lines);
    let _ = reader.join();
    // LLVM ends a process with a signal or with its own exit code. The exit code `FAILED` means a panic, a defect of revamp.
    if ended.code() == Some(FAILED) { Progress::Parsed(text) } else { at }
}

/// Parses a text and tries the module.
fn try_text(text: &str) {
    try_out(parsed(text));
}

/// A kernel with all kinds of memory, branches and a loop.
const SMALL: &str = include_str!("../../../tests/ir/places.opt.ll");

/// A depth of nesting that LLVM's recursive parser can handle on a small stack.
const DEEP: usize = 500;

#[test]
fn deep_nesting_is_refused_or_becomes_other() {
    for repeated in
        ["[", "{ ", "<", "(", "\"", "%\"", "@a = alias (", "define ", "\n@x = alias [", "!{", "%", "\n!0 = !{"]
    {
        try_text(&repeated.repeat(DEEP));
        try_text(&format!("@g = global {}", repeated.repeat(DEEP)));
        try_text(&format!("define void @f() {{\n  call void @f({}", repeated.repeat(DEEP)));
    }
    for (open, close) in [("[1 x ", "]"), ("{ i8, ", " }"), ("<{ ", " }>")] {
        let nested = |levels: usize| format!("{}i8{}", open.repeat(levels), close.repeat(levels));
        let ty = |levels: usize| module(&format!("@g = external global {}", nested(levels))).globals[0].ty.clone();
        assert!(ty(120).size().is_some());
        assert_eq!((ty(DEEP).size(), ty(DEEP).align()), (None, None));
        try_text(&format!("@g = global {} zeroinitializer", nested(DEEP)));
        try_text(&format!("define void @f({} %v) {{\n  %c = freeze {0} %v\n  ret void\n}}", nested(DEEP)));
    }
    let mut constant = String::from("i8 1");
    let mut ty = String::from("i8");
    for _ in 0..DEEP {
        ty = format!("[1 x {ty}]");
        constant = format!("{ty} [{constant}]");
    }
    try_text(&format!("@g = global {constant}"));
    let sum =
        (0..DEEP).fold(String::from("i64 ptrtoint (ptr @g to i64)"), |inner, _| format!("i64 sub (i64 1, {inner})"));
    try_text(&format!("@g = global {sum}"));
}

#[test]
fn a_part_of_a_too_deeply_nested_type_is_copied() {
    let nested = |levels: usize, inner: &str| format!("{}{inner}{}", "[1 x ".repeat(levels), "]".repeat(levels));
    let (inner, outer) = (nested(60, "i32"), nested(160, "i32"));
    let module = module(&format!("@outer = external global {outer}\n@inner = external global {inner}"));
    let types: Vec<_> = module.globals.iter().map(|global| (&*global.name, global.ty.size())).collect();
    assert_eq!(types, [("outer", None), ("inner", Some(4))]);
}

#[test]
fn long_chains_are_processed_in_finite_time() {
    const MANY: usize = 2000;
    let aliases: String = (0..MANY).map(|n| format!("@a{n} = alias i8, ptr @a{}\n", n + 1)).collect();
    try_text(&aliases);
    try_text(&format!("{aliases}@a{MANY} = global i8 0\n@g = global ptr @a0"));
    let chain: String = (0..MANY).map(|n| format!("%t{n} = type {{ %t{} }}\n", n + 1)).collect();
    try_text(&chain);
    try_text(&format!("{chain}%t{MANY} = type {{ i8 }}\n@g = external global %t0"));
    let numbered: String = (0..MANY).map(|n| format!("  %{n} = add i32 %{}, 1\n", n + 1)).collect();
    try_text(&format!("define void @f() {{\ne:\n{numbered}  %{MANY} = add i32 0, 0\n  ret void\n}}"));
}

/// LLVM's types share their parts, so 40 lines define a type with 2^40 parts. To visit all parts would take forever.
#[test]
fn types_with_too_many_parts_become_other() {
    let doubling = |levels: usize| -> String {
        let levels: String = (1..=levels).map(|n| format!("%t{n} = type {{ %t{0}, %t{0} }}\n", n - 1)).collect();
        format!("%t0 = type {{ i8 }}\n{levels}")
    };
    let user = |n: usize| format!("{}define void @f(%t{n} %v) {{\n  %c = freeze %t{n} %v\n  ret void\n}}", doubling(n));
    let types =
        |n: usize| module(&user(n)).functions[0].locals.iter().map(|local| local.ty.clone()).collect::<Vec<_>>();
    assert_eq!(types(40), [Type::Other, Type::Other]);
    assert!(types(13).iter().all(|ty| ty.size() == Some(1 << 13)));
    try_text(&user(40));
    try_text(&user(13));
    let module = module(&format!("{}@g = external global %t40", doubling(40)));
    assert_eq!((module.globals[0].ty.size(), module.globals[0].ty.align()), (None, None));
}

#[test]
fn types_longer_than_any_address_space_have_no_size() {
    let module = module("@g = external global [18446744073709551615 x [18446744073709551615 x i64]]");
    assert_eq!(module.globals[0].ty.size(), None);
    let wide = Type::Vector(u32::MAX, Type::Array(u64::MAX, Type::Int(8).into()).into());
    assert_eq!((wide.size(), wide.align()), (None, None));
}

#[test]
fn large_vectors_become_other() {
    let initializer =
        |n: usize| module(&format!("@g = global <{n} x i32> splat (i32 1)")).globals[0].initializer.clone();
    assert!(matches!(initializer(1024), Some(Constant::Aggregate(elements)) if elements.len() == 1024));
    assert_eq!(initializer(1025), Some(Constant::Other));
    let shuffled = |n: usize| {
        let mask = format!("<{n} x i32> zeroinitializer");
        let text = format!(
            "define void @f(<2 x i32> %v) {{\n  %m = shufflevector <2 x i32> %v, <2 x i32> %v, {mask}\n  ret void\n}}"
        );
        module(&text).functions[0].blocks[0].instructions[0].op.clone()
    };
    assert!(matches!(shuffled(1024), Op::ShuffleVector { mask, .. } if mask.len() == 1024));
    assert_eq!(shuffled(1025), Op::Other { name: "shufflevector" });
}
