//! The checks that find what to edit in a source. `rows` finds the code that `idioms.txt` lists. The other checks find code that a row of tokens
//! cannot describe.

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

/// A function that finds one kind of edit.
type Check = fn(&Source, &Code) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    rows::rows,
    headers::spellings,
    headers::missing,
    headers::amp_macros,
    literals::numbers,
    literals::formats,
    literals::long_conversions,
    literals::encoding,
    calls::minima,
    calls::asserts,
    calls::tasks,
    calls::commands,
    calls::loops,
    calls::streams,
    language::sealed_and_abstract,
    templates::unsigned_tile_sizes,
    templates::members,
    templates::dependent_types,
    templates::base_members,
    templates::late_functions,
    templates::specialisations,
];
/// Checks that need whole declarations.
const DECLARATION_CHECKS: [Check; 3] = [arguments::temporaries, overloads::overloads, unknown::unknown];

/// The findings in a source, ordered by line.
pub fn findings(source: &Source) -> Vec<Finding> {
    let code = Code::read(&source.tokens);
    let mut all: Vec<Finding> =
        CHECKS.iter().chain(&DECLARATION_CHECKS).flat_map(|check| check(source, &code)).collect();
    let stringized_ranges = stringized_ranges(source, &code);
    for finding in &mut all {
        let is_stringized = |edit: &Edit| {
            let next = stringized_ranges.partition_point(|bytes| bytes.end <= edit.range.start);
            stringized_ranges.get(next).is_some_and(|bytes| bytes.start < edit.range.end.max(edit.range.start + 1))
        };
        if finding.edits.iter().any(is_stringized) {
            finding.edits.clear();
        }
    }
    sorted(all)
}

/// The byte ranges of all definitions and calls of the program's macros that use `#` or `##`, in order. `findings` drops edits in these
/// ranges, because they would change the text that the macro turns into a string or a name.
fn stringized_ranges(source: &Source, code: &Code) -> Vec<Range<usize>> {
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
