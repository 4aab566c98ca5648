//! Damaged texts are refused or read and compiled: never a panic, and nothing that takes long.
//!
//! With MINUTES in the environment `for_minutes` goes on for so long, from SEED; what it tries lies in FUZZ_OUT while it does.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use revamp_kernelc::ir::{self, DebugNode, Frame, LocationId, Type};
use revamp_kernelc::{lower, native};

use super::files::{FORMS, KINDS_OPTIMISED, SAXPY, SAXPY_OPTIMISED, TILES_NATIVE};
use super::invariants::check;

/// Words, numbers and names in one piece, anything else by the character.
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

/// One way of damage, at places that are fractions of the whole.
#[derive(Clone, Debug)]
enum Damage {
    Delete(f64),
    Repeat(f64),
    Swap(f64, f64),
    Copy(f64, f64),
    /// Another of its kind: a local for a local, a number for a number. Much of that is still read.
    Like(f64, f64),
    Insert(f64, String),
    Line(f64, f64),
    Cut(f64),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let place = || 0.0..1.0_f64;
    // What means something to the reader, more often than what does not.
    let odd = prop_oneof![
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
        4 => place().prop_map(Damage::Delete),
        2 => place().prop_map(Damage::Repeat),
        3 => (place(), place()).prop_map(|(a, b)| Damage::Swap(a, b)),
        3 => (place(), place()).prop_map(|(a, b)| Damage::Copy(a, b)),
        9 => (place(), place()).prop_map(|(a, b)| Damage::Like(a, b)),
        3 => (place(), odd).prop_map(|(a, text)| Damage::Insert(a, text)),
        2 => (place(), place()).prop_map(|(a, b)| Damage::Line(a, b)),
        1 => place().prop_map(Damage::Cut),
    ]
}

/// What a piece is: a local, a global, metadata, a number or a word; `None` for marks.
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
        if let Damage::Line(from, to) = damage {
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
        let at = |place: &f64| (place * pieces.len() as f64) as usize;
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
            Damage::Like(a, b) => {
                // The nearest word, and the next of its kind behind the other place.
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
            Damage::Line(..) => {}
            Damage::Cut(a) => {
                let a = at(a);
                pieces.truncate(a);
            }
        }
    }
    pieces.concat()
}

