//! The C++ library of a program whose functions for both sides choose among others of both and the host's
//! (`Amp::DeviceBeforeHost`): all of it is for both sides there.
//!
//! Clang leaves the host's functions out then where another can be taken, and a deleted function is one of both: of
//! `thread(const thread &) = delete` and `thread(thread &&)` it would take the first, and C++20's `jthread` could not be moved.

use crate::own_sources::{self, OwnSource};
use std::collections::HashSet;

/// Read before: C's functions stay the host's, beside those of `fast_math`. So do what Clang declares itself.
const BEFORE: &str = "\
#define REVAMP_LIBRARY_IS_BOTH 1
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
#include <new>
#include <exception>
#include <typeinfo>
";

/// What `<amp.h>` brings, and what that is made of.
const OF_AMP: [&str; 19] = [
    "algorithm",
    "array",
    "atomic",
    "chrono",
    "cmath",
    "cstdlib",
    "cstring",
    "functional",
    "future",
    "iostream",
    "iterator",
    "limits",
    "map",
    "memory",
    "mutex",
    "string",
    "thread",
    "type_traits",
    "vector",
];

/// What is included before anything else: the headers of the library that these name. `<cassert>` follows NDEBUG each time.
pub fn for_both(sources: &[OwnSource]) -> String {
    let named = sources.iter().flat_map(|source| own_sources::includes(&source.bytes));
    let named = named.map(|include| include.name.to_string_lossy().into_owned());
    let standard = |name: &String| name != "cassert" && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let mut seen = HashSet::new();
    let mut text = format!("{BEFORE}#pragma clang force_cuda_host_device begin\n");
    for name in OF_AMP.iter().map(|name| (*name).to_owned()).chain(named.filter(standard)) {
        if seen.insert(name.clone()) {
            text += &format!("#if __has_include(<{name}>)\n#include <{name}>\n#endif\n");
        }
    }
    text + "#pragma clang force_cuda_host_device end\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_sources_name_are_for_both_sides() {
        let source = OwnSource::new(
            "a.cpp".into(),
            b"#include <cassert>\n#include <my/own.h>\n # include <span>\n#include <vector>\n#include \"x.h\"\n"
                .to_vec(),
        );
        let text = for_both(&[source]);
        let forced = text.split("begin").nth(1).unwrap_or_default();
        assert!(forced.contains("#include <span>") && forced.matches("#include <vector>").count() == 1, "{text}");
        assert!(!text.contains("cassert") && !text.contains("own.h") && !text.contains("x.h"), "{text}");
    }
}
