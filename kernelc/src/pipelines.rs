//! The pipelines of LLVM passes for kernels, the hidden options of these pipelines, and the reason for each difference from LLVM's pipelines.
//!
//! This file lists the passes of LLVM's `default<O2>` ([`O2`]), so that most differences for kernels are omitted passes
//! or pass options. LLVM rejects unknown passes and unknown pass options, but ignores unknown hidden options. Tests
//! compare the results with those of `default<O2>` under the hidden options that this list makes unnecessary.

use crate::llvm::{Hidden, Pipeline};

/// `default<O2>` of LLVM 22 as `opt -print-pipeline-passes` prints it, without options that have their default value.
///
/// Left out for all kernels:
/// - `loop-vectorize` and `slp-vectorizer`. Devices compute with scalars. In kernels for the host, the loops over
///   threads are vectorised later.
/// - Passes for constructs that this input never contains: `coro-early`, `coro-split`, `coro-elide`,
///   `coro-annotation-elide`, `coro-cleanup` (coroutines), `openmp-opt`, `openmp-opt-cgscc` (OpenMP),
///   `memprof-remove-attributes`, `cg-profile`, `ee-instrument` (profiles and instrumentation), `annotation2metadata`,
///   `annotation-remarks`, `transform-warning` (remarks and warnings, which nobody reads), `forceattrs` (a hidden
///   option), `alloc-token` (a sanitizer).
/// - `loop-idiom-vectorize`, which LLVM adds after `loop-deletion` for AArch64. It needs SVE, for which native kernels
///   are not compiled. The `-O3` pipeline for native code has it too.
///
/// Changed: `simple-loop-unswitch` replaces `extra-simple-loop-unswitch-passes`, which LLVM's parser turns into an
/// empty list. LLVM runs the extra passes only if `indvars` made an exit condition invariant; here `simple-loop-unswitch`
/// always runs. If `simplifycfg` or `instcombine` makes a loop's condition invariant between the two loop pipelines, the
/// loop is therefore unswitched here but not by `default<O2>`.
///
/// The fields contain the passes that differ between kernels for devices and kernels for host threads.
struct O2 {
    /// `loop-idiom` replaces a loop that copies or sets memory by one call. For devices such loops stay: a call of
    /// known length would be fully unrolled, and a call of unknown length cannot be lowered.
    loop_idiom: &'static str,
    /// `jump-threading` of consecutive branches breaks structured control flow, and restoring the structure costs more
    /// than a branch. Drivers make predicated instructions of short branches.
    jump_threading: &'static str,
    /// Native kernels keep the source's order of sums for their overflow checks: reassociated sums lose their no-wrap flags.
    reassociate: &'static str,
    /// Partial redundancy elimination merges the values of two paths in a phi. Native kernels rematerialise values after
    /// barriers, and a few instructions cannot rematerialise this phi.
    gvn: &'static str,
    /// Sinking merges stores to neighbouring elements from two branches into one store to a selected address. In native
    /// kernels, that store becomes a scatter.
    sinking: &'static str,
    /// In native kernels, loops whose trip count is known only at run time are unrolled later: after vectorisation, by
    /// Clang's `-O3`.
    unroll: &'static str,
    /// `loop-rotate` moves the exit condition of loops to the end. It is left out for rolled loops.
    rotate: &'static str,
}

const DEVICE: O2 = O2 {
    loop_idiom: "",
    jump_threading: "",
    reassociate: "reassociate,",
    gvn: "gvn",
    sinking: "sink-common-insts",
    unroll: "loop-unroll<O2>,",
    rotate: "loop-rotate,",
};

/// The passes for kernels whose loops the driver unrolls.
const ROLLED_O2: O2 = O2 { sinking: "no-sink-common-insts", unroll: "", rotate: "", ..DEVICE };

const NATIVE: O2 = O2 {
    loop_idiom: "loop-idiom,",
    jump_threading: "jump-threading,",
    reassociate: "",
    gvn: "gvn<no-pre;no-load-pre>",
    sinking: "no-sink-common-insts",
    unroll: NO_RUNTIME_UNROLL,
    rotate: "loop-rotate,",
};

