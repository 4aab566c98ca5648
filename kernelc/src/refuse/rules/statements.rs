//! Rules of statements and expressions.

use super::{Context, Walk};
use crate::files;
use crate::refuse::libclang::{Cursor, Type, kind, ty};
use crate::refuse::types::{is_c_array, is_function, is_of_amp, is_reference};

impl Walk {
    /// Refuses statements and expressions that amp code cannot have.
    pub(super) fn forbidden(&mut self, at: Cursor, context: Context) {
        match at.kind() {
            kind::GOTO | kind::COMPUTED_GOTO => {
                self.functions_with_goto.insert(context.function);
                self.not_allowed_with_hint(at, "'goto'", "write a loop, 'break' or 'return'");
            }
            kind::LABEL => self.labelled.push((context.function, at)),
            kind::ADDRESS_OF_LABEL => self.not_allowed(at, "a label"),
            kind::ASSEMBLY | kind::MS_ASSEMBLY => self.not_allowed_with_hint(at, "'asm'", "write it in C++"),
            kind::THROW => self.not_allowed_with_hint(at, "'throw'", "store an error code that cpu code reads"),
            kind::TRY | kind::CATCH => self.not_allowed_with_hint(at, "'try'", "nothing in amp code throws"),
            kind::TYPEID => self.not_allowed_with_hint(at, "'typeid'", "write a template"),
            kind::DYNAMIC_CAST => self.not_allowed_with_hint(at, "'dynamic_cast'", "write a template"),
            kind::NEW => {
                self.not_allowed_with_hint(at, "'new'", "use a local array of constant length, or an array_view")
            }
            kind::DELETE => self.not_allowed_with_hint(at, "'delete'", "amp code allocates no memory"),
            kind::STRING if !context.in_print_arguments && !at.is_from_macro() => {
                let what = "a string that is not the format of direct3d_printf or direct3d_errorf";
                self.not_allowed_with_hint(at, what, "write an array of int");
            }
            kind::C_CAST | kind::STATIC_CAST | kind::REINTERPRET_CAST | kind::FUNCTIONAL_CAST => {
                self.cast(at, context);
            }
            kind::DECLARATION_REFERENCE => self.global(at, context),
            kind::BINARY | kind::CONDITIONAL if !context.may_be_host_only() || self.strict => {
                self.refuse_function_pointers(at);
            }
            kind::INTEGER | kind::FLOATING | kind::CHARACTER if !at.is_from_macro() => {
                // Narrow characters are allowed: they count as numbers.
                if let Some(of) = at.ty().filter(|of| of.kind() != ty::CHAR) {
                    self.value(at, of, "the literal", context);
                    self.wide_literal(at, of);
                }
            }
            _ => {}
        }
    }

    /// In strict mode, refuses a literal that needs more than 32 bits, because it is a long long for MSVC.
    fn wide_literal(&mut self, at: Cursor, of: Type) {
        let is_long = self.strict && matches!(of.kind(), ty::LONG | ty::UNSIGNED_LONG);
        if let Some(value) = at.value().filter(|value| is_long && *value > u64::from(u32::MAX)) {
            self.unsupported(at, &format!("the literal {value}"), "it is a 'long long' in MSVC");
        }
    }

    /// Refuses comparisons of function pointers, and conditional expressions that select a function pointer.
    pub(super) fn refuse_function_pointers(&mut self, at: Cursor) {
        let function = |of: Type| of.kind() == ty::FUNCTION || of.pointee().canonical().kind() == ty::FUNCTION;
        let is_function = |c: Cursor| c.ty().is_some_and(|of| function(of.canonical()));
        // The left operand of a comma is not used.
        if at.children().last().is_some_and(|last| is_function(*last)) {
            self.not_allowed_with_hint(at, "a pointer to a function", "pass a lambda or a functor to a template");
        }
    }

