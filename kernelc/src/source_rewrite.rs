//! Rewrites code that C++ AMP allows but Clang rejects or misreads. The result is a copy of a source with the same lines:
//!
//! - a restriction before `noexcept`, `throw()`, `->` or `requires`, or after `mutable`, moves to a place where Clang
//!   accepts an attribute; a restriction in a type is removed, because Clang accepts no attribute there;
//! - members of local classes get the restriction of the enclosing function;
//! - functions that are declared by a named function type get the restriction of this type;
//! - `e.tile<16>()` and `v.sample<filter_point>(c)` get `template`, which Clang requires where `e` and `v` depend on a template parameter;
//! - defaulted comparisons get the attributes of host and device functions, because Clang would treat them as host
//!   functions. In C++ AMP, a defaulted comparison has the restrictions that its class allows, like other implicit members;
//! - deleted functions without a restriction become host functions, if functions may be overloaded by restriction;
//! - amp-only members of class templates get `noexcept` if they are specialised: Clang finds the specialised member by
//!   its type, which includes `noexcept`, but not by its restriction;
//! - `tile_static` variables of class type become members of a union, because C++ AMP does not construct these variables.
//!   Clang would construct them, and reports an error.

use crate::own_sources::OwnSource;
use revamp_source::tokens::{Clauses, Code, Restriction};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A tile_static variable of class type becomes a member of a union. The union's name is this prefix and the variable's
/// name.
pub const UNION_PREFIX: &str = "revamp_room_";

/// The bytes to replace, and their replacement.
type Edit = (Range<usize>, String);

/// The source as Clang accepts it; `None` if there is nothing to rewrite.
/// `members`: the first tokens of members of local classes. `overloaded`: functions may be overloaded by restriction.
/// `specialized`: the members that any source of the program specialises. `types`: the program's function types with restrictions.
pub fn rewritten(
    source: &OwnSource,
    code: &Code<'_>,
    clauses: &Clauses,
    members: &[usize],
    overloaded: bool,
    specialized: &HashSet<String>,
    types: &FunctionTypes,
) -> Option<Vec<u8>> {
    let (source, bytes) = (&source.text, &source.bytes);
    let mut edits = restricted(code, clauses, members);
    edits.extend(restrict_functions_of_types(code, types));
    edits.extend(member_templates(code));
    edits.extend(mark_comparisons(code, clauses));
    if overloaded {
        edits.extend(mark_deleted(code, clauses));
        edits.extend(noexcept_for_specialized(code, clauses, specialized));
    }
    let mut at = 0;
    while at < code.tokens.len() {
        if code.text(at) == "tile_static" && !code.tokens[at].directive {
            if let Some((end, text)) = wrapped_in_union(source, code, at) {
                edits.push((code.tokens[at].start..code.tokens[end].start, text));
                at = end;
                continue;
            }
        }
        match clauses.at(code, at) {
            Some((clause, _)) => {
                at = clause.end;
                edits.extend(move_clause(source, code, clause));
            }
            None => at += 1,
        }
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(place, _)| (place.start, place.end));
    let mut made = Vec::with_capacity(bytes.len());
    let mut copied_end = 0;
    for (place, text) in edits {
        // This edit is within a declaration that another edit replaces as a whole.
        if place.start < copied_end {
            continue;
        }
        made.extend_from_slice(&bytes[copied_end..place.start]);
        made.extend_from_slice(text.as_bytes());
        copied_end = place.end;
    }
    made.extend_from_slice(&bytes[copied_end..]);
    Some(made)
}

/// Adds restrictions to members of classes that are local to amp code.
fn restricted(code: &Code<'_>, clauses: &Clauses, members: &[usize]) -> Vec<Edit> {
    if members.is_empty() {
        return Vec::new();
    }
    let body = |at: usize| {
        if code.tokens[at].directive {
            return None;
        }
        let (clause, restriction) = clauses.before_body(code, at)?;
        let begin = (clause.end..code.tokens.len()).find(|&n| ["{", ";"].contains(&code.text(n)))?;
        let end = code.pair(begin).filter(|_| code.text(begin) == "{")?;
        Some((begin..end, restriction))
    };
    let bodies: Vec<_> = (0..code.tokens.len()).filter_map(body).collect();
    let innermost_body =
        |at: usize| bodies.iter().filter(|(body, _)| body.contains(&at)).min_by_key(|(body, _)| body.len());
    let edit = |&at: &usize| {
        let (_, restriction) = innermost_body(at).filter(|(_, restriction)| restriction.amp)?;
        let start = code.tokens.get(at)?.start;
        Some((start..start, words(restriction).to_owned()))
    };
    members.iter().filter_map(edit).collect()
}

fn words(restriction: &Restriction) -> &'static str {
    if restriction.cpu { "restrict(amp, cpu) " } else { "restrict(amp) " }
}

