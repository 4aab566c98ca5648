//! What orders memory where kernels have locks that several tiles take.
//!
//! Atomic operations of C++ AMP are relaxed: what a thread wrote under a lock need not be there when another one has the lock, and
//! compilers may move accesses over them. Programs with locks mean the opposite, so fences stand around the atomic operations of
//! such kernels, and before stores that free a lock. Other kernels have none: fences cost.

use crate::locks::{address, meaning, taken};
use crate::spins::{Body, functions, instruction};
use std::collections::HashSet;

const FENCE: &str = "  fence acq_rel\n";

/// The text of a module whose functions are inlined and whose variables are values, with fences in functions that have locks; `None`
/// if none has.
pub fn ordered(ir: &str) -> Option<String> {
    let lines: Vec<&str> = ir.lines().collect();
    let (mut before, mut after) = (HashSet::new(), HashSet::new());
    for (first, end) in functions(&lines) {
        let body = Body::read(&lines, first, end);
        let locks = locks(&body, &lines, first..end);
        for n in (first..end).filter(|_| !locks.is_empty()) {
            if is_atomic(lines[n]) {
                before.insert(n);
                after.insert(n);
            } else if accessed(lines[n]).is_some_and(|at| locks.contains(&meaning(&body, &lines, at, 0))) {
                before.insert(n);
            }
        }
    }
    if before.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(ir.len() + 4096);
    for (n, line) in lines.iter().enumerate() {
        text += if before.contains(&n) { FENCE } else { "" };
        text += line;
        text.push('\n');
        text += if after.contains(&n) { FENCE } else { "" };
    }
    Some(text)
}

/// The text with atomic operations that order memory themselves: processors do so anyway.
pub fn by_operations(ir: &str) -> String {
    let ordered = |line: &str| match instruction(line).1 {
        what if what.starts_with("cmpxchg ") => line.replace(" monotonic monotonic", " acq_rel acquire"),
        what if what.starts_with("atomicrmw ") => line.replace(" monotonic", " acq_rel"),
        _ => line.to_owned(),
    };
    ir.lines().flat_map(|line| [ordered(line), "\n".into()]).collect()
}

fn is_atomic(line: &str) -> bool {
    let (_, what) = instruction(line);
    what.starts_with("atomicrmw ") || what.starts_with("cmpxchg ")
}

/// The address that an atomic operation or a store changes.
fn accessed(line: &str) -> Option<&str> {
    let (_, what) = instruction(line);
    let mut operands = what.split(", ");
    match () {
        () if is_atomic(line) => address(operands.next()?),
        () if what.starts_with("store ") => operands.find(|operand| operand.starts_with("ptr ")).and_then(address),
        () => None,
    }
}

/// The addresses of the locks of a function: an atomic operation with a constant decides where a thread goes, and the same place is
/// changed elsewhere too.
fn locks(body: &Body<'_>, lines: &[&str], range: std::ops::Range<usize>) -> HashSet<String> {
    let loops = body.loops();
    let all: HashSet<usize> = (0..body.blocks.len()).collect();
    let mut found = HashSet::new();
    for (block, condition) in body.conditions.iter().enumerate() {
        let Some(condition) = condition else { continue };
        let looped = loops.iter().any(|(_, blocks)| blocks.contains(&block));
        found.extend(taken(body, lines, &all, condition).filter(|(_, line)| looped || exchanges(lines[*line])));
    }
    let changes = |lock: &str| {
        let places = range.clone().filter_map(|n| accessed(lines[n]));
        places.filter(|at| meaning(body, lines, at, 0) == lock).count()
    };
    found.into_iter().map(|(lock, _)| lock).filter(|lock| changes(lock) > 1).collect()
}

/// What is counted outside of loops is no lock.
fn exchanges(line: &str) -> bool {
    let (_, what) = instruction(line);
    what.starts_with("cmpxchg ") || what.starts_with("atomicrmw xchg ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel that takes a lock by `take` in a loop or without one, changes a number and frees the lock by `free`.
    fn kernel(take: &str, again: &str, free: &str) -> String {
        format!(
            "define void @k(ptr %p, ptr %q, i32 %n) {{\nbb:\n  br label %head\nhead:\n  %a = getelementptr i32, ptr %p, i64 1\n  \
             %old = {take}\n  %free = icmp eq i32 %old, 0\n  br i1 %free, label %work, label %{again}\nwork:\n  \
             store i32 2, ptr %q\n  %b = getelementptr i32, ptr %p, i64 1\n  {free}\n  br label %out\nout:\n  ret void\n}}\n"
        )
    }

    #[test]
    fn fences_stand_around_operations_on_locks() {
        let (xchg, store) = ("atomicrmw xchg ptr %a, i32 1 monotonic", "store i32 0, ptr %b");
        let text = ordered(&kernel(xchg, "head", store)).unwrap();
        assert!(text.contains(&format!("  fence acq_rel\n  %old = {xchg}\n  fence acq_rel\n")), "{text}");
        assert!(text.contains(&format!("  fence acq_rel\n  {store}\n  br")), "{text}");
        assert_eq!(text.matches("fence").count(), 3, "{text}");
        // Freed by an operation; tried once; a ticket.
        let free = "%freed = atomicrmw and ptr %b, i32 0 monotonic";
        assert!(ordered(&kernel(xchg, "head", free)).is_some());
        assert!(ordered(&kernel(xchg, "out", free)).is_some());
        assert!(ordered(&kernel("atomicrmw add ptr %a, i32 0 monotonic", "head", free)).is_some());
    }

    #[test]
    fn other_operations_stay_as_they_are() {
        let free = "%freed = atomicrmw sub ptr %b, i32 1 monotonic";
        for (take, again, free) in [
            // A queue; what is counted and given back; another place; a value that is calculated.
            ("atomicrmw add ptr %a, i32 1 monotonic", "head", "store i32 0, ptr %q"),
            ("atomicrmw add ptr %a, i32 1 monotonic", "out", free),
            ("atomicrmw xchg ptr %p, i32 1 monotonic", "head", free),
            ("atomicrmw xchg ptr %a, i32 %n monotonic", "head", free),
        ] {
            assert!(ordered(&kernel(take, again, free)).is_none(), "{take}");
        }
    }

    #[test]
    fn operations_may_order_themselves() {
        let text = by_operations(
            "  %a = atomicrmw xchg ptr %p, i32 1 monotonic, align 4\n  %b = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic\n",
        );
        assert_eq!(
            text,
            "  %a = atomicrmw xchg ptr %p, i32 1 acq_rel, align 4\n  %b = cmpxchg ptr %p, i32 0, i32 1 acq_rel acquire\n"
        );
    }
}
