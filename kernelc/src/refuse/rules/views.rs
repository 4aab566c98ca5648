//! Warns about array_views that a kernel only reads, and about array_views that are destroyed with pending writes.
//!
//! Each warning needs a proof within one function, from every use of the view. If this module does not understand a use,
//! there is no warning. Templates get no warnings, because another instantiation may use the view differently.

use super::{Context, Launch, Walk};
use crate::amp_warnings::AmpWarning;
use crate::refuse::constants::storage;
use crate::refuse::libclang::{Cursor, Type, kind, ty};
use crate::refuse::report::Finding;
use crate::refuse::types::{is_c_array, is_of_amp, is_reference};

/// The kind of a use of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// A use of the extent.
    Shape,
    Reads,
    Writes,
    /// Any other use, such as passing the view on.
    Other,
}

impl Walk {
    /// Records a launch whose lambda is written in the call, and warns about views that the lambda only reads.
    pub(super) fn record_launch(&mut self, call: Cursor, context: Context) {
        let lambda = call.arguments().into_iter().find_map(lambda_of);
        let Some(lambda) = lambda.filter(|_| !context.in_instantiation && !call.is_from_macro()) else { return };
        self.launches.push(Launch { call, lambda });
        let mut views: Vec<(Cursor, Vec<Use>)> = Vec::new();
        for body in bodies(lambda) {
            for_each_use(body, &mut |view, path| {
                if view.place() < lambda.place() {
                    match views.iter_mut().find(|(known, _)| *known == view) {
                        Some((_, uses)) => uses.push(use_of(path)),
                        None => views.push((view, vec![use_of(path)])),
                    }
                }
            });
        }
        for (view, uses) in views {
            let only_reads = uses.contains(&Use::Reads) && uses.iter().all(|u| matches!(u, Use::Reads | Use::Shape));
            if let Some(constant) = only_reads.then(|| type_with_const_elements(view)).flatten() {
                let text = format!(
                    "the kernel only reads '{}': capture an {constant}, which is not copied back",
                    view.spelling()
                );
                self.warn(lambda, AmpWarning::ReadOnly, text);
            }
        }
    }

    /// Warns about views that are destroyed with pending writes. The function's launches are those from `first` on.
    pub(super) fn unsynchronized(&mut self, function: Cursor, first: usize) {
        let launches = self.launches.split_off(first);
        if function.kind() == kind::FUNCTION_TEMPLATE {
            return;
        }
        let mut written_views: Vec<(Cursor, Cursor)> = Vec::new();
        let mut unknown_views: Vec<Cursor> = Vec::new();
        for body in bodies(function) {
            for_each_use(body, &mut |view, path| match pending(view, path, &launches) {
                Pending::Written(kernel_launch) => {
                    written_views.retain(|(known, _)| *known != view);
                    written_views.push((view, kernel_launch));
                }
                Pending::Same => {}
                Pending::Unknown => unknown_views.push(view),
            });
        }
        for (view, kernel_launch) in written_views {
            if unknown_views.contains(&view) || !is_local_over_memory(view) {
                continue;
            }
            let name = view.spelling();
            let text = format!(
                "'{name}' is destroyed while this kernel's writes are pending, so errors of the copy back are lost: \
                 call {name}.synchronize() after the launch"
            );
            self.warn(kernel_launch, AmpWarning::Unsynchronized, text);
        }
    }

    fn warn(&mut self, at: Cursor, option: AmpWarning, text: String) {
        let place = at.place();
        if place.line > 0 {
            self.warnings.push((option, Finding { place, text }));
        }
    }
}

fn lambda_of(argument: Cursor) -> Option<Cursor> {
    match argument.kind() {
        kind::LAMBDA => Some(argument),
        kind::FIRST_EXPRESSION => match argument.children().as_slice() {
            [only] => lambda_of(*only),
            _ => None,
        },
        _ => None,
    }
}

fn bodies(of: Cursor) -> impl Iterator<Item = Cursor> {
    of.children().into_iter().filter(|child| child.kind() == kind::COMPOUND)
}

