//! Functions that differ by their restriction alone.

use crate::findings::Finding;
use crate::functions::{Function, functions};
use crate::source::Source;
use crate::syntax::Code;
use std::collections::HashMap;

/// Whether a function may run on devices, and on the host.
type Restriction = (bool, bool);

/// Functions that differ by their restriction alone, which only the kernel compiler can tell apart.
pub fn overloads(_: &Source, code: &Code) -> Vec<Finding> {
    // By scope, name and types.
    let mut known: HashMap<(usize, String, Vec<String>), Vec<Restriction>> = HashMap::new();
    let mut all = Vec::new();
    for Function { name, at, parameters, restriction, .. } in functions(code) {
        let restriction = restriction.unwrap_or((false, true));
        let types = parameters.into_iter().map(|p| p.text).collect();
        let others = known.entry((code.scope_of[at], name.clone(), types)).or_default();
        if others.iter().any(|other| *other != restriction) {
            let reason = "a function that differs from another only in its restriction: GCC treats both as one; \
                          revamp-c++ and revamp_add_kernels() distinguish them";
            all.push(
                Finding::new(
                    code.tokens[at].line,
                    format!("{name}("),
                    reason,
                    "one function that is restrict(amp, cpu), or another name",
                )
                .as_note(),
            );
        }
        others.push(restriction);
    }
    all
}
