//! Integer divisions of kernels have a result for all operands, the same one on all devices (docs/spec/language.md#integer-division):
//!
//! - by zero, all bits of the quotient and of the remainder are set, as in Direct3D;
//! - the most negative number divided by -1 is itself, and the remainder is 0.
//!
//! LLVM leaves these undefined, x86-64 raises a signal, and GPUs differ. Each division of the device's code is rewritten
//! before LLVM's passes run: conditions choose a divisor that is always valid, and the result. They are no branches, so loops still
//! become vectors, and LLVM drops them where it knows the divisor.

use std::fmt::Write;

/// The module with such divisions; `None` if nothing changes.
pub fn defined(ir: &str) -> Option<String> {
    let mut text = String::with_capacity(ir.len());
    let mut changes = 0;
    for line in ir.split_inclusive('\n') {
        match Division::of(line).and_then(|division| division.rewritten(changes)) {
            Some(lines) => {
                text.push_str(&lines);
                changes += 1;
            }
            None => text.push_str(line),
        }
    }
    (changes > 0).then_some(text)
}

/// A line that divides.
struct Division<'t> {
    result: &'t str,
    /// `sdiv`, perhaps with flags.
    operation: &'t str,
    ty: &'t str,
    left: &'t str,
    right: &'t str,
    /// Metadata with its comma, or nothing.
    behind: &'t str,
}

impl<'t> Division<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let (result, rest) = line.strip_prefix("  %")?.split_once(" = ")?;
        let words = ["udiv exact ", "udiv ", "sdiv exact ", "sdiv ", "urem ", "srem "];
        let word = words.into_iter().find(|word| rest.starts_with(word))?;
        let (operation, rest) = rest.split_at(word.len());
        let end = if rest.starts_with('<') { rest.find('>')? + 1 } else { rest.find(' ')? };
        let (ty, rest) = rest.split_at(end);
        let (left, rest) = operand(rest.trim())?;
        let (right, behind) = operand(rest.strip_prefix(", ")?)?;
        Some(Self { result, operation: operation.trim_end(), ty, left, right, behind })
    }

    fn rewritten(&self, number: usize) -> Option<String> {
        let Self { result, ty, left, right, behind, .. } = *self;
        let signed = self.operation.starts_with('s');
        let quotient = self.operation.contains("div");
        let one_line = |what: String| Some(format!("  %{result} = {what}{behind}\n"));
        match right {
            "0" | "zeroinitializer" | "undef" | "poison" => {
                return one_line(format!("or {ty} {left}, {}", self.constant(-1)?));
            }
            "-1" if signed && quotient => return one_line(format!("sub {ty} {}, {left}", self.constant(0)?)),
            "-1" if signed => return one_line(format!("and {ty} {left}, {}", self.constant(0)?)),
            _ if right.parse::<i128>().is_ok() => return None,
            _ => {}
        }
        let bits = if ty.starts_with('<') { format!("{} x i1>", ty.rsplit_once(" x ")?.0) } else { "i1".to_owned() };
        let (zero, one, ones) = (self.constant(0)?, self.constant(1)?, self.constant(-1)?);
        let name = |what: &str| format!("%divided.{number}.{what}");
        let mut text = String::new();
        let mut line = |made: &str, what: String| {
            let _ = writeln!(text, "  {made} = {what}{behind}");
        };
        line(&name("zero"), format!("icmp eq {ty} {right}, {zero}"));
        let mut special = name("zero");
        if signed {
            line(&name("minus"), format!("icmp eq {ty} {right}, {ones}"));
            special = name("special");
            line(&special, format!("or {bits} {}, {}", name("zero"), name("minus")));
        }
        line(&name("by"), format!("select {bits} {special}, {ty} {one}, {ty} {right}"));
        line(&name("plain"), format!("{} {ty} {left}, {}", self.operation, name("by")));
        let mut plain = name("plain");
        if signed && quotient {
            line(&name("less"), format!("sub {ty} {zero}, {left}"));
            line(&name("signed"), format!("select {bits} {}, {ty} {}, {ty} {plain}", name("minus"), name("less")));
            plain = name("signed");
        }
        line(&format!("%{result}"), format!("select {bits} {}, {ty} {ones}, {ty} {plain}", name("zero")));
        Some(text)
    }

    /// A number, in all elements of a vector.
    fn constant(&self, number: i32) -> Option<String> {
        let vector = self.ty.strip_prefix('<').and_then(|ty| ty.strip_suffix('>'));
        match vector {
            Some(vector) => Some(format!("splat ({} {number})", vector.split_once(" x ")?.1)),
            None => Some(number.to_string()),
        }
    }
}

/// An operand, and what follows it.
fn operand(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => return Some((&text[..at], &text[at..])),
            _ => {}
        }
    }
    (depth == 0 && !text.is_empty()).then_some((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<String> {
        defined(&format!("define void @f() {{\n{line}\n}}\n")).map(|text| {
            let body = text.strip_prefix("define void @f() {\n").and_then(|rest| rest.strip_suffix("}\n"));
            body.unwrap_or_default().to_owned()
        })
    }

    #[test]
    fn constant_divisors_cost_nothing() {
        for line in [
            "  %3 = sdiv i32 %1, 7",
            "  %3 = urem i64 %1, -1, !dbg !4",
            "  %3 = sdiv exact i64 %1, 4",
            "  %3 = srem i32 5, -7",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        for (line, made) in [
            ("  %3 = udiv i32 %1, 0", "  %3 = or i32 %1, -1\n"),
            ("  %3 = srem i64 %1, 0, !dbg !4", "  %3 = or i64 %1, -1, !dbg !4\n"),
            ("  %3 = sdiv i32 %1, -1", "  %3 = sub i32 0, %1\n"),
            ("  %3 = srem i32 %1, -1", "  %3 = and i32 %1, 0\n"),
            ("  %3 = udiv <2 x i8> %1, zeroinitializer", "  %3 = or <2 x i8> %1, splat (i8 -1)\n"),
        ] {
            assert_eq!(of(line).as_deref(), Some(made), "{line}");
        }
    }

    #[test]
    fn other_divisors_are_chosen() {
        assert_eq!(
            of("  %3 = urem i32 %1, %2, !dbg !4").as_deref(),
            Some(
                "  %divided.0.zero = icmp eq i32 %2, 0, !dbg !4\n  %divided.0.by = select i1 %divided.0.zero, i32 1, i32 %2, !dbg !4\n  \
                 %divided.0.plain = urem i32 %1, %divided.0.by, !dbg !4\n  \
                 %3 = select i1 %divided.0.zero, i32 -1, i32 %divided.0.plain, !dbg !4\n"
            )
        );
        let signed = of("  %3 = sdiv i32 %1, %2").unwrap_or_default();
        assert!(signed.contains("%divided.0.plain = sdiv i32 %1, %divided.0.by\n"), "{signed}");
        assert!(signed.contains("%divided.0.special, i32 1, i32 %2\n"), "{signed}");
        assert!(signed.contains("select i1 %divided.0.minus, i32 %divided.0.less, i32 %divided.0.plain\n"), "{signed}");
        let vector = of("  %3 = srem <4 x i16> %1, <i16 1, i16 0, i16 2, i16 3>").unwrap_or_default();
        assert!(vector.contains("icmp eq <4 x i16> <i16 1, i16 0, i16 2, i16 3>, splat (i16 0)\n"), "{vector}");
        assert!(vector.contains("select <4 x i1> %divided.0.zero, <4 x i16> splat (i16 -1), "), "{vector}");
    }
}
