//! Inlining of everything that kernels call, whatever its size: SPIR-V is made of whole kernels.

use crate::device_abi::{DeviceFunction, begins_kernel};
use std::collections::HashMap;

/// The text of a module with each function marked `alwaysinline`, and `mustprogress`: no thread enters a loop that does nothing
/// and never ends, as `while (true) {}` behind what is never true. A recursive function is still called, and refused later.
pub fn marked(ir: &str) -> String {
    let mut text = String::with_capacity(ir.len() + 4096);
    for line in ir.split_inclusive('\n') {
        match line.split_once("{ ").filter(|_| line.starts_with("attributes #")) {
            Some((group, words)) => {
                text.push_str(group);
                text.push_str("{ alwaysinline mustprogress ");
                for word in words.split_inclusive(' ') {
                    // These contradict it or repeat it.
                    if !matches!(
                        word.trim_end(),
                        "noinline" | "optnone" | "alwaysinline" | "mustprogress" | "inlinehint"
                    ) {
                        text.push_str(word);
                    }
                }
            }
            None => text.push_str(line),
        }
    }
    text
}

/// A kernel with more lines of text than this, all that it calls included, is large. The largest of tests and examples has
/// 11,000. always-inline and slsr take some seconds for 64,000 lines, and four times as long for twice as many.
const LARGE: u64 = 40_000;

/// Whether a kernel of the module becomes large when all that it calls is inlined.
pub fn is_large(ir: &str) -> bool {
    let functions = functions(ir);
    let places: HashMap<&str, usize> = functions.iter().enumerate().map(|(n, function)| (function.name, n)).collect();
    let called = |function: &Text<'_>| function.named.iter().filter_map(|name| places.get(name).copied()).collect();
    let calls: Vec<Vec<usize>> = functions.iter().map(called).collect();
    // The lines of each function with those of what it calls, callees first. Recursion is refused anyway.
    let mut sizes: Vec<Option<u64>> = vec![None; functions.len()];
    let mut seen = vec![false; functions.len()];
    for (kernel, _) in functions.iter().enumerate().filter(|(_, function)| function.kernel) {
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
            sizes[*at] = Some(inner.fold(functions[*at].lines, u64::saturating_add));
            stack.pop();
        }
        if sizes[kernel].is_some_and(|lines| lines > LARGE) {
            return true;
        }
    }
    false
}

/// A function as text.
struct Text<'t> {
    name: &'t str,
    kernel: bool,
    lines: u64,
    /// The globals that its body names, with repetitions.
    named: Vec<&'t str>,
}

fn functions(ir: &str) -> Vec<Text<'_>> {
    let mut all: Vec<Text<'_>> = Vec::new();
    let mut inside = false;
    for line in ir.lines() {
        if line.starts_with("define ") {
            let name = names(line).next().unwrap_or_default();
            all.push(Text { name, kernel: begins_kernel(line), lines: 0, named: Vec::new() });
            inside = true;
        } else if line == "}" {
            inside = false;
        } else if let Some(function) = all.last_mut().filter(|_| inside) {
            function.lines += 1;
            function.named.extend(names(line));
        }
    }
    all
}

/// The names of globals in a line: what stands behind each `@`, quoted or not.
pub fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split('@').skip(1).map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.$".contains(c))).next().unwrap_or_default(),
    })
}

/// Whether the module has threads that end before their kernel does.
pub fn ends_threads(ir: &str) -> bool {
    DeviceFunction::EndThread.is_named_in(ir)
}

/// The text of a module whose functions are inlined, where a call that ends the thread returns from the kernel.
pub fn returning(ir: &str) -> String {
    let mut text = String::with_capacity(ir.len());
    let mut in_kernel = false;
    let mut lines = ir.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("define ") {
            in_kernel = begins_kernel(line);
        }
        let ends = in_kernel && line.starts_with(' ') && ends_threads(line);
        match lines.peek().and_then(|next| next.strip_prefix("  unreachable")).filter(|_| ends) {
            Some(place) => {
                text.push_str("  ret void");
                text.push_str(place);
                lines.next();
            }
            None => text.push_str(line),
        }
    }
    text
}

/// The lines of a module, with whether each is an `unreachable` of a kernel: what no thread gets to, as what follows the last
/// iteration that a loop may have where it is unrolled that often.
fn with_unreachable(ir: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut in_kernel = false;
    ir.split_inclusive('\n').map(move |line| {
        if line.starts_with("define ") {
            in_kernel = begins_kernel(line);
        }
        (line, in_kernel && line.starts_with("  unreachable"))
    })
}

/// The text of a module whose kernels return where no thread gets to.
pub fn without_unreachable(ir: &str) -> String {
    let mut text = String::with_capacity(ir.len());
    for (line, unreachable) in with_unreachable(ir) {
        if unreachable {
            text.push_str("  ret void");
        }
        text.push_str(if unreachable { &line["  unreachable".len()..] } else { line });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{ends_threads, is_large, marked, returning, without_unreachable};

    #[test]
    fn a_large_kernel_is_one_that_calls_much() {
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

    #[test]
    fn a_call_that_ends_the_thread_returns_from_the_kernel() {
        let function = |kind: &str, end: &str| format!("define {kind}void @f() {{\n{end}}}\n");
        let call = "  tail call void @__revamp_end_thread() #5, !dbg !3\n  unreachable, !dbg !4\n";
        assert_eq!(returning(&function("spir_kernel ", call)), function("spir_kernel ", "  ret void, !dbg !4\n"));
        // What is not inlined is refused.
        for other in [function("", call), function("spir_kernel ", "  unreachable\n"), String::new()] {
            assert_eq!(returning(&other), other);
        }
        assert!(ends_threads(call) && !ends_threads("  unreachable\n"));
    }

    #[test]
    fn kernels_return_where_no_thread_gets_to() {
        let function = |kind: &str, end: &str| format!("define {kind}void @f() {{\n{end}}}\n");
        let (alone, call) = ("  unreachable, !dbg !4\n", "  call void @__revamp_tile_barrier(i32 3)\n");
        let kernel = function("spir_kernel ", &(call.to_owned() + alone)) + &function("", alone);
        let expected = function("spir_kernel ", &(call.to_owned() + "  ret void, !dbg !4\n")) + &function("", alone);
        assert_eq!(without_unreachable(&kernel), expected);
        assert_eq!(without_unreachable(&expected), expected);
    }

    #[test]
    fn functions_are_marked_once_and_nothing_else_is_touched() {
        let ir = "define void @f() #0 {\n}\nattributes #0 = { convergent noinline nounwind optnone \"a\"=\"b\" }\n\
                  attributes #1 = { alwaysinline }\n; attributes #2 = { noinline }\n";
        let expected = "define void @f() #0 {\n}\nattributes #0 = { alwaysinline mustprogress convergent nounwind \"a\"=\"b\" }\n\
                        attributes #1 = { alwaysinline mustprogress }\n; attributes #2 = { noinline }\n";
        assert_eq!(marked(ir), expected);
    }
}
