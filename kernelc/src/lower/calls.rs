//! Calls: the numbers and barriers of a launch, mathematics, and what LLVM itself calls. All else should have been inlined.

use super::assembler::{Id, Scalar, Workgroup};
use super::emit::{Emitter, Made};
use super::memory::{self, Copy};
use super::refusal::Refusal;
use super::structure::operands;
use super::values::Kind;
use super::{integers, maths, printf};
use crate::ir::{BinaryOp, Constant, Function, FunctionId, IntPredicate, Module, Op, Operand, Type, Value};
use rspirv::spirv::{Op as S, Word};

/// Numbers of GLSL.std.450.
mod glsl {
    pub(super) const ROUND_EVEN: u32 = 2;
    pub(super) const TRUNC: u32 = 3;
    pub(super) const FABS: u32 = 4;
    pub(super) const SABS: u32 = 5;
    pub(super) const FLOOR: u32 = 8;
    pub(super) const CEIL: u32 = 9;
    pub(super) const SIN: u32 = 13;
    pub(super) const COS: u32 = 14;
    pub(super) const TAN: u32 = 15;
    pub(super) const POW: u32 = 26;
    pub(super) const EXP: u32 = 27;
    pub(super) const LOG: u32 = 28;
    pub(super) const EXP2: u32 = 29;
    pub(super) const LOG2: u32 = 30;
    pub(super) const SQRT: u32 = 31;
    pub(super) const UMIN: u32 = 38;
    pub(super) const SMIN: u32 = 39;
    pub(super) const UMAX: u32 = 41;
    pub(super) const SMAX: u32 = 42;
    pub(super) const FMA: u32 = 50;
    pub(super) const LDEXP: u32 = 53;
    pub(super) const FIND_LSB: u32 = 73;
    pub(super) const FIND_MSB: u32 = 75;
    pub(super) const NMIN: u32 = 79;
    pub(super) const NMAX: u32 = 80;
}

/// Of device memory: what memory copies are unrolled to at most.
const LARGEST_COPY: u64 = 16 << 10;

fn number(operand: &Operand) -> Option<u64> {
    match operand.value {
        Value::Constant(Constant::Int(value)) => u64::try_from(value).ok(),
        Value::Constant(Constant::Zero) => Some(0),
        _ => None,
    }
}

pub(super) fn call(e: &mut Emitter, callee: FunctionId, arguments: &[Operand], returns: &Type) -> Made<Vec<Word>> {
    let function = &e.module.functions[callee.0];
    let name = function.name.as_str();
    if let Some(rest) = name.strip_prefix("__revamp_") {
        return revamp(e, rest, name, arguments, returns);
    }
    if let Some(rest) = name.strip_prefix("llvm.") {
        return llvm(e, rest, name, arguments, returns);
    }
    if let Some(function) = printf::function(name) {
        return printf::call(e, function, arguments).map(|()| vec![]);
    }
    let shown = crate::names::demangled(name);
    Err(Refusal::plain(if function.blocks.is_empty() {
        match name {
            "_Znwm" | "_Znam" | "_ZdlPv" | "_ZdlPvm" | "_ZdaPv" | "malloc" | "free" | "calloc" | "realloc" => {
                format!("'{shown}': restrict(amp) code has no heap")
            }
            "__cxa_throw" | "__cxa_allocate_exception" | "__cxa_rethrow" => {
                "restrict(amp) code cannot throw exceptions".to_string()
            }
            _ => format!(
                "'{shown}' is called in amp code but not defined in this file: the kernel compiler needs its body"
            ),
        }
    } else if name == e.function.name {
        "a kernel calls itself".to_string()
    } else {
        let defined = e.module.definition(function).map(|frame| frame.function).filter(|_| shown == name);
        not_inlined(e.module, function, &defined.unwrap_or(shown))
    }))
}

/// Whether a constant holds the address of a label of the function. The jump itself does not survive `structurizecfg`.
fn holds_label(constant: &Constant, function: &Function) -> bool {
    match constant {
        Constant::Other(text) => text.contains("blockaddress") && text.contains(&format!("@{},", function.name)),
        Constant::Aggregate(parts) => {
            parts.iter().any(|part| matches!(&part.value, Value::Constant(inner) if holds_label(inner, function)))
        }
        Constant::Expression(op) => {
            operands(op).iter().any(|value| matches!(value, Value::Constant(inner) if holds_label(inner, function)))
        }
        _ => false,
    }
}

