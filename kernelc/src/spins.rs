//! Loops in which a thread takes a lock, does its work and leaves: `while (!done) { if (/* taken */) { ...; done = true; /* free */ } }`.
//!
//! LLVM knows that who has set `done` leaves, and would put the work behind the loop. On devices where the threads of a group go
//! through a loop together, that is where they are when all have left, and nobody would free the lock. What cannot be
//! copied, at the places where such a loop's ways meet, keeps the work before them. For all that LLVM knows it changes memory, so that
//! each round reads anew what others wrote under the lock.

use crate::device_abi::DeviceFunction;
use crate::ir::{Function, Module, Op};
use std::collections::{HashMap, HashSet};

/// Whether there may be such a loop.
pub fn may_be(ir: &str) -> bool {
    ir.contains(" cmpxchg ") || ir.contains(" atomicrmw ")
}

/// The text of a module whose functions are inlined and whose variables are values, with a mark where ways meet in such loops;
/// `None` if there are none.
pub fn marked(ir: &str) -> Option<String> {
    let lines: Vec<&str> = ir.lines().collect();
    let mut meets = HashSet::new();
    for (first, end) in functions(&lines) {
        if may_be(&lines[first..end].join("\n")) {
            meets.extend(Body::read(&lines, first, end).meets());
        }
    }
    if meets.is_empty() {
        return None;
    }
    let (mut text, meet) = (String::with_capacity(ir.len() + 4096), DeviceFunction::Meet.name());
    for (n, line) in lines.iter().enumerate() {
        if meets.contains(&n) {
            text += &format!("  call spir_func addrspace(4) void @{meet}() convergent\n");
        }
        text += line;
        text.push('\n');
    }
    Some(text + &format!("\ndeclare spir_func void @{meet}() addrspace(4) convergent nounwind willreturn\n"))
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

/// Removes the marks from a module.
pub fn unmark(module: &mut Module) {
    let is_mark = |function: &Function| DeviceFunction::of(&function.name) == Some(DeviceFunction::Meet);
    let marks: Vec<bool> = module.functions.iter().map(is_mark).collect();
    for block in module.functions.iter_mut().flat_map(|function| &mut function.blocks) {
        block.instructions.retain(|one| !matches!(one.op, Op::Call { callee, .. } if marks[callee.0]));
    }
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
    /// The blocks from which it takes a constant.
    constants: Vec<&'t str>,
    pub atomic: bool,
}

/// A function.
pub struct Body<'t> {
    pub blocks: Vec<Block<'t>>,
    pub values: HashMap<&'t str, Value<'t>>,
    /// By block: the condition that it ends with, and how many atomic operations and stores it has.
    pub conditions: Vec<Option<&'t str>>,
    writes: Vec<usize>,
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
        let (mut conditions, mut writes) = (vec![None], vec![0]);
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
                    writes.push(0);
                    targets.push(Vec::new());
                }
                continue;
            }
            let (result, what) = instruction(line);
            let atomic = what.starts_with("cmpxchg ") || what.starts_with("atomicrmw ");
            writes[at] += usize::from(atomic || what.starts_with("store "));
            targets[at].extend(what.split("label ").skip(1).filter_map(|rest| locals(rest).next()));
            if what.starts_with("br i1 ") || what.starts_with("switch ") {
                conditions[at] = locals(what.split(',').next().unwrap_or_default()).next();
            }
            let Some(name) = result else { continue };
            let mut value = Value { block: at, line: n, of: Vec::new(), constants: Vec::new(), atomic };
            if let Some(pairs) = what.strip_prefix("phi ") {
                blocks[at].first = n + 1;
                for pair in pairs.split('[').skip(1) {
                    let (taken, from) = pair.split_once(", %").unwrap_or((pair, ""));
                    match locals(taken).next() {
                        Some(taken) => value.of.push(taken),
                        None => value.constants.extend(from.split([' ', ']']).next().map(|b| b.trim_matches('"'))),
                    }
                }
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
        Self { blocks, values, conditions, writes }
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

    /// Whether the loop is left when something was set in it that follows from an atomic operation.
    fn spins(&self, body: &HashSet<usize>) -> bool {
        let inside = |block: &usize| body.contains(block);
        if body.iter().map(|&block| self.writes[block]).sum::<usize>() < 2 {
            return false;
        }
        let leaves = |block: &usize| self.blocks[*block].successors.iter().any(|to| !body.contains(to));
        let follows = |from: &str, wanted: &dyn Fn(&Value<'_>) -> bool| {
            let (mut rest, mut seen) = (vec![from], HashSet::new());
            while let Some(name) = rest.pop() {
                let Some(value) = self.values.get(name).filter(|v| inside(&v.block) && seen.insert(name)) else {
                    continue;
                };
                if wanted(value) {
                    return true;
                }
                rest.extend(&value.of);
            }
            false
        };
        let of_inside = |value: &Value<'_>| {
            value.constants.iter().any(|from| body.iter().any(|&block| self.blocks[block].name == *from))
        };
        let condition = |block: &usize| self.conditions[*block];
        let branches = || body.iter().filter_map(condition);
        branches().any(|c| follows(c, &|value| value.atomic))
            && body.iter().filter(|b| leaves(b)).filter_map(condition).any(|c| follows(c, &of_inside))
    }

    /// The lines at which the ways within such loops meet.
    fn meets(&self) -> Vec<usize> {
        let loops = self.loops();
        let loops: Vec<HashSet<usize>> = loops.into_iter().map(|(_, body)| body).collect();
        let innermost = |block: usize| loops.iter().filter(|body| body.contains(&block)).min_by_key(|body| body.len());
        let mut lines = Vec::new();
        for body in loops.iter().filter(|body| self.spins(body)) {
            let meet = |block: &&usize| {
                let block = &self.blocks[**block];
                block.predecessors.iter().filter(|from| body.contains(from)).count() > 1
            };
            let own = |block: &&usize| innermost(**block).is_some_and(|inner| inner == body);
            lines.extend(body.iter().filter(meet).filter(own).map(|&block| self.blocks[block].first));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose loop does `work` when an atomic operation says so, and is left by `leave`.
    fn kernel(work: &str, meet: &str, leave: &str) -> String {
        format!(
            "define void @k(ptr %p) {{\nentry:\n  br label %head\nhead:\n  %i = phi i32 [ 0, %entry ], [ %j, %meet ]\n  \
             %old = atomicrmw xchg ptr %p, i32 1 monotonic\n  %j = add i32 %i, 1\n  %free = icmp eq i32 %old, 0\n  \
             br i1 %free, label %work, label %meet\nwork:\n{work}  br label %meet\nmeet:\n{meet}{leave}\n\
             out:\n  ret void\n}}\n"
        )
    }

    #[test]
    fn marks_stand_where_the_ways_of_a_spinning_loop_meet() {
        let phi = "  %done = phi i1 [ true, %work ], [ false, %head ]\n";
        let store = "  store i32 0, ptr %p\n";
        let leave = "  br i1 %done, label %out, label %head";
        let ir = kernel(store, phi, leave);
        let marked = marked(&ir).unwrap();
        let at = format!("{phi}  call spir_func addrspace(4) void @__revamp_meet() convergent\n{leave}");
        assert!(marked.contains(&at) && marked.matches("  call").count() == 1, "{marked}");
        let mut module = crate::ir::tests::module(&marked);
        let calls =
            |module: &Module| module.functions[0].instructions().filter(|i| matches!(i.op, Op::Call { .. })).count();
        assert_eq!(calls(&module), 1);
        unmark(&mut module);
        assert_eq!(calls(&module), 0);
        let switch = "  switch i1 %done, label %head [\n    i1 true, label %out\n  ]";
        assert!(super::marked(&kernel(store, phi, switch)).is_some());
        // Nothing is done under the lock; a loop that counts; one without atomic operations.
        assert!(super::marked(&kernel("", phi, leave)).is_none());
        let count = "  %last = icmp eq i32 %j, 9\n";
        assert!(super::marked(&kernel(store, count, "  br i1 %last, label %out, label %head")).is_none());
        assert!(super::marked(&ir.replace("atomicrmw xchg ptr %p, i32 1 monotonic", "load i32, ptr %p")).is_none());
    }
}
