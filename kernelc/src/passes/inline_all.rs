//! Marks all functions for inlining, whatever their size, so that each kernel becomes a function without calls.
//!
//! - Precondition: none. Calls of recursive functions remain, and a later step refuses them.
//! - Effect: each function is `alwaysinline` and `mustprogress`. Contradicting attributes are removed, from calls too.
//!   `mustprogress` is valid because no thread enters an endless loop without effects. A loop such as `while (true) {}`
//!   occurs only where a condition that is never true guards it.
//! - Why: LLVM's `forceattrs` needs hidden options for this, and hidden options are global to the process.

use crate::device_abi::KERNEL;
use crate::llvm::{Form, Module, Value, number};
use number::opcode as o;
use std::collections::HashMap;

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        // Intrinsics are skipped, because LLVM sets their attributes.
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

/// A kernel is large if its text has more lines than this after all calls are inlined. The largest kernel of the tests
/// and examples has 11,000 lines. The passes always-inline and slsr need some seconds for 64,000 lines, and their time is quadratic.
const LARGE_LINES: u64 = 40_000;

/// True if a kernel of the module is large once all calls are inlined.
pub fn is_large(module: &Module) -> bool {
    let functions: Vec<Value<'_>> = module.functions().filter(|function| is_defined(*function)).collect();
    let indices: HashMap<Value<'_>, usize> = functions.iter().enumerate().map(|(n, function)| (*function, n)).collect();
    let calls: Vec<Vec<usize>> = functions.iter().map(|function| callees(*function, &indices)).collect();
    // The number of lines of each function, including its callees. Callees are counted first. A later step refuses
    // recursion.
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
            let callee_sizes = calls[*at].iter().filter_map(|&callee| sizes[callee]);
            sizes[*at] = Some(callee_sizes.fold(lines(functions[*at]), u64::saturating_add));
            stack.pop();
        }
        if sizes[kernel].is_some_and(|lines| lines > LARGE_LINES) {
            return true;
        }
    }
    false
}

/// True for kernels for devices and for host threads.
fn is_kernel(function: Value<'_>) -> bool {
    function.is_kernel() || function.has_attribute(KERNEL)
}

fn is_defined(value: Value<'_>) -> bool {
    value.form() == Form::Other(number::value::FUNCTION) && value.first_block().is_some()
}

/// The functions that are operands of calls in `function`, as indices, with repetitions.
fn callees(function: Value<'_>, indices: &HashMap<Value<'_>, usize>) -> Vec<usize> {
    let calls = function.instructions().filter(|one| one.form() == Form::Instruction(o::CALL));
    let operands = calls.flat_map(Value::operands);
    operands.filter_map(|operand| indices.get(&operand).copied()).collect()
}

/// The number of lines of a function's text. Each block after the first begins with two extra lines.
fn lines(function: Value<'_>) -> u64 {
    let block = |block: crate::llvm::Block<'_>| 2 + block.instructions().count() as u64;
    function.blocks().map(block).sum::<u64>().saturating_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_with_many_inlined_lines_are_large() {
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
        // Functions that no kernel calls do not count, and the search terminates for recursive functions.
        assert!(!is_large(&(kernel("") + &function("", "alone", &call("leaf", 400)))));
        assert!(!is_large(&(function("spir_kernel ", "k", &call("a", 1)) + &function("", "a", &call("a", 9)))));
    }
}
