//! The structure of a source's tokens: brackets, scopes and templates.

use crate::lex::Token;
use revamp_source::brackets::Brackets;
use std::ops::Range;

/// The kind of a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The whole source.
    Top,
    /// A namespace, or `extern "C"`.
    Namespace,
    /// A class, a struct or a union.
    Class,
    /// An enumeration.
    Enum,
    /// A function, a block or an initialiser.
    Block,
}

/// A scope: a pair of braces (its body), and the tokens before the braces that belong to it (its head). Positions are indices of tokens.
#[derive(Debug)]
pub struct Scope {
    /// Its kind.
    pub kind: Kind,
    /// The scope's name; empty if it has none.
    pub name: String,
    /// The tokens of the head, up to the opening brace.
    pub head: Range<usize>,
    /// The tokens of the body, from the opening brace to before the closing brace.
    pub body: Range<usize>,
    /// The index of the enclosing scope.
    pub parent: usize,
}

/// A template, from the word `template` to the end of the declaration. Positions are indices of tokens.
#[derive(Debug)]
pub struct Template {
    /// The word `template`.
    pub start: usize,
    /// The `>` that closes its parameter list.
    pub close: usize,
    /// The last token of the declaration.
    pub end: usize,
    /// Its parameters: the name, and the tokens before the name.
    pub parameters: Vec<(String, String)>,
}

/// The tokens of a source without directives, and their structure.
pub struct Code {
    /// All tokens outside of directives.
    pub tokens: Vec<Token>,
    brackets: Brackets,
    /// All scopes; the first is the whole source.
    pub scopes: Vec<Scope>,
    /// For each token, the index of its innermost scope.
    pub scope_of: Vec<usize>,
    /// All templates, in order.
    pub templates: Vec<Template>,
}

impl Code {
    /// Reads the tokens of a source.
    pub fn read(tokens: &[Token]) -> Self {
        let tokens: Vec<Token> = tokens.iter().filter(|t| !t.directive).cloned().collect();
        let brackets = Brackets::of(tokens.iter().map(|t| t.text.as_str()));
        let mut code = Self { tokens, brackets, scopes: Vec::new(), scope_of: Vec::new(), templates: Vec::new() };
        code.find_templates();
        code.find_scopes();
        code
    }

