//! Finds functions that are overloaded by restriction: two functions with the same name, one of them only
//! `restrict(amp)`, the other callable on the host.
//!
//! Clang distinguishes overloads with the same signature by their restrictions. Among overloads with different
//! signatures, Clang would choose the best match and ignore the restrictions, because device-only code is also host
//! code where host threads run kernels. Therefore this module searches the source text for functions with the same name
//! in the same namespace or class that accept the same number of arguments.

use revamp_source::tokens::{Clauses, Code, Restriction};
use std::collections::{HashMap, HashSet};

/// A declaration of a function.
#[derive(Clone, Debug)]
struct FunctionDeclaration {
    restriction: Restriction,
    /// The smallest and the largest number of arguments that the function accepts.
    min_arguments: usize,
    max_arguments: usize,
}

impl FunctionDeclaration {
    /// True if some number of arguments fits both functions.
    fn arguments_overlap(&self, other: &Self) -> bool {
        self.min_arguments <= other.max_arguments && other.min_arguments <= self.max_arguments
    }
}

/// Functions of the C library that are declared in the global namespace.
const C_FUNCTIONS: [&str; 31] = [
    "abs", "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "div", "exp", "exp2", "floor", "fma",
    "fmax", "fmin", "fmod", "hypot", "index", "isnan", "log", "log10", "log2", "pow", "round", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
];

/// Operators that can only be members. A call searches one class for them.
const MEMBER_ONLY_OPERATORS: [&str; 4] = ["operator ( )", "operator [ ]", "operator ->", "operator ="];

/// The name for all conversion operators. It omits the target type, because a call may also select a conversion to
/// another type.
const CONVERSION: &str = "operator conversion";

/// The functions of a program, by namespace or class and name.
#[derive(Default)]
pub struct Functions {
    by_name: HashMap<(String, String), Vec<FunctionDeclaration>>,
    /// The scopes that are classes; all others are namespaces.
    classes: HashSet<String>,
    /// Names that using-declarations bring into other scopes.
    using_names: HashSet<String>,
    /// The number of local classes found so far.
    local_classes: usize,
    /// The first token of each member of a local class that is declared without a restriction. [`Self::add`] fills and
    /// returns this list for each source.
    unrestricted_members: Vec<usize>,
}

impl Functions {
    /// True if two functions with the same name in the same scope differ by restriction.
    pub fn overloaded(&self) -> bool {
        self.by_name.values().any(|found| {
            let amp = || found.iter().filter(|f| f.restriction.amp && !f.restriction.cpu);
            let cpu = || found.iter().filter(|f| f.restriction.cpu);
            amp().any(|a| cpu().any(|c| a.arguments_overlap(c)))
        })
    }

    /// True if two functions with the same name differ by restriction and may be candidates of the same call, by
    /// `using` or by argument-dependent lookup. All candidates of a member call are in one class, because a member
    /// hides functions of the same name in base classes and namespaces.
    pub fn may_be_overloaded(&self) -> bool {
        let mut named: HashMap<&str, Vec<(&str, &FunctionDeclaration)>> = HashMap::new();
        for ((scope, name), found) in &self.by_name {
            named.entry(name).or_default().extend(found.iter().map(|f| (scope.as_str(), f)));
        }
        named.iter().any(|(name, found)| {
            let in_any_scope = self.using_names.contains(*name)
                || name.starts_with("operator ") && !MEMBER_ONLY_OPERATORS.contains(name);
            let is_free = |scope: &str| in_any_scope || !self.classes.contains(scope);
            let amp = || found.iter().filter(|(_, f)| f.restriction.amp);
            let differ = |(from, a): &(&str, &FunctionDeclaration), (to, c): &(&str, &FunctionDeclaration)| {
                let may_compete = from == to || is_free(from) && is_free(to);
                may_compete && c.restriction.cpu && c.restriction != a.restriction && a.arguments_overlap(c)
            };
            C_FUNCTIONS.contains(name) && amp().any(|(scope, _)| is_free(scope))
                || amp().any(|a| found.iter().any(|c| differ(a, c)))
        })
    }

    /// Adds the functions of a source. Returns the first token of each member of a local class that is declared without
    /// a restriction.
    pub fn add(&mut self, code: &Code<'_>, clauses: &Clauses) -> Vec<usize> {
        self.block(code, clauses, 0..code.tokens.len(), "", BlockKind::Scope);
        let declares = |at: &usize| code.text(*at) == "using" && code.text(at + 1) != "namespace";
        for at in (0..code.tokens.len()).filter(declares) {
            // The last word of each name: `f` and `g` of `using A::f, B::g;`.
            let end = (at..code.tokens.len()).find(|&n| [";", "=", "{", "}"].contains(&code.text(n))).unwrap_or(at);
            let last = |n: &usize| code.is_word(*n) && [";", ",", "."].contains(&code.text(n + 1));
            let names = (at + 1..end).filter(last).map(|n| code.text(n).to_owned());
            self.using_names.extend(names);
        }
        std::mem::take(&mut self.unrestricted_members)
    }

