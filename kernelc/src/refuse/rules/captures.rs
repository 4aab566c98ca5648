//! Rules about the captures of lambdas.

use super::{Context, Walk, variables_in};
use crate::refuse::libclang::{Cursor, Type, kind, ty};
use crate::refuse::restrictions::{Side, call_operator_of, lambda_restriction};
use crate::refuse::types::{
    address_in, array_in, is_array, is_dependent, is_lambda, is_reference, owner_in, why_host_only, why_unusable,
};

impl Walk {
    pub(super) fn lambda(&mut self, at: Cursor, outer: Context) {
        let operator = call_operator_of(at);
        let side = lambda_restriction(at).unwrap_or(outer.side);
        let function = operator.and_then(Cursor::canonical).and_then(Cursor::hash);
        let context = Context { side, function, in_print_arguments: false, in_instantiation: outer.in_instantiation };
        if let Some(class) = at.ty().map(Type::declaration).and_then(Cursor::hash) {
            self.lambdas.insert(class, side);
        }
        match side {
            Side::Amp => self.amp.extend(function),
            Side::Both if !outer.in_instantiation => self.both_sides.extend(function),
            _ => {}
        }
        if let Some(closure) = at.ty().filter(|_| side != Side::Cpu) {
            self.captures(at, closure, outer);
        }
        if side != Side::Cpu {
            if let Some(operator) = operator {
                self.declarator(operator, &operator.children(), context);
            }
        }
        for child in at.children() {
            self.code(child, context);
        }
    }

    pub(super) fn captures(&mut self, at: Cursor, closure: Type, outer: Context) {
        let variables = listed_captures(at);
        self.refuse_reference_captures(at, closure, outer);
        for field in closure.canonical().fields() {
            let Some(of) = field.ty() else { continue };
            let name = name_of(of, &variables);
            let in_amp_code = outer.side != Side::Cpu;
            let is_allowed = in_amp_code && !self.strict;
            if is_reference(of) {
                // A type that depends on a template parameter is judged in each instantiation.
                if !is_dependent(of) {
                    let is_refused = !is_allowed && !is_array(of.canonical().pointee());
                    *self.captures.entry(field.location()).or_default() |= is_refused;
                }
                continue;
            }
            if is_allowed {
                continue;
            }
            if is_array(of) {
                let text = format!("{name} ('{}') is captured by value: capture it by reference ('&')", of.spelling());
                self.refuse(at, text);
            } else if let Some((why, instead)) = owner_in(of).filter(|_| !in_amp_code) {
                self.refused_host_classes.add(of);
                self.refuse(at, format!("{name} is captured, and {why}: {NOT_CAPTURED}; {instead}"));
            } else if !in_amp_code && is_this(of, &variables_in(at.children())) {
                self.captures.insert(field.location(), true);
                let text = "'this' is captured: by-reference capture or 'this' capture is unsupported if the lambda is amp \
                            restricted (C3590); copy the members that the kernel needs into local variables";
                self.refuse(at, text.into());
            } else if let Some(path) = array_in(of, 0).filter(|_| !in_amp_code && !is_lambda(of)) {
                let held = if path.is_empty() { "is".to_owned() } else { format!("holds in '{}'", &path[1..]) };
                let text = format!(
                    "{name} is captured and {held} an array or a texture by value: capture arrays and textures by reference \
                     ('&'), and keep views of them in classes"
                );
                self.refuse(at, text);
            } else if let Some((path, what)) = address_in(of, 0).filter(|_| !in_amp_code && !is_lambda(of)) {
                let relation = if path.is_empty() { "is".into() } else { format!("holds in '{}'", &path[1..]) };
                let function = of.canonical().pointee().canonical().kind() == ty::FUNCTION;
                let instead = if function { "pass a lambda or a functor to a template" } else { "use an array_view" };
                let text = format!("{name} is captured and {relation} {what}: {NOT_CAPTURED}; {instead}");
                self.refuse(at, text);
            } else if let Some(why) = why_host_only(of, 0).filter(|_| !in_amp_code && !is_lambda(of)) {
                self.refused_host_classes.add(of);
                self.refuse(
                    at,
                    format!("{name} is captured, and {why}: {NOT_CAPTURED}; use a class that holds only the data"),
                );
            } else if let Some(why) = why_unusable(of, 0).filter(|_| !self.strict && !in_amp_code && !is_lambda(of)) {
                self.refuse(at, format!("{name} is captured: {why}: {NOT_CAPTURED}"));
            } else if self.strict && !is_lambda(of) {
                if let Some(why) = self.types.data_error(of) {
                    self.unsupported(at, &format!("{name}, which is captured"), &why);
                }
            }
        }
    }

