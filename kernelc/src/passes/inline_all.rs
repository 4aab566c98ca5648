//! Marks all functions for inlining, whatever their size: SPIR-V is made of whole kernels.
//!
//! - Precondition: none. A recursive function is still called, and refused later.
//! - Effect: each function is `alwaysinline` and `mustprogress`, since no thread enters a loop that does nothing and never ends, as
//!   `while (true) {}` behind what is never true. What contradicts that is removed, from calls too.
//! - Why: LLVM's `forceattrs` does so by hidden options, which are global to the process.

use crate::device_abi::KERNEL;
use crate::llvm::{Form, Module, Value, number};
use number::opcode as o;
use std::collections::HashMap;

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        // LLVM knows the attributes of its own functions.
        for function in edit.functions().filter(|function| function.intrinsic() == 0) {
            for name in ["noinline", "optnone", "inlinehint"] {
                edit.remove_attribute(function, name);
            }
            for name in ["alwaysinline", "mustprogress"] {
                edit.add_attribute(function, name);
            }
            for call in function.instructions().filter(|one| one.form() == Form::Instruction(o::CALL)) {
                let callee = call.called();
                if callee.is_some_and(is_defined) {
                    edit.remove_attribute(call, "noinline");
                }
            }
        }
    });
}

/// A kernel with more lines of text than this, all that it calls included, is large. The largest of tests and examples has
/// 11,000. always-inline and slsr take some seconds for 64,000 lines, and four times as long for twice as many.
const LARGE: u64 = 40_000;

/// Whether a kernel of the module becomes large when all that it calls is inlined.
pub fn is_large(module: &Module) -> bool {
    let functions: Vec<Value<'_>> = module.functions().filter(|function| is_defined(*function)).collect();
    let places: HashMap<Value<'_>, usize> = functions.iter().enumerate().map(|(n, function)| (*function, n)).collect();
    let calls: Vec<Vec<usize>> = functions.iter().map(|function| named(*function, &places)).collect();
    // The lines of each function with those of what it calls, callees first. Recursion is refused anyway.
    let mut sizes: Vec<Option<u64>> = vec![None; functions.len()];
    let mut seen = vec![false; functions.len()];
    for (kernel, _) in functions.iter().enumerate().filter(|(_, function)| is_kernel(**function)) {
        let mut stack = vec![(kernel, 0)];
        while let Some((at, next)) = stack.last_mut() {
            seen[*at] = true;
            if let Some(&callee) = calls[*at].get(*next) {
                *next += 1;
                if !seen[callee] {
                    stack.push((callee, 0));
                }
                continue;
            }
            let inner = calls[*at].iter().filter_map(|&callee| sizes[callee]);
            sizes[*at] = Some(inner.fold(lines(functions[*at]), u64::saturating_add));
            stack.pop();
        }
        if sizes[kernel].is_some_and(|lines| lines > LARGE) {
            return true;
        }
    }
    false
}

/// Whether it is a kernel for devices or for host threads.
fn is_kernel(function: Value<'_>) -> bool {
    function.is_kernel() || function.has_attribute(KERNEL)
}

fn is_defined(value: Value<'_>) -> bool {
    value.form() == Form::Other(number::value::FUNCTION) && value.first_block().is_some()
}

/// The functions that calls of a function name, with repetitions.
fn named(function: Value<'_>, places: &HashMap<Value<'_>, usize>) -> Vec<usize> {
    let calls = function.instructions().filter(|one| one.form() == Form::Instruction(o::CALL));
    let operands = calls.flat_map(Value::operands);
    operands.filter_map(|operand| places.get(&operand).copied()).collect()
}

/// The lines of a function's text: each block after the first begins with two.
fn lines(function: Value<'_>) -> u64 {
    let block = |block: crate::llvm::Block<'_>| 2 + block.instructions().count() as u64;
    function.blocks().map(block).sum::<u64>().saturating_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_kernel_is_one_that_calls_much() {
        let is_large = |text: &str| is_large(&crate::ir::tests::parsed(text).unwrap());
        let function =
            |kind: &str, name: &str, body: &str| format!("define {kind}void @{name}() {{\n{body}  ret void\n}}\n");
        let call = |name: &str, times: usize| format!("  call void @{name}()\n").repeat(times);
        let leaf = function("", "leaf", &"  fence acquire\n".repeat(99));
        let odd = function("", "\"an odd name\"", &call("leaf", 20));
        let kernel = |body: &str| leaf.clone() + &odd + &function("spir_kernel ", "k", body);
        assert!(is_large(&kernel(&call("leaf", 400))));
        assert!(is_large(&kernel(&call("\"an odd name\"", 20))));
        assert!(!is_large(&kernel(&call("leaf", 390))));
        // What no kernel calls does not count, and recursion ends the walk.
        assert!(!is_large(&(kernel("") + &function("", "alone", &call("leaf", 400)))));
        assert!(!is_large(&(function("spir_kernel ", "k", &call("a", 1)) + &function("", "a", &call("a", 9)))));
    }
}
