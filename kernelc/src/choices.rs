//! `inside ? tile[i] : view[j]`: of two places in memory Clang chooses the address, and SPIR-V keeps the memory of a tile and
//! that of devices apart. What is only read through such a choice is read before it here, on each of its ways.

use crate::spins::{Body, functions, instruction, locals};
use std::collections::HashSet;

/// The text of a module, in which all calls are inlined and all values have names, with choices of values in place of those of
/// addresses; `None` if there are none.
pub fn of_values(ir: &str) -> Option<String> {
    let mut lines: Vec<String> = ir.lines().map(str::to_owned).collect();
    let mut made = 0;
    // The last first: an address that was chosen may have been chosen of others.
    while let Some(choice) = last_choice(&lines) {
        choice.apply(&mut lines, made);
        made += 1;
    }
    (made > 0).then(|| lines.join("\n") + "\n")
}

/// An address that is chosen and only read through.
struct Choice {
    /// The line of the phi, and its name.
    phi: usize,
    name: String,
    /// What it is, by the block that it comes from, with the line of that block's end.
    ways: Vec<(String, String, usize)>,
    /// The lines that read, and those that make addresses for them.
    moved: Vec<usize>,
}

fn last_choice(lines: &[String]) -> Option<Choice> {
    let text: Vec<&str> = lines.iter().map(String::as_str).collect();
    let in_function = |&(first, end): &(usize, usize)| {
        let body = Body::read(&text, first, end);
        (0..body.blocks.len()).rev().find_map(|block| choice_in(&text, &body, block, (first, end)))
    };
    functions(&text).iter().rev().find_map(in_function)
}

fn choice_in(lines: &[&str], body: &Body<'_>, block: usize, (first, end): (usize, usize)) -> Option<Choice> {
    let of = body.blocks.get(block)?;
    let behind = body.blocks.get(block + 1).map_or(end, |next| next.label);
    (of.label..of.first).find_map(|phi| {
        let (Some(name), what) = instruction(lines[phi]) else { return None };
        let pairs = pairs(what.strip_prefix("phi ptr")?)?;
        let ways = pairs.into_iter().map(|(value, from)| {
            let at = body.blocks.iter().position(|other| other.name == from)?;
            let last = body.blocks.get(at + 1).map_or(end, |next| next.label);
            let last = (body.blocks[at].first..last).rev().find(|&n| lines[n].starts_with("  "))?;
            // Another way out of that block would read what need not be there.
            (at != block && lines[last].trim_start().starts_with("br label ")).then_some((value, from, last))
        });
        let ways: Vec<_> = ways.collect::<Option<_>>()?;
        let moved = reads(lines, body, block, (phi, name), (first, end, behind))?;
        Some(Choice { phi, name: name.to_owned(), ways, moved })
    })
}

/// The lines that read through the address, if these are all that use it and nothing before them writes.
fn reads(
    lines: &[&str],
    body: &Body<'_>,
    block: usize,
    (phi, name): (usize, &str),
    (first, end, behind): (usize, usize, usize),
) -> Option<Vec<usize>> {
    let mut addresses: HashSet<&str> = HashSet::from([name]);
    let mut moved = Vec::new();
    for (n, line) in lines.iter().enumerate().take(behind).skip(body.blocks.get(block)?.first) {
        if !locals(line).any(|used| addresses.contains(used)) {
            continue;
        }
        let (result, what) = instruction(line);
        let others = || locals(what).filter(|used| !addresses.contains(used));
        if others().any(|used| body.values.get(used).is_some_and(|value| value.block == block)) {
            return None;
        }
        let reads =
            what.starts_with("load ") && !["load volatile ", "load atomic "].iter().any(|w| what.starts_with(w));
        // Classes are copied.
        let copied =
            || what.split_once("@llvm.memcpy.")?.1.split_once(", ").map(|(to, from)| (to, from.contains("i1 false)")));
        if what.starts_with("getelementptr ") {
            addresses.extend(result);
        } else if !reads
            && !copied().is_some_and(|(to, plain)| plain && !locals(to).any(|used| addresses.contains(used)))
        {
            return None;
        }
        moved.push(n);
    }
    let last = *moved.last()?;
    let writes = |line: &str| {
        let (_, what) = instruction(line);
        let calls = what.contains("call ") && !what.contains("@llvm.lifetime.");
        calls || ["store ", "atomicrmw ", "cmpxchg ", "fence "].iter().any(|word| what.starts_with(word))
    };
    let elsewhere =
        |n: &usize| *n != phi && !moved.contains(n) && locals(lines[*n]).any(|used| addresses.contains(used));
    let only_read =
        !(first..end).any(|n| elsewhere(&n)) && !(phi..last).any(|n| !moved.contains(&n) && writes(lines[n]));
    let reads = moved.iter().any(|&n| !lines[n].contains(" = getelementptr "));
    (only_read && reads).then_some(moved)
}

