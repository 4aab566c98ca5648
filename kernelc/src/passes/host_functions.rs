//! Defines, for the host, those functions of the C++ headers whose device code does not suit the host.
//!
//! Mathematical functions call the C library or LLVM intrinsics, as they do when host threads run the program's
//! function. `direct3d_printf` calls `printf` of the C library. Error texts go to a buffer of the runtime library
//! (`revamp_native_text`). Functions that query the device or the thread return constants.

use crate::device_abi::{self, DeviceFunction, PREFIX};
use crate::llvm::number::{opcode as o, ty as t};
use crate::llvm::{Builder, Editor, Type, Value};
use revamp_image::printf::Function as Print;
use rspirv::spirv::GlslStd450Op as Glsl;

/// The functions in `math_names.h`. `FAST` and `FAST_BINARY` are in fast_math and precise_math, `PRECISE` and
/// `PRECISE_BINARY` only in precise_math. Functions of `FAST_BINARY` and `PRECISE_BINARY` have two parameters, the
/// others have one.
const FAST: [&str; 20] = [
    "acos", "asin", "atan", "ceil", "cos", "cosh", "exp", "exp2", "fabs", "floor", "log", "log10", "log2", "round",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];
const FAST_BINARY: [&str; 5] = ["atan2", "fmax", "fmin", "fmod", "pow"];
const PRECISE: [&str; 11] =
    ["acosh", "asinh", "atanh", "cbrt", "erf", "erfc", "expm1", "log1p", "logb", "nearbyint", "tgamma"];
const PRECISE_BINARY: [&str; 5] = ["copysign", "fdim", "hypot", "nextafter", "remainder"];
/// The functions of `PRECISE` and `PRECISE_BINARY` that are LLVM intrinsics.
const LLVM_INTRINSICS: [&str; 2] = ["nearbyint", "copysign"];

/// The messages of `direct3d_abort` and of the C library's `assert`. The first letter, `A`, is not a part of the
/// message: the library prints a text only if this letter is `E`.
const ABORTED: &str = "AReference Rasterizer: Shader abort instruction hit";
const ASSERTED: &str = "%s:%u: %s: Assertion `%s' failed.\n";

/// The host definition of a function.
#[derive(Clone, Copy)]
pub enum HostFunction {
    /// A mathematical function of one or two numbers of the same type.
    Maths(&'static str),
    InverseSquareRoot,
    Ldexp,
    Quotient,
    /// A function that returns this number.
    Constant(u64),
    /// A function that copies the functor to storage of the thread and returns the copy.
    CopyFunctor,
    Printf,
    Errorf,
    Asserted,
    Aborted,
}

impl HostFunction {
    /// The host definition for a symbol; `None` if the device's function suits the host.
    pub fn of(symbol: &str) -> Option<Self> {
        if let Some(name) = maths(symbol) {
            return Some(Self::Maths(name));
        }
        if let Some(function) = DeviceFunction::of(symbol) {
            return match function {
                // On the host, no thread outside the domain starts.
                DeviceFunction::Within | DeviceFunction::ForHost => Some(Self::Constant(1)),
                DeviceFunction::WithImages | DeviceFunction::DeviceProperty => Some(Self::Constant(0)),
                DeviceFunction::CopyFunctor => Some(Self::CopyFunctor),
                DeviceFunction::Print(Print::Printf) => Some(Self::Printf),
                DeviceFunction::Print(Print::Errorf) => Some(Self::Errorf),
                DeviceFunction::Quotient => Some(Self::Quotient),
                DeviceFunction::Maths(Glsl::InverseSqrt) => Some(Self::InverseSquareRoot),
                DeviceFunction::Maths(Glsl::Ldexp) => Some(Self::Ldexp),
                DeviceFunction::Maths(instruction) => {
                    let name = format!("{instruction:?}").to_lowercase();
                    FAST.iter().chain(&FAST_BINARY).find(|known| **known == name).map(|name| Self::Maths(name))
                }
                _ => None,
            };
        }
        let aborts = || device_abi::concurrency_symbol_parts(symbol) == Some((vec!["direct3d_abort"], "v"));
        match symbol {
            "__assert_fail" => Some(Self::Asserted),
            _ if aborts() => Some(Self::Aborted),
            _ => None,
        }
    }

