//! Loops that are left with a lock: `for (;;) if (/* taken */) { ...; /* free */ break; }`.
//!
//! What is done under the lock is behind the loop then, where threads that go through it together are only when all have
//! left it. So the loop gets a flag, and what stands between taking and freeing the lock is moved into it, as if
//! `while (!done)` had been written; `spin_marks` keeps it there.

use crate::device_abi::DeviceFunction;
use crate::spins::{Block, Body, functions, instruction};
use std::collections::HashSet;
use std::fmt::Write;

/// A lock of a function: its loop, and where it is free.
#[derive(Debug)]
pub struct Lock {
    function: String,
    /// The loop's first block.
    head: String,
    /// The block behind the instruction that frees the lock.
    free: String,
}

/// A text with every block named whose blocks end where locks are freed, and those locks; `None` if there are none.
pub fn split(ir: &str) -> Option<(String, Vec<Lock>)> {
    let lines: Vec<&str> = ir.lines().collect();
    let mut locks = Vec::new();
    let mut text = String::with_capacity(ir.len() + 1024);
    let mut done = 0;
    for (first, end) in functions(&lines) {
        let body = Body::read(&lines, first, end);
        let found = found(&body, &lines, first..end);
        if found.is_empty() {
            continue;
        }
        let name = function(lines[first - 1]);
        // What comes from a block that is cut comes from its last part.
        let mut ends: Vec<(&str, String)> = Vec::new();
        let mut cuts: Vec<(usize, String)> = Vec::new();
        for (head, block, line) in found {
            let free = format!("revamp.free.{}", locks.len());
            ends.push((body.blocks[block].name, free.clone()));
            cuts.push((line, free.clone()));
            locks.push(Lock { function: name.to_owned(), head: body.blocks[head].name.to_owned(), free });
        }
        cuts.sort();
        for (n, line) in lines.iter().enumerate().take(end).skip(done) {
            let mut line = (*line).to_owned();
            if n >= first && line.contains(" = phi ") {
                for (from, _) in &ends {
                    // The last cut of the block.
                    let last = cuts.iter().rev().find(|(at, _)| owner(&body, *at) == Some(*from));
                    let Some((_, to)) = last else { continue };
                    line = line.replace(&format!(", %{from} ]"), &format!(", %{to} ]"));
                }
            }
            text += &line;
            text.push('\n');
            if let Some((_, free)) = cuts.iter().find(|(at, _)| *at == n) {
                let _ = write!(text, "  br label %{free}\n{free}:\n");
            }
        }
        done = end;
    }
    lines[done..].iter().for_each(|line| text.extend([*line, "\n"]));
    (!locks.is_empty()).then_some((text, locks))
}

/// The text with each of these locks freed within its loop. No value is used in another block than its own.
pub fn moved(ir: &str, locks: &[Lock]) -> String {
    let lines: Vec<&str> = ir.lines().collect();
    let mut text = String::with_capacity(ir.len() + 1024);
    let mut done = 0;
    for (first, end) in functions(&lines) {
        let own: Vec<&Lock> = locks.iter().filter(|lock| function(lines[first - 1]) == lock.function).collect();
        if own.is_empty() {
            continue;
        }
        let body = Body::read(&lines, first, end);
        let place = |name: &str| body.blocks.iter().position(|block| block.name == name);
        let loops = body.loops();
        for (n, line) in lines.iter().enumerate().take(end).skip(done) {
            let at = if n >= first { owner(&body, n) } else { None };
            let mut line = (*line).to_owned();
            for lock in &own {
                let (head, free) = (&lock.head, &lock.free);
                let again = place(head).zip(at.and_then(place)).is_some_and(|(head, at)| {
                    loops.iter().any(|(first, blocks)| *first == head && blocks.contains(&at))
                });
                if line.trim_start().starts_with("br label") && line.contains(&format!("%{free}")) {
                    line = format!(
                        "  store i1 true, ptr %{free}.done\n  br label %{free}.meet\n{free}.meet:\n  %{free}.is = load i1, ptr %{free}.done\n  \
                         br i1 %{free}.is, label %{free}, label %{head}"
                    );
                } else if again {
                    line = relabelled(&line, head, &format!("{free}.meet"));
                }
            }
            text += &line;
            text.push('\n');
            if n == first {
                own.iter().for_each(|lock| text += &format!("  %{}.done = alloca i1, align 1\n", lock.free));
            }
            for lock in own.iter().filter(|lock| n >= first && line.split(':').next() == Some(&lock.head)) {
                text += &format!("  store i1 false, ptr %{}.done\n", lock.free);
            }
        }
        done = end;
    }
    lines[done..].iter().for_each(|line| text.extend([*line, "\n"]));
    text
}

