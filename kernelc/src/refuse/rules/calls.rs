//! Rules of calls: restrictions of caller and callee, launches, recursion.

use super::{Context, OUTSIDE, PRINTS, Walk};
use crate::refuse::libclang::{Cursor, Type, kind, ty};
use crate::refuse::restrictions::{Side, written_restriction};
use crate::refuse::types::{
    address_in, array_in, is_amp_only, is_callable, is_class, is_function, is_lambda, is_of_amp, is_reference,
};
use crate::refuse::wording::{amp_function_text, cpu_function_text, defaulted_text, uncallable};
use std::collections::HashSet;

impl Walk {
    /// Refuses a call of a cpu function by amp code. `within`: the function that contains the call.
    pub(super) fn refuse_cpu_call(&mut self, at: Cursor, callee: Cursor, within: Option<u32>) {
        // Clang itself rejects calls of deleted functions.
        if callee.is_deleted() {
            return;
        }
        // An error in the definition of a defaulted function is reported at the function. If a class that only the host
        // can use was refused, calls of its members are not reported.
        if let Some(defaulted) = within.and_then(|key| self.defaulted.get(&key)).copied() {
            self.refuse(defaulted, defaulted_text(defaulted, callee));
        } else if !self.refused_host_classes.explains(callee) {
            self.refuse(at, cpu_function_text(callee));
        }
    }

    pub(super) fn refuse_amp_call(&mut self, at: Cursor, callee: Cursor) {
        self.refuse(at, amp_function_text(&callee.spelling()));
    }

    pub(super) fn call(&mut self, at: Cursor, context: Context) {
        let Some(callee) = at.referenced().filter(|c| !c.is_null()) else { return };
        if callee.spelling() == "parallel_for_each" && is_of_amp(callee) {
            self.launch(at);
            self.record_launch(at, context);
        }
        self.queue_instantiation(Some(callee), context);
        if !is_function(callee.kind()) {
            return;
        }
        let parent = callee.semantic_parent();
        let in_class = parent.is_some_and(|p| is_class(p.kind()));
        let operator = callee.spelling() == "operator()";
        let lambda = parent.filter(|p| operator && p.ty().is_some_and(is_lambda)).and_then(Cursor::hash);
        let lambda = lambda.and_then(|class| self.lambdas.get(&class)).copied();
        // Clang calls a lambda of the other side through its conversion to a function pointer.
        if callee.kind() == kind::CONVERSION {
            let class = parent.filter(|p| p.ty().is_some_and(is_lambda)).and_then(Cursor::hash);
            let of = class.and_then(|class| self.lambdas.get(&class)).copied();
            if context.side != Side::Amp && of == Some(Side::Amp) {
                let text = "the lambda is restrict(amp), and cpu code calls it (C3930): write restrict(amp, cpu)";
                return self.refuse(at, text.into());
            }
            if context.side != Side::Cpu && !context.in_instantiation && of == Some(Side::Cpu) {
                let text = "the lambda is restrict(cpu), and amp code calls it (C3930): write restrict(amp, cpu)";
                return self.refuse(at, text.into());
            }
        }
        if context.side != Side::Cpu && is_atomic_of_floats(callee) {
            self.extension(at, &format!("'{}' of floating numbers", callee.spelling()));
        }
        if context.side == Side::Amp {
            if let Some(why) = texture_view_error(callee) {
                self.refuse(at, why);
            }
        } else {
            // A template for both sides may be instantiated for a type that only amp code uses. Only amp code calls the
            // instantiation then.
            let of_argument = context.in_instantiation && context.side == Side::Both && !self.strict;
            // An implicit member has the location of its class; each side may have one.
            let implicit = parent.is_some_and(|p| p.place() == callee.place());
            // With `using`, a function for both sides may call a host function of another namespace.
            let has_host_namesake = context.side == Side::Both
                && callee.kind() == kind::FUNCTION
                && self.of_cpu.contains(&(ANY_NAMESPACE.into(), callee.spelling()));
            if is_amp_only(callee) && !implicit && !callee.is_in_system_header() && !has_host_namesake {
                match context.function.filter(|_| of_argument) {
                    Some(from) => self.amp_calls_in_instantiations.push((from, at, callee)),
                    None => self.amp_calls_by_cpu.push((at, callee)),
                }
            }
            // revamp's atomics also work in cpu code, but functions of tiles do not.
            let name = callee.spelling();
            let of_tiles = context.side == Side::Cpu && (name.ends_with("_memory_fence") || name == "wait");
            let of_tiles = of_tiles || context.side == Side::Cpu && PRINTS.contains(&name.as_str());
            let of_kernels = (self.strict || of_tiles) && is_of_kernels(callee) || is_of_texels(callee);
            if of_kernels && (context.side == Side::Cpu || !context.in_instantiation) {
                self.refuse(at, format!("'{name}' is for amp code only, and cpu code calls it (C3930)"));
            }
            if context.side == Side::Cpu {
                self.called_by_cpu.extend(callee.canonical().and_then(Cursor::hash));
                return;
            }
        }
        if let (Some(from), Some(to)) = (context.function, callee.canonical().and_then(Cursor::hash)) {
            self.calls.entry(from).or_default().push((to, at));
        }
        // Clang treats an unmarked lambda as a function for both sides.
        let cpu_lambda = lambda == Some(Side::Cpu);
        if !cpu_lambda && is_callable(callee) || callee.place().line == 0 || is_builtin(callee) {
            let of_library = callee.is_in_system_header() && !is_of_amp(callee) && !callee.spelling().starts_with("__");
            let is_plain = callee.kind() == kind::FUNCTION || callee.is_static_method();
            if self.strict && of_library && is_plain && !at.is_from_macro() {
                self.refuse_cpu_call(at, callee, context.function);
            }
            return;
        }
        let mut parents =
            std::iter::successors(callee.lexical_parent(), |p| p.lexical_parent().filter(|n| !n.is_null()));
        let is_local = !cpu_lambda
            && parents.by_ref().take(32).any(|p| is_function(p.kind()))
            && written_restriction(&callee.children()) != Some(Side::Cpu);
        let of_library = callee.is_in_system_header();
        let is_cxx = in_class || parent.is_some_and(|p| p.kind() == kind::NAMESPACE);
        if is_local || of_library && !is_cxx && !HOST_ONLY_C_FUNCTIONS.contains(&callee.spelling().as_str()) {
            return;
        }
        // A template for both sides may be instantiated for a class of the host. Only the host calls the instantiation
        // then.
        match context.function {
            Some(from) if context.in_instantiation && context.side == Side::Both && !self.strict => {
                self.cpu_calls_in_instantiations.push((from, at, callee));
            }
            _ => self.refuse_cpu_call(at, callee, context.function),
        }
    }

