//! Finds Clang and its tools, and builds the command of each pass.

use crate::files;
#[cfg(test)]
use crate::pipelines::NATIVE_CODE;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The only version of LLVM that works: docs/kernel-compiler-reference.md#versions-of-llvm says why.
pub const VERSION: u32 = 22;

/// A Clang with its tools.
pub struct Clang {
    /// The compiler for C++.
    pub compiler: PathBuf,
    /// The compiler's major version.
    pub major: u32,
    /// libclang of the same LLVM, which checks C++ AMP's restrictions.
    pub libclang: PathBuf,
    /// LLVM's `opt` of the same version if it is installed, else the compiler. The installation folder of `opt` is also
    /// searched for libclang and libLLVM.
    pub opt: PathBuf,
    /// Renames symbols.
    pub objcopy: PathBuf,
    /// An `objcopy` that also supports object files of other processors.
    pub multi_target_objcopy: PathBuf,
}

/// A pass of Clang over a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// Checks the device's code against the rules of restrict, and prints diagnostics.
    Check,
    /// Compiles the device's code to LLVM IR.
    Device,
    /// Compiles the host's code to an object.
    Host,
    /// Compiles the device's code for the host's processor, to LLVM bitcode.
    OnHost,
}

/// How `restrict(amp)` is mapped in the code-generation passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amp {
    /// To host+device functions, because host threads also run `restrict(amp)` functions.
    Both,
    /// To device functions, because the source overloads on restriction. In a `restrict(amp, cpu)` function, overload
    /// resolution then prefers device functions to host functions.
    Device,
    /// Like `Device`. In addition, overload resolution in a `restrict(amp, cpu)` function prefers other
    /// `restrict(amp, cpu)` functions to host functions, as in C++ AMP.
    ///
    /// Clang's option for this, -fgpu-exclude-wrong-side-overloads, treats deleted functions as host+device functions. Clang then
    /// chooses a deleted copy constructor in place of a host-only move constructor. Therefore the C++ library becomes host+device code
    /// (`library`), deleted functions of the program become host functions (`source_rewrite`), and only sources that need this mapping
    /// get it.
    ///
    /// Clang makes an implicit member of a class a host function if there are both host and device candidates.
    /// Therefore, in the device pass, amp functions are host+device functions with an attribute that distinguishes them
    /// from host functions (`restrict.h`).
    DeviceBeforeHost,
}

impl Amp {
    /// True if the source overloads on restriction.
    pub fn is_device(self) -> bool {
        self != Self::Both
    }
}

/// The settings that the code-generation passes of a source share.
#[derive(Clone, Copy)]
pub struct Unit<'a> {
    /// A number that makes the names of local symbols unique to the translation unit.
    pub id: u64,
    /// How `restrict(amp)` is mapped.
    pub amp: Amp,
    /// The source.
    pub source: &'a Path,
    /// True if kernels report accesses outside of array_views.
    pub reports: bool,
    /// True if host code and kernels on host threads also report accesses outside of array_views; the headers contain these checks.
    pub host_checks: bool,
    /// The overlay file by which Clang reads rewritten sources in place of the originals.
    pub overlay: Option<&'a Path>,
    /// The header that makes the C++ library host+device code (`library`), for `Amp::DeviceBeforeHost`.
    pub library: Option<&'a Path>,
}