/// A line that goes elsewhere.
fn relabelled(line: &str, from: &str, to: &str) -> String {
    let from = format!("label %{from}");
    let mut parts = line.split(&from).peekable();
    let mut made = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        let whole = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-_.$".contains(c));
        made += if whole { "label %" } else { &from };
        made += if whole { to } else { "" };
        made += rest;
    }
    made
}

/// The name of a function that is defined.
fn function(line: &str) -> &str {
    line.split_once('@').and_then(|(_, rest)| rest.split('(').next()).unwrap_or_default()
}

/// The name of the block in which a line stands.
fn owner<'t>(body: &Body<'t>, line: usize) -> Option<&'t str> {
    body.blocks.iter().rev().find(|block| block.label <= line).map(|block| block.name)
}

/// The loops that are left with a lock: the loop's first block, the block in which the lock is freed, and the line.
fn found(body: &Body<'_>, lines: &[&str], range: std::ops::Range<usize>) -> Vec<(usize, usize, usize)> {
    let loops = body.loops();
    let mut all = Vec::new();
    for (head, blocks) in &loops {
        // What is behind this loop is in the loops that hold it, and in no other.
        let around = |block: usize| loops.iter().filter(|(h, l)| h != head && l.contains(&block)).count();
        let exits = blocks.iter().flat_map(|&from| body.blocks[from].successors.iter().map(move |&to| (from, to)));
        for (from, exit) in exits.filter(|(_, to)| !blocks.contains(to)) {
            let Some((lock, _)) = body.conditions[from].and_then(|c| taken(body, lines, blocks, c)) else { continue };
            if !body.blocks[exit].predecessors.iter().all(|from| blocks.contains(from)) {
                continue;
            }
            let depth = around(*head);
            if let Some((block, line)) =
                freed(body, lines, &range, exit, &lock, |b| !blocks.contains(&b) && around(b) == depth)
            {
                all.push((*head, block, line));
                break;
            }
        }
    }
    all.sort_by_key(|found| found.2);
    all.dedup_by_key(|found| found.2);
    all
}

/// The address of the lock that this condition says is taken, of an atomic operation in these blocks with a constant, and its line.
pub fn taken(body: &Body<'_>, lines: &[&str], blocks: &HashSet<usize>, condition: &str) -> Option<(String, usize)> {
    let (mut rest, mut seen) = (vec![condition], HashSet::new());
    while let Some(name) = rest.pop() {
        let Some(value) = body.values.get(name).filter(|v| blocks.contains(&v.block) && seen.insert(name)) else {
            continue;
        };
        if value.atomic {
            let what = lines[value.line].split_once(" = ")?.1;
            let mut operands = what.split(", ");
            let address = address(operands.next()?)?;
            let constant = operands.any(|with| with.starts_with('i') && !with.contains('%'));
            return constant.then(|| (meaning(body, lines, address, 0), value.line));
        }
        rest.extend(&value.of);
    }
    None
}

/// The operand behind `ptr` and its address space.
pub fn address(text: &str) -> Option<&str> {
    let rest = text.split_once("ptr ")?.1;
    Some(rest.strip_prefix("addrspace(").and_then(|rest| rest.split_once(") ")).map_or(rest, |(_, rest)| rest))
}

/// An address in words that are the same for the same address, wherever it is calculated.
pub fn meaning(body: &Body<'_>, lines: &[&str], operand: &str, depth: usize) -> String {
    let name = operand.trim_start_matches('%').trim_matches('"');
    let Some(value) = body.values.get(name).filter(|_| operand.starts_with('%') && depth < 24) else {
        return operand.to_owned();
    };
    let what = lines[value.line].split_once(" = ").map_or("", |(_, what)| what);
    let what = what.split(", !").next().unwrap_or_default();
    // Where bounds are checked it stands around the address.
    let operands = what.split_once(DeviceFunction::Element.name()).and_then(|(_, rest)| rest.strip_prefix('('));
    if let Some(checked) = operands.and_then(|all| all.split([' ', ',']).find(|word| word.starts_with('%'))) {
        return meaning(body, lines, checked, depth + 1);
    }
    if ["phi ", "call ", "atomicrmw ", "cmpxchg "].iter().any(|begin| what.starts_with(begin)) {
        return operand.to_owned();
    }
    let mut made = String::new();
    for word in what.split_inclusive([' ', ',', ')', '(']) {
        let (bare, behind) = word.split_at(word.trim_end_matches([' ', ',', ')', '(']).len());
        made += &meaning(body, lines, bare, depth + 1);
        made += behind;
        if made.len() > 20_000 {
            return operand.to_owned();
        }
    }
    made
}

