//! Tests that docs/environment.md, the version of the C API and the list of tests in Cargo.toml agree with the code.

#![allow(clippy::unwrap_used)]

use revamp::config::{TOOL_VARIABLES, VARIABLES};

#[test]
fn environment_page_describes_every_variable() {
    let page = include_str!("../../docs/environment.md");
    for v in VARIABLES.iter().chain(TOOL_VARIABLES) {
        let row = format!("- `{}` ({}; {}): {}\n", v.name, v.accepts, v.default, v.help);
        assert!(page.contains(&row), "docs/environment.md does not have this row:\n{row}");
    }
    assert_eq!(page.lines().filter(|l| l.starts_with("- `")).count(), VARIABLES.len() + TOOL_VARIABLES.len());
}

#[test]
fn header_version_equals_the_crate_version() {
    use revamp::capi::types::*;
    let header_version = format!("{REVAMP_VERSION_MAJOR}.{REVAMP_VERSION_MINOR}.{REVAMP_VERSION_PATCH}");
    assert_eq!(header_version, env!("CARGO_PKG_VERSION"));
    let packed = revamp::capi::library::revamp_version();
    assert_eq!((packed >> 22, packed >> 12 & 0x3FF, packed & 0xFFF), (0, 1, 0));
}

/// Every file in `tests/rust` needs a `[[test]]` in Cargo.toml, because Cargo does not find files in this folder automatically.
#[test]
fn manifest_names_each_integration_test() {
    let manifest = include_str!("../../Cargo.toml");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rust");
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let main = if file.path().is_dir() { "/main.rs" } else { "" };
        let path = format!("path = \"tests/rust/{}{main}\"", file.file_name().into_string().unwrap());
        assert!(manifest.contains(&path), "Cargo.toml has no [[test]] with {path}");
    }
}
