//! What amp code must not do, found in Clang's tree: sections 2.1 to 2.4 of the C++ AMP specification.
//!
//! The walk enters the functions of the user's files, and from their calls the instantiations of the user's templates, whose
//! bodies Clang has with the types in place.

mod calls;
mod captures;
mod declarations;
mod statements;
mod views;

use super::libclang::{Cursor, Location, Type, Unit, kind};
use super::report::Finding;
use super::restrictions::Side;
use super::types::{Types, host_classes_in, is_class, is_function, is_lambda, is_owner, of_no_use, owner_in};
use crate::amp_warnings::AmpWarning;
use crate::diagnostics::Place;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the walk found.
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    pub(super) warnings: Vec<(AmpWarning, Finding)>,
    /// Where amp lambdas capture by reference, and `this`: whether that is refused.
    pub(super) captures: HashMap<Location, bool>,
    /// Why the kernel of a launch cannot be called, by the launch's file and line.
    pub(super) uncallable: HashMap<(String, u32), String>,
    pub(super) refused_host_classes: RefusedHostClasses,
    /// Where amp code names a function, and where that is declared.
    pub(super) chosen: BTreeSet<(Place, Place)>,
    /// Where functions are declared that are written restrict(cpu).
    pub(super) marked_cpu: HashSet<Place>,
    /// Where members of classes within amp code are declared that have the restriction of that code.
    pub(super) members_of_local_classes: HashSet<Place>,
}

/// The classes that only the host can use and of which a value was refused, by where their names stand: what is made of a template
/// stands where that does.
#[derive(Default)]
pub(super) struct RefusedHostClasses(HashSet<Place>);

impl RefusedHostClasses {
    fn add(&mut self, of: Type) {
        self.0.extend(host_classes_in(of).into_iter().map(definition_place));
    }

    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// The function is a member that only the host has, of such a class: the error about the class is enough.
    pub(super) fn explain(&self, callee: Cursor) -> bool {
        let class = callee.semantic_parent();
        let is_of_host = callee.is_virtual() || class.is_some_and(is_owner);
        is_of_host && class.is_some_and(|class| self.0.contains(&definition_place(class)))
    }
}

fn definition_place(class: Cursor) -> Place {
    class.definition().filter(|d| !d.is_null()).unwrap_or(class).place()
}

/// The same for each declaration of an entity.
fn key_of(declaration: Cursor) -> Option<u32> {
    declaration.canonical().and_then(Cursor::hash)
}

/// Where the walk is.
#[derive(Clone, Copy)]
struct Context {
    side: Side,
    /// The function around, for recursion.
    function: Option<u32>,
    /// Within the arguments of direct3d_printf and its like.
    prints: bool,
    /// Within what is made of a template.
    made: bool,
}

impl Context {
    /// Made of a template for both sides: it may be for the host alone.
    fn may_be_of_the_host(self) -> bool {
        self.made && self.side == Side::Both
    }
}

const OUTSIDE: Context = Context { side: Side::Cpu, function: None, prints: false, made: false };

/// Walks over a source. `strict`: refuses revamp's extensions too.
pub(super) fn findings(unit: &Unit, strict: bool) -> Found {
    let mut walk = Walk { strict, ..Walk::default() };
    for declaration in unit.cursor().children() {
        if !declaration.is_of_system() {
            walk.declaration(declaration, OUTSIDE);
        }
    }
    while let Some((function, side)) = walk.later.pop() {
        walk.function(function, Context { side, made: true, ..OUTSIDE });
    }
    walk.calls_across();
    walk.recursion();
    walk.labels();
    walk.found.sort_by(|a, b| a.place.cmp(&b.place));
    Found {
        findings: walk.found,
        warnings: walk.warnings,
        captures: walk.captures,
        uncallable: walk.uncallable,
        refused_host_classes: walk.refused_host_classes,
        chosen: walk.chosen,
        marked_cpu: walk.marked_cpu,
        members_of_local_classes: walk.members_of_local_classes,
    }
}

