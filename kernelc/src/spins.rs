//! Functions of LLVM IR as text, for the passes that still edit it.

use std::collections::{HashMap, HashSet};

/// Whether there may be locks.
pub fn may_be(ir: &str) -> bool {
    ir.contains(" cmpxchg ") || ir.contains(" atomicrmw ")
}

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
    pub line: usize,
    /// The values that it names.
    pub of: Vec<&'t str>,
    pub atomic: bool,
}

/// A function.
pub struct Body<'t> {
    pub blocks: Vec<Block<'t>>,
    pub values: HashMap<&'t str, Value<'t>>,
    /// By block: the condition that it ends with.
    pub conditions: Vec<Option<&'t str>>,
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
        let mut conditions = vec![None];
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
                    conditions.push(None);
                    targets.push(Vec::new());
                }
                continue;
            }
            let (result, what) = instruction(line);
            let atomic = what.starts_with("cmpxchg ") || what.starts_with("atomicrmw ");
            targets[at].extend(what.split("label ").skip(1).filter_map(|rest| locals(rest).next()));
            if what.starts_with("br i1 ") || what.starts_with("switch ") {
                conditions[at] = locals(what.split(',').next().unwrap_or_default()).next();
            }
            let Some(name) = result else { continue };
            let mut value = Value { block: at, line: n, of: Vec::new(), atomic };
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
        Self { blocks, values, conditions }
    }

    /// The loops, each with the number of its first block.
    pub fn loops(&self) -> Vec<(usize, HashSet<usize>)> {
        let mut found: HashMap<usize, HashSet<usize>> = HashMap::new();
        let (mut on, mut seen) = (vec![false; self.blocks.len()], vec![false; self.blocks.len()]);
        let mut stack = vec![(0, 0)];
        (on[0], seen[0]) = (true, true);
        while let Some((at, next)) = stack.last_mut() {
            let at = *at;
            let Some(&to) = self.blocks[at].successors.get(*next) else {
                on[at] = false;
                stack.pop();
                continue;
            };
            *next += 1;
            if on[to] {
                let body = found.entry(to).or_insert_with(|| HashSet::from([to]));
                let mut add = vec![at];
                while let Some(block) = add.pop() {
                    if body.insert(block) {
                        add.extend(&self.blocks[block].predecessors);
                    }
                }
            } else if !seen[to] {
                (on[to], seen[to]) = (true, true);
                stack.push((to, 0));
            }
        }
        found.into_iter().collect()
    }
}
