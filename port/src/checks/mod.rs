//! What finds the edits in a source: the rows of the table, and checks that need more than a row of tokens.

mod arguments;
mod calls;
mod headers;
mod language;
mod literals;
mod overloads;
mod rows;
mod templates;
mod unknown;

use crate::findings::{Finding, sorted};
use crate::source::Source;
use crate::syntax::Code;

/// Finds some kind of edits.
type Check = fn(&Source, &Code) -> Vec<Finding>;

const CHECKS: [Check; 18] = [
    rows::rows,
    headers::spellings,
    headers::missing,
    literals::numbers,
    literals::formats,
    literals::encoding,
    calls::minima,
    calls::asserts,
    calls::tasks,
    calls::commands,
    calls::loops,
    calls::streams,
    language::sealed_and_abstract,
    templates::tiles,
    templates::dependent_types,
    templates::base_members,
    templates::late_functions,
    templates::specialisations,
];
/// Those that look at whole declarations.
const MORE: [Check; 3] = [arguments::temporaries, overloads::overloads, unknown::unknown];

/// What is to be edited in a source, by line.
pub fn findings(source: &Source) -> Vec<Finding> {
    let code = Code::read(&source.tokens);
    sorted(CHECKS.iter().chain(&MORE).flat_map(|check| check(source, &code)).collect())
}
