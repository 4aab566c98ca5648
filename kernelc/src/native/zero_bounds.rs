//! Checks of `-famp-bounds=zero` in native kernels: reads outside the memory of an array or array_view give 0, writes are dropped.
//!
//! It works on kernels into which all they call is inlined. A pointer that is loaded from the argument block has an entry in the table
//! behind the block ([`revamp_image::table`]), which the library fills in. Pointers that are made of it reach the same memory. Each access
//! becomes a branch: LLVM makes masked vector instructions of it. What cannot be followed is looked up in the table when the
//! kernel runs, or refused.

use super::text::{self, Function, Instruction, operand, size, split_type};
use super::variables::plain_name;
use revamp_image::table;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// The library's look-up: where the memory begins in which an address lies, and its size.
const FOUND: &str = "declare i64 @revamp_native_found(ptr, i64, ptr, i32) nounwind willreturn memory(read)\n";

/// What a pointer reaches.
#[derive(Clone, PartialEq, Eq)]
enum Reach {
    /// The function's own variables, `tile_static` ones and constants: not checked.
    Own,
    Block,
    Nothing,
    /// The memory of the pointer that this instruction makes.
    Of(String),
}

/// A module whose kernels check all accesses. An error names a kernel that cannot.
pub fn checked(ir: &str) -> Result<String, String> {
    let types = super::types(ir);
    let names: HashSet<String> = types.keys().cloned().collect();
    let kernels = super::kernel_names(ir);
    let shared: HashSet<String> = super::shared(ir).into_keys().collect();
    let mut made = String::with_capacity(ir.len() * 2);
    let mut lines = ir.lines();
    let mut found = false;
    while let Some(line) = lines.next() {
        made.push_str(line);
        made.push('\n');
        let Some(head) = line.strip_prefix("define ") else { continue };
        let name = head.split_once('@').map_or("", |(_, rest)| rest.split('(').next().unwrap_or_default());
        if !kernels.contains(name) {
            continue;
        }
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
        let function =
            text::function(name, head, &body, &names).ok_or_else(|| format!("{name}: its text is not understood"))?;
        let block = block_size(head).ok_or_else(|| format!("{name}: the size of its arguments is not known"))?;
        let checks = Checks::new(&function, &types, &shared, block);
        made.push_str(&checks.function().map_err(|why| format!("{name}: {why}"))?);
        made.push_str("}\n");
        found = true;
    }
    if found {
        made.push_str(FOUND);
        if !ir.contains("\ndeclare void @llvm.memset.p0.i64(") {
            made.push_str("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n");
        }
    }
    Ok(made)
}

/// The bytes of the argument block.
fn block_size(head: &str) -> Option<u64> {
    head.split_once("dereferenceable(")?.1.split_once(')')?.0.parse().ok()
}

struct Checks<'f> {
    function: &'f Function,
    types: &'f HashMap<String, String>,
    shared: &'f HashSet<String>,
    made: HashMap<&'f str, &'f Instruction>,
    block: u64,
    /// The pointers through which the address of an array's elements is read.
    faces: HashSet<String>,
    /// A variable's own address is kept in memory.
    kept: bool,
}

impl<'f> Checks<'f> {
    fn new(
        function: &'f Function,
        types: &'f HashMap<String, String>,
        shared: &'f HashSet<String>,
        block: u64,
    ) -> Self {
        let all = || function.blocks.iter().flat_map(|b| &b.instructions);
        let made = all().filter_map(|i| Some((i.result.as_deref()?, i))).collect();
        let mut checks = Self { function, types, shared, made, block, faces: HashSet::new(), kept: false };
        for access in all().filter_map(Instruction::access).filter(|a| a.ty == "ptr") {
            if access.value.is_empty() {
                if let Reach::Of(name) = checks.reach(access.address) {
                    checks.faces.insert(name);
                }
            } else {
                checks.kept |= checks.reach(access.value.trim()) == Reach::Own;
            }
        }
        checks
    }

    fn reach(&self, pointer: &str) -> Reach {
        self.reach_of(pointer, &mut BTreeSet::new()).unwrap_or(Reach::Nothing)
    }

