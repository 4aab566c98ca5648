//! Addresses that are chosen of several memories and kept: `const float *p = inside ? &tile[i] : &view[j]`, with loops, writes and
//! other choices behind it. SPIR-V keeps the memory of a tile, that of a thread and that of devices apart, so such an address
//! becomes one of each with the number of its memory, and each use a choice by that number.
//!
//! What is only read in one place is selected as a value before (`passes::phi_loads`), which costs no branch.

use std::collections::HashMap;

/// The address space in which Clang's pointers may point anywhere.
const ANY: &str = "ptr addrspace(4)";
/// The memories, as bits of a set and as the numbers of ways.
const DEVICE: u8 = 1;
const TILE: u8 = 2;
const THREAD: u8 = 4;
/// No memory: a null pointer, which has no form of its own in those of tiles and threads.
const NOWHERE: u8 = 8;

/// The text of a module, in which all calls are inlined and all values have names, without addresses of several memories; `None` if
/// there are none.
pub fn apart(ir: &str) -> Option<String> {
    let lines: Vec<&str> = ir.lines().collect();
    let (mut made, mut done, mut any) = (Vec::new(), 0, false);
    for (first, end) in functions(&lines) {
        if let Some(text) = split(&lines[first..end]) {
            made.extend(lines[done..first].iter().map(|line| (*line).to_owned()));
            made.extend(text);
            done = end;
            any = true;
        }
    }
    made.extend(lines[done..].iter().map(|line| (*line).to_owned()));
    any.then(|| made.join("\n") + "\n")
}

/// The functions of a text: the line of the first block, and the line behind the last.
fn functions(lines: &[&str]) -> Vec<(usize, usize)> {
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

/// The name of what an instruction makes, and the rest of its line.
fn instruction(line: &str) -> (Option<&str>, &str) {
    let text = line.trim_start();
    match text.split_once(" = ") {
        Some((name, what)) if name.starts_with('%') => (Some(name[1..].trim_matches('"')), what),
        _ => (None, text),
    }
}

/// The names of values in some text.
fn locals(text: &str) -> impl Iterator<Item = &str> {
    text.split('%').skip(1).map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.$".contains(c))).next().unwrap_or_default(),
    })
}

