//! The environment variables of the project, in one table. The settings, their documentation and their listing in the log
//! come from this table.

use crate::log;
use crate::trace::log::Level;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// One environment variable.
pub struct Variable {
    /// The name of the variable.
    pub name: &'static str,
    /// The values that the variable accepts.
    pub accepts: &'static str,
    /// The value in effect if the variable is not set, or a description of that value.
    pub default: &'static str,
    /// The effect of the variable.
    pub help: &'static str,
}

/// All variables that the library reads. `scripts/settings` writes `docs/environment.md` and `scripts/neutral` from this
/// table.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: "CPPAMP_DEFAULT_ACCELERATOR",
        accepts: "a device_path",
        default: "chosen by the library",
        help: "The default accelerator, unless the program sets one first.",
    },
    Variable {
        name: "REVAMP_VISIBLE_DEVICES",
        accepts: "comma-separated list; an entry is an index, a device UUID or a part of the device name",
        default: "all",
        help: "Vulkan devices to offer, in this order; the others are listed as hidden.",
    },
    Variable {
        name: "REVAMP_LOG",
        accepts: "off, error, warn, info, debug (or 0 to 4)",
        default: "warn",
        help: "How much is written to standard error.",
    },
    Variable {
        name: "REVAMP_TRACE",
        accepts: "a file",
        default: "none",
        help: "Records what the library does in this file, from the first call to the end of the process: a trace that ui.perfetto.dev and revamp-trace open. %p in the name becomes the process's id.",
    },
    Variable {
        name: "REVAMP_TRACE_DEVICE",
        accepts: "0, 1",
        default: "0",
        help: "1 adds the working times of devices to traces, measured by timestamps. Launches take longer.",
    },
    Variable {
        name: "REVAMP_TRACE_LINES",
        accepts: "0, 1",
        default: "0",
        help: "1 adds the source lines of calls to traces, from the program's debug information. Calls take longer.",
    },
    Variable {
        name: "REVAMP_VALIDATION",
        accepts: "0, 1, 2",
        default: "0",
        help: "1 loads the Vulkan validation layer with synchronization validation and logs its messages as warnings. With 2, a call that causes a message also fails. With 1 and 2, revamp ends before the layer, so launches in static destructors fail.",
    },
    Variable {
        name: "REVAMP_DEBUG_PRINTF",
        accepts: "0, 1",
        default: "0",
        help: "1 prints direct3d_printf output of Vulkan devices to standard error, through the validation layer; direct3d_errorf and direct3d_abort make a later call fail. Slow.",
    },
    Variable {
        name: "REVAMP_CHECK",
        accepts: "0, 1",
        default: "0",
        help: "1 logs races (rules AV-23, AV-24, STG-14) as errors that name both calls. Slow.",
    },
    Variable {
        name: "REVAMP_MEMORY",
        accepts: "auto, separate",
        default: "auto",
        help: "separate gives every accelerator private memory, as a discrete GPU has.",
    },
    Variable {
        name: "REVAMP_HOST_THREADS",
        accepts: "1 to 1024",
        default: "one for each processor",
        help: "Threads of the host-thread accelerator.",
    },
    Variable {
        name: "REVAMP_HOST_KERNELS",
        accepts: "native, coroutines, v1, v3, v4",
        default: "native",
        help: "How host threads run compiled kernels. native: native code for this processor; v1, v3, v4: native code for at most x86-64-v1, -v3, -v4. coroutines: the program's function, with a coroutine for each thread that waits at a barrier, for debuggers and sanitizers.",
    },
    Variable {
        name: "REVAMP_WORKGROUPS",
        accepts: "off, on, atomics, force",
        default: "on",
        help: "on: times launches of long kernels without tiles on a GPU to find their fastest workgroup, and stores the workgroup on disk. atomics: also for kernels whose atomic operations may sum floats (their order changes results). force (for tests): searches at once, also on software devices.",
    },
    Variable {
        name: "REVAMP_CACHE",
        accepts: "rw, ro, off",
        default: "rw",
        help: "Access to the files of the pipeline cache and of the fastest workgroup sizes.",
    },
    Variable {
        name: "REVAMP_CACHE_DIR",
        accepts: "a folder",
        default: "revamp below the user's cache folder",
        help: "The folder that keeps the pipeline cache and the fastest workgroup sizes.",
    },
    Variable {
        name: "REVAMP_TEST",
        accepts: "comma-separated list of no-vulkan, fail-alloc=N, fail-submit=N, fail-thread=N, fail-threads=N, lose-device=N, copy=buffer|kernel|lane, groups=N, samplers=N, words, gpu-code, radv-code, plain-floats, no-timestamps, gpu",
        default: "none",
        help: "For tests only; TestSwitches in src/config.rs describes each.",
    },
];