    /// `None`: only what is being looked at already.
    fn reach_of(&self, pointer: &str, open: &mut BTreeSet<String>) -> Option<Reach> {
        let Some(name) = plain_name(pointer) else {
            return Some(if pointer.contains('@') { Reach::Own } else { Reach::Nothing });
        };
        if name == self.function.parameter {
            return Some(Reach::Block);
        }
        let Some(&instruction) = self.made.get(name) else { return Some(Reach::Nothing) };
        match instruction.opcode.as_str() {
            "alloca" => Some(Reach::Own),
            "getelementptr" | "bitcast" | "freeze" | "addrspacecast" => self.reach_of(&pointer_of(instruction)?, open),
            "phi" | "select" => {
                if !open.insert(name.to_owned()) {
                    return None;
                }
                let mut all: Vec<Reach> = Vec::new();
                for input in inputs(instruction) {
                    let reach = self.reach_of(input, open);
                    all.extend(reach.filter(|reach| !all.contains(reach)));
                }
                open.remove(name);
                match all.as_slice() {
                    [] => None,
                    [one] => Some(one.clone()),
                    _ => Some(Reach::Of(name.to_owned())),
                }
            }
            "load" => match instruction.access() {
                Some(access) if self.is_constant(access.address) => Some(Reach::Own),
                _ => Some(Reach::Of(name.to_owned())),
            },
            _ => Some(Reach::Of(name.to_owned())),
        }
    }

    /// An address in a constant of the program.
    fn is_constant(&self, address: &str) -> bool {
        match plain_name(address).and_then(|name| self.made.get(name)) {
            Some(i) if i.opcode == "getelementptr" => pointer_of(i).is_some_and(|base| self.is_constant(&base)),
            Some(_) => false,
            None => address.contains('@') && !self.shared.iter().any(|s| text::mentions(address, &format!("@{s}"))),
        }
    }

    /// The pointers whose memory must be known, with the bytes of accesses through each.
    fn needed(&self) -> Result<HashMap<String, BTreeSet<u64>>, String> {
        let mut needed: HashMap<String, BTreeSet<u64>> = HashMap::new();
        for instruction in self.function.blocks.iter().flat_map(|b| &b.instructions) {
            for (pointer, bytes) in self.accesses(instruction)? {
                if let Some(name) = self.checked(&pointer, instruction) {
                    needed.entry(name).or_default().insert(bytes);
                }
            }
        }
        // Those that others are chosen of.
        let mut open: Vec<String> = needed.keys().cloned().collect();
        while let Some(name) = open.pop() {
            let Some(made) = self.made.get(name.as_str()).filter(|i| matches!(i.opcode.as_str(), "phi" | "select"))
            else {
                continue;
            };
            for input in inputs(made) {
                if let Reach::Of(other) = self.reach(input) {
                    if !needed.contains_key(&other) {
                        needed.insert(other.clone(), BTreeSet::new());
                        open.push(other);
                    }
                }
            }
        }
        Ok(needed)
    }

    /// The pointer by whose memory an access is checked.
    fn checked(&self, pointer: &str, instruction: &Instruction) -> Option<String> {
        match self.reach(pointer) {
            Reach::Of(name) => {
                let reads_face = instruction.opcode == "load" && self.faces.contains(&name);
                (!reads_face || !self.is_captured(&name)).then_some(name)
            }
            _ => None,
        }
    }

    /// A pointer that lies in the argument block.
    fn is_captured(&self, name: &str) -> bool {
        let access = self.made.get(name).filter(|i| i.opcode == "load").and_then(|i| i.access());
        access.is_some_and(|access| self.reach(access.address) == Reach::Block)
    }