    pub(super) fn cast(&mut self, at: Cursor, context: Context) {
        let Some(to) = at.ty() else { return };
        self.value(at, to, "the cast", context);
        let mut inner = at.children().into_iter().rfind(|c| c.ty().is_some_and(|of| of.kind() != 0));
        let Some(from) = inner.and_then(Cursor::ty).map(Type::canonical) else { return };
        let is_number = |of: Type| (ty::FIRST_NUMBER..=ty::LAST_INTEGER).contains(&of.kind());
        let is_pointer = |of: Type| of.kind() == ty::POINTER;
        let function = |of: Type| of.kind() == ty::FUNCTION || of.pointee().canonical().kind() == ty::FUNCTION;
        let to = to.canonical();
        if context.may_be_host_only() && !self.strict {
            return;
        }
        if function(from) && to.kind() != ty::VOID && to.kind() != ty::BOOL {
            let instead = "pass a lambda or a functor to a template";
            return self.not_allowed_with_hint(at, "a cast of a function or of a function pointer", instead);
        }
        if is_number(to) && is_pointer(from) && to.kind() != ty::BOOL || is_pointer(to) && is_number(from) {
            while let Some(next) = inner.and_then(|c| c.children().last().copied()) {
                inner = Some(next);
            }
            let what = "a cast between a pointer and a number";
            // A cast of 0 gives a null pointer.
            if inner.is_some_and(|c| matches!(c.kind(), kind::INTEGER | kind::NULL)) {
                self.extension(at, what);
            } else {
                self.not_allowed_with_hint(at, what, "store the index of the element instead");
            }
        }
    }

    /// Checks a use of a global variable.
    pub(super) fn global(&mut self, at: Cursor, context: Context) {
        let Some(variable) = at.referenced().filter(|v| v.kind() == kind::VARIABLE) else { return };
        let Some(parent) = variable.semantic_parent() else { return };
        let Some(of) = variable.ty().map(Type::canonical) else { return };
        if is_function(parent.kind()) || is_of_amp(variable) {
            return;
        }
        let name = variable.spelling();
        if of.is_const() && of.kind() == ty::RECORD || is_c_array(of) {
            return self.extension(at, &format!("'{name}': a global variable other than a constant number"));
        }
        // An unevaluated operand only needs the type.
        if of.is_const() || variable.place().file.is_empty() || is_unevaluated(at) {
            return;
        }
        if is_reference(of) && !of.pointee().is_const() {
            return self.not_allowed(at, &format!("'{name}': a global reference"));
        }
        let what = format!("'{name}': a global variable that is not a constant");
        if context.may_be_host_only() {
            self.extension(at, &what);
        } else if variable.is_in_system_header() && ["cout", "cerr", "clog"].contains(&name.as_str()) {
            self.not_allowed_with_hint(at, &what, "write direct3d_printf");
        } else if variable.is_in_system_header() {
            self.not_allowed(at, &what);
        } else {
            self.not_allowed_with_hint(
                at,
                &what,
                "copy it into a local variable that the kernel captures, or pass it as an argument",
            );
        }
    }

    /// Refuses labels in functions in which no 'goto' was refused.
    pub(super) fn labels(&mut self) {
        for (function, label) in std::mem::take(&mut self.labelled) {
            if !self.functions_with_goto.contains(&function) {
                self.not_allowed(label, "a label");
            }
        }
    }
}

/// True if the line names the variable within `decltype(...)` or `noexcept(...)`, which the tree does not show. Columns
/// are not compared, because Clang may have read a copy of the source with other columns.
fn is_unevaluated(at: Cursor) -> bool {
    let (place, name) = (at.place(), at.spelling());
    let source = files::text_of(&place.file);
    let line = source.lines().nth((place.line as usize).saturating_sub(1)).unwrap_or_default();
    line.match_indices(&name).map(|(column, _)| &line[..column]).any(|before| {
        ["decltype", "noexcept"].iter().filter_map(|word| before.rsplit_once(word)).any(|(_, after)| {
            after.trim_start().starts_with('(') && after.matches('(').count() > after.matches(')').count()
        })
    })
}
