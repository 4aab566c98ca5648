//! The checks that find edits in a source: the rows of the table, and checks that a row of tokens cannot express.

mod arguments;
mod calls;
mod headers;
mod language;
mod literals;
mod minima;
mod overloads;
mod rows;
mod templates;
mod unknown;

use crate::findings::{Edit, Finding, sorted};
use crate::lex::Token;
use crate::names::definitions;
use crate::source::Source;
use crate::syntax::Code;
use std::ops::Range;

/// A function that finds one kind of edits.
type Check = fn(&Source, &Code) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    rows::rows,
    headers::spellings,
    headers::missing,
    headers::supplied,
    literals::numbers,
    literals::formats,
    literals::longs,
    literals::encoding,
    calls::minima,
    calls::asserts,
    calls::tasks,
    calls::commands,
    calls::loops,
    calls::streams,
    language::sealed_and_abstract,
    templates::tiles,
    templates::members,
    templates::dependent_types,
    templates::base_members,
    templates::late_functions,
    templates::specialisations,
];
/// Checks of whole declarations.
const MORE: [Check; 3] = [arguments::temporaries, overloads::overloads, unknown::unknown];

/// The findings in a source, by line.
pub fn findings(source: &Source) -> Vec<Finding> {
    let code = Code::read(&source.tokens);
    let mut all: Vec<Finding> = CHECKS.iter().chain(&MORE).flat_map(|check| check(source, &code)).collect();
    let spelled = spelled(source, &code);
    for finding in &mut all {
        let is_spelled = |edit: &Edit| {
            let next = spelled.partition_point(|bytes| bytes.end <= edit.range.start);
            spelled.get(next).is_some_and(|bytes| bytes.start < edit.range.end.max(edit.range.start + 1))
        };
        if finding.edits.iter().any(is_spelled) {
            finding.edits.clear();
        }
    }
    sorted(all)
}

/// The byte ranges, in order, of the definitions and calls of the program's macros that use `#` or `##`.
fn spelled(source: &Source, code: &Code) -> Vec<Range<usize>> {
    let is_stringizing = |token: &Token| source.names.stringizing.contains(&token.text);
    let definitions = definitions(&source.tokens).into_iter().filter(|definition| is_stringizing(&definition[2]));
    let mut found: Vec<Range<usize>> =
        definitions.map(|tokens| tokens[0].range.start..tokens[tokens.len() - 1].range.end).collect();
    let mut at = 0;
    while at < code.tokens.len() {
        let close = code.pair(at + 1).filter(|_| is_stringizing(&code.tokens[at]) && code.text(at + 1) == "(");
        if let Some(close) = close {
            found.push(code.tokens[at].range.start..code.tokens[close].range.end);
            at = close;
        }
        at += 1;
    }
    found.sort_by_key(|bytes| bytes.start);
    found
}
