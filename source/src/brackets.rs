//! Finds the matching brackets among the tokens of a C++ source.

/// For each token that is a bracket, the index of the matching bracket.
pub struct Brackets(Vec<Option<usize>>);

impl Brackets {
    /// Matches the brackets among the texts of all tokens. If branches of #if leave brackets unbalanced, a closing bracket matches the nearest
    /// open bracket of its kind.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut pairs = Vec::new();
        let mut open: Vec<(usize, &str)> = Vec::new();
        for (n, text) in texts.enumerate() {
            pairs.push(None);
            let other = match text {
                "(" | "[" | "{" => {
                    open.push((n, text));
                    continue;
                }
                ")" => "(",
                "]" => "[",
                "}" => "{",
                _ => continue,
            };
            if let Some(found) = open.iter().rposition(|(_, text)| *text == other) {
                pairs[n] = Some(open[found].0);
                pairs[open[found].0] = Some(n);
                open.truncate(found);
            }
        }
        Self(pairs)
    }

    /// The index of the bracket that matches the bracket at `at`.
    pub fn pair(&self, at: usize) -> Option<usize> {
        self.0.get(at).copied().flatten()
    }

    /// The index of the `>` that matches the `<` at `at`. `text` returns the text of a token, and an empty string after the last token.
    pub fn angle<'t>(&self, at: usize, text: impl Fn(usize) -> &'t str) -> Option<usize> {
        let (mut depth, mut n) = (0_usize, at);
        loop {
            match text(n) {
                "<" => depth += 1,
                ">" => depth -= 1,
                "(" | "[" | "{" => n = self.pair(n)?,
                "" | ";" | "}" | ")" | "]" => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(n);
            }
            n += 1;
        }
    }

    /// The index of the `<` that matches the `>` at `at`.
    pub fn angle_back<'t>(&self, at: usize, text: impl Fn(usize) -> &'t str) -> Option<usize> {
        let (mut depth, mut n) = (0_usize, at);
        loop {
            match text(n) {
                ">" => depth += 1,
                "<" => depth -= 1,
                ")" | "]" => n = self.pair(n)?,
                ";" | "{" | "}" | "(" | "[" => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(n);
            }
            n = n.checked_sub(1)?;
        }
    }
}
