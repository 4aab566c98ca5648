//! Functions of the headers that are others for the host than for devices: their code there, in place of the device's.
//!
//! Mathematics is the C library's, as for host threads that run the program's function; text is printed by it, or left for
//! the library (`revamp_native_text`). `launch.h` has two that only say which side the code is for.

use crate::device_abi::{self, DeviceFunction, PREFIX};
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

const NATIVE_TEXT: &str = "declare ptr @revamp_native_text()";
const PRINTF: &str = "declare i32 @printf(ptr, ...)";
const SNPRINTF: &str = "declare i32 @snprintf(ptr, i64, ptr, ...)";
const MEMCPY: &str = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)";

/// What `direct3d_abort` and the C library's assert leave.
const ABORTED: &str = "AReference Rasterizer: Shader abort instruction hit";
const ASSERTED: &str = "%s:%u: %s: Assertion `%s' failed.";

/// A function of the host.
pub(super) struct HostFunction {
    /// Its definition.
    pub text: String,
    /// The declarations of what it calls.
    pub calls: Vec<String>,
}

/// The host's function of a name, if it is another one. `parameters`: the device's, as its declaration has them. `fast`: the
/// flags of the numbers that it computes.
pub(super) fn of(name: &str, parameters: &str, fast: &str) -> Option<HostFunction> {
    if let Some((of, ty)) = maths(name) {
        return Some(of_library(name, of, ty, fast));
    }
    let made = |result: &str, parameters: &str, body: &str, calls: &[&str]| {
        let calls = calls.iter().map(|line| (*line).to_owned()).collect();
        Some(HostFunction { text: defined(name, result, parameters, body), calls })
    };
    if let Some(function) = DeviceFunction::of(name) {
        return match function {
            // Host threads begin no thread beyond the domain.
            DeviceFunction::Within => made("i1", "i1 %within", "  ret i1 true\n", &[]),
            DeviceFunction::ForHost => made("i1", "", "  ret i1 true\n", &[]),
            DeviceFunction::WithImages => made("i32", "", "  ret i32 0\n", &[]),
            DeviceFunction::OfDevice => made("i1", "i32 %what", "  ret i1 false\n", &[]),
            DeviceFunction::Own => {
                let copy = "  call void @llvm.memcpy.p0.p0.i64(ptr %room, ptr %kernel, i64 %size, i1 false)\n  \
                            ret ptr %room\n";
                made("ptr", "ptr %kernel, ptr %room, i64 %size", copy, &[MEMCPY])
            }
            DeviceFunction::Print(Print::Printf) => {
                let (named, made_of, arguments) = variadic(parameters);
                let body = format!("{made_of}  %n = call i32 (ptr, ...) @printf(ptr %a0{arguments})\n  ret void\n");
                made("void", &named, &body, &[PRINTF])
            }
            DeviceFunction::Print(Print::Errorf) => {
                let (named, made_of, arguments) = variadic(parameters);
                let body = made_of + &left("%a0", &arguments) + "  ret void\n";
                made("void", &named, &body, &[NATIVE_TEXT, SNPRINTF])
            }
            DeviceFunction::Quotient => {
                made("float", "float %x, float %y", "  %r = fdiv float %x, %y\n  ret float %r\n", &[])
            }
            DeviceFunction::Maths(instruction) => of_fast(name, instruction),
            _ => None,
        };
    }
    let end_thread = format!("declare void @{}() noreturn", DeviceFunction::EndThread.name());
    let ends = format!("  call void @{}()\n  unreachable\n", DeviceFunction::EndThread.name());
    if name == "__assert_fail" {
        let text = format!("@{PREFIX}asserted");
        let body = left(&text, ", ptr %file, i32 %line, ptr %function, ptr %condition") + &ends;
        let parameters = "ptr %condition, ptr %file, i32 %line, ptr %function";
        let mut made = made("void", parameters, &body, &[NATIVE_TEXT, SNPRINTF, &end_thread])?;
        made.text += &constant(&text, &format!("{ASSERTED}\\0A"), ASSERTED.len() + 1);
        return Some(made);
    }
    if device_abi::of_concurrency(name)? == (vec!["direct3d_abort"], "v") {
        let (text, size) = (format!("@{PREFIX}aborted"), ABORTED.len() + 1);
        let body = format!(
            "  %text = call ptr @revamp_native_text()\n  \
             call void @llvm.memcpy.p0.p0.i64(ptr %text, ptr {text}, i64 {size}, i1 false)\n{ends}"
        );
        let mut made = made("void", "", &body, &[NATIVE_TEXT, MEMCPY, &end_thread])?;
        made.text += &constant(&text, ABORTED, ABORTED.len());
        return Some(made);
    }
    None
}

fn defined(name: &str, result: &str, parameters: &str, body: &str) -> String {
    format!("define internal {result} @{name}({parameters}) alwaysinline mustprogress nounwind {{\n{body}}}\n")
}

fn constant(name: &str, text: &str, length: usize) -> String {
    format!("{name} = private constant [{} x i8] c\"{text}\\00\"\n", length + 1)
}

