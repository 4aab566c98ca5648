//! Temporaries that are bound to references which are not constant.

use crate::findings::Finding;
use crate::functions::{Function, tidy};
use crate::source::Source;
use crate::syntax::{Code, Kind};
use std::ops::Range;

/// Classes of C++ AMP and of the standard library whose objects are made by their names.
const CLASSES: &str = "array_view array extent index tiled_extent tiled_index accelerator accelerator_view completion_future texture texture_view \
    writeonly_texture_view sampler string wstring string_view basic_string vector deque list forward_list map multimap set multiset unordered_map unordered_set \
    unordered_multimap unordered_multiset queue priority_queue stack bitset pair tuple complex valarray function shared_ptr unique_ptr weak_ptr optional \
    variant any path thread mutex future promise packaged_task exception runtime_error logic_error stringstream istringstream ostringstream \
    ifstream ofstream fstream initializer_list";
/// Vectors of C++ AMP: `float_2`, `unorm4`.
const VECTORS: [&str; 6] = ["int", "uint", "float", "double", "norm", "unorm"];
/// Members of classes of C++ AMP that return objects.
const MAKERS: [&str; 9] = [
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

/// The name is one of a class of C++ AMP or of the standard library.
fn is_class(name: &str) -> bool {
    let is_vector = |begin: &&str| {
        let rest = name.strip_prefix(*begin).map(|rest| rest.trim_start_matches('_'));
        rest.is_some_and(|rest| matches!(rest, "2" | "3" | "4"))
    };
    CLASSES.split_whitespace().any(|class| class == name) || VECTORS.iter().any(is_vector)
}

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
    if makes_object(source, code, &range) {
        return true;
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
    let is_known = is_class(named) && functions.is_empty() && !source.names.words.contains(named);
    source.names.types.contains(named) || is_known || !functions.is_empty() && functions.iter().all(|f| f.returns_value)
}

/// It ends with the call of a member that returns an object: `view.section(a, b)`.
fn makes_object(source: &Source, code: &Code, range: &Range<usize>) -> bool {
    let Some(open) = code.pair(range.end - 1).filter(|&open| range.contains(&open) && code.text(open) == "(") else {
        return false;
    };
    let close = open.wrapping_sub(1);
    let name = if code.text(close) == ">" { code.angle_back(close).map_or(0, |n| n.wrapping_sub(1)) } else { close };
    range.contains(&name)
        && matches!(code.before(name), "." | "->")
        && MAKERS.contains(&code.text(name))
        && !source.names.has_member(code.text(name))
}