    /// The addresses that an instruction accesses, each with its bytes.
    fn accesses(&self, instruction: &Instruction) -> Result<Vec<(String, u64)>, String> {
        let bytes = |ty: &str| size(ty, self.types).map(|(bytes, _)| bytes).ok_or(format!("the type {ty} is accessed"));
        let words = instruction.body();
        let behind = |word: &str| words.split_once(word).map(|(_, rest)| operand(rest));
        match instruction.opcode.as_str() {
            "load" => {
                let rest =
                    words.trim_start_matches("load ").trim_start_matches("atomic ").trim_start_matches("volatile ");
                let (ty, rest) = split_type(rest).ok_or("a load")?;
                let address = operand(rest.trim_start_matches(", ")).0;
                Ok(vec![(first_word(address.trim_start_matches("ptr ")).to_owned(), bytes(ty)?)])
            }
            "store" => {
                let rest =
                    words.trim_start_matches("store ").trim_start_matches("atomic ").trim_start_matches("volatile ");
                let (ty, rest) = split_type(rest).ok_or("a store")?;
                let address = operand(operand(rest.trim_start()).1).0;
                Ok(vec![(first_word(address.trim_start_matches("ptr ")).to_owned(), bytes(ty)?)])
            }
            "atomicrmw" | "cmpxchg" => {
                let (address, rest) = behind(" ptr ").ok_or("an atomic operation")?;
                let (ty, _) = split_type(rest).ok_or("an atomic operation")?;
                Ok(vec![(address.to_owned(), bytes(ty)?)])
            }
            "call" => self.call(instruction),
            _ => Ok(Vec::new()),
        }
    }

    /// What a call accesses: only intrinsics that copy and fill get pointers to elements.
    fn call(&self, instruction: &Instruction) -> Result<Vec<(String, u64)>, String> {
        let callee = instruction.callee().unwrap_or_default();
        let Some(pointers) = instruction.text.split_once(&format!("@{callee}(")).map(|(_, rest)| pointers(rest)) else {
            return Ok(Vec::new());
        };
        let elements = || pointers.iter().any(|p| matches!(self.reach(p), Reach::Of(_)));
        let fills = callee.starts_with("llvm.memset.");
        if !(fills || callee.starts_with("llvm.memcpy.") || callee.starts_with("llvm.memmove.")) {
            return if elements() {
                Err(format!("it gives the address of an element to {callee}"))
            } else {
                Ok(Vec::new())
            };
        }
        let length = instruction.text.rsplit_once(", i64 ").and_then(|(_, rest)| rest.split(',').next()?.parse().ok());
        match length {
            Some(length) => Ok(pointers.into_iter().map(|pointer| (pointer, length)).collect()),
            None if elements() => Err("it copies elements, and how many is not constant".into()),
            None => Ok(Vec::new()),
        }
    }

    fn function(&self) -> Result<String, String> {
        let needed = self.needed()?;
        let mut writer = Writer { checks: self, needed: &needed, text: String::new(), label: String::new(), count: 0 };
        let mut last = HashMap::new();
        for block in &self.function.blocks {
            let _ = writeln!(writer.text, "\"{}\":", block.label);
            writer.label.clone_from(&block.label);
            let phis = block.instructions.iter().take_while(|i| i.opcode == "phi").count();
            for phi in &block.instructions[..phis] {
                writer.line(&format!("{FROM_BLOCKS}{}", phi.text));
                writer.merged(phi)?;
            }
            for instruction in &block.instructions[..phis] {
                writer.limits(instruction);
            }
            for instruction in &block.instructions[phis..] {
                writer.instruction(instruction)?;
            }
            last.insert(block.label.clone(), writer.label);
            writer.label = String::new();
        }
        let text = writer.text;
        Ok(text.lines().map(|line| behind_last(line, &last) + "\n").collect())
    }
}

/// Begins lines whose labels are those of the kernel's blocks.
const FROM_BLOCKS: char = '\u{1}';

/// A line in which what comes from a block comes from the last part of it.
fn behind_last(line: &str, last: &HashMap<String, String>) -> String {
    let Some(phi) = line.trim_start().strip_prefix(FROM_BLOCKS) else { return line.to_owned() };
    let mut text = String::from("  ");
    for (n, part) in phi.split(" ]").enumerate() {
        text.push_str(if n > 0 { " ]" } else { "" });
        match part.rsplit_once(", %") {
            Some((value, label)) if part.contains('[') => {
                let label = label.trim_matches('"');
                let _ = write!(text, "{value}, %\"{}\"", last.get(label).map_or(label, String::as_str));
            }
            _ => text.push_str(part),
        }
    }
    text
}

/// Where the memory of a pointer begins, and its size.
fn span(name: &str) -> (String, String) {
    (format!("%\"span.start.{name}\""), format!("%\"span.size.{name}\""))
}

/// Where an access of so many bytes may begin, and one more.
fn limit(name: &str, bytes: u64) -> String {
    format!("%\"span.limit.{bytes}.{name}\"")
}

