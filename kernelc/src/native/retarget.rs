//! The device's code of a source as code for the host's processor.
//!
//! Clang's device pass leaves its code as the front end made it, so little of it is the device's: address spaces, calling
//! conventions, and functions of the headers that are others for the host (`host_functions`). All memory is one
//! here. Types lie in memory as they do on the host already, but for `long double` (`build`).

use super::host_functions::{self, HostFunction};
use crate::device_abi::{KERNEL, begins_kernel};
use std::collections::HashSet;

/// The module for a host.
pub(crate) fn for_host(ir: &str, target: &str) -> String {
    let mut made = Retargeted { text: String::with_capacity(ir.len()), ..Retargeted::default() };
    let mut lines = ir.lines();
    while let Some(line) = lines.next() {
        match line.as_bytes().first() {
            Some(b'@') => made.variable(line),
            Some(b'd') if line.starts_with("declare ") => made.declaration(&of_one_memory(line)),
            Some(b'd') if line.starts_with("define ") => {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
                made.function(line, &body);
            }
            Some(b'a') if line.starts_with("attributes #") => made.line(&without_quoted(line)),
            // The host's layout follows from its name.
            Some(b't') if line.starts_with("target datalayout") => {}
            Some(b't') if line.starts_with("target triple") => {
                made.line(&format!("target triple = \"{target}\""));
            }
            Some(b'%') => made.line(&of_one_memory(line)),
            _ => made.line(line),
        }
    }
    made.end()
}

#[derive(Default)]
struct Retargeted {
    text: String,
    /// Functions that are declared or defined.
    known: HashSet<String>,
    /// Declarations of what the replaced functions call.
    wanted: Vec<String>,
    /// What stays though nobody calls it: kernels, and `tile_static` variables. For the host LLVM would take one that each
    /// thread stores to first for that thread's own.
    kept: Vec<String>,
}

impl Retargeted {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn variable(&mut self, line: &str) {
        let Some((name, rest)) = line.split_once(" = ") else { return };
        if name.starts_with("@llvm.") || name.starts_with("@__hip") {
            return;
        }
        if rest.contains(" addrspace(3) global ") {
            self.kept.push(name.to_owned());
        }
        self.line(&of_one_memory(line));
    }

    fn declaration(&mut self, line: &str) {
        let name = name_of(line).to_owned();
        match host_functions::of(&name, parts(line).0, "") {
            Some(other) => self.replace(other),
            // Of several address spaces.
            None if !self.known.insert(name) => {}
            None => self.line(line),
        }
    }

    fn function(&mut self, head: &str, body: &[&str]) {
        let line = of_one_memory(head);
        let name = name_of(&line).to_owned();
        let fast = if body.iter().any(|line| line.contains("call fast ")) { "fast " } else { "" };
        if let Some(other) = host_functions::of(&name, parts(&line).0, fast) {
            return self.replace(other);
        }
        self.known.insert(name.clone());
        if !begins_kernel(head) {
            self.line(&line);
            for line in body {
                self.line(&of_one_memory(line));
            }
            return self.line("}");
        }
        self.kept.push(format!("@{name}"));
        // A kernel's own copy of the argument block is made by its caller, which is none here: it reads the block itself.
        let (parameters, behind) = parts(&line);
        let block = parameters.rsplit(' ').next().unwrap_or("%0");
        let word = |start: &str| behind.split(' ').find(|word| word.starts_with(start)).unwrap_or_default();
        let debug = behind.split_once(" !dbg ").map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
        let debug = debug.map(|node| format!(" !dbg {node}")).unwrap_or_default();
        let copies = |line: &&&str| line.contains("@llvm.memcpy.") && line.contains(&format!(" {block}, i64 "));
        let copy = body.iter().find(copies);
        // So much of it is there: what stands behind a condition may be read before.
        let size = copy.and_then(|line| line.rsplit_once(", i64 ")?.1.split_once(',')).map(|(size, _)| size);
        let align = parameters.rsplit_once("align ").and_then(|(_, rest)| rest.split(' ').next());
        let there = match (size, align) {
            (Some(size), Some(align)) => format!(" align {align} dereferenceable({size})"),
            _ => String::new(),
        };
        self.line(&format!("define void @{name}(ptr noundef{there} {block}) {} \"{KERNEL}\"{debug} {{", word("#")));
        let own = copy.and_then(|line| line.split_once("@llvm.memcpy.")?.1.split_once(", ")?.0.rsplit(' ').next());
        for line in body {
            if Some(line) == copy && own.is_some() {
                continue;
            }
            match line.trim_start().split_once(" = ") {
                Some((result, _)) if Some(result) == own => {
                    self.line(&format!("  {result} = bitcast ptr {block} to ptr"));
                }
                _ => self.line(&of_one_memory(line)),
            }
        }
        self.line("}");
    }