    /// Defines a declared function. `fast`: the device's function uses fast-math flags.
    pub fn define<'m>(self, edit: Editor<'m>, function: Value<'m>, fast: bool) {
        Definition::begin(edit, function, fast).define(self);
    }
}

struct Definition<'m> {
    edit: Editor<'m>,
    build: Builder<'m>,
    parameters: Vec<Value<'m>>,
    /// The return type; `None` for void.
    returns: Option<Type<'m>>,
    fast: bool,
}

impl<'m> Definition<'m> {
    fn begin(edit: Editor<'m>, function: Value<'m>, fast: bool) -> Self {
        for name in ["alwaysinline", "mustprogress", "nounwind"] {
            edit.add_attribute(function, name);
        }
        let returns = function.value_type().and_then(Type::returns).filter(|ty| ty.kind() != t::VOID);
        let parameters = (0..function.count_parameters()).filter_map(|n| function.parameter(n)).collect();
        let build = edit.define(function);
        edit.internalize(function);
        Self { edit, build, parameters, returns, fast }
    }

    fn define(self, host_function: HostFunction) {
        let (edit, build) = (self.edit, &self.build);
        let result = match (host_function, &self.parameters[..], self.returns) {
            (HostFunction::Maths(name), _, Some(ty)) => Some(self.maths(name, ty)),
            (HostFunction::InverseSquareRoot, [x], Some(ty)) => {
                let root = build.call(edit.external("llvm.sqrt.f32", Some(ty), &[ty], false), &[*x], "");
                Some(build.binary(o::FDIV, edit.real(ty, 1.0), root, ""))
            }
            (HostFunction::Ldexp, &[x, y], Some(ty)) => {
                let types = [ty, edit.integer_type(32)];
                Some(build.call(edit.external("llvm.ldexp.f32.i32", Some(ty), &types, false), &[x, y], ""))
            }
            (HostFunction::Quotient, &[x, y], _) => Some(build.binary(o::FDIV, x, y, "")),
            (HostFunction::Constant(number), _, Some(ty)) => Some(edit.integer(ty, number)),
            (HostFunction::CopyFunctor, &[kernel, storage, size], _) => {
                self.copy(storage, kernel, size);
                Some(storage)
            }
            (HostFunction::Printf, [format, arguments @ ..], _) => {
                let mut call_arguments = vec![*format];
                call_arguments.extend(arguments.iter().map(|one| self.promote(*one)));
                let number = edit.integer_type(32);
                build.call_variadic(
                    edit.external("printf", Some(number), &[edit.pointer_type()], true),
                    &call_arguments,
                );
                None
            }
            (HostFunction::Errorf, [format, arguments @ ..], _) => {
                self.write_error_text(*format, arguments);
                None
            }
            (HostFunction::Asserted, &[condition, file, line, name], _) => {
                self.write_error_text(
                    edit.text(&format!("{PREFIX}asserted"), ASSERTED),
                    &[file, line, name, condition],
                );
                return self.end_thread();
            }
            (HostFunction::Aborted, ..) => {
                let text = edit.text(&format!("{PREFIX}aborted"), ABORTED);
                self.copy(self.native_text(), text, edit.i64(ABORTED.len() as u64 + 1));
                return self.end_thread();
            }
            // The headers declare these functions only with the parameters above.
            _ => return build.unreachable(),
        };
        build.ret(result);
    }

