//! Whether a program has functions that differ by restriction: one for amp code alone beside one for the host.
//!
//! Those of one signature Clang tells apart; of others it would take whichever fits best, since code for the device alone is
//! the host's too where host threads run kernels. So they are looked for in the text: functions of one name, in one namespace
//! or class, that may be called with as many arguments.

use revamp_source::tokens::{Clauses, Code, Restriction};
use std::collections::{HashMap, HashSet};

/// A function that is declared.
#[derive(Clone, Debug)]
struct Declared {
    restriction: Restriction,
    /// The least and the most arguments it takes.
    least: usize,
    most: usize,
}

impl Declared {
    /// Both may be called with as many arguments.
    fn meets(&self, other: &Self) -> bool {
        self.least <= other.most && other.least <= self.most
    }
}

/// Functions of C that are there without a namespace.
const OF_C: [&str; 31] = [
    "abs", "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "div", "exp", "exp2", "floor", "fma",
    "fmax", "fmin", "fmod", "hypot", "index", "isnan", "log", "log10", "log2", "pow", "round", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
];

/// Operators that are members only, which a call looks for in one class.
const OF_ONE_CLASS: [&str; 4] = ["operator ( )", "operator [ ]", "operator ->", "operator ="];

/// The name of all conversions: one to another type may be taken too.
const CONVERSION: &str = "operator conversion";

/// The functions of a program, by namespace or class and name.
#[derive(Default)]
pub struct Functions {
    all: HashMap<(String, String), Vec<Declared>>,
    /// The scopes that are classes.
    classes: HashSet<String>,
    /// Names that using-declarations bring to other scopes.
    used: HashSet<String>,
    /// How many local classes there were.
    local: usize,
    /// Where members of local classes begin that have no restriction of their own, in the source that was added last.
    members: Vec<usize>,
}

impl Functions {
    /// Two of them differ by restriction.
    pub fn overloaded(&self) -> bool {
        self.all.values().any(|found| {
            let amp = || found.iter().filter(|f| f.restriction.amp && !f.restriction.cpu);
            let cpu = || found.iter().filter(|f| f.restriction.cpu);
            amp().any(|a| cpu().any(|c| a.meets(c)))
        })
    }

    /// Two of one name differ by restriction, and a call may have both to choose from: by `using` or by its arguments'
    /// namespace. A member is looked for in one class, whose name hides those of bases and of namespaces.
    pub fn may_be_overloaded(&self) -> bool {
        let mut named: HashMap<&str, Vec<(&str, &Declared)>> = HashMap::new();
        for ((scope, name), found) in &self.all {
            named.entry(name).or_default().extend(found.iter().map(|f| (scope.as_str(), f)));
        }
        named.iter().any(|(name, found)| {
            let anywhere = self.used.contains(*name) || name.starts_with("operator ") && !OF_ONE_CLASS.contains(name);
            let is_free = |scope: &str| anywhere || !self.classes.contains(scope);
            let amp = || found.iter().filter(|(_, f)| f.restriction.amp);
            let differ = |(from, a): &(&str, &Declared), (to, c): &(&str, &Declared)| {
                let together = from == to || is_free(from) && is_free(to);
                together && c.restriction.cpu && c.restriction != a.restriction && a.meets(c)
            };
            OF_C.contains(name) && amp().any(|(scope, _)| is_free(scope))
                || amp().any(|a| found.iter().any(|c| differ(a, c)))
        })
    }

    /// Adds those of a source. Gives the tokens where members of local classes begin that have no restriction of their own.
    pub fn add(&mut self, code: &Code<'_>, clauses: &Clauses) -> Vec<usize> {
        self.block(code, clauses, 0..code.tokens.len(), "", Block::Scope);
        let declares = |at: &usize| code.text(*at) == "using" && code.text(at + 1) != "namespace";
        for at in (0..code.tokens.len()).filter(declares) {
            // The words that end a name: `using A::f, B::g;`.
            let end = (at..code.tokens.len()).find(|&n| [";", "=", "{", "}"].contains(&code.text(n))).unwrap_or(at);
            let last = |n: &usize| code.is_word(*n) && [";", ",", "."].contains(&code.text(n + 1));
            let names = (at + 1..end).filter(last).map(|n| code.text(n).to_owned());
            self.used.extend(names);
        }
        std::mem::take(&mut self.members)
    }

