//! Tests that pipelines that run in this process give the same modules as `opt`. The tests need Clang and its `opt`
//! (`scripts/needs` checks for both).

use super::load::loaded;
use super::*;
use crate::clang::{Amp, Clang, Pass, Unit};
use crate::passes::host_target;
use crate::pipelines::{self, Optimised, Unrolling};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Clang, LLVM, and a temporary folder for one test.
struct Tools {
    clang: Clang,
    llvm: Llvm,
    root: PathBuf,
}

impl Tools {
    fn new(name: &str) -> Self {
        let clang = Clang::find().unwrap_or_else(|why| panic!("the tests of pipelines need Clang and opt: {why}"));
        let llvm = Llvm::load([&clang.compiler, &clang.opt], clang.major).unwrap();
        let root = std::env::temp_dir().join(format!("kernelc-llvm-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        Self { clang, llvm, root }
    }

    /// Runs a pipeline in `opt`, and returns the resulting module and the diagnostics.
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

    /// Converts the code in a file to a host's target.
    fn retarget(&self, file: &Path, target: &str) {
        let mut module = self.module(file);
        host_target::run(&mut module, target).unwrap();
        std::fs::write(file, module.print()).unwrap();
    }

    /// Runs a pipeline in this process, and returns the resulting module.
    fn made(&self, pipeline: &Pipeline, file: &Path) -> String {
        let mut module = self.module(file);
        module.run(pipeline).unwrap();
        module.print()
    }

    /// Asserts that a pipeline gives the same module in this process as in `opt`.
    fn assert_same_as_opt(&self, pipeline: &Pipeline, file: &Path) {
        self.assert_same_module(pipeline, pipeline, file);
    }

    /// Asserts that a pipeline gives the same module in this process as `opt` does with LLVM's own `default<O2>`.
    fn assert_same_as_default_o2(&self, pipeline: &Pipeline, file: &Path) -> String {
        self.assert_same_module(pipeline, &by_level(pipeline, &DEVICE_O2_OPTIONS), file)
    }

    fn assert_same_module(&self, pipeline: &Pipeline, theirs: &Pipeline, file: &Path) -> String {
        let ours = self.made(pipeline, file);
        let by_opt = self.by_opt(theirs, file).0;
        self.assert_same(&ours, &by_opt, &format!("{}: {}", file.display(), pipeline.passes));
        ours
    }

    fn assert_same(&self, ours: &str, theirs: &str, what: &str) {
        let lines = ours.lines().zip(theirs.lines()).enumerate().find(|(_, (a, b))| a != b);
        assert!(ours == theirs, "{what}: line {lines:?}");
    }

    /// Compiles a source for devices, and returns the path of the LLVM IR.
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

    /// Marks all calls for inlining, as the kernel compiler does.
    fn mark(&self, file: &Path) {
        let mut module = self.module(file);
        crate::passes::inline_all::run(&mut module);
        std::fs::write(file, module.print()).unwrap();
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// Our pipelines for devices list each pass instead of `default<O2>`. With these hidden options, `default<O2>` gives
/// the same modules.
const DEVICE_O2_OPTIONS: [Hidden; 4] = [
    Hidden::new("vectorize-slp", "false", "true"),
    Hidden::new("vectorize-loops", "false", "true"),
    Hidden::new("disable-loop-idiom-all", "true", "false"),
    Hidden::new("opt-disable", "jump-threading", ""),
];

/// Our pipeline for native code lists each pass, too. With these hidden options, `default<O2>` gives the same modules.
const NATIVE_O2_OPTIONS: [Hidden; 7] = [
    DEVICE_O2_OPTIONS[0],
    DEVICE_O2_OPTIONS[1],
    NO_RUNTIME_UNROLL,
    Hidden::new("enable-pre", "false", "true"),
    Hidden::new("enable-load-pre", "false", "true"),
    Hidden::new("sink-common-insts", "false", "true"),
    Hidden::new("opt-disable", "reassociate", ""),
];

const NO_RUNTIME_UNROLL: Hidden = Hidden::new("unroll-runtime", "false", "false");

/// Replaces the passes of a pipeline that stand for `default<O2>` by `default<O2>` itself.
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

const UNROLLINGS: [Unrolling; 5] =
    [Unrolling::Short, Unrolling::Much, Unrolling::LlvmDefault, Unrolling::Little, Unrolling::Known];

/// Compares all pipelines with `opt`. Pipelines without options run before and after pipelines that set options.
#[test]
fn recorded_modules_match_opt() {
    let tools = Tools::new("recorded");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    // Modules of native kernels have another target.
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    for file in files.filter(|file| !file.to_string_lossy().ends_with(".native.ll")) {
        let assert_pipelines_without_options = || {
            for large in [false, true] {
                tools.assert_same_as_opt(&pipelines::inline(large), &file);
                tools.assert_same_as_opt(&pipelines::values(large), &file);
            }
            tools.assert_same_as_opt(&pipelines::fold(), &file);
            tools.assert_same_as_opt(&pipelines::variables(), &file);
            tools.assert_same_as_opt(&pipelines::no_variables(), &file);
            tools.assert_same_as_opt(&pipelines::address_spaces(), &file);
        };
        assert_pipelines_without_options();
        for unrolling in UNROLLINGS {
            for (large, structured) in [(false, true), (true, true), (false, false)] {
                let how = Optimised { large, unrolling, structured };
                tools.assert_same_as_default_o2(&pipelines::optimise_and_unroll(how), &file);
            }
        }
        let rolled = Optimised { large: false, unrolling: Unrolling::Rolled, structured: true };
        tools.assert_same_as_opt(&pipelines::optimise_and_unroll(rolled), &file);
        tools.assert_same_as_opt(&pipelines::unroll_large(), &file);
        // LLVM can structure only code that it has optimised. On the branches of forms.ll, LLVM crashes, in `opt` too.
        if file.to_string_lossy().ends_with(".opt.ll") {
            tools.assert_same_as_opt(&pipelines::structure(), &file);
        }
        assert_pipelines_without_options();
    }
}

/// Compares the pipeline for native code with `default<O2>` under hidden options, on kernels of examples and tests.
#[test]
fn the_native_pipeline_matches_default_o2_with_hidden_options() {
    let tools = Tools::new("native");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (x86, arm) = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu");
    let (scan, life, loops) = ("examples-amp/scan/scan.cpp", "examples-amp/life/life.cpp", "tests/kernels/loops.cpp");
    for (source, target) in [(scan, x86), (scan, arm), (life, arm), (loops, x86)] {
        let file = tools.device_code(&root.join(source));
        tools.retarget(&file, target);
        tools.mark(&file);
        let pipeline = pipelines::native();
        let theirs = tools.by_opt(&by_level(&pipeline, &NATIVE_O2_OPTIONS), &file).0;
        tools.assert_same(&tools.by_opt(&pipeline, &file).0, &theirs, &format!("{source} for {target}"));
    }
}

/// Our pipeline has one pass that `default<O2>` lacks: a second `simple-loop-unswitch` of all loops.
#[test]
fn a_second_unswitching_is_the_difference_from_default_o2() {
    let tools = Tools::new("unswitching");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelines/unswitch.ll");
    let ours = pipelines::optimise_and_unroll(PLAIN);
    let passes = ours.passes.replace("indvars,simple-loop-unswitch,", "indvars,");
    let without = Pipeline { passes, options: ours.options.clone() };
    assert_eq!(ours.passes.len() - without.passes.len(), "simple-loop-unswitch,".len());
    let by_level = tools.assert_same_module(&without, &by_level(&ours, &DEVICE_O2_OPTIONS), &file);
    assert_ne!(tools.made(&ours, &file), by_level, "LLVM unswitches this loop twice now");
}

const PLAIN: Optimised = Optimised { large: false, unrolling: Unrolling::Short, structured: true };

/// Devices compute with scalars, but `default<O2>` obeys `#pragma clang loop vectorize(enable)` even with vectorisation off.
#[test]
fn no_pragma_makes_vectors_for_devices() {
    let tools = Tools::new("pragma");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelines/vectorize.ll");
    let pipeline = pipelines::optimise_and_unroll(PLAIN);
    let ours = tools.made(&pipeline, &file);
    assert!(!ours.contains("x float>"), "{ours}");
    let by_level = tools.by_opt(&by_level(&pipeline, &DEVICE_O2_OPTIONS), &file).0;
    assert!(by_level.contains("<4 x float>"), "the test has no effect: LLVM does not vectorise this loop\n{by_level}");
}

/// A native kernel with a vectorize pragma gets no vectors before `native::split_kernels`, which does not support them. Later, Clang
/// vectorises the loop.
#[test]
fn native_kernels_obey_vectorize_pragmas_after_the_cut() {
    const SOURCE: &str = "#include <amp.h>\n\
        void doubled(concurrency::array_view<float> to, concurrency::array_view<const float> from, int n) {\n\
        \x20 concurrency::parallel_for_each(to.extent, [=](concurrency::index<1> i) restrict(amp) {\n\
        #pragma clang loop vectorize(enable) vectorize_width(4)\n\
        \x20   for (int k = 0; k < n; ++k) to[i[0] * n + k] = from[i[0] * n + k] * 2;\n\
        \x20 });\n}\n";
    let tools = Tools::new("native-pragma");
    let (source, target) = (tools.root.join("doubled.cpp"), "x86_64-unknown-linux-gnu");
    std::fs::write(&source, SOURCE).unwrap();
    let file = tools.device_code(&source);
    tools.retarget(&file, target);
    tools.mark(&file);
    let prepared = tools.by_opt(&pipelines::native(), &file).0;
    assert!(prepared.contains("llvm.loop.vectorize.enable") && !prepared.contains("x float>"), "{prepared}");
    let native =
        crate::native::split_kernels(Module::read(tools.llvm, prepared.as_bytes(), "prepared").unwrap(), false)
            .unwrap();
    assert!(native.left_out.is_empty() && native.kernel_names().len() == 1, "{:?}", native.left_out);
    let module =
        native.module(crate::native::Processors::of(target), 0..1, &crate::native::Owner::of_unit(1)).unwrap().print();
    let (input, output) = (tools.root.join("cut.ll"), tools.root.join("made.ll"));
    std::fs::write(&input, module).unwrap();
    let done = tools.clang.assemble(&input, &output, target).args(["-S", "-emit-llvm"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(std::fs::read_to_string(output).unwrap().contains("fmul <4 x float>"));
}

/// LLVM ignores unknown hidden options. Tests that each of our options changes a module, and that our default for the option is LLVM's default.
#[test]
fn each_hidden_option_has_an_effect() {
    let tools = Tools::new("hidden");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flags");
    assert_eq!(include_str!("../pipelines.rs").matches("Hidden::new(").count(), pipelines::HIDDEN.len());
    for option in pipelines::HIDDEN {
        let argument = option.argument();
        let (name, _) = argument[1..].split_once('=').unwrap();
        let file = folder.join(name).with_extension("ll");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let passes = text.lines().next().and_then(|line| line.strip_prefix("; passes: ")).unwrap();
        let pipeline = |options: &[Hidden]| Pipeline { passes: passes.into(), options: options.to_vec() };
        let made = |options: &[Hidden]| tools.made(&pipeline(options), &file);
        let with = made(&[option]);
        let without = made(&[]);
        assert_ne!(with, without, "{argument} does nothing");
        tools.assert_same(&without, &tools.by_opt(&pipeline(&[]), &file).0, &argument);
    }
}

/// Runs `optimise` and then `unroll` on the device code of examples. The module between them must match the output of a
/// `print` pass at this place in one run of `opt`. The final module must match the module after one run of both
/// pipelines.
#[test]
fn examples_match_opt() {
    let tools = Tools::new("examples");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for name in ["examples-amp/scan/scan.cpp", "examples-amp/life/life.cpp", "tests/kernels/exits.cpp"] {
        let file = tools.device_code(&root.join(name));
        tools.assert_same_as_opt(&pipelines::values(false), &file);
        for unrolling in UNROLLINGS {
            let how = Optimised { large: false, unrolling, structured: true };
            let whole = tools.assert_same_as_default_o2(&pipelines::optimise_and_unroll(how), &file);
            let mut module = tools.module(&file);
            module.run(&pipelines::optimise(how)).unwrap();
            let before = module.print();
            module.run(&pipelines::unroll(how)).unwrap();
            tools.assert_same(&module.print(), &whole, name);
            let (first, second) = (pipelines::optimise(how), pipelines::unroll(how));
            let printing = Pipeline { passes: format!("{},print,{}", first.passes, second.passes), ..first };
            tools.assert_same(&before, &tools.by_opt(&printing, &file).1, name);
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

/// LLVM must not merge loads: with bounds checks, a merged load would count as out of bounds if only one part is out of bounds.
#[test]
fn adjacent_loads_are_not_merged() {
    let tools = Tools::new("neighbours");
    let file = tools.root.join("neighbours.ll");
    let text = "target datalayout = \"e-p:64:64-n8:16:32:64\"\ntarget triple = \"spirv64-amd-amdhsa\"\n\
                define i64 @f(ptr align 8 %p) {\n  %low = load i32, ptr %p, align 8\n  \
                %second = getelementptr i32, ptr %p, i64 1\n  %high = load i32, ptr %second, align 4\n  \
                %a = zext i32 %low to i64\n  %b = zext i32 %high to i64\n  %c = shl nuw i64 %b, 32\n  \
                %both = or disjoint i64 %c, %a\n  ret i64 %both\n}\n";
    std::fs::write(&file, text).unwrap();
    let pipeline = Pipeline { passes: "function(aggressive-instcombine)".into(), options: Vec::new() };
    let made = tools.made(&pipeline, &file);
    assert_eq!(made.matches(" = load i32").count(), 2, "{made}");
    // For a processor with unaligned loads, LLVM merges these loads. This proves that the test still has the right pattern.
    std::fs::write(&file, text.replace("spirv64-amd-amdhsa", "x86_64-linux-gnu")).unwrap();
    assert_eq!(tools.by_opt(&pipeline, &file).0.matches(" = load i64").count(), 1);
}

#[test]
fn wrong_modules_and_passes_are_errors() {
    let tools = Tools::new("wrong");
    let read = |text: &str| Module::read(tools.llvm, text.as_bytes(), "name");
    let error = |text: &str| read(text).err().unwrap_or_default();
    let why = error("define void @f() {\n  ret i32\n}\n");
    assert!(why.contains("name:3:1: error: "), "{why}");
    assert!(error("").is_empty() && error("nonsense").contains("name:1:1"), "{}", error("nonsense"));
    let broken = "define i32 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n  br label %b\nb:\n  ret i32 %x\n}\n";
    assert!(error(broken).contains("does not dominate all uses"), "{}", error(broken));
    let mut module = read("define void @f() {\n  ret void\n}\n").unwrap();
    let why = module.run(&Pipeline { passes: "no-such-pass".into(), options: Vec::new() }).unwrap_err();
    assert!(why.contains("no-such-pass"), "{why}");
    // If setting an option fails, the option is not recorded as set. So the next pipeline tries to set it again.
    let broken = Pipeline { passes: "verify".into(), options: vec![Hidden::new("vectorize-slp", "\0", "true")] };
    for _ in 0..2 {
        assert_eq!(module.run(&broken).unwrap_err(), "an option contains a zero character");
    }
    let mut other = read("target triple = \"pdp11-dec-none\"\n").unwrap();
    assert!(other.run(&pipelines::no_variables()).unwrap_err().contains("pdp11"));
    assert!(read("define void @f() {\n  ret void\n}\n").unwrap().print().starts_with("; ModuleID = 'name'\n"));
}

/// Runs only on Linux, where the test knows the name of libLLVM's file.
#[cfg(target_os = "linux")]
#[test]
fn a_library_of_another_version_is_refused_and_a_missing_library_is_reported() {
    let tools = Tools::new("versions");
    let compiler = tools.root.join("bin/clang++");
    for folder in ["bin", "lib"] {
        std::fs::create_dir(tools.root.join(folder)).unwrap();
    }
    std::fs::write(&compiler, "").unwrap();
    let error = || loaded([&compiler, &compiler], 99).err().unwrap_or_default();
    let missing = error();
    assert!(missing.contains("libLLVM of LLVM 99") && missing.contains("apt-get install libllvm99"), "{missing}");
    let mapped = std::fs::read_to_string("/proc/self/maps").unwrap();
    let real = mapped.lines().filter_map(|line| line.split_once('/')).find(|(_, path)| path.contains("libLLVM"));
    let real = format!("/{}", real.unwrap().1);
    std::os::unix::fs::symlink(real, tools.root.join("lib/libLLVM.so.99.1")).unwrap();
    let other = error();
    let expected_message = format!("lib/libLLVM.so.99.1 is LLVM {}, but ", tools.clang.major);
    assert!(
        other.contains(&expected_message) && other.contains("is Clang 99; both must have the same version"),
        "{other}"
    );
    std::fs::remove_file(tools.root.join("lib/libLLVM.so.99.1")).unwrap();
    std::fs::write(tools.root.join("lib/libLLVM.so"), "no library").unwrap();
    assert!(error().contains("lib/libLLVM.so: "), "{}", error());
}

/// The wrapper types (`Value` and `Type`) check the kind of a value and the range of an index, because LLVM's C API
/// does not.
#[test]
fn a_query_of_the_wrong_kind_of_value_panics() {
    let tools = Tools::new("questions");
    let text =
        "@g = global i32 7\ndefine void @f(i32 %x) {\n  %y = add i32 %x, 1\n  br label %end\nend:\n  ret void\n}\n";
    let module = Module::read(tools.llvm, text.as_bytes(), "name").unwrap();
    let (global, function) = (module.globals().next().unwrap(), module.functions().next().unwrap());
    let all: Vec<Value<'_>> = function.blocks().flat_map(Block::instructions).collect();
    let ty = global.value_type().unwrap();
    assert_eq!((all[0].count_operands(), global.initializer().map(Value::sign_extended)), (2, Some(7)));
    let invalid_queries: [&dyn Fn() -> bool; 9] = [
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
    for (n, question) in invalid_queries.into_iter().enumerate() {
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(question)).is_err(), "question {n}");
    }
}
