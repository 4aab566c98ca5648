//! A function of LLVM IR as text: its blocks and instructions, with what each names. It is made for `regions`, after
//! `reg2mem`: there are no phis, and no value is used in another block than its own.

use crate::device_abi::{DeviceFunction, Position};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// An instruction.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// Without indentation and comments.
    pub text: String,
    /// The value that it makes, without `%`.
    pub result: Option<String>,
    /// The values that it uses.
    pub uses: Vec<String>,
    /// Its word: `load`, `getelementptr`.
    pub opcode: String,
}

/// A block: its last instruction ends it.
#[derive(Debug, Clone, Default)]
pub struct Block {
    pub label: String,
    pub instructions: Vec<Instruction>,
}

/// A kernel as text.
#[derive(Debug, Clone)]
pub struct Function {
    pub name: String,
    /// The name of its parameter, the argument block.
    pub parameter: String,
    /// It only reads the argument block.
    pub reads_block: bool,
    /// What else is known of the argument block: ` align 8 dereferenceable(96)`, or nothing.
    pub block: String,
    /// ` !dbg !7`, or nothing.
    pub debug: String,
    pub blocks: Vec<Block>,
}

/// A `%name` in a line, and whether a label is meant.
pub struct Name {
    pub range: Range<usize>,
    pub name: String,
    pub label: bool,
}

/// The local names of a line. Types have such names too, which `types` holds.
pub fn names(line: &str, types: &HashSet<String>) -> Vec<Name> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = closing(bytes, at + 1) + 1,
            b'%' => {
                let (name, end) = if bytes.get(at + 1) == Some(&b'"') {
                    let end = closing(bytes, at + 2);
                    (&line[at + 2..end], (end + 1).min(line.len()))
                } else {
                    let rest = &bytes[at + 1..];
                    let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || b"-_.$".contains(b)).count();
                    (&line[at + 1..at + 1 + length], at + 1 + length)
                };
                if !types.contains(name) {
                    let label = line[..at].ends_with("label ");
                    found.push(Name { range: at..end, name: name.to_owned(), label });
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

fn closing(bytes: &[u8], from: usize) -> usize {
    bytes[from.min(bytes.len())..].iter().position(|&b| b == b'"').map_or(bytes.len(), |n| from + n)
}

/// A line with other local names.
pub fn renamed(line: &str, types: &HashSet<String>, mut other: impl FnMut(&Name) -> Option<String>) -> String {
    let mut text = String::with_capacity(line.len() + 16);
    let mut at = 0;
    for name in names(line, types) {
        text.push_str(&line[at..name.range.start]);
        match other(&name) {
            Some(new) => text.push_str(&new),
            None => text.push_str(&line[name.range.clone()]),
        }
        at = name.range.end;
    }
    text + &line[at..]
}

impl Instruction {
    pub fn new(text: &str, types: &HashSet<String>) -> Self {
        let all = names(text, types);
        let result = all.first().filter(|n| n.range.start == 0 && text[n.range.end..].starts_with(" = "));
        let body = result.map_or(text, |n| &text[n.range.end + 3..]);
        let mut words = body.split_whitespace();
        let mut opcode = words.next().unwrap_or_default();
        while matches!(opcode, "tail" | "musttail" | "notail") {
            opcode = words.next().unwrap_or_default();
        }
        let skip = usize::from(result.is_some());
        Self {
            text: text.to_owned(),
            result: result.map(|n| n.name.clone()),
            uses: all[skip..].iter().filter(|n| !n.label).map(|n| n.name.clone()).collect(),
            // `unreachable, !dbg !7`.
            opcode: opcode.trim_end_matches(',').to_owned(),
        }
    }

    /// Behind its result.
    pub fn body(&self) -> &str {
        match &self.result {
            Some(_) => self.text.split_once(" = ").map_or("", |(_, body)| body),
            None => &self.text,
        }
    }

    /// The function that a call names.
    pub fn callee(&self) -> Option<&str> {
        if self.opcode != "call" {
            return None;
        }
        let rest = self.text.split_once('@')?.1;
        let end = if let Some(quoted) = rest.strip_prefix('"') {
            return quoted.split('"').next();
        } else {
            rest.find('(')?
        };
        Some(&rest[..end])
    }

    /// The function of the headers' contract that a call names.
    pub fn device_function(&self) -> Option<DeviceFunction> {
        DeviceFunction::of(self.callee()?)
    }

    /// The position of the thread that a call gives.
    pub fn position(&self) -> Option<Position> {
        match self.device_function()? {
            DeviceFunction::Position(position) => Some(position),
            _ => None,
        }
    }

    /// The labels that it goes to.
    pub fn targets(&self, types: &HashSet<String>) -> Vec<String> {
        names(&self.text, types).into_iter().filter(|n| n.label).map(|n| n.name).collect()
    }

    /// It ends a block.
    pub fn ends(&self) -> bool {
        matches!(self.opcode.as_str(), "br" | "switch" | "ret" | "unreachable" | "indirectbr" | "invoke" | "resume")
    }
}

/// The type and the rest of a text that begins with a type.
pub fn split_type(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' | '<' | '(' => depth += 1,
            ']' | '}' | '>' | ')' => depth = depth.checked_sub(1)?,
            ',' | ' ' if depth == 0 => return Some((&text[..at], &text[at..])),
            _ => {}
        }
    }
    Some((text, ""))
}