/// Leaves a text that says why the kernel ends.
fn left(format: &str, arguments: &str) -> String {
    format!(
        "  %text = call ptr @revamp_native_text()\n  store i8 69, ptr %text\n  %rest = getelementptr i8, ptr %text, i64 1\n  \
         %n = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %rest, i64 4095, ptr {format}{arguments})\n"
    )
}

/// The parameters of a function that prints, named; what makes arguments of them as C hands them over, and these, without the
/// format, which is `%a0`.
fn variadic(parameters: &str) -> (String, String, String) {
    let (mut named, mut made, mut arguments) = (Vec::new(), String::new(), String::new());
    let mut rest = parameters;
    while !rest.is_empty() {
        let (parameter, more) = super::text::operand(rest);
        rest = more;
        let n = named.len();
        let ty = super::text::split_type(parameter).map_or(parameter, |(ty, _)| ty);
        named.push(format!("{ty} %a{n}"));
        let narrow = matches!(ty, "float" | "half" | "bfloat");
        if narrow {
            made += &format!("  %d{n} = fpext {ty} %a{n} to double\n");
        }
        match n {
            0 => {}
            _ if narrow => arguments += &format!(", double %d{n}"),
            _ => arguments += &format!(", {ty} %a{n}"),
        }
    }
    (named.join(", "), made, arguments)
}

/// The function of fast_math or precise_math of this symbol, without its suffix, and its type; `None` if the device's is the
/// host's too.
fn maths(symbol: &str) -> Option<(&'static str, &'static str)> {
    let (names, parameters) = device_abi::of_concurrency(symbol)?;
    let [set @ ("fast_math" | "precise_math"), name] = names[..] else { return None };
    let (ty, one) = match parameters {
        "f" => ("float", true),
        "ff" => ("float", false),
        "d" => ("double", true),
        "dd" => ("double", false),
        _ => return None,
    };
    let named = |name: &str| {
        let (fast, more): (&[_], &[_]) = if one { (&FAST, &PRECISE) } else { (&FAST_OF_TWO, &PRECISE_OF_TWO) };
        let more = if set == "precise_math" { more } else { &[] };
        fast.iter().chain(more).find(|known| **known == name).copied()
    };
    let found = named(name).or_else(|| named(name.strip_suffix('f')?))?;
    Some((found, ty))
}

/// A function of mathematics as the C library's, or as LLVM knows it.
fn of_library(symbol: &str, name: &str, ty: &str, fast: &str) -> HostFunction {
    let two = FAST_OF_TWO.contains(&name) || PRECISE_OF_TWO.contains(&name);
    let parameters = if two { format!("{ty} %x, {ty} %y") } else { format!("{ty} %x") };
    let defined = |value: String| {
        let body = format!("  %r = {value}\n  ret {ty} %r\n");
        defined(symbol, ty, &parameters, &body)
    };
    if name == "fmod" {
        return HostFunction { text: defined(format!("frem {fast}{ty} %x, %y")), calls: Vec::new() };
    }
    let called = (PRECISE.contains(&name) || PRECISE_OF_TWO.contains(&name)) && !OF_LLVM.contains(&name);
    let function = match (name, ty) {
        (_, "float") if called => format!("{name}f"),
        _ if called => name.to_owned(),
        ("fmax", _) => format!("llvm.maxnum.f{}", bits(ty)),
        ("fmin", _) => format!("llvm.minnum.f{}", bits(ty)),
        _ => format!("llvm.{name}.f{}", bits(ty)),
    };
    let types = if two { format!("{ty}, {ty}") } else { ty.to_owned() };
    HostFunction {
        text: defined(format!("call {fast}{ty} @{function}({parameters})")),
        calls: vec![format!("declare {ty} @{function}({types}) nounwind willreturn memory(none)")],
    }
}

fn bits(ty: &str) -> u32 {
    if ty == "float" { 32 } else { 64 }
}

/// An instruction of devices that fast_math is made of.
fn of_fast(symbol: &str, instruction: Glsl) -> Option<HostFunction> {
    let (parameters, body, callee) = match instruction {
        Glsl::InverseSqrt => (
            "float %x",
            "  %y = call float @llvm.sqrt.f32(float %x)\n  %r = fdiv float 1.0, %y\n  ret float %r\n",
            "declare float @llvm.sqrt.f32(float)",
        ),
        Glsl::Ldexp => (
            "float %x, i32 %y",
            "  %r = call float @llvm.ldexp.f32.i32(float %x, i32 %y)\n  ret float %r\n",
            "declare float @llvm.ldexp.f32.i32(float, i32)",
        ),
        other => {
            let name = format!("{other:?}").to_lowercase();
            let known = FAST.iter().chain(&FAST_OF_TWO).find(|known| **known == name)?;
            return Some(of_library(symbol, known, "float", ""));
        }
    };
    Some(HostFunction { text: defined(symbol, "float", parameters, body), calls: vec![callee.into()] })
}
