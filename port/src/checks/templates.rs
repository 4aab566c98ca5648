//! Finds templates that need `typename`, `template`, `this->` or an earlier declaration, because compilers here look names up in two phases.

use crate::findings::{Edit, Finding};
use crate::functions::tidy;
use crate::names::Member;
use crate::source::Source;
use crate::syntax::{Code, Kind, Scope, Template};
use std::collections::{HashMap, HashSet};

/// Finds function templates that deduce an unsigned argument of `tiled_index` or `tiled_extent`.
pub fn unsigned_tile_sizes(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in 0..code.tokens.len() {
        if !matches!(code.text(at), "tiled_index" | "tiled_extent") || code.text(at + 1) != "<" {
            continue;
        }
        let Some(close) = code.angle(at + 1) else { continue };
        let deducing = code.templates.iter().filter(|t| is_parameter_of(code, t, at));
        let is_unsigned =
            |kind: &str| matches!(kind, "unsigned" | "unsigned int" | "size_t" | "std :: size_t" | "UINT" | "DWORD");
        let found = deducing
            .flat_map(|t| &t.parameters)
            .find(|(name, kind)| is_unsigned(kind) && (at + 2..close).any(|n| code.text(n) == name));
        if let Some((name, _)) = found {
            let reason =
                "the parameters of this class template are int, so an unsigned template parameter is not deduced";
            all.push(Finding::new(
                code.tokens[at].line,
                format!("{}<{name}>", code.text(at)),
                reason,
                format!("template <int {name}>"),
            ));
        }
    }
    all
}

/// True if the token is in the parameter list of the function that the template declares.
fn is_parameter_of(code: &Code, template: &Template, at: usize) -> bool {
    let mut n = template.close + 1;
    while n < at {
        match code.text(n) {
            "(" => return code.pair(n).is_some_and(|close| at < close),
            "class" | "struct" | "{" | ";" => return false,
            "<" => n = code.angle(n).unwrap_or(n),
            _ => {}
        }
        n += 1;
    }
    false
}

/// Names of member templates of C++ AMP.
const MEMBERS: [&str; 8] =
    ["tile", "sample", "gather_red", "gather_green", "gather_blue", "gather_alpha", "view_as", "reinterpret_as"];

/// Finds `e.tile<W>()` where `e` depends on a template parameter.
pub fn members(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in 2..code.tokens.len() {
        let is_member = MEMBERS.contains(&code.text(at)) && matches!(code.before(at), "." | "->");
        let is_call = code.text(at + 1) == "<" && code.angle(at + 1).is_some_and(|close| code.text(close + 1) == "(");
        let Some(first) = Some(at).filter(|_| is_member && is_call).and_then(|at| first_of_members(code, at)) else {
            continue;
        };
        let templates: Vec<&Template> = code.templates_around(at).collect();
        let is_parameter =
            |n: usize| templates.iter().any(|t| t.parameters.iter().any(|(parameter, _)| parameter == code.text(n)));
        // A template parameter in the arguments of a call is usually a value. The type of the expression does not depend on such a value.
        let in_call = |n: usize| crate::names::inside_parentheses(code, n) && (first..n).any(|m| code.text(m) == "(");
        let of_type = |n: usize| is_parameter(n) && !in_call(n);
        let depends = (first..at - 1).any(of_type) || depends(code, first, at, &is_parameter, 0);
        if depends {
            let found = tidy(&code.joined(first..at + 1));
            let reason = "a member template of an expression that depends on a template parameter; revamp-c++ accepts \
                          the call without `template`, but GCC does not";
            let replacement =
                format!("{}{}template {}<", tidy(&code.joined(first..at - 1)), code.before(at), code.text(at));
            all.push(Finding::new(code.tokens[at].line, found, reason, replacement).as_note());
        }
    }
    all
}

/// The first token of the expression before the member at a token: `a` for `d` in `a.b(c)->d`.
fn first_of_members(code: &Code, member: usize) -> Option<usize> {
    let mut n = member;
    while matches!(code.before(n), "." | "->" | "::") {
        n = n.checked_sub(2)?;
        while matches!(code.text(n), ")" | "]" | ">") {
            n = if code.text(n) == ">" { code.angle_back(n)? } else { code.pair(n)? }.checked_sub(1)?;
        }
    }
    code.is_name(n).then_some(n)
}