/// What a store to or load from memory says: the type, the value (of a store), the address.
pub struct Access<'t> {
    pub ty: &'t str,
    pub value: &'t str,
    pub address: &'t str,
}

/// Until the comma of this depth.
pub fn operand(text: &str) -> (&str, &str) {
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' | '<' | '(' => depth += 1,
            ']' | '}' | '>' | ')' => depth -= 1,
            ',' if depth == 0 => return (&text[..at], text[at + 1..].trim_start()),
            _ => {}
        }
    }
    (text, "")
}

impl Instruction {
    /// Of a plain load or store.
    pub fn access(&self) -> Option<Access<'_>> {
        let body = self.body();
        let (store, rest) = match self.opcode.as_str() {
            "load" => (false, body.strip_prefix("load ")?),
            "store" => (true, body.strip_prefix("store ")?),
            _ => return None,
        };
        if rest.starts_with("volatile ") || rest.starts_with("atomic ") {
            return None;
        }
        let (ty, rest) = split_type(rest)?;
        let (value, rest) = if store { operand(rest.trim_start()) } else { ("", rest.strip_prefix(", ")?) };
        let address = operand(rest.strip_prefix("ptr ")?).0;
        Some(Access { ty, value, address })
    }
}

/// The functions of a module that are kernels, by their names.
pub fn functions(module: &str, wanted: &HashSet<String>, types: &HashSet<String>) -> Vec<Function> {
    let mut all = Vec::new();
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("define ") else { continue };
        let mut body = Vec::new();
        for line in lines.by_ref().take_while(|line| *line != "}") {
            body.push(line);
        }
        let name = head.split_once('@').map_or("", |(_, rest)| rest.split('(').next().unwrap_or_default());
        if wanted.contains(name) {
            all.extend(function(name, head, &body, types));
        }
    }
    all
}

/// What is told of aliases is told of one thread: once its accesses stand beside those of others, it does not hold.
fn without_scopes(line: &str) -> String {
    let mut text = line.to_owned();
    for word in [", !alias.scope !", ", !noalias !"] {
        while let Some(at) = text.find(word) {
            let number = text[at + word.len()..].bytes().take_while(u8::is_ascii_digit).count();
            text.replace_range(at..at + word.len() + number, "");
        }
    }
    text
}

