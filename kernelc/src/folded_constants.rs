//! Operations on constants that C++ leaves undefined, as `7u / (6u & 1u)`.
//!
//! Clang folds them to `poison` while it makes the code of a function, before `integer_division` can define a result. LLVM then
//! drops what depends on the value: stores vanish, loops lose their ends. Such kernels are refused.
//!
//! In the code that Clang prints unoptimised, scalar `poison` has no other origin. Vectors and structs are built from it.

use crate::lower::{KernelError, Remedy};
use crate::{always_inline, demangle, ir};

const MESSAGE: &str = "an operation on constants is undefined in C++, and Clang has dropped its result: an integer division by 0, \
    the most negative number divided by -1, a shift by as many bits as the number has, or the conversion of a number that does not \
    fit; make one operand a variable that is not const (x / 0 and x % 0 then have all bits set), or remove the operation";

/// The functions and instructions of kernels that use such a value, one for each line of the source.
pub fn refused(text: &str) -> Vec<KernelError> {
    if !text.lines().any(uses_poison) {
        return Vec::new();
    }
    let reached = always_inline::of_kernels(text);
    let module = ir::read(text).ok();
    let mut found: Vec<KernelError> = Vec::new();
    let mut function = None;
    for line in text.lines() {
        if line.starts_with("define ") {
            function = always_inline::names(line).next().filter(|name| reached.contains(name));
        }
        let Some(name) = function.filter(|_| uses_poison(line)) else { continue };
        let frames = module.as_ref().zip(location(line)).map(|(module, at)| module.frames(at)).unwrap_or_default();
        let message =
            if frames.is_empty() { format!("in '{}': {MESSAGE}", demangle::demangled(name)) } else { MESSAGE.into() };
        let error = KernelError { message, frames, remedy: Remedy::None };
        let same = |other: &KernelError| match (error.frames.first(), other.frames.first()) {
            (Some(a), Some(b)) => (&a.file, a.line) == (&b.file, b.line),
            _ => *other == error,
        };
        if !found.iter().any(same) {
            found.push(error);
        }
    }
    found
}

/// Whether an instruction has a scalar operand that is `poison`.
fn uses_poison(line: &str) -> bool {
    const WORD: &str = " poison";
    if !line.starts_with("  ") || line.contains(" = shufflevector ") {
        return false;
    }
    line.match_indices(WORD).any(|(at, _)| {
        let whole = !line[at + WORD.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || "_.$".contains(c));
        let before = line[..at].rsplit(' ').next().unwrap_or_default();
        // Vectors, structs and arrays are built from it, element by element.
        let aggregate = before.ends_with(['>', '}', ']', '"']) || before.starts_with('%') && !before.ends_with(',');
        whole && !aggregate
    })
}

/// The number of an instruction's `!dbg`.
fn location(line: &str) -> Option<ir::LocationId> {
    let number = line.split_once("!dbg !")?.1;
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    number[..end].parse().ok().map(ir::LocationId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_only() {
        for line in [
            "  store i32 poison, ptr %x",
            "  br i1 poison, label %1, label %2",
            "  %7 = fadd float %6, poison, !dbg !21",
            "  %5 = phi i32 [ poison, %1 ], [ 4, %2 ]",
            "  call spir_func void @f(i32 noundef poison) #8",
            "  %1 = insertelement <4 x i32> %0, i32 poison, i32 0",
            "  store <2 x i32> <i32 poison, i32 1>, ptr %x",
        ] {
            assert!(uses_poison(line), "{line}");
        }
        for line in [
            "  %1 = insertelement <4 x float> poison, float %0, i32 0",
            "  %1 = shufflevector <4 x i32> %0, <4 x i32> poison, <2 x i32> <i32 0, i32 poison>",
            "  %1 = insertvalue { i32, i32 } poison, i32 %0, 0",
            "  %1 = insertvalue %struct.pair poison, i32 %0, 0",
            "  call void @f(i32 %poison)",
            "attributes #8 = { nocreateundeforpoison poison }",
        ] {
            assert!(!uses_poison(line), "{line}");
        }
    }

    #[test]
    fn functions_of_kernels_only() {
        let text = "define spir_kernel void @kernel() {\n  call void @_Z4usedv()\n  ret void\n}\n\
                    define void @_Z4usedv() {\n  store i32 poison, ptr null\n  store i32 poison, ptr null\n  ret void\n}\n\
                    define void @_Z5otherv() {\n  store i32 poison, ptr null\n  ret void\n}\n";
        let found = refused(text);
        assert!(found.len() == 1 && found[0].message.starts_with("in 'used': "), "{found:?}");
    }
}