/// Why a function that has a body is still called.
fn not_inlined(module: &Module, function: &Function, shown: &str) -> String {
    let has = |what: &dyn Fn(&Op) -> bool| function.blocks.iter().flat_map(|b| &b.instructions).any(|i| what(&i.op));
    let starts_list =
        |op: &Op| matches!(op, Op::Call { callee, .. } if module.functions[callee.0].name.starts_with("llvm.va_start"));
    if has(&starts_list) {
        format!("'{shown}' takes variable arguments (...): restrict(amp) code has none")
    } else if module.globals.iter().filter_map(|global| global.initializer.as_ref()).any(|c| holds_label(c, function))
        || has(&|op| operands(op).iter().any(|value| matches!(value, Value::Constant(c) if holds_label(c, function))))
    {
        format!("'{shown}' has a computed goto: restrict(amp) code has none")
    } else {
        format!("'{shown}' is not inlined, most likely because it calls itself: restrict(amp) code has no recursion")
    }
}

fn revamp(e: &mut Emitter, rest: &str, name: &str, arguments: &[Operand], returns: &Type) -> Made<Vec<Word>> {
    let fixed = |e: &Emitter, n: usize| {
        arguments
            .get(n)
            .and_then(number)
            .ok_or_else(|| e.internal(&format!("an argument of {name} that is no constant")))
    };
    let id = match rest {
        "global_id" => Some(Id::Global),
        "local_id" => Some(Id::Local),
        "group_id" => Some(Id::Group),
        _ => None,
    };
    if let Some(id) = id {
        let component = fixed(e, 0)?.min(2);
        return Ok(vec![e.number(id, component as u32)]);
    }
    match rest {
        "workgroup_size" => {
            let size = [fixed(e, 0)?, fixed(e, 1)?, fixed(e, 2)?].map(|n| n.clamp(1, 1 << 16) as u32);
            e.workgroup = Some(Workgroup::Fixed(size));
            Ok(vec![])
        }
        "workgroup_auto" => {
            e.workgroup = Some(Workgroup::Chosen(match fixed(e, 0)? {
                0 | 1 => [256, 1, 1],
                2 => [32, 8, 1],
                _ => [32, 4, 2],
            }));
            Ok(vec![])
        }
        "tile_barrier" => {
            let memory = fixed(e, 0)?;
            e.barrier(memory);
            Ok(vec![])
        }
        "end_thread" => Err(e.internal("a thread ends where the kernel cannot return")),
        "memory_fence" => {
            let memory = fixed(e, 0)?;
            e.fence(memory);
            Ok(vec![])
        }
        _ => {
            let Some(instruction) = maths::glsl(name) else {
                return Err(e.internal(&format!("the function {name} is not known")));
            };
            let mut words = Vec::new();
            for argument in arguments {
                words.push(e.word(argument)?);
            }
            let ty = e.kind(returns)?.register();
            let ty = e.asm.scalar(ty);
            Ok(vec![e.asm.glsl(instruction, ty, &words)])
        }
    }
}

fn llvm(e: &mut Emitter, rest: &str, name: &str, arguments: &[Operand], returns: &Type) -> Made<Vec<Word>> {
    if let Some(copy) = memory::is_copy(name) {
        return transfer(e, copy, arguments);
    }
    // The types that follow the name.
    let base = rest.split('.').take_while(|part| !is_type(part)).collect::<Vec<_>>().join(".");
    match base.as_str() {
        "lifetime.start"
        | "lifetime.end"
        | "assume"
        | "dbg.value"
        | "dbg.declare"
        | "dbg.label"
        | "experimental.noalias.scope.decl"
        | "donothing"
        | "prefetch"
        | "var.annotation"
        | "sideeffect"
        | "fake.use" => return Ok(vec![]),
        "invariant.start" => return Ok(vec![e.asm.constant(Scalar::U64, 0)]),
        "invariant.end" => return Ok(vec![]),
        "trap" | "debugtrap" | "ubsantrap" => {
            return Err(Refusal::plain("the kernel can come to a place that must not be reached (a trap)".into()));
        }
        "expect"
        | "expect.with.probability"
        | "annotation"
        | "ssa.copy"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "ptr.annotation" => {
            return match arguments.first() {
                Some(first) => e.words(first),
                None => Err(e.internal(name)),
            };
        }
        "uadd.with.overflow" | "usub.with.overflow" | "umul.with.overflow" | "sadd.with.overflow"
        | "ssub.with.overflow" | "smul.with.overflow" => return overflow(e, &base, arguments),
        _ => {}
    }
    // One scalar after the other.
    let kinds = e.leaves(returns)?;
    let mut columns = Vec::new();
    for argument in arguments {
        columns.push((e.words(argument)?, argument));
    }
    let mut words = Vec::new();
    for (n, leaf) in kinds.iter().enumerate() {
        let mut row = Vec::new();
        for (words, _) in &columns {
            match words.get(n).or(words.first()) {
                Some(&word) => row.push(word),
                None => return Err(e.internal(name)),
            }
        }
        let from = match arguments.first() {
            Some(first) => e.leaves(&first.ty)?.first().map_or(leaf.kind, |l| l.kind),
            None => leaf.kind,
        };
        let word = match scalar(e, &base, leaf.kind, from, &row, arguments)? {
            Some(word) => word,
            None => {
                return Err(Refusal::plain(format!("the kernel compiler does not know '{name}'")));
            }
        };
        words.push(word);
    }
    Ok(words)
}

