//! Which loops LLVM may take for parallel: loops over threads, and no others.
//!
//! The metadata `llvm.loop.parallel_accesses` stands on the latch of each loop over a region's threads. LLVM moves metadata with branches: where
//! such a loop is unrolled completely, or iterates once, the branch of its latch may become the latch of a loop around or within it. The iterations
//! of that loop depend on each other, and LLVM would make vectors of them. Three things prevent it:
//!
//! - Each region has an access group of its own: the metadata of one region says nothing about accesses of another one.
//! - Each latch begins with a marker, a call of `llvm.sideeffect` in the region's group. The block is never empty, so LLVM does
//!   not fold its branch into a block of the kernel before it. LLVM makes vectors of loops with markers.
//! - A boundary follows the loop over the threads: an empty `asm` that may access memory and is in no group. LLVM never takes a loop
//!   with a boundary for parallel.
//!
//! The invariant: a loop with a region's metadata contains that region's marker and no boundary. `check` verifies it.

use std::collections::{HashMap, HashSet};

/// Begins a latch; the number of the region's access group follows.
pub const MARKER: &str = "call void @llvm.sideeffect(), !llvm.access.group ";
pub const MARKER_DECLARED: &str = "declare void @llvm.sideeffect()\n";
/// Follows a loop over threads.
pub const BOUNDARY: &str =
    "call void asm sideeffect \"\", \"\"() nounwind willreturn memory(inaccessiblemem: readwrite)";
/// A part of the metadata of loops over threads, which tells them from loops that the program's source marks as parallel.
pub const THREADS: &str = "!{!\"revamp.threads\"}";

/// Checks the invariant in all functions of a module that `emit` wrote, also after any of LLVM's passes.
pub fn check(module: &str) -> Result<(), String> {
    let claims = claims(module);
    let mut lines = module.lines();
    while let Some(head) = lines.next() {
        if head.starts_with("define ") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            Graph::of(&body).check(&claims).map_err(|why| {
                let name = head.split_once('@').map_or("", |(_, rest)| rest.split('(').next().unwrap_or_default());
                format!("internal: {why} in {name}")
            })?;
        }
    }
    Ok(())
}

/// The loops over threads: the groups that each one's node names.
fn claims(module: &str) -> HashMap<&str, Vec<&str>> {
    let nodes = module.lines().filter_map(|line| line.strip_prefix('!')?.split_once(" = "));
    let nodes: HashMap<&str, &str> = nodes.collect();
    let operands = |number: &str| -> Vec<&str> {
        let text = nodes.get(number).copied().unwrap_or_default();
        let inner = text.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}')).map_or("", |(inner, _)| inner);
        inner.split(", ").map(|operand| operand.trim_start_matches('!')).collect()
    };
    let is_of_threads = |number: &&str| operands(number).iter().any(|of| operands(of) == ["\"revamp.threads\""]);
    let parallel = |number: &str| -> Vec<&str> {
        let all = operands(number).into_iter().map(operands);
        all.filter(|o| o.first() == Some(&"\"llvm.loop.parallel_accesses\"")).flat_map(|o| o[1..].to_vec()).collect()
    };
    nodes.keys().copied().filter(is_of_threads).map(|number| (number, parallel(number))).collect()
}

#[derive(Default)]
struct Block<'t> {
    next: Vec<&'t str>,
    /// The node of the branch that ends it.
    node: Option<&'t str>,
    /// The groups of the markers in it.
    markers: HashSet<&'t str>,
    boundary: bool,
}

/// The blocks of a function; the entry is the first one.
struct Graph<'t> {
    entry: &'t str,
    blocks: HashMap<&'t str, Block<'t>>,
}

