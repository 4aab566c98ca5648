//! Loops that count and are too large to be unrolled by LLVM's rules, marked for it to unroll them by 4. In a large loop too the loads
//! of several iterations then wait together, and what differs between branches is chosen more rarely.
//!
//! Only the innermost: of a loop around one that was unrolled, copies gain nothing. And only those that are left at their end alone,
//! when what counts has reached a number that the loop does not change: the rest would need a copy of each exit.

use std::collections::HashSet;

use crate::spins::{Block, Body, functions, instruction, locals};

/// How many instructions such a loop has: more than LLVM unrolls by 2, and by 4 not more than some hundred.
const LARGE: std::ops::RangeInclusive<usize> = 76..=150;

/// What stands before the number of a loop's mark.
const MARK: &str = ", !llvm.loop !";

/// The text of a module from before loops of a length known at run time only are unrolled, with a mark at each such loop; `None` if
/// there are none.
pub fn marked(ir: &str) -> Option<String> {
    let lines: Vec<&str> = ir.lines().collect();
    let mut ends = HashSet::new();
    for (first, end) in functions(&lines) {
        let body = Body::read(&lines, first, end);
        let loops = body.loops();
        let innermost = |(head, blocks): &&(usize, HashSet<usize>)| {
            !loops.iter().any(|(other, _)| other != head && blocks.contains(other))
        };
        ends.extend(loops.iter().filter(innermost).filter_map(|(head, blocks)| counted(&lines, &body, *head, blocks)));
    }
    ends.retain(|&end| !lines[end].split_once(MARK).is_some_and(|(_, mark)| asked(&lines, mark)));
    if ends.is_empty() {
        return None;
    }
    let number =
        1 + lines.iter().filter_map(|line| line.strip_prefix('!')?.split(' ').next()?.parse::<u64>().ok()).max()?;
    let mut text = String::with_capacity(ir.len() + 4096);
    let (mut marks, mut next) = (String::new(), number + 1);
    for (n, line) in lines.iter().enumerate() {
        if ends.contains(&n) {
            text += line.split(MARK).next().unwrap_or_default();
            text += &format!("{MARK}{next}");
            marks += &format!("!{next} = distinct !{{!{next}, !{number}}}\n");
            next += 1;
        } else {
            text += line;
        }
        text.push('\n');
    }
    Some(format!("{text}!{number} = !{{!\"llvm.loop.unroll.count\", i32 4}}\n{marks}"))
}

/// Whether the mark says how the user wants the loop unrolled.
fn asked(lines: &[&str], mark: &str) -> bool {
    let node = |number: &str| {
        let begin = format!("!{number} = ");
        lines.iter().find_map(|line| line.strip_prefix(begin.as_str()))
    };
    let parts = node(mark).unwrap_or_default().split('!').map(|part| part.trim_end_matches([',', ' ', '}']));
    parts.filter(|part| *part != mark).any(|part| node(part).is_some_and(|said| said.contains("llvm.loop.unroll")))
}

/// The line of the branch at the end of a loop that is large and counts.
fn counted(lines: &[&str], body: &Body<'_>, head: usize, blocks: &HashSet<usize>) -> Option<usize> {
    let end = |block: usize| body.blocks.get(block + 1).map_or(lines.len(), |next| next.label);
    let size = |&block: &usize| {
        let Block { first, .. } = body.blocks[block];
        lines[first..end(block)].iter().take_while(|line| **line != "}").filter(|line| is_instruction(line)).count()
    };
    if !LARGE.contains(&blocks.iter().map(size).sum()) {
        return None;
    }
    let leaves = |&&block: &&usize| body.blocks[block].successors.iter().any(|to| !blocks.contains(to));
    let mut exits = blocks.iter().filter(leaves);
    let (&last, None) = (exits.next()?, exits.next()) else { return None };
    let latches = body.blocks[head].predecessors.iter().filter(|from| blocks.contains(from));
    if !latches.eq([&last]) {
        return None;
    }
    let condition = body.values.get(body.conditions[last]?)?;
    let (_, compared) = instruction(lines[condition.line]);
    if !compared.starts_with("icmp eq ") && !compared.starts_with("icmp ne ") {
        return None;
    }
    let inside = |name: &&str| body.values.get(*name).is_some_and(|value| blocks.contains(&value.block));
    let (changing, fixed): (Vec<&str>, Vec<&str>) = condition.of.iter().partition(|name| inside(name));
    // Else the length is known, or is no length.
    let ([counter], [_]) = (&changing[..], &fixed[..]) else { return None };
    let (_, sum) = instruction(lines[body.values.get(counter)?.line]);
    let sum = sum.split(", !").next()?;
    let by_one = sum.starts_with("add ") && (sum.ends_with(", 1") || sum.ends_with(", -1"));
    let before = locals(sum).next()?;
    let carried = body.values.get(before).is_some_and(|value| value.block == head && is_phi(lines[value.line]));
    (by_one && carried)
        .then(|| (body.blocks[last].first..end(last)).find(|&n| lines[n].trim_start().starts_with("br ")))?
}

