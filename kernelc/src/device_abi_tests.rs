//! Tests that the table of device functions agrees with the header `device_abi.h`, and that no other file contains these functions' names.

use super::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HEADER: &str = "device_abi.h";
const ON_HOST: &str = "revamp/detail/device_on_host.h";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The files in a folder and its subfolders whose names have one of these extensions.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry, extensions));
        } else if entry.extension().is_some_and(|e| extensions.iter().any(|expected| e == *expected)) {
            found.push(entry);
        }
    }
    found
}

/// The text of each header, without comments and without preprocessor directives other than `#define`.
fn headers() -> Vec<(PathBuf, String)> {
    let without_comments = |line: &str| {
        let line = line.split("//").next().unwrap_or_default();
        if line.starts_with('#') && !line.starts_with("#define") { "\n".into() } else { line.to_owned() + "\n" }
    };
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text.lines().map(without_comments).collect())
    };
    files(&root().join("cpp-shim"), &["h", "hpp"]).into_iter().map(read).collect()
}

/// The functions that a header declares, each with the part of the declaration before its name. A name after a type belongs to a
/// declaration; any other name belongs to a call.
fn declarations(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(PREFIX) {
        let before = text[..at].trim_end();
        let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if before.ends_with('*') || !matches!(word, "" | "return" | "else") {
            let name = text[at..].split(|c: char| !c.is_alphanumeric() && c != '_' && c != '#').next();
            let from = before.rfind([';', '}']).map_or(0, |end| end + 1);
            found.push((name.unwrap_or_default().to_owned(), before[from..].to_owned()));
        }
    }
    found
}

/// Expands the text's macros of the form `#define NAME __attribute__(...)`.
fn expanded(text: &str) -> String {
    let mut result = text.to_owned();
    for define in text.lines().filter_map(|line| line.strip_prefix("#define ")) {
        let Some((name, value)) = define.split_once(" __attribute__") else { continue };
        // If a macro has several definitions, the first one wins: the one with `noconvergent`.
        result = result.replace(&format!("extern \"C\" {name} "), &format!("extern \"C\" __attribute__{value} "));
    }
    result
}

#[test]
fn the_table_and_the_header_agree() {
    let header = headers().into_iter().find(|(path, _)| path.ends_with(HEADER)).unwrap().1;
    let declared: BTreeMap<_, _> = declarations(&expanded(&header)).into_iter().collect();
    let mut known: BTreeMap<_, _> =
        TABLE.iter().map(|(name, function, effect)| (*name, (*function, *effect))).collect();
    assert_eq!(known.len(), TABLE.len());
    // No header declares `__revamp_meet`, because a pass of the compiler inserts it.
    known.remove(DeviceFunction::Meet.name());
    let names: Vec<_> = known.keys().copied().collect();
    assert_eq!(declared.keys().map(String::as_str).collect::<Vec<_>>(), names);
    for (name, (function, effect)) in known {
        let has_word = |expected: &str| {
            declared[name].split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == expected)
        };
        assert!(has_word("device"), "{name}");
        assert_eq!(has_word("const"), effect == Effect::None, "{name}: const");
        assert_eq!(has_word("convergent"), effect == Effect::Waits, "{name}: convergent");
        assert_eq!(has_word("noreturn"), effect == Effect::Ends, "{name}: noreturn");
        assert_eq!(has_word("template"), matches!(function, DeviceFunction::Print(_)), "{name}: template");
        let symbol = if has_word("template") { format!("_Z{}{name}IJiEEvPKcDpT_", name.len()) } else { name.into() };
        assert_eq!(DeviceFunction::of(&symbol), Some(function));
        // 1 / sqrt(x) has a name for floats and another for doubles.
        assert!(function.name() == name || function == DeviceFunction::Maths(Glsl::InverseSqrt), "{name}");
    }
}

#[test]
fn classes_known_by_name_are_declared_and_defined() {
    let all = headers();
    let (abi, others): (Vec<_>, Vec<_>) = all.iter().partition(|(path, _)| path.ends_with(HEADER));
    let declared: Vec<_> =
        abi[0].1.lines().filter_map(|line| line.split_once("> class ")?.1.strip_suffix(';')).collect();
    let mut known = VIEWS;
    known.sort();
    assert_eq!(declared, known);
    for class in VIEWS {
        let defined = format!("> class {class} {{");
        assert_eq!(others.iter().filter(|(_, text)| text.contains(&defined)).count(), 1, "{class}");
    }
}

#[test]
fn no_other_header_declares_a_device_function() {
    let (on_host, others): (Vec<_>, Vec<_>) = headers()
        .into_iter()
        .filter(|(path, _)| !path.ends_with(HEADER))
        .partition(|(path, _)| path.ends_with(ON_HOST));
    for (path, text) in &others {
        assert_eq!(declarations(text), [], "{}: declare this function in {HEADER}", path.display());
    }
    // The header `ON_HOST` defines the functions for host threads.
    let bodies = on_host[0].1.replace("__revamp_fast_##name##_f32", "__revamp_fast_sin_f32");
    assert!(declarations(&bodies).len() > 5);
    for (name, _) in declarations(&bodies) {
        assert!(
            TABLE.iter().any(|(known, ..)| *known == name),
            "{name}: {ON_HOST} defines what {HEADER} does not declare"
        );
    }
    let other =
        "extern \"C\" float __revamp_f(float);\nint g() { return __revamp_g(__revamp_h()); }\nvoid *__revamp_##i();";
    let names: Vec<_> = declarations(other).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["__revamp_f", "__revamp_##i"]);
}

/// Unit tests may use names of the device functions, because the tests contain IR from Clang.
#[test]
fn no_other_module_contains_names_of_device_functions() {
    let source = root().join("kernelc/src");
    for path in files(&source, &["rs"]) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with("tests.rs") || path == source.join("device_abi.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in [PREFIX, "tiled_entry", "spir_kernel", "_ZTSN6revamp", "_ZN11Concurrency"] {
            // The modules of `ir` know LLVM's calling conventions.
            let is_allowed = word == "spir_kernel" && (path.starts_with(source.join("ir")));
            assert!(is_allowed || !code.contains(word), "{}: {word} belongs to device_abi.rs", path.display());
        }
    }
}

#[test]
fn symbols_of_device_functions_and_views_are_recognised() {
    assert_eq!(DeviceFunction::of("__revamp_printf"), None, "it is a template");
    assert_eq!(DeviceFunction::of("_Z21__revamp_tile_barrierIiEvv"), None);
    assert_eq!(DeviceFunction::of("__revamp_fast_tan_f64"), None);
    assert_eq!(DeviceFunction::of("_Z4mainv"), None);
    let line = "  %a = call ptr addrspace(4) @__revamp_element(ptr addrspace(4) noundef %b, i32 4)";
    assert_eq!(DeviceFunction::functions_in(line).collect::<Vec<_>>(), [DeviceFunction::Element]);
    assert_eq!(
        concurrency_symbol_parts("_ZN11Concurrency5abi_114direct3d_abortEv"),
        Some((vec!["direct3d_abort"], "v"))
    );
    assert_eq!(concurrency_symbol_parts("_ZN11Concurrency999999999999999999999sinEf"), None);
    assert_eq!(concurrency_symbol_parts("_ZN6revamp5abi_16detailEv"), None);
    assert!(is_view("_ZTSN6revamp5abi_16detail10basic_viewIiLi1EEE"));
    assert!(!is_view("_ZTSN7program10basic_viewIiLi1EEE"));
}
