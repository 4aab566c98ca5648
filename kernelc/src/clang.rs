//! Clang and `opt`: where they are, and how each pass calls them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of LLVM that works: docs/kernel-compiler.md#other-versions-of-llvm says what others lack.
pub const VERSION: u32 = 22;

/// The passes that prepare a module for `lower`: address spaces inferred, no switch. Before that, optimisations that LLVM leaves
/// to its back ends and drivers do not do: unrolling by 8 of loops whose length is known at run time only (`UNROLL`), and then strength
/// reduction of the addresses in loops: before, it made a chain of sums of what was unrolled. `sccp` drops the rest of a loop that
/// was unrolled for as often as it may iterate.
const PASSES: &str = "default<O2>,infer-address-spaces,sroa,\
    instcombine<no-verify-fixpoint>,simplifycfg<bonus-inst-threshold=4;speculate-blocks>,lower-switch,\
    function(separate-const-offset-from-gep,slsr,early-cse,nary-reassociate,early-cse)";

/// Unrolling and what follows it.
const UNROLL: &str = "function(loop-unroll<runtime>,early-cse,sccp,slsr,early-cse,loop(loop-reduce),early-cse)";

/// The passes after those: structured control flow.
const STRUCTURE: &str = "function(mergereturn,loop-simplify,lcssa,unify-loop-exits,fix-irreducible,structurizecfg),sroa,\
    instsimplify,dce";

/// Inlines all calls. Each splits its block, so many calls in a row take quadratic time.
const INLINE: &str = "internalize,globaldce,always-inline";

/// The same for large kernels: callees first, and each made small before it is copied.
const INLINE_LARGE: &str = "internalize,globaldce,cgscc(inline<only-mandatory>,function<eager-inv>(sroa,early-cse,simplifycfg,\
    loop(loop-unroll-full),instcombine<no-verify-fixpoint>,simplifycfg))";

/// Loops that copy or set memory stay loops: as one call of a length that is known they would be unrolled, and of another
/// length they have no form here.
const LOOPS: &str = "-disable-loop-idiom-all";

/// Branches in a row stay so. What jump threading makes of them is no longer structured, and to make it so again takes more than a
/// branch; of a short one drivers make instructions with a condition.
const JUMPS: &str = "-opt-disable=jump-threading";

/// How often loops iterate is found out before an unrolled one also where that takes some arithmetic.
const LENGTHS: &str = "-scev-cheap-expansion-budget=20";

/// Numbers that count loops keep 32 bits where the source has them so: GPUs count, multiply and add 64 bits several times as slowly.
const COUNTERS: &str = "-indvars-widen-indvars=false";

/// How much loops are unrolled. Drivers take longer than linear for large kernels, so one that becomes too large by it
/// (`kernels::UNROLLED`) is unrolled less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unrolling {
    /// Loops of a known length of up to 32 become straight code of up to some thousand instructions, as CUDA's compiler does it.
    Short,
    /// As `Short`, and large loops that count by 4 (`large_loops`).
    Large,
    /// Longer ones than `Short` too: arrays of a thread whose indices are constants then are values. Without such arrays it gains nothing, and
    /// drivers take ten times as long for the kernel.
    Much,
    /// As LLVM does it for processors.
    Some,
    /// Only loops of a few instructions.
    Little,
    /// As `Some`, and only loops of a known length. Unrolled by 8, a loop of less leaves one without an end where LLVM sees that
    /// it cannot end there and not that it never begins.
    Known,
}

impl Unrolling {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Short | Self::Large => &["-unroll-threshold=2500", "-unroll-full-max-count=32"],
            Self::Much => &["-unroll-threshold=2500"],
            Self::Some | Self::Known => &[],
            Self::Little => &["-unroll-threshold=30", "-unroll-runtime=false"],
        }
    }
}

/// Makes values of the variables of inlined code, and leaves its control flow as the user wrote it.
const VALUES: &str = "function(sroa,early-cse,loop(loop-rotate,loop-unroll-full),sroa,instcombine<no-verify-fixpoint>,\
    infer-address-spaces,early-cse),globaldce";

/// Compares all addresses in pairs: left out for large kernels.
const QUADRATIC: &str = "slsr,";

/// How `opt` prepares kernels for native code: all calls inlined, no vectors yet, and no value used in another block than its own.
const NATIVE_PASSES: &str = "internalize,globaldce,always-inline,default<O2>,function(reg2mem)";

/// A Clang with its tools.
pub struct Clang {
    /// The compiler for C++.
    pub compiler: PathBuf,
    /// LLVM's optimiser of the same version.
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
}

