//! The pipelines of LLVM's passes for kernels, the hidden options that they need, and the reason for each difference from LLVM's own.
//!
//! LLVM's `default<O2>` is written out here ([`O2`]): most of what kernels need otherwise is then a pass that is left out, or an
//! option of a pass, and LLVM refuses a pass or an option of a pass that it does not know. Tests compare the result with what
//! `default<O2>` makes under the hidden options that the text replaces.

use crate::llvm::{Hidden, Pipeline};

/// `default<O2>` of LLVM 22 as `opt -print-pipeline-passes` prints it, without options that have their default value.
///
/// Left out for all kernels:
/// - `loop-vectorize` and `slp-vectorizer`. Devices compute with scalars, and vectors of a kernel for the host are made of the loops over
///   threads, later.
/// - Passes for what this input never contains: `coro-early`, `coro-split`, `coro-elide`, `coro-annotation-elide`, `coro-cleanup`
///   (coroutines), `openmp-opt`, `openmp-opt-cgscc` (OpenMP), `memprof-remove-attributes`, `cg-profile`, `ee-instrument` (profiles and
///   instrumentation), `annotation2metadata`, `annotation-remarks`, `transform-warning` (remarks and warnings, which nobody reads),
///   `forceattrs` (a hidden option), `alloc-token` (a sanitizer).
/// - `loop-idiom-vectorize`, which LLVM adds behind `loop-deletion` for AArch64. It needs SVE, which native kernels are not compiled for; Clang's
///   `-O3` of native code has it too.
///
/// Changed: `extra-simple-loop-unswitch-passes` is `simple-loop-unswitch` here, since LLVM's parser makes an empty list of passes of that name.
/// LLVM runs that pass only if `indvars` made an exit condition invariant; here it always runs. So a loop whose condition becomes invariant
/// between the two loop pipelines, by `simplifycfg` or `instcombine`, is unswitched here and not by `default<O2>`.
///
/// The fields are the differences between kernels for devices and kernels for host threads.
struct O2 {
    /// `loop-idiom` replaces loops that copy or set memory by one call. For devices they stay loops: a call of known length would be
    /// unrolled whole, and a call of another length cannot be lowered.
    loop_idiom: &'static str,
    /// What `jump-threading` makes of branches in a row is not structured control flow, and to structure it again costs more than a
    /// branch. Drivers make predicated instructions of short branches.
    jump_threading: &'static str,
    /// Native kernels check for overflow with sums whose order the source has: sums in LLVM's order lose the flags that say that they do
    /// not overflow.
    reassociate: &'static str,
    /// Partial redundancy elimination merges values of two paths in a phi. Native kernels rematerialise values behind barriers, and such
    /// a value cannot be rematerialised by a few instructions.
    gvn: &'static str,
    /// Sinking merges stores of two branches to neighbouring elements to one store to a selected address, which becomes a scatter in native
    /// kernels.
    sinking: &'static str,
    /// Native code unrolls loops whose trip count is known at run time only after vectorisation, in Clang's `-O3`.
    unroll: &'static str,
}

const DEVICE: O2 = O2 {
    loop_idiom: "",
    jump_threading: "",
    reassociate: "reassociate,",
    gvn: "gvn",
    sinking: "sink-common-insts",
    unroll: "loop-unroll<O2>",
};

const NATIVE: O2 = O2 {
    loop_idiom: "loop-idiom,",
    jump_threading: "jump-threading,",
    reassociate: "",
    gvn: "gvn<no-pre;no-load-pre>",
    sinking: "no-sink-common-insts",
    unroll: NO_RUNTIME_UNROLL,
};

/// Without unrolling of loops whose trip count is known at run time only.
const NO_RUNTIME_UNROLL: &str = "loop-unroll<O2;no-runtime>";