/// The variables that the tools read when a program is built: the kernel compiler, and CMake.
pub const TOOL_VARIABLES: &[Variable] = &[
    Variable {
        name: "REVAMP_CLANG",
        accepts: "a program",
        default: "clang++-22, then clang++, on PATH",
        help: "The Clang 22 that compiles kernels (docs/kernel-compiler-reference.md lists its libraries). Also a CMake variable.",
    },
    Variable {
        name: "REVAMP_KERNEL_DUMP",
        accepts: "a folder",
        default: "none",
        help: "Where the kernel compiler writes the LLVM IR and SPIR-V of each source.",
    },
    Variable {
        name: "REVAMP_KERNEL_REPORT",
        accepts: "0 or 1",
        default: "0",
        help: "1 makes the kernel compiler report on each kernel, as with -famp-report.",
    },
    Variable {
        name: "REVAMP_KERNEL_VERIFY",
        accepts: "0 or 1",
        default: "0",
        help: "1 makes LLVM verify the result of each pass and pipeline.",
    },
];

/// The form of a compiled kernel that host threads run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKernels {
    /// Native code, for at most this level of the processor: 0, 1, 2 are x86-64-v1, -v3, -v4.
    Native(usize),
    /// The program's function.
    Coroutines,
}

/// The kernels without tiles for which the library searches for the fastest workgroup (decision 37).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workgroups {
    /// None.
    Off,
    /// Kernels on hardware devices, except those with atomic operations whose order may change the result.
    On,
    /// All kernels on hardware devices.
    Atomics,
    /// Like `On`, but also on software devices, and without waiting until a search pays off.
    Force,
}

/// The default: docs/results/kernel-suite.md has the gain.
const WORKGROUPS: Workgroups = Workgroups::On;

/// How the pipeline cache on disk is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMode {
    /// Read and written.
    ReadWrite,
    /// Only read.
    ReadOnly,
    /// Not touched.
    Off,
}

/// Forced behaviour for tests (`REVAMP_TEST`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestSwitches {
    /// Behave as if no Vulkan loader were installed.
    pub no_vulkan: bool,
    /// The Nth device allocation (from 1) fails for lack of memory.
    pub fail_alloc: Option<u64>,
    /// The Nth submission (from 1) fails for lack of memory.
    pub fail_submit: Option<u64>,
    /// The Nth start of a thread (from 1) fails.
    pub fail_thread: Option<u64>,
    /// The Nth start of a thread (from 1) fails, and all that follow.
    pub fail_threads: Option<u64>,
    /// The Nth submission (from 1) finds the device lost.
    pub lose_device: Option<u64>,
    /// Forces one of the device copy paths: `buffer`, `kernel` or `lane`.
    pub copy: Option<String>,
    /// Upper limit for groups in one dimension of one dispatch.
    pub groups: Option<u32>,
    /// Upper limit for samplers of a device.
    pub samplers: Option<u32>,
    /// All queues have completion words, not only the transfer queues of hardware devices.
    pub words: bool,
    /// Kernels on any device get the code that suits GPU drivers.
    pub gpu_code: bool,
    /// Kernels on any device get the code that suits Mesa's driver for AMD GPUs.
    pub radv_code: bool,
    /// Kernels rely only on Vulkan's floating-point guarantees, not on those of the device.
    pub plain_floats: bool,
    /// Devices have no timestamps.
    pub no_timestamps: bool,
    /// The choice of the default accelerator treats any Vulkan device as a GPU.
    pub gpu: bool,
}