impl Choice {
    fn apply(&self, lines: &mut Vec<String>, number: usize) {
        let mut phis = Vec::new();
        let mut before: Vec<(usize, Vec<String>)> = self.ways.iter().map(|(_, _, at)| (*at, Vec::new())).collect();
        let results: Vec<String> =
            self.moved.iter().filter_map(|&n| instruction(&lines[n]).0.map(str::to_owned)).collect();
        let own = |result: &str, way: usize| format!("%\"{result}.chosen{number}.{way}\"");
        for &n in &self.moved {
            let (result, what) = instruction(&lines[n]);
            for (way, (value, _, _)) in self.ways.iter().enumerate() {
                let mut text = renamed(what, &self.name, value);
                for other in &results {
                    text = renamed(&text, other, &own(other, way));
                }
                let named = result.map(|result| format!("{} = ", own(result, way))).unwrap_or_default();
                before[way].1.push(format!("  {named}{text}"));
            }
            let loaded = what.strip_prefix("load ").and_then(|rest| rest.split_once(", ptr"));
            let Some((result, (ty, _))) = result.zip(loaded) else { continue };
            let pair = |(way, (_, from, _)): (usize, &(String, String, usize))| {
                format!("[ {}, %\"{from}\" ]", own(result, way))
            };
            let pairs: Vec<String> = self.ways.iter().enumerate().map(pair).collect();
            phis.push(format!("  %\"{result}\" = phi {ty} {}", pairs.join(", ")));
        }
        let gone: HashSet<usize> = self.moved.iter().copied().collect();
        let mut made = Vec::with_capacity(lines.len() + 8);
        for (n, line) in lines.drain(..).enumerate() {
            before.iter_mut().filter(|(at, _)| *at == n).for_each(|(_, more)| made.append(more));
            if n == self.phi {
                made.append(&mut phis);
            } else if !gone.contains(&n) {
                made.push(line);
            }
        }
        *lines = made;
    }
}

/// The values of a phi of addresses with the blocks that they come from; `text` begins behind `ptr`.
pub fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let (mut all, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => {
                depth += 1;
                if depth == 1 {
                    begin = at + 1;
                }
            }
            b']' => {
                depth -= 1;
                if depth == 0 {
                    let (value, from) = text[begin..at].trim().rsplit_once(", %")?;
                    all.push((value.to_owned(), from.trim_matches('"').to_owned()));
                }
            }
            _ => {}
        }
    }
    (!all.is_empty()).then_some(all)
}

/// The text with another value in place of the local `name`.
pub fn renamed(text: &str, name: &str, value: &str) -> String {
    let mut made = String::with_capacity(text.len() + value.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        made += before;
        let found = locals(from).next().unwrap_or_default();
        let quoted = from.starts_with("%\"");
        let length = found.len() + if quoted { 3 } else { 1 };
        let (word, behind) = from.split_at(length.min(from.len()));
        made += if found == name { value } else { word };
        rest = behind;
    }
    made + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHOICE: &str = "\
define spir_kernel void @k(ptr %view, i1 %c) {
entry:
  br i1 %c, label %yes, label %no

yes:
  br label %end

no:
  %far = getelementptr float, ptr %view, i64 3
  br label %end

end:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) getelementptr ([8 x float], ptr addrspace(3) @s, i64 0, i64 1) to ptr addrspace(4)), %yes ], [ %far, %no ]
  %q = getelementptr i8, ptr addrspace(4) %p, i64 4
  %v = load float, ptr addrspace(4) %p, align 4
  %w = load float, ptr addrspace(4) %q, align 4
  %sum = fadd float %v, %w
  store float %sum, ptr %view, align 4
  ret void
}
";

    #[test]
    fn what_is_read_through_a_chosen_address_is_chosen_itself() {
        let made = of_values(CHOICE).unwrap();
        assert!(!made.contains("phi ptr"), "{made}");
        assert!(
            made.contains("%\"v\" = phi float [ %\"v.chosen0.0\", %\"yes\" ], [ %\"v.chosen0.1\", %\"no\" ]"),
            "{made}"
        );
        assert!(
            made.contains("%\"w.chosen0.1\" = load float, ptr addrspace(4) %\"q.chosen0.1\", align 4\n  br label %end"),
            "{made}"
        );
        assert!(of_values(&made).is_none());
    }

    #[test]
    fn what_is_written_through_it_stays() {
        let written = CHOICE.replace("store float %sum, ptr %view", "store float %sum, ptr %p");
        assert!(of_values(&written).is_none());
        let before = CHOICE.replace("  %v = load", "  store float 0.0, ptr %view\n  %v = load");
        assert!(of_values(&before).is_none());
        let copied = CHOICE.replace(
            "  %v = load",
            "  call void @llvm.memcpy.p0.p4.i64(ptr %view, ptr addrspace(4) %p, i64 8, i1 false)\n  %v = load",
        );
        assert!(of_values(&copied).unwrap().contains("ptr addrspace(4) %far, i64 8, i1 false)\n"));
        let two_ways = CHOICE.replace("yes:\n  br label %end", "yes:\n  br i1 %c, label %end, label %no");
        assert!(of_values(&two_ways).is_none());
    }
}
