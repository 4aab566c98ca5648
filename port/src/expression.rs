//! Evaluates the expressions of `#if`. The value is unknown if it depends on an unknown macro.

use crate::lex::Token;

/// What is known about a macro.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Macro {
    /// The macro is not defined: its value is 0 in expressions.
    Undefined,
    /// The macro is defined, with its value if that is a known number.
    Defined(Option<i64>),
    /// It is not known whether the macro is defined.
    Unknown,
}

/// The maximum nesting of parentheses and unary operators. The value of a deeper expression is unknown.
const DEPTH: usize = 64;

/// The value of an expression; `None` if it is unknown. `macros` looks a name up.
pub fn value(tokens: &[Token], macros: &dyn Fn(&str) -> Macro) -> Option<i64> {
    let mut reader = Reader { tokens, at: 0, macros, depth: 0, is_invalid: false };
    let found = reader.ternary();
    if reader.is_invalid || reader.at < tokens.len() { None } else { found }
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    macros: &'t dyn Fn(&str) -> Macro,
    depth: usize,
    /// The tokens are not a valid expression.
    is_invalid: bool,
}

/// The binary operators, from the lowest precedence.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_> {
    fn text(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |t| t.text.as_str())
    }

    /// Consumes the next operator if it is of the level.
    fn operator(&mut self, level: &[&'static str]) -> Option<&'static str> {
        let adjacent = matches!((self.tokens.get(self.at), self.tokens.get(self.at + 1)),
            (Some(a), Some(b)) if a.range.end == b.range.start);
        let pair = format!("{}{}", self.text(0), self.text(1));
        let is_pair = adjacent && matches!(pair.as_str(), "||" | "&&" | "==" | "!=" | "<=" | ">=" | "<<" | ">>");
        let found = if is_pair { pair } else { self.text(0).to_owned() };
        let operator = level.iter().find(|o| **o == found)?;
        self.at += if is_pair { 2 } else { 1 };
        Some(operator)
    }

    fn ternary(&mut self) -> Option<i64> {
        let condition = self.binary(0);
        if self.text(0) != "?" {
            return condition;
        }
        self.at += 1;
        let (yes, _) = (self.nested(), self.expect(":"));
        let no = self.nested();
        match condition {
            Some(0) => no,
            Some(_) => yes,
            None => yes.filter(|value| Some(*value) == no),
        }
    }

    fn nested(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEPTH {
            self.is_invalid = true;
            return None;
        }
        let found = self.ternary();
        self.depth -= 1;
        found
    }

    fn expect(&mut self, text: &str) {
        if self.text(0) == text {
            self.at += 1;
        } else {
            self.is_invalid = true;
        }
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1);
        while let Some(operator) = self.operator(operators) {
            let right = self.binary(level + 1);
            left = applied(operator, left, right);
        }
        left
    }

    fn unary(&mut self) -> Option<i64> {
        let operator = self.text(0).to_owned();
        if !matches!(operator.as_str(), "!" | "-" | "+" | "~") {
            return self.primary();
        }
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH {
            self.is_invalid = true;
            return None;
        }
        let found = self.unary();
        self.depth -= 1;
        let found = found?;
        Some(match operator.as_str() {
            "!" => i64::from(found == 0),
            "-" => found.wrapping_neg(),
            "~" => !found,
            _ => found,
        })
    }

    fn primary(&mut self) -> Option<i64> {
        let text = self.text(0).to_owned();
        self.at += 1;
        if text == "(" {
            let found = self.nested();
            self.expect(")");
            return found;
        }
        if text == "defined" {
            let bracketed = self.text(0) == "(";
            self.at += usize::from(bracketed);
            let known = (self.macros)(self.text(0));
            self.at += 1;
            if bracketed {
                self.expect(")");
            }
            return match known {
                Macro::Undefined => Some(0),
                Macro::Defined(_) => Some(1),
                Macro::Unknown => None,
            };
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return number(&text);
        }
        if self.text(0) == "(" {
            // A macro with arguments, or __has_include.
            self.skip_arguments();
            return None;
        }
        match (self.macros)(&text) {
            _ if text == "true" => Some(1),
            _ if text == "false" => Some(0),
            Macro::Undefined => Some(0),
            Macro::Defined(value) => value,
            Macro::Unknown => {
                self.is_invalid |= text.is_empty();
                None
            }
        }
    }

    fn skip_arguments(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.text(0) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}

/// The value of an integer literal, whose suffixes are ignored.
pub fn number(text: &str) -> Option<i64> {
    let text: String = text.to_lowercase().replace('\'', "");
    let digits = text.trim_end_matches(['u', 'l']);
    let (digits, radix) = match (digits.strip_prefix("0x"), digits.strip_prefix("0b"), digits.strip_prefix('0')) {
        (Some(rest), ..) => (rest, 16),
        (_, Some(rest), _) => (rest, 2),
        (.., Some(rest)) if !rest.is_empty() => (rest, 8),
        _ => (digits, 10),
    };
    i64::from_str_radix(digits, radix).ok()
}

fn applied(operator: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    match (operator, left, right) {
        ("&&", Some(0), _) | ("&&", _, Some(0)) => return Some(0),
        ("||", Some(n), _) | ("||", _, Some(n)) if n != 0 => return Some(1),
        _ => {}
    }
    let (left, right) = (left?, right?);
    let shift = u32::try_from(right).unwrap_or(64);
    Some(match operator {
        "&&" => i64::from(left != 0 && right != 0),
        "||" => i64::from(left != 0 || right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.checked_shl(shift)?,
        ">>" => left.checked_shr(shift)?,
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        _ => left.checked_rem(right)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    #[test]
    fn values() {
        let macros = |name: &str| match name {
            "NO" => Macro::Undefined,
            "YES" => Macro::Defined(Some(3)),
            "SOME" => Macro::Defined(None),
            _ => Macro::Unknown,
        };
        for (text, expected) in [
            ("1", Some(1)),
            ("0x10u + 010 + 0b11 + 1'000L", Some(16 + 8 + 3 + 1000)),
            ("NO", Some(0)),
            ("defined(NO) || defined YES && YES >= 3", Some(1)),
            ("defined(SOME)", Some(1)),
            ("SOME > 4", None),
            ("!defined(OTHER)", None),
            ("NO && OTHER", Some(0)),
            ("OTHER && NO", Some(0)),
            ("OTHER || YES", Some(1)),
            ("1 + 2 * 3 == 7 && (1 << 4 | 1) != 16", Some(1)),
            ("-1 < 0 ? ~0 : 5", Some(-1)),
            ("OTHER ? 4 : 4", Some(4)),
            ("__has_include(<a.h>) || 1", Some(1)),
            ("1 / 0", None),
            ("1 << 70", None),
            ("(1", None),
            ("1 2", None),
            ("", None),
            ("defined(", None),
        ] {
            assert_eq!(value(&lex(text), &macros), expected, "{text}");
        }
        assert_eq!(value(&lex(&"(".repeat(100_000)), &macros), None);
        assert_eq!(value(&lex(&"!".repeat(100_000)), &macros), None);
    }
}