    /// Reads what stands in a namespace, a class or a function.
    fn block(&mut self, code: &Code<'_>, clauses: &Clauses, range: std::ops::Range<usize>, scope: &str, kind: Block) {
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
                    let (inner, kind) = self.opened(code, begin..at, scope, kind);
                    // What opens a namespace is told by its word.
                    if kind == Block::Scope && inner != scope && !(begin..at).any(|n| code.text(n) == "namespace") {
                        self.classes.insert(inner.clone());
                    }
                    self.block(code, clauses, at + 1..close, &inner, kind);
                    at = close;
                    begin = at + 1;
                }
                "(" if kind == Block::Scope => {
                    let close = code.pair(at).unwrap_or(at).max(at);
                    self.function(code, clauses, begin, at, close, scope);
                    // The parameters, and where a variable begins, its initializer.
                    at = close;
                }
                ":" if kind == Block::Scope
                    && (begin..at).any(|n| code.text(n) == "(")
                    && class_name(&head_words(code, begin..at)).is_none() =>
                {
                    // What a constructor begins with.
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
                "=" if kind == Block::Scope && code.before(at) != "operator" => {
                    while at + 1 < range.end && !["{", ";"].contains(&code.text(at + 1)) {
                        at = code.pair(at + 1).filter(|&to| to > at).unwrap_or(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// What begins at a brace: the tokens before it say so.
    fn opened(&mut self, code: &Code<'_>, head: std::ops::Range<usize>, scope: &str, outer: Block) -> (String, Block) {
        let words = head_words(code, head);
        if outer == Block::Scope {
            if words.first() == Some(&"extern") && words.len() == 2 {
                return (scope.to_owned(), Block::Scope);
            }
            if let Some(name) = name_behind(&words, "namespace") {
                return (format!("{scope}{name}::"), Block::Scope);
            }
        }
        match class_name(&words) {
            // One in a function is not another's of its name.
            Some(name) if outer == Block::Code => {
                self.local += 1;
                (format!("{scope}{}{LOCAL}{name}::", self.local), Block::Scope)
            }
            Some(name) => (format!("{scope}{name}::"), Block::Scope),
            None => (scope.to_owned(), Block::Code),
        }
    }

    /// A function whose parameters stand in these parentheses, if it is one.
    fn function(&mut self, code: &Code<'_>, clauses: &Clauses, begin: usize, open: usize, close: usize, scope: &str) {
        let Some((name, first)) = name(code, open) else { return };
        let mut names: Vec<&str> = name.rsplit("::").collect();
        let own = names.first().copied().unwrap_or_default().to_owned();
        names.reverse();
        let qualifier: String = names[..names.len() - 1].iter().map(|part| format!("{part}::")).collect();
        let head = || (begin..first).map(|n| code.text(n));
        // A friend is its namespace's.
        let mut scope = scope;
        while head().any(|word| word == "friend") && self.classes.contains(scope) {
            scope = scope.trim_end_matches("::").rfind("::").map_or("", |n| &scope[..n + 2]);
        }
        let (least, most) = arguments(code, open, close);
        let mut written = None;
        let mut at = close + 1;
        while at < code.tokens.len() && !["{", ";", "}", ","].contains(&code.text(at)) {
            if let Some((_, found)) = clauses.at(code, at) {
                written = Some(found);
                break;
            }
            at = code.pair(at).filter(|&to| to > at).unwrap_or(at) + 1;
        }
        // Also where it stands before the name; behind parameters it is that of another function.
        if let Some((_, found)) = (begin..first).filter(|&n| code.before(n) != ")").find_map(|n| clauses.at(code, n)) {
            written = Some(found);
        }
        if written.is_none() && scope.contains(LOCAL) {
            self.members.push(code.behind_prefixes(begin));
        }
        let restriction = written.unwrap_or(Restriction { amp: false, cpu: true });
        let scope = format!("{scope}{qualifier}");
        // The first operand of an operator is its object where it is a member.
        let object = usize::from(own.starts_with("operator ") && self.classes.contains(&scope));
        let (least, most) = (least + object, most.saturating_add(object));
        self.all.entry((scope, own)).or_default().push(Declared { restriction, least, most });
    }
}

/// Words that parentheses follow where a class is named: `class __declspec(align(16)) s : decltype(b())`.
const SPECIFIERS: [&str; 4] = ["alignas", "__attribute__", "__declspec", "decltype"];

/// The words of what stands before a brace, without template arguments, attributes and constraints.
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

fn name_behind(words: &[&str], word: &str) -> Option<String> {
    let found = words.iter().position(|w| *w == word)?;
    Some(words[found + 1..].iter().take_while(|w| ![":", "final"].contains(*w)).copied().collect())
}

/// The name of the class that the words begin. Constraints may stand before it in parentheses.
fn class_name(words: &[&str]) -> Option<String> {
    let key = words.iter().position(|w| ["struct", "class", "union"].contains(w))?;
    let is_other = words.iter().any(|w| ["enum", "=", "->"].contains(w)) || words[key..].contains(&"(");
    name_behind(words, words[key]).filter(|_| !is_other)
}

/// Stands in the scope of a class that is local to a function.
const LOCAL: char = '.';

/// What a pair of braces holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Declarations.
    Scope,
    /// Statements or values.
    Code,
}

/// Words before parentheses that are no parameters: `int (*f)(int)`.
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

/// The name before some parameters, with its qualifiers, and its first token.
fn name(code: &Code<'_>, open: usize) -> Option<(String, usize)> {
    let mut at = open.checked_sub(1)?;
    // An operator, or a conversion: at most a few tokens behind the word.
    for n in (at.saturating_sub(12)..=at).rev() {
        if code.text(n) == "operator" {
            // The parentheses of `operator()` itself.
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

/// The name with what stands before it: `A<T>::B::`.
fn qualified(code: &Code<'_>, first: usize, name: String) -> Option<(String, usize)> {
    let (mut at, mut whole) = (first, name);
    while code.before(at) == "::" {
        let mut before = at.checked_sub(2)?;
        if code.text(before) == ">" {
            before = code.angle_back(before)?.checked_sub(1)?;
        }
        if !code.is_word(before) {
            break;
        }
        whole = format!("{}::{whole}", code.text(before));
        at = before;
    }
    Some((whole, at))
}

/// The least and the most arguments that parameters take.
fn arguments(code: &Code<'_>, open: usize, close: usize) -> (usize, usize) {
    if close <= open + 1 || close == open + 2 && code.text(open + 1) == "void" {
        return (0, 0);
    }
    let (mut count, mut given, mut any) = (1, 0, false);
    let mut at = open + 1;
    while at < close {
        match code.text(at) {
            "," => count += 1,
            "=" => given += 1,
            "." => any = true,
            "<" => at = code.angle(at).filter(|&to| to < close).unwrap_or(at),
            "(" | "[" | "{" => at = code.pair(at).filter(|&to| to > at).unwrap_or(at),
            _ => {}
        }
        at += 1;
    }
    if any { (0, usize::MAX) } else { (count - given.min(count), count) }
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
    fn others_are_not() {
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
    fn programs_that_do_not_overload_are_not_taken_for_such_that_do() {
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
                    let does = [
                        "kernels/strict.cpp",
                        "kernels/allowed.cpp",
                        "kernels/forbidden.cpp",
                        "kernels/overload_ranks.cpp",
                        "kernels/by_threads.cpp",
                        "kernels/debugged.cpp",
                        "kernels/strict_utility.cpp",
                        "core/device.cpp",
                    ];
                    let does = does.iter().any(|name| path.ends_with(name));
                    assert_eq!(overloaded(&source), does, "{}", path.display());
                    read += 1;
                }
            }
        }
        assert!(read > 40);
    }
}
