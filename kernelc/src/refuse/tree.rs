//! Finds the declarations and statements around a place of a source.

use super::libclang::{Cursor, Unit, kind};
use super::restrictions::{Side, lambda_restriction, restriction};
use super::types::is_function;
use crate::diagnostics::SourceLocation;
use std::collections::HashMap;

/// The declarations of a unit, by file.
pub(super) struct Tree(HashMap<String, Vec<Cursor>>);

impl Tree {
    pub(super) fn of(unit: Unit) -> Self {
        let mut files: HashMap<String, Vec<Cursor>> = HashMap::new();
        for declaration in unit.cursor().children() {
            files.entry(declaration.place().file).or_default().push(declaration);
        }
        Self(files)
    }

    /// The cursors whose text contains the place, the outermost first.
    fn enclosing_cursors(&self, place: &SourceLocation) -> Vec<Cursor> {
        let contains_place =
            |cursor: &Cursor| cursor.extent().is_some_and(|extent| extent.start <= *place && *place < extent.end);
        let mut enclosing_cursors = Vec::new();
        let mut inner = self.0.get(&place.file).cloned().unwrap_or_default();
        while !inner.is_empty() {
            inner.retain(contains_place);
            enclosing_cursors.extend(&inner);
            inner = inner.into_iter().flat_map(Cursor::children).collect();
        }
        enclosing_cursors
    }

    /// The side for which the code at the place is compiled.
    pub(super) fn side(&self, place: &SourceLocation) -> Side {
        let written_side = |cursor: Cursor| match cursor.kind() {
            kind::LAMBDA => lambda_restriction(cursor),
            found if is_function(found) => restriction(cursor),
            _ => None,
        };
        // A function or lambda without a restriction has that of the enclosing function.
        self.enclosing_cursors(place).into_iter().filter_map(written_side).next_back().unwrap_or(Side::Cpu)
    }

    /// The function whose name is at the place.
    pub(super) fn function_at(&self, place: &SourceLocation) -> Option<Cursor> {
        self.enclosing_cursors(place).into_iter().find(|cursor| is_function(cursor.kind()) && cursor.place() == *place)
    }

    /// The message of the static_assert around the place.
    pub(super) fn assertion(&self, place: &SourceLocation) -> Option<String> {
        let assertion =
            self.enclosing_cursors(place).into_iter().find(|cursor| cursor.kind() == kind::STATIC_ASSERT)?;
        let message = assertion.children().into_iter().rfind(|child| child.kind() == kind::STRING)?.spelling();
        Some(message.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    }
}
