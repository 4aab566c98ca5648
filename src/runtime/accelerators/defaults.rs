//! Decides which accelerators are offered, which one a path names, and which one is the default. Pure functions over descriptions.
//!
//! docs/spec/accelerators.md#default-accelerator specifies the order of defaults, and decision 22 covers machines without a GPU.

use std::fmt::Write;

/// The class of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceleratorClass {
    /// A GPU through Vulkan: not emulated.
    Gpu,
    /// A Vulkan device that runs on the CPU, such as lavapipe: emulated, and far slower than host threads.
    CpuVulkan,
    /// Host threads, which are emulated and run functions of the host.
    HostThreads,
    /// Host threads under the names of Direct3D's software devices, which are found only by name (decision 28).
    Named,
    /// The `cpu` accelerator, which holds arrays and runs no kernels.
    Cpu,
}

impl AcceleratorClass {
    /// The value of `accelerator::is_emulated`.
    pub fn is_emulated(self) -> bool {
        self != Self::Gpu
    }
    /// True if it is a Vulkan device.
    pub fn is_vulkan(self) -> bool {
        matches!(self, Self::Gpu | Self::CpuVulkan)
    }
}

/// The properties of an accelerator that matter for the choice of the default.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// `device_path`.
    pub path: String,
    /// `description`.
    pub name: String,
    /// Its class.
    pub kind: AcceleratorClass,
    /// `dedicated_memory`, in the same unit for all candidates.
    pub dedicated_memory: u64,
    /// `has_display`.
    pub has_display: bool,
    /// `Err` with the reason if it cannot be used or is hidden.
    pub usable: Result<(), String>,
}

/// The code that the default accelerator must run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// SPIR-V only, for the C interface.
    Spirv,
    /// C++ lambdas compiled for the host and as kernels; any accelerator that computes can run them.
    Both,
    /// C++ lambdas of a program without compiled kernels; only the host can run them.
    Host,
}

/// The inputs of the choice, which is made at the first use of the default.
#[derive(Debug, Clone, Copy)]
pub struct DefaultRequest<'a> {
    /// The code that the default must run.
    pub code: Code,
    /// The path given to `accelerator::set_default`.
    pub set: Option<&'a str>,
    /// `CPPAMP_DEFAULT_ACCELERATOR`.
    pub environment: Option<&'a str>,
    /// The reason if there is no Vulkan at all.
    pub no_vulkan: Option<&'a str>,
}

/// The default accelerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its index in the list of candidates.
    pub index: usize,
    /// The reason for the choice, for the log.
    pub why: &'static str,
    /// A warning for the user.
    pub warning: Option<String>,
}

/// The meaning of a device path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The default accelerator.
    Default,
    /// The accelerator at this index of the list.
    At(usize),
}

/// The accelerator with this path, which is `default` or empty, `direct3d\warp` or `direct3d\ref` (with `\` or `/`), or exactly
/// a `device_path`. Also finds unusable accelerators.
pub fn find(candidates: &[Candidate], path: &str) -> Result<Named, String> {
    if path.is_empty() || path == "default" {
        return Ok(Named::Default);
    }
    let name = path.to_ascii_lowercase().replace('/', "\\");
    let fits = |c: &Candidate| c.path == if c.kind == AcceleratorClass::Named { name.as_str() } else { path };
    candidates
        .iter()
        .position(fits)
        .map(Named::At)
        .ok_or_else(|| format!("no accelerator has the path \"{path}\"; available: {}", list(candidates)))
}

/// Chooses the default accelerator.
pub fn choose(candidates: &[Candidate], request: &DefaultRequest<'_>) -> Result<Choice, String> {
    let mut warning = None;
    if let Some(path) = request.set {
        if let Named::At(index) = find(candidates, path)? {
            return explicit(candidates, index, "set by the program");
        }
    }
    // `set_default(default)` also overrides the environment.
    if request.set.is_none() {
        if let Some(path) = request.environment {
            match find(candidates, path.trim()) {
                Ok(Named::At(index)) => return explicit(candidates, index, "set by CPPAMP_DEFAULT_ACCELERATOR"),
                Ok(Named::Default) => {}
                Err(why) => warning = Some(format!("CPPAMP_DEFAULT_ACCELERATOR is ignored: {why}")),
            }
        }
    }
    // Among equal candidates the first one wins, in the order of REVAMP_VISIBLE_DEVICES or of Vulkan.
    let best = |kind: AcceleratorClass| {
        let usable = candidates.iter().enumerate().filter(|(_, c)| c.kind == kind && c.usable.is_ok());
        usable.first_max_by_key(|(_, c)| (c.dedicated_memory, !c.has_display)).map(|(i, _)| i)
    };
    let (index, why) = match request.code {
        Code::Host => (
            best(AcceleratorClass::HostThreads),
            "the program contains no compiled kernels, so its code runs on host threads",
        ),
        Code::Both => match best(AcceleratorClass::Gpu) {
            Some(i) => (Some(i), "the GPU with most memory"),
            None => (best(AcceleratorClass::HostThreads), "there is no usable GPU"),
        },
        Code::Spirv => match best(AcceleratorClass::Gpu) {
            Some(i) => (Some(i), "the GPU with most memory"),
            None => (best(AcceleratorClass::CpuVulkan), "there is no usable GPU, and host threads do not run SPIR-V"),
        },
    };
    let Some(index) = index else {
        let what = if request.code == Code::Spirv { "runs SPIR-V kernels" } else { "runs kernels" };
        let mut text = format!("no accelerator of this machine {what}; available: {}", list(candidates));
        if let Some(why) = request.no_vulkan {
            let _ = write!(text, "; Vulkan: {why}");
        }
        return Err(text);
    };
    Ok(Choice { index, why, warning })
}

