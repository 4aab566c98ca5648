//! Evaluates conditional directives with the macros that compilers define on Linux. Lines compiled there are *live*.

use crate::expression::{Macro, number, value};
use crate::lex::Token;
use std::collections::HashMap;

/// Macros of Windows, other systems and other compilers, which are not defined on Linux.
const UNDEFINED: &str = "_WIN32 _WIN64 WIN32 WIN64 _WINDOWS WINDOWS _WINDOWS_ _MSC_VER _MSC_FULL_VER _MSC_BUILD _MSC_EXTENSIONS _MSVC_LANG \
    _MSVC_TRADITIONAL _M_IX86 _M_X64 _M_AMD64 _M_ARM _M_ARM64 _M_IX86_FP _M_CEE _M_CEE_PURE _M_FP_FAST _MANAGED __cplusplus_cli __cplusplus_winrt \
    __CLR_VER _WIN32_WINNT WINVER NTDDI_VERSION _WIN32_IE UNICODE _UNICODE _MBCS _WINDLL _USRDLL _AFXDLL _MFC_VER _ATL_VER _ATL_DLL _DLL _MT \
    _CPPUNWIND _CPPRTTI _INTEGRAL_MAX_BITS _WCHAR_T_DEFINED __INTELLISENSE__ __MINGW32__ __MINGW64__ __CYGWIN__ __APPLE__ __MACH__ __FreeBSD__ \
    __ANDROID__ __BORLANDC__ __INTEL_COMPILER __INTEL_LLVM_COMPILER __CUDACC__ __NVCC__ __HIPCC__ __EMSCRIPTEN__ _XBOX _XBOX_ONE";
/// Macros that compilers define on Linux. `None`: the value depends on the compiler.
const DEFINED: &[(&str, Option<i64>)] = &[
    ("__linux__", Some(1)),
    ("__linux", Some(1)),
    ("linux", Some(1)),
    ("__gnu_linux__", Some(1)),
    ("__unix__", Some(1)),
    ("__unix", Some(1)),
    ("unix", Some(1)),
    ("__GNUC__", None),
    ("__GNUC_MINOR__", None),
    ("__GNUG__", None),
    ("__clang__", Some(1)),
    ("__clang_major__", None),
    ("__llvm__", Some(1)),
    ("__cplusplus", Some(201_703)),
    ("__STDC_HOSTED__", Some(1)),
    ("__CHAR_BIT__", Some(8)),
];

/// The known macros, and the open conditional directives.
pub struct Conditions {
    macros: HashMap<String, Macro>,
    frames: Vec<Frame>,
}

/// An open `#if`. `None` means unknown.
struct Frame {
    /// True if the lines of this branch are live.
    live: Option<bool>,
    /// True if this branch or an earlier one is live. If so, later branches are not live.
    taken: Option<bool>,
}