/// Names of function types with restrictions, as in `typedef int (f)(int) restrict(amp)` and
/// `using f = int(int) restrict(amp)`.
#[derive(Default)]
pub struct FunctionTypes {
    restricted: HashMap<String, Restriction>,
    /// Names that also mean something else. Their uses are not rewritten.
    ambiguous: HashSet<String>,
}

impl FunctionTypes {
    /// Adds the function types of a source.
    pub fn learn(&mut self, code: &Code<'_>, clauses: &Clauses) {
        for at in 0..code.tokens.len() {
            match code.text(at) {
                "typedef" => self.add(code, clauses, at),
                "using" if code.text(at + 2) == "=" => self.add(code, clauses, at),
                "class" | "struct" | "union" | "enum" | "typename" => {
                    self.ambiguous.insert(code.text(at + 1).to_owned());
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, code: &Code<'_>, clauses: &Clauses, at: usize) {
        let end = (at..code.tokens.len()).find(|&n| code.text(n) == ";").unwrap_or(code.tokens.len());
        let using = code.text(at) == "using";
        let clause =
            (at..end).find_map(|n| clauses.at(code, n)).filter(|(clause, found)| clause.end == end && found.amp);
        let of_function = clause.and_then(|(clause, restriction)| {
            let (open, _) = parameters(code, clause.start)?;
            let last = open.checked_sub(1)?;
            // The parentheses of a pointer to a function hold more than a name.
            let name = match code.text(last) {
                ")" if using => return None,
                ")" => last - 1,
                _ if using => at + 1,
                _ => last,
            };
            let is_only_name = code.text(last) != ")" || code.pair(last) == name.checked_sub(1);
            (is_only_name && code.is_word(name)).then(|| (code.text(name).to_owned(), restriction))
        });
        match of_function {
            Some((name, restriction)) if self.restricted.get(&name).is_none_or(|r| *r == restriction) => {
                self.restricted.insert(name, restriction);
            }
            Some((name, _)) => drop(self.ambiguous.insert(name)),
            None => {
                let name = if using { at + 1 } else { end.saturating_sub(1) };
                self.ambiguous.insert(code.text(name).to_owned());
            }
        }
    }
}

/// Adds the restriction of a named function type to functions that are declared by this type, as in `f g;`.
fn restrict_functions_of_types(code: &Code<'_>, types: &FunctionTypes) -> Vec<Edit> {
    let edit = |at: usize| {
        let restriction = types.restricted.get(code.text(at)).filter(|_| !types.ambiguous.contains(code.text(at)))?;
        let declares = code.is_word(at + 1) && [";", ","].contains(&code.text(at + 2));
        let mut first = at;
        while code.before(first) == "::" && first >= 2 && code.is_word(first - 2) {
            first -= 2;
        }
        let begins =
            ["", ";", "{", "}", ":", "static", "extern", "friend", "inline", "virtual"].contains(&code.before(first));
        let start = code.tokens.get(first)?.start;
        (declares && begins).then(|| (start..start, words(restriction).to_owned()))
    };
    if types.restricted.is_empty() { Vec::new() } else { (0..code.tokens.len()).filter_map(edit).collect() }
}

/// The tokens of a declaration before `at`, the nearest first.
fn head<'a>(code: &'a Code<'_>, at: usize) -> impl Iterator<Item = usize> + use<'a> {
    (0..at).rev().take_while(|&n| ![";", "{", "}"].contains(&code.text(n)))
}

/// Makes deleted functions without a restriction host functions, like other functions without a restriction. Clang would
/// treat them as functions for host and device.
fn mark_deleted(code: &Code<'_>, clauses: &Clauses) -> Vec<Edit> {
    let edit = |at: usize| {
        let is_one = code.text(at) == "=" && code.text(at + 1) == "delete" && code.text(at + 2) == ";";
        // A restriction may come anywhere between the parameters and the `=`.
        let unmarked = is_one && !head(code, at).any(|n| clauses.at(code, n).is_some());
        let start = code.tokens.get(at)?.start;
        unmarked.then(|| (start..start, String::from("__attribute__((host)) ")))
    };
    (0..code.tokens.len()).filter_map(edit).collect()
}

/// The operators, except assignments, that may be defaulted.
const COMPARISONS: [&str; 7] = ["==", "!=", "<", ">", "<=", ">=", "<=>"];

/// Adds the attributes of host and device functions to defaulted comparisons without a restriction:
/// `bool operator==(const s &) const = default`. Clang reports an error where amp code then needs a host-only comparison of a member.
fn mark_comparisons(code: &Code<'_>, clauses: &Clauses) -> Vec<Edit> {
    let edit = |at: usize| {
        let defaulted = code.text(at) == "=" && code.text(at + 1) == "default" && code.text(at + 2) == ";";
        if !defaulted {
            return None;
        }
        // A comparison that is defaulted outside its class gets no attributes, because its first declaration is in the
        // class.
        let named = head(code, at).find(|&n| code.text(n) == "operator").filter(|&n| code.before(n) != "::")?;
        let open = (named + 1..at).find(|&n| code.text(n) == "(")?;
        let name: String = (named + 1..open).map(|n| code.text(n)).collect();
        let is_first_declaration = has_one_parameter(code, open) || head(code, named).any(|n| code.text(n) == "friend");
        let unmarked = COMPARISONS.contains(&name.as_str()) && !head(code, at).any(|n| clauses.at(code, n).is_some());
        let unmarked = unmarked && is_first_declaration;
        let start = code.tokens.get(at)?.start;
        unmarked.then(|| (start..start, String::from("__attribute__((host)) __attribute__((device)) ")))
    };
    (0..code.tokens.len()).filter_map(edit).collect()
}

/// True if the function has one parameter in addition to its object.
fn has_one_parameter(code: &Code<'_>, open: usize) -> bool {
    let mut at = open + 1;
    while code.text(at) != ")" {
        at = match code.text(at) {
            "" | "," => return code.text(open + 1) == "this",
            "(" | "{" | "[" => code.pair(at).unwrap_or(at),
            "<" => code.angle(at).unwrap_or(at),
            _ => at,
        } + 1;
    }
    true
}

/// The names of members of class templates that have explicit specialisations, as in `template <> int s<int>::h()`.
pub fn specialized_members(code: &Code<'_>) -> HashSet<String> {
    let member = |at: usize| {
        let named = code.text(at) == "template" && code.text(at + 1) == "<" && code.text(at + 2) == ">";
        if !named {
            return None;
        }
        let mut rest = (at + 3..code.tokens.len()).take_while(|&n| ![";", "{", "}", "="].contains(&code.text(n)));
        let open = rest.find(|&n| code.text(n) == "(")?;
        let (name, first) = called(code, open)?;
        let of_class = code.before(first) == "::" && first.checked_sub(2).is_some_and(|n| code.text(n) == ">");
        of_class.then_some(name)
    };
    (0..code.tokens.len()).filter_map(member).collect()
}

/// The name before a parameter list, without template arguments, and its first token.
fn called(code: &Code<'_>, open: usize) -> Option<(String, usize)> {
    if let Some(first) = (open.saturating_sub(4)..open).find(|&n| code.text(n) == "operator") {
        let words: Vec<&str> = (first..open).map(|n| code.text(n)).collect();
        return Some((words.join(" "), first));
    }
    let last = open.checked_sub(1)?;
    let first = if code.text(last) == ">" { code.angle_back(last)?.checked_sub(1)? } else { last };
    code.is_word(first).then(|| (code.text(first).to_owned(), first))
}

/// Adds `noexcept` to the amp-only functions that have the names of specialised members.
fn noexcept_for_specialized(code: &Code<'_>, clauses: &Clauses, specialized: &HashSet<String>) -> Vec<Edit> {
    let edit = |at: usize| {
        let (clause, restriction) = clauses.at(code, at).filter(|_| !specialized.is_empty())?;
        let (open, close) = parameters(code, clause.start)?;
        let (name, _) = called(code, open)?;
        let is_one = restriction.amp && !restriction.cpu && specialized.contains(&name);
        let throws =
            end_of_exceptions(code, clause.end) > clause.end || (close..at).any(|n| code.text(n) == "noexcept");
        let start = code.tokens.get(at)?.start;
        (is_one && !throws).then(|| (start..start, String::from("noexcept ")))
    };
    (0..code.tokens.len()).filter_map(edit).collect()
}

/// Member templates of the headers that programs call with explicit template arguments.
const MEMBER_TEMPLATES: [&str; 6] = ["tile", "sample", "gather_red", "gather_green", "gather_blue", "gather_alpha"];

/// Adds `template` before `tile<` and similar names. `template` is allowed even where nothing depends on a template parameter.
fn member_templates(code: &Code<'_>) -> Vec<Edit> {
    let parameter = |n: usize| code.text(n) == "auto" && ["(", ","].contains(&code.before(n));
    let Some(first) = (0..code.tokens.len()).find(|&n| code.text(n) == "template" || parameter(n)) else {
        return Vec::new();
    };
    let member = |at: usize| {
        let called = MEMBER_TEMPLATES.contains(&code.text(at))
            && [".", "->"].contains(&code.before(at))
            && code.text(at + 1) == "<"
            && code.angle(at + 1).is_some_and(|end| code.text(end + 1) == "(");
        called.then(|| (code.tokens[at].start..code.tokens[at].start, String::from("template ")))
    };
    (first..code.tokens.len()).filter_map(member).collect()
}

/// The byte range of some tokens.
fn bytes(code: &Code<'_>, tokens: &Range<usize>) -> Range<usize> {
    code.tokens[tokens.start].start..code.tokens[tokens.end - 1].end()
}

/// Moves a restriction to a place where Clang accepts it: one edit removes it, and one inserts it elsewhere.
fn move_clause(source: &str, code: &Code<'_>, clause: Range<usize>) -> Vec<Edit> {
    let place = bytes(code, &clause);
    let text = &source[place.clone()];
    let removal: Edit = (place, text.chars().filter(|&c| c == '\n').collect());
    let to = |at: usize| vec![(at..at, format!(" {} ", text.replace('\n', " "))), removal.clone()];
    if code.tokens[clause.start].directive != code.tokens.get(clause.end).is_some_and(|next| next.directive) {
        // The restriction is the whole body of a macro.
        return Vec::new();
    }
    let Some((open, _)) = parameters(code, clause.start) else { return Vec::new() };
    // In an explicit instantiation, Clang selects the function by its restriction, and expects the restriction at the front.
    let instantiated = |&n: &usize| {
        code.text(n) == "template" && code.text(n + 1) != "<" && ![".", "->", "::"].contains(&code.before(n))
    };
    if let Some(n) = head(code, open).find(instantiated) {
        return to(code.tokens[n].end());
    }
    if is_lambda(code, open) {
        // The attributes of a lambda come right after its parameters.
        let first = code.pair(open).map_or(clause.start, |close| close + 1);
        let behind = first < clause.start && code.text(first) != "->";
        return if behind { to(code.tokens[first].start) } else { Vec::new() };
    }
    if returns_through_declarator(code, open) {
        return to(code.tokens[first_specifier(code, open)].start);
    }
    if is_in_type(code, open, &clause) {
        return vec![removal];
    }
    let last = end_of_exceptions(code, clause.end);
    if code.text(last) == "->" {
        let front = head(code, open).find(|&n| code.text(n) == "auto");
        return front.map_or_else(Vec::new, |n| to(code.tokens[n].end()));
    }
    if code.text(last) == "requires" {
        return to(code.tokens[first_specifier(code, open)].start);
    }
    // A restriction before another restriction stays in its place.
    if last > clause.end && !is_restriction(code, last - 1) { to(code.tokens[last - 1].end()) } else { Vec::new() }
}

/// The first token of a declaration after `template <...>`, constraints and attributes.
fn first_specifier(code: &Code<'_>, open: usize) -> usize {
    let begin = declaration_start(code, open);
    // A macro call without a semicolon may come before the declaration.
    let template = (begin..open).find(|&n| code.text(n) == "template" && code.text(n + 1) == "<");
    let mut at = code.after_prefixes(template.unwrap_or(begin));
    while code.text(at) == "requires" {
        at = code.after_prefixes(constraint_end(code, at + 1));
    }
    at
}

/// The first token of the declaration whose parameters open at `open`. Braces of expressions are part of the
/// declaration: `decltype(T{})`, `requires(T t) { t.f(); } && c<T>`.
fn declaration_start(code: &Code<'_>, open: usize) -> usize {
    let mut start = open;
    while let Some(before) = start.checked_sub(1).filter(|&n| !code.tokens[n].directive) {
        start = match code.text(before) {
            ";" | "{" => break,
            "}" if code.is_word(start) || ["[", "::", "~"].contains(&code.text(start)) => break,
            ")" | "}" => code.pair(before).unwrap_or(before),
            _ => before,
        };
    }
    start
}

/// The token after the constraint that begins at `at`. A constraint consists of primary expressions joined by `&&` and
/// `||`.
fn constraint_end(code: &Code<'_>, mut at: usize) -> usize {
    let behind = |open: usize| code.pair(open).filter(|&close| close > open).unwrap_or(open) + 1;
    loop {
        if code.text(at) == "requires" {
            at += 1;
            at = if code.text(at) == "(" { behind(at) } else { at };
            at = behind(at);
        } else if code.text(at) == "(" {
            at = behind(at);
        } else {
            at += 1 + usize::from(code.text(at) == "::");
            while code.text(at) == "::" || code.text(at) == "<" {
                at = if code.text(at) == "<" { code.angle(at).unwrap_or(at) + 1 } else { at + 2 };
            }
        }
        // Each character of an operator is a separate token.
        let mark = code.text(at);
        if !["&", "|"].contains(&mark) || code.text(at + 1) != mark {
            return at;
        }
        at += 2;
    }
}

/// True if the parenthesis closes `restrict(...)`.
fn is_restriction(code: &Code<'_>, close: usize) -> bool {
    code.text(close) == ")" && code.pair(close).is_some_and(|open| code.before(open) == "restrict")
}

/// The parentheses of the parameter list before a restriction.
fn parameters(code: &Code<'_>, clause: usize) -> Option<(usize, usize)> {
    let mut at = clause;
    loop {
        at = at.checked_sub(1)?;
        match code.text(at) {
            ")" => {
                let open = code.pair(at)?;
                if !["noexcept", "throw", "restrict"].contains(&code.before(open)) {
                    return Some((open, at));
                }
                at = open.checked_sub(1)?;
            }
            "const" | "volatile" | "&" | "mutable" | "noexcept" => {}
            _ => return None,
        }
    }
}

/// The token after all `noexcept`, `noexcept(...)`, `throw(...)` and restrictions that begin at `at`; `at` itself if
/// there are none.
fn end_of_exceptions(code: &Code<'_>, mut at: usize) -> usize {
    while ["noexcept", "throw", "restrict"].contains(&code.text(at)) {
        let close = (code.text(at + 1) == "(").then(|| code.pair(at + 1)).flatten();
        at = close.map_or(at + 1, |close| close + 1);
    }
    at
}

/// True if the parameters are those of a lambda.
fn is_lambda(code: &Code<'_>, open: usize) -> bool {
    let mut before = open.checked_sub(1);
    if before.is_some_and(|n| code.text(n) == ">") {
        before = before.and_then(|n| code.angle_back(n)).and_then(|n| n.checked_sub(1));
    }
    let Some(close) = before.filter(|&n| code.text(n) == "]") else { return false };
    let Some(start) = code.pair(close) else { return false };
    // `a[0](...)` calls an element; `operator[](...)` is a function.
    let preceding = code.before(start);
    let is_indexed = start.checked_sub(1).is_some_and(|n| code.is_word(n)) && !["return", "case"].contains(&preceding);
    !is_indexed && ![")", "]"].contains(&preceding)
}

/// True if the name and parameters of the function are inside the declarator of its return type: `int (&row(int))[3]`, `int (*f(int))(int)`.
fn returns_through_declarator(code: &Code<'_>, open: usize) -> bool {
    let mut at = open;
    while let Some(before) = at.checked_sub(1).filter(|&n| code.is_word(n) || code.text(n) == "::") {
        at = before;
    }
    let mut is_returned = false;
    while let Some(before) = at.checked_sub(1).filter(|&n| ["*", "&", "&&", "const"].contains(&code.text(n))) {
        (at, is_returned) = (before, true);
    }
    is_returned && at < open && code.before(at) == "(" && code.before(open) != ")"
}

/// True if the restriction belongs to a type and not to a declared function.
fn is_in_type(code: &Code<'_>, open: usize, clause: &Range<usize>) -> bool {
    let next = code.text(clause.end);
    // `int (*f)(int)` is a pointer; `operator()(int)` and `int (f)(int)` are functions.
    let is_pointer = code.before(open) == ")"
        && open.checked_sub(1).and_then(|n| code.pair(n)).is_none_or(|n| {
            code.before(n) != "operator" && (n + 1..open).any(|n| ["*", "&", "&&", "^"].contains(&code.text(n)))
        });
    let mut in_parentheses = false;
    for n in (0..open).rev() {
        match code.text(n) {
            ";" | "{" | "}" => break,
            "(" if code.pair(n).is_some_and(|close| close >= clause.end) => {
                in_parentheses = true;
                break;
            }
            "using" | "typedef" => return true,
            _ => {}
        }
    }
    is_pointer || next == ">" || in_parentheses && [")", ",", "="].contains(&next)
}

/// Types that need no construction. All other types are treated as classes.
const SCALARS: [&str; 20] = [
    "int", "unsigned", "signed", "float", "double", "long", "short", "char", "bool", "size_t", "int8_t", "int16_t",
    "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint", "const",
];

/// Makes each variable of a declaration a member of a union that constructs nothing. Returns the token at the end of the
/// declaration, and the new text of the declaration. `None` if the variables need no union, or this function does not
/// understand the declaration.
fn wrapped_in_union(source: &str, code: &Code<'_>, at: usize) -> Option<(usize, String)> {
    // For each declarator: its name, the start of its dimensions, and its end.
    let (mut n, mut declarators, mut last_word, mut dimensions) = (at + 1, Vec::new(), None, None);
    loop {
        match code.text(n) {
            "[" => {
                dimensions.get_or_insert(n);
                n = code.pair(n)?;
            }
            "<" => n = code.angle(n)?,
            "(" if code.before(n) == "decltype" => n = code.pair(n)?,
            "," | ";" => {
                declarators.push((last_word?, dimensions.unwrap_or(n), n));
                dimensions = None;
                if code.text(n) == ";" {
                    break;
                }
            }
            "::" => {}
            _ if code.is_word(n) && dimensions.is_none() => last_word = Some(n),
            _ => return None,
        }
        n += 1;
    }
    let first = declarators.first()?.0;
    let start = if code.text(at + 1) == "std" { at + 3 } else { at + 1 };
    if first <= at + 1 || SCALARS.contains(&code.text(start)) {
        return None;
    }
    let token_text = |from: usize, to: usize| {
        let mut text = String::new();
        for n in from..to {
            // Operators of several characters stay together: `1 << 4`.
            let is_operator_part = |n: usize| code.text(n).bytes().all(|b| b"<>&|=!".contains(&b));
            let whole = n > from
                && is_operator_part(n - 1)
                && is_operator_part(n)
                && code.tokens[n - 1].end() == code.tokens[n].start;
            if n > from && !whole {
                text.push(' ');
            }
            text += code.text(n);
        }
        text
    };
    let ty = token_text(at + 1, first);
    let mut behind = first;
    let mut made = Vec::new();
    for (name, dimensions, end) in declarators {
        // There is more than a name before the dimensions, so the declaration is not understood.
        if name != behind {
            return None;
        }
        behind = end + 1;
        let (name, dimensions) = (code.text(name), token_text(dimensions, end));
        made.push(format!(
            "tile_static ::revamp::detail::unconstructed<{ty}{dimensions}> {UNION_PREFIX}{name}; auto &{name} = {UNION_PREFIX}{name}.value"
        ));
    }
    let lines = source[code.tokens[at].start..code.tokens[n].start].chars().filter(|&c| c == '\n');
    Some((n, made.join("; ") + &lines.collect::<String>()))
}

/// The overlay file (-ivfsoverlay) that makes Clang read the copies instead of the sources.
pub fn overlay(copies: &[(PathBuf, PathBuf)]) -> String {
    let quoted = |path: &Path| {
        let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{text}\"")
    };
    let roots = copies.iter().map(|(source, copy)| {
        format!("{{\"type\": \"file\", \"name\": {}, \"external-contents\": {}}}", quoted(source), quoted(copy))
    });
    let roots = roots.collect::<Vec<_>>().join(",\n");
    format!("{{\"version\": 0, \"use-external-names\": false, \"roots\": [{roots}]}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(source: &str) -> Option<String> {
        let code = Code::read(source);
        let mut clauses = Clauses::default();
        clauses.learn(&code);
        let members = crate::overloads::Functions::default().add(&code, &clauses);
        let mut types = FunctionTypes::default();
        types.learn(&code, &clauses);
        let whole = OwnSource::new("a.cpp".into(), source.into());
        let made = rewritten(&whole, &code, &clauses, &members, true, &specialized_members(&code), &types);
        let made = made.map(|made| String::from_utf8(made).unwrap());
        if let Some(made) = &made {
            assert_eq!(made.matches('\n').count(), source.matches('\n').count(), "{made}");
        }
        made.map(|made| made.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn restrictions_go_where_clang_takes_them() {
        for (source, expected) in [
            ("f([=](index<1> i) mutable restrict(amp) {});", "f([=](index<1> i) restrict(amp) mutable {});"),
            ("f([] () noexcept restrict (amp, cpu) { g(); });", "f([] () restrict (amp, cpu) noexcept { g(); });"),
            ("int f(int a) restrict(amp) noexcept { return a; }", "int f(int a) noexcept restrict(amp) { return a; }"),
            ("int f() restrict(amp) throw();", "int f() throw() restrict(amp) ;"),
            ("s() restrict(amp) noexcept(g(1)) : a(1) {}", "s() noexcept(g(1)) restrict(amp) : a(1) {}"),
            ("; auto f() const __GPU -> int { }", "; auto __GPU f() const -> int { }"),
            (
                "template <class T> auto g(T t) restrict(amp) noexcept -> T;",
                "template <class T> auto restrict(amp) g(T t) noexcept -> T;",
            ),
            ("int operator()(int) restrict(amp) noexcept;", "int operator()(int) noexcept restrict(amp) ;"),
            ("int operator[](int) restrict(amp) noexcept;", "int operator[](int) noexcept restrict(amp) ;"),
            (
                "struct s { bool operator==(const s &) const = default; friend auto operator<=>(s, s) = default; };",
                "struct s { bool operator==(const s &) const __attribute__((host)) __attribute__((device)) = default; friend auto operator<=>(s, s) __attribute__((host)) __attribute__((device)) = default; };",
            ),
            (
                "template <class T> [[nodiscard]] T f(T) restrict(amp) noexcept requires(sizeof(T) == 4);",
                "template <class T> [[nodiscard]] restrict(amp) T f(T) noexcept requires(sizeof(T) == 4);",
            ),
            (
                "template <class T> requires n::c<T> && (sizeof(T) == 4) || requires(T t) { t.f(); } T f(T) restrict(amp) requires c<T> {}",
                "template <class T> requires n::c<T> && (sizeof(T) == 4) || requires(T t) { t.f(); } restrict(amp) T f(T) requires c<T> {}",
            ),
            (
                "template <class T> requires n::c<T> && ::d<T> || (true) T *f(T) restrict(amp) requires c<T> {}",
                "template <class T> requires n::c<T> && ::d<T> || (true) restrict(amp) T *f(T) requires c<T> {}",
            ),
            (
                "template <class T> requires requires(T t) { t.f(); } && c<T> T f(T) restrict(amp) requires d<T>;",
                "template <class T> requires requires(T t) { t.f(); } && c<T> restrict(amp) T f(T) requires d<T>;",
            ),
            (
                "int a; template <class T, class U = decltype(T{})> T f(T) restrict(amp) requires c<T>;",
                "int a; template <class T, class U = decltype(T{})> restrict(amp) T f(T) requires c<T>;",
            ),
            (
                "int g() {} template <class T> s<T{}> f(T) restrict(amp) requires c<T>;",
                "int g() {} template <class T> restrict(amp) s<T{}> f(T) requires c<T>;",
            ),
            (
                "int g() {} template <class T, s<T{}> V> requires c<T{}> T f(T) restrict(amp) requires c<T>;",
                "int g() {} template <class T, s<T{}> V> requires c<T{}> restrict(amp) T f(T) requires c<T>;",
            ),
            (
                "M(a) template <class T> requires (T{} < 1) T f(T) restrict(amp) requires c<T>; void g() {} int h() restrict(amp) requires c<int>;",
                "M(a) template <class T> requires (T{} < 1) restrict(amp) T f(T) requires c<T>; void g() {} restrict(amp) int h() requires c<int>;",
            ),
            (
                "struct s { friend bool operator==(const s &, const s &); }; bool operator==(const s &, const s &) = default;",
                "",
            ),
            ("s(const s &) = delete;", "s(const s &) __attribute__((host)) = delete;"),
            (
                "template <> int s<int>::h() const restrict(amp) { } int h() restrict(amp, cpu); int h() restrict(amp); int g() restrict(amp);",
                "template <> int s<int>::h() const noexcept restrict(amp) { } int h() restrict(amp, cpu); int h() noexcept restrict(amp); int g() restrict(amp);",
            ),
            (
                "template <> int s<int>::h() restrict(amp) { } template <> int h<int>(int) restrict(amp); h<int>(3);",
                "template <> int s<int>::h() noexcept restrict(amp) { } template <> int h<int>(int) noexcept restrict(amp); h<int>(3);",
            ),
            (
                "auto operator+(int) __GPU_ONLY -> int; template <> auto a::s<b<3>>::operator+(int) __GPU_ONLY -> int { }",
                "auto __GPU_ONLY operator+(int) noexcept -> int; template <> auto __GPU_ONLY a::s<b<3>>::operator+(int) noexcept -> int { }",
            ),
            ("using f = int(int) restrict(amp);", "using f = int(int) ;"),
            ("typedef int (*f)(int) restrict(amp, cpu);", "typedef int (*f)(int) ;"),
            ("int a; int &(f)(int &x) restrict(amp) noexcept;", "int a; int &(f)(int &x) noexcept restrict(amp) ;"),
            (
                "int a; static int (&row(int (&m)[2][3]) restrict(amp, cpu))[3] { }",
                "int a; restrict(amp, cpu) static int (&row(int (&m)[2][3]) )[3] { }",
            ),
            ("int a; int (*const &f(int) restrict(amp))(int);", "int a; restrict(amp) int (*const &f(int) )(int);"),
            ("void g(int h(int) restrict(amp), int);", "void g(int h(int) , int);"),
            ("q<int(int) restrict(amp)> x;", "q<int(int) > x;"),
            (
                "typedef int (f)(int) restrict(amp, cpu); f g, h; struct s { static f m; }; n::f i; void k(f *p, f q);",
                "typedef int (f)(int) ; restrict(amp, cpu) f g, h; struct s { static restrict(amp, cpu) f m; }; restrict(amp, cpu) n::f i; void k(f *p, f q);",
            ),
            ("using f = int(int) restrict(amp); f g; f *p;", "using f = int(int) ; restrict(amp) f g; f *p;"),
            ("typedef int (*f)(int) restrict(amp); f g;", "typedef int (*f)(int) ; f g;"),
            (
                "typedef int f(int) restrict(amp); template <class f> struct s { f g; };",
                "typedef int f(int) ; template <class f> struct s { f g; };",
            ),
            ("int (*p)(int) restrict(amp) = nullptr;", "int (*p)(int) = nullptr;"),
            (
                "auto l = []() restrict(amp) restrict(cpu) -> int {};",
                "auto l = []() restrict(cpu) restrict(amp) -> int {};",
            ),
            (
                "auto f() restrict(amp) restrict(cpu) -> int; int g() restrict(amp) restrict(cpu) noexcept;",
                "auto restrict(amp) restrict(cpu) f() -> int; int g() noexcept restrict(amp) restrict(cpu) ;",
            ),
            ("#define A restrict(amp)\nint f() A noexcept;", "#define A restrict(amp)\nint f() noexcept A ;"),
            (
                "template int f<int>(int) restrict(amp); template <> int f<char>(char) restrict(amp);",
                "template restrict(amp) int f<int>(int) ; template <> int f<char>(char) restrict(amp);",
            ),
            (
                "void f() restrict(amp) { struct s { int g(); }; }",
                "void f() restrict(amp) { struct s { restrict(amp) int g(); }; }",
            ),
            (
                "#define KERNEL(i) [=](index<1> i) restrict(amp)\nint a;\nvoid h() { f(KERNEL(j) { struct s { int g(); }; }); }",
                "#define KERNEL(i) [=](index<1> i) restrict(amp)\nint a;\nvoid h() { f(KERNEL(j) { struct s { restrict(amp) int g(); }; }); }",
            ),
            (
                "void g() { f([=](int) restrict(amp, cpu) { class s { public: template <class T> s(T t) : a(t) {} int (*b)(int); }; }); }",
                "void g() { f([=](int) restrict(amp, cpu) { class s { public: template <class T> restrict(amp, cpu) s(T t) : a(t) {} int (*b)(int); }; }); }",
            ),
            (
                "template <class T> int f(T e) { return e.tile<2>(); }",
                "template <class T> int f(T e) { return e.template tile<2>(); }",
            ),
            ("f([](auto *e) { e->tile<2, N>().pad(); });", "f([](auto *e) { e->template tile<2, N>().pad(); });"),
            (
                "template <class T> T f(T v) { return v.sample<a, b>(c) + v.gather_red<b>(c); }",
                "template <class T> T f(T v) { return v.template sample<a, b>(c) + v.template gather_red<b>(c); }",
            ),
        ] {
            assert_eq!(made(source).as_deref(), (!expected.is_empty()).then_some(expected), "{source}");
        }
    }

    #[test]
    fn bytes_stay_as_they_are() {
        let source = OwnSource::new("a.cpp".into(), b"/*\xA9*/ int f() restrict(amp) noexcept; // \xE9".to_vec());
        let code = Code::read(&source.text);
        let made =
            rewritten(&source, &code, &Clauses::default(), &[], false, &HashSet::new(), &FunctionTypes::default());
        let made = made.unwrap();
        assert!(made.starts_with(b"/*\xA9*/ int f()") && made.ends_with(b"; // \xE9"), "{}", made.escape_ascii());
    }

    #[test]
    fn tile_static_variables_of_class_type_are_wrapped_in_unions() {
        let wrapped_in_union = |t: &str, n: &str| {
            format!(
                "tile_static ::revamp::detail::unconstructed<{t}> revamp_room_{n}; auto &{n} = revamp_room_{n}.value"
            )
        };
        for (source, expected) in [
            ("{ tile_static body b[size]; }", format!("{{ {}; }}", wrapped_in_union("body[ size ]", "b"))),
            (
                "{ tile_static T b[1 << 4][N >> 1][a == 1 && b]; }",
                format!("{{ {}; }}", wrapped_in_union("T[ 1 << 4 ] [ N >> 1 ] [ a == 1 && b ]", "b")),
            ),
            (
                "tile_static pair<int, 2>\n a[4][N + 1], /* x */ c;x",
                format!(
                    "{}; {}\n;x",
                    wrapped_in_union("pair < int , 2 >[ 4 ] [ N + 1 ]", "a"),
                    wrapped_in_union("pair < int , 2 >", "c")
                ),
            ),
            (
                "tile_static a::b::T t; tile_static int n;",
                format!("{}; tile_static int n;", wrapped_in_union("a :: b :: T", "t")),
            ),
            (
                "tile_static decltype(x) t[a > b ? 1 : 2]; // t",
                format!("{}; // t", wrapped_in_union("decltype ( x )[ a > b ? 1 : 2 ]", "t")),
            ),
        ] {
            assert_eq!(made(source).as_deref(), Some(&*expected), "{source}");
        }
    }

    #[test]
    fn other_code_stays_unchanged() {
        for source in [
            "struct s { s &operator=(const s &) = default; s() = default; bool operator<(s) const restrict(cpu) = default; };",
            "bool s::operator==(const s &) const = default; auto n::s<int>::operator<=>(const s &) const = default;",
            "mutable int x; immutable restrict(amp) mutable restricted",
            "f([=](int) restrict(amp) mutable -> int {}); f([=](int) restrict(amp) noexcept {});",
            "f([=](int) -> int {}); int restrict(3); int restrict = 4; restrict(x) noexcept;",
            "int f() restrict(amp) restrict(cpu) { } int g() restrict(amp) restrict(cpu);",
            "int f() const restrict(amp) override { } s() restrict(amp) : a(1) {} int g() restrict(amp), h();",
            "#define A restrict(amp)\n#define B noexcept\n // int f() restrict(amp) noexcept",
            "tile_static int a[4], b; tile_static unsigned int a; // tile_static body b;",
            "extent<1> e; e.tile<2>(); template <class T> int f(T e) { return e.tile < 2 && e.a > 3 && e.template tile<4>(); }",
            "void f() { struct s { int g(); }; } void g() restrict(amp) { struct s { int g() restrict(amp); }; }",
            "my_tile_static body b; tile_static body b = f(); tile_static std::uint32_t b; tile_static body *p;",
            "tile_static body",
            "#define X tile_static body b;",
            "const char *t = R\"x(tile_static body b; )\" )x\";",
        ] {
            assert_eq!(made(source), None, "{source}");
        }
    }
}