/// True if the declaration of the token `name` that is visible at `at` has a type that depends on a template parameter. For `auto`, the initializer
/// decides.
fn depends(code: &Code, name: usize, at: usize, is_parameter: &dyn Fn(usize) -> bool, depth: usize) -> bool {
    let name = if code.text(name) == "this" { name + 2 } else { name };
    let Some(declared) = declaration(code, name, at) else { return false };
    let mut begin = declared;
    while begin > 0 && !matches!(code.before(begin), ";" | "{" | "}" | "(" | ",") {
        begin -= 1;
        if code.text(begin) == ">" {
            begin = code.angle_back(begin).unwrap_or(begin);
        }
    }
    let is_auto = (begin..declared).any(|n| code.text(n) == "auto");
    let end = (declared..at).find(|&n| is_auto && code.text(n) == ";").unwrap_or(declared);
    let of_value = |n: usize| {
        let is_root = n > declared && code.is_name(n) && !matches!(code.before(n), "." | "->" | "::");
        is_root && depth < 4 && depends(code, n, declared, is_parameter, depth + 1)
    };
    (begin..end).any(|n| is_parameter(n) || n < declared && is_alias(code, at, n, is_parameter) || of_value(n))
}

/// The declaration of the token `name` that is visible at `at`.
fn declaration(code: &Code, name: usize, at: usize) -> Option<usize> {
    let is_declared = |n: usize| {
        code.text(n) == code.text(name)
            && (code.is_name(n - 1) && !crate::functions::is_non_type_keyword(code.before(n))
                || matches!(code.before(n), ">" | "&" | "*"))
            && matches!(code.text(n + 1), "," | ")" | ";" | "=" | "(" | "{" | "[")
    };
    let is_visible = |n: usize| {
        let here = &code.scopes[code.scope_of[n]];
        let is_parameter = here.kind != Kind::Block && crate::names::inside_parentheses(code, n);
        code.around(at).any(|scope| scope.head.contains(&n) || !is_parameter && scope.body == here.body)
    };
    let classes = code.around(at).filter(|scope| scope.kind == Kind::Class);
    let members = classes.flat_map(|scope| scope.body.clone()).filter(|&n| code.kind(n) == Kind::Class);
    (1..at).rev().chain(members).find(|&n| n > 0 && is_declared(n) && is_visible(n))
}

/// Names of member types in the standard library.
const TYPES: [&str; 12] = [
    "iterator",
    "const_iterator",
    "reverse_iterator",
    "value_type",
    "size_type",
    "difference_type",
    "reference",
    "const_reference",
    "pointer",
    "key_type",
    "mapped_type",
    "type",
];

/// Finds dependent types without typename: `std::vector<T>::iterator i`.
pub fn dependent_types(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in 3..code.tokens.len() {
        if code.before(at) != "::" || !code.is_name(at) || matches!(code.text(at), "operator" | "template") {
            continue;
        }
        // The qualified name is a type if a name follows it, or if it ends with a known type name and one of these tokens follows.
        let is_declaration =
            code.is_name(at + 1) && !matches!(code.text(at + 1), "and" | "or" | "not_eq" | "restrict" | "const");
        let is_object = TYPES.contains(&code.text(at))
            && matches!(code.text(at + 1), "(" | "&" | "*" | ">" | "const")
            && code.text(at + 2) != "=";
        let Some((first, depends)) = qualifier(code, at).filter(|_| is_declaration || is_object) else { continue };
        let before = code.before(first);
        if !depends
            || matches!(
                before,
                "typename" | "using" | "struct" | "class" | "enum" | "public" | "private" | "protected" | "," | ":"
            ) && !is_argument(code, first, before)
        {
            continue;
        }
        let found = code.joined(first..at + 1).replace(' ', "");
        let edit = Edit::new(code.tokens[first].range.start..code.tokens[first].range.start, "typename ");
        let reason = "a type that depends on a parameter of a template";
        all.push(Finding::new(code.tokens[at].line, found, reason, "write typename before the type").with([edit]));
    }
    all
}

/// True if the comma before a name separates arguments or parameters, not bases.
fn is_argument(code: &Code, first: usize, before: &str) -> bool {
    before == "," && crate::names::inside_parentheses(code, first)
}

/// The first token of the qualified name whose last part is at a token, and true if the name depends on a template parameter.
fn qualifier(code: &Code, at: usize) -> Option<(usize, bool)> {
    let end = at.checked_sub(2)?;
    let (open, arguments) = if code.text(end) == ">" { (code.angle_back(end)?, true) } else { (end + 1, false) };
    let name = open.checked_sub(1).filter(|&n| code.is_name(n))?;
    let first = first_of_qualified(code, name)?;
    let templates: Vec<&Template> = code.templates_around(at).collect();
    if templates.is_empty() {
        return Some((first, false));
    }
    let is_parameter = |n: usize| {
        let of = |t: &&Template| t.parameters.iter().any(|(parameter, _)| parameter == code.text(n));
        templates.iter().any(of) && code.before(n) != "::"
    };
    // Inside a class template, the name of the class means the current instantiation.
    if code.around(at).any(|scope| scope.kind == Kind::Class && scope.name == code.text(name)) {
        return Some((first, false));
    }
    let depends = if arguments {
        (open..end).any(is_parameter)
    } else {
        first == name && (is_parameter(name) || is_alias(code, at, name, &is_parameter))
    };
    Some((first, depends))
}

