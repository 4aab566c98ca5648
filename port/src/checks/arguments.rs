//! Finds temporaries that are bound to non-const references, which MSVC allows.

use crate::findings::Finding;
use crate::functions::{Function, tidy};
use crate::source::Source;
use crate::syntax::{Code, Kind};
use std::ops::Range;

/// Classes of C++ AMP and of the standard library: `NAME(...)` makes a temporary.
const CLASSES: &str = "array_view array extent index tiled_extent tiled_index accelerator accelerator_view completion_future texture texture_view \
    writeonly_texture_view sampler string wstring string_view basic_string vector deque list forward_list map multimap set multiset unordered_map unordered_set \
    unordered_multimap unordered_multiset queue priority_queue stack bitset pair tuple complex valarray function shared_ptr unique_ptr weak_ptr optional \
    variant any path thread mutex future promise packaged_task exception runtime_error logic_error stringstream istringstream ostringstream \
    ifstream ofstream fstream initializer_list";
/// Element types of C++ AMP's short vectors: `float_2`, `unorm4`.
const VECTORS: [&str; 6] = ["int", "uint", "float", "double", "norm", "unorm"];
/// Member functions of C++ AMP's classes that return objects by value.
const OBJECT_RETURNING_MEMBERS: [&str; 9] = [
    "section",
    "view_as",
    "reinterpret_as",
    "get_extent",
    "tile",
    "pad",
    "truncate",
    "create_view",
    "get_default_view",
];

/// True for the name of a class of C++ AMP or of the standard library.
fn is_class(name: &str) -> bool {
    let is_vector = |begin: &&str| {
        let rest = name.strip_prefix(*begin).map(|rest| rest.trim_start_matches('_'));
        rest.is_some_and(|rest| matches!(rest, "2" | "3" | "4"))
    };
    CLASSES.split_whitespace().any(|class| class == name) || VECTORS.iter().any(is_vector)
}

/// Finds temporaries that are passed to a parameter of type `T &`.
pub fn temporaries(source: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in 0..code.tokens.len() {
        let Some(arguments) = call_arguments(code, at) else { continue };
        let is_member = matches!(code.before(at), "." | "->");
        let named = source.names.functions_named(code.text(at));
        let candidates: Vec<&Function> =
            named.iter().filter(|f| accepts_count(f, arguments.len()) && (f.is_member || !is_member)).collect();
        for (n, argument) in arguments.iter().enumerate() {
            let all_mutable = !candidates.is_empty() && candidates.iter().all(|f| f.parameters[n].is_mutable_reference);
            if all_mutable && is_temporary(source, code, argument.clone()) {
                let found =
                    format!("{} for {}", tidy(&code.joined(argument.clone())), candidates[0].parameters[n].text);
                let reason = "a temporary cannot bind to a non-const reference";
                all.push(Finding::new(
                    code.tokens[argument.start].line,
                    found,
                    reason,
                    "make the parameter const, or give the temporary a name",
                ));
            }
        }
    }
    all
}

fn accepts_count(function: &Function, count: usize) -> bool {
    let minimum_count = function.parameters.iter().filter(|p| !p.has_default).count();
    (minimum_count..=function.parameters.len()).contains(&count)
}

/// The arguments of the call at a token; `None` if there is no call, or if the call is outside of functions.
fn call_arguments(code: &Code, at: usize) -> Option<Vec<Range<usize>>> {
    let mut open = at + 1;
    if code.text(open) == "<" {
        open = code.angle(open)? + 1;
    }
    let in_code = code.kind(at) == Kind::Block && code.is_name(at) && code.text(open) == "(";
    let is_declaration = at > 0 && code.is_name(at - 1) && !crate::functions::is_non_type_keyword(code.before(at));
    if !in_code || is_declaration {
        return None;
    }
    Some(code.split(open + 1..code.pair(open)?))
}

/// True if the expression is a temporary.
fn is_temporary(source: &Source, code: &Code, range: Range<usize>) -> bool {
    let last = range.end - 1;
    if range.len() == 1 {
        return code.text(range.start).starts_with(|c: char| c.is_ascii_digit());
    }
    // Count arithmetic operators. Any other operator makes the count negative.
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
    if calls_member_that_returns_object(source, code, &range) {
        return true;
    }
    // `T(...)`, `T<...>(...)` or `f(...)`, qualified or not.
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
    let is_known = is_class(named) && functions.is_empty() && !source.names.words.contains(named);
    source.names.types.contains(named) || is_known || !functions.is_empty() && functions.iter().all(|f| f.returns_value)
}

/// True if the expression ends with a call of a member function that returns an object: `view.section(a, b)`.
fn calls_member_that_returns_object(source: &Source, code: &Code, range: &Range<usize>) -> bool {
    let Some(open) = code.pair(range.end - 1).filter(|&open| range.contains(&open) && code.text(open) == "(") else {
        return false;
    };
    let before_open = open.wrapping_sub(1);
    let name = if code.text(before_open) == ">" {
        code.angle_back(before_open).map_or(0, |n| n.wrapping_sub(1))
    } else {
        before_open
    };
    range.contains(&name)
        && matches!(code.before(name), "." | "->")
        && OBJECT_RETURNING_MEMBERS.contains(&code.text(name))
        && !source.names.has_member(code.text(name))
}
