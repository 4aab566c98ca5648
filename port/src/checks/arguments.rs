//! Temporaries that are bound to references which are not constant.

use crate::findings::Finding;
use crate::functions::{Function, tidy};
use crate::source::Source;
use crate::syntax::{Code, Kind};
use std::ops::Range;

/// Arguments that are temporaries, where the function takes a `T &`.
pub fn temporaries(source: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in 0..code.tokens.len() {
        let Some(arguments) = call(code, at) else { continue };
        let is_member = matches!(code.before(at), "." | "->");
        let named = source.names.functions_named(code.text(at));
        let fitting: Vec<&Function> =
            named.iter().filter(|f| takes(f, arguments.len()) && (f.is_member || !is_member)).collect();
        for (n, argument) in arguments.iter().enumerate() {
            let all_mutable = !fitting.is_empty() && fitting.iter().all(|f| f.parameters[n].is_mutable_reference);
            if all_mutable && is_temporary(source, code, argument.clone()) {
                let found = format!("{} for {}", tidy(&code.joined(argument.clone())), fitting[0].parameters[n].text);
                let reason = "a temporary cannot bind to a non-const reference";
                all.push(Finding::new(
                    code.tokens[argument.start].line,
                    found,
                    reason,
                    "const in the parameter, or a name for the temporary",
                ));
            }
        }
    }
    all
}

fn takes(function: &Function, count: usize) -> bool {
    let least = function.parameters.iter().filter(|p| !p.has_default).count();
    (least..=function.parameters.len()).contains(&count)
}

/// The arguments of a call in a function.
fn call(code: &Code, at: usize) -> Option<Vec<Range<usize>>> {
    let mut open = at + 1;
    if code.text(open) == "<" {
        open = code.angle(open)? + 1;
    }
    let in_code = code.kind(at) == Kind::Inner && code.is_name(at) && code.text(open) == "(";
    let is_declaration = at > 0 && code.is_name(at - 1) && !crate::functions::is_no_type(code.before(at));
    if !in_code || is_declaration {
        return None;
    }
    Some(code.split(open + 1..code.pair(open)?))
}

/// The expression makes a value that has no name.
fn is_temporary(source: &Source, code: &Code, range: Range<usize>) -> bool {
    let last = range.end - 1;
    if range.len() == 1 {
        return code.text(range.start).starts_with(|c: char| c.is_ascii_digit());
    }
    // A sum or product of plain things.
    let mut n = range.start;
    let mut operators = 0;
    while n < range.end {
        match code.text(n) {
            "(" | "[" | "{" => n = code.pair(n).unwrap_or(n),
            "=" | "?" | "<" | "&" | "!" => operators = -100,
            "+" | "-" | "/" => operators += 1,
            "*" if n > range.start
                && (code.is_name(n - 1)
                    || matches!(code.before(n), ")" | "]")
                    || code.before(n).starts_with(|c: char| c.is_ascii_digit())) =>
            {
                operators += 1
            }
            _ => {}
        }
        n += 1;
    }
    let is_number = |n: usize| code.text(n).starts_with(|c: char| c.is_ascii_digit());
    if operators > 0 {
        return range.clone().any(|n| is_number(n) && code.before(n) != "[");
    }
    // `T(...)`, `T<...>(...)`, `f(...)`, in a namespace or not.
    let mut name = range.start;
    while code.is_name(name) && code.text(name + 1) == "::" {
        name += 2;
    }
    let mut open = name + 1;
    if code.text(open) == "<" {
        let Some(close) = code.angle(open) else { return false };
        open = close + 1;
    }
    if !code.is_name(name) || !matches!(code.text(open), "(" | "{") || code.pair(open) != Some(last) {
        return false;
    }
    let named = code.text(name);
    let functions: Vec<&Function> = source.names.functions_named(named).iter().filter(|f| !f.is_member).collect();
    source.names.types.contains(named) || !functions.is_empty() && functions.iter().all(|f| f.returns_value)
}
