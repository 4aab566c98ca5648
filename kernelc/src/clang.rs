//! Clang: where it is, and how each pass calls it.

use crate::files;
#[cfg(test)]
use crate::pipelines::NATIVE_CODE;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of LLVM that works: docs/kernel-compiler-reference.md#versions-of-llvm says what others lack.
pub const VERSION: u32 = 22;

/// A Clang with its tools.
pub struct Clang {
    /// The compiler for C++.
    pub compiler: PathBuf,
    /// Its major version.
    pub major: u32,
    /// libclang of the same LLVM, which checks C++ AMP's restrictions.
    pub libclang: PathBuf,
    /// LLVM's optimiser of the same version, if it is installed, else the compiler: libraries are looked for beside it too.
    pub opt: PathBuf,
    /// Renames symbols.
    pub objcopy: PathBuf,
    /// That knows objects of other processors.
    pub objcopy_of_all: PathBuf,
}

/// The pass of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// Diagnostics of the device's code, by the rules of restrict.
    Check,
    /// The device's code as LLVM IR.
    Device,
    /// The host's object.
    Host,
    /// The device's code for the host's processor, as LLVM's bitcode.
    OnHost,
}

/// How `restrict(amp)` is mapped in the code-generation passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amp {
    /// The host's and the device's: host threads run it too.
    Both,
    /// The device's alone, since the source overloads on restriction. Functions of both sides then take the device's before the
    /// host's.
    Device,
    /// The same, and functions of both sides take others of both before the host's, as in C++ AMP. Clang calls that
    /// -fgpu-exclude-wrong-side-overloads, and counts deleted functions as of both: where it moves what only the host can, it finds
    /// the deleted copy. So the library is one of both (`library`), deleted functions of the program's are the host's
    /// (`source_rewrite`), and all this is only where it is needed. Implicit members of classes
    /// take after the host's where both are there; so for the device it is a function of both that says what tells it apart.
    DeviceBeforeHost,
}

impl Amp {
    /// The source overloads on restriction.
    pub fn is_device(self) -> bool {
        self != Self::Both
    }
}

/// What the two passes that make code must agree on.
#[derive(Clone, Copy)]
pub struct Unit<'a> {
    /// Makes names of what is local to the translation unit differ from those of others.
    pub id: u64,
    /// What restrict(amp) is.
    pub amp: Amp,
    /// The source.
    pub source: &'a Path,
    /// Accesses outside of array_views are reported.
    pub reports: bool,
    /// By host code and host threads too: the headers check there.
    pub host_checks: bool,
    /// What makes Clang read another text in its place.
    pub overlay: Option<&'a Path>,
    /// What makes the C++ library one of both sides (`library`), for `Amp::DeviceBeforeHost`.
    pub library: Option<&'a Path>,
}

fn search(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

fn version(compiler: &Path) -> Option<u32> {
    if let Some(version) = version_by_place(&compiler.canonicalize().ok()?) {
        return Some(version);
    }
    let output = Command::new(compiler).arg("--version").output().ok()?;
    major_in(&String::from_utf8_lossy(&output.stdout))
}

/// The major version in what Clang or libclang says of itself.
pub fn major_in(text: &str) -> Option<u32> {
    let number = text.split_once("clang version ")?.1;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// LLVM installs `clang-22`, Debian all of it in `llvm-22/bin`: to start Clang to ask it takes longer.
fn version_by_place(program: &Path) -> Option<u32> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let file = name(program)?;
    match file.strip_prefix("clang-") {
        Some(number) => number.parse().ok(),
        None if file == "clang" => name(program.parent()?.parent()?)?.strip_prefix("llvm-")?.parse().ok(),
        None => None,
    }
}

/// libclang of the LLVM of these programs, the compiler first: it reads the same language.
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
            "libclang of Clang {major}, which checks C++ AMP's restrictions, was not found for {} (in {}); Debian and Ubuntu: \
             apt-get install libclang1-{major}",
            programs[0].display(),
            folders.join(", ")
        )
    })
}