/// Unrolls only loops whose trip count is known at compile time.
const NO_RUNTIME_UNROLL: &str = "loop-unroll<O2;no-runtime>,";

impl O2 {
    fn passes(&self) -> String {
        const COMBINE: &str = "instcombine<no-verify-fixpoint>";
        const SIMPLIFY: &str = "simplifycfg<switch-range-to-icmp>";
        let Self { loop_idiom, jump_threading, reassociate, gvn, sinking, unroll, rotate } = self;
        let loop_passes = format!(
            "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,{rotate}licm,simple-loop-unswitch)"
        );
        let function = format!(
            "sroa,early-cse<memssa>,speculative-execution<only-if-divergent-target>,{jump_threading}correlated-propagation,\
             {SIMPLIFY},{COMBINE},aggressive-instcombine,libcalls-shrinkwrap,tailcallelim,{SIMPLIFY},{reassociate}\
             constraint-elimination,{loop_passes},{SIMPLIFY},{COMBINE},\
             loop({loop_idiom}indvars,simple-loop-unswitch,loop-deletion,loop-unroll-full),sroa,vector-combine,mldst-motion,{gvn},\
             sccp,bdce,{COMBINE},{jump_threading}correlated-propagation,adce,memcpyopt,dse,move-auto-init,loop-mssa(licm),\
             simplifycfg<switch-range-to-icmp;switch-to-arithmetic;hoist-common-insts;{sinking}>,{COMBINE}"
        );
        let late_passes = format!(
            "drop-unnecessary-assumes,float2int,lower-constant-intrinsics,loop({rotate}loop-deletion),loop-distribute,\
             inject-tli-mappings,drop-unnecessary-assumes,infer-alignment,loop-load-elim,{COMBINE},\
             simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-arithmetic;switch-to-lookup;no-keep-loops;\
             hoist-common-insts;{sinking}>,vector-combine,{COMBINE},{unroll}sroa<preserve-cfg>,infer-alignment,{COMBINE},\
             loop-mssa(licm),alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,tailcallelim,\
             simplifycfg<switch-range-to-icmp;switch-to-arithmetic;hoist-loads-stores-with-cond-faulting;speculate-unpredictables>"
        );
        format!(
            "inferattrs,function<eager-inv>(lower-expect,simplifycfg,sroa,early-cse),ipsccp,called-value-propagation,globalopt,\
             function<eager-inv>(mem2reg,{COMBINE},{SIMPLIFY}),always-inline,require<globals-aa>,function(invalidate<aa>),\
             require<profile-summary>,cgscc(devirt<4>(inline,function-attrs<skip-non-recursive-function-attrs>,\
             function<eager-inv;no-rerun>({function}),function-attrs,function(require<should-not-run-function-passes>))),\
             deadargelim,globalopt,globaldce,elim-avail-extern,rpo-function-attrs,recompute-globalsaa,\
             function<eager-inv>({late_passes}),globaldce,constmerge,rel-lookup-table-converter"
        )
    }
}

/// The passes after `O2` for devices, which prepare a module for `lower`: they infer address spaces and replace
/// switches. `optimise` then adds passes that LLVM leaves to its back ends and that drivers do not have.
const PREPARE: &str = "infer-address-spaces,sroa,instcombine<no-verify-fixpoint>,\
    simplifycfg<bonus-inst-threshold=4;speculate-blocks>,lower-switch";

/// The last passes: they structure the control flow.
const STRUCTURE: &str = "function(mergereturn,loop-simplify,lcssa,unify-loop-exits,fix-irreducible,structurizecfg),sroa,\
    instsimplify,dce";

/// Inlines all calls. Inlining a call splits its block, so many calls in a row take quadratic time.
const INLINE: &str = "internalize,globaldce,always-inline";

/// Inlines all calls of large kernels: callees first, and each callee is simplified before it is copied.
const INLINE_LARGE: &str = "internalize,globaldce,cgscc(inline<only-mandatory>,function<eager-inv>(sroa,early-cse,simplifycfg,\
    loop(loop-unroll-full),instcombine<no-verify-fixpoint>,simplifycfg))";

