//! The pipelines of LLVM's passes that kernels go through, with the hidden options of each, and why.

use crate::llvm::{Hidden, Pipeline};

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
const LOOPS: Hidden = Hidden::new("disable-loop-idiom-all", "true", "false");

/// Branches in a row stay so. What jump threading makes of them is no longer structured, and to make it so again takes more than a
/// branch; of a short one drivers make instructions with a condition.
const JUMPS: Hidden = Hidden::lasting("opt-disable", "jump-threading");

/// How often loops iterate is found out before an unrolled one also where that takes some arithmetic.
const LENGTHS: Hidden = Hidden::new("scev-cheap-expansion-budget", "20", "4");

/// Numbers that count loops keep 32 bits where the source has them so: GPUs count, multiply and add 64 bits several times as slowly.
const COUNTERS: Hidden = Hidden::new("indvars-widen-indvars", "false", "true");

/// Vectors would be split into scalars again.
const NO_VECTORS: [Hidden; 2] =
    [Hidden::new("vectorize-slp", "false", "true"), Hidden::new("vectorize-loops", "false", "true")];

/// Neighbours that are loaded together would both be outside where one is.
const SINGLE_LOADS: Hidden = Hidden::new("aggressive-instcombine-max-scan-instrs", "0", "64");

/// What native kernels need besides. A value made twice on two ways would be one that no few instructions make again. Stores to
/// elements side by side would become one to an address that is chosen; and sums of other order do not tell that they do not overflow.
const NATIVE: [Hidden; 5] = [
    Hidden::new("unroll-runtime", "false", "false"),
    Hidden::new("enable-pre", "false", "true"),
    Hidden::new("enable-load-pre", "false", "true"),
    Hidden::lasting("sink-common-insts", "false"),
    Hidden::lasting("opt-disable", "reassociate"),
];

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
    fn options(self) -> &'static [Hidden] {
        const MUCH: Hidden = Hidden::new("unroll-threshold", "2500", "150");
        const LITTLE: Hidden = Hidden::new("unroll-threshold", "30", "150");
        const SHORT: Hidden = Hidden::new("unroll-full-max-count", "32", "4294967295");
        const NOT_AT_RUN_TIME: Hidden = Hidden::new("unroll-runtime", "false", "false");
        match self {
            Self::Short | Self::Large => &[MUCH, SHORT],
            Self::Much => &[MUCH],
            Self::Some | Self::Known => &[],
            Self::Little => &[LITTLE, NOT_AT_RUN_TIME],
        }
    }
}

/// Makes values of the variables of inlined code, and leaves its control flow as the user wrote it.
const VALUES: &str = "function(sroa,early-cse,loop(loop-rotate,loop-unroll-full),sroa,instcombine<no-verify-fixpoint>,\
    infer-address-spaces,early-cse),globaldce";

/// Compares all addresses in pairs: left out for large kernels.
const QUADRATIC: &str = "slsr,";

/// How kernels are prepared for native code: all calls inlined, no vectors yet, and no value used in another block than its own.
const NATIVE_PASSES: &str = "internalize,globaldce,always-inline,default<O2>,function(reg2mem)";

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

/// Leaves out what conditions that are constant now never reach.
pub fn fold() -> Pipeline {
    Pipeline::of("function(instsimplify,simplifycfg),internalize,globaldce", &[])
}

/// Prepares kernels for the host's processor.
pub fn native() -> Pipeline {
    Pipeline::of(NATIVE_PASSES, &[&NO_VECTORS[..], &NATIVE].concat())
}

/// For what looks at the user's control flow.
pub fn values(large: bool) -> Pipeline {
    Pipeline::of(format!("{},{VALUES}", inlining(large)), &[])
}

/// Puts the values that blocks share into variables.
pub fn variables() -> Pipeline {
    Pipeline::of("function(reg2mem)", &[])
}

/// Makes values of variables again.
pub fn no_variables() -> Pipeline {
    Pipeline::of("function(sroa)", &[])
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
    Pipeline::of(how.passes(&format!("{},{PASSES}", inlining(how.large))), &how.options())
}

/// Unrolls loops whose length is known at run time only.
pub fn unroll(how: Optimised) -> Pipeline {
    let passes = if how.structured { format!("{UNROLL},{STRUCTURE}") } else { UNROLL.to_owned() };
    Pipeline::of(how.passes(&passes), &how.options())
}

/// Both.
pub fn optimise_and_unroll(how: Optimised) -> Pipeline {
    optimise(how).then(&unroll(how))
}

/// As [`unroll`], for what `large_loops` marked.
pub fn unroll_large() -> Pipeline {
    Pipeline::of(format!("{UNROLL},{STRUCTURE}"), &[&[LENGTHS], Unrolling::Large.options()].concat())
}

impl Optimised {
    /// What of these passes it takes.
    fn passes(self, all: &str) -> String {
        let passes = if self.large { all.replace(QUADRATIC, "") } else { all.to_owned() };
        match self.unrolling {
            Unrolling::Known => passes.replace("loop-unroll<runtime>", "loop-unroll<no-runtime>"),
            _ => passes,
        }
    }

    fn options(self) -> Vec<Hidden> {
        let single: &[Hidden] = if self.checked { &[SINGLE_LOADS] } else { &[] };
        [&NO_VECTORS[..], &[LENGTHS, LOOPS, JUMPS, COUNTERS], self.unrolling.options(), single].concat()
    }
}
