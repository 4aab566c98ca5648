//! Pipelines in process beside `opt`. `scripts/needs` asks for Clang and its `opt`.

use super::load::loaded;
use super::*;
use crate::clang::{Amp, Clang, Pass, Unit};
use crate::passes::host_target;
use crate::pipelines::{self, Optimised, Unrolling};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Clang, LLVM, and a folder of the test's own.
struct Place {
    clang: Clang,
    llvm: Llvm,
    root: PathBuf,
}

impl Place {
    fn new(name: &str) -> Self {
        let clang = Clang::find().unwrap_or_else(|why| panic!("the tests of pipelines need Clang and opt: {why}"));
        let llvm = Llvm::load([&clang.compiler, &clang.opt], clang.major).unwrap();
        let root = std::env::temp_dir().join(format!("kernelc-llvm-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        Self { clang, llvm, root }
    }

    /// What `opt` makes of a module's text: what it prints, and what it says.
    fn by_opt(&self, pipeline: &Pipeline, file: &Path) -> (String, String) {
        let out = self.root.join("opt.ll");
        let mut command = self.clang.opt(pipeline, file, &out);
        let done = command.stdin(Stdio::null()).output().unwrap();
        let errors = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{}: {errors}", pipeline.passes);
        (std::fs::read_to_string(out).unwrap(), errors)
    }

    fn module(&self, file: &Path) -> Module {
        Module::read(self.llvm, &std::fs::read(file).unwrap(), file.to_str().unwrap()).unwrap()
    }

    /// Makes a file's code that of a host.
    fn retarget(&self, file: &Path, target: &str) {
        let mut module = self.module(file);
        host_target::run(&mut module, target).unwrap();
        std::fs::write(file, module.print()).unwrap();
    }

    /// What a pipeline makes of a module's text in process.
    fn made(&self, pipeline: &Pipeline, file: &Path) -> String {
        let mut module = self.module(file);
        module.run(pipeline).unwrap();
        module.print()
    }

    /// Asserts that a pipeline in process makes the same text as in `opt`.
    fn compared(&self, pipeline: &Pipeline, file: &Path) {
        self.compared_with(pipeline, pipeline, file);
    }

    /// Asserts that a pipeline in process makes the same text as `opt` with LLVM's own `default<O2>`.
    fn compared_by_level(&self, pipeline: &Pipeline, file: &Path) -> String {
        self.compared_with(pipeline, &by_level(pipeline, &REPLACED), file)
    }

    fn compared_with(&self, pipeline: &Pipeline, theirs: &Pipeline, file: &Path) -> String {
        let ours = self.made(pipeline, file);
        let by_opt = self.by_opt(theirs, file).0;
        self.same(&ours, &by_opt, &format!("{}: {}", file.display(), pipeline.passes));
        ours
    }

    fn same(&self, ours: &str, theirs: &str, what: &str) {
        let lines = ours.lines().zip(theirs.lines()).enumerate().find(|(_, (a, b))| a != b);
        assert!(ours == theirs, "{what}: line {lines:?}");
    }

    /// The device's code of a source.
    fn device_code(&self, source: &Path) -> PathBuf {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let unit =
            Unit { id: 1, amp: Amp::Both, source, reports: false, host_checks: false, overlay: None, library: None };
        let folders = ["cpp-shim", "include", "tests/cpp"].map(|folder| sources.join(folder).into_os_string());
        let included = folders.into_iter().flat_map(|folder| ["-isystem".into(), folder]);
        let flags: Vec<_> = std::iter::once("-std=c++17".into()).chain(included).collect();
        let out = self.root.join(source.file_name().unwrap()).with_extension("ll");
        let done = self.clang.pass(Pass::Device, &unit, &flags).arg("-o").arg(&out).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        self.mark(&out);
        out
    }

    /// As kernels are: all calls are to be inlined.
    fn mark(&self, file: &Path) {
        let mut module = self.module(file);
        crate::passes::inline_all::run(&mut module);
        std::fs::write(file, module.print()).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// The hidden options that the written-out pipelines replace, for devices.
const REPLACED: [Hidden; 4] = [
    Hidden::new("vectorize-slp", "false", "true"),
    Hidden::new("vectorize-loops", "false", "true"),
    Hidden::new("disable-loop-idiom-all", "true", "false"),
    Hidden::new("opt-disable", "jump-threading", ""),
];

/// The same for native code.
const REPLACED_IN_NATIVE: [Hidden; 7] = [
    REPLACED[0],
    REPLACED[1],
    NO_RUNTIME_UNROLL,
    Hidden::new("enable-pre", "false", "true"),
    Hidden::new("enable-load-pre", "false", "true"),
    Hidden::new("sink-common-insts", "false", "true"),
    Hidden::new("opt-disable", "reassociate", ""),
];

const NO_RUNTIME_UNROLL: Hidden = Hidden::new("unroll-runtime", "false", "false");

/// A pipeline with `default<O2>` in place of the passes written out, which it has.
fn by_level(pipeline: &Pipeline, replaced: &[Hidden]) -> Pipeline {
    let (first, last) = ("inferattrs,", "rel-lookup-table-converter");
    let split = pipeline.passes.split_once(first).and_then(|(before, rest)| Some((before, rest.split_once(last)?)));
    let Some((before, (written, behind))) = split else {
        panic!("default<O2> is not written out from {first} to {last} in {}", pipeline.passes)
    };
    let mut options = [&pipeline.options, replaced].concat();
    if written.contains("no-runtime") && !options.contains(&NO_RUNTIME_UNROLL) {
        options.push(NO_RUNTIME_UNROLL);
    }
    Pipeline { passes: format!("{before}default<O2>{behind}"), options }
}

const WAYS: [Unrolling; 5] = [Unrolling::Short, Unrolling::Much, Unrolling::Some, Unrolling::Little, Unrolling::Known];

/// All pipelines, those without options both before and after those that set some.
#[test]
fn recorded_modules_are_as_opt_prints_them() {
    let place = Place::new("recorded");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    // Native kernels' own modules are for another target.
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    for file in files.filter(|file| !file.to_string_lossy().ends_with(".native.ll")) {
        let plain = || {
            for large in [false, true] {
                place.compared(&pipelines::inline(large), &file);
                place.compared(&pipelines::values(large), &file);
            }
            place.compared(&pipelines::fold(), &file);
            place.compared(&pipelines::variables(), &file);
            place.compared(&pipelines::no_variables(), &file);
            place.compared(&pipelines::address_spaces(), &file);
        };
        plain();
        for unrolling in WAYS {
            for (large, structured) in [(false, true), (true, true), (false, false)] {
                let how = Optimised { large, unrolling, structured };
                place.compared_by_level(&pipelines::optimise_and_unroll(how), &file);
            }
        }
        place.compared(&pipelines::unroll_large(), &file);
        // LLVM structures only what it has optimised; it crashes on the jumps of forms.ll, in `opt` too.
        if file.to_string_lossy().ends_with(".opt.ll") {
            place.compared(&pipelines::structure(), &file);
        }
        plain();
    }
}

/// The kernels of examples and tests, prepared for the host's processor.
#[test]
fn native_kernels_are_as_the_hidden_options_made_them() {
    let place = Place::new("native");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (x86, arm) = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu");
    let (scan, life, loops) = ("examples-amp/scan/scan.cpp", "examples-amp/life/life.cpp", "tests/kernels/loops.cpp");
    for (source, target) in [(scan, x86), (scan, arm), (life, arm), (loops, x86)] {
        let file = place.device_code(&root.join(source));
        place.retarget(&file, target);
        place.mark(&file);
        let pipeline = pipelines::native();
        let theirs = place.by_opt(&by_level(&pipeline, &REPLACED_IN_NATIVE), &file).0;
        place.same(&place.by_opt(&pipeline, &file).0, &theirs, &format!("{source} for {target}"));
    }
}

/// The one pass of ours that `default<O2>` has not: a second `simple-loop-unswitch` of all loops.
#[test]
fn a_second_unswitching_is_the_difference_from_default_o2() {
    let place = Place::new("unswitching");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelines/unswitch.ll");
    let ours = pipelines::optimise_and_unroll(PLAIN);
    let passes = ours.passes.replace("indvars,simple-loop-unswitch,", "indvars,");
    let without = Pipeline { passes, options: ours.options.clone() };
    assert_eq!(ours.passes.len() - without.passes.len(), "simple-loop-unswitch,".len());
    let by_level = place.compared_with(&without, &by_level(&ours, &REPLACED), &file);
    assert_ne!(place.made(&ours, &file), by_level, "LLVM unswitches this loop twice now");
}

const PLAIN: Optimised = Optimised { large: false, unrolling: Unrolling::Short, structured: true };

/// `default<O2>` obeys `#pragma clang loop vectorize(enable)` even where vectorisation is off. Devices compute with scalars.
#[test]
fn no_pragma_makes_vectors_for_devices() {
    let place = Place::new("pragma");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelines/vectorize.ll");
    let pipeline = pipelines::optimise_and_unroll(PLAIN);
    let ours = place.made(&pipeline, &file);
    assert!(!ours.contains("x float>"), "{ours}");
    let by_level = place.by_opt(&by_level(&pipeline, &REPLACED), &file).0;
    assert!(by_level.contains("<4 x float>"), "the loop shows nothing: LLVM makes no vectors of it\n{by_level}");
}

/// Native code of such a kernel: no vectors before the cut, which does not know them; Clang makes them of the kernel's own loop.
#[test]
fn native_kernels_obey_vectorize_pragmas_after_the_cut() {
    const SOURCE: &str = "#include <amp.h>\n\
        void doubled(concurrency::array_view<float> to, concurrency::array_view<const float> from, int n) {\n\
        \x20 concurrency::parallel_for_each(to.extent, [=](concurrency::index<1> i) restrict(amp) {\n\
        #pragma clang loop vectorize(enable) vectorize_width(4)\n\
        \x20   for (int k = 0; k < n; ++k) to[i[0] * n + k] = from[i[0] * n + k] * 2;\n\
        \x20 });\n}\n";
    let place = Place::new("native-pragma");
    let (source, target) = (place.root.join("doubled.cpp"), "x86_64-unknown-linux-gnu");
    std::fs::write(&source, SOURCE).unwrap();
    let file = place.device_code(&source);
    place.retarget(&file, target);
    place.mark(&file);
    let prepared = place.by_opt(&pipelines::native(), &file).0;
    assert!(prepared.contains("llvm.loop.vectorize.enable") && !prepared.contains("x float>"), "{prepared}");
    let native = crate::native::cut(Module::read(place.llvm, prepared.as_bytes(), "prepared").unwrap(), false).unwrap();
    assert!(native.left_out.is_empty() && native.understood().len() == 1, "{:?}", native.left_out);
    let module =
        native.module(crate::native::Processors::of(target), 0..1, &crate::native::Owner::of_unit(1)).unwrap().print();
    let (input, output) = (place.root.join("cut.ll"), place.root.join("made.ll"));
    std::fs::write(&input, module).unwrap();
    let done = place.clang.assemble(&input, &output, target).args(["-S", "-emit-llvm"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(std::fs::read_to_string(output).unwrap().contains("fmul <4 x float>"));
}

/// LLVM ignores hidden options that it does not know: each of ours changes a module, and its default value is LLVM's.
#[test]
fn each_hidden_option_acts() {
    let place = Place::new("hidden");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flags");
    assert_eq!(include_str!("../pipelines.rs").matches("Hidden::new(").count(), pipelines::HIDDEN.len());
    for option in pipelines::HIDDEN {
        let argument = option.argument();
        let (name, _) = argument[1..].split_once('=').unwrap();
        let file = folder.join(name).with_extension("ll");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let passes = text.lines().next().and_then(|line| line.strip_prefix("; passes: ")).unwrap();
        let pipeline = |options: &[Hidden]| Pipeline { passes: passes.into(), options: options.to_vec() };
        let made = |options: &[Hidden]| place.made(&pipeline(options), &file);
        let with = made(&[option]);
        let without = made(&[]);
        assert_ne!(with, without, "{argument} does nothing");
        place.same(&without, &place.by_opt(&pipeline(&[]), &file).0, &argument);
    }
}

/// The device's code of examples. In two runs, with the text between them, as in one that prints it.
#[test]
fn examples_are_as_opt_prints_them() {
    let place = Place::new("examples");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for name in ["examples-amp/scan/scan.cpp", "examples-amp/life/life.cpp", "tests/kernels/exits.cpp"] {
        let file = place.device_code(&root.join(name));
        place.compared(&pipelines::values(false), &file);
        for unrolling in WAYS {
            let how = Optimised { large: false, unrolling, structured: true };
            let whole = place.compared_by_level(&pipelines::optimise_and_unroll(how), &file);
            let mut module = place.module(&file);
            module.run(&pipelines::optimise(how)).unwrap();
            let before = module.print();
            module.run(&pipelines::unroll(how)).unwrap();
            place.same(&module.print(), &whole, name);
            let (first, second) = (pipelines::optimise(how), pipelines::unroll(how));
            let printing = Pipeline { passes: format!("{},print,{}", first.passes, second.passes), ..first };
            place.same(&before, &place.by_opt(&printing, &file).1, name);
        }
    }
}

#[test]
fn options_go_back_to_their_defaults() {
    let pipeline = |options: &[Hidden]| Pipeline { passes: String::new(), options: options.to_vec() };
    let (few, many) = (Hidden::new("count", "1", "8"), Hidden::new("count", "99", "8"));
    let off = Hidden::new("off", "true", "false");
    let mut set = std::collections::BTreeSet::new();
    let mut next = |options: &[Hidden]| {
        let mut words: Vec<String> = pipeline(options).changes(&mut set).into_iter().map(Hidden::argument).collect();
        words.sort();
        words.join(" ")
    };
    assert_eq!(next(&[]), "");
    assert_eq!(next(&[few]), "-count=1");
    assert_eq!(next(&[many]), "-count=99");
    assert_eq!(next(&[off]), "-count=8 -off=true");
    assert_eq!(next(&[]), "-off=false");
    assert_eq!(next(&[few, off]), "-count=1 -off=true");
    assert_eq!(next(&[few, off]), "");
}

/// Where accesses are checked, a merged load would be outside where one of its parts is.
#[test]
fn loads_of_neighbours_are_not_merged() {
    let place = Place::new("neighbours");
    let file = place.root.join("neighbours.ll");
    let text = "target datalayout = \"e-p:64:64-n8:16:32:64\"\ntarget triple = \"spirv64-amd-amdhsa\"\n\
                define i64 @f(ptr align 8 %p) {\n  %low = load i32, ptr %p, align 8\n  \
                %second = getelementptr i32, ptr %p, i64 1\n  %high = load i32, ptr %second, align 4\n  \
                %a = zext i32 %low to i64\n  %b = zext i32 %high to i64\n  %c = shl nuw i64 %b, 32\n  \
                %both = or disjoint i64 %c, %a\n  ret i64 %both\n}\n";
    std::fs::write(&file, text).unwrap();
    let pipeline = Pipeline { passes: "function(aggressive-instcombine)".into(), options: Vec::new() };
    let made = place.made(&pipeline, &file);
    assert_eq!(made.matches(" = load i32").count(), 2, "{made}");
    // A processor that loads from any address gets one load: the test still shows the pattern that LLVM merges.
    std::fs::write(&file, text.replace("spirv64-amd-amdhsa", "x86_64-linux-gnu")).unwrap();
    assert_eq!(place.by_opt(&pipeline, &file).0.matches(" = load i64").count(), 1);
}

#[test]
fn wrong_modules_and_passes_are_errors() {
    let place = Place::new("wrong");
    let read = |text: &str| Module::read(place.llvm, text.as_bytes(), "name");
    let error = |text: &str| read(text).err().unwrap_or_default();
    let why = error("define void @f() {\n  ret i32\n}\n");
    assert!(why.contains("name:3:1: error: "), "{why}");
    assert!(error("").is_empty() && error("nonsense").contains("name:1:1"), "{}", error("nonsense"));
    let broken = "define i32 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n  br label %b\nb:\n  ret i32 %x\n}\n";
    assert!(error(broken).contains("does not dominate all uses"), "{}", error(broken));
    let mut module = read("define void @f() {\n  ret void\n}\n").unwrap();
    let why = module.run(&Pipeline { passes: "no-such-pass".into(), options: Vec::new() }).unwrap_err();
    assert!(why.contains("no-such-pass"), "{why}");
    let mut other = read("target triple = \"pdp11-dec-none\"\n").unwrap();
    assert!(other.run(&pipelines::no_variables()).unwrap_err().contains("pdp11"));
    assert!(read("define void @f() {\n  ret void\n}\n").unwrap().print().starts_with("; ModuleID = 'name'\n"));
}

/// As the link of a test's libLLVM is named on Linux.
#[cfg(target_os = "linux")]
#[test]
fn a_library_of_another_version_is_refused_and_a_missing_one_told() {
    let place = Place::new("versions");
    let compiler = place.root.join("bin/clang++");
    for folder in ["bin", "lib"] {
        std::fs::create_dir(place.root.join(folder)).unwrap();
    }
    std::fs::write(&compiler, "").unwrap();
    let error = || loaded([&compiler, &compiler], 99).err().unwrap_or_default();
    let missing = error();
    assert!(missing.contains("libLLVM of LLVM 99") && missing.contains("apt-get install libllvm99"), "{missing}");
    let mapped = std::fs::read_to_string("/proc/self/maps").unwrap();
    let real = mapped.lines().filter_map(|line| line.split_once('/')).find(|(_, path)| path.contains("libLLVM"));
    let real = format!("/{}", real.unwrap().1);
    std::os::unix::fs::symlink(real, place.root.join("lib/libLLVM.so.99.1")).unwrap();
    let other = error();
    let said = format!("lib/libLLVM.so.99.1 is LLVM {}, but ", place.clang.major);
    assert!(other.contains(&said) && other.contains("is Clang 99; both must have the same version"), "{other}");
    std::fs::remove_file(place.root.join("lib/libLLVM.so.99.1")).unwrap();
    std::fs::write(place.root.join("lib/libLLVM.so"), "no library").unwrap();
    assert!(error().contains("lib/libLLVM.so: "), "{}", error());
}

/// LLVM checks neither the form of a value nor an index: the handles do.
#[test]
fn a_question_that_a_value_cannot_answer_is_a_panic() {
    let place = Place::new("questions");
    let text =
        "@g = global i32 7\ndefine void @f(i32 %x) {\n  %y = add i32 %x, 1\n  br label %end\nend:\n  ret void\n}\n";
    let module = Module::read(place.llvm, text.as_bytes(), "name").unwrap();
    let (global, function) = (module.globals().next().unwrap(), module.functions().next().unwrap());
    let all: Vec<Value<'_>> = function.blocks().flat_map(Block::instructions).collect();
    let ty = global.value_type().unwrap();
    assert_eq!((all[0].count_operands(), global.initializer().map(Value::sign_extended)), (2, Some(7)));
    let questions: [&dyn Fn() -> bool; 9] = [
        &|| global.parameter(0).is_some(),
        &|| function.parameter(1).is_some(),
        &|| function.initializer().is_some(),
        &|| all[0].operand(2).is_some(),
        &|| all[0].incoming_value(0).is_some(),
        &|| all[1].condition().is_some(),
        &|| all[1].case(1).is_some(),
        &|| all[0].real().is_nan(),
        &|| ty.element().is_some(),
    ];
    for (n, question) in questions.into_iter().enumerate() {
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(question)).is_err(), "question {n}");
    }
}