/// Where a lock is freed behind a loop, on all ways that come from there and before any barrier: the block, the line.
fn freed(
    body: &Body<'_>,
    lines: &[&str],
    range: &std::ops::Range<usize>,
    exit: usize,
    lock: &str,
    beside: impl Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let last = |block: usize| body.blocks.get(block + 1).map_or(range.end, |next: &Block<'_>| next.label);
    let is_barrier = |line: &str| line.contains("call ") && line.contains("barrier");
    let frees = |line: &str| {
        let (_, what) = instruction(line);
        let mut operands = what.split(", ");
        let first = operands.next().unwrap_or_default();
        let address = if what.starts_with("atomicrmw ") || what.starts_with("cmpxchg ") {
            first
        } else if what.starts_with("store ") {
            operands.next().unwrap_or_default()
        } else {
            return false;
        };
        self::address(address).is_some_and(|address| meaning(body, lines, address, 0) == lock)
    };
    let candidates = (0..body.blocks.len()).filter(|&b| beside(b)).filter_map(|block| {
        let line = (body.blocks[block].first..last(block)).find(|&n| frees(lines[n]))?;
        Some((block, line))
    });
    let mut best: Option<(usize, (usize, usize))> = None;
    for (block, line) in candidates {
        // All that is between, and nothing comes there from elsewhere.
        let (mut between, mut rest, mut whole) = (HashSet::from([exit]), vec![exit], true);
        while let Some(at) = rest.pop() {
            if at == block {
                continue;
            }
            whole &= !body.blocks[at].successors.is_empty();
            rest.extend(body.blocks[at].successors.iter().filter(|&&to| between.insert(to)));
        }
        let entered = between.iter().filter(|&&b| b != exit);
        let entered = entered.flat_map(|&b| &body.blocks[b].predecessors).any(|from| !between.contains(from));
        let quiet = between.iter().all(|&b| {
            let end = if b == block { line } else { last(b) };
            !(body.blocks[b].first..end).any(|n| is_barrier(lines[n]))
        });
        if whole && !entered && quiet && between.contains(&block) && best.is_none_or(|(size, _)| between.len() < size) {
            best = Some((between.len(), (block, line)));
        }
    }
    best.map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPIN: &str = "define void @k(ptr %p, ptr %q) {\nbb:\n  br label %head\nhead:\n  %a = getelementptr i32, ptr %p, i64 1\n  \
        %old = atomicrmw xchg ptr %a, i32 1 monotonic\n  %free = icmp eq i32 %old, 0\n  \
        br i1 %free, label %work, label %head\nwork:\n  store i32 2, ptr %q\n  %b = getelementptr i32, ptr %p, i64 1\n  \
        store i32 0, ptr %b\n  br label %out\nout:\n  ret void\n}\n";

    #[test]
    fn work_goes_into_its_loop() {
        let (text, locks) = split(SPIN).unwrap();
        assert!(
            text.contains("store i32 0, ptr %b\n  br label %revamp.free.0\nrevamp.free.0:\n  br label %out"),
            "{text}"
        );
        let text = moved(&text, &locks);
        for expected in [
            "bb:\n  %revamp.free.0.done = alloca i1, align 1\n",
            "head:\n  store i1 false, ptr %revamp.free.0.done\n",
            "label %work, label %revamp.free.0.meet\n",
            "store i1 true, ptr %revamp.free.0.done\n  br label %revamp.free.0.meet\nrevamp.free.0.meet:\n",
            "br i1 %revamp.free.0.is, label %revamp.free.0, label %head\n",
        ] {
            assert!(text.contains(expected), "{expected}{text}");
        }
    }

    #[test]
    fn checked_addresses_are_the_same() {
        let call = |n: u8, from: &str| {
            format!("%{from}.free = call ptr @__revamp_element(ptr noundef %{from}, i32 4, i32 {n})\n  ")
        };
        let text = SPIN
            .replace("%old = atomicrmw xchg ptr %a", &format!("{}%old = atomicrmw xchg ptr %a.free", call(1, "a")))
            .replace("store i32 0, ptr %b", &format!("{}store i32 0, ptr %b.free", call(2, "b")));
        assert!(split(&text).is_some());
        assert!(split(&text.replace("@__revamp_element(", "@other(")).is_none());
    }

    #[test]
    fn other_loops_stay() {
        // Another address; a value that is calculated; a barrier before it is freed.
        for (from, to) in [
            ("%b = getelementptr i32, ptr %p, i64 1", "%b = getelementptr i32, ptr %p, i64 2"),
            ("xchg ptr %a, i32 1", "xchg ptr %a, i32 %n"),
            ("store i32 2, ptr %q", "call void @__revamp_barrier()"),
        ] {
            assert!(SPIN.contains(from) && split(&SPIN.replace(from, to)).is_none(), "{to}");
        }
    }
}