impl Conditions {
    /// `options`: the macros of `-D` (true; `NAME` or `NAME=VALUE`) and `-U` (false), in order.
    pub fn new<'o>(options: impl IntoIterator<Item = &'o (bool, String)>) -> Self {
        let undefined = UNDEFINED.split_whitespace().map(|name| (name.to_owned(), Macro::Undefined));
        let defined = DEFINED.iter().map(|(name, value)| ((*name).to_owned(), Macro::Defined(*value)));
        let mut macros: HashMap<String, Macro> = undefined.chain(defined).collect();
        for (defines, text) in options {
            let (name, value) = text.split_once('=').map_or((text.as_str(), Some(1)), |(name, v)| (name, number(v)));
            macros.insert(name.to_owned(), if *defines { Macro::Defined(value) } else { Macro::Undefined });
        }
        Self { macros, frames: Vec::new() }
    }

    /// True if the current lines are or may be live.
    pub fn may_be_live(&self) -> bool {
        self.frames.iter().all(|frame| frame.live != Some(false))
    }

    /// True if the current lines are certainly live.
    fn is_live(&self) -> bool {
        self.frames.iter().all(|frame| frame.live == Some(true))
    }

    /// The number of open conditional directives.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Closes the conditional directives that a file left open.
    pub fn truncate_to(&mut self, depth: usize) {
        self.frames.truncate(depth);
    }

    /// Handles a directive, whose first token is `#`. `next`: the tokens after it, to recognise include guards. Returns true if the directive is
    /// conditional.
    pub fn process_directive(&mut self, directive: &[Token], next: &[Token]) -> bool {
        let text = |at: usize| directive.get(at).map_or("", |t| t.text.as_str());
        let rest = directive.get(2..).unwrap_or_default();
        match text(1) {
            "if" => {
                let found = self.value(rest);
                self.open(found);
            }
            "ifdef" => {
                let found = self.is_defined(text(2));
                self.open(found);
            }
            "ifndef" => {
                // An include guard, or a default for a macro that may be defined on the command line.
                let guard = matches!(next, [_, define, name, ..] if define.text == "define" && name.text == text(2));
                let found = self.is_defined(text(2)).map(|is| !is);
                self.open(if guard { found.or(Some(true)) } else { found });
            }
            "elif" => {
                let found = self.value(rest);
                self.branch(found);
            }
            "elifdef" => {
                let found = self.is_defined(text(2));
                self.branch(found);
            }
            "elifndef" => {
                let found = self.is_defined(text(2)).map(|is| !is);
                self.branch(found);
            }
            "else" => self.branch(Some(true)),
            "endif" => drop(self.frames.pop()),
            "define" => self.define(text(2), rest),
            "undef" if self.may_be_live() => self.set(text(2), Macro::Undefined),
            _ => {}
        }
        matches!(text(1), "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "else" | "endif")
    }

    fn define(&mut self, name: &str, rest: &[Token]) {
        if !self.may_be_live() {
            return;
        }
        let value = match rest {
            [_, one] if one.text == "true" => Some(1),
            [_, one] => number(&one.text),
            [_, open, one, close] if open.text == "(" && close.text == ")" => number(&one.text),
            _ => None,
        };
        self.set(name, Macro::Defined(value));
    }

    fn set(&mut self, name: &str, known: Macro) {
        let known = if self.is_live() { known } else { Macro::Unknown };
        self.macros.insert(name.to_owned(), known);
    }

    fn is_defined(&self, name: &str) -> Option<bool> {
        match self.lookup(name) {
            Macro::Undefined => Some(false),
            Macro::Defined(_) => Some(true),
            Macro::Unknown => None,
        }
    }

    fn lookup(&self, name: &str) -> Macro {
        self.macros.get(name).copied().unwrap_or(Macro::Unknown)
    }

    fn value(&self, tokens: &[Token]) -> Option<bool> {
        value(tokens, &|name| self.lookup(name)).map(|value| value != 0)
    }

    fn open(&mut self, live: Option<bool>) {
        self.frames.push(Frame { live, taken: live });
    }

    fn branch(&mut self, condition: Option<bool>) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.live = match (frame.taken, condition) {
            (Some(true), _) => Some(false),
            (Some(false), condition) => condition,
            (None, Some(false)) => Some(false),
            (None, _) => None,
        };
        frame.taken = match (frame.taken, condition) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), other) => other,
            (None, _) => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    /// The tokens on live lines of a source, without directives.
    fn live_tokens(source: &str, options: &[(bool, String)]) -> String {
        let tokens = lex(source);
        let mut conditions = Conditions::new(options);
        let mut found = Vec::new();
        for part in crate::lex::parts(&tokens) {
            let next = tokens.get(part.end..).unwrap_or_default();
            if tokens[part.start].begins_directive {
                conditions.process_directive(&tokens[part], next);
            } else if conditions.may_be_live() {
                found.extend(tokens[part].iter().map(|t| t.text.clone()));
            }
        }
        found.join(" ")
    }

    #[test]
    fn only_live_branches_are_kept() {
        for (source, expected) in [
            ("#ifdef _WIN32\na\n#else\nb\n#endif\nc", "b c"),
            ("#ifndef _MSC_VER\na\n#else\nb\n#endif", "a"),
            (
                "#if defined(_WIN32) && _WIN32_WINNT >= 0x600\na\n#elif __linux__\nb\n#elif FOO\nc\n#else\nd\n#endif",
                "b",
            ),
            ("#if FOO\na\n#elif defined(_MSC_VER)\nb\n#else\nc\n#endif", "a c"),
            ("#if FOO\na\n#elif 1\nb\n#else\nc\n#endif", "a b"),
            ("#if 0\na\n#elifdef _WIN32\nb\n#elifndef FOO\nc\n#else\nd\n#endif", "c d"),
            ("#if 0\na\n#elifndef _WIN32\nb\n#elifdef FOO\nc\n#else\nd\n#endif", "b"),
            ("#if __GNUC__ >= 5\na\n#else\nb\n#endif", "a b"),
            ("#ifndef GUARD_H\n#define GUARD_H\n#define LINUX 1\n#endif\n#if LINUX\na\n#else\nb\n#endif", "a"),
            ("#ifdef FOO\n#define BAR\n#endif\n#ifdef BAR\na\n#else\nb\n#endif", "a b"),
            ("#define N (3)\n#if N == 3\na\n#endif\n#undef N\n#ifdef N\nb\n#endif", "a"),
            ("#if 0\n#if 1\na\n#else\nb\n#endif\n#else\nc\n#endif", "c"),
            ("#endif\n#else\n#elif 1\na", "a"),
            ("#if _MSC_VER \\\n || 0\na\n#endif\nb", "b"),
        ] {
            assert_eq!(live_tokens(source, &[]), expected, "{source}");
        }
        let source = "#ifdef _WIN32\na\n#endif\n#if LEVEL > 2\nb\n#else\nc\n#endif\n#ifdef __clang__\nd\n#endif";
        let options = [(true, "_WIN32".to_owned()), (true, "LEVEL=2".to_owned()), (false, "__clang__".to_owned())];
        assert_eq!(live_tokens(source, &options), "a c");
    }
}