    /// Calls the C library's function or the LLVM intrinsic.
    fn maths(&self, name: &str, ty: Type<'m>) -> Value<'m> {
        let (edit, is_float) = (self.edit, ty.kind() == t::FLOAT);
        if let ("fmod", &[x, y]) = (name, &self.parameters[..]) {
            return self.with_fast_flags(self.build.binary(o::FREM, x, y, ""));
        }
        let bits = if is_float { 32 } else { 64 };
        let is_library =
            (PRECISE.contains(&name) || PRECISE_BINARY.contains(&name)) && !LLVM_INTRINSICS.contains(&name);
        let function = match name {
            _ if is_library && is_float => format!("{name}f"),
            _ if is_library => name.to_owned(),
            "fmax" => format!("llvm.maxnum.f{bits}"),
            "fmin" => format!("llvm.minnum.f{bits}"),
            _ => format!("llvm.{name}.f{bits}"),
        };
        let callee = edit.external(&function, Some(ty), &vec![ty; self.parameters.len()], false);
        if is_library {
            // `memory` without a value: memory(none).
            for name in ["nounwind", "willreturn", "memory"] {
                edit.add_attribute(callee, name);
            }
        }
        self.with_fast_flags(self.build.call(callee, &self.parameters, ""))
    }

    fn with_fast_flags(&self, value: Value<'m>) -> Value<'m> {
        if self.fast {
            self.edit.make_fast(value);
        }
        value
    }

    /// The argument after C's default argument promotions.
    fn promote(&self, value: Value<'m>) -> Value<'m> {
        match value.ty().map(Type::kind) {
            Some(t::FLOAT | t::HALF) => self.build.cast(o::FPEXT, value, self.edit.double_type(), ""),
            _ => value,
        }
    }

    fn copy(&self, to: Value<'m>, from: Value<'m>, bytes: Value<'m>) {
        let (edit, pointer) = (self.edit, self.edit.pointer_type());
        let types = [pointer, pointer, edit.integer_type(64), edit.integer_type(1)];
        let copy = edit.external("llvm.memcpy.p0.p0.i64", None, &types, false);
        self.build.call(copy, &[to, from, bytes, edit.i1(false)], "");
    }

    /// The address of the buffer for the text that says why the kernel ends.
    fn native_text(&self) -> Value<'m> {
        let function = self.edit.external("revamp_native_text", Some(self.edit.pointer_type()), &[], false);
        self.build.call(function, &[], "")
    }

    /// Writes the text that says why the kernel ends.
    fn write_error_text(&self, format: Value<'m>, arguments: &[Value<'m>]) {
        let (edit, build, pointer) = (self.edit, &self.build, self.edit.pointer_type());
        let text = self.native_text();
        build.store(edit.integer(edit.integer_type(8), u64::from(b'E')), text);
        let rest = build.byte_address(text, edit.i64(1), "");
        let mut call_arguments = vec![rest, edit.i64(4095), format];
        call_arguments.extend(arguments.iter().map(|one| self.promote(*one)));
        let types = [pointer, edit.integer_type(64), pointer];
        build.call_variadic(edit.external("snprintf", Some(edit.integer_type(32)), &types, true), &call_arguments);
    }

    fn end_thread(&self) {
        let end = self.edit.external(DeviceFunction::EndThread.name(), None, &[], false);
        self.edit.add_attribute(end, "noreturn");
        self.build.call(end, &[], "");
        self.build.unreachable();
    }
}

/// The function of fast_math or precise_math that a symbol names, without its suffix; `None` if the device's function suits the host.
fn maths(symbol: &str) -> Option<&'static str> {
    let (names, parameters) = device_abi::concurrency_symbol_parts(symbol)?;
    let [set @ ("fast_math" | "precise_math"), name] = names[..] else { return None };
    let one = match parameters {
        "f" | "d" => true,
        "ff" | "dd" => false,
        _ => return None,
    };
    let look_up = |name: &str| {
        let (fast, more): (&[_], &[_]) = if one { (&FAST, &PRECISE) } else { (&FAST_BINARY, &PRECISE_BINARY) };
        let more = if set == "precise_math" { more } else { &[] };
        fast.iter().chain(more).find(|known| **known == name).copied()
    };
    look_up(name).or_else(|| look_up(name.strip_suffix('f')?))
}