    /// Refuses calls whose validity depends on other functions: overloads of the callee, or callers of the caller.
    pub(super) fn calls_across(&mut self) {
        // Finds the functions that cpu code reaches. The search does not pass through amp-only functions.
        let callers = self.called_by_cpu.union(&self.both_sides).filter(|caller| !self.amp.contains(caller));
        let of_cpu = self.reached(callers.copied().collect(), |to| !self.amp.contains(to));
        let made = std::mem::take(&mut self.amp_calls_in_instantiations)
            .into_iter()
            .filter(|(from, ..)| of_cpu.contains(from));
        self.amp_calls_by_cpu.extend(made.map(|(_, at, callee)| (at, callee)));
        for (at, callee) in std::mem::take(&mut self.amp_calls_by_cpu) {
            if !self.of_cpu.contains(&scope_and_name(callee)) {
                self.refuse_amp_call(at, callee);
            }
        }
        let reached = self.reached(self.amp.union(&self.both_sides).copied().collect(), |_| true);
        for (from, at, callee) in std::mem::take(&mut self.cpu_calls_in_instantiations) {
            if reached.contains(&from) {
                self.refuse_cpu_call(at, callee, Some(from));
            }
        }
    }

    /// The functions in `found`, and the functions that they reach by calls through functions that satisfy `wanted`.
    /// The reached functions satisfy `wanted`, too.
    pub(super) fn reached(&self, mut found: HashSet<u32>, wanted: impl Fn(&u32) -> bool) -> HashSet<u32> {
        let mut stack: Vec<u32> = found.iter().copied().collect();
        while let Some(at) = stack.pop() {
            let next = self.calls.get(&at).into_iter().flatten().map(|(to, _)| *to);
            stack.extend(next.filter(|to| wanted(to) && found.insert(*to)));
        }
        found
    }

    /// Checks the functor of a launch.
    pub(super) fn launch(&mut self, at: Cursor) {
        if let Some(why) = uncallable(&at.arguments()) {
            let place = at.place();
            self.uncallable.insert((place.file, place.line), why);
        }
        for argument in at.arguments() {
            let Some(of) = argument.ty().map(Type::canonical) else { continue };
            let of = if is_reference(of) { of.pointee().canonical() } else { of };
            let class = of.declaration();
            if of.kind() == ty::RECORD && is_lambda(of) {
                let operator = class.children().into_iter().find(|c| c.spelling() == "operator()");
                // Clang treats an unmarked lambda as a function for both sides.
                if operator.is_some_and(|o| written_restriction(&o.children()).is_none()) {
                    let text =
                        "the kernel is a cpu function: write restrict(amp) after the parameters of the lambda (C3930)";
                    self.refuse(argument, text.into());
                }
                continue;
            }
            if of.kind() != ty::RECORD || is_of_amp(class) {
                continue;
            }
            let members = class.definition().map(Cursor::children).unwrap_or_default();
            let kernel = members.iter().find(|m| m.spelling() == "operator()" && is_callable(**m));
            if kernel.is_none() {
                continue;
            }
            self.queue_instantiation(kernel.copied(), OUTSIDE);
            let stored_address =
                address_in(of, 0).or_else(|| Some((array_in(of, 0)?, "an array or a texture by value".to_owned())));
            if let Some((path, what)) = stored_address {
                let member = path.strip_prefix('.').unwrap_or(&path);
                self.refuse(
                    argument,
                    format!(
                        "the kernel's functor '{}' holds {what} in '{member}': kernels access memory only through \
                         array_views, or through references to arrays or textures",
                        of.spelling()
                    ),
                );
            }
        }
    }