/// Calls `visit` for each use of a variable that is a writable array_view. Passes the variable, and the path to the use
/// in Clang's tree, which begins with `body`.
fn for_each_use(body: Cursor, visit: &mut dyn FnMut(Cursor, &[Cursor])) {
    fn walk(path: &mut Vec<Cursor>, visit: &mut dyn FnMut(Cursor, &[Cursor])) {
        let Some(&at) = path.last() else { return };
        if at.kind() == kind::SIZE_OF {
            return;
        }
        if at.kind() == kind::DECLARATION_REFERENCE {
            let view = at.referenced().filter(|v| matches!(v.kind(), kind::VARIABLE | kind::PARAMETER));
            if let Some(view) = view.filter(|v| v.ty().is_some_and(is_writable_view)) {
                visit(view, path);
            }
        }
        for child in at.children() {
            path.push(child);
            walk(path, visit);
            path.pop();
        }
    }
    walk(&mut vec![body], visit);
}

/// True for an array_view with non-const elements, or a reference to one.
fn is_writable_view(of: Type) -> bool {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    is_view(of) && of.template_argument(0).is_some_and(|element| !element.canonical().is_const())
}

fn is_view(of: Type) -> bool {
    let class = of.canonical().declaration();
    class.spelling() == "array_view" && is_of_amp(class)
}

/// The view's type with const elements, as the program would write it.
fn type_with_const_elements(view: Cursor) -> Option<String> {
    let named = view.ty()?.spelling();
    let (_, arguments) = named.split_once("array_view<")?;
    Some(format!("array_view<const {}", arguments.trim_end_matches(['&', ' '])))
}

/// The use of the view that is named at the end of a path. Clang shows a conversion as an unexposed expression. A
/// conversion of an element means that the element is read or becomes const.
fn use_of(path: &[Cursor]) -> Use {
    let mut at = path.len() - 1;
    // Goes from the view to an element, through projections.
    while at > 0 {
        let (inner, parent) = (path[at], path[at - 1]);
        at -= 1;
        match parent.kind() {
            kind::FIRST_EXPRESSION | kind::PARENTHESES => {}
            kind::MEMBER_REFERENCE if ["extent", "get_extent"].contains(&parent.spelling().as_str()) => {
                return Use::Shape;
            }
            kind::CALL if is_access(parent, inner) => match parent.ty() {
                Some(of) if is_view(of) => {}
                Some(of) => return use_of_element(path, at, of),
                None => return Use::Other,
            },
            _ => return Use::Other,
        }
    }
    Use::Other
}

/// True for a call of `operator[]` or `operator()` on the object.
fn is_access(call: Cursor, object: Cursor) -> bool {
    ["operator[]", "operator()"].contains(&call.spelling().as_str())
        && call.children().first() == Some(&object)
        && call.referenced().is_some_and(is_of_amp)
}