/// True if `get_all()` returns accelerators of this class to C++ code of this kind, because the code or its copies can use them.
/// `explicit`: the program or the environment made the accelerator the default.
pub fn is_offered(class: AcceleratorClass, code: Code, explicit: bool) -> bool {
    explicit || code != Code::Host || !class.is_vulkan()
}

/// The result of an explicit choice: it fails if the accelerator is unusable, and no other accelerator replaces it.
fn explicit(candidates: &[Candidate], index: usize, why: &'static str) -> Result<Choice, String> {
    match candidates.get(index).map(|c| &c.usable) {
        Some(Err(reason)) => Err(format!("the default accelerator {why} cannot be used: {reason}")),
        _ => Ok(Choice { index, why, warning: None }),
    }
}

/// A list of all accelerators for messages.
fn list(candidates: &[Candidate]) -> String {
    if candidates.is_empty() {
        return "none".to_owned();
    }
    let one = |c: &Candidate| match &c.usable {
        Ok(()) => format!("{} ({})", c.path, c.name),
        Err(why) => format!("{} ({}; not usable: {why})", c.path, c.name),
    };
    candidates.iter().map(one).collect::<Vec<_>>().join(", ")
}

trait FirstMax: Iterator + Sized {
    /// The first of the greatest items (`max_by_key` returns the last).
    fn first_max_by_key<K: Ord>(self, key: impl Fn(&Self::Item) -> K) -> Option<Self::Item> {
        self.reduce(|best, next| if key(&next) > key(&best) { next } else { best })
    }
}
impl<I: Iterator> FirstMax for I {}

/// The Vulkan devices that are offered, and the hidden ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible {
    /// Indices of the offered devices, in the order of the offer.
    pub shown: Vec<usize>,
    /// Indices of the hidden devices, with the reasons.
    pub hidden: Vec<(usize, String)>,
    /// Warnings about entries that name no device.
    pub warnings: Vec<String>,
}

/// Applies `entries` of `REVAMP_VISIBLE_DEVICES` (`None`: unset) to devices given as name and UUID, in Vulkan's order.
///
/// An entry is an index, a UUID (dashes and case do not matter) or a part of a name (case does not matter), which may match
/// several devices. A number of one or two digits is always an index, so that "7" does not match every 4070.
pub fn visible(devices: &[(&str, [u8; 16])], entries: Option<&[String]>) -> Visible {
    let Some(entries) = entries else {
        return Visible { shown: (0..devices.len()).collect(), hidden: Vec::new(), warnings: Vec::new() };
    };
    let mut shown: Vec<usize> = Vec::new();
    let mut warnings = Vec::new();
    for entry in entries {
        let found = matches(devices, entry);
        if found.is_empty() {
            let names: Vec<_> = devices.iter().enumerate().map(|(i, (name, _))| format!("{i} {name}")).collect();
            let available = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            warnings.push(format!(
                "REVAMP_VISIBLE_DEVICES: no Vulkan device matches {entry:?}; use an index, a UUID or a part of a name \
                 of: {available}"
            ));
        }
        for i in found {
            if !shown.contains(&i) {
                shown.push(i);
            }
        }
    }
    let why = format!("hidden by REVAMP_VISIBLE_DEVICES={}", entries.join(","));
    let hidden = (0..devices.len()).filter(|i| !shown.contains(i)).map(|i| (i, why.clone())).collect();
    Visible { shown, hidden, warnings }
}

