//! Which brackets belong together.

/// The other half of each bracket among tokens.
pub struct Brackets(Vec<Option<usize>>);

impl Brackets {
    /// Reads the texts of all tokens. Where branches of #if leave brackets uneven, the nearest of its kind is the other half.
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

    /// The other half of a bracket.
    pub fn pair(&self, at: usize) -> Option<usize> {
        self.0.get(at).copied().flatten()
    }

    /// The `>` of a `<`. `text`: of each token, nothing behind the last.
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

    /// The `<` of a `>`.
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