/// The use of the element that the expression at `position` of the path names.
fn use_of_element(path: &[Cursor], position: usize, mut of: Type) -> Use {
    let mut ancestors = path[..position].iter().rev().copied().peekable();
    let mut at = path[position];
    while let Some(parent) = ancestors.next() {
        let is_first = parent.children().first() == Some(&at);
        let (is_array, is_class) = (is_c_array(of.canonical()), of.canonical().kind() == ty::RECORD);
        match parent.kind() {
            kind::PARENTHESES => {}
            kind::MEMBER_REFERENCE if parent.referenced().is_some_and(|member| member.kind() == kind::FIELD) => {
                let Some(member) = parent.ty() else { return Use::Other };
                of = member;
            }
            kind::FIRST_EXPRESSION if is_array => match ancestors.next_if(|next| next.kind() == kind::SUBSCRIPT) {
                Some(subscript) if subscript.children().first() == Some(&parent) => {
                    let Some(part) = subscript.ty() else { return Use::Other };
                    of = part;
                    at = subscript;
                    continue;
                }
                _ => return Use::Other,
            },
            kind::FIRST_EXPRESSION => {
                let is_value = !is_class || parent.ty().is_some_and(|of| of.canonical().is_const());
                // The end of a temporary's lifetime looks like a conversion too.
                let named = ancestors.find(|next| next.kind() != kind::FIRST_EXPRESSION);
                let may_be_named = named.is_none_or(|next| {
                    next.kind() == kind::RETURN
                        || next.kind() == kind::VARIABLE
                            && next.ty().is_some_and(|of| is_reference(of) && !of.canonical().pointee().is_const())
                });
                return if is_value && !may_be_named { Use::Reads } else { Use::Other };
            }
            kind::BINARY | kind::COMPOUND_ASSIGNMENT if is_first => return Use::Writes,
            kind::CALL if is_first && is_assignment(&parent.spelling()) => return Use::Writes,
            // The address of the element. Only atomic operations are known to write through it.
            kind::UNARY if parent.ty().is_some_and(|of| of.canonical().kind() == ty::POINTER) => {
                let is_atomic = |call: Cursor| call.kind() == kind::CALL && call.spelling().starts_with("atomic_");
                let is_written =
                    ancestors.next().is_some_and(|call| is_atomic(call) && call.referenced().is_some_and(is_of_amp));
                return if is_written { Use::Writes } else { Use::Other };
            }
            kind::UNARY => return Use::Writes,
            _ => return Use::Other,
        }
        at = parent;
    }
    Use::Other
}

fn is_assignment(name: &str) -> bool {
    let sign = name.strip_prefix("operator").and_then(|sign| sign.strip_suffix('='));
    sign.is_some_and(|sign| !["=", "!", "<", ">"].contains(&sign))
}

/// The effect of a use of a view on whether writes are pending when the view is destroyed.
enum Pending {
    Written(Cursor),
    Same,
    Unknown,
}

fn pending(view: Cursor, path: &[Cursor], launches: &[Launch]) -> Pending {
    let lambda = path.iter().position(|one| one.kind() == kind::LAMBDA);
    let Some(position) = lambda else {
        let is_discard =
            |member: &Cursor| member.kind() == kind::MEMBER_REFERENCE && member.spelling() == "discard_data";
        return match use_of(path) {
            Use::Shape => Pending::Same,
            // After a launch, discard_data would leave nothing to write back.
            _ if path.iter().any(is_discard)
                && launches.iter().all(|l| path[path.len() - 1].place() < l.call.place()) =>
            {
                Pending::Same
            }
            _ => Pending::Unknown,
        };
    };
    let Some(launch) = launches.iter().find(|launch| launch.lambda == path[position]) else { return Pending::Unknown };
    let is_inside = path.get(position + 1).is_some_and(|next| next.kind() == kind::COMPOUND);
    match use_of(path) {
        _ if view.place() >= launch.call.place() => Pending::Unknown,
        // The use is in the capture list.
        _ if !is_inside => Pending::Same,
        Use::Writes => Pending::Written(launch.call),
        Use::Reads | Use::Shape => Pending::Same,
        Use::Other => Pending::Unknown,
    }
}

/// True for a local variable that is a view of the program's memory.
fn is_local_over_memory(view: Cursor) -> bool {
    let is_plain =
        view.kind() == kind::VARIABLE && view.storage() != Some(storage::STATIC) && view.ty().is_some_and(is_view);
    let made = view.children().into_iter().rfind(|child| child.kind() == kind::CALL);
    let Some(made) = made.filter(|_| is_plain && !view.is_thread_local()) else { return false };
    let types: Vec<Type> = made.arguments().into_iter().filter_map(Cursor::ty).map(Type::canonical).collect();
    let of_amp = |of: &Type| {
        ["array", "array_view"].contains(&of.declaration().spelling().as_str()) && is_of_amp(of.declaration())
    };
    let is_memory = |of: &Type| {
        let class = of.declaration();
        let of_library =
            class.semantic_parent().is_some_and(|parent| parent.spelling() == "std") && class.is_in_system_header();
        of.kind() == ty::POINTER
            || is_c_array(*of)
            || of_library && ["vector", "array"].contains(&class.spelling().as_str())
    };
    !types.iter().any(of_amp) && types.iter().any(is_memory)
}
