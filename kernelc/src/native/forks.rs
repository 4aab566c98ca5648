//! Branches that mostly all threads of a tile take alike, such as `if (i < n)`: where they do, loops behind are cut as if there were
//! no branch, and where they do not, a copy of what is behind is run thread by thread.

use super::analysis::Kernel;
use super::text::{Block, Instruction, renamed};
use super::variables::{Flow, Variable, behind_all};
use std::collections::{BTreeMap, BTreeSet, HashSet};

impl Kernel {
    /// All threads that come to a loop come together, or do once a branch before it is a fork.
    pub fn is_together(&mut self, header: usize, latch: usize, types: &HashSet<String>) -> bool {
        let around: Vec<usize> = self
            .areas
            .iter()
            .filter(|(_, area)| area.contains(&header) || area.contains(&latch))
            .map(|(&n, _)| n)
            .collect();
        match around[..] {
            [] => true,
            [branch] => self.forks.contains_key(&branch) || self.fork(branch, types),
            _ => false,
        }
    }

    /// Ends regions behind a branch. False if that cannot be done.
    fn fork(&mut self, branch: usize, types: &HashSet<String>) -> bool {
        let Some(area) = self.areas.get(&branch).cloned() else { return false };
        let later = behind_all(&self.flow);
        let &[yes, no] = self.flow[branch].next.as_slice() else { return false };
        let end = self.function.blocks[branch].instructions.last();
        let Some(condition) = end.filter(|i| i.opcode == "br").and_then(|i| i.uses.first()).cloned() else {
            return false;
        };
        // Every region that comes to it ends there, and once.
        let passes = |start: usize| !self.region(start).contains(&branch) || later[start].contains(&branch);
        let repeated = self.flow[branch].next.iter().any(|&next| self.region(next).contains(&branch));
        let whole = area.iter().all(|&n| self.flow[n].barrier.is_none());
        if yes == no || repeated || !whole || !self.starts().into_iter().all(passes) {
            return false;
        }
        let copies = self.copy(&area, types);
        let variable = format!("fork.{branch}");
        let fork = self.function.blocks.len();
        let label = |n: usize| &self.function.blocks[copies.get(&n).copied().unwrap_or(n)].label;
        let lines = [
            format!("%\"{variable}.in\" = load i1, ptr %\"{variable}\", align 1"),
            format!("br i1 %\"{variable}.in\", label %\"{}\", label %\"{}\"", label(yes), label(no)),
        ];
        let instructions = lines.iter().map(|line| Instruction::new(line, types)).collect();
        self.function.blocks.push(Block { label: variable.clone(), instructions });
        let next = [yes, no].map(|n| copies.get(&n).copied().unwrap_or(n)).to_vec();
        self.flow.push(Flow { next, barrier: None });
        self.divergent.push(true);
        let store = Instruction::new(&format!("store i1 %\"{condition}\", ptr %\"{variable}\", align 1"), types);
        let instructions = &mut self.function.blocks[branch].instructions;
        instructions.insert(instructions.len() - 1, store);
        let stores = vec![(branch, format!("%\"{condition}\""))];
        let kept = Variable { ty: "i1".into(), align: 1, plain: true, stores, varies: true, again: None };
        self.variables.insert(variable, kept);
        self.forks.insert(branch, fork);
        self.cut_edge(branch, yes, types);
        self.cut_edge(branch, no, types);
        true
    }

    /// Copies blocks with what goes from one of them to another; tells where each one's copy is.
    fn copy(&mut self, area: &BTreeSet<usize>, types: &HashSet<String>) -> BTreeMap<usize, usize> {
        let first = self.function.blocks.len();
        let copies: BTreeMap<usize, usize> = area.iter().enumerate().map(|(n, &of)| (of, first + n)).collect();
        let labels: HashSet<String> = area.iter().map(|&n| self.function.blocks[n].label.clone()).collect();
        let name_of = |name: &str| format!("{name}.fork");
        for &n in area {
            let block = &self.function.blocks[n];
            let made: HashSet<String> = block.instructions.iter().filter_map(|i| i.result.clone()).collect();
            let other = |line: &str| {
                renamed(line, types, |name| {
                    let copied = if name.label { labels.contains(&name.name) } else { made.contains(&name.name) };
                    copied.then(|| format!("%\"{}\"", name_of(&name.name)))
                })
            };
            let instructions = block.instructions.iter().map(|i| Instruction::new(&other(&i.text), types)).collect();
            let label = name_of(&block.label);
            for name in made {
                if self.constant_loads.contains(&name) {
                    self.constant_loads.insert(name_of(&name));
                }
                if let Some(variable) = self.tile_addresses.get(&name).cloned() {
                    self.tile_addresses.insert(name_of(&name), variable);
                }
            }
            self.function.blocks.push(Block { label, instructions });
            let to = |n: &usize| copies.get(n).copied().unwrap_or(*n);
            let next = self.flow[n].next.iter().map(to).collect();
            self.flow.push(Flow { next, barrier: None });
            self.divergent.push(self.divergent[n]);
        }
        copies
    }

    /// Where the threads of a region go on that do not all take the same way behind it.
    pub fn fork_of(&self, start: usize) -> Option<usize> {
        let region = self.region(start);
        self.forks.iter().find(|(branch, _)| region.contains(branch)).map(|(_, &fork)| fork)
    }
}
