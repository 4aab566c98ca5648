//! Branches that mostly all threads of a tile take alike, such as `if (i < n)`: where they do, loops behind are cut as if there were
//! no branch, and where they do not, a copy of what is behind is run thread by thread.

use super::analysis::{Fork, Kernel};
use super::variables::{Flow, Store, Variable, behind_all};
use crate::ir::{BlockId, Instruction, Local, LocalId, Op, Operand, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Kernel {
    /// All threads that come to a loop come together, or do once a branch before it is a fork.
    pub fn is_together(&mut self, header: usize, latch: usize) -> bool {
        let around = self.areas.iter().filter(|(_, area)| area.contains(&header) || area.contains(&latch));
        match around.map(|(&n, _)| n).collect::<Vec<_>>()[..] {
            [] => true,
            [branch] => self.forks.contains_key(&branch) || self.fork(branch),
            _ => false,
        }
    }

    /// Ends regions behind a branch. False if that cannot be done.
    fn fork(&mut self, branch: usize) -> bool {
        let Some(area) = self.areas.get(&branch).cloned() else { return false };
        let later = behind_all(&self.flow);
        let &[yes, no] = self.flow[branch].next.as_slice() else { return false };
        let end = self.function.blocks[branch].instructions.last().map(|end| &end.op);
        let Some(Op::CondBr { condition, .. }) = end.cloned() else { return false };
        // Every region that comes to it ends there, and once.
        let passes = |start: usize| !self.region(start).contains(&branch) || later[start].contains(&branch);
        let repeated = self.flow[branch].next.iter().any(|&next| self.region(next).contains(&branch));
        let whole = area.iter().all(|&n| self.flow[n].barrier.is_none());
        if yes == no
            || repeated
            || !whole
            || condition.value.local().is_none()
            || !self.starts().into_iter().all(passes)
        {
            return false;
        }
        let copies = self.copy(&area);
        let next = [yes, no].map(|n| copies.get(&n).copied().unwrap_or(n));
        let variable = self.add_local(Type::Pointer(0), &format!("fork.{branch}"));
        let read = self.add_local(Type::Int(1), "");
        let pointer = Operand { ty: Type::Pointer(0), value: Value::Local(variable) };
        let (align, volatile, atomic) = (1, false, false);
        let load = Op::Load { ty: Type::Int(1), pointer: pointer.clone(), align, volatile, atomic };
        let way = Operand { ty: Type::Int(1), value: Value::Local(read) };
        let part = Op::CondBr { condition: way, yes: BlockId(next[0]), no: BlockId(next[1]) };
        let instructions = [(Some(read), load), (None, part)];
        let instructions = instructions.map(|(result, op)| Instruction { result, op, location: None }).to_vec();
        let block = self.add_block("fork", None, instructions, Flow { next: next.to_vec(), barrier: None });
        self.divergent[block] = true;
        let value = condition.value.clone();
        let store = Op::Store { value: condition, pointer, align, volatile, atomic };
        let instructions = &mut self.function.blocks[branch].instructions;
        let at = instructions.len() - 1;
        instructions.insert(at, Instruction { result: None, op: store, location: None });
        let stores = vec![Store { block: branch, at, value }];
        let kept = Variable { ty: Type::Int(1), align: 1, plain: true, stores, varies: true, rematerialised: None };
        self.variables.insert(variable, kept);
        self.forks.insert(branch, Fork { block, variable });
        self.cut_edge(branch, yes);
        self.cut_edge(branch, no);
        true
    }

    fn add_local(&mut self, ty: Type, name: &str) -> LocalId {
        self.function.locals.push(Local { ty, name: name.to_owned() });
        LocalId(self.function.locals.len() - 1)
    }

    /// Copies blocks with what goes from one of them to another; tells where each one's copy is.
    fn copy(&mut self, area: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
        let first = self.function.blocks.len();
        let copies: BTreeMap<usize, usize> = area.iter().enumerate().map(|(n, &of)| (of, first + n)).collect();
        for &n in area {
            // No value is used in another block, so the instructions of the copy need no other names.
            let block = &self.function.blocks[n];
            let (name, instructions) = (format!("{}.fork", block.name), block.instructions.clone());
            let next = self.flow[n].next.iter().map(|n| copies.get(n).copied().unwrap_or(*n)).collect();
            let new = self.add_block(&name, self.origins[n], instructions, Flow { next, barrier: None });
            self.divergent[new] = self.divergent[n];
        }
        copies
    }

    /// Where the threads of a region go on that do not all take the same way behind it.
    pub fn fork_of(&self, start: usize) -> Option<usize> {
        let region = self.region(start);
        self.forks.iter().find(|(branch, _)| region.contains(branch)).map(|(_, fork)| fork.block)
    }
}
