//! Documentation that must follow the code.

#![allow(clippy::unwrap_used)]

use revamp::config::{TOOL_VARIABLES, VARIABLES};

#[test]
fn environment_page_has_every_variable_as_it_is() {
    let page = include_str!("../../docs/environment.md");
    for v in VARIABLES.iter().chain(TOOL_VARIABLES) {
        let row = format!("- `{}` ({}; {}): {}\n", v.name, v.accepts, v.default, v.help);
        assert!(page.contains(&row), "docs/environment.md lacks or differs in:\n{row}");
    }
    assert_eq!(page.lines().filter(|l| l.starts_with("- `")).count(), VARIABLES.len() + TOOL_VARIABLES.len());
}

#[test]
fn header_version_is_the_crates() {
    use revamp::capi::types::*;
    let of_header = format!("{REVAMP_VERSION_MAJOR}.{REVAMP_VERSION_MINOR}.{REVAMP_VERSION_PATCH}");
    assert_eq!(of_header, env!("CARGO_PKG_VERSION"));
    let packed = revamp::capi::library::revamp_version();
    assert_eq!((packed >> 22, packed >> 12 & 0x3FF, packed & 0xFFF), (0, 1, 0));
}

/// Every file of `tests/rust` has a `[[test]]`, because Cargo does not find them there automatically.
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
