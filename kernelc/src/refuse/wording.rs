//! The messages about calls that restrictions forbid. Each message says what to write instead.

use super::libclang::{Cursor, Type, kind, ty};
use super::types::{is_callable, is_lambda, is_of_amp, is_reference};

/// The error if the compiler's definition of a defaulted member function calls a cpu function.
pub(super) fn defaulted_text(defaulted: Cursor, callee: Cursor) -> String {
    let class = callee.semantic_parent().map(Cursor::spelling).unwrap_or_default();
    format!(
        "the defaulted '{}' calls '{}' of '{class}', which is a cpu function (C3930); write restrict(amp, cpu) after \
         the parameters of the cpu function",
        defaulted.spelling(),
        callee.spelling()
    )
}

/// The error if amp code calls a cpu function, with what to write instead.
pub(super) fn cpu_function_text(callee: Cursor) -> String {
    let name = callee.spelling();
    let instead = if is_of_amp(callee) {
        "call it in cpu code".to_owned()
    } else if !callee.is_in_system_header() && callee.is_virtual() {
        "virtual functions cannot be restrict(amp): pass the class to a template".to_owned()
    } else if !callee.is_in_system_header() {
        format!("write restrict(amp, cpu) after the parameters of '{name}'")
    } else {
        math_hint(callee).unwrap_or_else(|| library_hint(&name))
    };
    cpu_call_text(&name, &instead)
}

pub(super) fn cpu_call_text(name: &str, instead: &str) -> String {
    format!(
        "'{name}' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible \
         with the ambient context' (C3930); {instead}"
    )
}

/// Functions that fast_math and precise_math of amp_math.h both have. fast_math has them only for float.
const FAST_MATH: [&str; 28] = [
    "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "exp", "exp2", "fabs", "floor", "fmax", "fmin", "fmod",
    "frexp", "ldexp", "log", "log10", "log2", "modf", "pow", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];
/// Functions that only precise_math has.
const PRECISE_MATH: [&str; 22] = [
    "acosh",
    "asinh",
    "atanh",
    "cbrt",
    "copysign",
    "erf",
    "erfc",
    "expm1",
    "fdim",
    "fma",
    "hypot",
    "ilogb",
    "lgamma",
    "log1p",
    "logb",
    "nearbyint",
    "nextafter",
    "remainder",
    "remquo",
    "scalb",
    "scalbn",
    "tgamma",
];

/// What to write instead of a mathematical function of C.
fn math_hint(callee: Cursor) -> Option<String> {
    let name = callee.spelling();
    let has = |name: &str| FAST_MATH.contains(&name) || PRECISE_MATH.contains(&name);
    let is_float_name = !has(&name);
    let double_name = if is_float_name { name.strip_suffix('f')? } else { &name };
    if callee.mangling() != name || !has(double_name) {
        return None;
    }
    let fast = is_float_name && FAST_MATH.contains(&double_name);
    let fast = if fast { format!("concurrency::fast_math::{name} or ") } else { String::new() };
    Some(format!("write {fast}concurrency::precise_math::{name} (amp_math.h)"))
}

/// What to write instead of a function of a library.
pub(super) fn library_hint(name: &str) -> String {
    if ["printf", "fprintf", "puts", "putchar"].contains(&name) {
        return "write direct3d_printf".into();
    }
    "it belongs to a library of the host: write a function of your own that is restrict(amp, cpu)".into()
}

/// The error if cpu code calls an amp function.
pub(super) fn amp_function_text(name: &str) -> String {
    format!("'{name}' is an amp function, and cpu code calls it (C3930): write restrict(amp, cpu)")
}

/// Why the kernel of a launch cannot be called because of its restriction or its parameter; `None` if neither prevents it.
pub(super) fn uncallable(arguments: &[Cursor]) -> Option<String> {
    let of = |c: &Cursor| {
        let of = c.ty()?.canonical();
        Some(if is_reference(of) { of.pointee().canonical() } else { of })
    };
    let types: Vec<Type> = arguments.iter().filter_map(of).collect();
    let named = |of: &&Type, name| of.declaration().spelling() == name && is_of_amp(of.declaration());
    let kernel = types.iter().rfind(|of| of.kind() == ty::RECORD && !is_of_amp(of.declaration()))?;
    let domain = types.iter().find(|of| named(of, "extent") || named(of, "tiled_extent"))?;
    let members = kernel.declaration().definition().map(Cursor::children).unwrap_or_default();
    // The class of an instantiation has no children.
    let members = if members.is_empty() { kernel.methods() } else { members };
    let operators: Vec<Cursor> = members.into_iter().filter(|m| m.spelling() == "operator()").collect();
    if !operators.is_empty() && !operators.iter().any(|o| is_callable(*o)) {
        let whose = if is_lambda(*kernel) { "the lambda" } else { "'operator()'" };
        return Some(format!(
            "the kernel is a cpu function: write restrict(amp) after the parameters of {whose} (C3930)"
        ));
    }
    // A template has no parameter types, and with overloads no single operator is at fault.
    let [operator] = operators.as_slice() else { return None };
    if operator.kind() != kind::METHOD {
        return None;
    }
    let shape = |of: Type| {
        let name = of.canonical().spelling();
        name.trim_start_matches("const ").trim_start_matches("Concurrency::").replace(", 0", "")
    };
    let (domain, parameters) = (shape(*domain), operator.arguments());
    let expected = domain.replace("extent<", "index<");
    let taken: Vec<String> = parameters.iter().filter_map(of).map(shape).collect();
    if taken == [expected.as_str()] {
        return None;
    }
    let taken = match taken.as_slice() {
        [] => "nothing".to_owned(),
        all => format!("'{}'", all.join("', '")),
    };
    Some(format!(
        "the kernel takes {taken}, but a launch over '{domain}' passes '{expected}': change the parameter of operator() \
         to this type"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amp_math_has_the_names() {
        let header = include_str!("../../../cpp-shim/amp_math.h");
        let lists = include_str!("../../../cpp-shim/revamp/detail/math_names.h");
        let lists = lists.split("REVAMP_MATH_OWN_UNARY").next().unwrap();
        let (fast, precise) = lists.split_once("REVAMP_MATH_PRECISE_UNARY").unwrap();
        let (fast_too, precise_too) = header.split_once("} // namespace fast_math").unwrap();
        let has = |list: &str, header: &str, name: &str| {
            let using = format!("::{name};");
            list.contains(&format!(" F({name})"))
                || header.lines().any(|line| line == format!("REVAMP_MATH_STD({name})") || line.ends_with(&using))
        };
        assert!(FAST_MATH.iter().all(|name| has(fast, fast_too, name)));
        assert!(PRECISE_MATH.iter().all(|name| has(precise, precise_too, name)));
        let named = |list: &str| list.matches(" F(").count();
        assert_eq!((named(fast), named(precise)), (FAST_MATH.len() - 3, PRECISE_MATH.len() - 6));
    }
}