fn is_phi(line: &str) -> bool {
    instruction(line).1.starts_with("phi ")
}

fn is_instruction(line: &str) -> bool {
    line.starts_with("  ") && !line.trim_start().starts_with(['#', ';', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel with a loop of `more` multiplications, `add` in its middle, that is left on `last`.
    fn kernel(more: usize, add: &str, last: &str) -> String {
        let work: String = (0..more).map(|n| format!("  %m{n} = fmul float %x, %x\n")).collect();
        format!(
            "define void @k(i32 %n, float %x) {{\nentry:\n  br label %head\nhead:\n  %i = phi i32 [ 0, %entry ], [ %j, %latch ]\n\
             {work}{add}  br label %latch\nlatch:\n  %j = add nuw i32 %i, 1, !dbg !3\n  %last = {last}, !dbg !3\n  \
             br i1 %last, label %out, label %head, !dbg !3\nout:\n  ret void\n}}\n!3 = !{{}}\n"
        )
    }

    #[test]
    fn large_loops_that_count_are_marked() {
        let last = "icmp eq i32 %j, %n";
        let branch = "  br i1 %last, label %out, label %head, !dbg !3";
        let text = marked(&kernel(100, "", last)).unwrap();
        assert!(text.contains(&format!("{branch}, !llvm.loop !5\nout:")), "{text}");
        assert!(text.ends_with("!4 = !{!\"llvm.loop.unroll.count\", i32 4}\n!5 = distinct !{!5, !4}\n"), "{text}");
        let inner = "  br label %again\nagain:\n  %y = phi i32 [ 0, %head ], [ %z, %again ]\n  %z = load i32, ptr null\n  \
                     %w = icmp eq i32 %z, 0\n  br i1 %w, label %latch, label %again\nother:\n";
        let exit = "  %e = icmp eq i32 %i, 7\n  br i1 %e, label %out, label %latch\nother:\n";
        for (more, add, last, what) in [
            (60, "", last, "LLVM unrolls it"),
            (200, "", last, "too large"),
            (100, "", "icmp eq i32 %j, 40", "a known length"),
            (100, "", "icmp eq i32 %i, %j", "no length"),
            (100, "", "fcmp olt float %m1, %x", "does not count"),
            (100, inner, last, "not innermost"),
            (100, exit, last, "two exits"),
        ] {
            assert!(marked(&kernel(more, add, last)).is_none(), "{what}");
        }
        let with = |mark: &str| {
            let text = kernel(100, "", last).replace(branch, &format!("{branch}, !llvm.loop !4"));
            marked(&format!("{text}!4 = distinct !{{!4, !3, !5}}\n!5 = !{{!\"llvm.loop.{mark}\"}}\n"))
        };
        assert!(with("unroll.disable").is_none(), "the user's mark");
        let text = with("mustprogress").unwrap();
        assert!(text.contains(&format!("{branch}, !llvm.loop !7\nout:")), "{text}");
        assert!(marked(&kernel(100, "", last).replace("%i, 1,", "%i, 10,")).is_none(), "by ten");
    }
}