/// All settings, read once from the environment.
#[derive(Debug, Clone)]
pub struct Config {
    /// `CPPAMP_DEFAULT_ACCELERATOR`.
    pub default_accelerator: Option<String>,
    /// `REVAMP_VISIBLE_DEVICES`, split at commas.
    pub visible_devices: Option<Vec<String>>,
    /// `REVAMP_LOG`.
    pub log: Level,
    /// `REVAMP_TRACE`.
    pub trace: Option<PathBuf>,
    /// `REVAMP_TRACE_DEVICE=1`.
    pub trace_device: bool,
    /// `REVAMP_TRACE_LINES=1`.
    pub trace_lines: bool,
    /// `REVAMP_VALIDATION`: 0, 1 or 2.
    pub validation: u8,
    /// `REVAMP_DEBUG_PRINTF=1`.
    pub debug_printf: bool,
    /// `REVAMP_CHECK=1`.
    pub check: bool,
    /// `REVAMP_MEMORY=separate`.
    pub separate_memory: bool,
    /// `REVAMP_HOST_THREADS`.
    pub host_threads: usize,
    /// `REVAMP_HOST_KERNELS`.
    pub host_kernels: HostKernels,
    /// `REVAMP_WORKGROUPS`.
    pub workgroups: Workgroups,
    /// `REVAMP_CACHE`.
    pub cache: CacheMode,
    /// `REVAMP_CACHE_DIR` or the user's cache folder; `None` if neither is known.
    pub cache_dir: Option<PathBuf>,
    /// `REVAMP_TEST`.
    pub test: TestSwitches,
}

/// The settings of this process. The first call reads the environment.
pub fn get() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let raised = crate::privilege::is_raised();
        let lookup = |name: &str| if raised { None } else { std::env::var_os(name) };
        let (config, warnings) = Config::read(lookup);
        crate::trace::log::set_level(config.log);
        if raised {
            log!(Info, "the process runs with raised privileges, so revamp reads no environment variables");
        }
        for warning in warnings {
            log!(Warn, "{warning}");
        }
        for v in VARIABLES {
            if let Some(value) = lookup(v.name) {
                log!(Info, "{}={value:?}", v.name);
            }
        }
        config
    })
}

/// The values that the variable `name` accepts.
fn accepts(name: &str) -> &'static str {
    VARIABLES.iter().find(|v| v.name == name).map_or("", |v| v.accepts)
}

/// True for a blank value, which counts as not set.
fn is_blank(value: &OsString) -> bool {
    value.to_str().is_some_and(|v| v.trim().is_empty())
}

