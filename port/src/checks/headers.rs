//! Headers in other spellings, and headers that are missing.

use crate::findings::{Edit, Finding};
use crate::source::Source;
use crate::syntax::Code;
use crate::table;

/// Headers of C++ AMP, in whose names Windows does not mind the case.
const OURS: [&str; 5] = ["<amp.h>", "<amprt.h>", "<amp_math.h>", "<amp_short_vectors.h>", "<amp_graphics.h>"];
/// Functions and classes that MSVC's headers declare because they include each other, the header that must be included for them here,
/// its name in C, and whether `<amp.h>` includes it.
const BROUGHT: &[(&str, &str, &str, bool)] = &[
    ("assert", "<cassert>", "<assert.h>", false),
    (
        "memcpy memset memmove memcmp strlen strcmp strncmp strcpy strcat strchr strrchr strstr",
        "<cstring>",
        "<string.h>",
        true,
    ),
    ("printf fprintf sprintf snprintf vprintf vfprintf vsnprintf getchar puts scanf", "<cstdio>", "<stdio.h>", true),
    ("rand srand atoi atol atoll atof malloc free exit", "<cstdlib>", "<stdlib.h>", true),
    ("time clock localtime", "<ctime>", "<time.h>", true),
    ("setw setprecision setfill", "<iomanip>", "", false),
    ("stringstream ostringstream istringstream wstringstream wostringstream", "<sstream>", "", false),
    ("ifstream ofstream fstream wifstream wofstream", "<fstream>", "", false),
    ("accumulate iota inner_product partial_sum", "<numeric>", "", false),
    ("mt19937 uniform_int_distribution uniform_real_distribution random_device", "<random>", "", false),
    ("std::map std::multimap", "<map>", "", false),
    ("std::set std::multiset", "<set>", "", false),
    ("std::list", "<list>", "", false),
    ("std::deque", "<deque>", "", false),
    ("std::queue std::priority_queue", "<queue>", "", false),
    ("std::stack", "<stack>", "", false),
    ("std::unordered_map", "<unordered_map>", "", false),
    ("std::unordered_set", "<unordered_set>", "", false),
    ("std::bitset", "<bitset>", "", false),
];

/// Headers in other spellings.
pub fn spellings(source: &Source, _: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for token in source.tokens.iter().filter(|t| t.header) {
        let written = &source.text[token.range.clone()];
        let quote = &written[..1];
        let spelled = source.headers.iter().find(|header| header.name == token.text && quote == "\"");
        let spelled = spelled.map(|header| format!("\"{}\"", header.spelled));
        let is_known =
            spelled.is_none() && table::rows().iter().any(|row| row.pattern.last() == Some(&token.text.as_str()));
        let (reason, replacement) = if written.contains('\\') {
            ("'/' separates folders here", spelled.unwrap_or_else(|| written.replace('\\', "/")))
        } else if let Some(spelled) = spelled.filter(|name| name.to_lowercase() == token.text && name != written) {
            ("file names are case-sensitive here", spelled)
        } else if OURS.contains(&token.text.as_str()) && token.text != *written {
            ("file names are case-sensitive here", token.text.clone())
        } else {
            continue;
        };
        if !is_known {
            let edit = Edit::new(token.range.clone(), replacement.clone());
            let found = format!("#include {written}");
            all.push(Finding::new(token.line, found, reason, format!("#include {replacement}")).with([edit]));
        }
    }
    all
}

/// Headers that are missing.
pub fn missing(source: &Source, code: &Code) -> Vec<Finding> {
    let has_amp = OURS.iter().any(|name| source.included.contains(*name));
    let mut all = Vec::new();
    for (names, header, in_c, with_amp) in BROUGHT {
        if source.included.contains(*header) || has_amp && *with_amp {
            continue;
        }
        // The header of C declares its names outside of std.
        let has_c = source.included.contains(*in_c);
        let is_use = |at: usize| {
            names.split(' ').any(|name| match name.strip_prefix("std::") {
                Some(name) => {
                    code.text(at) == name && code.before(at) == "::" && code.text(at.wrapping_sub(2)) == "std"
                }
                None => {
                    let is_call = matches!(code.text(at + 1), "(" | "<" | "")
                        || header.contains("stream") && code.is_name(at + 1);
                    code.text(at) == name
                        && is_call
                        && !matches!(code.before(at), "." | "->")
                        && (!has_c || code.before(at) == "::" && code.text(at.wrapping_sub(2)) == "std")
                        && !source.names.has(name)
                }
            })
        };
        if let Some(first) = (0..code.tokens.len()).find(|&at| is_use(at)) {
            let reason = "no included header is required to provide it";
            all.push(Finding::new(code.tokens[first].line, code.text(first), reason, format!("#include {header}")));
        }
    }
    all
}

/// Macros that Microsoft's headers have and `<amp.h>` too, in sources that do not include it.
pub fn supplied(source: &Source, code: &Code) -> Vec<Finding> {
    let has_amp = OURS.iter().any(|name| source.included.contains(*name));
    let is_here = |name: &String| name.starts_with('<') || source.headers.iter().any(|header| header.name == *name);
    if has_amp || source.has_unknown_headers || !source.included.iter().all(is_here) {
        return Vec::new();
    }
    let is_use = |at: &usize| table::supplied().contains(code.text(*at)) && !source.names.has(code.text(*at));
    let told = |at: usize| {
        let reason = "a name of Microsoft's headers that <amp.h> has too";
        Finding::new(code.tokens[at].line, code.text(at), reason, "#include <amp.h>, or declare it")
    };
    (0..code.tokens.len()).find(is_use).map(told).into_iter().collect()
}
