//! The names that a program declares itself. A name of Windows needs no edit if the program declares it.

use crate::functions::{Function, functions, is_non_type_keyword};
use crate::lex::{Token, parts};
use crate::syntax::{Code, Kind};
use std::collections::{HashMap, HashSet};

/// A class that the program declares.
#[derive(Clone, Default)]
pub struct Class {
    /// The names of its bases, without qualifiers and template arguments.
    pub bases: Vec<String>,
    /// Its members by name.
    pub members: HashMap<String, Member>,
}

/// The kind of a class member. If a name has several declarations, the greatest kind counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Member {
    /// A non-static variable or function.
    NonStatic,
    /// A static variable or function.
    Static,
    /// A type.
    Type,
}

/// The names that sources declare.
#[derive(Clone, Default)]
pub struct Names {
    /// Macros.
    pub macros: HashSet<String>,
    /// Macros that use `#` or `##`, directly or through other macros, so that the spelling of their arguments matters.
    pub stringizing: HashSet<String>,
    /// Classes, enumerations and aliases.
    pub types: HashSet<String>,
    /// Non-member functions and variables, parameters and enumerators.
    pub words: HashSet<String>,
    /// Functions by name.
    pub functions: HashMap<String, Vec<Function>>,
    /// Classes by name.
    pub classes: HashMap<String, Class>,
}

/// Entry points of Windows programs, whose names do not count as the program's own.
const WINDOWS_ENTRY_POINTS: [&str; 6] = ["_tmain", "wmain", "WinMain", "wWinMain", "_tWinMain", "DllMain"];
/// Keywords that may precede a type. A name after one of them is a type, not a declared name.
const BEFORE_TYPES: [&str; 18] = [
    "const",
    "volatile",
    "unsigned",
    "signed",
    "static",
    "extern",
    "inline",
    "struct",
    "class",
    "enum",
    "mutable",
    "constexpr",
    "virtual",
    "explicit",
    "friend",
    "register",
    "union",
    "namespace",
];

impl Names {
    /// True if the program declares the name.
    pub fn has(&self, name: &str) -> bool {
        self.macros.contains(name) || self.types.contains(name) || self.words.contains(name)
    }

    /// True if a class of the program has a member of this name.
    pub fn has_member(&self, name: &str) -> bool {
        self.classes.values().any(|class| class.members.contains_key(name))
    }

    /// The functions of this name.
    pub fn functions_named(&self, name: &str) -> &[Function] {
        self.functions.get(name).map_or(&[], Vec::as_slice)
    }

    /// Adds the names of `other`, a source that includes this one. Functions are not added: the source may declare them after the `#include`.
    pub fn extend(&mut self, other: &Self) {
        self.macros.extend(other.macros.iter().cloned());
        self.stringizing.extend(other.stringizing.iter().cloned());
        self.types.extend(other.types.iter().cloned());
        self.words.extend(other.words.iter().cloned());
        self.classes.extend(other.classes.iter().map(|(name, class)| (name.clone(), class.clone())));
    }

    /// Adds the names that a file declares.
    pub fn add_file(&mut self, tokens: &[Token]) {
        self.add_macros(&definitions(tokens));
        let code = Code::read(tokens);
        for at in 0..code.tokens.len() {
            self.add_type(&code, at);
            if let Some(word) = declared_name(&code, at) {
                let is_member = code.kind(at) == Kind::Class && !inside_parentheses(&code, at);
                match code.around(at).next().filter(|_| is_member) {
                    Some(class) => {
                        let members = &mut self.classes.entry(class.name.clone()).or_default().members;
                        let member = members.entry(word).or_insert(Member::NonStatic);
                        *member = (*member).max(member_at(&code, at));
                    }
                    None => drop(self.words.insert(word)),
                }
            }
        }
        for scope in code.scopes.iter().filter(|scope| scope.kind == Kind::Class) {
            let class = self.classes.entry(scope.name.clone()).or_default();
            class.bases.extend(bases(&code, scope.head.clone()));
        }
        for function in functions(&code) {
            self.functions.entry(function.name.clone()).or_default().push(function);
        }
    }

    fn add_macros(&mut self, definitions: &[&[Token]]) {
        self.macros.extend(definitions.iter().map(|definition| definition[2].text.clone()));
        let mut previous_count = usize::MAX;
        while previous_count != self.stringizing.len() {
            previous_count = self.stringizing.len();
            for definition in definitions {
                let is_stringizing = |t: &Token| t.text.starts_with('#') || self.stringizing.contains(&t.text);
                if definition[3..].iter().any(is_stringizing) {
                    self.stringizing.insert(definition[2].text.clone());
                }
            }
        }
    }

