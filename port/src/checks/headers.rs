//! Finds header names that only Windows accepts, and missing `#include` directives.

use crate::findings::{Edit, Finding};
use crate::source::Source;
use crate::syntax::Code;
use crate::table;

/// Headers of C++ AMP in lower case. Windows accepts their names in any case.
const AMP_HEADERS: [&str; 5] = ["<amp.h>", "<amprt.h>", "<amp_math.h>", "<amp_short_vectors.h>", "<amp_graphics.h>"];
/// Names that MSVC's headers declare because they include each other. Each row has the functions or classes, the C++ header that declares them,
/// the C header that declares them (empty: none), and true if `<amp.h>` includes the C++ header.
const TRANSITIVE_NAMES: &[(&str, &str, &str, bool)] = &[
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

/// Finds names of headers with backslashes or in the wrong case.
pub fn spellings(source: &Source, _: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for token in source.tokens.iter().filter(|t| t.header) {
        let written = &source.text[token.range.clone()];
        let quote = &written[..1];
        let name_on_disk = source.headers.iter().find(|header| header.name == token.text && quote == "\"");
        let name_on_disk = name_on_disk.map(|header| format!("\"{}\"", header.name_on_disk));
        let is_known =
            name_on_disk.is_none() && table::rows().iter().any(|row| row.pattern.last() == Some(&token.text.as_str()));
        let (reason, replacement) = if written.contains('\\') {
            ("'/' separates folders here", name_on_disk.unwrap_or_else(|| written.replace('\\', "/")))
        } else if let Some(name_on_disk) =
            name_on_disk.filter(|name| name.to_lowercase() == token.text && name != written)
        {
            ("file names are case-sensitive here", name_on_disk)
        } else if AMP_HEADERS.contains(&token.text.as_str()) && token.text != *written {
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

/// Finds names whose header is not included.
pub fn missing(source: &Source, code: &Code) -> Vec<Finding> {
    let has_amp = AMP_HEADERS.iter().any(|name| source.included.contains(*name));
    let mut all = Vec::new();
    for (names, header, in_c, with_amp) in TRANSITIVE_NAMES {
        if source.included.contains(*header) || has_amp && *with_amp {
            continue;
        }
        // If the C header is included, only uses with `std::` need the C++ header.
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

/// Finds macros that both Microsoft's headers and `<amp.h>` define, in sources that do not include `<amp.h>`.
pub fn amp_macros(source: &Source, code: &Code) -> Vec<Finding> {
    let has_amp = AMP_HEADERS.iter().any(|name| source.included.contains(*name));
    let is_resolved = |name: &String| name.starts_with('<') || source.headers.iter().any(|header| header.name == *name);
    if has_amp || source.has_unknown_headers || !source.included.iter().all(is_resolved) {
        return Vec::new();
    }
    let is_use = |at: &usize| table::amp_macros().contains(code.text(*at)) && !source.names.has(code.text(*at));
    let finding_at = |at: usize| {
        let reason = "a name from Microsoft's headers that <amp.h> also has";
        Finding::new(code.tokens[at].line, code.text(at), reason, "#include <amp.h>, or write a declaration")
    };
    (0..code.tokens.len()).find(is_use).map(finding_at).into_iter().collect()
}