impl O2 {
    fn passes(&self) -> String {
        const COMBINE: &str = "instcombine<no-verify-fixpoint>";
        const SIMPLIFY: &str = "simplifycfg<switch-range-to-icmp>";
        let Self { loop_idiom, jump_threading, reassociate, gvn, sinking, unroll } = self;
        let of_loops = "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,loop-rotate,licm,simple-loop-unswitch)";
        let function = format!(
            "sroa,early-cse<memssa>,speculative-execution<only-if-divergent-target>,{jump_threading}correlated-propagation,\
             {SIMPLIFY},{COMBINE},aggressive-instcombine,libcalls-shrinkwrap,tailcallelim,{SIMPLIFY},{reassociate}\
             constraint-elimination,{of_loops},{SIMPLIFY},{COMBINE},\
             loop({loop_idiom}indvars,simple-loop-unswitch,loop-deletion,loop-unroll-full),sroa,vector-combine,mldst-motion,{gvn},\
             sccp,bdce,{COMBINE},{jump_threading}correlated-propagation,adce,memcpyopt,dse,move-auto-init,loop-mssa(licm),\
             simplifycfg<switch-range-to-icmp;switch-to-arithmetic;hoist-common-insts;{sinking}>,{COMBINE}"
        );
        let last = format!(
            "drop-unnecessary-assumes,float2int,lower-constant-intrinsics,loop(loop-rotate,loop-deletion),loop-distribute,\
             inject-tli-mappings,drop-unnecessary-assumes,infer-alignment,loop-load-elim,{COMBINE},\
             simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-arithmetic;switch-to-lookup;no-keep-loops;\
             hoist-common-insts;{sinking}>,vector-combine,{COMBINE},{unroll},sroa<preserve-cfg>,infer-alignment,{COMBINE},\
             loop-mssa(licm),alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,tailcallelim,\
             simplifycfg<switch-range-to-icmp;switch-to-arithmetic;hoist-loads-stores-with-cond-faulting;speculate-unpredictables>"
        );
        format!(
            "inferattrs,function<eager-inv>(lower-expect,simplifycfg,sroa,early-cse),ipsccp,called-value-propagation,globalopt,\
             function<eager-inv>(mem2reg,{COMBINE},{SIMPLIFY}),always-inline,require<globals-aa>,function(invalidate<aa>),\
             require<profile-summary>,cgscc(devirt<4>(inline,function-attrs<skip-non-recursive-function-attrs>,\
             function<eager-inv;no-rerun>({function}),function-attrs,function(require<should-not-run-function-passes>))),\
             deadargelim,globalopt,globaldce,elim-avail-extern,rpo-function-attrs,recompute-globalsaa,\
             function<eager-inv>({last}),globaldce,constmerge,rel-lookup-table-converter"
        )
    }
}

/// What follows `O2` for devices and prepares a module for `lower`: address spaces are inferred, and no switch is left. Then passes that LLVM
/// leaves to its back ends and that drivers do not have.
const PREPARE: &str = "infer-address-spaces,sroa,instcombine<no-verify-fixpoint>,\
    simplifycfg<bonus-inst-threshold=4;speculate-blocks>,lower-switch";

/// The passes after those: structured control flow.
const STRUCTURE: &str = "function(mergereturn,loop-simplify,lcssa,unify-loop-exits,fix-irreducible,structurizecfg),sroa,\
    instsimplify,dce";

/// Inlines all calls. Each splits its block, so many calls in a row take quadratic time.
const INLINE: &str = "internalize,globaldce,always-inline";

/// The same for large kernels: callees first, and each made small before it is copied.
const INLINE_LARGE: &str = "internalize,globaldce,cgscc(inline<only-mandatory>,function<eager-inv>(sroa,early-cse,simplifycfg,\
    loop(loop-unroll-full),instcombine<no-verify-fixpoint>,simplifycfg))";

/// The hidden options that no option of a pass replaces. LLVM ignores hidden options that it does not know, so `kernelc/tests/flags` has a
/// module for each name, and a test that the option changes what becomes of that module.
#[cfg(test)]
pub const HIDDEN: [Hidden; 9] = [
    CHEAP_EXPANSION,
    NARROW_COUNTERS,
    UNROLL_MUCH,
    UNROLL_LITTLE,
    UNROLL_SHORT,
    UNROLL_ALL[0],
    UNROLL_ALL[1],
    NATIVE_CODE[0],
    NATIVE_CODE[1],
];

/// The trip count of a loop is computed for runtime unrolling also where that takes some arithmetic.
const CHEAP_EXPANSION: Hidden = Hidden::new("scev-cheap-expansion-budget", "20", "4");

/// Loop counters keep the 32 bits that the source gives them: GPUs count, multiply and add 64 bits several times as slowly.
const NARROW_COUNTERS: Hidden = Hidden::new("indvars-widen-indvars", "false", "true");