    fn replace(&mut self, other: HostFunction) {
        self.text.push_str(&other.text);
        self.wanted.extend(other.calls);
    }

    fn end(mut self) -> String {
        for line in std::mem::take(&mut self.wanted) {
            if self.known.insert(name_of(&line).to_owned()) {
                self.line(&line);
            }
        }
        let kept: Vec<String> = self.kept.iter().map(|name| format!("ptr {name}")).collect();
        if !kept.is_empty() {
            let (count, all) = (kept.len(), kept.join(", "));
            self.line(&format!(
                "@llvm.compiler.used = appending global [{count} x ptr] [{all}], section \"llvm.metadata\""
            ));
        }
        self.text
    }
}

/// The name behind the first `@`.
fn name_of(line: &str) -> &str {
    line.split_once('@').map_or("", |(_, rest)| rest.split('(').next().unwrap_or_default())
}

/// The parameters of a declaration, and what stands behind them.
fn parts(line: &str) -> (&str, &str) {
    let rest = line.split_once('@').map_or("", |(_, rest)| rest);
    let open = rest.find('(').map_or(rest.len(), |at| at + 1);
    let mut depth = 1;
    for (at, byte) in rest.bytes().enumerate().skip(open) {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        if depth == 0 {
            return (&rest[open..at], &rest[at + 1..]);
        }
    }
    ("", "")
}

/// A line without address spaces and the device's calling conventions. What stands in quotes stays.
fn of_one_memory(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for (n, part) in line.split('"').enumerate() {
        if n > 0 {
            text.push('"');
        }
        if n % 2 == 1 {
            text.push_str(part);
            continue;
        }
        let mut rest = part;
        while let Some(at) = rest.find(['a', 's', '@']) {
            let (before, from) = rest.split_at(at);
            text.push_str(before);
            rest = if let Some(behind) = from.strip_prefix("addrspace(") {
                // It stands behind a space.
                text.pop();
                behind.split_once(')').map_or("", |(_, behind)| behind)
            } else if let Some(behind) = from.strip_prefix("addrspacecast ") {
                text.push_str("bitcast ");
                behind
            } else if let Some(behind) = from.strip_prefix("spir_func ").or_else(|| from.strip_prefix("spir_kernel ")) {
                behind
            } else if let Some(behind) = from.strip_prefix("@llvm.") {
                let end = behind.find('(').unwrap_or(behind.len());
                text.push_str("@llvm");
                for word in behind[..end].split('.') {
                    let space = word.strip_prefix('p').is_some_and(|n| n.parse::<u32>().is_ok());
                    text.push('.');
                    text.push_str(if space { "p0" } else { word });
                }
                &behind[end..]
            } else {
                text.push_str(&from[..1]);
                &from[1..]
            };
        }
        text.push_str(rest);
    }
    text
}

/// A group of attributes without those in quotes, which are of the device's processor.
fn without_quoted(line: &str) -> String {
    line.split(' ').filter(|word| !word.starts_with('"')).collect::<Vec<_>>().join(" ")
}