/// How a source's kernels are optimised.
#[derive(Clone, Copy)]
pub struct Optimised {
    /// One is large, as `always_inline::is_large` says.
    pub large: bool,
    /// Of loops.
    pub unrolling: Unrolling,
    /// Accesses are checked.
    pub checked: bool,
    /// With structured control flow. Else `structure` is to make it.
    pub structured: bool,
}

/// What code that is restrict(amp) is where code is made of it.
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
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
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

impl Clang {
    /// Looks for one: `REVAMP_CLANG`, then by name.
    pub fn find() -> Result<Self, String> {
        let install = format!(
            "install it (Debian and Ubuntu: apt-get install clang-{VERSION} llvm-{VERSION}), or name one by the \
                               environment variable REVAMP_CLANG"
        );
        let named = std::env::var_os("REVAMP_CLANG").filter(|name| !name.is_empty());
        let (compiler, found) = match named {
            Some(name) => {
                let path = PathBuf::from(&name);
                let found = if path.components().count() > 1 { Some(path) } else { search(&name.to_string_lossy()) };
                let found = found
                    .filter(|p| p.is_file())
                    .ok_or_else(|| format!("REVAMP_CLANG is {}, which is not there", name.to_string_lossy()))?;
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
        let found = found.ok_or_else(|| format!("{} does not say that it is Clang; {install}", compiler.display()))?;
        if found != VERSION {
            let path = compiler.display();
            return Err(format!("{path} is Clang {found}: only Clang {VERSION} compiles kernels; {install}"));
        }
        let home = compiler.canonicalize().ok().and_then(|p| p.parent().map(Path::to_path_buf));
        let tool = |name: &str| {
            let beside = home
                .as_ref()
                .map(|home| home.join(name).with_extension(std::env::consts::EXE_EXTENSION))
                .filter(|p| p.is_file());
            beside.or_else(|| search(&format!("{name}-{found}")))
        };
        let opt = tool("opt").ok_or_else(|| {
            format!(
                "opt of LLVM {found} was not found beside {}; Debian and Ubuntu: apt-get install llvm-{found}",
                compiler.display()
            )
        })?;
        // The one that starts faster, and the one that knows all systems' objects.
        let objcopy = search("objcopy").or_else(|| tool("llvm-objcopy"));
        let objcopy = objcopy.ok_or("objcopy was not found; Debian and Ubuntu: apt-get install binutils")?;
        let objcopy_of_all = tool("llvm-objcopy").unwrap_or_else(|| objcopy.clone());
        Ok(Self { compiler, opt, objcopy, objcopy_of_all })
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
            // Warnings are the host's. Captured `this` is an error in C++ AMP, and a warning to Clang.
            Pass::Check => command.args([
                "--cuda-device-only",
                "-fsyntax-only",
                "-w",
                "-Werror=gpu-maybe-wrong-side",
                "-ferror-limit=0",
                "-fno-color-diagnostics",
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
        };
        match (pass, unit.amp) {
            (Pass::Check, _) => {}
            (_, Amp::Both) => drop(command.arg("-DREVAMP_AMP_IS_BOTH")),
            // Host code is read here too, and makes nothing: what it cannot call is no matter.
            (Pass::Device, Amp::Device) => {
                command.arg("-DREVAMP_AMP_IS_BOTH=2").arg("-fgpu-defer-diag");
            }
            (Pass::Device, Amp::DeviceBeforeHost) => drop(command.arg("-DREVAMP_AMP_IS_BOTH=3")),
            // As amp code here: what is wrong with it the check tells.
            (Pass::Host, Amp::Device | Amp::DeviceBeforeHost) => drop(command.arg("-fgpu-defer-diag")),
        }
        if pass == Pass::Device && unit.reports {
            command.arg("-DREVAMP_AMP_REPORTS");
        }
        if pass == Pass::Host && unit.host_checks {
            command.arg("-DREVAMP_CHECK_BOUNDS");
        }
        if let Some(overlay) = unit.overlay {
            command.arg("-ivfsoverlay").arg(overlay);
        }
        command.args(["-x", "hip"]).arg(unit.source);
        command
    }

    /// A call of the optimiser for these passes.
    pub fn passes(&self, passes: &str, input: &Path, output: &Path) -> Command {
        let mut command = Command::new(&self.opt);
        command.args(["-S", &format!("-passes={passes}"), "-o"]).arg(output).arg(input);
        command
    }

    /// A call of the optimiser that only inlines, makes values of variables, and names both.
    pub fn inline(&self, input: &Path, output: &Path, large: bool) -> Command {
        let mut command = Command::new(&self.opt);
        let inline = if large { INLINE_LARGE } else { INLINE };
        command
            .args(["-S", &format!("-passes={inline},function(sroa,loop-simplify,instnamer)"), "-o"])
            .arg(output)
            .arg(input);
        command
    }

    /// A call of the optimiser that leaves out what conditions that are constant now never reach.
    pub fn fold(&self, input: &Path, output: &Path) -> Command {
        let mut command = Command::new(&self.opt);
        command.args(["-S", "-passes=function(instsimplify,simplifycfg),internalize,globaldce", "-o"]);
        command.arg(output).arg(input);
        command
    }

    /// A call of the optimiser that prepares kernels for the host's processor. `lines`: with those of the source.
    pub fn prepare_native(&self, input: &Path, output: &Path, lines: bool) -> Command {
        let mut command = Command::new(&self.opt);
        command.args(["-vectorize-slp=false", "-vectorize-loops=false", "-unroll-runtime=false"]);
        if !lines {
            command.arg("-strip-debug");
        }
        // A value made twice on two ways would be one that no few instructions make again.
        command.args(["-enable-pre=false", "-enable-load-pre=false"]);
        // Stores to elements side by side would become one to an address that is chosen; and sums of other order do not tell
        // that they do not overflow.
        command.args(["-sink-common-insts=false", "-opt-disable=reassociate"]);
        command.args(["-S", &format!("-passes={}", NATIVE_PASSES), "-o"]).arg(output).arg(input);
        command
    }

    /// A call that makes an object of LLVM IR for a system.
    pub fn assemble(&self, input: &Path, output: &Path, target: &str) -> Command {
        let mut command = Command::new(&self.compiler);
        command.arg(format!("--target={target}"));
        // A loop over threads that is unrolled whole before vectors are made of it becomes scattered ones.
        // One that asks what is the same for all threads (the bits of a texture) becomes one for each answer, for vectors.
        command.args([
            "-w",
            "-O3",
            "-mllvm",
            "-unroll-full-max-count=7",
            "-mllvm",
            "-unswitch-threshold=1000",
            "-fPIC",
            "-fno-addrsig",
            "-c",
            "-x",
            "ir",
        ]);
        command.arg(input).arg("-o").arg(output);
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

    /// A call of the optimiser for what looks at the user's control flow.
    pub fn values(&self, input: &Path, output: &Path, large: bool) -> Command {
        let mut command = Command::new(&self.opt);
        let inline = if large { INLINE_LARGE } else { INLINE };
        command.args(["-S", &format!("-passes={inline},{VALUES}"), "-o"]).arg(output).arg(input);
        command
    }

    /// A call of the optimiser that structures the control flow of what `optimise` left.
    pub fn structure(&self, input: &Path, output: &Path) -> Command {
        let mut command = Command::new(&self.opt);
        command.args(["-S", &format!("-passes={STRUCTURE}"), "-o"]).arg(output).arg(input);
        command
    }

    /// A call of the optimiser. With `Unrolling::Short` it writes to standard error what the module was before loops of a length
    /// known at run time only were unrolled.
    pub fn optimise(&self, input: &Path, output: &Path, how: Optimised) -> Command {
        let mut command = Command::new(&self.opt);
        // Vectors would be split into scalars again.
        command.args(["-vectorize-slp=false", "-vectorize-loops=false"]);
        command.args([LENGTHS, LOOPS, JUMPS, COUNTERS]);
        command.args(how.unrolling.arguments());
        if how.checked {
            // Neighbours that are loaded together would both be outside where one is.
            command.arg("-aggressive-instcombine-max-scan-instrs=0");
        }
        let mut passes = if how.large {
            format!("{INLINE_LARGE},{PASSES},{UNROLL}").replace(QUADRATIC, "")
        } else if how.unrolling == Unrolling::Short {
            format!("{INLINE},{PASSES},print,{UNROLL}")
        } else {
            format!("{INLINE},{PASSES},{UNROLL}")
        };
        if how.unrolling == Unrolling::Known {
            passes = passes.replace("loop-unroll<runtime>", "loop-unroll<no-runtime>");
        }
        if how.structured {
            passes = format!("{passes},{STRUCTURE}");
        }
        command.args(["-S", &format!("-passes={passes}"), "-o"]).arg(output).arg(input);
        command
    }

    /// A call of the optimiser for what such a module still has before it.
    pub fn unroll(&self, input: &Path, output: &Path) -> Command {
        let mut command = self.passes(&format!("{UNROLL},{STRUCTURE}"), input, output);
        command.arg(LENGTHS).args(Unrolling::Large.arguments());
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
