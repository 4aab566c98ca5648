//! Kernels are compiled whole: every function that they call is inlined into them, whatever its size.

/// The text of a module with each function marked `alwaysinline`. What calls itself stays a call, and is refused later.
pub fn marked(ir: &str) -> String {
    let mut text = String::with_capacity(ir.len() + 4096);
    for line in ir.split_inclusive('\n') {
        match line.split_once("{ ").filter(|_| line.starts_with("attributes #")) {
            Some((group, words)) => {
                text.push_str(group);
                text.push_str("{ alwaysinline ");
                for word in words.split_inclusive(' ') {
                    // These say the contrary.
                    if !matches!(word.trim_end(), "noinline" | "optnone" | "alwaysinline" | "inlinehint") {
                        text.push_str(word);
                    }
                }
            }
            None => text.push_str(line),
        }
    }
    text
}

/// What ends its thread when it is called.
const ENDS: &str = "@__revamp_end_thread(";

/// Whether the module has threads that end before their kernel does.
pub fn ends_threads(ir: &str) -> bool {
    ir.contains(ENDS)
}

/// The text of a module whose functions are inlined, where a call that ends the thread returns from the kernel.
pub fn returning(ir: &str) -> String {
    let mut text = String::with_capacity(ir.len());
    let mut in_kernel = false;
    let mut lines = ir.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("define ") {
            in_kernel = line.contains(" spir_kernel ") || line.contains(" amdgpu_kernel ");
        }
        let ends = in_kernel && line.starts_with(' ') && line.contains(ENDS);
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

#[cfg(test)]
mod tests {
    use super::{ends_threads, marked, returning};

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
    fn functions_are_marked_once_and_nothing_else_is_touched() {
        let ir = "define void @f() #0 {\n}\nattributes #0 = { convergent noinline nounwind optnone \"a\"=\"b\" }\n\
                  attributes #1 = { alwaysinline }\n; attributes #2 = { noinline }\n";
        let expected = "define void @f() #0 {\n}\nattributes #0 = { alwaysinline convergent nounwind \"a\"=\"b\" }\n\
                        attributes #1 = { alwaysinline }\n; attributes #2 = { noinline }\n";
        assert_eq!(marked(ir), expected);
    }
}
