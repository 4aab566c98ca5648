//! Finds undeclared names in sources that include headers of Windows.

use crate::findings::Finding;
use crate::functions::{is_non_type_keyword, is_trailing_return};
use crate::source::Source;
use crate::syntax::{Code, Kind};
use crate::table::{amp_macros, rows};
use std::collections::HashMap;

/// Constants and macros of the standard library and of `<amp.h>`. A `*` at the end stands for any rest.
const KNOWN: &str = "NULL EOF BUFSIZ RAND_MAX EXIT_SUCCESS EXIT_FAILURE CLOCKS_PER_SEC FILE DBL_* FLT_* LDBL_* INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN \
    ULONG_MAX LLONG_MAX LLONG_MIN ULLONG_MAX CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_* UCHAR_MAX SHRT_* USHRT_MAX INT8_* INT16_* INT32_* INT64_* UINT8_* \
    UINT16_* UINT32_* UINT64_* SIZE_MAX PTRDIFF_* INTPTR_* UINTPTR_* SEEK_* LC_* SIG* M_* HUGE_VAL* INFINITY NAN FP_* FE_* PRI* SCN* EACCES EAGAIN EBADF \
    EBUSY EDOM EEXIST EILSEQ EINTR EINVAL EIO EISDIR EMFILE ENOENT ENOMEM ENOSPC ENOTDIR EPERM EPIPE ERANGE WEOF WCHAR_M* \
    HRESULT UINT DXGI_ERROR_* AF_* PF_* SOCK_* IPPROTO_* SO_* SOL_SOCKET SOMAXCONN INADDR_* INET* TCP_* MSG_* SHUT_* FIONBIO O_* S_I* EWOULDBLOCK EINPROGRESS \
    HLSL_MAX_NUM_BUFFERS MODULENAME_MAX_LENGTH TODO";

/// Finds names of functions, types and constants that neither the program nor the standard library declares.
pub fn unknown(source: &Source, code: &Code) -> Vec<Finding> {
    // A header that is neither known nor found may declare any name.
    if !source.includes_windows_headers || source.has_unknown_headers {
        return Vec::new();
    }
    let mut is_unknown: HashMap<&str, bool> = HashMap::new();
    let mut all = Vec::new();
    for at in 0..code.tokens.len() {
        let name = code.text(at);
        if !code.is_name(at) || !looks_like_windows_name(code, at) {
            continue;
        }
        if *is_unknown.entry(name).or_insert_with(|| !is_declared(source, code, name)) {
            let reason = "probably a name from Windows's headers, because no source here declares it";
            let replacement = "use the equivalent of the standard library or POSIX, or remove it";
            all.push(Finding::new(code.tokens[at].line, name, reason, replacement));
        }
    }
    all
}

/// True if an unqualified name looks like a called function of Windows, or like a constant or a type of Windows.
fn looks_like_windows_name(code: &Code, at: usize) -> bool {
    let (name, before) = (code.text(at), code.before(at));
    let is_qualified = before == "."
        || before == "->" && !is_trailing_return(code, at - 1)
        || before == "::" && at >= 2 && code.is_name(at - 2) && !is_non_type_keyword(code.text(at - 2));
    let has = |test: fn(char) -> bool| name.contains(test);
    let is_capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    let is_declarator = at > 0 && code.is_name(at - 1) && !is_non_type_keyword(before);
    let is_function = is_capital
        && has(|c| c.is_ascii_lowercase())
        && code.text(at + 1) == "("
        && code.kind(at) == Kind::Block
        && !is_declarator;
    let is_constant =
        is_capital && name.len() > 2 && !has(|c| c.is_ascii_lowercase()) && has(|c| c.is_ascii_uppercase());
    !is_qualified && (is_function || is_constant)
}

fn is_declared(source: &Source, code: &Code, name: &str) -> bool {
    let is_like =
        |word: &str| word.strip_suffix('*').map_or(word == name, |begin| !begin.is_empty() && name.starts_with(begin));
    source.names.has(name)
        || !source.names.functions_named(name).is_empty()
        || source.names.has_member(name)
        || code.templates.iter().any(|t| t.parameters.iter().any(|(parameter, _)| parameter == name))
        || amp_macros().contains(name)
        || KNOWN.split_whitespace().any(is_like)
        || rows().iter().any(|row| row.pattern.iter().any(|word| is_like(word)))
}