/// A launch whose kernel is written in it.
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
    /// Launches of lambdas in the function that is walked over.
    launches: Vec<Launch>,
    /// The errors that were reported, by file and line.
    reported: HashSet<(Place, String)>,
    captures: HashMap<Location, bool>,
    uncallable: HashMap<(String, u32), String>,
    refused_host_classes: RefusedHostClasses,
    /// The program's member functions that are defaulted.
    defaulted: HashMap<u32, Cursor>,
    /// Labels, and the functions that have them.
    labelled: Vec<(Option<u32>, Cursor)>,
    /// Functions whose 'goto' was refused.
    jumping: HashSet<Option<u32>>,
    /// The classes of lambdas, and for whom these are.
    lambdas: HashMap<u32, Side>,
    /// Where functions are declared that are written restrict(cpu).
    marked_cpu: HashSet<Place>,
    members_of_local_classes: HashSet<Place>,
    /// Functions that cpu code may call: what they belong to, and their names.
    of_cpu: HashSet<(String, String)>,
    /// Calls of amp functions by cpu code: refused where the name has no version for that.
    by_cpu: Vec<(Cursor, Cursor)>,
    /// Calls of cpu functions in what templates for both sides were made to: refused where amp code reaches them.
    if_reached: Vec<(u32, Cursor, Cursor)>,
    /// Calls of amp functions there: refused where cpu code reaches them.
    if_of_cpu: Vec<(u32, Cursor, Cursor)>,
    /// What cpu code calls.
    called_by_cpu: HashSet<u32>,
    /// Functions of amp code alone.
    amp: HashSet<u32>,
    /// Functions for both sides that are not made of a template, which their author promises to both.
    both: HashSet<u32>,
    /// Functions with the linkage of C.
    of_c: HashMap<String, Side>,
    chosen: BTreeSet<(Place, Place)>,
    /// Instantiations that were met.
    seen: HashSet<u32>,
    later: Vec<(Cursor, Side)>,
    /// The calls between functions of the amp side.
    calls: HashMap<u32, Vec<(u32, Cursor)>>,
}

/// It is made of a template.
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
        if place.line > 0 && self.reported.insert((Place { column: 0, ..place.clone() }, text.clone())) {
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

    /// A type that amp code uses.
    fn value(&mut self, at: Cursor, of: Type, what: &str, context: Context) {
        let may_be = context.may_be_of_the_host() || is_lambda(of);
        let is_reported = !may_be && (!self.strict || owner_in(of).is_some());
        if let Some(why) = of_no_use(of, 0).filter(|_| is_reported) {
            self.refused_host_classes.add(of);
            return self.refuse(at, format!("{what}: {why} (C3581)"));
        }
        if !self.strict {
            return;
        }
        if let Some(why) = self.types.of_value(of) {
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

    /// What no kernel can have.
    fn not_allowed(&mut self, at: Cursor, what: &str) {
        self.refuse(at, format!("{what} is not allowed in amp restricted code (C++ AMP, 2.4.3)"));
    }

    /// The same, with what to write instead.
    fn not_allowed_but(&mut self, at: Cursor, what: &str, instead: &str) {
        self.refuse(at, format!("{what} is not allowed in amp restricted code (C++ AMP, 2.4.3): {instead}"));
    }

    /// A statement or an expression with all that is in it.
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
            // Of a sizeof nothing is called, and the compiler alone looks at a static_assert.
            kind::SIZE_OF | kind::STATIC_ASSERT => return,
            kind::DECLARATION_REFERENCE | kind::MEMBER_REFERENCE => self.meets(at.referenced(), context),
            _ => {}
        }
        if context.side != Side::Cpu
            && [kind::CALL, kind::DECLARATION_REFERENCE, kind::MEMBER_REFERENCE].contains(&found)
        {
            let named = at.referenced().filter(|f| !f.is_null() && is_function(f.kind())).and_then(Cursor::canonical);
            let named = named.filter(|function| !is_of_libraries(*function));
            self.chosen.extend(named.map(|function| (at.place(), function.place())));
        }
        if context.side != Side::Cpu {
            self.forbidden(at, context);
        }
        let prints = context.prints || found == kind::CALL && PRINTS.contains(&at.spelling().as_str());
        for child in at.children() {
            self.code(child, Context { prints, ..context });
        }
    }

    /// An instantiation of the user's templates is walked over once.
    fn meets(&mut self, function: Option<Cursor>, context: Context) {
        let Some(function) = function.filter(|f| is_function(f.kind()) && !f.is_of_system()) else { return };
        let Some(key) = function.canonical().and_then(Cursor::hash) else { return };
        if self.seen.contains(&key) || !is_instantiation(function) {
            return;
        }
        self.seen.insert(key);
        let definition = function.definition().filter(|d| !d.is_null()).unwrap_or(function);
        // The operator of a generic lambda has the restriction around it.
        let lambda = function.semantic_parent().is_some_and(|p| p.ty().is_some_and(is_lambda));
        self.later.push((definition, if lambda { context.side } else { Side::Cpu }));
    }
}

/// Declared by the headers of the languages or of C++ AMP, which are other ones for the host.
fn is_of_libraries(function: Cursor) -> bool {
    let mut outermost = None;
    let mut at = function.semantic_parent();
    while let Some(parent) = at.filter(|p| is_class(p.kind()) || is_function(p.kind()) || p.kind() == kind::NAMESPACE) {
        outermost = Some(parent).filter(|p| p.kind() == kind::NAMESPACE).or(outermost);
        at = parent.semantic_parent();
    }
    let library = |name: String| ["std", "__gnu_cxx", "Concurrency", "revamp"].contains(&name.as_str());
    function.is_of_system() && outermost.is_none_or(|namespace| library(namespace.spelling()))
}

/// The variables that are named in parts of the tree; a sizeof only asks for their types.
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
