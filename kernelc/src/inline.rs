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

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn functions_are_marked_once_and_nothing_else_is_touched() {
        let ir = "define void @f() #0 {\n}\nattributes #0 = { convergent noinline nounwind optnone \"a\"=\"b\" }\n\
                  attributes #1 = { alwaysinline }\n; attributes #2 = { noinline }\n";
        let expected = "define void @f() #0 {\n}\nattributes #0 = { alwaysinline convergent nounwind \"a\"=\"b\" }\n\
                        attributes #1 = { alwaysinline }\n; attributes #2 = { noinline }\n";
        assert_eq!(marked(ir), expected);
    }
}
