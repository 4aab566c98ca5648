//! Pipelines in process beside `opt`. Without Clang and its `opt` there is nothing to compare with, and nothing is tested.

use super::load::loaded;
use super::*;
use crate::clang::{Amp, Clang, Pass, Unit};
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
    fn new(name: &str) -> Option<Self> {
        let clang = Clang::find().ok()?;
        let llvm = Llvm::load([&clang.compiler, &clang.opt], clang.major).unwrap();
        let root = std::env::temp_dir().join(format!("kernelc-llvm-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        Some(Self { clang, llvm, root })
    }

    /// What `opt` makes of a module's text: what it prints, and what it says.
    fn by_opt(&self, pipeline: &Pipeline, file: &Path) -> (String, String) {
        let out = self.root.join("opt.ll");
        let mut command = self.clang.opt(pipeline, file, &out, false);
        let done = command.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{}: {told}", pipeline.passes);
        (std::fs::read_to_string(out).unwrap(), told)
    }

    fn module(&self, file: &Path) -> Module {
        Module::read(self.llvm, &std::fs::read(file).unwrap(), file.to_str().unwrap()).unwrap()
    }

    /// Runs a pipeline both ways: the same text.
    fn compared(&self, pipeline: &Pipeline, file: &Path) -> String {
        let mut module = self.module(file);
        module.run(pipeline).unwrap();
        let ours = module.print();
        self.same(&ours, &self.by_opt(pipeline, file).0, &format!("{}: {}", file.display(), pipeline.passes));
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
        let headers = ["cpp-shim", "include"].map(|folder| sources.join(folder).into_os_string());
        let flags = ["-std=c++17".into(), "-isystem".into(), headers[0].clone(), "-isystem".into(), headers[1].clone()];
        let out = self.root.join(source.file_name().unwrap()).with_extension("ll");
        let done = self.clang.pass(Pass::Device, &unit, &flags).arg("-o").arg(&out).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        // As kernels are: all calls are to be inlined.
        std::fs::write(&out, crate::always_inline::marked(&std::fs::read_to_string(&out).unwrap())).unwrap();
        out
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

const WAYS: [Unrolling; 5] = [Unrolling::Short, Unrolling::Much, Unrolling::Some, Unrolling::Little, Unrolling::Known];

/// All pipelines, those without options both before and after those that set some.
#[test]
fn recorded_modules_are_as_opt_prints_them() {
    let Some(place) = Place::new("recorded") else { return };
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
            for (large, checked, structured) in [(false, false, true), (true, true, true), (false, true, false)] {
                let how = Optimised { large, unrolling, checked, structured };
                place.compared(&pipelines::optimise_and_unroll(how), &file);
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

/// The device's code of examples. In two runs, with the text between them, as in one that prints it.
#[test]
fn examples_are_as_opt_prints_them() {
    let Some(place) = Place::new("examples") else { return };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples-amp");
    for name in ["scan/scan.cpp", "matmul_tiled/matmul_tiled.cpp", "life/life.cpp"] {
        let file = place.device_code(&examples.join(name));
        place.compared(&pipelines::values(false), &file);
        for unrolling in WAYS {
            let how = Optimised { large: false, unrolling, checked: false, structured: true };
            let whole = place.compared(&pipelines::optimise_and_unroll(how), &file);
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
    let (off, listed) = (Hidden::new("off", "true", "false"), Hidden::lasting("list", "a"));
    let mut set = std::collections::BTreeSet::new();
    let mut next = |options: &[Hidden]| {
        let mut words: Vec<String> = pipeline(options).changes(&mut set).into_iter().map(Hidden::argument).collect();
        words.sort();
        words.join(" ")
    };
    assert_eq!(next(&[]), "");
    assert_eq!(next(&[few, listed]), "-count=1 -list=a");
    assert_eq!(next(&[many, listed]), "-count=99");
    assert_eq!(next(&[off]), "-count=8 -off=true");
    assert_eq!(next(&[]), "-off=false");
    assert_eq!(next(&[few, off, listed]), "-count=1 -off=true");
    assert_eq!(next(&[few, off]), "");
}

#[test]
fn wrong_modules_and_passes_are_errors() {
    let Some(place) = Place::new("wrong") else { return };
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
    let Some(place) = Place::new("versions") else { return };
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
    let said = format!("lib/libLLVM.so.99.1 is of LLVM {}, and ", place.clang.major);
    assert!(other.contains(&said) && other.contains("is Clang 99: kernels are compiled with"), "{other}");
    std::fs::remove_file(place.root.join("lib/libLLVM.so.99.1")).unwrap();
    std::fs::write(place.root.join("lib/libLLVM.so"), "no library").unwrap();
    assert!(error().contains("lib/libLLVM.so: "), "{}", error());
}

/// LLVM checks neither the form of a value nor an index: the handles do.
#[test]
fn a_question_that_a_value_cannot_answer_is_a_panic() {
    let Some(place) = Place::new("questions") else { return };
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
