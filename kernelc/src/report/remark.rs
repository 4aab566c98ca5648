//! The format of remarks, and the places of the program in debug information.

use crate::ir::{Frame, Function, Instruction, LocationId, Module};
use std::collections::BTreeMap;

/// A remark at a line of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub place: Frame,
    pub text: String,
}

impl Remark {
    /// A remark at the place of an instruction in the program; `None` if the instruction has no such place.
    pub fn at(module: &Module, location: Option<LocationId>, text: impl Into<String>) -> Option<Self> {
        Some(Self { place: program_frame(&module.frames(location?))?.clone(), text: text.into() })
    }
}

/// The innermost frame in the program's own sources.
pub fn program_frame(frames: &[Frame]) -> Option<&Frame> {
    frames.iter().find(|frame| is_in_program(frame))
}

/// The outermost frame in the program's own sources, which is in the kernel's lambda.
pub fn outermost(frames: &[Frame]) -> Option<&Frame> {
    frames.iter().rfind(|frame| is_in_program(frame))
}

fn is_in_program(frame: &Frame) -> bool {
    frame.line > 0 && !is_library(&frame.file)
}

/// True if a file is a header of revamp or of the C++ library.
pub fn is_library(file: &str) -> bool {
    ["/revamp/detail/", "/revamp-amp/", "/include/c++/"].iter().any(|folder| file.contains(folder))
}

/// The text of the remarks on one kernel: `head` first, then the others in the order of their lines. Equal remarks are
/// printed once, with the number of times that they occur.
pub fn printed(head: Option<Remark>, remarks: Vec<Remark>) -> String {
    let mut counted: BTreeMap<(String, u32, u32, String), usize> = BTreeMap::new();
    for Remark { place, text } in remarks {
        *counted.entry((place.file, place.line, place.column, text)).or_default() += 1;
    }
    let line = |file: &str, line: u32, column: u32, text: &str| {
        format!("{file}:{line}:{column}: remark: {text} [-famp-report]\n")
    };
    let head = head.map(|one| line(&one.place.file, one.place.line, one.place.column, &one.text)).unwrap_or_default();
    let all = counted.into_iter().map(|((file, at, column, text), times)| {
        let text = if times > 1 { format!("{text} ({times} times)") } else { text };
        line(&file, at, column, &text)
    });
    std::iter::once(head).chain(all).collect()
}

/// The place of a kernel in the program: the first line of its lambda that has code.
pub fn place_of(module: &Module, function: &Function) -> Option<Frame> {
    let outermost = |one: &Instruction| outermost(&module.frames(one.location?)).cloned();
    function.instructions().filter_map(outermost).min_by_key(|frame| (frame.line, frame.column))
}

/// A number with its noun.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