/// The first token of the qualified name that has `name` as a part: `a` for `d` in `a::b<c>::template d`.
fn first_of_qualified(code: &Code, name: usize) -> Option<usize> {
    let mut first = name;
    loop {
        if code.before(first) == "template" {
            first -= 1;
        }
        let before = first.checked_sub(2).filter(|_| code.before(first) == "::");
        first = match before {
            Some(n) if code.text(n) == ">" => code.angle_back(n)?.checked_sub(1)?,
            Some(n) if code.is_name(n) => n,
            _ => return Some(first),
        };
    }
}

/// True if the name is an alias, declared in the enclosing scopes, of a type that depends on a template parameter.
fn is_alias(code: &Code, at: usize, name: usize, is_parameter: &dyn Fn(usize) -> bool) -> bool {
    let around: Vec<std::ops::Range<usize>> =
        code.around(at).filter(|s| s.kind != Kind::Top && s.kind != Kind::Namespace).map(|s| s.body.clone()).collect();
    let inside = |n: usize| around.iter().any(|body| body.contains(&n) && code.scopes[code.scope_of[n]].body == *body);
    let begin = around.last().map_or(at, |outmost| outmost.start);
    for n in begin..at {
        if code.text(n) != code.text(name) || !inside(n) {
            continue;
        }
        if code.text(n + 1) == ";" {
            let begin = (0..n)
                .rev()
                .take_while(|&m| !matches!(code.text(m), ";" | "{" | "}"))
                .find(|&m| code.text(m) == "typedef");
            if let Some(begin) = begin {
                return (begin..n).any(|m| is_parameter(m) || is_dependent_alias_word(code, m, n));
            }
        }
        if code.text(n + 1) == "=" && code.before(n) == "using" {
            return (n..at).take_while(|&m| code.text(m) != ";").any(is_parameter);
        }
    }
    false
}

/// True if a word of an alias's type is itself an alias of a dependent type in the same class.
fn is_dependent_alias_word(code: &Code, at: usize, limit: usize) -> bool {
    let Some(scope) = code.scope_of.get(at) else { return false };
    let parameters: HashSet<&str> =
        code.templates_around(at).flat_map(|t| t.parameters.iter().map(|(name, _)| name.as_str())).collect();
    (1..limit.min(at)).any(|n| {
        let declares =
            code.text(n) == code.text(at) && code.is_name(n) && code.text(n + 1) == ";" && code.scope_of[n] == *scope;
        let begin =
            (0..n).rev().take_while(|&m| !matches!(code.text(m), ";" | "{" | "}")).find(|&m| code.text(m) == "typedef");
        declares && begin.is_some_and(|begin| (begin..n).any(|m| parameters.contains(code.text(m))))
    })
}

/// Finds unqualified names of members of a base that depends on a template parameter.
pub fn base_members(source: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for scope in code.scopes.iter().filter(|scope| scope.kind == Kind::Class) {
        let inherited = inherited(source, code, scope);
        if inherited.is_empty() {
            continue;
        }
        for at in scope.body.clone() {
            let name = code.text(at);
            let Some((base, member)) = inherited.get(name) else { continue };
            if !is_bare_use(code, scope, at) || is_local(source, code, scope, at) {
                continue;
            }
            let start = code.tokens[at].range.start;
            let (replacement, edit) = match member {
                Member::NonStatic => (format!("this->{name}"), Some(Edit::new(start..start, "this->"))),
                Member::Static => (format!("{base}::{name}"), None),
                Member::Type => (format!("typename {base}::{name}"), None),
            };
            let reason = "a member of a base class that depends on a template parameter; compilers do not look up \
                          names in such a base class";
            all.push(Finding::new(code.tokens[at].line, name, reason, replacement).with(edit));
        }
    }
    all
}

/// The members that a class inherits from bases that depend on its template parameters. Maps the name of each member
/// to the base and the kind of member.
fn inherited<'s>(source: &'s Source, code: &Code, scope: &Scope) -> HashMap<&'s str, (String, Member)> {
    let parameters: HashSet<&str> = code
        .templates_around(scope.head.start)
        .chain(code.templates.iter().filter(|t| t.close + 1 == scope.head.start))
        .flat_map(|t| t.parameters.iter().map(|(name, _)| name.as_str()))
        .collect();
    let Some(colon) = scope.head.clone().find(|&n| code.text(n) == ":") else { return HashMap::new() };
    let mut found = HashMap::new();
    for part in code.split(colon + 1..scope.head.end) {
        let open = part.clone().find(|&n| code.text(n) == "<");
        if let Some(open) = open.filter(|&open| (open..part.end).any(|n| parameters.contains(code.text(n)))) {
            let is_access = |n: &usize| matches!(code.text(*n), "public" | "protected" | "private" | "virtual");
            let base = tidy(&code.joined(part.start + part.clone().take_while(is_access).count()..part.end));
            let mut waiting = vec![code.text(open - 1)];
            let mut seen = HashSet::new();
            while let Some(class) =
                waiting.pop().and_then(|name| source.names.classes.get(name).filter(|_| seen.insert(name.to_owned())))
            {
                // A derived class hides members of its bases.
                for (name, member) in &class.members {
                    found.entry(name.as_str()).or_insert_with(|| (base.clone(), *member));
                }
                waiting.extend(class.bases.iter().map(String::as_str));
            }
        }
    }
    found
}