/// The values of a phi of addresses with the blocks that they come from; `text` begins behind `ptr`.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
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
fn renamed(text: &str, name: &str, value: &str) -> String {
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

/// The parts of some text between commas, with what is in brackets and in quotes whole.
fn parts(text: &str) -> Vec<&str> {
    let (mut all, mut depth, mut begin, mut quoted) = (Vec::new(), 0, 0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth -= 1,
            b',' if depth == 0 => {
                all.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(text[begin..].trim());
    all
}

/// The name of a local, if the text is one.
fn local(text: &str) -> Option<&str> {
    text.starts_with('%').then(|| locals(text).next()).flatten()
}

/// The addresses that an instruction makes its address of, if it makes one that may be anywhere of others.
fn sources(what: &str) -> Option<Vec<String>> {
    let of_any = |part: &str| part.strip_prefix(ANY).map(|value| value.trim().to_owned());
    if let Some(rest) = what.strip_prefix("phi ").and_then(|rest| rest.strip_prefix(ANY)) {
        return Some(pairs(rest)?.into_iter().map(|(value, _)| value).collect());
    }
    let found = parts(what);
    if what.starts_with("select ") {
        return Some(vec![of_any(found.get(1)?)?, of_any(found.get(2)?)?]);
    }
    if what.starts_with("getelementptr ") {
        return Some(vec![of_any(found.get(1)?)?]);
    }
    let frozen = what.strip_prefix("freeze ")?;
    Some(vec![of_any(parts(frozen).first()?)?])
}

/// Of which memory an address is that another address space was cast from.
fn cast(what: &str) -> Option<u8> {
    let from = what.strip_prefix("addrspacecast ptr")?;
    Some(match from.trim_start() {
        from if from.starts_with("addrspace(3)") => TILE,
        from if from.starts_with("addrspace(") => DEVICE,
        _ => THREAD,
    })
}

/// In which memories each address may be that is made of others.
struct Memories<'t>(HashMap<&'t str, u8>);

impl<'t> Memories<'t> {
    fn of(lines: &[&'t str]) -> Self {
        let instructions: Vec<_> =
            lines.iter().filter_map(|line| Some((instruction(line).0?, instruction(line).1))).collect();
        let casts = instructions.iter().filter_map(|(name, what)| Some((*name, cast(what)?)));
        let mut all = Self(casts.collect());
        let made: Vec<_> = instructions.iter().filter_map(|(name, what)| Some((*name, sources(what)?))).collect();
        all.0.extend(made.iter().map(|(name, _)| (*name, 0)));
        loop {
            let mut grown = false;
            for (name, sources) in &made {
                let set = sources.iter().fold(0, |set, value| set | all.find(value));
                grown |= all.0.insert(name, set) != Some(set);
            }
            if !grown {
                return all;
            }
        }
    }

    /// Those of an operand.
    fn find(&self, value: &str) -> u8 {
        match local(value) {
            Some(name) => self.0.get(name).copied().unwrap_or(DEVICE),
            None if ["undef", "poison"].contains(&value) => 0,
            None if value.contains("null") && !value.contains('@') => NOWHERE,
            None if value.contains("addrspace(3)") => TILE,
            None if value.contains('@') => THREAD,
            None => DEVICE,
        }
    }

    /// A comparison of addresses that may be in several; `rest` stands behind `icmp`.
    fn compares(&self, rest: &str) -> bool {
        operands(rest).is_some_and(|(_, first, second)| is_several(&(self.find(first) | self.find(second))))
    }

    /// Those of a local that may be in several.
    fn several(&self, name: &str) -> Option<u8> {
        self.0.get(name).copied().filter(is_several)
    }
}

/// The test of a comparison of addresses, and what it compares.
fn operands(rest: &str) -> Option<(&str, &str, &str)> {
    let [first, second, ..] = parts(rest)[..] else { return None };
    let (test, first) = first.split_once(" ptr addrspace(4) ")?;
    Some((test.rsplit(' ').next()?, first, second))
}

fn is_several(set: &u8) -> bool {
    set.count_ones() > 1 && *set != DEVICE | NOWHERE
}

fn each(set: u8) -> impl Iterator<Item = u8> {
    [DEVICE, TILE, THREAD].into_iter().filter(move |one| set & one != 0)
}

/// The address of one memory that stands for a local.
fn own(name: &str, memory: u8) -> String {
    format!("%\"{name}.memory{memory}\"")
}

fn number(name: &str) -> String {
    format!("%\"{name}.memory\"")
}

/// The body of a function while it is written anew.
struct Body<'t> {
    memories: Memories<'t>,
    lines: Vec<String>,
    /// The block that is written, as it is named now.
    block: String,
    choices: usize,
}

fn split(lines: &[&str]) -> Option<Vec<String>> {
    let memories = Memories::of(lines);
    let compares = |line: &&str| instruction(line).1.strip_prefix("icmp ").is_some_and(|rest| memories.compares(rest));
    if !memories.0.values().any(is_several) && !lines.iter().any(compares) {
        return None;
    }
    let mut body = Body { memories, lines: Vec::with_capacity(lines.len() * 2), block: String::new(), choices: 0 };
    // Under which name each block ends.
    let (mut ends, mut begun) = (HashMap::new(), None);
    for line in lines {
        if !line.starts_with(' ') && !line.is_empty() && !line.starts_with(';') {
            let name = line.split(':').next().unwrap_or_default().trim_matches('"').to_owned();
            ends.extend(begun.replace(name.clone()).map(|before| (before, std::mem::replace(&mut body.block, name))));
            body.block = begun.clone().unwrap_or_default();
            body.lines.push((*line).to_owned());
        } else {
            body.line(line)?;
        }
    }
    ends.extend(begun.map(|last| (last, body.block)));
    body.lines.into_iter().map(|line| after(line, &ends)).collect()
}

/// A line with the names under which blocks end, if it is a phi.
fn after(line: String, ends: &HashMap<String, String>) -> Option<String> {
    let Some((head, rest)) = line.split_once(" = phi ") else { return Some(line) };
    let moved = |name: &str| ends.get(name).is_some_and(|end| end != name);
    if !locals(rest).any(moved) {
        return Some(line);
    }
    let (ty, _) = rest.split_once(" [")?;
    let behind = rest.rsplit_once(']')?.1;
    let pairs = pairs(rest)?.into_iter().map(|(value, from)| {
        let from = ends.get(&from).unwrap_or(&from);
        format!("[ {value}, %\"{from}\" ]")
    });
    Some(format!("{head} = phi {ty} {}{behind}", pairs.collect::<Vec<_>>().join(", ")))
}

impl Body<'_> {
    /// Writes a line of the function.
    fn line(&mut self, line: &str) -> Option<()> {
        let (result, what) = instruction(line);
        if let Some((name, set)) = result.and_then(|name| Some((name, self.memories.several(name)?))) {
            return self.address(name, what, set);
        }
        if let Some((result, rest)) = result.zip(what.strip_prefix("icmp ")) {
            if self.memories.compares(rest) {
                return self.compared(result, rest);
            }
        }
        let Some((name, set)) = locals(line).find_map(|name| Some((name.to_owned(), self.memories.several(name)?)))
        else {
            self.lines.push(line.to_owned());
            return Some(());
        };
        // What only tells about it.
        if what.starts_with('#') || what.contains("@llvm.assume(") {
            return Some(());
        }
        self.chosen(line, &name, set)
    }

    /// An operand as it is in one memory.
    fn value(&self, text: &str, memory: u8) -> String {
        match local(text).and_then(|name| Some((name, self.memories.several(name)?))) {
            Some((name, set)) if set & memory != 0 => own(name, memory),
            None if [0, memory].contains(&self.memories.find(text)) => text.to_owned(),
            None if memory == DEVICE && self.memories.find(text) == NOWHERE => "null".to_owned(),
            _ => "poison".to_owned(),
        }
    }

    /// The number of the memory that an operand is in.
    fn memory(&self, text: &str, set: u8) -> String {
        let known = self.memories.find(text);
        match local(text).filter(|name| self.memories.several(name).is_some()) {
            Some(name) => number(name),
            None if known == NOWHERE => "0".to_owned(),
            None => each(if known == 0 { set } else { known }).next().unwrap_or(DEVICE).to_string(),
        }
    }

    /// One address for each memory, and the number of the one that holds.
    fn address(&mut self, name: &str, what: &str, set: u8) -> Option<()> {
        let from = sources(what)?;
        if let Some(rest) = what.strip_prefix("phi ") {
            let pairs = pairs(rest.strip_prefix(ANY)?)?;
            let of = |value: &dyn Fn(&str) -> String| {
                let all = pairs.iter().map(|(text, from)| format!("[ {}, %\"{from}\" ]", value(text)));
                all.collect::<Vec<_>>().join(", ")
            };
            let mut made: Vec<String> = each(set)
                .map(|m| format!("  {} = phi {ANY} {}", own(name, m), of(&|text| self.value(text, m))))
                .collect();
            made.push(format!("  {} = phi i32 {}", number(name), of(&|text| self.memory(text, set))));
            self.lines.extend(made);
            return Some(());
        }
        if what.starts_with("select ") {
            let condition = *parts(what).first()?;
            let [yes, no] = from.as_slice() else { return None };
            for m in each(set) {
                let (yes, no) = (self.value(yes, m), self.value(no, m));
                self.lines.push(format!("  {} = {condition}, {ANY} {yes}, {ANY} {no}", own(name, m)));
            }
            let (yes, no) = (self.memory(yes, set), self.memory(no, set));
            self.lines.push(format!("  {} = {condition}, i32 {yes}, i32 {no}", number(name)));
            return Some(());
        }
        let base = local(from.first()?)?;
        for m in each(set) {
            self.lines.push(format!("  {} = {}", own(name, m), renamed(what, base, &own(base, m))));
        }
        self.lines.push(format!("  {} = add i32 {}, 0", number(name), number(base)));
        Some(())
    }

    /// Two addresses are the same if they are in one memory, and there the same.
    fn compared(&mut self, result: &str, rest: &str) -> Option<()> {
        let (test, first, second) = operands(rest)?;
        if test != "eq" && test != "ne" {
            return None;
        }
        let set = [first, second].iter().fold(0, |set, text| set | self.memories.find(text));
        self.choices += 1;
        let number = self.choices;
        let made = |what: &str| format!("%\"{result}.{what}.{number}\"");
        let (a, b) = (self.memory(first, set), self.memory(second, set));
        let (mut lines, mut same) = (Vec::new(), (test == "eq").to_string());
        for m in each(set) {
            let (of_first, of_second) = (self.value(first, m), self.value(second, m));
            // In a memory that an address cannot be in, the numbers differ already.
            if of_first == "poison" || of_second == "poison" {
                continue;
            }
            let (one, is, both) = (made(&format!("in{m}")), made(&format!("is{m}")), made(&format!("of{m}")));
            lines.push(format!("  {one} = icmp {test} {ANY} {of_first}, {of_second}"));
            lines.push(format!("  {is} = icmp eq i32 {a}, {m}"));
            lines.push(format!("  {both} = select i1 {is}, i1 {one}, i1 {same}"));
            same = both;
        }
        // What is null in the memory of devices is null.
        let (x, y) = (
            self.nowhere(first, &a, &made("first"), &mut lines),
            self.nowhere(second, &b, &made("second"), &mut lines),
        );
        let apart = made("apart");
        lines.push(format!("  {apart} = icmp ne i32 {x}, {y}"));
        // What is poison where the numbers differ must not be seen there.
        lines.push(format!("  %\"{result}\" = select i1 {apart}, i1 {}, i1 {same}", test == "ne"));
        self.lines.extend(lines);
        Some(())
    }

    /// The number of an operand's memory, or 0 where it is null there.
    fn nowhere(&self, text: &str, memory: &str, name: &str, lines: &mut Vec<String>) -> String {
        let named = name.trim_end_matches('"');
        let several = local(text).is_some_and(|name| self.memories.several(name).is_some());
        if !several || self.memories.find(text) & DEVICE == 0 {
            return memory.to_owned();
        }
        let (null, is, no) = (format!("{named}.null\""), format!("{named}.is\""), format!("{named}.no\""));
        lines.push(format!("  {null} = icmp eq {ANY} {}, null", self.value(text, DEVICE)));
        lines.push(format!("  {is} = icmp eq i32 {memory}, {DEVICE}"));
        lines.push(format!("  {no} = select i1 {is}, i1 {null}, i1 false"));
        lines.push(format!("  {named}\" = select i1 {no}, i32 0, i32 {memory}"));
        name.to_owned()
    }

    /// An instruction once for each memory.
    fn chosen(&mut self, line: &str, name: &str, set: u8) -> Option<()> {
        let all: Vec<u8> = each(set).collect();
        if let [memory] = all[..] {
            return self.line(&renamed(line, name, &own(name, memory)));
        }
        self.choices += 1;
        let prefix = format!("memories{}", self.choices);
        let (result, what) = instruction(line);
        let ty = result.map(|_| result_of(what)).map_or(Some(None), |ty| ty.map(Some))?;
        let mut ways = Vec::new();
        for (n, &memory) in all.iter().enumerate() {
            let is_last = n + 1 == all.len();
            if !is_last {
                let (is, yes, no) =
                    (format!("{prefix}.is{memory}"), format!("{prefix}.{memory}"), format!("{prefix}.not{memory}"));
                self.lines.push(format!("  %\"{is}\" = icmp eq i32 {}, {memory}", number(name)));
                self.lines.push(format!("  br i1 %\"{is}\", label %\"{yes}\", label %\"{no}\""));
                self.begin(&yes);
            }
            let own_result = format!("{}.{prefix}.{memory}", result.unwrap_or_default());
            let text = renamed(what, name, &own(name, memory));
            let named = result.map(|_| format!("%\"{own_result}\" = ")).unwrap_or_default();
            self.line(&format!("  {named}{text}"))?;
            ways.push(format!("[ %\"{own_result}\", %\"{}\" ]", self.block));
            self.lines.push(format!("  br label %\"{prefix}.end\""));
            if !is_last {
                self.begin(&format!("{prefix}.not{memory}"));
            }
        }
        self.begin(&format!("{prefix}.end"));
        if let Some((result, ty)) = result.zip(ty) {
            self.lines.push(format!("  %\"{result}\" = phi {ty} {}", ways.join(", ")));
        }
        Some(())
    }

    fn begin(&mut self, block: &str) {
        self.lines.push(String::new());
        self.lines.push(format!("\"{block}\":"));
        self.block = block.to_owned();
    }
}

/// The type of what an instruction gives that uses an address.
fn result_of(what: &str) -> Option<String> {
    let found = parts(what);
    let first = found.first()?;
    if let Some(loaded) = first.strip_prefix("load ") {
        let plain = loaded.strip_prefix("atomic ").unwrap_or(loaded);
        return Some(plain.strip_prefix("volatile ").unwrap_or(plain).to_owned());
    }
    let of_value = || found.get(1)?.split(' ').next().map(str::to_owned);
    if first.starts_with("atomicrmw ") {
        return of_value();
    }
    if first.starts_with("cmpxchg ") {
        return Some(format!("{{ {}, i1 }}", of_value()?));
    }
    if let Some(to) = first.strip_prefix("ptrtoint ") {
        return to.rsplit_once(" to ").map(|(_, ty)| ty.to_owned());
    }
    let call = what.split_once(" @")?.0;
    let scalar = call.rsplit(' ').next()?;
    (call.contains("call ") && !call.ends_with(['}', ']', '>', ')'])).then(|| scalar.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: &str = "\
define spir_kernel void @k(ptr addrspace(4) %view, i1 %c) {
entry:
  br i1 %c, label %yes, label %no

yes:
  br label %loop

no:
  %far = getelementptr float, ptr addrspace(4) %view, i64 3
  br label %loop

loop:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), %yes ], [ %far, %no ], [ %q, %loop ]
  %v = load float, ptr addrspace(4) %p, align 4, !dbg !3
  %q = getelementptr inbounds float, ptr addrspace(4) %p, i64 1
  %e = icmp eq ptr addrspace(4) %q, %far
  br i1 %e, label %end, label %loop

end:
  %last = phi float [ %v, %loop ]
  store float %last, ptr addrspace(4) %p, align 4
  ret void
}
";

    #[test]
    fn a_kept_address_is_one_of_each_memory() {
        let made = apart(KEPT).unwrap();
        for line in [
            "  %\"p.memory1\" = phi ptr addrspace(4) [ poison, %\"yes\" ], [ %far, %\"no\" ], [ %\"q.memory1\", %\"memories1.end\" ]",
            "  %\"p.memory2\" = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), %\"yes\" ], \
             [ poison, %\"no\" ], [ %\"q.memory2\", %\"memories1.end\" ]",
            "  %\"p.memory\" = phi i32 [ 2, %\"yes\" ], [ 1, %\"no\" ], [ %\"q.memory\", %\"memories1.end\" ]",
            "  br i1 %\"memories1.is1\", label %\"memories1.1\", label %\"memories1.not1\"",
            "  %\"v.memories1.2\" = load float, ptr addrspace(4) %\"p.memory2\", align 4, !dbg !3",
            "  %\"v\" = phi float [ %\"v.memories1.1\", %\"memories1.1\" ], [ %\"v.memories1.2\", %\"memories1.not1\" ]",
            "  %\"e.of1.2\" = select i1 %\"e.is1.2\", i1 %\"e.in1.2\", i1 true",
            "  %\"e.apart.2\" = icmp ne i32 %\"e.first.2\", 1",
            "  %\"e\" = select i1 %\"e.apart.2\", i1 false, i1 %\"e.of1.2\"",
            "  %last = phi float [ %v, %\"memories1.end\" ]",
            "  store float %last, ptr addrspace(4) %\"p.memory2\", align 4",
        ] {
            assert!(made.lines().any(|found| found == line), "{line}\n{made}");
        }
        assert!(apart(&made).is_none(), "{made}");
    }

    #[test]
    fn addresses_of_one_memory_stay() {
        assert!(apart(&KEPT.replace("addrspacecast (ptr addrspace(3) @s to ptr addrspace(4))", "%view")).is_none());
    }

    #[test]
    fn null_is_no_memory() {
        let null = KEPT.replace("[ %far, %no ]", "[ null, %no ]").replace("%q, %far", "%q, null");
        let made = apart(&null).unwrap();
        for line in [
            "  %\"p.memory\" = phi i32 [ 2, %\"yes\" ], [ 0, %\"no\" ], [ %\"q.memory\", %\"loop\" ]",
            "  %v = load float, ptr addrspace(4) %\"p.memory2\", align 4, !dbg !3",
            "  %\"e.apart.1\" = icmp ne i32 %\"q.memory\", 0",
            "  %\"e\" = select i1 %\"e.apart.1\", i1 false, i1 true",
        ] {
            assert!(made.lines().any(|found| found == line), "{line}\n{made}");
        }
    }

    #[test]
    fn results_have_types() {
        for (what, ty) in [
            ("load atomic i32, ptr addrspace(4) %p seq_cst", "i32"),
            ("load volatile <2 x float>, ptr addrspace(4) %p", "<2 x float>"),
            ("atomicrmw add ptr addrspace(4) %p, i32 %v monotonic", "i32"),
            ("cmpxchg ptr addrspace(4) %p, i64 %a, i64 %b seq_cst seq_cst", "{ i64, i1 }"),
            ("ptrtoint ptr addrspace(4) %p to i64", "i64"),
            ("call spir_func noundef addrspace(4) float @f(ptr addrspace(4) %p, i32 1)", "float"),
        ] {
            assert_eq!(result_of(what).as_deref(), Some(ty), "{what}");
        }
    }
}
