//! What stands around a place of a source.

use super::libclang::{Cursor, Unit, kind};
use super::restrictions::{Side, lambda_restriction, restriction};
use super::types::is_function;
use crate::diagnostics::Place;
use std::collections::HashMap;

/// The declarations of a unit, by the files that they are in.
pub(super) struct Tree(HashMap<String, Vec<Cursor>>);

impl Tree {
    pub(super) fn of(unit: Unit) -> Self {
        let mut files: HashMap<String, Vec<Cursor>> = HashMap::new();
        for declaration in unit.cursor().children() {
            files.entry(declaration.place().file).or_default().push(declaration);
        }
        Self(files)
    }

    /// Whose text the place is in, the outermost first.
    fn around(&self, place: &Place) -> Vec<Cursor> {
        let holds =
            |cursor: &Cursor| cursor.extent().is_some_and(|extent| extent.start <= *place && *place < extent.end);
        let mut around = Vec::new();
        let mut inner = self.0.get(&place.file).cloned().unwrap_or_default();
        while !inner.is_empty() {
            inner.retain(holds);
            around.extend(&inner);
            inner = inner.into_iter().flat_map(Cursor::children).collect();
        }
        around
    }

    /// For whom the code at the place is compiled.
    pub(super) fn side(&self, place: &Place) -> Side {
        let own = |cursor: Cursor| match cursor.kind() {
            kind::LAMBDA => lambda_restriction(cursor),
            found if is_function(found) => restriction(cursor),
            _ => None,
        };
        // Where none is written, that of the function around applies.
        self.around(place).into_iter().filter_map(own).next_back().unwrap_or(Side::Cpu)
    }

    /// The function whose name stands at the place.
    pub(super) fn function_at(&self, place: &Place) -> Option<Cursor> {
        self.around(place).into_iter().find(|cursor| is_function(cursor.kind()) && cursor.place() == *place)
    }

    /// The message of the static_assert that the place is in.
    pub(super) fn assertion(&self, place: &Place) -> Option<String> {
        let assertion = self.around(place).into_iter().find(|cursor| cursor.kind() == kind::STATIC_ASSERT)?;
        let message = assertion.children().into_iter().rfind(|child| child.kind() == kind::STRING)?.spelling();
        Some(message.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    }
}