    /// Refuses amp functions that call themselves, directly or indirectly.
    pub(super) fn recursion(&mut self) {
        let starts: Vec<u32> = self.calls.keys().copied().collect();
        for start in starts {
            let mut seen = HashSet::new();
            let mut stack = vec![start];
            let mut first = None;
            while let Some(at) = stack.pop() {
                for (to, call) in self.calls.get(&at).into_iter().flatten() {
                    if *to == start {
                        first.get_or_insert(*call);
                    } else if seen.insert(*to) {
                        stack.push(*to);
                    }
                }
            }
            if let Some(call) = first {
                self.not_allowed_with_hint(call, &format!("'{}': recursion", call.spelling()), "write a loop");
            }
        }
    }
}

/// In `Walk::of_cpu`: stands for any namespace.
pub(super) const ANY_NAMESPACE: &str = "*";

/// The namespace or class of a function, and its name.
pub(super) fn scope_and_name(function: Cursor) -> (String, String) {
    let parents = std::iter::successors(function.semantic_parent(), |p| p.semantic_parent().filter(|n| !n.is_null()));
    let names =
        parents.take(16).take_while(|p| is_class(p.kind()) || p.kind() == kind::NAMESPACE).map(Cursor::spelling);
    (names.collect::<Vec<_>>().join("::"), function.spelling())
}

/// True for a builtin function, such as those that INFINITY and NAN call. Clang declares a builtin at its first call, without a restriction.
fn is_builtin(function: Cursor) -> bool {
    function.spelling().starts_with("__builtin_")
}

/// Host-only C functions of the standard library. Clang knows the other C functions as builtins.
const HOST_ONLY_C_FUNCTIONS: [&str; 16] = [
    "printf", "fprintf", "sprintf", "snprintf", "puts", "putchar", "scanf", "malloc", "calloc", "realloc", "free",
    "rand", "srand", "time", "clock", "exit",
];

/// True for functions of the headers that are restrict(amp). If host threads run kernels, these functions are for both sides.
fn is_of_kernels(function: Cursor) -> bool {
    let name = function.spelling();
    let is_named = name.starts_with("atomic_")
        || name.ends_with("_memory_fence")
        || PRINTS.contains(&name.as_str())
        || name == "wait" && function.semantic_parent().is_some_and(|p| p.spelling() == "tile_barrier");
    is_named && is_of_amp(function)
}

/// True for atomic arithmetic on floating-point numbers. C++ AMP has atomic arithmetic only for integers.
fn is_atomic_of_floats(function: Cursor) -> bool {
    let of = || Some(function.arguments().first()?.ty()?.canonical().pointee().canonical().kind());
    function.spelling().starts_with("atomic_fetch_")
        && is_of_amp(function)
        && matches!(of(), Some(ty::FLOAT | ty::DOUBLE))
}

/// True for members of textures and their views that read or write texels. Host code cannot call these members.
fn is_of_texels(function: Cursor) -> bool {
    let name = function.spelling();
    let is_named =
        ["get", "set", "sample", "operator[]", "operator()"].contains(&name.as_str()) || name.starts_with("gather_");
    let classes = ["texture", "texture_view", "writeonly_texture_view"];
    is_named
        && function.semantic_parent().is_some_and(|p| classes.contains(&p.spelling().as_str()))
        && is_of_amp(function)
}

/// The error for a view of a texture that amp code must not construct. Amp code may construct writable views only of
/// textures with one component, and readable views only of textures with more components.
fn texture_view_error(constructor: Cursor) -> Option<String> {
    let class = constructor.semantic_parent().filter(|class| is_of_amp(*class))?;
    let name = class.spelling();
    if !["texture_view", "writeonly_texture_view"].contains(&name.as_str()) {
        return None;
    }
    let source = constructor.arguments().first()?.ty()?.canonical().pointee();
    if source.declaration().spelling() != "texture" {
        return None;
    }
    let element = class.ty()?.canonical().template_argument(0)?.canonical();
    let reads = element.is_const();
    let has_one_component =
        element.kind() != ty::RECORD || ["norm", "unorm"].contains(&element.declaration().spelling().as_str());
    let wanted = if reads { "several components" } else { "one component" };
    (reads == has_one_component).then(|| {
        format!(
            "amp code can create this '{name}' only from textures with {wanted} per texel: create it in cpu code and \
             capture it by value"
        )
    })
}