/// libclang among the files of folders: a name with the version first, then the folder, then the shortest name, which has the least of
/// the version.
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

/// The major version in the name of a libclang, if it has one; nothing for other files.
fn major_of_libclang(name: &str) -> Option<Option<u32>> {
    let (start, end) = name.strip_prefix("libclang")?.split_once(std::env::consts::DLL_SUFFIX)?;
    match start.strip_prefix('-') {
        Some(number) => number.parse().ok().map(Some),
        None if start.is_empty() => {
            let number = end.split('.').nth(1).and_then(|number| number.parse().ok());
            // Distributions number the interface so, whatever the version.
            Some(number.filter(|number| ![1, 13].contains(number)))
        }
        None => None,
    }
}

impl Clang {
    /// Looks for one: `REVAMP_CLANG`, then by name.
    pub fn find() -> Result<Self, String> {
        let install = format!(
            "install it (Debian and Ubuntu: apt-get install clang-{VERSION} libclang1-{VERSION}), or name one by the \
                               environment variable REVAMP_CLANG"
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
                // A clang++ of another version is refused below, with that version.
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
            let beside = home
                .as_ref()
                .map(|home| home.join(name).with_extension(std::env::consts::EXE_EXTENSION))
                .filter(|p| p.is_file());
            beside.or_else(|| search(&format!("{name}-{found}")))
        };
        let opt = tool("opt").unwrap_or_else(|| compiler.clone());
        let libclang = libclang([&compiler, &opt], found)?;
        // The one that starts faster, and the one that knows all systems' objects.
        let objcopy = search("objcopy").or_else(|| tool("llvm-objcopy"));
        let objcopy = objcopy.ok_or("objcopy was not found; Debian and Ubuntu: apt-get install binutils")?;
        let objcopy_of_all = tool("llvm-objcopy").unwrap_or_else(|| objcopy.clone());
        Ok(Self { compiler, major: found, libclang, opt, objcopy, objcopy_of_all })
    }

    /// A call of this program as a child process of this name that loads libLLVM: the first three arguments say where that is.
    pub fn child(&self, name: &str) -> Result<Command, String> {
        let mut command = files::child(name)?;
        command.arg(&self.compiler).arg(&self.opt).arg(self.major.to_string());
        Ok(command)
    }