    /// Reports all captures by reference of a lambda as one error.
    pub(super) fn refuse_reference_captures(&mut self, at: Cursor, closure: Type, outer: Context) {
        if outer.side != Side::Cpu && !self.strict {
            return;
        }
        let place = at.place();
        let mut variables = listed_captures(at);
        // Variables that `[&]` captures are named only in the body.
        variables.extend(variables_in(at.children()).into_iter().filter(|v| v.place() < place));
        let mut names: Vec<String> = Vec::new();
        let mut owner = None;
        let types = closure.canonical().fields().into_iter().filter_map(Cursor::ty);
        for of in types.filter(|of| is_reference(*of) && !is_dependent(*of) && !is_array(of.canonical().pointee())) {
            if let Some(owner_of_field) = owner_in(of) {
                self.refused_host_classes.add(of);
                owner.get_or_insert(owner_of_field);
            }
            let unnamed: Vec<Cursor> =
                variables.iter().filter(|v| !names.iter().any(|n| n.contains(&quoted(**v)))).copied().collect();
            names.push(format!("{} ('{}')", name_of(of, &unnamed), of.spelling()));
        }
        let Some(last) = names.pop() else { return };
        let (what, instead) = match names.as_slice() {
            [] => (format!("{last} is"), "capture it by value, or use an array_view"),
            others => (format!("{} and {last} are", others.join(", ")), "capture them by value, or use array_views"),
        };
        let instead = owner.map_or(instead.to_owned(), |(why, instead)| format!("{why}: {instead}"));
        let text = format!(
            "{what} captured by reference: by-reference capture is unsupported if the lambda is amp restricted (C3590), except of \
             array and texture; {instead}"
        );
        self.refuse(at, text);
    }
}

const NOT_CAPTURED: &str = "variable captured has an unsupported type in lambda that is amp restricted (C3596)";

/// A variable's quoted name. [`Walk::refuse_reference_captures`] begins the text of a capture with it.
fn quoted(variable: Cursor) -> String {
    format!("'{}' ", variable.spelling())
}

/// True if a captured field is the pointer `this`: a pointer to a class, and the lambda names no variable of that type.
fn is_this(field: Type, variables: &[Cursor]) -> bool {
    let type_text = |of: Type| of.canonical().spelling().trim_end_matches("const").trim_end().to_owned();
    let of = field.canonical();
    let is_pointer = of.kind() == ty::POINTER && of.pointee().canonical().kind() == ty::RECORD;
    is_pointer && !variables.iter().filter_map(|v| v.ty()).any(|other| type_text(other) == type_text(of))
}

/// The variables in a lambda's capture list. In Clang's tree, they come before the parameters and the body.
fn listed_captures(lambda: Cursor) -> Vec<Cursor> {
    let before =
        lambda.children().into_iter().take_while(|c| c.kind() != kind::PARAMETER && c.kind() != kind::COMPOUND);
    variables_in(before.collect())
}

/// The name of a closure's member in messages. The tree does not show which variable the member holds, so the type decides.
fn name_of(field: Type, variables: &[Cursor]) -> String {
    let type_text = |of: Type| {
        let of = of.canonical();
        let of = if is_reference(of) { of.pointee().canonical() } else { of };
        of.spelling().trim_start_matches("const ").trim_end_matches("const").trim_end().to_owned()
    };
    let field_text = type_text(field);
    let has_type = |v: &&Cursor| v.ty().is_some_and(|of| type_text(of) == field_text);
    variables.iter().find(has_type).map_or_else(|| "a variable".into(), |v| format!("'{}'", v.spelling()))
}
