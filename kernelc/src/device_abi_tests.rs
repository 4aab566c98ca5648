//! The table against `device_abi.h`, and that no other file has these names.

use super::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HEADER: &str = "device_abi.h";
const ON_HOST: &str = "revamp/detail/device_on_host.h";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The files below a folder with one of these extensions.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry, extensions));
        } else if entry.extension().is_some_and(|e| extensions.iter().any(|wanted| e == *wanted)) {
            found.push(entry);
        }
    }
    found
}

/// The text of each header without comments and conditions.
fn headers() -> Vec<(PathBuf, String)> {
    let kept = |line: &str| {
        let line = line.split("//").next().unwrap_or_default();
        if line.starts_with('#') && !line.starts_with("#define") { "\n".into() } else { line.to_owned() + "\n" }
    };
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text.lines().map(kept).collect())
    };
    files(&root().join("cpp-shim"), &["h", "hpp"]).into_iter().map(read).collect()
}

/// The functions that a header declares, each with the text of the declaration before its name. A name in front of which a type
/// stands is declared; else it is called.
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

/// Text with `#define NAME __attribute__(...)` put in the place of each NAME.
fn expanded(text: &str) -> String {
    let mut made = text.to_owned();
    for define in text.lines().filter_map(|line| line.strip_prefix("#define ")) {
        let Some((name, value)) = define.split_once(" __attribute__") else { continue };
        // The first of several definitions: `noconvergent`.
        made = made.replace(&format!("extern \"C\" {name} "), &format!("extern \"C\" __attribute__{value} "));
    }
    made
}

#[test]
fn the_table_and_the_header_agree() {
    let header = headers().into_iter().find(|(path, _)| path.ends_with(HEADER)).unwrap().1;
    let declared: BTreeMap<_, _> = declarations(&expanded(&header)).into_iter().collect();
    let mut known: BTreeMap<_, _> =
        TABLE.iter().map(|(name, function, effect)| (*name, (*function, *effect))).collect();
    assert_eq!(known.len(), TABLE.len());
    // The compiler's own.
    known.remove(DeviceFunction::Meet.name());
    let names: Vec<_> = known.keys().copied().collect();
    assert_eq!(declared.keys().map(String::as_str).collect::<Vec<_>>(), names);
    for (name, (function, effect)) in known {
        let attribute =
            |wanted: &str| declared[name].split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == wanted);
        assert!(attribute("device"), "{name}");
        assert_eq!(attribute("const"), effect == Effect::None, "{name}: const");
        assert_eq!(attribute("convergent"), effect == Effect::Waits, "{name}: convergent");
        assert_eq!(attribute("noreturn"), effect == Effect::Ends, "{name}: noreturn");
        assert_eq!(attribute("template"), matches!(function, DeviceFunction::Print(_)), "{name}: template");
        let symbol = if attribute("template") { format!("_Z{}{name}IJiEEvPKcDpT_", name.len()) } else { name.into() };
        assert_eq!(DeviceFunction::of(&symbol), Some(function));
        assert_eq!(function.name(), name);
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
fn no_other_header_declares_such_a_function() {
    let (on_host, others): (Vec<_>, Vec<_>) = headers()
        .into_iter()
        .filter(|(path, _)| !path.ends_with(HEADER))
        .partition(|(path, _)| path.ends_with(ON_HOST));
    for (path, text) in &others {
        assert_eq!(declarations(text), [], "{}: the place of this is {HEADER}", path.display());
    }
    // Code for host threads has bodies of these.
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

/// Unit tests have IR as Clang makes it.
#[test]
fn no_other_module_has_such_a_name() {
    let source = root().join("kernelc/src");
    for path in files(&source, &["rs"]) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with("tests.rs") || path == source.join("device_abi.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in [PREFIX, "tiled_entry", "spir_kernel", "_ZTSN6revamp", "_ZN11Concurrency"] {
            // `ir` and its tests know LLVM's calling conventions.
            let knows = word == "spir_kernel" && (path.starts_with(source.join("ir")));
            assert!(knows || !code.contains(word), "{}: {word} belongs to device_abi.rs", path.display());
        }
    }
}

#[test]
fn symbols_are_told_apart() {
    assert_eq!(DeviceFunction::of("__revamp_printf"), None, "it is a template");
    assert_eq!(DeviceFunction::of("_Z21__revamp_tile_barrierIiEvv"), None);
    assert_eq!(DeviceFunction::of("__revamp_fast_tan_f64"), None);
    assert_eq!(DeviceFunction::of("_Z4mainv"), None);
    let line = "  %a = call ptr addrspace(4) @__revamp_element(ptr addrspace(4) noundef %b, i32 4)";
    assert_eq!(DeviceFunction::named(line).collect::<Vec<_>>(), [DeviceFunction::Element]);
    assert_eq!(of_concurrency("_ZN11Concurrency5abi_114direct3d_abortEv"), Some((vec!["direct3d_abort"], "v")));
    assert_eq!(of_concurrency("_ZN11Concurrency999999999999999999999sinEf"), None);
    assert_eq!(of_concurrency("_ZN6revamp5abi_16detailEv"), None);
    assert!(is_view("_ZTSN6revamp5abi_16detail10basic_viewIiLi1EEE"));
    assert!(!is_view("_ZTSN7program10basic_viewIiLi1EEE"));
}