impl<'t> Graph<'t> {
    fn of(body: &[&'t str]) -> Self {
        let mut graph = Self { entry: "", blocks: HashMap::new() };
        let mut label = "";
        for (n, line) in body.iter().enumerate() {
            if let Some(found) = label_of(line) {
                label = found;
                if n == 0 {
                    graph.entry = found;
                }
                continue;
            }
            let block = graph.blocks.entry(label).or_default();
            block.next.extend(targets(line));
            block.node = number_behind(line, "!llvm.loop !").or(block.node);
            if line.contains("@llvm.sideeffect(") {
                block.markers.extend(number_behind(line, "!llvm.access.group !"));
            }
            block.boundary |= line.contains("call void asm sideeffect \"\", \"\"()");
        }
        graph
    }

    /// `claims`: the nodes of loops over threads, with their groups.
    fn check(&self, claims: &HashMap<&str, Vec<&str>>) -> Result<(), String> {
        for (&latch, block) in &self.blocks {
            let Some(groups) = block.node.and_then(|node| claims.get(node)) else { continue };
            for &header in block.next.iter().filter(|header| self.is_dominated(latch, header)) {
                let body = self.natural_loop(header, latch);
                let within = || body.iter().filter_map(|label| self.blocks.get(label));
                if within().any(|b| b.boundary) {
                    return Err(format!("a loop around a region is marked as parallel (latch {latch})"));
                }
                if !groups.iter().any(|group| within().any(|b| b.markers.contains(group))) {
                    return Err(format!("a loop within a region is marked as parallel (latch {latch})"));
                }
            }
        }
        Ok(())
    }

    /// `header` dominates `block`.
    fn is_dominated(&self, block: &str, header: &str) -> bool {
        let (mut seen, mut open) = (HashSet::from([header]), vec![self.entry]);
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(self.blocks.get(at).into_iter().flat_map(|b| &b.next));
            }
        }
        block == header || !seen.contains(block)
    }

    fn natural_loop(&self, header: &'t str, latch: &'t str) -> HashSet<&'t str> {
        let (mut body, mut open) = (HashSet::from([header]), vec![latch]);
        while let Some(at) = open.pop() {
            if body.insert(at) {
                open.extend(self.blocks.iter().filter(|(_, b)| b.next.contains(&at)).map(|(label, _)| *label));
            }
        }
        body
    }
}

/// The label of a block, without quotes.
fn label_of(line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t']) {
        return None;
    }
    match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\":").map(|(label, _)| label),
        None => line.split_once(':').map(|(label, _)| label),
    }
}

/// The labels that a line of a block names.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("label %").skip(1).map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split([',', ' ', ']']).next().unwrap_or_default(),
    })
}

/// The number of the metadata that follows a word.
fn number_behind<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    let (_, rest) = line.split_once(word)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(..digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop of rounds around the loop over a region's threads, in which each thread has a loop of its own. The numbers are those
    /// of the metadata on the three latches: 1 is of threads.
    fn nested(rounds: u32, threads: u32, own: u32) -> String {
        format!(
            "define i32 @\"k\"(i1 %more) {{\nentry:\n  br label %round\nround:\n  br label %\"r1:thread\"\n\
             \"r1:thread\":                ; preds = %round\n  br label %own\n\
             own:\n  br i1 %more, label %own, label %latch, !llvm.loop !{own}\n\
             latch:\n  {MARKER}!3\n  br i1 %more, label %\"r1:thread\", label %done, !llvm.loop !{threads}\n\
             done:\n  {BOUNDARY}\n  switch i32 0, label %end [\n    i32 1, label %round\n  ], !llvm.loop !{rounds}\n\
             end:\n  ret i32 0, !llvm.loop !1\n}}\n\
             !1 = distinct !{{!1, !2, !4}}\n!2 = !{THREADS_TEXT}\n!3 = distinct !{{}}\n\
             !4 = !{{!\"llvm.loop.parallel_accesses\", !3}}\n!5 = distinct !{{!5, !4}}\n",
            THREADS_TEXT = THREADS.trim_start_matches('!')
        )
    }

    #[test]
    fn metadata_of_threads_stands_on_loops_over_threads_only() {
        assert_eq!(check(&nested(5, 1, 5)), Ok(()), "what the source marks is no claim about threads");
        let around = check(&nested(1, 5, 5)).err().unwrap_or_default();
        assert!(around.contains("a loop around a region is marked as parallel (latch done) in \"k\""), "{around}");
        let within = check(&nested(5, 5, 1)).err().unwrap_or_default();
        assert!(within.contains("a loop within a region is marked as parallel (latch own)"), "{within}");
    }
}