/// Full unrolling, and unrolling at run time: a loop may grow to this size. `loop-unroll-full` has no options of its own.
const UNROLL_MUCH: Hidden = Hidden::new("unroll-threshold", "2750", "150");
const UNROLL_LITTLE: Hidden = Hidden::new("unroll-threshold", "30", "150");

/// For the report: a hundred times as large.
const UNROLL_ALL: [Hidden; 2] =
    [Hidden::new("unroll-threshold", "16384", "150"), Hidden::new("unroll-partial-threshold", "16384", "150")];

/// Full unrolling of loops of at most this trip count, also in `loop-unroll-full`.
pub const SHORT: u32 = 32;
const UNROLL_SHORT: Hidden = Hidden::new("unroll-full-max-count", "32", "4294967295");

/// For native code, which `default<O3>` makes. A loop over the threads of a tile that is unrolled whole before it
/// is vectorised becomes scattered vectors. A loop that asks what is the same for all threads (the bits of a texture) becomes a loop for each
/// answer, which can be vectorised.
pub const NATIVE_CODE: [Hidden; 2] =
    [Hidden::new("unroll-full-max-count", "7", "4294967295"), Hidden::new("unswitch-threshold", "1000", "50")];

/// How much loops are unrolled. Drivers take longer than linear for large kernels, so one that becomes too large by it
/// (`kernels::UNROLLED`) is unrolled less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unrolling {
    /// Loops of a known length of up to 32 become straight code of up to some thousand instructions, as CUDA's compiler does it.
    Short,
    /// As `Short`, and large loops that count by 4 (`unroll_large`).
    Large,
    /// Longer ones than `Short` too: arrays of a thread whose indices are constants then are values. Without such arrays it gains nothing, and
    /// drivers take ten times as long for the kernel.
    Much,
    /// As LLVM does it for processors.
    Some,
    /// Only loops of a few instructions.
    Little,
    /// As `Some`, and only loops of a known length. Runtime unrolling by 8 can leave an infinite remainder loop when the trip count is
    /// below 8.
    Known,
}

impl Unrolling {
    fn options(self) -> &'static [Hidden] {
        match self {
            Self::Short | Self::Large => &[UNROLL_MUCH, UNROLL_SHORT],
            Self::Much => &[UNROLL_MUCH],
            Self::Some | Self::Known => &[],
            Self::Little => &[UNROLL_LITTLE],
        }
    }
}

/// Makes values of the variables of inlined code, and leaves its control flow as the user wrote it.
const VALUES: &str = "function(sroa,early-cse,loop(loop-rotate,loop-unroll-full),sroa,instcombine<no-verify-fixpoint>,\
    infer-address-spaces,early-cse),globaldce";

/// How a source's kernels are optimised.
#[derive(Clone, Copy)]
pub struct Optimised {
    /// One is large, as `inline_all::is_large` says.
    pub large: bool,
    /// Of loops.
    pub unrolling: Unrolling,
    /// With structured control flow. Else `structure` is to make it.
    pub structured: bool,
}

impl Pipeline {
    fn of(passes: impl Into<String>, options: &[Hidden]) -> Self {
        Self { passes: passes.into(), options: options.to_vec() }
    }

    /// This one and then another of the same options, as one.
    fn then(mut self, next: &Self) -> Self {
        self.passes = format!("{},{}", self.passes, next.passes);
        self
    }
}

/// Inlines, makes values of variables, and names both.
pub fn inline(large: bool) -> Pipeline {
    Pipeline::of(format!("{},function(sroa,loop-simplify,instnamer)", inlining(large)), &[])
}

fn inlining(large: bool) -> &'static str {
    if large { INLINE_LARGE } else { INLINE }
}

/// Inlines, and does no more.
pub fn inlined(large: bool) -> Pipeline {
    Pipeline::of(inlining(large), &[])
}

/// Leaves out what conditions that are constant now never reach.
pub fn fold() -> Pipeline {
    Pipeline::of("function(instsimplify,simplifycfg),internalize,globaldce", &[])
}

/// Prepares kernels for the host's processor: all calls inlined.
pub fn native() -> Pipeline {
    Pipeline::of(format!("{INLINE},{}", NATIVE.passes()), &[])
}

/// Deletes what nothing uses.
pub fn unused() -> Pipeline {
    Pipeline::of("globaldce", &[])
}

/// Deletes the bodies of functions that other modules have, and what they used.
pub fn left_to_others() -> Pipeline {
    Pipeline::of("elim-avail-extern,globaldce", &[])
}