    /// The text of a token; empty after the last token.
    pub fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| t.text.as_str())
    }

    /// The text of the token before `at`; empty at the first token.
    pub fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |n| self.text(n))
    }

    /// True if the token is a name or a keyword.
    pub fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_name)
    }

    /// The bracket that matches the bracket at a token: `(`, `[`, `{` or a closing one.
    pub fn pair(&self, at: usize) -> Option<usize> {
        self.brackets.pair(at)
    }

    /// The texts of the tokens, separated by blanks.
    pub fn joined(&self, range: Range<usize>) -> String {
        let texts: Vec<&str> = range.map(|n| self.text(n)).collect();
        texts.join(" ")
    }

    /// The `>` that matches a `<`, if the `<` opens template arguments.
    pub fn angle(&self, at: usize) -> Option<usize> {
        self.brackets.angle(at, |n| self.text(n))
    }

    /// The `<` that matches a `>`.
    pub fn angle_back(&self, at: usize) -> Option<usize> {
        self.brackets.angle_back(at, |n| self.text(n))
    }

    /// Splits a range at commas outside of brackets.
    pub fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let (mut start, mut n) = (range.start, range.start);
        while n < range.end {
            match self.text(n) {
                "(" | "[" | "{" => n = self.pair(n).unwrap_or(n),
                "<" => n = self.angle(n).filter(|&close| close < range.end).unwrap_or(n),
                "," => {
                    found.push(start..n);
                    start = n + 1;
                }
                _ => {}
            }
            n += 1;
        }
        if start < range.end {
            found.push(start..range.end);
        }
        found
    }

    /// The scopes around a token, from the innermost.
    pub fn around(&self, at: usize) -> impl Iterator<Item = &Scope> {
        let mut next = self.scope_of.get(at).copied();
        std::iter::from_fn(move || {
            let scope = &self.scopes[next?];
            next = (scope.kind != Kind::Top).then_some(scope.parent);
            Some(scope)
        })
    }

    /// The kind of a token's innermost scope.
    pub fn kind(&self, at: usize) -> Kind {
        self.scope_of.get(at).map_or(Kind::Top, |&scope| self.scopes[scope].kind)
    }

    /// The templates around a token.
    pub fn templates_around(&self, at: usize) -> impl Iterator<Item = &Template> {
        self.templates.iter().filter(move |t| t.start < at && at <= t.end)
    }

    fn find_templates(&mut self) {
        for at in 0..self.tokens.len() {
            if self.text(at) != "template" || self.text(at + 1) != "<" {
                continue;
            }
            let Some(close) = self.angle(at + 1) else { continue };
            let mut parameters = Vec::new();
            for part in self.split(at + 2..close) {
                let end = part.clone().find(|&n| self.text(n) == "=").unwrap_or(part.end);
                if end > part.start && self.is_name(end - 1) {
                    parameters.push((self.text(end - 1).to_owned(), self.joined(part.start..end - 1)));
                }
            }
            self.templates.push(Template { start: at, close, end: self.end_of_declaration(close + 1), parameters });
        }
    }

    /// The `;`, or the `}` of the body, that ends a declaration.
    fn end_of_declaration(&self, from: usize) -> usize {
        let mut n = from;
        while n < self.tokens.len() {
            match self.text(n) {
                ";" => return n,
                "(" | "[" => n = self.pair(n).unwrap_or(n),
                "{" => return self.pair(n).unwrap_or(n),
                "}" => return n,
                _ => {}
            }
            n += 1;
        }
        self.tokens.len()
    }

    fn find_scopes(&mut self) {
        let whole = 0..self.tokens.len();
        self.scopes.push(Scope { kind: Kind::Top, name: String::new(), head: 0..0, body: whole, parent: 0 });
        let mut open = vec![0];
        for at in 0..self.tokens.len() {
            while open.len() > 1 && open.last().is_some_and(|&scope| self.scopes[scope].body.end < at) {
                open.pop();
            }
            let current = open.last().copied().unwrap_or(0);
            self.scope_of.push(current);
            if self.text(at) == "{" {
                let mut scope = self.scope_at(at);
                scope.parent = current;
                if self.scopes[current].kind == Kind::Block && scope.kind == Kind::Namespace {
                    scope.kind = Kind::Block;
                }
                self.scopes.push(scope);
                open.push(self.scopes.len() - 1);
            }
        }
    }

    /// The scope that a brace opens.
    fn scope_at(&self, brace: usize) -> Scope {
        let mut start = brace;
        while start > 0 && !matches!(self.text(start - 1), ";" | "{" | "}") {
            start = match self.text(start - 1) {
                ")" | "]" => self.pair(start - 1).filter(|&p| p < start).unwrap_or(start - 1),
                _ => start - 1,
            };
        }
        let body = brace..self.pair(brace).unwrap_or(self.tokens.len());
        let mut from = start;
        while self.text(from) == "template" && self.text(from + 1) == "<" {
            from = self.angle(from + 1).map_or(brace, |close| close + 1);
        }
        let find = |words: &[&str]| (from..brace).find(|&n| words.contains(&self.text(n)));
        let first_call = self.first_call(from, brace);
        let class = find(&["class", "struct", "union", "__interface"]);
        let (kind, at) = if let Some(at) = find(&["namespace"]) {
            (Kind::Namespace, at)
        } else if self.text(brace.wrapping_sub(1)) == "\"\"" && self.text(brace.wrapping_sub(2)) == "extern" {
            (Kind::Namespace, brace)
        } else if let Some(at) = find(&["enum"]) {
            (Kind::Enum, at)
        } else if let Some(at) =
            class.filter(|&at| first_call.is_none_or(|call| call > at && self.is_base_list(at, call)))
        {
            (Kind::Class, at)
        } else {
            (Kind::Block, brace)
        };
        Scope { kind, name: self.name_in_head(at, brace), head: from..brace, body, parent: 0 }
    }

    /// The first parenthesis that does not belong to an attribute such as `__declspec(...)` or `alignas(...)`.
    fn first_call(&self, from: usize, brace: usize) -> Option<usize> {
        let mut n = from;
        while n < brace {
            if self.text(n) == "(" {
                if !matches!(self.before(n), "__declspec" | "alignas" | "__attribute__" | "decltype") {
                    return Some(n);
                }
                n = self.pair(n).filter(|&close| close > n)?;
            }
            n += 1;
        }
        None
    }

    /// True if a base list begins before the parenthesis, so that the parenthesis is part of it.
    fn is_base_list(&self, class: usize, call: usize) -> bool {
        (class..call).any(|n| self.text(n) == ":")
    }

    /// The name in the head of a class: the last name before `:`, `<` or the brace, other than keywords such as `final`.
    fn name_in_head(&self, keyword: usize, brace: usize) -> String {
        let mut name = String::new();
        let mut n = keyword + 1;
        while n < brace {
            match self.text(n) {
                ":" | "<" => break,
                "(" => n = self.pair(n).unwrap_or(n),
                "final" | "sealed" | "abstract" | "class" | "struct" => {}
                text if self.is_name(n) => name = text.to_owned(),
                _ => {}
            }
            n += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    #[test]
    fn scopes_and_templates() {
        let source = "namespace a { template <class T, unsigned N = 3> class b : public c<T> { void f() { if (x) { } } enum e { g }; }; \
                      extern \"C\" { int h(); } struct __declspec(align(16)) i { int j; } k; struct l m() { } }";
        let code = Code::read(&lex(source));
        let found: Vec<String> = code.scopes.iter().map(|s| format!("{:?} {}", s.kind, s.name)).collect();
        let expected =
            ["Top ", "Namespace a", "Class b", "Block ", "Block ", "Enum e", "Namespace ", "Class i", "Block "];
        assert_eq!(found, expected);
        assert_eq!(code.templates.len(), 1);
        let parameters = [("T".to_owned(), "class".to_owned()), ("N".to_owned(), "unsigned".to_owned())];
        assert_eq!(code.templates[0].parameters, parameters);
        assert_eq!(code.text(code.templates[0].end), "}");
        for broken in ["{ ( } )", "template <", "template <class", "class { ) }", "} {", "namespace {", "a < b > c"] {
            Code::read(&lex(broken));
        }
    }
}
