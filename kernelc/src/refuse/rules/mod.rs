//! Finds code that C++ AMP forbids (sections 2.1 to 2.4 of the C++ AMP specification) in Clang's AST.
//!
//! The traversal visits the functions of the user's files. Where these functions use the user's templates, it also
//! visits the instantiations, because all types in an instantiation's body are known.

mod calls;
mod captures;
mod declarations;
mod statements;
mod views;

use super::libclang::{Cursor, Location, Type, Unit, kind};
use super::report::Finding;
use super::restrictions::Side;
use super::types::{Types, host_classes_in, is_class, is_function, is_lambda, is_owner, owner_in, why_unusable};
use crate::amp_warnings::AmpWarning;
use crate::diagnostics::SourceLocation;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The results of the traversal.
pub(super) struct RuleResults {
    pub(super) findings: Vec<Finding>,
    pub(super) warnings: Vec<(AmpWarning, Finding)>,
    /// The locations at which amp lambdas capture by reference or capture `this`; true if the capture is refused.
    pub(super) captures: HashMap<Location, bool>,
    /// Why the kernel of a launch cannot be called, by the launch's file and line.
    pub(super) uncallable: HashMap<(String, u32), String>,
    pub(super) refused_host_classes: RefusedHostClasses,
    /// For each name of a function in amp code: its place, and the place of the function's declaration.
    pub(super) resolved_functions: BTreeSet<(SourceLocation, SourceLocation)>,
    /// The places of functions that are declared restrict(cpu).
    pub(super) marked_cpu: HashSet<SourceLocation>,
    /// The places of members of local classes in amp code that have the restriction of the enclosing function.
    pub(super) members_of_local_classes: HashSet<SourceLocation>,
}

/// The places of the host-only classes whose values were refused. An instantiation has the place of its template.
#[derive(Default)]
pub(super) struct RefusedHostClasses(HashSet<SourceLocation>);

impl RefusedHostClasses {
    fn add(&mut self, of: Type) {
        self.0.extend(host_classes_in(of).into_iter().map(definition_place));
    }

    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// True if the function is a host-only member of a refused class: the error about the class is enough.
    pub(super) fn explains(&self, callee: Cursor) -> bool {
        let class = callee.semantic_parent();
        let is_of_host = callee.is_virtual() || class.is_some_and(is_owner);
        is_of_host && class.is_some_and(|class| self.0.contains(&definition_place(class)))
    }
}

fn definition_place(class: Cursor) -> SourceLocation {
    class.definition().filter(|d| !d.is_null()).unwrap_or(class).place()
}

/// A key that is the same for all declarations of an entity.
fn key_of(declaration: Cursor) -> Option<u32> {
    declaration.canonical().and_then(Cursor::hash)
}

/// Describes the code that the traversal is in.
#[derive(Clone, Copy)]
struct Context {
    side: Side,
    /// The enclosing function, for recursion.
    function: Option<u32>,
    /// True within the arguments of direct3d_printf, direct3d_errorf or direct3d_abort.
    in_print_arguments: bool,
    /// True within an instantiation of a template.
    in_instantiation: bool,
}

impl Context {
    /// True in an instantiation of a template for both sides, because possibly only the host uses the instantiation.
    fn may_be_host_only(self) -> bool {
        self.in_instantiation && self.side == Side::Both
    }
}

const OUTSIDE: Context =
    Context { side: Side::Cpu, function: None, in_print_arguments: false, in_instantiation: false };

/// Checks a source. `strict`: refuse revamp's extensions too.
pub(super) fn findings(unit: &Unit, strict: bool) -> RuleResults {
    let mut walk = Walk { strict, ..Walk::default() };
    for declaration in unit.cursor().children() {
        if !declaration.is_in_system_header() {
            walk.declaration(declaration, OUTSIDE);
        }
    }
    while let Some((function, side)) = walk.pending_instantiations.pop() {
        walk.function(function, Context { side, in_instantiation: true, ..OUTSIDE });
    }
    walk.calls_across();
    walk.recursion();
    walk.labels();
    walk.found.sort_by(|a, b| a.place.cmp(&b.place));
    RuleResults {
        findings: walk.found,
        warnings: walk.warnings,
        captures: walk.captures,
        uncallable: walk.uncallable,
        refused_host_classes: walk.refused_host_classes,
        resolved_functions: walk.resolved_functions,
        marked_cpu: walk.marked_cpu,
        members_of_local_classes: walk.members_of_local_classes,
    }
}

/// A launch whose kernel is a lambda in the call.
#[derive(Clone, Copy)]
struct Launch {
    call: Cursor,
    lambda: Cursor,
}

