//! What is said of calls that restrictions forbid, and what to write instead.

use super::libclang::{Cursor, Type, kind, ty};
use super::types::{is_callable, is_lambda, is_of_amp, is_reference};

/// What is said where the compiler's definition of a defaulted member function calls a cpu function.
pub(super) fn defaulted_text(defaulted: Cursor, callee: Cursor) -> String {
    let class = callee.semantic_parent().map(Cursor::spelling).unwrap_or_default();
    format!(
        "the defaulted '{}' needs '{}' of '{class}', a cpu function (C3930); write restrict(amp, cpu) after its \
         parameters",
        defaulted.spelling(),
        callee.spelling()
    )
}

/// What is said of amp code that calls a cpu function, with what to write instead.
pub(super) fn cpu_function_text(callee: Cursor) -> String {
    let name = callee.spelling();
    let instead = if is_of_amp(callee) {
        "call it in cpu code".to_owned()
    } else if !callee.is_of_system() && callee.is_virtual() {
        "virtual functions cannot be restrict(amp): give the class to a template".to_owned()
    } else if !callee.is_of_system() {
        format!("write restrict(amp, cpu) after the parameters of '{name}'")
    } else {
        math_of(callee).unwrap_or_else(|| of_library(&name))
    };
    cpu_call(&name, &instead)
}

pub(super) fn cpu_call(name: &str, instead: &str) -> String {
    format!(
        "'{name}' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible \
         with the ambient context' (C3930); {instead}"
    )
}

/// Of both namespaces of amp_math.h: fast_math has them for float alone.
const FAST_MATH: [&str; 28] = [
    "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "exp", "exp2", "fabs", "floor", "fmax", "fmin", "fmod",
    "frexp", "ldexp", "log", "log10", "log2", "modf", "pow", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];
/// Of precise_math besides.
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

/// What to write instead of a function of C's mathematics.
fn math_of(callee: Cursor) -> Option<String> {
    let name = callee.spelling();
    let has = |name: &str| FAST_MATH.contains(&name) || PRECISE_MATH.contains(&name);
    let of_float = !has(&name);
    let of_double = if of_float { name.strip_suffix('f')? } else { &name };
    if callee.mangling() != name || !has(of_double) {
        return None;
    }
    let fast = of_float && FAST_MATH.contains(&of_double);
    let fast = if fast { format!("concurrency::fast_math::{name} or ") } else { String::new() };
    Some(format!("write {fast}concurrency::precise_math::{name} (amp_math.h)"))
}

/// What to write instead of a function of a library.
pub(super) fn of_library(name: &str) -> String {
    if ["printf", "fprintf", "puts", "putchar"].contains(&name) {
        return "write direct3d_printf".into();
    }
    "it belongs to a library of the host: write a function of your own that is restrict(amp, cpu)".into()
}

/// What is said of cpu code that calls an amp function.
pub(super) fn amp_function_text(name: &str) -> String {
    format!("'{name}' is an amp function, and cpu code calls it (C3930): write restrict(amp, cpu)")
}

/// Why the kernel of a launch cannot be called, if the compiler says so: by its restriction or its parameter.
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
    // What is made of a template has no children.
    let members = if members.is_empty() { kernel.methods() } else { members };
    let operators: Vec<Cursor> = members.into_iter().filter(|m| m.spelling() == "operator()").collect();
    if !operators.is_empty() && !operators.iter().any(|o| is_callable(*o)) {
        let whose = if is_lambda(*kernel) { "the lambda" } else { "'operator()'" };
        return Some(format!(
            "the kernel is a cpu function: write restrict(amp) after the parameters of {whose} (C3930)"
        ));
    }
    // A template has no parameter types, and of overloads none is the wrong one.
    let [operator] = operators.as_slice() else { return None };
    if operator.kind() != kind::METHOD {
        return None;
    }
    let shape = |of: Type| {
        let name = of.canonical().spelling();
        name.trim_start_matches("const ").trim_start_matches("Concurrency::").replace(", 0", "")
    };
    let (domain, parameters) = (shape(*domain), operator.arguments());
    let wanted = domain.replace("extent<", "index<");
    let given: Vec<String> = parameters.iter().filter_map(of).map(shape).collect();
    if given == [wanted.as_str()] {
        return None;
    }
    let given = match given.as_slice() {
        [] => "nothing".to_owned(),
        all => format!("'{}'", all.join("', '")),
    };
    Some(format!(
        "the kernel takes {given}, and a launch over '{domain}' gives '{wanted}': give its operator() this parameter"
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