fn search(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

fn version(compiler: &Path) -> Option<u32> {
    if let Some(version) = version_by_path(&compiler.canonicalize().ok()?) {
        return Some(version);
    }
    let output = Command::new(compiler).arg("--version").output().ok()?;
    major_in(&String::from_utf8_lossy(&output.stdout))
}

/// The major version in the version text of Clang or libclang.
pub fn major_in(text: &str) -> Option<u32> {
    let number = text.split_once("clang version ")?.1;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The major version in the program's path: LLVM installs `clang-22`, and Debian uses `llvm-22/bin`. This is faster than to start Clang.
fn version_by_path(program: &Path) -> Option<u32> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let file = name(program)?;
    match file.strip_prefix("clang-") {
        Some(number) => number.parse().ok(),
        None if file == "clang" => name(program.parent()?.parent()?)?.strip_prefix("llvm-")?.parse().ok(),
        None => None,
    }
}

/// The libclang that is installed with one of these programs. The first program is the compiler. Its libclang is
/// preferred, because it accepts the same language as the compiler.
fn libclang(programs: [&Path; 2], major: u32) -> Result<PathBuf, String> {
    let names: &[&str] = if cfg!(windows) { &["bin"] } else { &["lib", "lib64"] };
    let home = |program: &&Path| Some(program.canonicalize().ok()?.parent()?.parent()?.to_path_buf());
    let mut homes: Vec<PathBuf> = programs.iter().filter_map(home).collect();
    homes.dedup();
    let homes: Vec<Vec<PathBuf>> =
        homes.iter().map(|home| names.iter().map(|name| home.join(name)).collect()).collect();
    let found = homes.iter().find_map(|folders| libclang_in(folders, major));
    found.ok_or_else(|| {
        let folders: Vec<String> = homes.iter().flatten().map(|folder| folder.display().to_string()).collect();
        format!(
            "libclang of Clang {major}, which checks C++ AMP's restrictions, was not found for {} (in {}); install it \
             (Debian and Ubuntu: apt-get install libclang1-{major})",
            programs[0].display(),
            folders.join(", ")
        )
    })
}

/// The best libclang in the folders. Prefers, in this order: a name with the major version, an earlier folder, a
/// shorter name (with fewer version components).
fn libclang_in(folders: &[PathBuf], major: u32) -> Option<PathBuf> {
    let files = |folder: &PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let all = folders.iter().enumerate().flat_map(|(n, folder)| files(folder).map(move |file| (n, file)));
    let ranked = all.filter_map(|(n, file)| {
        let name = file.file_name()?.to_str()?;
        let named = major_of_libclang(name)?;
        named.is_none_or(|named| named == major).then_some((named.is_none(), n, name.len(), file))
    });
    ranked.min().map(|(.., file)| file)
}

/// The major version in the name of a libclang, or `Some(None)` if the name has none; `None` for other files.
fn major_of_libclang(name: &str) -> Option<Option<u32>> {
    let (start, end) = name.strip_prefix("libclang")?.split_once(std::env::consts::DLL_SUFFIX)?;
    match start.strip_prefix('-') {
        Some(number) => number.parse().ok().map(Some),
        None if start.is_empty() => {
            let number = end.split('.').nth(1).and_then(|number| number.parse().ok());
            // 1 and 13 are numbers that distributions give to libclang's binary interface, not versions of libclang.
            Some(number.filter(|number| ![1, 13].contains(number)))
        }
        None => None,
    }
}

impl Clang {
    /// Finds the Clang that `REVAMP_CLANG` names. If the variable is not set, searches `PATH` for Clang.
    pub fn find() -> Result<Self, String> {
        let install = format!(
            "install Clang {VERSION} (Debian and Ubuntu: apt-get install clang-{VERSION} libclang1-{VERSION}), or set \
             the environment variable REVAMP_CLANG to a Clang {VERSION}"
        );
        let named = std::env::var_os("REVAMP_CLANG").filter(|name| !name.is_empty());
        let (compiler, found) = match named {
            Some(name) => {
                let path = PathBuf::from(&name);
                let found = if path.components().count() > 1 { Some(path) } else { search(&name.to_string_lossy()) };
                let found = found
                    .filter(|p| p.is_file())
                    .ok_or_else(|| format!("REVAMP_CLANG is {}, which does not exist", name.to_string_lossy()))?;
                let number = version(&found);
                (found, number)
            }
            None => {
                // The check of `found` below refuses a clang++ of another version, with a message that names the version.
                let path = search(&format!("clang++-{VERSION}")).or_else(|| search("clang++"));
                let path =
                    path.ok_or_else(|| format!("Clang {VERSION}, which compiles kernels, was not found; {install}"))?;
                let number = version(&path);
                (path, number)
            }
        };
        let found = found.ok_or_else(|| format!("{} is not Clang; {install}", compiler.display()))?;
        if found != VERSION {
            let path = compiler.display();
            return Err(format!("{path} is Clang {found}, but kernels need Clang {VERSION}; {install}"));
        }
        let home = compiler.canonicalize().ok().and_then(|p| p.parent().map(Path::to_path_buf));
        let tool = |name: &str| {
            let in_same_folder = home
                .as_ref()
                .map(|home| home.join(name).with_extension(std::env::consts::EXE_EXTENSION))
                .filter(|p| p.is_file());
            in_same_folder.or_else(|| search(&format!("{name}-{found}")))
        };
        let opt = tool("opt").unwrap_or_else(|| compiler.clone());
        let libclang = libclang([&compiler, &opt], found)?;
        // GNU's objcopy starts faster; LLVM's supports the object files of all systems.
        let objcopy = search("objcopy").or_else(|| tool("llvm-objcopy"));
        let objcopy =
            objcopy.ok_or("objcopy was not found; install it (Debian and Ubuntu: apt-get install binutils)")?;
        let multi_target_objcopy = tool("llvm-objcopy").unwrap_or_else(|| objcopy.clone());
        Ok(Self { compiler, major: found, libclang, opt, objcopy, multi_target_objcopy })
    }

    /// A command that runs this program as the child process `name`, which loads libLLVM. The first three arguments after `name` say where
    /// libLLVM is.
    pub fn child(&self, name: &str) -> Result<Command, String> {
        let mut command = files::child(name)?;
        command.arg(&self.compiler).arg(&self.opt).arg(self.major.to_string());
        Ok(command)
    }

    /// The command for one pass of Clang over a source. `flags`: the user's flags that matter to the pass.
    pub fn pass(&self, pass: Pass, unit: &Unit<'_>, flags: &[OsString]) -> Command {
        let mut command = Command::new(&self.compiler);
        command.args(["-nogpuinc", "-nogpulib", "--offload-arch=amdgcnspirv", "-Wno-cuda-compat"]);
        // For Clang, `throw(int)` is an error in C++17; Microsoft's compiler only warned.
        if !flags.iter().any(|flag| flag == "-Werror") {
            command.arg("-Wno-error=dynamic-exception-spec");
        }
        // With __HIPCC__, libraries would include HIP's own headers.
        command.arg("-U__HIPCC__");
        if unit.amp == Amp::DeviceBeforeHost || unit.amp.is_device() && pass == Pass::Host {
            // In the host pass, no library function is a wrong-side candidate, so the option is safe there.
            command.args(["-Xclang", "-fgpu-exclude-wrong-side-overloads"]);
        }
        // C++ AMP programs write properties with __declspec(property).
        command.arg("-fdeclspec");
        command.arg(format!("-cuid={:016x}", unit.id));
        // HIP's default fuses operations across statements. The user's flags come later and override this option.
        command.arg("-ffp-contract=on");
        if let Some(library) = unit.library.filter(|_| unit.amp == Amp::DeviceBeforeHost && pass != Pass::Host) {
            command.arg("-include").arg(library);
        }
        for flag in flags {
            // Without -Xclang, Clang's driver would look for a precompiled header in the folder of the file.
            let xclang = if flag == "-include" { Some("-Xclang") } else { None };
            command.args(xclang).arg(flag).args(xclang);
        }
        match pass {
            // This pass prints only the warning about misplaced restrictions; the host pass prints the others. A captured `this` is an
            // error in C++ AMP and a warning in Clang.
            Pass::Check => command.args([
                "--cuda-device-only",
                "-fsyntax-only",
                "-Wno-everything",
                "-Wignored-attributes",
                "-Werror=gpu-maybe-wrong-side",
                "-ferror-limit=0",
            ]),
            Pass::Device => command.args([
                "--cuda-device-only",
                "-w",
                "-O2",
                "-fno-vectorize",
                "-fno-slp-vectorize",
                "-gline-tables-only",
                "-fno-color-diagnostics",
                "-S",
                "-emit-llvm",
            ]),
            // No code calls the stub that Clang generates. With the old launch API, the stub needs no declarations.
            Pass::Host => command.args(["--cuda-host-only", "-fno-hip-new-launch-api", "-c"]),
            // LLVM's passes run later, when the code is assembled.
            Pass::OnHost => command.args([
                "--cuda-host-only",
                "-Xclang",
                "-fcuda-is-device",
                "-Xclang",
                "-disable-llvm-passes",
                "-DREVAMP_AMP_ON_HOST",
                "-w",
                "-emit-llvm",
                "-c",
            ]),
        };
        match (pass, unit.amp) {
            (Pass::Check, _) => {}
            (_, Amp::Both) => drop(command.arg("-DREVAMP_AMP_IS_BOTH")),
            // In these passes, Clang parses host code too, but does not emit it. The option keeps Clang from reporting calls that host code
            // cannot make.
            (Pass::Device | Pass::OnHost, Amp::Device) => {
                command.arg("-DREVAMP_AMP_IS_BOTH=2").arg("-fgpu-defer-diag");
            }
            (Pass::Device | Pass::OnHost, Amp::DeviceBeforeHost) => drop(command.arg("-DREVAMP_AMP_IS_BOTH=3")),
            // The host pass parses amp code and does not emit it; `Pass::Check` reports the errors of amp code.
            (Pass::Host, Amp::Device | Amp::DeviceBeforeHost) => drop(command.arg("-fgpu-defer-diag")),
        }
        if pass == Pass::Device && unit.reports {
            command.arg("-DREVAMP_AMP_REPORTS");
        }
        if matches!(pass, Pass::Host | Pass::OnHost) && unit.host_checks {
            command.arg("-DREVAMP_CHECK_BOUNDS");
        }
        if let Some(overlay) = unit.overlay {
            command.arg("-ivfsoverlay").arg(overlay);
        }
        command.args(["-x", "hip"]).arg(unit.source);
        command
    }

    /// A command that runs a pipeline in `opt`.
    #[cfg(test)]
    pub fn opt(&self, pipeline: &crate::llvm::Pipeline, input: &Path, output: &Path) -> Command {
        let mut command = Command::new(&self.opt);
        command.args(pipeline.options.iter().map(|option| option.argument()));
        command.args(["-S", &format!("-passes={}", pipeline.passes), "-o"]).arg(output).arg(input);
        command
    }

    /// A command that compiles LLVM IR to an object for a target, as the child process of `native` does.
    #[cfg(test)]
    pub fn assemble(&self, input: &Path, output: &Path, target: &str) -> Command {
        let mut command = Command::new(&self.compiler);
        command.arg(format!("--target={target}"));
        command.args(["-w", "-O3"]);
        command.args(NATIVE_CODE.iter().flat_map(|option| ["-mllvm".into(), option.argument()]));
        command.args(["-fPIC", "-fno-addrsig", "-c", "-x", "ir"]);
        command.arg(input).arg("-o").arg(output);
        command
    }

    /// A command that compiles LLVM IR to an object, with the flags that produced the IR.
    pub fn assemble_as_is(&self, input: &Path, output: &Path, flags: &[OsString]) -> Command {
        let mut command = Command::new(&self.compiler);
        // Most flags are for the front end, which does not run here.
        command.args(["-w", "-Qunused-arguments"]).args(flags);
        command.args(["-c", "-x", "ir"]).arg(input).arg("-o").arg(output);
        command
    }

    /// A command that joins objects into one object. `for_this_system`: the objects are for this system.
    pub fn join(&self, inputs: &[&Path], output: &Path, target: &str, for_this_system: bool) -> Command {
        // Runs the linker as Clang would, because starting Clang takes longer than the link itself.
        if let Some(linker) = search("ld").filter(|_| for_this_system && cfg!(target_os = "linux")) {
            let mut command = Command::new(linker);
            command.args(["--hash-style=gnu", "--build-id", "--eh-frame-hdr", "-r", "-o"]).arg(output).args(inputs);
            return command;
        }
        let mut command = Command::new(&self.compiler);
        command.arg(format!("--target={target}"));
        command.args(["-r", "-nostdlib"]);
        if target.contains("windows") {
            // By default GNU's linker truncates long section names in objects.
            command.arg("-Wl,--enable-long-section-names");
        }
        command.arg("-o").arg(output).args(inputs);
        command
    }
}

/// The symbols of Clang's registration code and their new names. Most are functions of librevamp, so that a program may link the HIP
/// runtime too. The symbols that Clang's stubs call become `abort` and `_Exit`; no code calls the stubs.
const RENAMED_SYMBOLS: [(&str, &str); 6] = [
    ("__hipRegisterFatBinary", "revamp_image_register"),
    ("__hipRegisterFunction", "revamp_image_add"),
    ("__hipUnregisterFatBinary", "revamp_image_unregister"),
    ("hipSetupArgument", "abort"),
    // Stubs call hipLaunchByPtr last. Its new name is not `abort`, because two symbols cannot get the same name.
    ("hipLaunchByPtr", "_Exit"),
    // The headers call this constructor. In a source without kernels, Clang does not generate it.
    ("__hip_module_ctor", "revamp_image_none"),
];

impl Clang {
    /// A command that renames the symbols of the registration code in an object.
    /// `register`: the function that replaces `revamp_image_register`, if any. `other_processor`: the object may be for another processor.
    pub fn rename(
        &self,
        input: &Path,
        output: &Path,
        register: Option<&str>,
        other_processor: bool,
        windows: bool,
    ) -> Command {
        let mut command = Command::new(if other_processor { &self.multi_target_objcopy } else { &self.objcopy });
        for (n, (from, to)) in RENAMED_SYMBOLS.iter().enumerate() {
            let to = register.filter(|_| n == 0).unwrap_or(to);
            command.arg(format!("--redefine-sym={from}={to}"));
        }
        if windows {
            // When GNU's linker joins objects, it sorts the unwind table `.pdata` but not the relocations of the table. It does not sort a
            // section with another name.
            command.arg("--rename-section=.pdata=.pdata$");
        }
        command.arg(input).arg(output);
        command
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn libclang_is_chosen_by_the_version_in_its_name() {
        let root = std::env::temp_dir().join(format!("kernelc-libclang-{}", std::process::id()));
        let folders = ["lib", "lib64"].map(|name| root.join(name));
        // Each chosen file is better than the files before it.
        for (folder, name, chosen) in [
            (0, "libclang-cpp.so.22.1", false),
            (0, "libclang_rt.so", false),
            (0, "libclang.txt", false),
            (0, "libclang.so.21.1", false),
            (0, "libclang-14.so.1", false),
            (1, "libclang.so.13", true),
            (1, "libclang.so", true),
            (0, "libclang.so.1", true),
            (0, "libclang.so", true),
            (1, "libclang-22.so.22.1.8", true),
            (1, "libclang-22.so.1", true),
            (0, "libclang.so.22.1.8", true),
            (0, "libclang.so.22.1", true),
            (1, "libclang.so.22", false),
        ] {
            std::fs::create_dir_all(&folders[folder]).unwrap();
            let before = libclang_in(&folders, 22);
            let file = folders[folder].join(name);
            std::fs::write(&file, "").unwrap();
            assert_eq!(libclang_in(&folders, 22), if chosen { Some(file) } else { before }, "{name}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}