#[derive(Default)]
struct Walk {
    strict: bool,
    types: Types,
    found: Vec<Finding>,
    warnings: Vec<(AmpWarning, Finding)>,
    /// Launches of lambdas in the function under inspection.
    launches: Vec<Launch>,
    /// The errors that were reported, by file, line and text.
    reported: HashSet<(SourceLocation, String)>,
    captures: HashMap<Location, bool>,
    uncallable: HashMap<(String, u32), String>,
    refused_host_classes: RefusedHostClasses,
    /// The program's member functions that are defaulted.
    defaulted: HashMap<u32, Cursor>,
    /// Labels, each with the function that has it.
    labelled: Vec<(Option<u32>, Cursor)>,
    /// Functions whose 'goto' was refused.
    functions_with_goto: HashSet<Option<u32>>,
    /// The classes of lambdas, each with its side.
    lambdas: HashMap<u32, Side>,
    /// The places of functions that are declared restrict(cpu).
    marked_cpu: HashSet<SourceLocation>,
    members_of_local_classes: HashSet<SourceLocation>,
    /// Functions that cpu code may call: the enclosing scope, and the name.
    of_cpu: HashSet<(String, String)>,
    /// Calls of amp functions by cpu code: refused if no function of that name is for cpu code.
    amp_calls_by_cpu: Vec<(Cursor, Cursor)>,
    /// Calls of cpu functions in instantiations of templates for both sides: refused if amp code reaches them.
    cpu_calls_in_instantiations: Vec<(u32, Cursor, Cursor)>,
    /// Calls of amp functions in instantiations of templates for both sides: refused if cpu code reaches them.
    amp_calls_in_instantiations: Vec<(u32, Cursor, Cursor)>,
    /// Functions that cpu code calls.
    called_by_cpu: HashSet<u32>,
    /// Functions that are only for amp code.
    amp: HashSet<u32>,
    /// Functions for both sides that are not instantiations: their author promises that both sides can call them.
    both_sides: HashSet<u32>,
    /// Functions with C linkage.
    c_functions: HashMap<String, Side>,
    resolved_functions: BTreeSet<(SourceLocation, SourceLocation)>,
    /// Instantiations that were queued for the traversal.
    seen: HashSet<u32>,
    pending_instantiations: Vec<(Cursor, Side)>,
    /// The calls between functions of the amp side.
    calls: HashMap<u32, Vec<(u32, Cursor)>>,
}

/// True for an instantiation of a template, or a member of one.
fn is_instantiation(function: Cursor) -> bool {
    let mut at = Some(function);
    for _ in 0..16 {
        let Some(cursor) = at.filter(|c| !c.is_null()) else { return false };
        if cursor.specialized().is_some_and(|template| !template.is_null()) {
            return true;
        }
        at = cursor.semantic_parent().filter(|p| is_class(p.kind()) || is_function(p.kind()));
    }
    false
}

const PRINTS: [&str; 3] = ["direct3d_printf", "direct3d_errorf", "direct3d_abort"];

impl Walk {
    fn refuse(&mut self, at: Cursor, text: String) {
        let place = at.place();
        if place.line > 0 && self.reported.insert((SourceLocation { column: 0, ..place.clone() }, text.clone())) {
            self.found.push(Finding { place, text });
        }
    }

    fn declaration(&mut self, at: Cursor, context: Context) {
        match at.kind() {
            kind::LINKAGE => {
                for child in at.children() {
                    self.linkage(child);
                    self.declaration(child, context);
                }
            }
            found if is_class(found) || matches!(found, kind::NAMESPACE | kind::FRIEND) => {
                for child in at.children() {
                    self.declaration(child, context);
                }
            }
            found if is_function(found) => self.function(at, context),
            kind::VARIABLE => self.variable(at, context),
            kind::DECLARATION_REFERENCE..kind::DEVICE_ATTRIBUTE => self.code(at, context),
            _ => {}
        }
    }

    /// Checks a type that amp code uses.
    fn value(&mut self, at: Cursor, of: Type, what: &str, context: Context) {
        let may_be_unused = context.may_be_host_only() || is_lambda(of);
        let is_reported = !may_be_unused && (!self.strict || owner_in(of).is_some());
        if let Some(why) = why_unusable(of, 0).filter(|_| is_reported) {
            self.refused_host_classes.add(of);
            return self.refuse(at, format!("{what}: {why} (C3581)"));
        }
        if !self.strict {
            return;
        }
        if let Some(why) = self.types.value_error(of) {
            self.unsupported(at, what, &why);
        }
    }