struct Writer<'c> {
    checks: &'c Checks<'c>,
    needed: &'c HashMap<String, BTreeSet<u64>>,
    text: String,
    /// The block that is written.
    label: String,
    count: usize,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str("  ");
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn begin(&mut self, label: String) {
        let _ = writeln!(self.text, "\"{label}\":");
        self.label = label;
    }

    fn span_of(&self, pointer: &str) -> (String, String) {
        match self.checks.reach(pointer) {
            Reach::Own | Reach::Block => ("0".into(), "-1".into()),
            Reach::Nothing => ("0".into(), "0".into()),
            Reach::Of(name) => span(&name),
        }
    }

    /// After a phi of pointers: the phis of their memory.
    fn merged(&mut self, phi: &Instruction) -> Result<(), String> {
        let Some(name) = phi.result.as_deref().filter(|name| self.needed.contains_key(*name)) else { return Ok(()) };
        let (mut starts, mut sizes) = (Vec::new(), Vec::new());
        for pair in phi.text.split('[').skip(1) {
            let (input, label) = pair.split_once(']').and_then(|(pair, _)| pair.rsplit_once(',')).ok_or("a phi")?;
            let (start, size) = self.span_of(input.trim());
            starts.push(format!("[ {start}, {} ]", label.trim()));
            sizes.push(format!("[ {size}, {} ]", label.trim()));
        }
        let (start, size) = span(name);
        self.line(&format!("{FROM_BLOCKS}{start} = phi i64 {}", starts.join(", ")));
        self.line(&format!("{FROM_BLOCKS}{size} = phi i64 {}", sizes.join(", ")));
        Ok(())
    }

    /// How far accesses through a pointer may go.
    fn limits(&mut self, made: &Instruction) {
        let Some((name, all)) = made.result.as_deref().and_then(|name| self.needed.get_key_value(name)) else { return };
        let (_, size) = span(name);
        for &bytes in all {
            let (limit, rest) = (limit(name, bytes), bytes.saturating_sub(1));
            let part = |what: &str| format!("%\"span.{what}.{bytes}.{name}\"");
            self.line(&format!("{} = icmp ugt i64 {size}, {rest}", part("fits")));
            self.line(&format!("{} = sub i64 {size}, {rest}", part("last")));
            self.line(&format!("{limit} = select i1 {}, i64 {}, i64 0", part("fits"), part("last")));
        }
    }

    /// After an instruction that makes a pointer: its memory.
    fn pointer_made(&mut self, made: &Instruction) -> Result<(), String> {
        let Some(name) = made.result.as_deref().filter(|name| self.needed.contains_key(*name)) else { return Ok(()) };
        let (start, size) = span(name);
        let checks = self.checks;
        if made.opcode == "select" {
            let condition = made.body().strip_prefix("select ").map(|rest| operand(rest).0).ok_or("a select")?;
            let all: Vec<(String, String)> = inputs(made).into_iter().map(|input| self.span_of(input)).collect();
            let [yes, no] = all.as_slice() else { return Err("a select".into()) };
            self.line(&format!("{start} = select {condition}, i64 {}, i64 {}", yes.0, no.0));
            self.line(&format!("{size} = select {condition}, i64 {}, i64 {}", yes.1, no.1));
        } else if let Some((slot, place)) = checks.entry(made) {
            let part = |what: &str| format!("%\"span.{what}.{name}\"");
            let table = table::begins(checks.block) + table::ENTRIES + place;
            let block = &checks.function.parameter;
            self.line(&format!("{} = ptrtoint ptr {slot} to i64", part("slot")));
            self.line(&format!("{} = ptrtoint ptr %\"{block}\" to i64", part("block")));
            self.line(&format!("{} = sub i64 {}, {}", part("offset"), part("slot"), part("block")));
            self.line(&format!("{} = mul i64 {}, {}", part("scaled"), part("offset"), table::ENTRY / 8));
            for (what, result, at) in [("first", start, table), ("second", size, table + 8)] {
                let sum = part(&format!("{what}.at"));
                self.line(&format!("{sum} = add i64 {}, {at}", part("scaled")));
                self.line(&format!("{} = getelementptr i8, ptr %\"{block}\", i64 {sum}", part(what)));
                self.line(&format!("{result} = load i64, ptr {}, align 8", part(what)));
            }
        } else {
            if checks.kept {
                return Err(
                    "it keeps addresses of its own variables in memory, and reads addresses of elements there".into()
                );
            }
            let (table, entries) = (table::begins(checks.block), checks.block.div_ceil(8));
            let whole = format!("%\"span.table.{name}\"");
            self.line(&format!("{whole} = getelementptr i8, ptr %\"{}\", i64 {table}", checks.function.parameter));
            for (what, result) in [start, size].into_iter().enumerate() {
                self.line(&format!(
                    "{result} = call i64 @revamp_native_found(ptr {whole}, i64 {entries}, ptr %\"{name}\", i32 {what})"
                ));
            }
        }
        self.limits(made);
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), String> {
        let text = without_flags(instruction);
        let accesses = self.checks.accesses(instruction)?;
        let memory_of =
            |(n, (pointer, _)): (usize, &(String, u64))| Some((n, self.checks.checked(pointer, instruction)?));
        let checked: Vec<(usize, String)> = accesses.iter().enumerate().filter_map(memory_of).collect();
        if checked.is_empty() {
            self.line(&text);
            return self.pointer_made(instruction);
        }
        self.count += 1;
        let behind = format!("zero.{}", self.count);
        let outside = self.exchanged(instruction, &behind)?;
        let mut before = String::new();
        for (n, memory) in checked {
            let (pointer, bytes) = &accesses[n];
            let inside = self.inside(pointer, *bytes, &memory);
            // In place of what is copied from outside there are zeros.
            let other = if n == 1 { format!("{behind}.outside") } else { behind.clone() };
            let within = format!("{behind}.in.{n}");
            self.line(&format!("br i1 {inside}, label %\"{within}\", label %\"{other}\""));
            before = std::mem::take(&mut self.label);
            if n == 1 {
                self.begin(other);
                let target = &accesses[0].0;
                self.line(&format!("call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {bytes}, i1 false)"));
                self.line(&format!("br label %\"{behind}\""));
            }
            self.begin(within);
        }
        self.guarded(instruction, &text, [&before, &behind, &outside])?;
        self.pointer_made(instruction)
    }

    /// What an access outside makes. A comparison with the value there, which is 0, may hold.
    fn exchanged(&mut self, access: &Instruction, behind: &str) -> Result<String, String> {
        if access.opcode != "cmpxchg" {
            return Ok("zeroinitializer".to_owned());
        }
        let expected = access.body().split_once(" ptr ").map(|(_, rest)| operand(operand(rest).1).0);
        let (ty, _) = expected.and_then(split_type).ok_or("an atomic operation")?;
        let (equal, made) = (format!("%\"{behind}.equal\""), format!("%\"{behind}.exchanged\""));
        self.line(&format!("{equal} = icmp eq {}, zeroinitializer", expected.unwrap_or_default()));
        self.line(&format!("{made} = insertvalue {{ {ty}, i1 }} zeroinitializer, i1 {equal}, 1"));
        Ok(made)
    }

    /// Whether an access lies in the memory.
    fn inside(&mut self, pointer: &str, bytes: u64, memory: &str) -> String {
        self.count += 1;
        let number = self.count;
        let part = |what: &str| format!("%\"zero.{number}.{what}\"");
        let lines = [
            format!("{} = ptrtoint ptr {pointer} to i64", part("at")),
            format!("{} = sub i64 {}, {}", part("offset"), part("at"), span(memory).0),
            format!("{} = icmp ult i64 {}, {}", part("inside"), part("offset"), limit(memory, bytes)),
        ];
        let inside = part("inside");
        for line in lines {
            self.line(&line);
        }
        inside
    }

    /// The access itself, and what it makes. `before`: where it is not done; `outside`: what is made then.
    fn guarded(
        &mut self,
        access: &Instruction,
        text: &str,
        [before, behind, outside]: [&str; 3],
    ) -> Result<(), String> {
        let Some(result) = &access.result else {
            self.line(text);
            self.line(&format!("br label %\"{behind}\""));
            self.begin(behind.to_owned());
            return Ok(());
        };
        let value = format!("%\"{behind}.value\"");
        let body = text.split_once(" = ").map_or("", |(_, body)| body);
        let ty = type_of(access).ok_or("what an access makes")?;
        self.line(&format!("{value} = {body}"));
        self.line(&format!("br label %\"{behind}\""));
        let within = std::mem::take(&mut self.label);
        self.begin(behind.to_owned());
        self.line(&format!("%\"{result}\" = phi {ty} [ {value}, %\"{within}\" ], [ {outside}, %\"{before}\" ]"));
        Ok(())
    }
}