/// Reads, and looks at what there is to see of what was read.
fn try_out(text: &str) {
    // Kernels for the host's processor are cut right or left out with a reason.
    let native = native::cut(text);
    assert!(native.left_out.iter().all(|(_, why)| !why.is_empty()));
    if let Ok(module) = ir::read(text) {
        check(&module);
        for (id, node) in &module.debug {
            if let DebugNode::Location { .. } = node {
                let _: Vec<Frame> = module.frames(LocationId(*id));
            }
        }
        // The lowering takes what the reader took.
        let bounds = lower::Bounds::Report;
        if let Ok(kernels) = lower::compile_module(&module, &lower::Options { lines: true, bounds }) {
            for kernel in kernels {
                assert!(kernel.spirv.len() > 5, "a module without a head");
            }
        }
        // A size takes as long as the type has parts.
        for ty in module.functions.iter().flat_map(|function| &function.locals).map(|local| &local.ty).take(100) {
            let _: (Option<u64>, Option<u64>) = (ty.size(), ty.align());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_files(forms in any::<bool>(), damages in prop::collection::vec(any_damage(), 1..4)) {
        try_out(&damaged(if forms { FORMS } else { SAXPY_OPTIMISED }, &damages));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn larger_files(optimised in any::<bool>(), damages in prop::collection::vec(any_damage(), 1..4)) {
        try_out(&damaged(if optimised { KINDS_OPTIMISED } else { SAXPY }, &damages));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_for_the_host(damages in prop::collection::vec(any_damage(), 1..4)) {
        native::cut(&damaged(TILES_NATIVE, &damages));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Words of the language in any order.
    #[test]
    fn nonsense(from in 0.0..1.0_f64, order in prop::collection::vec(0.0..1.0_f64, 0..60)) {
        let pieces = pieces(FORMS);
        let near = |place: f64| pieces[(from * pieces.len() as f64 + place * 200.0) as usize % pieces.len()];
        let body: String = order.into_iter().map(near).collect();
        try_out(&body);
        try_out(&format!("define void @f(ptr %p) {{\n{body}\n  ret void\n}}"));
        try_out(&format!("@g = global {body}"));
    }
}

/// A run of random damages, the same for each seed: of minutes where MINUTES says so, else short.
#[test]
fn for_minutes() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (minutes, seed) = (number("MINUTES"), number("SEED").unwrap_or(1));
    let end = Instant::now() + Duration::from_secs(60 * minutes.unwrap_or(0));
    let folder = std::env::var_os("FUZZ_OUT").map_or_else(std::env::temp_dir, std::path::PathBuf::from);
    let file = folder.join(format!("kernelc-ir-{}.ll", std::process::id()));
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let like = || (0.0..1.0_f64, 0.0..1.0_f64).prop_map(|(a, b)| Damage::Like(a, b));
    let damages = prop_oneof![prop::collection::vec(any_damage(), 1..6), prop::collection::vec(like(), 1..6)];
    let seeds = [SAXPY_OPTIMISED, KINDS_OPTIMISED, SMALL, SAXPY_OPTIMISED, FORMS, TILES_NATIVE, TILES_NATIVE];
    let strategy = (0..seeds.len(), damages);
    let (mut tried, mut taken) = (0_u64, 0_u64);
    while if minutes.is_some() { Instant::now() < end } else { tried < 1_000 } {
        let (which, damages) = strategy.new_tree(&mut runner).unwrap().current();
        let text = damaged(seeds[which], &damages);
        if minutes.is_some() {
            // What ends the process, or never ends, is left there.
            std::fs::write(&file, &text).unwrap();
        }
        let good = std::panic::catch_unwind(|| try_out(&text));
        if good.is_err() {
            std::fs::write(&file, &text).unwrap();
            panic!("after {tried} texts of seed {seed}: {}", file.display());
        }
        tried += 1;
        taken +=
            u64::from(ir::read(&text).is_ok_and(|module| lower::compile_module(&module, &Default::default()).is_ok()));
    }
    let _ = std::fs::remove_file(&file);
    println!("kernelc-ir: {tried} texts tried, {taken} compiled, 0 found, seed {seed}");
}

/// A kernel with memory of all places, branches and a loop.
const SMALL: &str = include_str!("../ir/places.opt.ll");

/// Reads a text of a megabyte or so that is made to take long.
fn takes_no_time(text: &str) {
    let start = Instant::now();
    try_out(text);
    // Quadratic work on such a text takes minutes.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}: {}", start.elapsed(), &text[..60]);
}

#[test]
fn nothing_takes_long() {
    const MANY: usize = 100_000;
    for repeated in
        ["[", "{ ", "<", "(", "\"", "%\"", "@a = alias (", "define ", "\n@x = alias [", "!{", "%", "\n!0 = !{"]
    {
        takes_no_time(&repeated.repeat(MANY));
        takes_no_time(&format!("@g = global {}", repeated.repeat(MANY)));
        takes_no_time(&format!("define void @f() {{\n  call void @f({}", repeated.repeat(MANY)));
    }
    for nested in ["[1 x ", "{ i8, ", "<2 x ", "<{ "] {
        takes_no_time(&format!("@g = global {}", nested.repeat(MANY)));
    }
    takes_no_time(&format!("@g = global i32 {}0", "add (i32 ".repeat(MANY)));
    takes_no_time(&format!("!0 = {}", "!DILocation(scope: ".repeat(MANY)));
    let aliases: String = (0..MANY).map(|n| format!("@a{n} = alias i8, ptr @a{}\n", n + 1)).collect();
    takes_no_time(&aliases);
    takes_no_time(&(aliases + "@g = global ptr @a0"));
    let chain: String = (0..MANY).map(|n| format!("%t{n} = type {{ %t{} }}\n", n + 1)).collect();
    takes_no_time(&chain);
    let numbered: String = (0..MANY).map(|n| format!("  %{n} = add i32 %{}, 1\n", n + 1)).collect();
    takes_no_time(&format!("define void @f() {{\ne:\n{numbered}  %{MANY} = add i32 0, 0\n  ret void\n}}"));
}

#[test]
fn types_that_double_are_refused_or_cheap() {
    let doubling = |levels: usize| -> String {
        let levels: String = (1..=levels).map(|n| format!("%t{n} = type {{ %t{0}, %t{0} }}\n", n - 1)).collect();
        format!("%t0 = type {{ i8 }}\n{levels}")
    };
    let error = ir::read(&doubling(40)).unwrap_err();
    assert_eq!(error.expected, "a smaller type");
    let uses: String = (0..50_000).map(|n| format!("  %v{n} = freeze %t13 %v\n")).collect();
    takes_no_time(&format!("{}define void @f(%t13 %v) {{\n{uses}  ret void\n}}", doubling(13)));
    // One longer than any address space.
    let text = "@g = external global [18446744073709551615 x [18446744073709551615 x i64]]";
    let module = ir::read(text).unwrap();
    assert_eq!(module.globals[0].ty.size(), None);
    let wide = Type::Vector(u32::MAX, Type::Array(u64::MAX, Type::Int(8).into()).into());
    assert_eq!((wide.size(), wide.align()), (None, None));
}

#[test]
fn huge_splats_and_masks_are_not_written_out() {
    let module = ir::read("@g = global <4294967295 x i32> splat (i32 1)").unwrap();
    assert_eq!(
        module.globals[0].initializer,
        Some(ir::Constant::Other("splat (i32 1)".into())),
        "an element for each would take hundreds of gigabytes"
    );
    let text = "define void @f(<2 x i32> %v) {
  %m = shufflevector <2 x i32> %v, <2 x i32> %v, <4294967295 x i32> zeroinitializer
  ret void
}";
    assert_eq!(ir::read(text).unwrap_err().expected, "a mask of at most 1024 elements");
}