    fn unsupported(&mut self, at: Cursor, what: &str, why: &str) {
        self.refuse(
            at,
            format!(
                "{what}: {why}: unsupported type in amp restricted code (C3581); allowed are int, unsigned, long, unsigned long, \
                 float, double, bool, and classes and arrays of them"
            ),
        );
    }

    fn extension(&mut self, at: Cursor, what: &str) {
        if self.strict {
            self.not_allowed(at, what);
        }
    }

    /// Refuses a construct that no kernel can have.
    fn not_allowed(&mut self, at: Cursor, what: &str) {
        self.refuse(at, format!("{what} is not allowed in amp restricted code (C++ AMP, 2.4.3)"));
    }

    /// Refuses a construct that no kernel can have. `instead`: what to write instead.
    fn not_allowed_with_hint(&mut self, at: Cursor, what: &str, instead: &str) {
        self.refuse(at, format!("{what} is not allowed in amp restricted code (C++ AMP, 2.4.3); {instead}"));
    }

    /// Checks a statement or an expression, and its parts.
    fn code(&mut self, at: Cursor, context: Context) {
        let found = at.kind();
        match found {
            kind::LAMBDA => return self.lambda(at, context),
            kind::VARIABLE => return self.variable(at, context),
            found if is_class(found) => return self.declaration(at, context),
            kind::CALL => self.call(at, context),
            kind::DELETE => {
                if let Some(of) = at.children().first().and_then(|c| c.ty()) {
                    self.destructor(at, of.canonical().pointee(), context);
                }
            }
            // A sizeof calls nothing, and a static_assert is evaluated at compile time.
            kind::SIZE_OF | kind::STATIC_ASSERT => return,
            kind::DECLARATION_REFERENCE | kind::MEMBER_REFERENCE => self.queue_instantiation(at.referenced(), context),
            _ => {}
        }
        if context.side != Side::Cpu
            && [kind::CALL, kind::DECLARATION_REFERENCE, kind::MEMBER_REFERENCE].contains(&found)
        {
            let named = at.referenced().filter(|f| !f.is_null() && is_function(f.kind())).and_then(Cursor::canonical);
            let named = named.filter(|function| !is_of_libraries(*function));
            self.resolved_functions.extend(named.map(|function| (at.place(), function.place())));
        }
        if context.side != Side::Cpu {
            self.forbidden(at, context);
        }
        let in_print_arguments =
            context.in_print_arguments || found == kind::CALL && PRINTS.contains(&at.spelling().as_str());
        for child in at.children() {
            self.code(child, Context { in_print_arguments, ..context });
        }
    }

    /// Queues an instantiation of the user's templates for the traversal, once.
    fn queue_instantiation(&mut self, function: Option<Cursor>, context: Context) {
        let Some(function) = function.filter(|f| is_function(f.kind()) && !f.is_in_system_header()) else { return };
        let Some(key) = function.canonical().and_then(Cursor::hash) else { return };
        if self.seen.contains(&key) || !is_instantiation(function) {
            return;
        }
        self.seen.insert(key);
        let definition = function.definition().filter(|d| !d.is_null()).unwrap_or(function);
        // The operator of a generic lambda has the restriction of the code around it.
        let lambda = function.semantic_parent().is_some_and(|p| p.ty().is_some_and(is_lambda));
        self.pending_instantiations.push((definition, if lambda { context.side } else { Side::Cpu }));
    }
}

/// True if a function is declared by headers of the C++ library or of C++ AMP. These headers have other declarations for the host.
fn is_of_libraries(function: Cursor) -> bool {
    let mut outermost = None;
    let mut at = function.semantic_parent();
    while let Some(parent) = at.filter(|p| is_class(p.kind()) || is_function(p.kind()) || p.kind() == kind::NAMESPACE) {
        outermost = Some(parent).filter(|p| p.kind() == kind::NAMESPACE).or(outermost);
        at = parent.semantic_parent();
    }
    let library = |name: String| ["std", "__gnu_cxx", "Concurrency", "revamp"].contains(&name.as_str());
    function.is_in_system_header() && outermost.is_none_or(|namespace| library(namespace.spelling()))
}

/// The variables that are named in parts of the tree, but not in a sizeof, which only needs their types.
fn variables_in(mut stack: Vec<Cursor>) -> Vec<Cursor> {
    let mut all = Vec::new();
    while let Some(at) = stack.pop() {
        if at.kind() == kind::SIZE_OF {
            continue;
        }
        if matches!(at.kind(), kind::VARIABLE_REFERENCE | kind::DECLARATION_REFERENCE) {
            all.extend(at.referenced().filter(|v| matches!(v.kind(), kind::VARIABLE | kind::PARAMETER)));
        }
        stack.extend(at.children());
    }
    all
}