/// True if the name is used unqualified in the body of a member function.
fn is_bare_use(code: &Code, scope: &Scope, at: usize) -> bool {
    let in_function =
        code.around(at).take_while(|around| around.body != scope.body).any(|around| around.kind == Kind::Block);
    in_function && !matches!(code.before(at), "." | "->" | "::" | "typename" | "class" | "struct")
}

/// True if the class, one of its functions or the global scope declares the name too.
fn is_local(source: &Source, code: &Code, scope: &Scope, at: usize) -> bool {
    let name = code.text(at);
    let is_using = |n: usize| {
        code.text(n) == name && code.before(n) == "::" && code.text(n + 1) == ";" && code.kind(n) == Kind::Class
    };
    let own = source.names.classes.get(&scope.name).is_some_and(|class| class.members.contains_key(name))
        || scope.body.clone().any(is_using);
    let is_declared = |n: usize| {
        code.text(n) == name
            && code.is_name(n.wrapping_sub(1))
            && !crate::functions::is_non_type_keyword(code.before(n))
            || code.text(n) == name
                && matches!(code.before(n), "*" | "&" | ">")
                && !matches!(code.text(n + 1), "(" | "[")
                && crate::names::inside_parentheses(code, n)
    };
    let global = source.names.functions_named(name).iter().any(|f| !f.is_member);
    own || global || scope.body.clone().take_while(|&n| n < at).any(is_declared)
}

/// Finds functions that are declared after the template that calls them, unless argument-dependent lookup may find them.
pub fn late_functions(source: &Source, code: &Code) -> Vec<Finding> {
    let declared_functions = crate::functions::functions(code);
    let mut all = Vec::new();
    for at in 1..code.tokens.len() {
        let name = code.text(at);
        let is_call =
            code.text(at + 1) == "(" && code.kind(at) == Kind::Block && !matches!(code.before(at), "." | "->" | "::");
        let templates = || code.templates_around(at);
        if !is_call
            || !code.is_name(at)
            || code.is_name(at - 1) && !crate::functions::is_non_type_keyword(code.before(at))
            || templates().next().is_none()
        {
            continue;
        }
        let end = templates().map(|t| t.end).max().unwrap_or(at);
        let declared = source.names.functions_named(name);
        let same_name: Vec<_> = declared_functions.iter().filter(|f| f.name == name).collect();
        let is_late = !same_name.is_empty()
            && same_name.len() == declared.len()
            && same_name.iter().all(|f| f.at > end && !f.is_member);
        // When the template is instantiated, argument-dependent lookup finds functions whose parameters have class types of the program.
        let is_plain = |f: &&crate::functions::Function| {
            f.parameters.iter().all(|p| {
                !source
                    .names
                    .types
                    .iter()
                    .any(|t| p.text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == t))
            })
        };
        if is_late
            && same_name.iter().all(is_plain)
            && !source.names.macros.contains(name)
            && !source.names.types.contains(name)
        {
            let reason = "a function that is declared after the template that uses it; names in a template are looked \
                          up where the template is defined";
            all.push(Finding::new(
                code.tokens[at].line,
                format!("{name}("),
                reason,
                format!("move the declaration of {name} before the template"),
            ));
        }
    }
    all
}

/// Finds explicit specialisations in a class: `template <> struct a<0>`.
pub fn specialisations(_: &Source, code: &Code) -> Vec<Finding> {
    let is_explicit_specialisation = |at: usize| {
        code.text(at) == "template"
            && code.text(at + 1) == "<"
            && code.text(at + 2) == ">"
            && code.kind(at) == Kind::Class
    };
    let finding_at = |at: usize| {
        let (found, reason) = (
            "template <> in a class",
            "GCC accepts explicit specialisations only in namespaces; revamp-c++ also accepts them in classes",
        );
        Finding::new(
            code.tokens[at].line,
            found,
            reason,
            "write the specialisation after the class, or use a partial specialisation",
        )
        .as_note()
    };
    (0..code.tokens.len()).filter(|&at| is_explicit_specialisation(at)).map(finding_at).collect()
}