    /// A call of the compiler for one pass, with the user's flags that matter there.
    pub fn pass(&self, pass: Pass, unit: &Unit<'_>, flags: &[OsString]) -> Command {
        let mut command = Command::new(&self.compiler);
        command.args(["-nogpuinc", "-nogpulib", "--offload-arch=amdgcnspirv", "-Wno-cuda-compat"]);
        // C++17 has no `throw(int)`, which is an error for Clang by default; C++ AMP's compiler warned.
        if !flags.iter().any(|flag| flag == "-Werror") {
            command.arg("-Wno-error=dynamic-exception-spec");
        }
        // Libraries would look for HIP's own headers.
        command.arg("-U__HIPCC__");
        if unit.amp == Amp::DeviceBeforeHost || unit.amp.is_device() && pass == Pass::Host {
            // For the host nothing of a library is on the other side.
            command.args(["-Xclang", "-fgpu-exclude-wrong-side-overloads"]);
        }
        // __declspec(property) is how C++ AMP programs write properties.
        command.arg("-fdeclspec");
        command.arg(format!("-cuid={:016x}", unit.id));
        // HIP's default contracts across statements. The user's flags come last, so they prevail.
        command.arg("-ffp-contract=on");
        if let Some(library) = unit.library.filter(|_| unit.amp == Amp::DeviceBeforeHost && pass != Pass::Host) {
            command.arg("-include").arg(library);
        }
        for flag in flags {
            // The driver would look for a precompiled one beside it.
            let included = if flag == "-include" { Some("-Xclang") } else { None };
            command.args(included).arg(flag).args(included);
        }
        match pass {
            // Warnings are the host's but one: that a restriction stands where none can. Captured `this` is an error in C++ AMP,
            // and a warning to Clang.
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
            // The stub is never called: the older way to launch needs no declarations.
            Pass::Host => command.args(["--cuda-host-only", "-fno-hip-new-launch-api", "-c"]),
            // The passes that flags ask for run when the code is assembled.
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
            // Host code is read here too, and makes nothing: what it cannot call is no matter.
            (Pass::Device | Pass::OnHost, Amp::Device) => {
                command.arg("-DREVAMP_AMP_IS_BOTH=2").arg("-fgpu-defer-diag");
            }
            (Pass::Device | Pass::OnHost, Amp::DeviceBeforeHost) => drop(command.arg("-DREVAMP_AMP_IS_BOTH=3")),
            // As amp code here: what is wrong with it the check tells.
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

    /// A call of the optimiser for a pipeline.
    #[cfg(test)]
    pub fn opt(&self, pipeline: &crate::llvm::Pipeline, input: &Path, output: &Path) -> Command {
        let mut command = Command::new(&self.opt);
        command.args(pipeline.options.iter().map(|option| option.argument()));
        command.args(["-S", &format!("-passes={}", pipeline.passes), "-o"]).arg(output).arg(input);
        command
    }

    /// A call that makes an object of LLVM IR for a system, as the process of `native` does.
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

    /// A call that makes an object of LLVM IR with the flags that the IR was made with.
    pub fn assemble_as_is(&self, input: &Path, output: &Path, flags: &[OsString]) -> Command {
        let mut command = Command::new(&self.compiler);
        // Most flags are the front end's.
        command.args(["-w", "-Qunused-arguments"]).args(flags);
        command.args(["-c", "-x", "ir"]).arg(input).arg("-o").arg(output);
        command
    }

    /// A call that joins objects to one. `own`: they are for the system that this is.
    pub fn join(&self, inputs: &[&Path], output: &Path, target: &str, own: bool) -> Command {
        // As Clang calls it; to start Clang takes longer than that.
        if let Some(linker) = search("ld").filter(|_| own && cfg!(target_os = "linux")) {
            let mut command = Command::new(linker);
            command.args(["--hash-style=gnu", "--build-id", "--eh-frame-hdr", "-r", "-o"]).arg(output).args(inputs);
            return command;
        }
        let mut command = Command::new(&self.compiler);
        command.arg(format!("--target={target}"));
        command.args(["-r", "-nostdlib"]);
        if target.contains("windows") {
            // GNU's linker cuts them in objects.
            command.arg("-Wl,--enable-long-section-names");
        }
        command.arg("-o").arg(output).args(inputs);
        command
    }
}

/// A symbol of Clang's registration, and what it becomes: functions of the library, so that a program may link the HIP runtime
/// too. The stubs, which nobody calls, would end the program.
const RENAMED: [(&str, &str); 6] = [
    ("__hipRegisterFatBinary", "revamp_image_register"),
    ("__hipRegisterFunction", "revamp_image_add"),
    ("__hipUnregisterFatBinary", "revamp_image_unregister"),
    ("hipSetupArgument", "abort"),
    // Behind the one before. Two cannot have one name.
    ("hipLaunchByPtr", "_Exit"),
    // Where there are no kernels, Clang makes no such function, and the headers run this one.
    ("__hip_module_ctor", "revamp_image_none"),
];

impl Clang {
    /// A call that renames the registration's symbols in an object.
    /// `register`: what registers the image in place of the library's function. `other`: it may be for another processor.
    pub fn rename(&self, input: &Path, output: &Path, register: Option<&str>, other: bool, windows: bool) -> Command {
        let mut command = Command::new(if other { &self.objcopy_of_all } else { &self.objcopy });
        for (n, (from, to)) in RENAMED.iter().enumerate() {
            let to = register.filter(|_| n == 0).unwrap_or(to);
            command.arg(format!("--redefine-sym={from}={to}"));
        }
        if windows {
            // Where GNU's linker joins objects it sorts what unwinds the stack, but not its relocations, if it finds it by that name.
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
        // The better ones later.
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
