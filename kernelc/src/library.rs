//! With `Amp::DeviceBeforeHost`, makes the C++ library host+device code.
//!
//! In this mode, Clang ignores host-only candidates if a host+device function can be called, and treats deleted functions as
//! host+device. If the library were host code, Clang would prefer `thread(const thread &) = delete` to a host-only
//! `thread(thread &&)`, and C++20's `jthread` could not be moved.

use crate::own_sources::{self, OwnSource};
use std::collections::HashSet;

/// The first part of the header. These standard headers stay host code, because they declare functions of the C
/// library, and functions that Clang itself declares, too. `fast_math` declares functions of the same names.
const HOST_HEADERS: &str = "\
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

/// The standard headers that `<amp.h>` includes directly or indirectly.
const INCLUDED_BY_AMP: [&str; 19] = [
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

/// The text of a header to include before all others. It includes, as host+device code, the standard headers that the
/// sources name. It omits `<cassert>`, because the effect of that header depends on NDEBUG at each inclusion.
pub fn host_device_header(sources: &[OwnSource]) -> String {
    let named = sources.iter().flat_map(|source| own_sources::includes(&source.bytes));
    let named = named.map(|include| include.name.to_string_lossy().into_owned());
    let is_standard = |name: &String| name != "cassert" && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let mut seen = HashSet::new();
    let mut text = format!("{HOST_HEADERS}#pragma clang force_cuda_host_device begin\n");
    for name in INCLUDED_BY_AMP.iter().map(|name| (*name).to_owned()).chain(named.filter(is_standard)) {
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
    fn headers_that_sources_name_become_host_device_code() {
        let source = OwnSource::new(
            "a.cpp".into(),
            b"#include <cassert>\n#include <my/own.h>\n # include <span>\n#include <vector>\n#include \"x.h\"\n"
                .to_vec(),
        );
        let text = host_device_header(&[source]);
        let host_device_part = text.split("begin").nth(1).unwrap_or_default();
        assert!(
            host_device_part.contains("#include <span>") && host_device_part.matches("#include <vector>").count() == 1,
            "{text}"
        );
        assert!(!text.contains("cassert") && !text.contains("own.h") && !text.contains("x.h"), "{text}");
    }
}