/// Native code, as `clang -O3` makes it.
pub fn native_code() -> Pipeline {
    Pipeline::of("default<O3>", &NATIVE_CODE)
}

/// For what looks at the user's control flow.
pub fn values(large: bool) -> Pipeline {
    Pipeline::of(format!("{},{VALUES}", inlining(large)), &[])
}

/// Makes all definitions internal, so that two modules with the same ones can be linked.
pub fn internal() -> Pipeline {
    Pipeline::of("internalize", &[])
}

/// Puts the values that blocks share into variables.
pub fn variables() -> Pipeline {
    Pipeline::of("function(reg2mem)", &[])
}

/// Makes values of variables again.
pub fn no_variables() -> Pipeline {
    Pipeline::of("function(sroa)", &[])
}

/// Makes values of the variables of loops over threads, and gives each loop a block before it.
pub fn loop_values() -> Pipeline {
    Pipeline::of("function(sroa,early-cse<memssa>,instsimplify,loop-simplify)", &[])
}

/// Makes a loop of each answer to a condition that a loop does not change, and values of the variables that hold the answers.
pub fn unswitch() -> Pipeline {
    Pipeline::of(
        "function(early-cse,loop-simplify,lcssa,loop-mssa(simple-loop-unswitch<nontrivial;trivial>),sroa,instsimplify)",
        &NATIVE_CODE,
    )
}

/// Folds differences of addresses of a tile. Once an address has its memory, its difference from a flat one has no form.
pub fn differences() -> Pipeline {
    Pipeline::of("function(instcombine<no-verify-fixpoint>)", &[])
}

/// Says of addresses which memory they are in: of loads from what may be one kind of memory LLVM makes a load from a chosen address.
pub fn address_spaces() -> Pipeline {
    Pipeline::of("function(infer-address-spaces)", &[])
}

/// Structures the control flow of what [`unroll`] left.
pub fn structure() -> Pipeline {
    Pipeline::of(STRUCTURE, &[])
}

/// Inlines and optimises. [`unroll`] follows.
pub fn optimise(how: Optimised) -> Pipeline {
    let unroll = if how.unrolling == Unrolling::Little { NO_RUNTIME_UNROLL } else { DEVICE.unroll };
    let o2 = O2 { unroll, ..DEVICE }.passes();
    let slsr = how.slsr();
    let addresses = format!("separate-const-offset-from-gep,{slsr}early-cse,nary-reassociate,early-cse");
    Pipeline::of(format!("{},{o2},{PREPARE},function({addresses})", inlining(how.large)), &how.options())
}

/// Unrolls loops by 8 if their trip count is known only at run time.
pub fn unroll(how: Optimised) -> Pipeline {
    let structure = if how.structured { format!(",{STRUCTURE}") } else { String::new() };
    Pipeline::of(format!("{}{structure}", how.runtime_unrolling()), &how.options())
}

/// Both.
pub fn optimise_and_unroll(how: Optimised) -> Pipeline {
    optimise(how).then(&unroll(how))
}

/// Unrolls loops as if they might grow a hundred times as large, for the report.
pub fn unroll_without_limits() -> Pipeline {
    let options = [&[CHEAP_EXPANSION, NARROW_COUNTERS][..], &UNROLL_ALL].concat();
    Pipeline::of("function(loop-unroll<partial;runtime>)", &options)
}

/// As [`unroll`], for the loops that `passes::unroll_large` marked.
pub fn unroll_large() -> Pipeline {
    unroll(Optimised { large: false, unrolling: Unrolling::Large, structured: true })
}

impl Optimised {
    /// `slsr` compares all addresses in pairs: left out for large kernels.
    fn slsr(self) -> &'static str {
        if self.large { "" } else { "slsr," }
    }

    /// `sccp` drops the remainder loop of a loop that was unrolled for its largest trip count. `loop-reduce` comes last: before
    /// unrolling it would make a chain of sums of the unrolled addresses.
    fn runtime_unrolling(self) -> String {
        let runtime = if self.unrolling == Unrolling::Known { "no-runtime" } else { "runtime" };
        let slsr = self.slsr();
        format!("function(loop-unroll<{runtime}>,early-cse,sccp,{slsr}early-cse,loop(loop-reduce),early-cse)")
    }

    fn options(self) -> Vec<Hidden> {
        [&[CHEAP_EXPANSION, NARROW_COUNTERS], self.unrolling.options()].concat()
    }
}