    /// Reads the contents of a namespace, a class or a function.
    fn block(
        &mut self,
        code: &Code<'_>,
        clauses: &Clauses,
        range: std::ops::Range<usize>,
        scope: &str,
        kind: BlockKind,
    ) {
        let mut at = range.start;
        let mut begin = at;
        while at < range.end {
            if code.tokens[at].directive {
                at += 1;
                begin = at;
                continue;
            }
            match code.text(at) {
                ";" => begin = at + 1,
                "<" if code.before(at) == "template" => at = code.angle(at).unwrap_or(at),
                "{" => {
                    let close = code.pair(at).unwrap_or(range.end).min(range.end);
                    let (inner, kind) = self.scope_of_block(code, begin..at, scope, kind);
                    // Only the keyword distinguishes a namespace from a class.
                    if kind == BlockKind::Scope && inner != scope && !(begin..at).any(|n| code.text(n) == "namespace") {
                        self.classes.insert(inner.clone());
                    }
                    self.block(code, clauses, at + 1..close, &inner, kind);
                    at = close;
                    begin = at + 1;
                }
                "(" if kind == BlockKind::Scope => {
                    let close = code.pair(at).unwrap_or(at).max(at);
                    self.function(code, clauses, begin, at, close, scope);
                    // Skips the parameters, or the initializer of a variable.
                    at = close;
                }
                ":" if kind == BlockKind::Scope
                    && (begin..at).any(|n| code.text(n) == "(")
                    && class_name(&head_words(code, begin..at)).is_none() =>
                {
                    // Skips the member initializers of a constructor.
                    let initializer = |from: usize| {
                        let open = (from..range.end).find(|&n| ["(", "{", ";"].contains(&code.text(n)))?;
                        code.pair(open).filter(|&close| close > open)
                    };
                    while let Some(close) = initializer(at + 1) {
                        at = close;
                        if code.text(at + 1) != "," {
                            break;
                        }
                    }
                }
                "=" if kind == BlockKind::Scope && code.before(at) != "operator" => {
                    while at + 1 < range.end && !["{", ";"].contains(&code.text(at + 1)) {
                        at = code.pair(at + 1).filter(|&to| to > at).unwrap_or(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The scope and the kind of the block that follows `head`, the tokens before the opening brace.
    fn scope_of_block(
        &mut self,
        code: &Code<'_>,
        head: std::ops::Range<usize>,
        scope: &str,
        outer: BlockKind,
    ) -> (String, BlockKind) {
        let words = head_words(code, head);
        if outer == BlockKind::Scope {
            if words.first() == Some(&"extern") && words.len() == 2 {
                return (scope.to_owned(), BlockKind::Scope);
            }
            if let Some(name) = name_after(&words, "namespace") {
                return (format!("{scope}{name}::"), BlockKind::Scope);
            }
        }
        match class_name(&words) {
            // Local classes in different functions are different classes, even if they have the same name.
            Some(name) if outer == BlockKind::Code => {
                self.local_classes += 1;
                (format!("{scope}{}{LOCAL}{name}::", self.local_classes), BlockKind::Scope)
            }
            Some(name) => (format!("{scope}{name}::"), BlockKind::Scope),
            None => (scope.to_owned(), BlockKind::Code),
        }
    }

    /// Adds the function whose parameter list lies between `open` and `close`. Does nothing for other parentheses.
    fn function(&mut self, code: &Code<'_>, clauses: &Clauses, begin: usize, open: usize, close: usize, scope: &str) {
        let Some((name, first)) = name(code, open) else { return };
        let mut names: Vec<&str> = name.rsplit("::").collect();
        let unqualified = names.first().copied().unwrap_or_default().to_owned();
        names.reverse();
        let qualifier: String = names[..names.len() - 1].iter().map(|part| format!("{part}::")).collect();
        let head = || (begin..first).map(|n| code.text(n));
        // A friend function belongs to the enclosing namespace.
        let mut scope = scope;
        while head().any(|word| word == "friend") && self.classes.contains(scope) {
            scope = scope.trim_end_matches("::").rfind("::").map_or("", |n| &scope[..n + 2]);
        }
        let (min_arguments, max_arguments) = arguments(code, open, close);
        let mut explicit_restriction = None;
        let mut at = close + 1;
        while at < code.tokens.len() && !["{", ";", "}", ","].contains(&code.text(at)) {
            if let Some((_, found)) = clauses.at(code, at) {
                explicit_restriction = Some(found);
                break;
            }
            at = code.pair(at).filter(|&to| to > at).unwrap_or(at) + 1;
        }
        // The restriction may also come before the name. A restriction after a `)` belongs to another function.
        if let Some((_, found)) = (begin..first).filter(|&n| code.before(n) != ")").find_map(|n| clauses.at(code, n)) {
            explicit_restriction = Some(found);
        }
        if explicit_restriction.is_none() && scope.contains(LOCAL) {
            self.unrestricted_members.push(code.after_prefixes(begin));
        }
        let restriction = explicit_restriction.unwrap_or(Restriction { amp: false, cpu: true });
        let scope = format!("{scope}{qualifier}");
        // The first operand of a member operator is the object.
        let object = usize::from(unqualified.starts_with("operator ") && self.classes.contains(&scope));
        let (min_arguments, max_arguments) = (min_arguments + object, max_arguments.saturating_add(object));
        self.by_name.entry((scope, unqualified)).or_default().push(FunctionDeclaration {
            restriction,
            min_arguments,
            max_arguments,
        });
    }
}

/// Words of a class head that take arguments in parentheses: `class __declspec(align(16)) s : decltype(b())`.
const SPECIFIERS: [&str; 4] = ["alignas", "__attribute__", "__declspec", "decltype"];

/// The words before a brace, without template arguments, attributes and constraints.
fn head_words<'a>(code: &Code<'a>, head: std::ops::Range<usize>) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut at = head.start;
    while at < head.end {
        let text = code.text(at);
        let close = match text {
            "<" => code.angle(at),
            "(" | "[" => code.pair(at),
            _ => None,
        };
        let specifier = SPECIFIERS.contains(&text) || text == "(" && SPECIFIERS.contains(&code.before(at));
        if !specifier && (close.is_none() || text == "(") {
            words.push(text);
        }
        at = close.filter(|&to| to > at).unwrap_or(at) + 1;
    }
    words
}

fn name_after(words: &[&str], word: &str) -> Option<String> {
    let found = words.iter().position(|w| *w == word)?;
    Some(words[found + 1..].iter().take_while(|w| ![":", "final"].contains(*w)).copied().collect())
}

/// The class name in these head words; `None` if they do not define a class. Constraints in parentheses may come before the class key.
fn class_name(words: &[&str]) -> Option<String> {
    let key = words.iter().position(|w| ["struct", "class", "union"].contains(w))?;
    let is_other = words.iter().any(|w| ["enum", "=", "->"].contains(w)) || words[key..].contains(&"(");
    name_after(words, words[key]).filter(|_| !is_other)
}

/// In a scope's name, this character marks a class that is local to a function.
const LOCAL: char = '.';

/// The kind of contents between a pair of braces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// Declarations.
    Scope,
    /// Statements or values.
    Code,
}

/// Words that can precede a parenthesis but are not function names, such as `int` in `int (*f)(int)`.
const NO_NAMES: [&str; 21] = [
    "decltype",
    "alignas",
    "__attribute__",
    "noexcept",
    "throw",
    "restrict",
    "__declspec",
    "static_assert",
    "explicit",
    "requires",
    "void",
    "bool",
    "char",
    "int",
    "unsigned",
    "signed",
    "short",
    "long",
    "float",
    "double",
    "auto",
];

/// Words that name operators.
const OPERATOR_WORDS: [&str; 3] = ["new", "delete", "co_await"];

/// The name before a parameter list, with its qualifiers, and the first token of the name.
fn name(code: &Code<'_>, open: usize) -> Option<(String, usize)> {
    let mut at = open.checked_sub(1)?;
    // The word `operator` is at most a few tokens before the parameters.
    for n in (at.saturating_sub(12)..=at).rev() {
        if code.text(n) == "operator" {
            // `open` is the parenthesis in the name `operator()`.
            if n + 1 == open {
                return None;
            }
            let text: Vec<&str> = (n + 1..open).map(|n| code.text(n)).collect();
            let is_conversion = code.is_word(n + 1) && !OPERATOR_WORDS.contains(&text[0]) || text[0] == "::";
            let name = if is_conversion { CONVERSION.into() } else { format!("operator {}", text.join(" ")) };
            return qualified(code, n, name);
        }
        if [";", "{", "}"].contains(&code.text(n)) {
            break;
        }
    }
    if code.text(at) == ">" {
        at = code.angle_back(at)?.checked_sub(1)?;
    }
    if !code.is_word(at) || NO_NAMES.contains(&code.text(at)) {
        return None;
    }
    let tilde = if code.before(at) == "~" { "~" } else { "" };
    qualified(code, at, format!("{tilde}{}", code.text(at)))
}

/// The qualified name without template arguments (`A::B::f` for `A<T>::B::f`), and its first token.
fn qualified(code: &Code<'_>, first: usize, name: String) -> Option<(String, usize)> {
    let (mut at, mut qualified_name) = (first, name);
    while code.before(at) == "::" {
        let mut before = at.checked_sub(2)?;
        if code.text(before) == ">" {
            before = code.angle_back(before)?.checked_sub(1)?;
        }
        if !code.is_word(before) {
            break;
        }
        qualified_name = format!("{}::{qualified_name}", code.text(before));
        at = before;
    }
    Some((qualified_name, at))
}

/// The smallest and the largest number of arguments that a parameter list accepts.
fn arguments(code: &Code<'_>, open: usize, close: usize) -> (usize, usize) {
    if close <= open + 1 || close == open + 2 && code.text(open + 1) == "void" {
        return (0, 0);
    }
    let (mut count, mut defaults, mut any) = (1, 0, false);
    let mut at = open + 1;
    while at < close {
        match code.text(at) {
            "," => count += 1,
            "=" => defaults += 1,
            "." => any = true,
            "<" => at = code.angle(at).filter(|&to| to < close).unwrap_or(at),
            "(" | "[" | "{" => at = code.pair(at).filter(|&to| to > at).unwrap_or(at),
            _ => {}
        }
        at += 1;
    }
    if any { (0, usize::MAX) } else { (count - defaults.min(count), count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Functions {
        let code = Code::read(source);
        let mut clauses = Clauses::default();
        clauses.learn(&code);
        let mut functions = Functions::default();
        functions.add(&code, &clauses);
        functions
    }

    fn overloaded(source: &str) -> bool {
        read(source).overloaded()
    }

    #[test]
    fn functions_that_a_call_may_choose_between_are_found() {
        for source in [
            "int f(int) restrict(amp, cpu); int f(float);",
            "namespace a { struct s {}; int f(s) restrict(amp); } int f(float);",
            "float sqrt(float) restrict(amp);",
            "struct a { int f(int); }; struct b : a { using a::f; int f(float) restrict(amp); };",
            "struct a { int f(int); }; struct b : a { using x = int; using a::f, a::g; int f(float) restrict(amp); };",
            "struct a { a operator+(int) restrict(amp); }; struct b {}; int operator+(b, int);",
            "struct a { struct b { friend int f(b) restrict(amp); }; }; int f(float);",
            "struct a { int f(int) restrict(amp, cpu); int f(float); };",
            "struct a; int a::f(int) restrict(amp) {} struct b; int b::f(float) {}",
            "struct a { operator int(); }; struct b : a { operator float() restrict(amp); };",
        ] {
            assert!(read(source).may_be_overloaded(), "{source}");
        }
        for source in [
            "struct a { int f(int) restrict(amp); }; struct b { int f(int); }; int f(int);",
            "struct a { int f(int); }; struct b : a { int f(float) restrict(amp); };",
            "struct a { int f(int) restrict(amp); struct c { int f(int); }; }; namespace n { int f(int); }",
            "struct a { void operator()(int) restrict(amp); }; struct b { void operator()(int); };",
            "struct v { float abs(float) restrict(amp); int index(int) restrict(amp); };",
            "struct a { a(int) restrict(amp); }; namespace n { struct a { a(int); }; }",
            "using namespace f; using g = int; struct a { int f(int); }; struct b { int f(int) restrict(amp); };",
        ] {
            assert!(!read(source).may_be_overloaded(), "{source}");
        }
    }

    #[test]
    fn functions_that_differ_by_restriction_are_found() {
        for source in [
            "int f(int &) restrict(amp) { return 1; } int f(const int &) { return 2; }",
            "int f(int &) restrict(amp); namespace n { int g; } int f(const int &) restrict(cpu);",
            "int f(int &) __GPU_ONLY; template <class T> int f(T) restrict(amp, cpu);",
            "#define A restrict(amp)\nint f(int) A; float f(float);",
            "namespace a { struct s { int h(int) const restrict(amp) { return 1; } int h(float) { return 2; } }; }",
            "struct s { s(int) restrict(amp) : a(1) {} s(float) : a(2) {} int a; };",
            "struct s { operator int() restrict(amp); operator int() const; };",
            "struct s { operator float() const restrict(amp); operator ::n::t<int>() const; };",
            "struct s { int operator()(int) restrict(amp); int operator()(float) const; };",
            "struct s { int a(); int h(int) restrict(amp); }; int s::h(float) { return a(); }",
            "template <class T> struct s { int h(T) restrict(amp); int h(float); };",
            "void t() { struct s { int h(int) restrict(amp); int h(float); }; }",
            "struct s {}; s operator+(s, s) restrict(amp); s operator+(s, const s &);",
            "struct s { friend s operator+(s, s) restrict(amp); }; s operator+(const s &, s);",
            "auto f(int) restrict(amp) -> int; auto f(float) -> int;",
            "int f(int, int = 1) restrict(amp); int f(float);",
            "template <class... T> int f(T...) restrict(amp); int f(float);",
        ] {
            assert!(overloaded(source), "{source}");
        }
    }

    #[test]
    fn functions_of_classes_are_found_whatever_stands_before_the_brace() {
        for head in [
            "template <class T> struct s<T *>",
            "template <class T, int N> class s<T[N], (N > 3 ? 1 : 0)>",
            "template <class R, class A> struct s<R(A)> final : base",
            "template <class T> struct s<T, decltype(void(T() + 1))>",
            "template <class T> requires (sizeof(T) == 4) && c<T> struct s<T *> : base",
            "template <class T> struct __declspec(align(16)) s<T *> : base",
            "template <class T> struct alignas(16) s<T *> : base<(1)>, decltype(f())",
            "struct [[deprecated(\"x\")]] __attribute__((packed)) s : base",
            "template <> union s<float>",
            "namespace [[deprecated(\"x\")]] n",
        ] {
            for members in [
                "int h(int) restrict(amp) {} int h(float) {}",
                "struct s<T *> { int h(int) restrict(amp); int h(float); };",
            ] {
                let source = format!("{head} {{ {members} }};");
                assert!(overloaded(&source), "{source}");
            }
        }
    }

    #[test]
    fn functions_that_are_not_overloaded_are_not_found() {
        for source in [
            "int f(int) restrict(amp) { return 1; } int g(int) { return f(2); } int main() { int f(int); f(3); }",
            "struct a { int get(int) restrict(amp); }; struct b { int get(int); }; int get(int);",
            "namespace a { int get(int) restrict(amp); } namespace b { int get(int); }",
            "struct s { int get(int) restrict(amp); int get(); };",
            "struct s f(struct s) { int h(int) restrict(amp); int h(float); } auto g() -> struct s { int h(int) restrict(amp); int h(float); }",
            "int f(int) restrict(amp); int f(float) restrict(amp); int x = f(3); int y(f(3));",
            "int f(int) restrict(amp, cpu); int f(float); int f(char) restrict(cpu);",
            "struct k { k(int); void operator()(index<1> i) const restrict(amp) { x(i); } };",
            "void t() { struct s { int h(int) restrict(amp); }; } void u() { struct s { int h(int); }; }",
            "enum e { f }; int g(e x = f) restrict(amp); template <int (*F)(int)> struct q {};",
            "int f(int) restrict(amp); // int f(float);",
            "struct s { s(int a, int b) restrict(amp) : x(a), y{b} {} s(int a) restrict(amp) : s(a, 1) {} int x, y; void x2(); };",
            "int f(int) restrict(amp), g(int) restrict(amp, cpu); int g(int) restrict(amp, cpu) { return 1; }",
            "void t() { auto f = [](int) restrict(amp) {}; auto g = [](int) {}; }",
        ] {
            assert!(!overloaded(source), "{source}");
        }
    }

    #[test]
    fn only_listed_programs_are_overloaded() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut folders = vec![root.join("examples-amp"), root.join("tests/cpp"), root.join("tests/kernels")];
        let mut read = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if name.ends_with(".cpp") {
                    let source = std::fs::read_to_string(&path).unwrap();
                    let expected = [
                        "kernels/strict.cpp",
                        "kernels/allowed.cpp",
                        "kernels/forbidden.cpp",
                        "kernels/overload_ranks.cpp",
                        "kernels/by_threads.cpp",
                        "kernels/debugged.cpp",
                        "kernels/strict_utility.cpp",
                        "core/device.cpp",
                    ];
                    let expected = expected.iter().any(|name| path.ends_with(name));
                    assert_eq!(overloaded(&source), expected, "{}", path.display());
                    read += 1;
                }
            }
        }
        assert!(read > 40);
    }
}