impl Config {
    /// Settings from `lookup`, and a warning for each invalid value. The default of the variable replaces an invalid value.
    pub fn read(lookup: impl Fn(&str) -> Option<OsString>) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let value = |name: &str| lookup(name).filter(|v| !is_blank(v));
        let mut accept = |name: &'static str, parse: &mut dyn FnMut(&str) -> bool| {
            if let Some(value) = value(name) {
                if !value.to_str().is_some_and(&mut *parse) {
                    warnings
                        .push(format!("{name}={value:?} is invalid, so it is ignored; {name} takes {}", accepts(name)));
                }
            }
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let mut c = Self {
            default_accelerator: None,
            visible_devices: None,
            log: Level::Warn,
            trace: value("REVAMP_TRACE").map(PathBuf::from),
            trace_device: false,
            trace_lines: false,
            validation: 0,
            debug_printf: false,
            check: false,
            separate_memory: false,
            host_threads: processors,
            host_kernels: HostKernels::Native(2),
            workgroups: WORKGROUPS,
            cache: CacheMode::ReadWrite,
            cache_dir: user_cache_dir(&lookup),
            test: TestSwitches::default(),
        };
        accept("CPPAMP_DEFAULT_ACCELERATOR", &mut |v| {
            c.default_accelerator = Some(v.to_owned());
            true
        });
        accept("REVAMP_VISIBLE_DEVICES", &mut |v| {
            let list: Vec<_> = v.split(',').map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect();
            let is_good = !list.is_empty();
            c.visible_devices = is_good.then_some(list);
            is_good
        });
        accept("REVAMP_LOG", &mut |v| Level::parse(v).map(|l| c.log = l).is_some());
        accept("REVAMP_VALIDATION", &mut |v| match v.trim().parse() {
            Ok(n @ 0..=2) => {
                c.validation = n;
                true
            }
            _ => false,
        });
        let mut switch = |name, on: &mut bool| {
            accept(name, &mut |v| {
                *on = v.trim() == "1";
                matches!(v.trim(), "0" | "1")
            });
        };
        switch("REVAMP_DEBUG_PRINTF", &mut c.debug_printf);
        switch("REVAMP_CHECK", &mut c.check);
        switch("REVAMP_TRACE_DEVICE", &mut c.trace_device);
        switch("REVAMP_TRACE_LINES", &mut c.trace_lines);
        accept("REVAMP_MEMORY", &mut |v| match v.trim() {
            "auto" => true,
            "separate" => {
                c.separate_memory = true;
                true
            }
            _ => false,
        });
        accept("REVAMP_HOST_THREADS", &mut |v| match v.trim().parse() {
            Ok(n @ 1..=1024) => {
                c.host_threads = n;
                true
            }
            _ => false,
        });
        accept("REVAMP_HOST_KERNELS", &mut |v| {
            c.host_kernels = match v.trim() {
                "native" | "v4" => HostKernels::Native(2),
                "v3" => HostKernels::Native(1),
                "v1" => HostKernels::Native(0),
                "coroutines" => HostKernels::Coroutines,
                _ => return false,
            };
            true
        });
        accept("REVAMP_WORKGROUPS", &mut |v| {
            c.workgroups = match v.trim() {
                "off" => Workgroups::Off,
                "on" => Workgroups::On,
                "atomics" => Workgroups::Atomics,
                "force" => Workgroups::Force,
                _ => return false,
            };
            true
        });
        accept("REVAMP_CACHE", &mut |v| {
            c.cache = match v.trim() {
                "rw" => CacheMode::ReadWrite,
                "ro" => CacheMode::ReadOnly,
                "off" => CacheMode::Off,
                _ => return false,
            };
            true
        });
        accept("REVAMP_TEST", &mut |v| {
            let mut test = TestSwitches::default();
            let is_good = v.split(',').all(|word| test.accept(word.trim()));
            if is_good {
                c.test = test;
            }
            is_good
        });
        // A path may have any bytes. It is made absolute, since the program may change its working directory later.
        if let Some(folder) = value("REVAMP_CACHE_DIR") {
            match std::path::absolute(&folder) {
                Ok(folder) => c.cache_dir = Some(folder),
                Err(e) => warnings.push(format!("REVAMP_CACHE_DIR={folder:?} is ignored: {e}")),
            }
        }
        (c, warnings)
    }
}

/// Increments the count. True if it reaches the wanted number.
fn is_nth(wanted: Option<u64>, count: &AtomicU64) -> bool {
    wanted.is_some_and(|n| n == count.fetch_add(1, Ordering::Relaxed) + 1)
}

impl TestSwitches {
    /// Counts an allocation of this process: true if it is the one to fail.
    pub fn allocation_fails(&self) -> bool {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        is_nth(self.fail_alloc, &COUNT)
    }

    /// Counts a submission of this process: true if it is the one to fail.
    pub fn submission_fails(&self) -> bool {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        is_nth(self.fail_submit, &COUNT)
    }

    /// Counts the start of a thread of this process: true if it is to fail.
    pub fn thread_fails(&self) -> bool {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        self.fail_thread == Some(number) || self.fail_threads.is_some_and(|first| first <= number)
    }

    /// Counts a submission of this process: true if it is the one that finds the device lost.
    pub fn submission_is_lost(&self) -> bool {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        is_nth(self.lose_device, &COUNT)
    }