/// The hidden options that no pass option replaces. LLVM ignores unknown hidden options. Therefore `kernelc/tests/flags`
/// has a module for each option, and a test checks that the option changes the result for this module.
#[cfg(test)]
pub const HIDDEN: [Hidden; 11] = [
    CHEAP_EXPANSION,
    NARROW_COUNTERS,
    UNROLL_MUCH,
    UNROLL_LITTLE,
    UNROLL_SHORT,
    ROLLED[0],
    ROLLED[1],
    UNROLL_ALL[0],
    UNROLL_ALL[1],
    NATIVE_CODE[0],
    NATIVE_CODE[1],
];

/// Runtime unrolling may compute a trip count that needs several instructions.
const CHEAP_EXPANSION: Hidden = Hidden::new("scev-cheap-expansion-budget", "20", "4");

/// Loop counters keep the 32 bits that the source gives them: on GPUs, 64-bit arithmetic is several times as slow.
const NARROW_COUNTERS: Hidden = Hidden::new("indvars-widen-indvars", "false", "true");

/// The size to which full unrolling and runtime unrolling may grow a loop. `loop-unroll-full` has no options of its own.
const UNROLL_MUCH: Hidden = Hidden::new("unroll-threshold", "2750", "150");
const UNROLL_LITTLE: Hidden = Hidden::new("unroll-threshold", "30", "150");

/// The unroll thresholds for the report: about a hundred times the defaults.
const UNROLL_ALL: [Hidden; 2] =
    [Hidden::new("unroll-threshold", "16384", "150"), Hidden::new("unroll-partial-threshold", "16384", "150")];

/// The maximum trip count of loops that are fully unrolled, also by `loop-unroll-full`.
pub const MAX_FULL_UNROLL_COUNT: u32 = 32;
const UNROLL_SHORT: Hidden = Hidden::new("unroll-full-max-count", "32", "4294967295");

/// The hidden options for rolled loops. Loops of up to three iterations are fully unrolled: most are loops over the dimensions of an
/// index or extent, whose members then become values. Exit conditions keep the program's comparison: `i < n` bounds the counter in
/// the body of the loop, but `i != n` does not.
const ROLLED: [Hidden; 2] =
    [Hidden::new("unroll-full-max-count", "3", "4294967295"), Hidden::new("disable-lftr", "true", "false")];

/// The hidden options for native code, which `default<O3>` generates. Full unrolling of a loop over the threads of a tile
/// before vectorisation would give vectors of scattered elements. Unswitching a loop on a condition that is the same for
/// all threads (such as the bits of a texture) gives one loop for each value of the condition. These loops can be vectorised.
pub const NATIVE_CODE: [Hidden; 2] =
    [Hidden::new("unroll-full-max-count", "7", "4294967295"), Hidden::new("unswitch-threshold", "1000", "50")];

/// How much loops are unrolled. A driver's compile time grows faster than linearly with the size of a kernel, so a
/// kernel that unrolling makes too large (`kernels::MAX_UNROLLED_INSTRUCTIONS`) is unrolled less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unrolling {
    /// Loops with a known trip count of at most 32 become straight-line code of up to some thousand instructions, as in CUDA's compiler.
    Short,
    /// As `Short`, and large counted loops are unrolled by 4 (`unroll_large`).
    Large,
    /// As `Short`, but without the limit on the trip count. If the indices of a thread's array become constants, the array
    /// turns into values. Kernels without such arrays gain nothing, and drivers take ten times as long for them.
    Much,
    /// LLVM's default for CPUs.
    LlvmDefault,
    /// Only loops of a few instructions.
    Little,
    /// As `LlvmDefault`, but only loops with a known trip count. Runtime unrolling by 8 can leave an infinite remainder loop
    /// when the trip count is below 8.
    Known,
    /// Only loops of up to three iterations, for drivers that unroll loops. The other loops keep the form of the source: the condition
    /// is tested before each iteration. Mesa's drivers then recognise the trip count, and merge loads of neighbouring elements. In a
    /// loop that tests the condition after each iteration, they would compute the addresses of the next iteration at its end.
    Rolled,
}

impl Unrolling {
    fn options(self) -> &'static [Hidden] {
        match self {
            Self::Short | Self::Large => &[UNROLL_MUCH, UNROLL_SHORT],
            Self::Much => &[UNROLL_MUCH],
            Self::LlvmDefault | Self::Known => &[],
            Self::Little => &[UNROLL_LITTLE],
            Self::Rolled => &ROLLED,
        }
    }
}