fn is_type(part: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    part.strip_prefix(['i', 'f', 'p']).is_some_and(digits)
        || part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// An intrinsic on scalars; `from` is the kind of the first argument.
fn scalar(
    e: &mut Emitter,
    base: &str,
    kind: Kind,
    from: Kind,
    row: &[Word],
    arguments: &[Operand],
) -> Made<Option<Word>> {
    let register = kind.register();
    let ty = e.asm.scalar(register);
    let simple = match base {
        "sqrt" => Some(glsl::SQRT),
        "floor" => Some(glsl::FLOOR),
        "ceil" => Some(glsl::CEIL),
        "trunc" => Some(glsl::TRUNC),
        "rint" | "nearbyint" | "roundeven" => Some(glsl::ROUND_EVEN),
        "fabs" => Some(glsl::FABS),
        "minnum" | "minimumnum" => Some(glsl::NMIN),
        "maxnum" | "maximumnum" => Some(glsl::NMAX),
        "fma" => Some(glsl::FMA),
        "sin" => Some(glsl::SIN),
        "cos" => Some(glsl::COS),
        "tan" => Some(glsl::TAN),
        "exp" => Some(glsl::EXP),
        "exp2" => Some(glsl::EXP2),
        "log" => Some(glsl::LOG),
        "log2" => Some(glsl::LOG2),
        "pow" => Some(glsl::POW),
        "ldexp" => Some(glsl::LDEXP),
        _ => None,
    };
    if let Some(instruction) = simple {
        let transcendental = matches!(
            instruction,
            glsl::SIN | glsl::COS | glsl::TAN | glsl::EXP | glsl::EXP2 | glsl::LOG | glsl::LOG2 | glsl::POW
        );
        if transcendental && kind == Kind::Double {
            return Err(Refusal::plain(format!(
                "'{base}' of a double is called by its builtin; precise_math has it for kernels"
            )));
        }
        return Ok(Some(e.asm.glsl(instruction, ty, row)));
    }
    let &[a, ..] = row else { return Ok(None) };
    let b = row.get(1).copied().unwrap_or(a);
    let c = row.get(2).copied().unwrap_or(a);
    let bits = match from {
        Kind::Int(bits) => bits,
        _ => 32,
    };
    Ok(Some(match base {
        "fmuladd" => {
            let product = e.asm.op(S::FMul, ty, &[a, b]);
            e.asm.op(S::FAdd, ty, &[product, c])
        }
        "copysign" => copysign(e, kind, a, b)?,
        "round" => {
            // Halves away from zero: trunc(|x| + 0.5 - an ulp of it) with the sign; exact for all that have a fraction.
            let magnitude = e.asm.glsl(glsl::FABS, ty, &[a]);
            let whole = e.asm.glsl(glsl::TRUNC, ty, &[magnitude]);
            let rest = e.asm.op(S::FSub, ty, &[magnitude, whole]);
            let half = float(e, kind, 0.5);
            let one = float(e, kind, 1.0);
            let zero = float(e, kind, 0.0);
            let up = e.asm.make(S::FOrdGreaterThanEqual, Scalar::Bool, &[rest, half]);
            let by = e.asm.op(S::Select, ty, &[up, one, zero]);
            let rounded = e.asm.op(S::FAdd, ty, &[whole, by]);
            copysign(e, kind, rounded, a)?
        }
        "minimum" | "maximum" => {
            let order = if base == "minimum" { glsl::NMIN } else { glsl::NMAX };
            let chosen = e.asm.glsl(order, ty, &[a, b]);
            let sum = e.asm.op(S::FAdd, ty, &[a, b]);
            let x = e.asm.make(S::IsNan, Scalar::Bool, &[a]);
            let y = e.asm.make(S::IsNan, Scalar::Bool, &[b]);
            let nan = e.asm.make(S::LogicalOr, Scalar::Bool, &[x, y]);
            e.asm.op(S::Select, ty, &[nan, sum, chosen])
        }
        "is.fpclass" => {
            let Some(mask) = arguments.get(1).and_then(number) else { return Ok(None) };
            classify(e, from, a, mask)?
        }
        "umin" | "umax" | "smin" | "smax" => {
            let predicate = match base {
                "umin" => IntPredicate::Ult,
                "umax" => IntPredicate::Ugt,
                "smin" => IntPredicate::Slt,
                _ => IntPredicate::Sgt,
            };
            if bits == 32 || bits == 64 {
                let instruction = match base {
                    "umin" => glsl::UMIN,
                    "umax" => glsl::UMAX,
                    "smin" => glsl::SMIN,
                    _ => glsl::SMAX,
                };
                e.asm.glsl(instruction, ty, &[a, b])
            } else {
                let first = integers::compare(&mut e.asm, predicate, bits, a, b);
                e.asm.op(S::Select, ty, &[first, a, b])
            }
        }
        "abs" => {
            if bits == 32 || bits == 64 {
                e.asm.glsl(glsl::SABS, ty, &[a])
            } else {
                let zero = e.asm.constant(register, 0);
                let negative = integers::compare(&mut e.asm, IntPredicate::Slt, bits, a, zero);
                let minus = integers::binary(&mut e.asm, BinaryOp::Sub, bits, zero, a)?;
                e.asm.op(S::Select, ty, &[negative, minus, a])
            }
        }
        "ctpop" => {
            let (low, high) = halves(e, a, bits);
            let mut count = e.asm.make(S::BitCount, Scalar::U32, &[low]);
            if let Some(high) = high {
                let more = e.asm.make(S::BitCount, Scalar::U32, &[high]);
                count = e.asm.make(S::IAdd, Scalar::U32, &[count, more]);
            }
            integers::zero_extend(&mut e.asm, count, 32, bits.max(32))
        }
        "ctlz" => {
            // FindUMsb gives -1 for none, so 31 - it is 32.
            let word32 = e.asm.scalar(Scalar::U32);
            let (low, high) = halves(e, a, bits);
            let msb = e.asm.glsl(glsl::FIND_MSB, word32, &[low]);
            let top = match high {
                None => msb,
                Some(high) => {
                    let upper = e.asm.glsl(glsl::FIND_MSB, word32, &[high]);
                    let zero = e.asm.constant(Scalar::U32, 0);
                    let by = e.asm.constant(Scalar::U32, 32);
                    let any = e.asm.make(S::INotEqual, Scalar::Bool, &[high, zero]);
                    let shifted = e.asm.make(S::IAdd, Scalar::U32, &[upper, by]);
                    e.asm.make(S::Select, Scalar::U32, &[any, shifted, msb])
                }
            };
            let last = e.asm.constant(Scalar::U32, u64::from(bits) - 1);
            let zeros = e.asm.make(S::ISub, Scalar::U32, &[last, top]);
            integers::zero_extend(&mut e.asm, zeros, 32, bits.max(32))
        }
        "cttz" => {
            let word32 = e.asm.scalar(Scalar::U32);
            let (low, high) = halves(e, a, bits);
            let zero = e.asm.constant(Scalar::U32, 0);
            let mut lsb = e.asm.glsl(glsl::FIND_LSB, word32, &[low]);
            let mut any = e.asm.make(S::INotEqual, Scalar::Bool, &[low, zero]);
            if let Some(high) = high {
                let upper = e.asm.glsl(glsl::FIND_LSB, word32, &[high]);
                let by = e.asm.constant(Scalar::U32, 32);
                let shifted = e.asm.make(S::IAdd, Scalar::U32, &[upper, by]);
                lsb = e.asm.make(S::Select, Scalar::U32, &[any, lsb, shifted]);
                let more = e.asm.make(S::INotEqual, Scalar::Bool, &[high, zero]);
                any = e.asm.make(S::LogicalOr, Scalar::Bool, &[any, more]);
            }
            let all = e.asm.constant(Scalar::U32, u64::from(bits));
            let zeros = e.asm.make(S::Select, Scalar::U32, &[any, lsb, all]);
            integers::zero_extend(&mut e.asm, zeros, 32, bits.max(32))
        }
        "bitreverse" => {
            let (low, high) = halves(e, a, bits);
            let low = e.asm.make(S::BitReverse, Scalar::U32, &[low]);
            match high {
                Some(high) => {
                    let high = e.asm.make(S::BitReverse, Scalar::U32, &[high]);
                    let all = pair(e, high, low);
                    shift_down(e, all, Scalar::U64, 64 - bits)
                }
                None => shift_down(e, low, Scalar::U32, 32 - bits),
            }
        }
        "bswap" => swap(e, a, bits, register),
        "fshl" | "fshr" => {
            if bits != 32 && bits != 64 {
                return Ok(None);
            }
            let mask = e.asm.constant(register, u64::from(bits) - 1);
            let size = e.asm.constant(register, u64::from(bits));
            let zero = e.asm.constant(register, 0);
            let by = e.asm.op(S::BitwiseAnd, ty, &[c, mask]);
            let rest = e.asm.op(S::ISub, ty, &[size, by]);
            let none = e.asm.make(S::IEqual, Scalar::Bool, &[by, zero]);
            // A shift by all bits is undefined: the other half is taken out then.
            let rest = e.asm.op(S::BitwiseAnd, ty, &[rest, mask]);
            let (up, down) = if base == "fshl" { (by, rest) } else { (rest, by) };
            let high = e.asm.op(S::ShiftLeftLogical, ty, &[a, up]);
            let low = e.asm.op(S::ShiftRightLogical, ty, &[b, down]);
            let both = e.asm.op(S::BitwiseOr, ty, &[high, low]);
            let whole = if base == "fshl" { a } else { b };
            e.asm.op(S::Select, ty, &[none, whole, both])
        }
        "uadd.sat" => {
            let sum = integers::binary(&mut e.asm, BinaryOp::Add, bits, a, b)?;
            let over = integers::compare(&mut e.asm, IntPredicate::Ult, bits, sum, a);
            let most = e.asm.constant(register, if bits == 64 { u64::MAX } else { (1 << bits) - 1 });
            e.asm.op(S::Select, ty, &[over, most, sum])
        }
        "usub.sat" => {
            let rest = integers::binary(&mut e.asm, BinaryOp::Sub, bits, a, b)?;
            let under = integers::compare(&mut e.asm, IntPredicate::Ult, bits, a, b);
            let zero = e.asm.constant(register, 0);
            e.asm.op(S::Select, ty, &[under, zero, rest])
        }
        "ucmp" | "scmp" => {
            let (less, more) = if base == "ucmp" {
                (IntPredicate::Ult, IntPredicate::Ugt)
            } else {
                (IntPredicate::Slt, IntPredicate::Sgt)
            };
            let Kind::Int(to) = kind else { return Ok(None) };
            let less = integers::compare(&mut e.asm, less, bits, a, b);
            let more = integers::compare(&mut e.asm, more, bits, a, b);
            let minus = integers::sign_extend(&mut e.asm, less, 1, to);
            let plus = integers::zero_extend(&mut e.asm, more, 1, to);
            e.asm.op(S::BitwiseOr, ty, &[minus, plus])
        }
        "fptoui.sat" | "fptosi.sat" => {
            let Kind::Int(to) = kind else { return Ok(None) };
            saturate(e, base == "fptosi.sat", from, to, a)?
        }
        "frexp" => return Ok(None),
        _ => return Ok(None),
    }))
}

fn float(e: &mut Emitter, kind: Kind, value: f64) -> Word {
    match kind {
        Kind::Double => e.asm.constant(Scalar::F64, value.to_bits()),
        Kind::Half => e.asm.constant(
            Scalar::F16,
            if value == 0.5 {
                0x3800
            } else if value == 1.0 {
                0x3c00
            } else {
                0
            },
        ),
        _ => e.asm.constant(Scalar::F32, u64::from((value as f32).to_bits())),
    }
}

/// The bits of a float as an integer, and how many they are.
fn float_bits(e: &mut Emitter, kind: Kind, word: Word) -> Made<(Word, Scalar, u32)> {
    match kind {
        Kind::Float => Ok((memory::recast(&mut e.asm, word, Scalar::F32, Scalar::U32), Scalar::U32, 32)),
        Kind::Double => Ok((memory::recast(&mut e.asm, word, Scalar::F64, Scalar::U64), Scalar::U64, 64)),
        _ => Err(Refusal::plain("this operation on numbers of 16 bits".into())),
    }
}

fn copysign(e: &mut Emitter, kind: Kind, magnitude: Word, sign: Word) -> Made<Word> {
    let (a, scalar, bits) = float_bits(e, kind, magnitude)?;
    let (b, ..) = float_bits(e, kind, sign)?;
    let top = e.asm.constant(scalar, 1 << (bits - 1));
    let rest = e.asm.constant(scalar, (1 << (bits - 1)) - 1);
    let a = e.asm.make(S::BitwiseAnd, scalar, &[a, rest]);
    let b = e.asm.make(S::BitwiseAnd, scalar, &[b, top]);
    let both = e.asm.make(S::BitwiseOr, scalar, &[a, b]);
    Ok(memory::recast(&mut e.asm, both, scalar, kind.register()))
}

/// `llvm.is.fpclass`, by bits: drivers may take it that there are no NaNs.
fn classify(e: &mut Emitter, kind: Kind, value: Word, mask: u64) -> Made<Word> {
    let (bits, scalar, width) = float_bits(e, kind, value)?;
    let fraction: u32 = if width == 32 { 23 } else { 52 };
    let infinity = ((1_u64 << (width - 1 - fraction)) - 1) << fraction;
    let sign_mask = e.asm.constant(scalar, 1 << (width - 1));
    let rest_mask = e.asm.constant(scalar, (1 << (width - 1)) - 1);
    let sign = e.asm.make(S::BitwiseAnd, scalar, &[bits, sign_mask]);
    let zero = e.asm.constant(scalar, 0);
    let negative = e.asm.make(S::INotEqual, Scalar::Bool, &[sign, zero]);
    let magnitude = e.asm.make(S::BitwiseAnd, scalar, &[bits, rest_mask]);
    let infinity_word = e.asm.constant(scalar, infinity);
    let quiet = e.asm.constant(scalar, infinity | 1 << (fraction - 1));
    let smallest = e.asm.constant(scalar, 1 << fraction);
    let above = |e: &mut Emitter, op: S, than: Word| e.asm.make(op, Scalar::Bool, &[magnitude, than]);
    let nan = above(e, S::UGreaterThan, infinity_word);
    let is_quiet = above(e, S::UGreaterThanEqual, quiet);
    let inf = above(e, S::IEqual, infinity_word);
    let is_zero = above(e, S::IEqual, zero);
    let below_normal = above(e, S::ULessThan, smallest);
    let finite = above(e, S::ULessThan, infinity_word);
    let not = |e: &mut Emitter, a: Word| e.asm.make(S::LogicalNot, Scalar::Bool, &[a]);
    let and = |e: &mut Emitter, a: Word, b: Word| e.asm.make(S::LogicalAnd, Scalar::Bool, &[a, b]);
    let signalling = not(e, is_quiet);
    let signalling = and(e, nan, signalling);
    let not_zero = not(e, is_zero);
    let subnormal = and(e, below_normal, not_zero);
    let not_below = not(e, below_normal);
    let normal = and(e, finite, not_below);
    let positive = not(e, negative);
    // In the order of LLVM's bits.
    let signed = [inf, normal, subnormal, is_zero];
    let mut any = e.asm.constant(Scalar::Bool, 0);
    let mut tests = vec![(0, signalling), (1, is_quiet)];
    for (n, class) in signed.into_iter().enumerate() {
        let below = and(e, class, negative);
        let above = and(e, class, positive);
        tests.push((2 + n as u32, below));
        tests.push((9 - n as u32, above));
    }
    for (bit, test) in tests {
        if mask >> bit & 1 != 0 {
            any = e.asm.make(S::LogicalOr, Scalar::Bool, &[any, test]);
        }
    }
    Ok(any)
}

/// The lower 32 bits and, of wider numbers, the upper.
fn halves(e: &mut Emitter, word: Word, bits: u32) -> (Word, Option<Word>) {
    if bits <= 32 {
        return (word, None);
    }
    let low = e.asm.make(S::UConvert, Scalar::U32, &[word]);
    let by = e.asm.constant(Scalar::U32, 32);
    let down = e.asm.make(S::ShiftRightLogical, Scalar::U64, &[word, by]);
    (low, Some(e.asm.make(S::UConvert, Scalar::U32, &[down])))
}

fn pair(e: &mut Emitter, low: Word, high: Word) -> Word {
    let vector = e.asm.vector(Scalar::U32, 2);
    let both = e.asm.op(S::CompositeConstruct, vector, &[low, high]);
    e.asm.make(S::Bitcast, Scalar::U64, &[both])
}

fn shift_down(e: &mut Emitter, word: Word, scalar: Scalar, by: u32) -> Word {
    if by == 0 {
        return word;
    }
    let by = e.asm.constant(Scalar::U32, u64::from(by));
    e.asm.make(S::ShiftRightLogical, scalar, &[word, by])
}

fn swap(e: &mut Emitter, word: Word, bits: u32, scalar: Scalar) -> Word {
    let ff = e.asm.constant(scalar, 0xff);
    let mut all = e.asm.constant(scalar, 0);
    for byte in 0..bits / 8 {
        let down = shift_down(e, word, scalar, byte * 8);
        let one = e.asm.make(S::BitwiseAnd, scalar, &[down, ff]);
        let by = e.asm.constant(Scalar::U32, u64::from(bits - 8 - byte * 8));
        let up = e.asm.make(S::ShiftLeftLogical, scalar, &[one, by]);
        all = e.asm.make(S::BitwiseOr, scalar, &[all, up]);
    }
    all
}

fn saturate(e: &mut Emitter, with_sign: bool, from: Kind, to: u32, value: Word) -> Made<Word> {
    let scalar = integers::container(to);
    let limit = 2_f64.powi(to as i32 - i32::from(with_sign));
    let (low, least, most) = if with_sign {
        (-limit, 1_u64 << (to - 1), (1_u64 << (to - 1)) - 1)
    } else {
        (0.0, 0, if to == 64 { u64::MAX } else { (1 << to) - 1 })
    };
    let constant = |e: &mut Emitter, value: f64| match from {
        Kind::Double => e.asm.constant(Scalar::F64, value.to_bits()),
        _ => e.asm.constant(Scalar::F32, u64::from((value as f32).to_bits())),
    };
    let (low_word, high_word) = (constant(e, low), constant(e, limit));
    let op = if with_sign { S::ConvertFToS } else { S::ConvertFToU };
    let plain = e.asm.make(op, scalar, &[value]);
    let plain = integers::clean(&mut e.asm, plain, to);
    let (least, most, zero) = (e.asm.constant(scalar, least), e.asm.constant(scalar, most), e.asm.constant(scalar, 0));
    let under = e.asm.make(S::FOrdLessThan, Scalar::Bool, &[value, low_word]);
    let over = e.asm.make(S::FOrdGreaterThanEqual, Scalar::Bool, &[value, high_word]);
    let nan = e.asm.make(S::IsNan, Scalar::Bool, &[value]);
    let word = e.asm.make(S::Select, scalar, &[under, least, plain]);
    let word = e.asm.make(S::Select, scalar, &[over, most, word]);
    Ok(e.asm.make(S::Select, scalar, &[nan, zero, word]))
}

fn overflow(e: &mut Emitter, base: &str, arguments: &[Operand]) -> Made<Vec<Word>> {
    let [left, right] = arguments else { return Err(e.internal(base)) };
    let Kind::Int(bits) = e.kind(&left.ty)? else { return Err(e.internal(base)) };
    let (a, b) = (e.word(left)?, e.word(right)?);
    let scalar = integers::container(bits);
    let zero = e.asm.constant(scalar, 0);
    let asm = &mut e.asm;
    Ok(match base {
        "uadd.with.overflow" => {
            let sum = integers::binary(asm, BinaryOp::Add, bits, a, b)?;
            let over = integers::compare(asm, IntPredicate::Ult, bits, sum, a);
            vec![sum, over]
        }
        "usub.with.overflow" => {
            let rest = integers::binary(asm, BinaryOp::Sub, bits, a, b)?;
            let over = integers::compare(asm, IntPredicate::Ult, bits, a, b);
            vec![rest, over]
        }
        "umul.with.overflow" => {
            let product = integers::binary(asm, BinaryOp::Mul, bits, a, b)?;
            let one = asm.constant(scalar, 1);
            let none = integers::compare(asm, IntPredicate::Eq, bits, b, zero);
            let divisor = asm.make(S::Select, scalar, &[none, one, b]);
            let back = integers::binary(asm, BinaryOp::UDiv, bits, product, divisor)?;
            let differs = integers::compare(asm, IntPredicate::Ne, bits, back, a);
            let some = asm.make(S::LogicalNot, Scalar::Bool, &[none]);
            let over = asm.make(S::LogicalAnd, Scalar::Bool, &[some, differs]);
            vec![product, over]
        }
        "sadd.with.overflow" | "ssub.with.overflow" => {
            let add = base.starts_with("sadd");
            let op = if add { BinaryOp::Add } else { BinaryOp::Sub };
            let result = integers::binary(asm, op, bits, a, b)?;
            // The sign is wrong if it differs from those it should have.
            let x = asm.make(S::BitwiseXor, scalar, &[a, result]);
            let other = if add { result } else { a };
            let y = asm.make(S::BitwiseXor, scalar, &[b, other]);
            let both = asm.make(S::BitwiseAnd, scalar, &[x, y]);
            let over = integers::compare(asm, IntPredicate::Slt, bits, both, zero);
            vec![result, over]
        }
        _ if bits <= 32 => {
            let wide_a = integers::sign_extend(asm, a, bits, 64);
            let wide_b = integers::sign_extend(asm, b, bits, 64);
            let wide = asm.make(S::IMul, Scalar::U64, &[wide_a, wide_b]);
            let product = integers::truncate(asm, wide, 64, bits);
            let back = integers::sign_extend(asm, product, bits, 64);
            let over = asm.make(S::INotEqual, Scalar::Bool, &[back, wide]);
            vec![product, over]
        }
        _ => return Err(Refusal::plain("a product of 64 bits is checked for overflow".into())),
    })
}

/// `fmod`, as C has it.
pub(super) fn remainder(e: &mut Emitter, kind: Kind, a: Word, b: Word) -> Made<Word> {
    Ok(e.asm.make(S::FRem, kind.register(), &[a, b]))
}

/// memcpy, memmove and memset of a size that is known.
fn transfer(e: &mut Emitter, copy: Copy, arguments: &[Operand]) -> Made<Vec<Word>> {
    let [to, what, size, ..] = arguments else { return Err(e.internal("memcpy")) };
    let Some(size) = number(size) else {
        return Err(Refusal::plain(
            "memory of a size that is not known at compile time is copied or set at once".into(),
        ));
    };
    if size > LARGEST_COPY {
        return Err(Refusal::plain(format!("{size} bytes are copied or set at once; {LARGEST_COPY} is the limit")));
    }
    let to = e.address(to)?;
    let from = match copy {
        Copy::Copy => Some(e.address(what)?),
        Copy::Set => None,
    };
    let width = if size % 4 == 0 { 4 } else { 1 };
    let (kind, bits) = if width == 4 { (Kind::Int(32), 32) } else { (Kind::Int(8), 8) };
    let fill = match copy {
        Copy::Copy => None,
        Copy::Set => {
            let byte = e.word(what)?;
            let wide = integers::zero_extend(&mut e.asm, byte, 8, 32);
            Some(if bits == 32 {
                let ones = e.asm.constant(Scalar::U32, 0x0101_0101);
                e.asm.make(S::IMul, Scalar::U32, &[wide, ones])
            } else {
                wide
            })
        }
    };
    // All is read before anything is written: memmove's operands may overlap.
    let mut values = Vec::new();
    for n in 0..size / width {
        values.push(match (from, fill) {
            (Some(from), _) => {
                let at = from.plus(&mut e.asm, n * width);
                memory::load(&mut e.asm, at, kind, width, false).ok_or_else(|| e.internal("memcpy"))?
            }
            (None, Some(fill)) => fill,
            (None, None) => return Err(e.internal("memset")),
        });
    }
    for (n, value) in values.into_iter().enumerate() {
        let at = to.plus(&mut e.asm, n as u64 * width);
        memory::store(&mut e.asm, at, kind, value, width, false).ok_or_else(|| e.internal("memcpy"))?;
    }
    Ok(vec![])
}