    fn accept(&mut self, word: &str) -> bool {
        let (name, number) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
        let parsed = number.and_then(|n| n.parse::<u64>().ok()).filter(|n| *n >= 1);
        match (name, parsed) {
            ("no-vulkan", _) if number.is_none() => self.no_vulkan = true,
            ("words", _) if number.is_none() => self.words = true,
            ("gpu-code", _) if number.is_none() => self.gpu_code = true,
            ("radv-code", _) if number.is_none() => self.radv_code = true,
            ("plain-floats", _) if number.is_none() => self.plain_floats = true,
            ("no-timestamps", _) if number.is_none() => self.no_timestamps = true,
            ("gpu", _) if number.is_none() => self.gpu = true,
            ("fail-alloc", Some(n)) => self.fail_alloc = Some(n),
            ("fail-submit", Some(n)) => self.fail_submit = Some(n),
            ("fail-thread", Some(n)) => self.fail_thread = Some(n),
            ("fail-threads", Some(n)) => self.fail_threads = Some(n),
            ("lose-device", Some(n)) => self.lose_device = Some(n),
            ("groups", Some(n)) if n <= u64::from(u32::MAX) => self.groups = u32::try_from(n).ok(),
            ("samplers", Some(n)) if n <= u64::from(u32::MAX) => self.samplers = u32::try_from(n).ok(),
            ("copy", _) if matches!(number, Some("buffer" | "kernel" | "lane")) => {
                self.copy = number.map(str::to_owned)
            }
            _ => return false,
        }
        true
    }
}