/// Promotes the variables of inlined code to values, and keeps the control flow as the user wrote it.
const VALUES: &str = "function(sroa,early-cse,loop(loop-rotate,loop-unroll-full),sroa,instcombine<no-verify-fixpoint>,\
    infer-address-spaces,early-cse),globaldce";

/// How a source's kernels are optimised.
#[derive(Clone, Copy)]
pub struct Optimised {
    /// True if a kernel is large (`inline_all::is_large`).
    pub large: bool,
    /// How much loops are unrolled.
    pub unrolling: Unrolling,
    /// True to also structure the control flow; otherwise `structure` does this later.
    pub structured: bool,
}

impl Pipeline {
    fn of(passes: impl Into<String>, options: &[Hidden]) -> Self {
        Self { passes: passes.into(), options: options.to_vec() }
    }

    /// Appends the passes of `next`, a pipeline with the same options.
    #[cfg(test)]
    fn then(mut self, next: &Self) -> Self {
        self.passes = format!("{},{}", self.passes, next.passes);
        self
    }
}

/// Inlines all calls, promotes variables to values, and names values and blocks.
pub fn inline(large: bool) -> Pipeline {
    Pipeline::of(format!("{},function(sroa,loop-simplify,instnamer)", inlining(large)), &[])
}

fn inlining(large: bool) -> &'static str {
    if large { INLINE_LARGE } else { INLINE }
}

/// Finds out which functions have no effects.
pub fn infer_attributes() -> Pipeline {
    Pipeline::of("internalize,globaldce,cgscc(function-attrs)", &[])
}

/// Inlines the calls of all functions that are not `noinline`, and promotes variables to values. Loops are rotated, but not unrolled,
/// because the report numbers the program's loops later.
pub fn inline_other_calls() -> Pipeline {
    const VALUES: &str = "sroa,loop(loop-rotate),sroa,instcombine<no-verify-fixpoint>,infer-address-spaces";
    Pipeline::of(format!("always-inline,globaldce,function({VALUES})"), &[])
}

/// Moves calls out of loops, and merges equal calls.
pub fn move_calls() -> Pipeline {
    Pipeline::of("function(early-cse<memssa>,loop-simplify,lcssa,loop-mssa(licm),early-cse<memssa>)", &[])
}

/// Inlines all calls and changes nothing else.
pub fn inlined(large: bool) -> Pipeline {
    Pipeline::of(inlining(large), &[])
}

/// Removes code that is unreachable because conditions are constant now.
pub fn fold() -> Pipeline {
    Pipeline::of("function(instsimplify,simplifycfg),internalize,globaldce", &[])
}

/// Optimises kernels for the host's processor, with all calls inlined.
pub fn native() -> Pipeline {
    Pipeline::of(format!("{INLINE},{}", NATIVE.passes()), &[])
}

/// Deletes functions and variables that nothing uses.
pub fn unused() -> Pipeline {
    Pipeline::of("globaldce", &[])
}

/// Deletes the bodies of functions that are marked as available in another module, and definitions that only these bodies used.
pub fn drop_available_externally() -> Pipeline {
    Pipeline::of("elim-avail-extern,globaldce", &[])
}

/// Optimises native code as `clang -O3` does.
pub fn native_code() -> Pipeline {
    Pipeline::of("default<O3>", &NATIVE_CODE)
}

/// Prepares a module for analyses of the user's control flow.
pub fn values(large: bool) -> Pipeline {
    Pipeline::of(format!("{},{VALUES}", inlining(large)), &[])
}

/// Makes all definitions internal, so that two modules with the same definitions can be linked.
pub fn internal() -> Pipeline {
    Pipeline::of("internalize", &[])
}

/// Puts the values that blocks share into variables.
pub fn variables() -> Pipeline {
    Pipeline::of("function(reg2mem)", &[])
}

/// Promotes the variables of [`variables`] back to values.
pub fn no_variables() -> Pipeline {
    Pipeline::of("function(sroa)", &[])
}