impl Checks<'_> {
    /// Where in the block the pointer lies whose entry in the table tells of one that is loaded, and the place in the entry.
    fn entry(&self, made: &Instruction) -> Option<(String, u64)> {
        let access = made.access().filter(|_| made.opcode == "load")?;
        match self.reach(access.address) {
            Reach::Block => Some((access.address.to_owned(), table::POINTED)),
            Reach::Of(face) if self.is_captured(&face) => {
                let from = self.made.get(face.as_str())?.access()?;
                Some((from.address.to_owned(), table::ELEMENTS))
            }
            _ => None,
        }
    }
}

/// The type of what an access makes.
fn type_of(access: &Instruction) -> Option<String> {
    let body = access.body();
    match access.opcode.as_str() {
        "load" => {
            let rest = body.trim_start_matches("load ").trim_start_matches("atomic ").trim_start_matches("volatile ");
            Some(split_type(rest)?.0.to_owned())
        }
        word => {
            let (_, rest) = operand(body.split_once(" ptr ")?.1);
            let ty = split_type(rest)?.0;
            Some(if word == "cmpxchg" { format!("{{ {ty}, i1 }}") } else { ty.to_owned() })
        }
    }
}

/// An address that may be outside is no reason for LLVM to take it for one that is inside.
fn without_flags(instruction: &Instruction) -> String {
    if instruction.opcode != "getelementptr" {
        return instruction.text.clone();
    }
    let (before, mut rest) = instruction.text.split_once("getelementptr ").unwrap_or((&instruction.text, ""));
    while let Some(flag) = ["inbounds ", "nusw ", "nuw "].into_iter().find(|flag| rest.starts_with(flag)) {
        rest = &rest[flag.len()..];
    }
    format!("{before}getelementptr {rest}")
}

