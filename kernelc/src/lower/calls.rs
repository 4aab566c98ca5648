//! Lowers calls of device functions (such as thread indices, barriers and mathematics) and of LLVM's intrinsics. All
//! other calls must have been inlined.

use super::assembler::{Scalar, Workgroup};
use super::emitter::{Emitter, Lowered};
use super::{images, intrinsics, printf};
use crate::demangle::demangled;
use crate::device_abi::{self, DeviceFunction};
use crate::ir::{Constant, Function, FunctionId, LocalId, Module, Op, Operand, Type, Value};
use crate::kernel_error::KernelError;
use crate::passes::calls::copies_or_sets;
use crate::passes::expand_copies::MAX_BYTES;
use rspirv::spirv::{Op as S, Word};

pub(super) fn call(
    e: &mut Emitter,
    callee: FunctionId,
    arguments: &[Operand],
    returns: &Type,
    result: Option<LocalId>,
) -> Lowered<Vec<Word>> {
    let function = &e.module.functions[callee.0];
    let name = function.name.as_str();
    if let Some(function) = DeviceFunction::of(name) {
        return device_function(e, function, arguments, returns, result);
    }
    if copies_or_sets(name) {
        return Err(refused_copy(arguments));
    }
    if let Some(rest) = name.strip_prefix("llvm.") {
        return llvm(e, rest, name, arguments, returns);
    }
    if name.starts_with(device_abi::PREFIX) {
        return Err(e.internal(&format!("the kernel compiler does not know the function {name}")));
    }
    let shown = demangled(name);
    Err(KernelError::new(if function.blocks.is_empty() {
        match name {
            "_Znwm" | "_Znam" | "_ZdlPv" | "_ZdlPvm" | "_ZdaPv" | "malloc" | "free" | "calloc" | "realloc" => {
                format!(
                    "'{shown}' is called, but restrict(amp) code has no heap: use an array_view, or a local array of \
                     constant length"
                )
            }
            "__cxa_throw" | "__cxa_allocate_exception" | "__cxa_rethrow" => {
                "restrict(amp) code cannot throw exceptions".to_string()
            }
            _ => format!(
                "'{shown}' is called in amp code but not defined in this file: give it a body here or in a header"
            ),
        }
    } else if name == e.function.name {
        "the kernel calls itself: restrict(amp) code has no recursion; write a loop".to_string()
    } else {
        let source_name = function.definition.as_ref().map(|frame| frame.function.clone()).filter(|_| shown == name);
        not_inlined(e.module, function, &source_name.unwrap_or(shown))
    }))
}

/// True if a constant contains the address of a label of `function`. The address reveals a computed goto even after
/// `structurizecfg` has removed the jump.
fn holds_label(module: &Module, constant: &Constant, function: &Function) -> bool {
    let inside = |inner: &Constant| holds_label(module, inner, function);
    match constant {
        Constant::BlockAddress(of) => module.functions[of.0].name == function.name,
        Constant::Aggregate(parts) => {
            parts.iter().any(|part| matches!(&part.value, Value::Constant(inner) if inside(inner)))
        }
        Constant::Expression(op) => {
            op.operands().iter().any(|value| matches!(value, Value::Constant(inner) if inside(inner)))
        }
        _ => false,
    }
}

/// The error for a call of a function that has a body but was not inlined.
fn not_inlined(module: &Module, function: &Function, shown: &str) -> String {
    let has = |what: &dyn Fn(&Op) -> bool| function.blocks.iter().flat_map(|b| &b.instructions).any(|i| what(&i.op));
    let has_label = |constant: &Constant| holds_label(module, constant, function);
    let starts_list =
        |op: &Op| matches!(op, Op::Call { callee, .. } if module.functions[callee.0].name.starts_with("llvm.va_start"));
    if has(&starts_list) {
        format!("'{shown}' takes variable arguments (...), which restrict(amp) code cannot use: write a template")
    } else if module.globals.iter().filter_map(|global| global.initializer.as_ref()).any(has_label)
        || has(&|op| op.operands().iter().any(|value| matches!(value, Value::Constant(c) if has_label(c))))
    {
        format!("'{shown}' has a computed goto, which restrict(amp) code cannot use: write a switch")
    } else {
        format!(
            "'{shown}' cannot be inlined, most likely because it calls itself: restrict(amp) code has no recursion; write a loop"
        )
    }
}

