//! The functions that a source declares, and their parameters.

use crate::syntax::{Code, Kind};
use std::ops::Range;

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The parameter's type, without its name.
    pub text: String,
    /// True if the parameter is a reference that is neither const nor an rvalue reference.
    pub is_mutable_reference: bool,
    /// True if the parameter has a default argument.
    pub has_default: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The token of its name.
    pub at: usize,
    /// True if the function is a member of a class.
    pub is_member: bool,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// True if the function returns an object: not a reference, a pointer or void.
    pub returns_value: bool,
    /// For a function with `restrict(...)`: true if it lists `amp`, and true if it lists `cpu`.
    pub restriction: Option<(bool, bool)>,
}

/// Keywords that are not types. A name or parenthesis after one of them does not declare anything.
const NOT_TYPES: [&str; 26] = [
    "return",
    "else",
    "case",
    "new",
    "delete",
    "throw",
    "goto",
    "typename",
    "sizeof",
    "using",
    "co_return",
    "co_await",
    "if",
    "while",
    "for",
    "switch",
    "do",
    "not",
    "and",
    "or",
    "catch",
    "typedef",
    "operator",
    "public",
    "private",
    "protected",
];

/// True for a keyword that cannot be the type of a declaration.
pub fn is_non_type_keyword(word: &str) -> bool {
    NOT_TYPES.contains(&word)
}

/// True if the `->` at a token begins the return type of a function or lambda, and is not a member access.
pub fn is_trailing_return(code: &Code, arrow: usize) -> bool {
    let mut end = arrow;
    while matches!(code.before(end), "const" | "mutable" | "noexcept") {
        end -= 1;
    }
    let Some(open) = end.checked_sub(1).filter(|&n| code.text(n) == ")").and_then(|n| code.pair(n)) else {
        return false;
    };
    match code.before(open) {
        "restrict" | "noexcept" | "throw" => open < end && is_trailing_return(code, open - 1),
        // A lambda's `]`, not the `]` of an element access.
        "]" => code.pair(open - 1).is_some_and(|begin| {
            let before = code.before(begin);
            !matches!(before, ")" | "]") && (begin == 0 || !code.is_name(begin - 1) || is_non_type_keyword(before))
        }),
        _ => (0..open)
            .rev()
            .map(|n| code.text(n))
            .take_while(|text| !matches!(*text, ";" | "{" | "}" | "=" | "(" | ")"))
            .any(|text| text == "auto"),
    }
}

/// All functions that the source declares in namespaces and classes.
pub fn functions(code: &Code) -> Vec<Function> {
    (0..code.tokens.len()).filter_map(|at| function_at(code, at)).collect()
}

fn function_at(code: &Code, at: usize) -> Option<Function> {
    let kind = code.kind(at);
    if code.text(at + 1) != "("
        || !code.is_name(at)
        || is_non_type_keyword(code.text(at))
        || !matches!(kind, Kind::Top | Kind::Namespace | Kind::Class)
    {
        return None;
    }
    let before = code.before(at);
    let is_typed =
        at > 0 && (code.is_name(at - 1) && !is_non_type_keyword(before) || matches!(before, "*" | "&" | ">"));
    if !is_typed {
        return None;
    }
    let close = code.pair(at + 1)?;
    let is_declaration_end = matches!(
        code.text(close + 1),
        ";" | "{" | "=" | "const" | "restrict" | "override" | "final" | "noexcept" | "throw" | "->" | "abstract"
    );
    // If a parameter is an expression, the code declares a variable with an initialiser: `T a(1);`.
    let parts = code.split(at + 2..close);
    let parameters: Option<Vec<Parameter>> = parts.iter().map(|part| parameter(code, part)).collect();
    let parameters = parameters.filter(|_| is_declaration_end)?.into_iter().filter(|p| p.text != "void").collect();
    let restriction = (close + 1..code.tokens.len())
        .take_while(|&n| !matches!(code.text(n), ";" | "{" | "}"))
        .find(|&n| code.text(n) == "restrict");
    let restriction = restriction.and_then(|n| Some((n, code.pair(n + 1)?))).map(|(n, end)| {
        let has = |word| (n..end).any(|m| code.text(m) == word);
        (has("amp"), has("cpu"))
    });
    Some(Function {
        name: code.text(at).to_owned(),
        at,
        is_member: kind == Kind::Class,
        parameters,
        returns_value: !matches!(before, "&" | "*") && before != "void",
        restriction,
    })
}

/// The parameter in a range of tokens; `None` if the tokens are an expression.
fn parameter(code: &Code, range: &Range<usize>) -> Option<Parameter> {
    let end = range.clone().find(|&n| code.text(n) == "=").unwrap_or(range.end);
    let types = range.start..end;
    if types.is_empty() || !types.clone().any(|n| code.is_name(n) || code.text(n) == ".") {
        return None;
    }
    if types.clone().any(|n| {
        matches!(code.text(n), "+" | "-" | "\"\"" | "?" | "!")
            || code.text(n).starts_with(|c: char| c.is_ascii_digit())
                && code.before(n) != "<"
                && code.before(n) != "["
                && code.before(n) != ","
    }) {
        return None;
    }
    // The parameter's name is the last token, after the type.
    let mut last = end;
    while last > types.start + 1 && code.text(last - 1) == "]" {
        last = code.pair(last - 1)?;
    }
    let has_name = last > types.start + 1
        && code.is_name(last - 1)
        && (matches!(code.before(last - 1), "*" | "&" | ">")
            || code.is_name(last - 2)
                && !matches!(code.before(last - 1), "const" | "unsigned" | "struct" | "class" | "typename"));
    let types = if has_name { types.start..last - 1 } else { types };
    let is_reference = code.before(types.end) == "&" && code.text(types.end.wrapping_sub(2)) != "&";
    let is_constant = code.text(types.start) == "const" || types.end >= 2 && code.text(types.end - 2) == "const";
    let text = code.joined(types);
    Some(Parameter {
        text: tidy(&text),
        is_mutable_reference: is_reference && !is_constant,
        has_default: end < range.end,
    })
}

/// Removes blanks between joined tokens where C++ is usually written without blanks.
pub fn tidy(text: &str) -> String {
    let pairs = [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" [ ", "["),
        (" ]", "]"),
        (" . ", "."),
        (" -> ", "->"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    #[test]
    fn declared_functions() {
        let source = "namespace n { float f(float x) restrict(cpu); std::vector<int> g(std::vector<T> &v, const T &c, int n = 0) { h(1); } \
                      int &k(T &&t); extern T a(1); struct s { void m(unsigned, float v[3]) const; s(int); }; } T b(c + d); return e(f);";
        let code = Code::read(&lex(source));
        let found: Vec<String> = functions(&code)
            .iter()
            .map(|f| {
                let parameters: Vec<String> = f
                    .parameters
                    .iter()
                    .map(|p| format!("{}{}", p.text, if p.is_mutable_reference { "!" } else { "" }))
                    .collect();
                format!("{}({}) {} {:?}", f.name, parameters.join("; "), f.returns_value, f.restriction)
            })
            .collect();
        let expected = [
            "f(float) true Some((false, true))",
            "g(std::vector<T> &!; const T &; int) true None",
            "k(T & &) false None",
            "m(unsigned; float) false None",
        ];
        assert_eq!(found, expected);
    }
}
