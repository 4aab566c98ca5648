//! Functions of the headers that are others for the host than for devices: their code there, in place of the device's.
//!
//! Mathematics is the C library's, as for host threads that run the program's function; text is printed by it, or left for
//! the library (`revamp_native_text`). `launch.h` has two that only say which side the code is for.

use crate::device_abi::{self, DeviceFunction, PREFIX};
use crate::llvm::number::{opcode as o, ty as t};
use crate::llvm::{Builder, Editor, Type, Value};
use revamp_image::printf::Function as Print;
use rspirv::spirv::GlslStd450Op as Glsl;

/// `f(x)` and `f(x, y)` of fast_math, and of precise_math besides: `math_names.h`.
const FAST: [&str; 20] = [
    "acos", "asin", "atan", "ceil", "cos", "cosh", "exp", "exp2", "fabs", "floor", "log", "log10", "log2", "round",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];
const FAST_OF_TWO: [&str; 5] = ["atan2", "fmax", "fmin", "fmod", "pow"];
const PRECISE: [&str; 11] =
    ["acosh", "asinh", "atanh", "cbrt", "erf", "erfc", "expm1", "log1p", "logb", "nearbyint", "tgamma"];
const PRECISE_OF_TWO: [&str; 5] = ["copysign", "fdim", "hypot", "nextafter", "remainder"];
/// Of these, what LLVM knows by itself.
const OF_LLVM: [&str; 2] = ["nearbyint", "copysign"];

/// What `direct3d_abort` and the C library's assert leave.
const ABORTED: &str = "AReference Rasterizer: Shader abort instruction hit";
const ASSERTED: &str = "%s:%u: %s: Assertion `%s' failed.\n";

/// What a function is for the host.
#[derive(Clone, Copy)]
pub enum HostFunction {
    /// A function of mathematics, of one or two numbers of one type.
    Maths(&'static str),
    InverseSquareRoot,
    Ldexp,
    Quotient,
    /// It answers with this number.
    Answer(u64),
    /// The kernel is copied to the room, which is its own then.
    Own,
    Printf,
    Errorf,
    Asserted,
    Aborted,
}

impl HostFunction {
    /// Of a function's name; `None` if the device's function is the host's too.
    pub fn of(symbol: &str) -> Option<Self> {
        if let Some(name) = maths(symbol) {
            return Some(Self::Maths(name));
        }
        if let Some(function) = DeviceFunction::of(symbol) {
            return match function {
                // Host threads begin no thread beyond the domain.
                DeviceFunction::Within | DeviceFunction::ForHost => Some(Self::Answer(1)),
                DeviceFunction::WithImages | DeviceFunction::OfDevice => Some(Self::Answer(0)),
                DeviceFunction::Own => Some(Self::Own),
                DeviceFunction::Print(Print::Printf) => Some(Self::Printf),
                DeviceFunction::Print(Print::Errorf) => Some(Self::Errorf),
                DeviceFunction::Quotient => Some(Self::Quotient),
                DeviceFunction::Maths(Glsl::InverseSqrt) => Some(Self::InverseSquareRoot),
                DeviceFunction::Maths(Glsl::Ldexp) => Some(Self::Ldexp),
                DeviceFunction::Maths(instruction) => {
                    let name = format!("{instruction:?}").to_lowercase();
                    FAST.iter().chain(&FAST_OF_TWO).find(|known| **known == name).map(|name| Self::Maths(name))
                }
                _ => None,
            };
        }
        let aborts = || device_abi::of_concurrency(symbol) == Some((vec!["direct3d_abort"], "v"));
        match symbol {
            "__assert_fail" => Some(Self::Asserted),
            _ if aborts() => Some(Self::Aborted),
            _ => None,
        }
    }

    /// Defines a function that is declared. `fast`: the device's function computes with fast maths.
    pub fn define<'m>(self, edit: Editor<'m>, function: Value<'m>, fast: bool) {
        Definition::begin(edit, function, fast).define(self);
    }
}