fn device_function(
    e: &mut Emitter,
    function: DeviceFunction,
    arguments: &[Operand],
    returns: &Type,
    result: Option<LocalId>,
) -> Lowered<Vec<Word>> {
    let name = function.name();
    let constant_argument = |e: &Emitter, n: usize| {
        arguments
            .get(n)
            .and_then(Operand::unsigned)
            .ok_or_else(|| e.internal(&format!("an argument of {name} is not a constant, but must be one")))
    };
    match function {
        DeviceFunction::Position(position) => {
            let component = constant_argument(e, 0)?.min(2);
            Ok(vec![e.number(position, component as u32)])
        }
        DeviceFunction::WorkgroupSize => {
            let size = [constant_argument(e, 0)?, constant_argument(e, 1)?, constant_argument(e, 2)?]
                .map(|n| n.clamp(1, 1 << 16) as u32);
            e.workgroup = Some(Workgroup::Fixed(size));
            Ok(vec![])
        }
        DeviceFunction::WorkgroupAuto => {
            e.workgroup = Some(Workgroup::Specialized(match constant_argument(e, 0)? {
                0 | 1 if e.prefers_small_workgroups() => [128, 1, 1],
                0 | 1 => [256, 1, 1],
                2 => [32, 8, 1],
                _ => [32, 4, 2],
            }));
            Ok(vec![])
        }
        DeviceFunction::TileBarrier => {
            let memory = constant_argument(e, 0)?;
            e.barrier(memory);
            Ok(vec![])
        }
        DeviceFunction::MemoryFence => {
            let memory = constant_argument(e, 0)?;
            e.fence(memory);
            Ok(vec![])
        }
        DeviceFunction::EndThread => Err(e.internal("a call that ends the thread was not replaced by a return")),
        DeviceFunction::Print(function) => printf::call(e, function, arguments).map(|()| vec![]),
        DeviceFunction::Element => e.name_element(result, arguments),
        DeviceFunction::ReadImage(read) => images::read(e, read, arguments),
        DeviceFunction::DeviceProperty => {
            let number = constant_argument(e, 0)?;
            Ok(vec![e.asm.device_property(number as u32)])
        }
        DeviceFunction::Quotient => {
            let [a, b] = arguments else { return Err(e.internal(name)) };
            let operands = [e.word(a)?, e.word(b)?];
            Ok(vec![e.asm.make(S::FDiv, Scalar::F32, &operands)])
        }
        DeviceFunction::Maths(instruction) => {
            let mut words = Vec::new();
            for argument in arguments {
                words.push(e.word(argument)?);
            }
            let ty = e.kind(returns)?.register();
            let ty = e.asm.scalar(ty);
            Ok(vec![e.asm.glsl(instruction, ty, &words)])
        }
        // Earlier passes replace calls of these functions.
        DeviceFunction::WithImages
        | DeviceFunction::ForHost
        | DeviceFunction::Within
        | DeviceFunction::CopyFunctor
        | DeviceFunction::HostChecks
        | DeviceFunction::Meet => Err(e.internal(&format!("a call of {name} was not replaced by an earlier pass"))),
    }
}

fn llvm(e: &mut Emitter, rest: &str, name: &str, arguments: &[Operand], returns: &Type) -> Lowered<Vec<Word>> {
    // The intrinsic's name without its type suffixes.
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
            return Err(KernelError::new(
                "the kernel can reach a trap (__builtin_trap, or code that Clang found to be undefined), which devices \
                 do not support: return from the kernel instead, or call direct3d_abort()"
                    .into(),
            ));
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
        | "ssub.with.overflow" | "smul.with.overflow" => return intrinsics::overflow(e, &base, arguments),
        _ => {}
    }
    // Vectors are lowered one scalar at a time.
    let kinds = e.leaves(returns)?;
    let mut argument_words = Vec::new();
    for argument in arguments {
        argument_words.push((e.words(argument)?, argument));
    }
    let mut words = Vec::new();
    for (n, leaf) in kinds.iter().enumerate() {
        let mut scalar_words = Vec::new();
        for (words, _) in &argument_words {
            match words.get(n).or(words.first()) {
                Some(&word) => scalar_words.push(word),
                None => return Err(e.internal(name)),
            }
        }
        let from = match arguments.first() {
            Some(first) => e.leaves(&first.ty)?.first().map_or(leaf.kind, |l| l.kind),
            None => leaf.kind,
        };
        let word = match intrinsics::scalar(e, &base, leaf.kind, from, &scalar_words, arguments)? {
            Some(word) => word,
            None => {
                return Err(KernelError::new(format!("the kernel compiler does not support '{name}'")));
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

/// The refusal of a memcpy, memmove or memset that `passes::expand_copies` left.
fn refused_copy(arguments: &[Operand]) -> KernelError {
    KernelError::new(match arguments.get(2).and_then(Operand::unsigned) {
        None => {
            "a memcpy, memmove or memset has a size that is not known at compile time, but kernels need a constant \
                 size: write a loop over the elements"
                .into()
        }
        Some(size) => format!(
            "{size} bytes are copied or set at once: the limit is {MAX_BYTES} bytes; write a loop over the elements"
        ),
    })
}
