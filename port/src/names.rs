//! What a program declares itself, which has nothing to do with the names of Windows.

use crate::functions::{Function, functions, is_no_type};
use crate::lex::{Token, parts};
use crate::syntax::{Code, Kind};
use std::collections::{HashMap, HashSet};

/// A class that the program declares.
#[derive(Clone, Default)]
pub struct Class {
    /// The last names of its bases.
    pub bases: Vec<String>,
    /// Its members by name.
    pub members: HashMap<String, Member>,
}

/// A member of a class. Of overloads the greatest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Member {
    /// A variable or function of its objects.
    OfObjects,
    /// A variable or function that is static.
    Static,
    /// A type.
    Type,
}

/// The names that sources declare.
#[derive(Clone, Default)]
pub struct Names {
    /// Macros.
    pub macros: HashSet<String>,
    /// Those that use `#` or `##`, or others that do: the spelling of their arguments counts.
    pub stringizing: HashSet<String>,
    /// Classes, enumerations and aliases.
    pub types: HashSet<String>,
    /// Functions and variables that are no members, parameters and enumerators.
    pub words: HashSet<String>,
    /// Functions by name.
    pub functions: HashMap<String, Vec<Function>>,
    /// Classes by name.
    pub classes: HashMap<String, Class>,
}

/// Where every program has a function of this name.
const ENTRIES: [&str; 6] = ["_tmain", "wmain", "WinMain", "wWinMain", "_tWinMain", "DllMain"];
/// What stands before a type, not before a name.
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
    /// The program declares the name.
    pub fn has(&self, name: &str) -> bool {
        self.macros.contains(name) || self.types.contains(name) || self.words.contains(name)
    }

    /// A class of the program has a member of the name.
    pub fn has_member(&self, name: &str) -> bool {
        self.classes.values().any(|class| class.members.contains_key(name))
    }

    /// The functions of a name.
    pub fn functions_named(&self, name: &str) -> &[Function] {
        self.functions.get(name).map_or(&[], Vec::as_slice)
    }

    /// Adds the names that an includer declares. Its functions may be declared behind the file.
    pub fn extend(&mut self, other: &Self) {
        self.macros.extend(other.macros.iter().cloned());
        self.stringizing.extend(other.stringizing.iter().cloned());
        self.types.extend(other.types.iter().cloned());
        self.words.extend(other.words.iter().cloned());
        self.classes.extend(other.classes.iter().map(|(name, class)| (name.clone(), class.clone())));
    }

    /// Adds what a file declares.
    pub fn learn(&mut self, tokens: &[Token]) {
        self.learn_macros(&definitions(tokens));
        let code = Code::read(tokens);
        for at in 0..code.tokens.len() {
            self.learn_type(&code, at);
            if let Some(word) = declared(&code, at) {
                let is_member = code.kind(at) == Kind::Class && !inside_parentheses(&code, at);
                match code.around(at).next().filter(|_| is_member) {
                    Some(class) => {
                        let members = &mut self.classes.entry(class.name.clone()).or_default().members;
                        let member = members.entry(word).or_insert(Member::OfObjects);
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

    fn learn_macros(&mut self, definitions: &[&[Token]]) {
        self.macros.extend(definitions.iter().map(|definition| definition[2].text.clone()));
        let mut known = usize::MAX;
        while known != self.stringizing.len() {
            known = self.stringizing.len();
            for definition in definitions {
                let is_stringizing = |t: &Token| t.text.starts_with('#') || self.stringizing.contains(&t.text);
                if definition[3..].iter().any(is_stringizing) {
                    self.stringizing.insert(definition[2].text.clone());
                }
            }
        }
    }

    fn learn_type(&mut self, code: &Code, at: usize) {
        let name = match code.text(at) {
            "using" if code.text(at + 2) == "=" => Some(at + 1),
            "DECLARE_HANDLE" if code.text(at + 1) == "(" => Some(at + 2),
            "typedef" => {
                let end =
                    (at..code.tokens.len()).find(|&n| code.text(n) == ";" && code.scope_of[n] == code.scope_of[at]);
                let function = end.and_then(|end| {
                    (at..end).find(|&n| code.text(n) == "*" && code.text(n + 2) == ")" && code.is_name(n + 1))
                });
                // All of `typedef struct _A { } A, *B;`.
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

/// What is declared at a token of a class.
fn member_at(code: &Code, at: usize) -> Member {
    let declaration = (0..at).rev().map(|n| code.text(n)).take_while(|text| !matches!(*text, ";" | "{" | "}"));
    let of = |text| match text {
        "typedef" => Member::Type,
        "static" => Member::Static,
        _ => Member::OfObjects,
    };
    declaration.map(of).max().unwrap_or(Member::OfObjects)
}

/// The directives that define macros: `#`, `define`, the name and the rest.
pub fn definitions(tokens: &[Token]) -> Vec<&[Token]> {
    let is_definition = |part: &&[Token]| part.len() > 2 && part[0].begins_directive && part[1].text == "define";
    parts(tokens).into_iter().map(|part| &tokens[part]).filter(is_definition).collect()
}

/// The last names of the bases in the head of a class.
fn bases(code: &Code, head: std::ops::Range<usize>) -> Vec<String> {
    let Some(colon) = head.clone().find(|&n| code.text(n) == ":") else { return Vec::new() };
    let last = |part: std::ops::Range<usize>| {
        let end = part.clone().find(|&n| code.text(n) == "<").unwrap_or(part.end);
        code.text(end - 1).to_owned()
    };
    code.split(colon + 1..head.end).into_iter().filter(|part| !part.is_empty()).map(last).collect()
}

/// A parenthesis is open at a token within its scope.
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

/// The name that is declared at a token.
fn declared(code: &Code, at: usize) -> Option<String> {
    let (name, before, after) = (code.text(at), code.before(at), code.text(at + 1));
    if !code.is_name(at) || name.starts_with("__") || ENTRIES.contains(&name) || is_no_type(name) {
        return None;
    }
    if code.kind(at) == Kind::Enum {
        return matches!(before, "{" | ",").then(|| name.to_owned());
    }
    if !matches!(after, ";" | "=" | "(" | "{" | "[" | "," | ")" | ":") || at == 0 {
        return None;
    }
    let of_type = code.is_name(at - 1) && !is_no_type(before) && !BEFORE_TYPES.contains(&before);
    // `a & B)` and `a * B(c)` are expressions.
    let is_constant = !name.contains(|c: char| c.is_lowercase());
    let of_pointer =
        matches!(before, "*" | "&" | ">") && !is_constant && (after != "(" || code.kind(at) != Kind::Inner);
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
        names.learn(&lex(source));
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