pub fn function(name: &str, head: &str, body: &[&str], types: &HashSet<String>) -> Option<Function> {
    let (parameters, behind) = head.split_once(name)?.1.strip_prefix('(')?.rsplit_once(')')?;
    // Behind the last parenthesis may be one of an attribute: there is one parameter, named last.
    let parameter = names(parameters, types).pop()?.name;
    let words: Vec<&str> = parameters.split(' ').collect();
    let aligned = words.windows(2).find(|pair| pair[0] == "align").map(|pair| format!(" align {}", pair[1]));
    let there = words.iter().find(|word| word.starts_with("dereferenceable(")).map(|word| format!(" {word}"));
    let debug = behind.split(" !dbg ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let mut function = Function {
        name: name.to_owned(),
        parameter,
        reads_block: parameters.contains("readonly") || parameters.contains("readnone"),
        block: aligned.into_iter().chain(there).collect(),
        debug: debug.map(|node| format!(" !dbg {node}")).unwrap_or_default(),
        blocks: Vec::new(),
    };
    let mut lines = body.iter();
    while let Some(line) = lines.next() {
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        if !line.starts_with(' ') {
            let label = line.split_once(':')?.0.trim_matches('"').to_owned();
            function.blocks.push(Block { label, instructions: Vec::new() });
            continue;
        }
        let mut text = without_scopes(line.trim_start());
        if text.starts_with('#') || text.contains("@llvm.experimental.noalias.scope.decl(") {
            continue;
        }
        if text.starts_with("switch ") {
            for more in lines.by_ref() {
                text.push(' ');
                text.push_str(more.trim());
                if more.trim_start().starts_with(']') {
                    break;
                }
            }
        }
        if function.blocks.is_empty() {
            function.blocks.push(Block { label: "entry".into(), instructions: Vec::new() });
        }
        function.blocks.last_mut()?.instructions.push(Instruction::new(&text, types));
    }
    Some(function)
}

/// Bytes and alignment of a type in memory; `None` if it is not known here.
pub fn size(ty: &str, types: &HashMap<String, String>) -> Option<(u64, u64)> {
    size_within(ty, types, MOST_NESTED)
}

/// Types nested deeper are not known.
const MOST_NESTED: u32 = 64;

fn size_within(ty: &str, types: &HashMap<String, String>, nested: u32) -> Option<(u64, u64)> {
    let (ty, inner) = (ty.trim(), nested.checked_sub(1)?);
    if let Some(bits) = ty.strip_prefix('i').and_then(|n| n.parse::<u32>().ok()) {
        let bytes = u64::from(bits).div_ceil(8).next_power_of_two();
        return Some((bytes, bytes.min(16)));
    }
    match ty {
        "half" | "bfloat" => return Some((2, 2)),
        "float" => return Some((4, 4)),
        "double" | "ptr" => return Some((8, 8)),
        _ => {}
    }
    if let Some(name) = ty.strip_prefix('%') {
        return size_within(types.get(name.trim_matches('"'))?, types, inner);
    }
    if let Some(array) = ty.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let (count, element) = array.split_once(" x ")?;
        let (bytes, align) = size_within(element, types, inner)?;
        return Some((count.parse::<u64>().ok()?.checked_mul(bytes)?, align));
    }
    if let Some(fields) = ty.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
        let (mut at, mut most, mut rest) = (0u64, 1, fields.trim());
        while !rest.is_empty() {
            let (field, more) = operand(rest);
            let (bytes, align) = size_within(field, types, inner)?;
            at = at.checked_next_multiple_of(align)?.checked_add(bytes)?;
            most = most.max(align);
            rest = more;
        }
        return Some((at.checked_next_multiple_of(most)?, most));
    }
    if let Some(vector) = ty.strip_prefix('<').and_then(|t| t.strip_suffix('>')) {
        let (count, element) = vector.split_once(" x ")?;
        let bytes = count.parse::<u64>().ok()?.checked_mul(size_within(element, types, inner)?.0)?;
        let bytes = bytes.checked_next_power_of_two()?;
        return Some((bytes, bytes));
    }
    None
}

/// Where a name of a global stands.
pub fn position(text: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text[from..].find(name) {
        let at = from + found;
        let behind = text.as_bytes().get(at + name.len());
        if !behind.is_some_and(|b| b.is_ascii_alphanumeric() || b"-_.$".contains(b)) {
            return Some(at);
        }
        from = at + name.len();
    }
    None
}

pub fn mentions(text: &str, name: &str) -> bool {
    position(text, name).is_some()
}

/// The names of globals in a line: what stands behind each `@`, quoted or not.
pub fn globals(line: &str) -> impl Iterator<Item = &str> {
    line.split('@').skip(1).map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.$".contains(c))).next().unwrap_or_default(),
    })
}