/// Promotes the variables of loops over threads to values, and gives each loop a preheader.
pub fn loop_values() -> Pipeline {
    Pipeline::of("function(sroa,early-cse<memssa>,instsimplify,loop-simplify)", &[])
}

/// Unswitches loops on loop-invariant conditions, and promotes the variables that hold these conditions to values.
pub fn unswitch() -> Pipeline {
    Pipeline::of(
        "function(early-cse,loop-simplify,lcssa,loop-mssa(simple-loop-unswitch<nontrivial;trivial>),sroa,instsimplify)",
        &NATIVE_CODE,
    )
}

/// Folds differences between addresses in tile memory. After the inference of address spaces, the difference between an address in tile
/// memory and a generic address could not be expressed.
pub fn differences() -> Pipeline {
    Pipeline::of("function(instcombine<no-verify-fixpoint>)", &[])
}

/// Infers the address space of each address. While addresses are generic, LLVM merges loads from different memories
/// into one load from a selected address.
pub fn address_spaces() -> Pipeline {
    Pipeline::of("function(infer-address-spaces)", &[])
}

/// Structures the control flow that [`unroll`] leaves unstructured.
pub fn structure() -> Pipeline {
    Pipeline::of(STRUCTURE, &[])
}

/// Inlines and optimises. [`unroll`] follows.
pub fn optimise(optimised: Optimised) -> Pipeline {
    let o2 = match optimised.unrolling {
        Unrolling::Little => O2 { unroll: NO_RUNTIME_UNROLL, ..DEVICE },
        Unrolling::Rolled => ROLLED_O2,
        _ => DEVICE,
    };
    let o2 = o2.passes();
    let slsr = optimised.slsr();
    let addresses = format!(
        "separate-const-offset-from-gep,{slsr}early-cse,nary-reassociate,early-cse,simplifycfg<bonus-inst-threshold=4>"
    );
    Pipeline::of(format!("{},{o2},{PREPARE},function({addresses})", inlining(optimised.large)), &optimised.options())
}

/// Unrolls loops by 8 if their trip count is known only at run time.
pub fn unroll(optimised: Optimised) -> Pipeline {
    let structure = if optimised.structured { format!(",{STRUCTURE}") } else { String::new() };
    Pipeline::of(format!("{}{structure}", optimised.runtime_unrolling()), &optimised.options())
}

/// [`optimise`] and then [`unroll`].
#[cfg(test)]
pub fn optimise_and_unroll(optimised: Optimised) -> Pipeline {
    optimise(optimised).then(&unroll(optimised))
}

/// Unrolls loops with about a hundred times the default thresholds, for the report.
pub fn unroll_without_limits() -> Pipeline {
    let options = [&[CHEAP_EXPANSION, NARROW_COUNTERS][..], &UNROLL_ALL].concat();
    Pipeline::of("function(loop-unroll<partial;runtime>)", &options)
}

/// As [`unroll`], for the loops that `passes::unroll_large` marked.
pub fn unroll_large() -> Pipeline {
    unroll(Optimised { large: false, unrolling: Unrolling::Large, structured: true })
}

impl Optimised {
    /// `slsr` compares all pairs of addresses, so it is left out for large kernels.
    fn slsr(self) -> &'static str {
        if self.large { "" } else { "slsr," }
    }

    /// `partial`: a loop with a known trip count that is not fully unrolled is unrolled up to about 150 instructions, so
    /// that several iterations share the branch of their quotients, and their loads are in flight together.
    ///
    /// `sccp` drops the remainder loop of a loop that was unrolled by its largest trip count. `loop-reduce` comes last:
    /// before unrolling, it would turn the unrolled addresses into a chain of additions.
    fn runtime_unrolling(self) -> String {
        let kinds = match self.unrolling {
            Unrolling::Rolled => return "function(early-cse)".into(),
            Unrolling::Known => "partial;no-runtime",
            Unrolling::Little => "runtime",
            _ => "partial;runtime;upperbound",
        };
        let slsr = self.slsr();
        format!("function(loop-unroll<{kinds}>,early-cse,sccp,{slsr}early-cse,loop(loop-reduce),early-cse)")
    }

    fn options(self) -> Vec<Hidden> {
        [&[CHEAP_EXPANSION, NARROW_COUNTERS], self.unrolling.options()].concat()
    }
}
