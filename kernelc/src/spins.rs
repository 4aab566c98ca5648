//! Functions of LLVM IR as text, for the passes that still edit it.

use std::collections::{HashMap, HashSet};

/// The functions of a text: the line of the first block, and the line behind the last.
pub fn functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let (mut all, mut begin) = (Vec::new(), None);
    for (n, line) in lines.iter().enumerate() {
        if line.starts_with("define ") {
            begin = Some(n + 1);
        } else if *line == "}" {
            all.extend(begin.take().map(|first| (first, n)));
        }
    }
    all
}

/// A block of a function.
#[derive(Default)]
pub struct Block<'t> {
    pub name: &'t str,
    /// The line of its label.
    pub label: usize,
    /// The lines of its instructions behind the phis.
    pub first: usize,
    pub successors: Vec<usize>,
    pub predecessors: Vec<usize>,
}

/// What an instruction is.
pub struct Value<'t> {
    pub block: usize,
    /// The values that it names.
    pub of: Vec<&'t str>,
}

/// A function.
pub struct Body<'t> {
    pub blocks: Vec<Block<'t>>,
    pub values: HashMap<&'t str, Value<'t>>,
}

/// The name of what an instruction makes, and the rest of its line.
pub fn instruction(line: &str) -> (Option<&str>, &str) {
    let text = line.trim_start();
    match text.split_once(" = ") {
        Some((name, what)) if name.starts_with('%') => (Some(name[1..].trim_matches('"')), what),
        _ => (None, text),
    }
}

/// The names of values in some text.
pub fn locals(text: &str) -> impl Iterator<Item = &str> {
    text.split('%').skip(1).map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.$".contains(c))).next().unwrap_or_default(),
    })
}

impl<'t> Body<'t> {
    pub fn read(lines: &[&'t str], first: usize, end: usize) -> Self {
        let mut blocks = vec![Block { first, label: first, ..Block::default() }];
        let mut values = HashMap::new();
        let mut targets: Vec<Vec<&str>> = vec![Vec::new()];
        for (n, line) in lines.iter().enumerate().take(end).skip(first) {
            let at = blocks.len() - 1;
            if !line.starts_with(' ') && !line.is_empty() && !line.starts_with(';') {
                let name = line.split(':').next().unwrap_or_default().trim_matches('"');
                let block = Block { name, label: n, first: n + 1, ..Block::default() };
                if blocks[at].first == n {
                    // The entry's own label.
                    blocks[at] = block;
                } else {
                    blocks.push(block);
                    targets.push(Vec::new());
                }
                continue;
            }
            let (result, what) = instruction(line);
            targets[at].extend(what.split("label ").skip(1).filter_map(|rest| locals(rest).next()));
            let Some(name) = result else { continue };
            let mut value = Value { block: at, of: Vec::new() };
            if let Some(pairs) = what.strip_prefix("phi ") {
                blocks[at].first = n + 1;
                value.of.extend(pairs.split('[').skip(1).filter_map(|pair| locals(pair.split_once(", %")?.0).next()));
            } else {
                value.of.extend(locals(what));
            }
            values.insert(name, value);
        }
        let places: HashMap<&str, usize> = blocks.iter().enumerate().map(|(n, block)| (block.name, n)).collect();
        for (n, to) in targets.iter().enumerate() {
            for to in to.iter().filter_map(|name| places.get(name).copied()).collect::<HashSet<_>>() {
                blocks[n].successors.push(to);
                blocks[to].predecessors.push(n);
            }
        }
        Self { blocks, values }
    }
}