fn matches(devices: &[(&str, [u8; 16])], entry: &str) -> Vec<usize> {
    if let Ok(index) = entry.parse::<usize>() {
        if index < devices.len() {
            return vec![index];
        }
        if entry.len() <= 2 {
            return Vec::new();
        }
    }
    let word = entry.to_lowercase();
    if word.is_empty() {
        return Vec::new();
    }
    let hex = word.replace('-', "");
    let same_uuid = |uuid: &[u8; 16]| {
        hex.len() == 32
            && uuid
                .iter()
                .zip(hex.as_bytes().chunks(2))
                .all(|(byte, digits)| format!("{byte:02x}").as_bytes() == digits)
    };
    let by_uuid: Vec<usize> = (0..).zip(devices).filter(|(_, (_, uuid))| same_uuid(uuid)).map(|(i, _)| i).collect();
    if !by_uuid.is_empty() {
        return by_uuid;
    }
    (0..).zip(devices).filter(|(_, (name, _))| name.to_lowercase().contains(&word)).map(|(i, _)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(path: &str, kind: AcceleratorClass, dedicated_memory: u64) -> Candidate {
        let name = format!("the {path}");
        Candidate { path: path.to_owned(), name, kind, dedicated_memory, has_display: false, usable: Ok(()) }
    }
    fn small() -> Candidate {
        candidate("vulkan\\small", AcceleratorClass::Gpu, 10)
    }
    fn big() -> Candidate {
        candidate("vulkan\\big", AcceleratorClass::Gpu, 20)
    }
    fn lavapipe() -> Candidate {
        candidate("vulkan\\lavapipe", AcceleratorClass::CpuVulkan, 1000)
    }
    fn threads() -> Candidate {
        candidate("host", AcceleratorClass::HostThreads, 500)
    }
    fn warp() -> Candidate {
        candidate("direct3d\\warp", AcceleratorClass::Named, 9000)
    }
    fn reference() -> Candidate {
        candidate("direct3d\\ref", AcceleratorClass::Named, 9000)
    }
    fn cpu() -> Candidate {
        candidate("cpu", AcceleratorClass::Cpu, 5000)
    }
    fn request_for(code: Code) -> DefaultRequest<'static> {
        DefaultRequest { code, set: None, environment: None, no_vulkan: None }
    }
    fn path_of(candidates: &[Candidate], request: &DefaultRequest<'_>) -> String {
        candidates[choose(candidates, request).unwrap().index].path.clone()
    }

    #[test]
    fn the_biggest_real_gpu_is_the_default() {
        let all = [lavapipe(), small(), big(), threads(), cpu(), warp(), reference()];
        assert_eq!(path_of(&all, &request_for(Code::Both)), "vulkan\\big");
        assert_eq!(path_of(&all, &request_for(Code::Spirv)), "vulkan\\big");
        assert_eq!(path_of(&all, &request_for(Code::Host)), "host");
    }

    #[test]
    fn equal_gpus_are_ordered_by_display_and_then_by_index() {
        let mut shows = big();
        shows.has_display = true;
        let mut other = big();
        other.path = "vulkan\\other".into();
        assert_eq!(path_of(&[shows.clone(), other.clone(), big()], &request_for(Code::Both)), "vulkan\\other");
        shows.dedicated_memory += 1;
        assert_eq!(path_of(&[other, shows], &request_for(Code::Both)), "vulkan\\big");
    }

    #[test]
    fn lavapipe_only_for_spirv_and_only_without_a_gpu() {
        let all = [lavapipe(), warp(), reference(), threads(), cpu()];
        assert_eq!(path_of(&all, &request_for(Code::Spirv)), "vulkan\\lavapipe");
        assert_eq!(path_of(&all, &request_for(Code::Both)), "host");
        assert_eq!(path_of(&all, &request_for(Code::Host)), "host");
        let mut old = big();
        old.usable = Err("too old".into());
        assert_eq!(path_of(&[old, lavapipe(), threads()], &request_for(Code::Spirv)), "vulkan\\lavapipe");
    }

    #[test]
    fn the_error_lists_all_accelerators_if_none_fits() {
        let mut old = big();
        old.usable = Err("lacks shaderInt64".into());
        let request = DefaultRequest { no_vulkan: Some("no loader"), ..request_for(Code::Spirv) };
        let why = choose(&[old, threads(), cpu()], &request).unwrap_err();
        for part in ["SPIR-V", "vulkan\\big", "lacks shaderInt64", "host", "cpu", "no loader"] {
            assert!(why.contains(part), "{part}: {why}");
        }
        assert!(choose(&[], &request_for(Code::Host)).unwrap_err().contains("available: none"));
    }

    #[test]
    fn the_program_wins_over_the_environment_and_both_over_the_order() {
        let all = [big(), small(), lavapipe(), threads(), cpu()];
        let env = DefaultRequest { environment: Some("vulkan\\small"), ..request_for(Code::Both) };
        assert_eq!(path_of(&all, &env), "vulkan\\small");
        assert_eq!(path_of(&all, &DefaultRequest { set: Some("cpu"), ..env }), "cpu");
        assert_eq!(
            path_of(&all, &DefaultRequest { set: Some("vulkan\\lavapipe"), code: Code::Host, ..env }),
            "vulkan\\lavapipe"
        );
        assert_eq!(path_of(&all, &DefaultRequest { set: Some("default"), ..env }), "vulkan\\big");
        assert_eq!(path_of(&all, &DefaultRequest { environment: Some("default"), ..env }), "vulkan\\big");
    }

    #[test]
    fn accelerators_that_cannot_run_the_program_are_not_offered() {
        use AcceleratorClass::{Cpu, CpuVulkan, Gpu, HostThreads, Named};
        for class in [Gpu, CpuVulkan, HostThreads, Named, Cpu] {
            assert!(is_offered(class, Code::Both, false));
            assert!(is_offered(class, Code::Host, true));
            assert_eq!(is_offered(class, Code::Host, false), !class.is_vulkan());
        }
    }

    #[test]
    fn unusable_choices_give_an_error_or_a_warning() {
        let mut old = small();
        old.usable = Err("too old".into());
        let all = [big(), old, threads()];
        let env = DefaultRequest { environment: Some("vulkan\\nowhere"), ..request_for(Code::Both) };
        let choice = choose(&all, &env).unwrap();
        assert_eq!(choice.index, 0);
        let warning = choice.warning.unwrap();
        assert!(warning.contains("CPPAMP_DEFAULT_ACCELERATOR") && warning.contains("nowhere"), "{warning}");
        let why = choose(&all, &DefaultRequest { environment: Some("vulkan\\small"), ..request_for(Code::Both) })
            .unwrap_err();
        assert!(why.contains("too old"));
        assert!(choose(&all, &DefaultRequest { set: Some("vulkan\\nowhere"), ..request_for(Code::Both) }).is_err());
    }

    #[test]
    fn paths() {
        let all = [big(), threads(), cpu(), warp(), reference()];
        assert_eq!(find(&all, ""), Ok(Named::Default));
        assert_eq!(find(&all, "default"), Ok(Named::Default));
        assert_eq!(find(&all, "host"), Ok(Named::At(1)));
        assert_eq!(find(&all, "cpu"), Ok(Named::At(2)));
        for (path, index) in [
            ("direct3d\\warp", 3),
            ("direct3d/warp", 3),
            ("Direct3D\\WARP", 3),
            ("direct3d\\ref", 4),
            ("direct3d/REF", 4),
        ] {
            assert_eq!(find(&all, path), Ok(Named::At(index)), "{path}");
        }
        assert!(find(&all, "HOST").is_err());
        assert_eq!(find(&all, "vulkan\\big"), Ok(Named::At(0)));
        for wrong in ["vulkan\\bi", "Vulkan\\big", "the vulkan\\big", "CPU"] {
            assert!(find(&all, wrong).unwrap_err().contains("vulkan\\big"), "{wrong}");
        }
    }

    #[test]
    fn visible_devices() {
        let uuid = |n: u8| std::array::from_fn(|i| if i == 0 { n } else { 0xab });
        let devices = [("NVIDIA H200", uuid(1)), ("llvmpipe (LLVM 15)", uuid(2)), ("NVIDIA RTX 4070", uuid(3))];
        let see = |entries: &[&str]| {
            let entries: Vec<String> = entries.iter().map(|e| (*e).to_owned()).collect();
            visible(&devices, Some(&entries))
        };
        assert_eq!(visible(&devices, None).shown, [0, 1, 2]);
        assert_eq!(see(&["2", "0"]).shown, [2, 0]);
        assert_eq!(see(&["LLVM", "nvidia"]).shown, [1, 0, 2]);
        assert_eq!(see(&["4070", "2", "1"]).shown, [2, 1]);
        assert_eq!(see(&["03ABABAB-abab-abab-abab-abababababab"]).shown, [2]);
        let v = see(&["1"]);
        assert_eq!(v.hidden.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [0, 2]);
        assert!(v.hidden[0].1.contains("REVAMP_VISIBLE_DEVICES=1"));
        let v = see(&["7", "amd", "0"]);
        assert_eq!((v.shown, v.warnings.len()), (vec![0], 2));
        assert!(v.warnings[1].contains("amd") && v.warnings[1].contains("1 llvmpipe"));
        assert!(see(&[]).shown.is_empty());
    }
}