/// The pointer of which an instruction makes one.
fn pointer_of(instruction: &Instruction) -> Option<String> {
    let body = instruction.body();
    let rest = match instruction.opcode.as_str() {
        "getelementptr" => body.split_once(", ptr ")?.1,
        _ => body.split_once(" ptr ")?.1,
    };
    Some(first_word(operand(rest).0).to_owned())
}

/// The values of which a phi or select makes one.
fn inputs(instruction: &Instruction) -> Vec<&str> {
    if instruction.opcode == "phi" {
        let pairs = instruction.text.split('[').skip(1);
        return pairs.filter_map(|pair| Some(pair.split_once(']')?.0.rsplit_once(',')?.0.trim())).collect();
    }
    let (_, rest) = operand(instruction.body());
    let (yes, no) = operand(rest);
    [yes, operand(no).0].into_iter().filter_map(|value| value.trim().strip_prefix("ptr ")).collect()
}

/// The pointers among a call's arguments, from its parenthesis on.
fn pointers(arguments: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = arguments;
    loop {
        let (argument, more) = operand(rest);
        let argument = argument.trim();
        if argument.starts_with("ptr ") {
            let end = argument.split([')', '#']).next().unwrap_or_default().trim();
            let named = argument.find(['@', '%']).map(|at| &argument[at..]);
            all.push(first_word(named.unwrap_or(end)).trim_end_matches(')').to_owned());
        }
        if more.is_empty() || argument.ends_with(')') {
            return all;
        }
        rest = more;
    }
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel with this body, checked.
    fn of(body: &str) -> Result<String, String> {
        checked(&format!(
            "@s = internal global [32 x i32] undef, align 4\n@c = internal constant [4 x ptr] zeroinitializer\n\
             @llvm.compiler.used = appending global [2 x ptr] [ptr @k, ptr @s], section \"llvm.metadata\"\n\
             define void @k(ptr noundef align 8 dereferenceable(40) %0) #0 \"revamp-kernel\" {{\nentry:\n\
             \x20 %v = alloca i32\n  %at = getelementptr inbounds i8, ptr %0, i64 8\n  %data = load ptr, ptr %at, align 8\n\
             \x20 %p = getelementptr inbounds i32, ptr %data, i64 5\n{body}  ret void\n}}\n"
        ))
    }

    #[test]
    fn accesses_of_elements_are_behind_a_condition() {
        let text = of("  %x = load i32, ptr %p, align 4\n  store i32 %x, ptr %v, align 4\n").unwrap_or_default();
        assert!(
            text.contains("%p = getelementptr i32, ptr %data, i64 5\n"),
            "inbounds would drop the condition\n{text}"
        );
        assert!(text.contains("%\"zero.1.value\" = load i32, ptr %p, align 4\n"), "{text}");
        assert!(
            text.contains("%\"x\" = phi i32 [ %\"zero.1.value\", %\"zero.1.in.0\" ], [ zeroinitializer, %\"entry\" ]"),
            "{text}"
        );
        assert!(text.contains("  store i32 %x, ptr %v, align 4\n"), "{text}");
        assert_eq!(text.matches("br i1 ").count(), 1, "the function's own variables are not checked\n{text}");
        // The table follows the block of 40 bytes, rounded up to 48; the pointer is its second one.
        assert!(text.contains("%\"span.first.at.data\" = add i64 %\"span.scaled.data\", 144\n"), "{text}");
    }

    #[test]
    fn labels_of_phis_follow_what_is_split() {
        let text = of("  store i32 1, ptr %p, align 4\n  br label %next\nnext:\n  %n = phi i32 [ 3, %entry ]\n")
            .unwrap_or_default();
        assert!(text.contains("%n = phi i32 [ 3, %\"zero.1\" ]\n"), "{text}");
    }

    #[test]
    fn chosen_pointers_have_a_chosen_memory() {
        let other = "  %to = getelementptr i8, ptr %0, i64 16\n  %more = load ptr, ptr %to, align 8\n";
        let text = of(&format!("{other}  %q = select i1 true, ptr %p, ptr %more\n  store i32 1, ptr %q, align 4\n"))
            .unwrap_or_default();
        assert!(
            text.contains("%\"span.start.q\" = select i1 true, i64 %\"span.start.data\", i64 %\"span.start.more\"\n"),
            "{text}"
        );
        let text = of("  %q = select i1 true, ptr %p, ptr %v\n  store i32 1, ptr %q, align 4\n").unwrap_or_default();
        assert!(text.contains("%\"span.size.q\" = select i1 true, i64 %\"span.size.data\", i64 -1\n"), "{text}");
        let text = of("  %q = select i1 true, ptr %v, ptr @s\n  store i32 1, ptr %q, align 4\n").unwrap_or_default();
        assert!(!text.contains("br i1 "), "{text}");
    }

    #[test]
    fn what_cannot_be_followed_is_looked_up_or_refused() {
        let kept = "  %k = alloca ptr\n  store ptr %p, ptr %k, align 8\n  %q = load ptr, ptr %k, align 8\n  store i32 1, ptr %q, align 4\n";
        let text = of(kept).unwrap_or_default();
        assert!(
            text.contains("call i64 @revamp_native_found(ptr %\"span.table.q\", i64 5, ptr %\"q\", i32 1)\n"),
            "{text}"
        );
        for (body, why) in [
            (format!("{kept}  store ptr %v, ptr %k, align 8\n"), "it keeps addresses of its own variables in memory"),
            ("  call void @other(i32 1, ptr noundef %p)\n".into(), "the address of an element to other"),
            (
                "  call void @llvm.memset.p0.i64(ptr align 4 %p, i8 0, i64 %n, i1 false)\n".into(),
                "how many is not constant",
            ),
            ("  store %unknown zeroinitializer, ptr %p\n".into(), "the type %unknown is accessed"),
        ] {
            let told = of(&body).err().unwrap_or_default();
            assert!(told.contains(why), "{told:?} of\n{body}");
        }
    }

    #[test]
    fn copies_from_outside_are_zeros() {
        let copy = "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %p, ptr align 4 %data, i64 160, i1 false)\n";
        let text = of(copy).unwrap_or_default();
        assert_eq!(text.matches("br i1 ").count(), 2, "{text}");
        assert!(text.contains("call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 160, i1 false)\n"), "{text}");
    }
}