/// The user's cache folder by the platform's convention. A relative path is ignored, as XDG demands.
fn user_cache_dir(lookup: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| lookup(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = if cfg!(windows) {
        path("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        path("HOME").map(|h| h.join("Library/Caches"))
    } else {
        path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|h| h.join(".cache")))
    };
    base.map(|b| b.join("revamp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> (Config, Vec<String>) {
        Config::read(|n| pairs.iter().find(|(k, _)| *k == n).map(|(_, v)| v.into()))
    }

    #[test]
    fn defaults_are_quiet() {
        let (c, w) = read(&[("HOME", "/h")]);
        assert!(w.is_empty());
        assert_eq!(c.log, Level::Warn);
        assert_eq!(c.validation, 0);
        assert!(!c.separate_memory);
        assert_eq!(c.cache, CacheMode::ReadWrite);
        assert!(c.cache_dir.is_some());
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        // The other defaults are descriptions in words.
        let values: Vec<_> = VARIABLES.iter().filter(|v| !v.default.contains(' ')).collect();
        assert!(values.len() >= 6);
        for v in values.into_iter().filter(|v| !["all", "none"].contains(&v.default)) {
            let (c, w) = read(&[(v.name, v.default)]);
            assert!(w.is_empty(), "{w:?}");
            assert_eq!(format!("{c:?}"), format!("{:?}", read(&[]).0), "{}={}", v.name, v.default);
        }
    }

    #[test]
    fn valid_values_are_accepted() {
        let (c, w) = read(&[
            ("REVAMP_LOG", "Debug"),
            ("REVAMP_VALIDATION", "2"),
            ("REVAMP_DEBUG_PRINTF", "1"),
            ("REVAMP_CHECK", "1"),
            ("REVAMP_MEMORY", "separate"),
            ("REVAMP_HOST_THREADS", "3"),
            ("REVAMP_CACHE", "ro"),
            ("REVAMP_CACHE_DIR", "/tmp/x"),
            ("REVAMP_VISIBLE_DEVICES", "1, llvm,"),
            (
                "REVAMP_TEST",
                "no-vulkan,fail-alloc=3,fail-submit=4,fail-thread=5,fail-threads=6,lose-device=2,copy=kernel,groups=7,samplers=8,words,gpu-code,radv-code,plain-floats,no-timestamps,gpu",
            ),
        ]);
        assert!(w.is_empty(), "{w:?}");
        assert_eq!((c.log, c.validation, c.check, c.separate_memory), (Level::Debug, 2, true, true));
        assert!(c.debug_printf);
        assert_eq!((c.host_threads, c.cache), (3, CacheMode::ReadOnly));
        assert_eq!(c.cache_dir.as_deref(), Some(std::path::Path::new("/tmp/x")));
        assert_eq!(c.visible_devices.as_deref(), Some(&["1".to_owned(), "llvm".to_owned()][..]));
        assert_eq!(
            c.test,
            TestSwitches {
                no_vulkan: true,
                fail_alloc: Some(3),
                fail_submit: Some(4),
                fail_thread: Some(5),
                fail_threads: Some(6),
                lose_device: Some(2),
                copy: Some("kernel".into()),
                groups: Some(7),
                samplers: Some(8),
                words: true,
                gpu_code: true,
                radv_code: true,
                plain_floats: true,
                no_timestamps: true,
                gpu: true
            }
        );
    }

    #[test]
    fn every_variable_warns_of_a_bad_value() {
        // Any text is a path or a list of names.
        let takes_text = ["CPPAMP_DEFAULT_ACCELERATOR", "REVAMP_VISIBLE_DEVICES", "REVAMP_TRACE", "REVAMP_CACHE_DIR"];
        for v in VARIABLES.iter().filter(|v| !takes_text.contains(&v.name)) {
            for bad in ["nonsense", "-1", "5000000000", "1,1", "\u{1b}[2J"] {
                let (c, w) = read(&[(v.name, bad)]);
                assert_eq!(w.len(), 1, "{}={bad}", v.name);
                assert!(w[0].contains(v.name) && w[0].contains(v.accepts), "{}", w[0]);
                assert!(!w[0].contains('\u{1b}'), "{}", w[0]);
                assert_eq!(format!("{c:?}"), format!("{:?}", read(&[]).0), "{}={bad}", v.name);
            }
            assert!(read(&[(v.name, " ")]).1.is_empty());
        }
    }

    #[test]
    fn an_empty_list_hides_no_device() {
        let (c, w) = read(&[("REVAMP_VISIBLE_DEVICES", " , ,")]);
        assert_eq!((c.visible_devices, w.len()), (None, 1));
    }

    #[cfg(unix)]
    #[test]
    fn every_variable_warns_of_a_value_that_is_not_utf8() {
        use std::os::unix::ffi::OsStringExt;
        let of = |name: &str| Config::read(|n| (n == name).then(|| OsString::from_vec(b"/a\xff1".to_vec())));
        for v in VARIABLES.iter().filter(|v| !["REVAMP_TRACE", "REVAMP_CACHE_DIR"].contains(&v.name)) {
            let w = of(v.name).1;
            assert!(w.len() == 1 && w[0].contains(v.name) && w[0].contains(r"\xFF"), "{}: {w:?}", v.name);
        }
        let (c, w) = of("REVAMP_CACHE_DIR");
        assert!(w.is_empty());
        assert_eq!(c.cache_dir.unwrap().into_os_string().into_vec(), b"/a\xff1");
        let (c, w) = of("REVAMP_TRACE");
        assert!(w.is_empty());
        assert_eq!(c.trace.unwrap().into_os_string().into_vec(), b"/a\xff1");
        assert_eq!(of("HOME").0.cache_dir.unwrap().into_os_string().into_vec(), b"/a\xff1/.cache/revamp");
    }

    #[test]
    fn a_bad_test_switch_discards_all_test_switches() {
        for bad in ["no-vulkan,nonsense", "words=1", "no-vulkan=1", "fail-alloc=0", "groups=4294967296", "copy"] {
            let (c, w) = read(&[("REVAMP_TEST", bad)]);
            assert_eq!((w.len(), c.test), (1, TestSwitches::default()), "{bad}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_cache_is_in_an_absolute_folder() {
        let folder = |pairs: &[_]| read(pairs).0.cache_dir.map(|d| d.to_str().unwrap().to_owned());
        let xdg = |path| folder(&[("XDG_CACHE_HOME", path), ("HOME", "/h")]).unwrap();
        assert_eq!(xdg("/x"), "/x/revamp");
        for none in ["", "x", "./x", "../x", "~/x"] {
            assert_eq!(xdg(none), "/h/.cache/revamp", "{none}");
            assert_eq!(folder(&[("HOME", none)]), None, "{none}");
        }
        let here = std::env::current_dir().unwrap().join("a").to_str().unwrap().to_owned();
        assert_eq!(folder(&[("REVAMP_CACHE_DIR", "a")]), Some(here));
    }

    #[test]
    fn unknown_values_warn_and_name_the_accepted_set() {
        let (c, w) = read(&[("REVAMP_VALIDATION", "9"), ("REVAMP_TEST", "nonsense"), ("REVAMP_HOST_THREADS", "0")]);
        assert_eq!(w.len(), 3);
        assert!(w[0].contains("REVAMP_VALIDATION") && w[0].contains("0, 1, 2"));
        assert_eq!(c.validation, 0);
    }
}
