//! Finds functions that differ only in their restriction.

use crate::findings::Finding;
use crate::functions::{Function, functions};
use crate::source::Source;
use crate::syntax::Code;
use std::collections::HashMap;

/// True if the function is `restrict(amp)`, and true if it is `restrict(cpu)`.
type Restriction = (bool, bool);

/// Finds functions that differ only in their restriction. Only the kernel compiler can distinguish them.
pub fn overloads(_: &Source, code: &Code) -> Vec<Finding> {
    // The key is the scope, the name and the types of the parameters.
    let mut restrictions_by_signature: HashMap<(usize, String, Vec<String>), Vec<Restriction>> = HashMap::new();
    let mut all = Vec::new();
    for Function { name, at, parameters, restriction, .. } in functions(code) {
        let restriction = restriction.unwrap_or((false, true));
        let types = parameters.into_iter().map(|p| p.text).collect();
        let earlier_restrictions =
            restrictions_by_signature.entry((code.scope_of[at], name.clone(), types)).or_default();
        if earlier_restrictions.iter().any(|other| *other != restriction) {
            let reason = "a function that differs from another only in its restriction: GCC treats both as one \
                          function, but revamp-c++ and revamp_add_kernels() distinguish them";
            all.push(
                Finding::new(
                    code.tokens[at].line,
                    format!("{name}("),
                    reason,
                    "write one function that is restrict(amp, cpu), or use another name",
                )
                .as_note(),
            );
        }
        earlier_restrictions.push(restriction);
    }
    all
}
