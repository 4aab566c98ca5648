//! Sets the SONAME; with feature `header`, regenerates `include/revamp.h` and `include/revamp_vulkan.h`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=cbindgen.toml");
    let version = |part: &str| std::env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap_or_default();
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    // In 0.x every minor release may break the ABI, so the SONAME has the major and the minor number.
    let name = format!("librevamp.so.{}.{}", version("MAJOR"), version("MINOR"));
    if matches!(os.as_str(), "linux" | "freebsd" | "android") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}");
        // The library must stay loaded: its threads, its exit hook and loaded drivers do not survive unloading.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    #[cfg(feature = "header")]
    header();
}

#[cfg(feature = "header")]
fn header() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::rerun-if-changed=src/capi");
    println!("cargo::rerun-if-env-changed=REVAMP_HEADER");
    let folder = std::env::var("REVAMP_HEADER").unwrap_or_else(|_| format!("{root}/include"));
    let is_vulkan = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("vulkan");
    // vulkan_handles.rs has Vulkan's own types, which Vulkan's header declares.
    generate(&root, "cbindgen.toml", &format!("{folder}/revamp.h"), |name| !is_vulkan(name));
    generate(&root, "cbindgen-vulkan.toml", &format!("{folder}/revamp_vulkan.h"), |name| {
        is_vulkan(name) && name != "vulkan_handles.rs"
    });
}

/// Writes one header from the files of `src/capi` that belong to it.
#[cfg(feature = "header")]
fn generate(root: &str, config: &str, out: &str, belongs: impl Fn(&std::ffi::OsStr) -> bool) {
    println!("cargo::rerun-if-changed={config}");
    let config = cbindgen::Config::from_file(format!("{root}/{config}"));
    let made = config.map_err(|e| e.to_string()).and_then(|config| {
        let sources = std::fs::read_dir(format!("{root}/src/capi")).map_err(|e| e.to_string())?;
        // mod.rs would include all other files a second time.
        let is_selected = |p: &std::path::PathBuf| p.file_name().is_some_and(|n| n != "mod.rs" && belongs(n));
        let mut files: Vec<_> = sources.filter_map(|f| f.ok().map(|f| f.path())).filter(is_selected).collect();
        files.sort();
        let mut builder = cbindgen::Builder::new().with_config(config);
        for file in files {
            builder = builder.with_src(file);
        }
        builder.generate().map_err(|e| e.to_string())
    });
    match made {
        Ok(bindings) => {
            bindings.write_to_file(out);
        }
        Err(e) => {
            println!("cargo::error=the header could not be generated: {e}");
        }
    }
}
