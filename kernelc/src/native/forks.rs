//! Forks: branches at which the threads of a tile usually all take the same path, such as `if (i < n)`. A region ends
//! after the branch. If all threads took the same path, they run the code after the branch, in which loops are cut (see
//! `analysis`). If they did not, they run a copy of this code without cuts, thread by thread.

use super::analysis::{Fork, Kernel};
use super::variables::{Flow, Store, Variable, post_dominators};
use crate::ir::{BlockId, Instruction, Local, LocalId, Op, Operand, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Kernel {
    /// True if threads reach a loop only together. If a single branch prevents that, this method tries to make this
    /// branch a fork.
    pub fn ensure_together(&mut self, header: usize, latch: usize) -> bool {
        let enclosing = self.areas.iter().filter(|(_, area)| area.contains(&header) || area.contains(&latch));
        match enclosing.map(|(&n, _)| n).collect::<Vec<_>>()[..] {
            [] => true,
            [branch] => self.forks.contains_key(&branch) || self.fork(branch),
            _ => false,
        }
    }

    /// Makes a branch a fork, so that regions end after it. Returns false if that is not possible.
    fn fork(&mut self, branch: usize) -> bool {
        let Some(area) = self.areas.get(&branch).cloned() else { return false };
        let post_dominator_sets = post_dominators(&self.flow);
        let &[yes, no] = self.flow[branch].next.as_slice() else { return false };
        let end = self.function.blocks[branch].instructions.last().map(|end| &end.op);
        let Some(Op::CondBr { condition, .. }) = end.cloned() else { return false };
        // In every region that contains the branch, each thread must execute the branch exactly once.
        let passes =
            |start: usize| !self.region(start).contains(&branch) || post_dominator_sets[start].contains(&branch);
        let repeated = self.flow[branch].next.iter().any(|&next| self.region(next).contains(&branch));
        let is_barrier_free = area.iter().all(|&n| self.flow[n].barrier.is_none());
        if yes == no
            || repeated
            || !is_barrier_free
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
        let loaded_condition = Operand { ty: Type::Int(1), value: Value::Local(read) };
        let terminator = Op::CondBr { condition: loaded_condition, yes: BlockId(next[0]), no: BlockId(next[1]) };
        let instructions = [(Some(read), load), (None, terminator)];
        let instructions = instructions.map(|(result, op)| Instruction { result, op, location: None }).to_vec();
        let block = self.add_block("fork", None, instructions, Flow { next: next.to_vec(), barrier: None });
        self.divergent[block] = true;
        let value = condition.value.clone();
        let store = Op::Store { value: condition, pointer, align, volatile, atomic };
        let instructions = &mut self.function.blocks[branch].instructions;
        let at = instructions.len() - 1;
        instructions.insert(at, Instruction { result: None, op: store, location: None });
        let stores = vec![Store { block: branch, at, value }];
        let fork_variable =
            Variable { ty: Type::Int(1), align: 1, plain: true, stores, varies: true, rematerialised: None };
        self.variables.insert(variable, fork_variable);
        self.forks.insert(branch, Fork { block, variable });
        self.cut_edge(branch, yes);
        self.cut_edge(branch, no);
        true
    }

    fn add_local(&mut self, ty: Type, name: &str) -> LocalId {
        self.function.locals.push(Local { ty, name: name.to_owned() });
        LocalId(self.function.locals.len() - 1)
    }

    /// Copies blocks with the edges between them. Returns the copy of each block.
    fn copy(&mut self, area: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
        let first = self.function.blocks.len();
        let copies: BTreeMap<usize, usize> = area.iter().enumerate().map(|(n, &of)| (of, first + n)).collect();
        for &n in area {
            // No value is used in another block, so the copied instructions need no new names.
            let block = &self.function.blocks[n];
            let (name, instructions) = (format!("{}.fork", block.name), block.instructions.clone());
            let next = self.flow[n].next.iter().map(|n| copies.get(n).copied().unwrap_or(*n)).collect();
            let new = self.add_block(&name, self.origins[n], instructions, Flow { next, barrier: None });
            self.divergent[new] = self.divergent[n];
        }
        copies
    }

    /// The block where the threads of a region continue if they do not all take the same path at its end.
    pub fn fork_of(&self, start: usize) -> Option<usize> {
        let region = self.region(start);
        self.forks.iter().find(|(branch, _)| region.contains(branch)).map(|(_, fork)| fork.block)
    }
}