struct Definition<'m> {
    edit: Editor<'m>,
    build: Builder<'m>,
    parameters: Vec<Value<'m>>,
    /// What the function returns.
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

    fn define(self, how: HostFunction) {
        let (edit, build) = (self.edit, &self.build);
        let result = match (how, &self.parameters[..], self.returns) {
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
            (HostFunction::Answer(number), _, Some(ty)) => Some(edit.integer(ty, number)),
            (HostFunction::Own, &[kernel, room, size], _) => {
                self.copy(room, kernel, size);
                Some(room)
            }
            (HostFunction::Printf, [format, arguments @ ..], _) => {
                let mut all = vec![*format];
                all.extend(arguments.iter().map(|one| self.promoted(*one)));
                let number = edit.integer_type(32);
                build.call_variadic(edit.external("printf", Some(number), &[edit.pointer_type()], true), &all);
                None
            }
            (HostFunction::Errorf, [format, arguments @ ..], _) => {
                self.left(*format, arguments);
                None
            }
            (HostFunction::Asserted, &[condition, file, line, name], _) => {
                self.left(edit.text(&format!("{PREFIX}asserted"), ASSERTED), &[file, line, name, condition]);
                return self.end_thread();
            }
            (HostFunction::Aborted, ..) => {
                let text = edit.text(&format!("{PREFIX}aborted"), ABORTED);
                self.copy(self.native_text(), text, edit.i64(ABORTED.len() as u64 + 1));
                return self.end_thread();
            }
            // The headers declare none with other parameters.
            _ => return build.unreachable(),
        };
        build.give_back(result);
    }

    /// The C library's function, or the one that LLVM knows.
    fn maths(&self, name: &str, ty: Type<'m>) -> Value<'m> {
        let (edit, single) = (self.edit, ty.kind() == t::FLOAT);
        if let ("fmod", &[x, y]) = (name, &self.parameters[..]) {
            return self.computed(self.build.binary(o::FREM, x, y, ""));
        }
        let bits = if single { 32 } else { 64 };
        let called = (PRECISE.contains(&name) || PRECISE_OF_TWO.contains(&name)) && !OF_LLVM.contains(&name);
        let function = match name {
            _ if called && single => format!("{name}f"),
            _ if called => name.to_owned(),
            "fmax" => format!("llvm.maxnum.f{bits}"),
            "fmin" => format!("llvm.minnum.f{bits}"),
            _ => format!("llvm.{name}.f{bits}"),
        };
        let callee = edit.external(&function, Some(ty), &vec![ty; self.parameters.len()], false);
        if called {
            // Of memory: none.
            for name in ["nounwind", "willreturn", "memory"] {
                edit.add_attribute(callee, name);
            }
        }
        self.computed(self.build.call(callee, &self.parameters, ""))
    }

    fn computed(&self, value: Value<'m>) -> Value<'m> {
        if self.fast {
            self.edit.make_fast(value);
        }
        value
    }

    /// An argument as C hands it over to a function with a variable number.
    fn promoted(&self, value: Value<'m>) -> Value<'m> {
        match value.ty().map(Type::kind) {
            Some(t::FLOAT | t::HALF) => self.build.cast(o::FPEXT, value, self.edit.double_type(), ""),
            _ => value,
        }
    }

    fn copy(&self, to: Value<'m>, from: Value<'m>, bytes: Value<'m>) {
        let (edit, pointer) = (self.edit, self.edit.pointer_type());
        let types = [pointer, pointer, edit.integer_type(64), edit.integer_type(1)];
        let copy = edit.external("llvm.memcpy.p0.p0.i64", None, &types, false);
        self.build.call(copy, &[to, from, bytes, edit.truth(false)], "");
    }

    /// Where a text is left that says why the kernel ends.
    fn native_text(&self) -> Value<'m> {
        let function = self.edit.external("revamp_native_text", Some(self.edit.pointer_type()), &[], false);
        self.build.call(function, &[], "")
    }

    /// Leaves a text that says why the kernel ends.
    fn left(&self, format: Value<'m>, arguments: &[Value<'m>]) {
        let (edit, build, pointer) = (self.edit, &self.build, self.edit.pointer_type());
        let text = self.native_text();
        build.store(edit.integer(edit.integer_type(8), u64::from(b'E')), text);
        let rest = build.byte_address(text, edit.i64(1), "");
        let mut all = vec![rest, edit.i64(4095), format];
        all.extend(arguments.iter().map(|one| self.promoted(*one)));
        let types = [pointer, edit.integer_type(64), pointer];
        build.call_variadic(edit.external("snprintf", Some(edit.integer_type(32)), &types, true), &all);
    }

    fn end_thread(&self) {
        let end = self.edit.external(DeviceFunction::EndThread.name(), None, &[], false);
        self.edit.add_attribute(end, "noreturn");
        self.build.call(end, &[], "");
        self.build.unreachable();
    }
}

/// The function of fast_math or precise_math of this symbol, without its suffix; `None` if the device's is the
/// host's too.
fn maths(symbol: &str) -> Option<&'static str> {
    let (names, parameters) = device_abi::of_concurrency(symbol)?;
    let [set @ ("fast_math" | "precise_math"), name] = names[..] else { return None };
    let one = match parameters {
        "f" | "d" => true,
        "ff" | "dd" => false,
        _ => return None,
    };
    let named = |name: &str| {
        let (fast, more): (&[_], &[_]) = if one { (&FAST, &PRECISE) } else { (&FAST_OF_TWO, &PRECISE_OF_TWO) };
        let more = if set == "precise_math" { more } else { &[] };
        fast.iter().chain(more).find(|known| **known == name).copied()
    };
    named(name).or_else(|| named(name.strip_suffix('f')?))
}