    fn add_type(&mut self, code: &Code, at: usize) {
        let name = match code.text(at) {
            "using" if code.text(at + 2) == "=" => Some(at + 1),
            "DECLARE_HANDLE" if code.text(at + 1) == "(" => Some(at + 2),
            "typedef" => {
                let end =
                    (at..code.tokens.len()).find(|&n| code.text(n) == ";" && code.scope_of[n] == code.scope_of[at]);
                let function = end.and_then(|end| {
                    (at..end).find(|&n| code.text(n) == "*" && code.text(n + 2) == ")" && code.is_name(n + 1))
                });
                // All names of `typedef struct _A { } A, *B;`.
                if let Some(brace) = end.and_then(|end| (at..end).rfind(|&n| code.text(n) == "}")) {
                    let last = (brace..).take_while(|&n| code.text(n) != ";" && n < code.tokens.len());
                    self.types.extend(last.filter(|&n| code.is_name(n)).map(|n| code.text(n).to_owned()));
                }
                function.map(|n| n + 1).or(end.map(|end| end - 1))
            }
            _ => None,
        };
        self.types.extend(name.filter(|&n| code.is_name(n)).map(|n| code.text(n).to_owned()));
        if code.text(at) == "{" {
            let scope = code.scopes.binary_search_by_key(&at, |scope| scope.body.start).ok().map(|n| &code.scopes[n]);
            let named = scope.filter(|scope| matches!(scope.kind, Kind::Class | Kind::Enum) && !scope.name.is_empty());
            self.types.extend(named.map(|scope| scope.name.clone()));
        }
        if matches!(code.text(at), "class" | "struct" | "enum") && code.text(at + 2) == ";" {
            self.types.insert(code.text(at + 1).to_owned());
        }
    }
}

/// The kind of the member that is declared at a token of a class.
fn member_at(code: &Code, at: usize) -> Member {
    let declaration = (0..at).rev().map(|n| code.text(n)).take_while(|text| !matches!(*text, ";" | "{" | "}"));
    let of = |text| match text {
        "typedef" => Member::Type,
        "static" => Member::Static,
        _ => Member::NonStatic,
    };
    declaration.map(of).max().unwrap_or(Member::NonStatic)
}

/// The directives that define macros: `#`, `define`, the name and the rest.
pub fn definitions(tokens: &[Token]) -> Vec<&[Token]> {
    let is_definition = |part: &&[Token]| part.len() > 2 && part[0].begins_directive && part[1].text == "define";
    parts(tokens).into_iter().map(|part| &tokens[part]).filter(is_definition).collect()
}

/// The names of the bases in the head of a class, without qualifiers and template arguments.
fn bases(code: &Code, head: std::ops::Range<usize>) -> Vec<String> {
    let Some(colon) = head.clone().find(|&n| code.text(n) == ":") else { return Vec::new() };
    let last = |part: std::ops::Range<usize>| {
        let end = part.clone().find(|&n| code.text(n) == "<").unwrap_or(part.end);
        code.text(end - 1).to_owned()
    };
    code.split(colon + 1..head.end).into_iter().filter(|part| !part.is_empty()).map(last).collect()
}

/// True if the token's innermost scope has parentheses around the token.
pub fn inside_parentheses(code: &Code, at: usize) -> bool {
    let mut n = at;
    while let Some(before) = n.checked_sub(1) {
        match code.text(before) {
            "(" => return true,
            ")" | "]" | "}" => n = code.pair(before).filter(|&open| open < before).unwrap_or(before),
            "{" | ";" => return false,
            _ => n = before,
        }
    }
    false
}

/// The name at a token, if the token declares it.
fn declared_name(code: &Code, at: usize) -> Option<String> {
    let (name, before, after) = (code.text(at), code.before(at), code.text(at + 1));
    if !code.is_name(at) || name.starts_with("__") || WINDOWS_ENTRY_POINTS.contains(&name) || is_non_type_keyword(name)
    {
        return None;
    }
    if code.kind(at) == Kind::Enum {
        return matches!(before, "{" | ",").then(|| name.to_owned());
    }
    if !matches!(after, ";" | "=" | "(" | "{" | "[" | "," | ")" | ":") || at == 0 {
        return None;
    }
    let of_type = code.is_name(at - 1) && !is_non_type_keyword(before) && !BEFORE_TYPES.contains(&before);
    // `a & B)` and `a * B(c)` are expressions.
    let is_constant = !name.contains(|c: char| c.is_lowercase());
    let of_pointer =
        matches!(before, "*" | "&" | ">") && !is_constant && (after != "(" || code.kind(at) != Kind::Block);
    let of_list = before == "," && code.kind(at) == Kind::Class && !is_constant && !inside_parentheses(code, at);
    (of_type || of_pointer || of_list).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    #[test]
    fn declared_names() {
        let source = "#define M 1\ntypedef unsigned char BYTE; using W = int; struct POINT { int x, y; void Sleep(); }; typedef struct _A { } A, *B;\n\
                      enum { ERROR_MARGIN = 4, LAST }; void CreateEvent(int event); typedef int(CALL *PFN)(int); class C : public std::vector<int>, N::D { };\n\
                      int _tmain(); void f() { g(x & FLAG); return FALSE; a = b * DWORD(3); (unsigned __int64)n; const BOOL ok = TRUE; Beep(1); }";
        let mut names = Names::default();
        names.add_file(&lex(source));
        for name in
            ["M", "BYTE", "W", "POINT", "A", "B", "ERROR_MARGIN", "LAST", "CreateEvent", "event", "PFN", "C", "f", "ok"]
        {
            assert!(names.has(name), "{name}");
        }
        for name in ["Sleep", "FLAG", "FALSE", "DWORD", "__int64", "BOOL", "TRUE", "Beep", "_tmain", "CALL", "g", "x"] {
            assert!(!names.has(name), "{name}");
        }
        assert!(["x", "y", "Sleep"].iter().all(|member| names.classes["POINT"].members.contains_key(*member)));
        assert_eq!(names.classes["C"].bases, ["vector", "D"]);
    }
}
