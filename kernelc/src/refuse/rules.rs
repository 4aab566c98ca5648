//! What amp code must not do, found in Clang's tree: sections 2.1 to 2.4 of the C++ AMP specification.
//!
//! The walk enters the functions of the user's files, and from their calls the instantiations of the user's templates, whose
//! bodies Clang has with the types in place.

use super::libclang::{Cursor, Location, Type, Unit, kind, ty};
use super::report::Finding;
use super::types::{
    Types, address_in, array_in, has_elements, host_classes_in, is_amp_only, is_array, is_c_array, is_callable,
    is_class, is_dependent, is_function, is_lambda, is_of_amp, is_owner, is_reference, of_no_use, of_the_host_in,
    owner_in, texture_in, texture_in_elements,
};
use super::wording::{amp_function_text, cpu_function_text, defaulted_text, uncallable};
use crate::diagnostics::Place;
use crate::files;
use revamp_source::tokens::{Clauses, Code, Restriction};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the walk found.
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
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

/// A member that the compiler makes of a class where the program declares none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpecialMember {
    DefaultConstructor,
    CopyConstructor,
    Assignment,
}

impl SpecialMember {
    /// Why amp code cannot have this member of a class: the cpu function of a member or base that it calls. `None` if it can.
    pub(super) fn lacks(self, class: Cursor) -> Option<String> {
        if class.kind() == kind::CLASS_TEMPLATE {
            return None;
        }
        let parts = class.children().into_iter().filter(|c| matches!(c.kind(), kind::BASE | kind::FIELD));
        parts.filter_map(|part| Some((part, part.ty()?.canonical().declaration()))).find_map(|(part, made)| {
            let members = made.definition().map(Cursor::children).unwrap_or_default();
            // One without a version for amp code.
            let host = |c: &&Cursor| {
                let is_version = |o: &&Cursor| self.is(**o, made) && same_parameters(**o, **c);
                self.is(**c, made) && !members.iter().filter(is_version).any(|o| is_callable(*o))
            };
            let found = members.iter().find(host)?;
            let name = part.spelling();
            let part = if part.kind() == kind::BASE { "base" } else { "member" };
            Some(format!("its {part} '{name}': '{}' is a cpu function", found.spelling()))
        })
    }

    /// The function is this member of the class.
    fn is(self, function: Cursor, class: Cursor) -> bool {
        let own = |of: Type| of.canonical().pointee().declaration().canonical() == class.canonical();
        let arguments = function.arguments();
        let takes_own = || arguments.len() == 1 && arguments[0].ty().is_some_and(own);
        match self {
            Self::DefaultConstructor => function.kind() == kind::CONSTRUCTOR && arguments.is_empty(),
            Self::CopyConstructor => function.kind() == kind::CONSTRUCTOR && takes_own(),
            Self::Assignment => function.kind() == kind::METHOD && function.spelling() == "operator=" && takes_own(),
        }
    }
}

/// The two have one name, and parameters of the same types.
fn same_parameters(a: Cursor, b: Cursor) -> bool {
    let types = |c: Cursor| -> Vec<String> {
        c.arguments().into_iter().filter_map(Cursor::ty).map(|of| of.canonical().spelling()).collect()
    };
    a.spelling() == b.spelling() && types(a) == types(b)
}

/// For whom a function is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Cpu,
    Amp,
    Both,
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
        captures: walk.captures,
        uncallable: walk.uncallable,
        refused_host_classes: walk.refused_host_classes,
        chosen: walk.chosen,
        marked_cpu: walk.marked_cpu,
        members_of_local_classes: walk.members_of_local_classes,
    }
}

#[derive(Default)]
struct Walk {
    strict: bool,
    types: Types,
    found: Vec<Finding>,
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
    /// Functions with the linkage of C.
    of_c: HashMap<String, Side>,
    chosen: BTreeSet<(Place, Place)>,
    /// Instantiations that were met.
    seen: HashSet<u32>,
    later: Vec<(Cursor, Side)>,
    /// The calls between functions of the amp side.
    calls: HashMap<u32, Vec<(u32, Cursor)>>,
}

/// The restriction that a declaration is written with.
fn written(children: &[Cursor]) -> Option<Side> {
    let has = |wanted| children.iter().any(|c| c.kind() == wanted && c.place().line > 0);
    match (has(kind::DEVICE_ATTRIBUTE), has(kind::HOST_ATTRIBUTE)) {
        (true, true) => Some(Side::Both),
        (true, false) => Some(Side::Amp),
        (false, true) => Some(Side::Cpu),
        (false, false) => None,
    }
}

/// The restriction that a function or its first declaration is written with: a definition outside of its class may leave it out.
pub(super) fn restriction(function: Cursor) -> Option<Side> {
    let of_first =
        || function.canonical().filter(|first| *first != function).and_then(|first| written(&first.children()));
    written(&function.children()).or_else(of_first)
}

/// The restriction that a lambda is written with.
pub(super) fn lambda_restriction(lambda: Cursor) -> Option<Side> {
    operator_of(lambda).and_then(|operator| written(&operator.children()))
}

/// A function of the compiler, as INFINITY and NAN call: it is declared where it is first called, and has no restriction.
fn is_builtin(function: Cursor) -> bool {
    function.spelling().starts_with("__builtin_")
}

/// Stands for any namespace.
const ANYWHERE: &str = "*";

/// What a function belongs to, and its name.
fn place_of(function: Cursor) -> (String, String) {
    let parents = std::iter::successors(function.semantic_parent(), |p| p.semantic_parent().filter(|n| !n.is_null()));
    let names =
        parents.take(16).take_while(|p| is_class(p.kind()) || p.kind() == kind::NAMESPACE).map(Cursor::spelling);
    (names.collect::<Vec<_>>().join("::"), function.spelling())
}

/// The operator of a lambda.
fn operator_of(lambda: Cursor) -> Option<Cursor> {
    let class = lambda.ty()?.declaration();
    class
        .children()
        .into_iter()
        .find(|c| matches!(c.kind(), kind::METHOD | kind::FUNCTION_TEMPLATE) && c.spelling() == "operator()")
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

/// What the standard library's C functions are called that only the host has. Others Clang knows by itself.
const OF_THE_HOST: [&str; 16] = [
    "printf", "fprintf", "sprintf", "snprintf", "puts", "putchar", "scanf", "malloc", "calloc", "realloc", "free",
    "rand", "srand", "time", "clock", "exit",
];

/// What Direct3D has for the tile_static variables of a tile.
const TILE_BYTES: u64 = 32 << 10;

const PRINTS: [&str; 3] = ["direct3d_printf", "direct3d_errorf", "direct3d_abort"];

/// Functions of the headers that are restrict(amp); on host threads they are for both sides.
fn is_of_kernels(function: Cursor) -> bool {
    let name = function.spelling();
    let is_named = name.starts_with("atomic_")
        || name.ends_with("_memory_fence")
        || PRINTS.contains(&name.as_str())
        || name == "wait" && function.semantic_parent().is_some_and(|p| p.spelling() == "tile_barrier");
    is_named && is_of_amp(function)
}

/// Arithmetic by an atomic operation that C++ AMP has for whole numbers alone.
fn is_atomic_of_floats(function: Cursor) -> bool {
    let of = || Some(function.arguments().first()?.ty()?.canonical().pointee().canonical().kind());
    function.spelling().starts_with("atomic_fetch_")
        && is_of_amp(function)
        && matches!(of(), Some(ty::FLOAT | ty::DOUBLE))
}

/// Members of textures and their views that read and write texels, which no host code can.
fn is_of_texels(function: Cursor) -> bool {
    let name = function.spelling();
    let is_named =
        ["get", "set", "sample", "operator[]", "operator()"].contains(&name.as_str()) || name.starts_with("gather_");
    let classes = ["texture", "texture_view", "writeonly_texture_view"];
    is_named
        && function.semantic_parent().is_some_and(|p| classes.contains(&p.spelling().as_str()))
        && is_of_amp(function)
}

/// What is wrong with a view that amp code makes of a texture: C++ AMP binds textures of one component for writing there, others
/// for reading.
fn wrong_view(constructor: Cursor) -> Option<String> {
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
    let one = element.kind() != ty::RECORD || ["norm", "unorm"].contains(&element.declaration().spelling().as_str());
    let wanted = if reads { "more components than one" } else { "one component" };
    (reads == one).then(|| {
        format!("amp code makes a '{name}' like this only of textures of {wanted}: make it in cpu code and capture it by value")
    })
}

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

    /// Functions with the linkage of C are one by their name.
    fn linkage(&mut self, at: Cursor) {
        if at.kind() != kind::FUNCTION || at.mangling() != at.spelling() {
            return;
        }
        let (name, side) = (at.spelling(), written(&at.children()).unwrap_or(Side::Cpu));
        if self.of_c.insert(name.clone(), side).is_some_and(|other| other != side) {
            self.refuse(at, format!("'{name}' is extern \"C\": such functions cannot differ by restriction alone"));
        }
    }

    fn function(&mut self, at: Cursor, around: Context) {
        let children = at.children();
        let own = restriction(at);
        if at.is_defaulted() {
            self.defaulted.extend(key_of(at).map(|key| (key, at)));
        }
        match own {
            Some(Side::Cpu) => drop(self.marked_cpu.insert(at.place())),
            None if around.side != Side::Cpu => drop(self.members_of_local_classes.insert(at.place())),
            _ => {}
        }
        let side = own.unwrap_or(around.side);
        let context = Context { side, function: key_of(at), prints: false, made: around.made };
        if side != Side::Amp {
            if at.kind() == kind::FUNCTION {
                self.of_cpu.insert((ANYWHERE.into(), at.spelling()));
            }
            self.of_cpu.insert(place_of(at));
        } else if let Some(key) = context.function {
            self.amp.insert(key);
        }
        let name = at.spelling();
        if side != Side::Cpu {
            let global = !at.semantic_parent().is_some_and(|p| is_class(p.kind()) || p.kind() == kind::NAMESPACE);
            if name == "main" && at.kind() == kind::FUNCTION && global {
                self.refuse(at, "'main' is a cpu function: it cannot be restrict(amp)".into());
            }
            if at.is_virtual() || overrides(at, at.semantic_parent(), 0) {
                self.refuse(
                    at,
                    format!("'{name}' is virtual: virtual functions cannot be restrict(amp) (C++ AMP, 2.4.2): write a template"),
                );
            }
            match at.kind() {
                kind::CONSTRUCTOR => self.unnamed_members(at, &children, context),
                kind::DESTRUCTOR => self.destroyed_parts(at, &children, context),
                _ => {}
            }
            self.declarator(at, &children, context);
        }
        if children.iter().any(|c| c.kind() == kind::COMPOUND) {
            for parameter in children.iter().filter(|c| c.kind() == kind::PARAMETER) {
                if let Some(of) = parameter.ty() {
                    self.destructor(*parameter, of, context);
                }
            }
        }
        for child in children {
            self.code(child, context);
        }
    }

    /// Parameters and result of an amp function, and the class that it is a member of.
    fn declarator(&mut self, at: Cursor, children: &[Cursor], context: Context) {
        let Some(whole) = at.ty() else { return };
        if whole.is_variadic() {
            self.refuse(
                at,
                format!("'{}' takes variable arguments, which amp functions cannot: write a template", at.spelling()),
            );
        }
        if !matches!(at.kind(), kind::CONSTRUCTOR | kind::DESTRUCTOR) {
            self.value(at, whole.result(), &format!("the result of '{}'", at.spelling()), context);
        }
        for parameter in children.iter().filter(|c| c.kind() == kind::PARAMETER) {
            let Some(of) = parameter.ty() else { continue };
            let what = format!("the parameter '{}'", parameter.spelling());
            if is_array(of) {
                self.refuse(
                    *parameter,
                    format!("{what} is an array by value ('{}'): refer to it by '&'", of.spelling()),
                );
            } else {
                self.value(*parameter, of, &what, context);
            }
        }
        if !self.strict {
            return;
        }
        if at.kind() == kind::METHOD
            && whole.spelling().rsplit(')').next().is_some_and(|tail| tail.contains("volatile"))
        {
            self.unsupported(
                at,
                &format!("the class of '{}'", at.spelling()),
                "it is volatile here, which amp code does not know",
            );
        }
        let class = at.semantic_parent().filter(|p| is_class(p.kind()) && p.kind() != kind::CLASS_TEMPLATE);
        let is_lambda = class.is_some_and(|class| class.spelling().is_empty() || class.spelling().contains("lambda"));
        if let Some(of) = class.and_then(Cursor::ty).filter(|_| !is_lambda && !at.is_static_method()) {
            if let Some(why) = self.types.of_class(of.canonical()) {
                self.unsupported(at, &format!("the class of '{}'", at.spelling()), &why);
            }
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

    fn variable(&mut self, at: Cursor, context: Context) {
        let children = at.children();
        let name = at.spelling();
        let has = |wanted| children.iter().any(|c| c.kind() == wanted && c.place().line > 0);
        if has(kind::DEVICE_ATTRIBUTE) || has(kind::HOST_ATTRIBUTE) {
            self.refuse(at, format!("'{name}' is a variable: only functions and lambdas have restrict(...)"));
        }
        let tile_static = has(kind::SHARED_ATTRIBUTE);
        if let Some(of) = at.ty() {
            if tile_static {
                self.tile_static(at, of, context);
            }
            if context.side != Side::Cpu && !is_lambda(of) {
                self.value(at, of, &format!("the variable '{name}'"), context);
            } else if self.strict && has_elements(of) {
                if let Some(why) = self.types.of_elements(of) {
                    self.unsupported(at, &format!("the variable '{name}'"), &why);
                }
            }
            self.texture_elements(at, of);
            self.function_pointer(at, of, &children, context);
            if context.side != Side::Cpu && !tile_static {
                // CX_SC_Extern and CX_SC_Static.
                let lasts = matches!(at.storage(), Some(2 | 3));
                if lasts && !of.canonical().is_const() || at.is_thread_local() {
                    let what = format!("'{name}': a static, thread_local or extern variable");
                    self.not_allowed_but(at, &what, "keep the value in an array_view");
                } else if lasts && variables_in(children.clone()).into_iter().any(varies) {
                    self.not_allowed(at, &format!("'{name}': a static variable that is not a constant"));
                }
            }
            self.destructor(at, of, context);
        }
        for child in children {
            self.code(child, context);
        }
    }

    /// Textures and their views are no elements (TEX-30). The headers see only elements that are such themselves.
    fn texture_elements(&mut self, at: Cursor, of: Type) {
        let Some(path) = texture_in_elements(of) else { return };
        let found = match path.strip_prefix('.') {
            None => "are textures or views of textures".to_owned(),
            Some(member) => format!("hold a texture or a view of one in '{member}'"),
        };
        self.refuse(at, format!("'{}': its elements {found}: capture views by value, not in arrays", at.spelling()));
    }

    /// A pointer to a function takes those alone that may be called as it says.
    fn function_pointer(&mut self, at: Cursor, of: Type, children: &[Cursor], context: Context) {
        let of = of.canonical();
        if of.kind() != ty::POINTER || of.pointee().canonical().kind() != ty::FUNCTION {
            return;
        }
        // Clang's type has no restriction: the line has.
        let place = at.place();
        let line = files::text_of(&place.file);
        let line = line.lines().nth(place.line as usize - 1).unwrap_or_default().to_owned();
        let code = Code::read(&line);
        let clauses = Clauses::default();
        let restrictions: Vec<Restriction> =
            (0..code.tokens.len()).filter_map(|n| clauses.at(&code, n)).map(|(_, found)| found).collect();
        let wanted = match restrictions.as_slice() {
            [] if context.side == Side::Cpu && !place.file.is_empty() => Restriction { amp: false, cpu: true },
            [one] => *one,
            _ => return,
        };
        let mut last = children.last().copied();
        while let Some(inner) = last.filter(|c| c.kind() != kind::DECLARATION_REFERENCE) {
            last = inner.children().last().copied();
        }
        let Some(function) = last.and_then(Cursor::referenced).filter(|f| f.kind() == kind::FUNCTION) else { return };
        if wanted.cpu && is_amp_only(function) {
            self.by_cpu.push((at, function));
        } else if wanted.amp && !is_callable(function) {
            self.cpu_function(at, function, context.function);
        }
    }

    fn tile_static(&mut self, at: Cursor, of: Type, context: Context) {
        let name = at.spelling();
        if context.side == Side::Cpu {
            let text = format!(
                "'{name}': tile_static variables exist in amp code only: put it into the kernel, or into a function that is \
                 restrict(amp)"
            );
            self.refuse(at, text);
        }
        if context.side == Side::Both && !context.made {
            let text = format!(
                "'{name}': tile_static variables exist in amp code only, and this function is restrict(cpu) too"
            );
            self.refuse(at, text.replace("revamp_room_", ""));
        }
        let most = if self.strict { TILE_BYTES } else { 2 * TILE_BYTES };
        if let Some(size) = of.size().filter(|size| *size > most) {
            let text = format!(
                "'{name}' takes {size} bytes: the tile_static variables of a tile have {TILE_BYTES} bytes in C++ AMP, devices have \
                 little more; make it smaller, or use an array_view"
            );
            self.refuse(at, text.replace("revamp_room_", ""));
        }
        let mut inner = of.canonical();
        if let Some(value) = inner.fields().first().filter(|_| name.starts_with("revamp_room_")) {
            inner = value.ty().map_or(inner, Type::canonical);
        }
        while (ty::ARRAY..=ty::ARRAY_WITHOUT_LENGTH).contains(&inner.kind()) {
            inner = inner.element().canonical();
        }
        if texture_in(inner).is_some() {
            let text =
                format!("'{name}': tile_static variables cannot hold textures or views of textures: keep texels");
            self.refuse(at, text.replace("revamp_room_", ""));
        } else if is_array(inner) {
            let text = format!("'{name}': tile_static variables cannot be arrays of C++ AMP: write T name[N]");
            self.refuse(at, text.replace("revamp_room_", ""));
        }
        if address_in(inner, 0).is_some() {
            let text = format!(
                "'{name}': tile_static variables cannot be pointers or references ('{}'): keep an offset, or the data itself",
                inner.spelling()
            );
            self.refuse(at, text.replace("revamp_room_", ""));
        }
    }

    /// The destructor of a local variable is called, and must be for where that is.
    fn destructor(&mut self, at: Cursor, of: Type, context: Context) {
        let mut of = of.canonical();
        while is_c_array(of) {
            of = of.element().canonical();
        }
        let class = of.declaration();
        // Members of a local class have the restriction of the function around it.
        let local = class.semantic_parent().is_some_and(|p| is_function(p.kind()));
        if of.kind() != ty::RECORD || local || is_of_amp(class) || class.is_of_system() {
            return;
        }
        let Some(destructor) = destructor_of(class, 0) else { return };
        match (context.side, written(&destructor.children())) {
            (Side::Cpu, Some(Side::Amp)) => {
                self.amp_function(at, destructor);
            }
            (Side::Amp | Side::Both, _) if !is_callable(destructor) => {
                self.cpu_function(at, destructor, context.function)
            }
            _ => {}
        }
    }

    /// Members that a constructor does not name are made by constructors of theirs.
    fn unnamed_members(&mut self, at: Cursor, children: &[Cursor], context: Context) {
        let Some(class) = at.semantic_parent().filter(|p| is_class(p.kind()) && p.kind() != kind::CLASS_TEMPLATE)
        else {
            return;
        };
        let named: Vec<String> =
            children.iter().filter(|c| c.kind() == kind::MEMBER_INITIALIZER).map(|c| c.spelling()).collect();
        let has_body = children.iter().any(|c| c.kind() == kind::COMPOUND);
        for field in class.children().into_iter().filter(|c| has_body && c.kind() == kind::FIELD) {
            let is_named = named.contains(&field.spelling());
            let initializer = field.children().into_iter().find(|c| c.kind() >= 100 && c.kind() < kind::LABEL);
            if let Some(initializer) = initializer.filter(|_| !is_named) {
                self.code(initializer, context);
                continue;
            }
            let Some(of) = field.ty().map(Type::canonical).filter(|of| of.kind() == ty::RECORD) else { continue };
            let made = of.declaration();
            if is_named || made.is_of_system() {
                continue;
            }
            let makes = made.definition().map(Cursor::children).unwrap_or_default();
            let is_default = |c: &Cursor| c.kind() == kind::CONSTRUCTOR && c.arguments().is_empty();
            if let Some(constructor) = makes.into_iter().find(is_default).filter(|c| !is_callable(*c)) {
                self.cpu_function(at, constructor, context.function);
            }
        }
    }

    /// A destructor calls those of the members and bases.
    fn destroyed_parts(&mut self, at: Cursor, children: &[Cursor], context: Context) {
        let class = at.semantic_parent().filter(|p| is_class(p.kind()) && p.kind() != kind::CLASS_TEMPLATE);
        let has_body = children.iter().any(|c| c.kind() == kind::COMPOUND);
        let Some(class) = class.filter(|_| has_body && !context.may_be_of_the_host()) else { return };
        let parts = class.children().into_iter().filter(|c| matches!(c.kind(), kind::BASE | kind::FIELD));
        for of in parts.filter_map(Cursor::ty) {
            self.destructor(at, of, context);
        }
    }

    /// A call of a cpu function, in the function `within`.
    fn cpu_function(&mut self, at: Cursor, callee: Cursor, within: Option<u32>) {
        // Clang refuses a call of a deleted function.
        if callee.is_deleted() {
            return;
        }
        // The call in the compiler's definition of a defaulted function is an error at that function. A member of a class that
        // only the host can use was refused with the class.
        if let Some(defaulted) = within.and_then(|key| self.defaulted.get(&key)).copied() {
            self.refuse(defaulted, defaulted_text(defaulted, callee));
        } else if !self.refused_host_classes.explain(callee) {
            self.refuse(at, cpu_function_text(callee));
        }
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

    /// What amp code has not, by itself.
    fn forbidden(&mut self, at: Cursor, context: Context) {
        match at.kind() {
            kind::GOTO | kind::COMPUTED_GOTO => {
                self.jumping.insert(context.function);
                self.not_allowed_but(at, "'goto'", "write a loop, 'break' or 'return'");
            }
            kind::LABEL => self.labelled.push((context.function, at)),
            kind::ADDRESS_OF_LABEL => self.not_allowed(at, "a label"),
            kind::ASSEMBLY | kind::MS_ASSEMBLY => self.not_allowed_but(at, "'asm'", "write it in C++"),
            kind::THROW => self.not_allowed_but(at, "'throw'", "store an error code that cpu code reads"),
            kind::TRY | kind::CATCH => self.not_allowed_but(at, "'try'", "nothing in amp code throws"),
            kind::TYPEID => self.not_allowed_but(at, "'typeid'", "write a template"),
            kind::DYNAMIC_CAST => self.not_allowed_but(at, "'dynamic_cast'", "write a template"),
            kind::NEW => self.not_allowed_but(at, "'new'", "use a local array of constant length, or an array_view"),
            kind::DELETE => self.not_allowed_but(at, "'delete'", "amp code allocates no memory"),
            kind::STRING if !context.prints && !at.is_from_macro() => {
                let what = "a string other than a format of direct3d_printf, direct3d_errorf";
                self.not_allowed_but(at, what, "write an array of int");
            }
            kind::C_CAST | kind::STATIC_CAST | kind::REINTERPRET_CAST | kind::FUNCTIONAL_CAST => {
                self.cast(at, context);
            }
            kind::DECLARATION_REFERENCE => self.global(at, context),
            kind::BINARY | kind::CONDITIONAL if !context.may_be_of_the_host() || self.strict => {
                self.chooses_function(at);
            }
            kind::INTEGER | kind::FLOATING | kind::CHARACTER if !at.is_from_macro() => {
                // Narrow characters are numbers to everybody.
                if let Some(of) = at.ty().filter(|of| of.kind() != ty::CHAR) {
                    self.value(at, of, "the literal", context);
                }
            }
            _ => {}
        }
    }

    /// Pointers to functions that are compared, or of which one is taken.
    fn chooses_function(&mut self, at: Cursor) {
        let function = |of: Type| of.kind() == ty::FUNCTION || of.pointee().canonical().kind() == ty::FUNCTION;
        let is_function = |c: Cursor| c.ty().is_some_and(|of| function(of.canonical()));
        // What stands before a comma is not used.
        if at.children().last().is_some_and(|last| is_function(*last)) {
            self.not_allowed_but(at, "a pointer to a function", "give a lambda or a functor to a template");
        }
    }

    fn cast(&mut self, at: Cursor, context: Context) {
        let Some(to) = at.ty() else { return };
        self.value(at, to, "the cast", context);
        let mut inner = at.children().into_iter().rfind(|c| c.ty().is_some_and(|of| of.kind() != 0));
        let Some(from) = inner.and_then(Cursor::ty).map(Type::canonical) else { return };
        let number = |of: Type| (ty::FIRST_NUMBER..=ty::LAST_INTEGER).contains(&of.kind());
        let pointer = |of: Type| of.kind() == ty::POINTER;
        let function = |of: Type| of.kind() == ty::FUNCTION || of.pointee().canonical().kind() == ty::FUNCTION;
        let to = to.canonical();
        if context.may_be_of_the_host() && !self.strict {
            return;
        }
        if function(from) && to.kind() != ty::VOID && to.kind() != ty::BOOL {
            let instead = "give a lambda or a functor to a template";
            return self.not_allowed_but(at, "a cast of a function or of a pointer to one", instead);
        }
        if number(to) && pointer(from) && to.kind() != ty::BOOL || pointer(to) && number(from) {
            while let Some(next) = inner.and_then(|c| c.children().last().copied()) {
                inner = Some(next);
            }
            let what = "a cast between a pointer and a number";
            // 0 is a pointer to nothing.
            if inner.is_some_and(|c| matches!(c.kind(), kind::INTEGER | kind::NULL)) {
                self.extension(at, what);
            } else {
                self.not_allowed_but(at, what, "keep the index of the element");
            }
        }
    }

    /// A variable of the program.
    fn global(&mut self, at: Cursor, context: Context) {
        let Some(variable) = at.referenced().filter(|v| v.kind() == kind::VARIABLE) else { return };
        let Some(parent) = variable.semantic_parent() else { return };
        let Some(of) = variable.ty().map(Type::canonical) else { return };
        if is_function(parent.kind()) || is_of_amp(variable) {
            return;
        }
        let name = variable.spelling();
        if of.is_const() && of.kind() == ty::RECORD || is_c_array(of) {
            return self.extension(at, &format!("'{name}': a global variable other than a number that is constant"));
        }
        // Of what is not evaluated only the type is asked for.
        if of.is_const() || variable.place().file.is_empty() || is_unevaluated(at) {
            return;
        }
        if is_reference(of) && !of.pointee().is_const() {
            return self.not_allowed(at, &format!("'{name}': a reference of the program"));
        }
        let what = format!("'{name}': a global variable that is not a constant");
        if context.may_be_of_the_host() {
            self.extension(at, &what);
        } else if variable.is_of_system() && ["cout", "cerr", "clog"].contains(&name.as_str()) {
            self.not_allowed_but(at, &what, "write direct3d_printf");
        } else if variable.is_of_system() {
            self.not_allowed(at, &what);
        } else {
            self.not_allowed_but(at, &what, "copy it into a local variable that the kernel captures, or pass it");
        }
    }

    fn call(&mut self, at: Cursor, context: Context) {
        let Some(callee) = at.referenced().filter(|c| !c.is_null()) else { return };
        if callee.spelling() == "parallel_for_each" && is_of_amp(callee) {
            self.launch(at);
        }
        self.meets(Some(callee), context);
        if !is_function(callee.kind()) {
            return;
        }
        let parent = callee.semantic_parent();
        let in_class = parent.is_some_and(|p| is_class(p.kind()));
        let operator = callee.spelling() == "operator()";
        let lambda = parent.filter(|p| operator && p.ty().is_some_and(is_lambda)).and_then(Cursor::hash);
        let lambda = lambda.and_then(|class| self.lambdas.get(&class)).copied();
        // Clang calls a lambda of the other side's code by what it makes a pointer to a function of.
        if callee.kind() == kind::CONVERSION {
            let class = parent.filter(|p| p.ty().is_some_and(is_lambda)).and_then(Cursor::hash);
            let of = class.and_then(|class| self.lambdas.get(&class)).copied();
            if context.side != Side::Amp && of == Some(Side::Amp) {
                let text = "the lambda is restrict(amp), and cpu code calls it (C3930): write restrict(amp, cpu)";
                return self.refuse(at, text.into());
            }
            if context.side != Side::Cpu && !context.made && of == Some(Side::Cpu) {
                let text = "the lambda is restrict(cpu), and amp code calls it (C3930): write restrict(amp, cpu)";
                return self.refuse(at, text.into());
            }
        }
        if context.side != Side::Cpu && is_atomic_of_floats(callee) {
            self.extension(at, &format!("'{}' of floating numbers", callee.spelling()));
        }
        if context.side == Side::Amp {
            if let Some(why) = wrong_view(callee) {
                self.refuse(at, why);
            }
        } else {
            // A template for both sides may be made for what amp code alone has, and be called there alone.
            let of_argument = context.made && context.side == Side::Both && in_class && !self.strict;
            // What the compiler makes of a class stands where the class does; there may be one for each side.
            let implicit = parent.is_some_and(|p| p.place() == callee.place());
            // By `using` a function for both sides may have one of another namespace for the host.
            let used = context.side == Side::Both
                && callee.kind() == kind::FUNCTION
                && self.of_cpu.contains(&(ANYWHERE.into(), callee.spelling()));
            if is_amp_only(callee) && !implicit && !callee.is_of_system() && !used {
                match context.function.filter(|_| of_argument) {
                    Some(from) => self.if_of_cpu.push((from, at, callee)),
                    None => self.by_cpu.push((at, callee)),
                }
            }
            // revamp's atomics also work in cpu code; what wants a tile has none there.
            let name = callee.spelling();
            let of_tiles = context.side == Side::Cpu && (name.ends_with("_memory_fence") || name == "wait");
            let of_tiles = of_tiles || context.side == Side::Cpu && PRINTS.contains(&name.as_str());
            let of_kernels = (self.strict || of_tiles) && is_of_kernels(callee) || is_of_texels(callee);
            if of_kernels && (context.side == Side::Cpu || !context.made) {
                self.refuse(at, format!("'{name}' is for amp code alone, and cpu code calls it (C3930)"));
            }
            if context.side == Side::Cpu {
                self.called_by_cpu.extend(callee.canonical().and_then(Cursor::hash));
                return;
            }
        }
        if let (Some(from), Some(to)) = (context.function, callee.canonical().and_then(Cursor::hash)) {
            self.calls.entry(from).or_default().push((to, at));
        }
        // Clang takes an unmarked lambda for both sides.
        let cpu_lambda = lambda == Some(Side::Cpu);
        if !cpu_lambda && is_callable(callee) || callee.place().line == 0 || is_builtin(callee) {
            let of_library = callee.is_of_system() && !is_of_amp(callee) && !callee.spelling().starts_with("__");
            let is_plain = callee.kind() == kind::FUNCTION || callee.is_static_method();
            if self.strict && of_library && is_plain && !at.is_from_macro() {
                self.cpu_function(at, callee, context.function);
            }
            return;
        }
        let mut parents =
            std::iter::successors(callee.lexical_parent(), |p| p.lexical_parent().filter(|n| !n.is_null()));
        let local = !cpu_lambda
            && parents.by_ref().take(32).any(|p| is_function(p.kind()))
            && written(&callee.children()) != Some(Side::Cpu);
        let of_library = callee.is_of_system();
        let cxx = in_class || parent.is_some_and(|p| p.kind() == kind::NAMESPACE);
        if local || of_library && !cxx && !OF_THE_HOST.contains(&callee.spelling().as_str()) {
            return;
        }
        // A template for both sides may be made for a class of the host, and be called by the host alone.
        match context.function {
            Some(from) if context.made && context.side == Side::Both && in_class && !self.strict => {
                self.if_reached.push((from, at, callee));
            }
            _ => self.cpu_function(at, callee, context.function),
        }
    }

    /// Calls that are wrong by what other functions there are, or by who calls the caller.
    fn calls_across(&mut self) {
        // What only amp code can call leads to nothing that cpu code calls.
        let of_cpu =
            self.reached(self.called_by_cpu.difference(&self.amp).copied().collect(), |to| !self.amp.contains(to));
        let made = std::mem::take(&mut self.if_of_cpu).into_iter().filter(|(from, ..)| of_cpu.contains(from));
        self.by_cpu.extend(made.map(|(_, at, callee)| (at, callee)));
        for (at, callee) in std::mem::take(&mut self.by_cpu) {
            if !self.of_cpu.contains(&place_of(callee)) {
                self.amp_function(at, callee);
            }
        }
        let reached = self.reached(self.amp.clone(), |_| true);
        for (from, at, callee) in std::mem::take(&mut self.if_reached) {
            if reached.contains(&from) {
                self.cpu_function(at, callee, Some(from));
            }
        }
    }

    /// These functions and what they call of what is wanted.
    fn reached(&self, mut found: HashSet<u32>, wanted: impl Fn(&u32) -> bool) -> HashSet<u32> {
        let mut stack: Vec<u32> = found.iter().copied().collect();
        while let Some(at) = stack.pop() {
            let next = self.calls.get(&at).into_iter().flatten().map(|(to, _)| *to);
            stack.extend(next.filter(|to| wanted(to) && found.insert(*to)));
        }
        found
    }

    fn amp_function(&mut self, at: Cursor, callee: Cursor) {
        self.refuse(at, amp_function_text(&callee.spelling()));
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

    /// The functor that a launch is given.
    fn launch(&mut self, at: Cursor) {
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
                // Clang takes an unmarked lambda for both sides.
                if operator.is_some_and(|o| written(&o.children()).is_none()) {
                    let text =
                        "the kernel is a cpu function: write restrict(amp) behind the parameters of the lambda (C3930)";
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
            self.meets(kernel.copied(), OUTSIDE);
            let held =
                address_in(of, 0).or_else(|| Some((array_in(of, 0)?, "an array or a texture by value".to_owned())));
            if let Some((path, what)) = held {
                let member = path.strip_prefix('.').unwrap_or(&path);
                self.refuse(
                    argument,
                    format!(
                        "the kernel's functor '{}' holds {what} in '{member}': kernels reach memory by array_view, or by references \
                         to array or texture",
                        of.spelling()
                    ),
                );
            }
        }
    }

    fn lambda(&mut self, at: Cursor, around: Context) {
        let operator = operator_of(at);
        let side = lambda_restriction(at).unwrap_or(around.side);
        let function = operator.and_then(Cursor::canonical).and_then(Cursor::hash);
        let context = Context { side, function, prints: false, made: around.made };
        if let Some(class) = at.ty().map(Type::declaration).and_then(Cursor::hash) {
            self.lambdas.insert(class, side);
        }
        if side == Side::Amp {
            self.amp.extend(function);
        }
        if let Some(closure) = at.ty().filter(|_| side != Side::Cpu) {
            self.captures(at, closure, around);
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

    fn captures(&mut self, at: Cursor, closure: Type, around: Context) {
        let variables = captured(at);
        self.references(at, closure, around);
        for field in closure.canonical().fields() {
            let Some(of) = field.ty() else { continue };
            let name = name_of(of, &variables);
            let inside = around.side != Side::Cpu;
            let is_allowed = inside && !self.strict;
            if is_reference(of) {
                // What depends on a template's parameter is judged where that is known.
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
            } else if let Some((why, instead)) = owner_in(of).filter(|_| !inside) {
                self.refused_host_classes.add(of);
                self.refuse(at, format!("{name} is captured, and {why}: {NOT_CAPTURED}; {instead}"));
            } else if !inside && is_this(of, &variables_in(at.children())) {
                self.captures.insert(field.location(), true);
                let text = "'this' is captured: by-reference capture or 'this' capture is unsupported if the lambda is amp \
                            restricted (C3590); copy the members that the kernel needs into local variables";
                self.refuse(at, text.into());
            } else if let Some(path) = array_in(of, 0).filter(|_| !inside && !is_lambda(of)) {
                let held = if path.is_empty() { "is".to_owned() } else { format!("holds in '{}'", &path[1..]) };
                let text = format!(
                    "{name} is captured and {held} an array or a texture by value: kernels reach these by reference ('&'), and \
                     classes keep views"
                );
                self.refuse(at, text);
            } else if let Some((path, what)) = address_in(of, 0).filter(|_| !inside && !is_lambda(of)) {
                let whose = if path.is_empty() { "is".into() } else { format!("holds in '{}'", &path[1..]) };
                let function = of.canonical().pointee().canonical().kind() == ty::FUNCTION;
                let instead = if function { "give a lambda or a functor to a template" } else { "use an array_view" };
                let text = format!("{name} is captured and {whose} {what}: {NOT_CAPTURED}; {instead}");
                self.refuse(at, text);
            } else if let Some(why) = of_the_host_in(of, 0).filter(|_| !inside && !is_lambda(of)) {
                self.refused_host_classes.add(of);
                self.refuse(
                    at,
                    format!("{name} is captured, and {why}: {NOT_CAPTURED}; make a class of the data alone"),
                );
            } else if let Some(why) = of_no_use(of, 0).filter(|_| !self.strict && !inside && !is_lambda(of)) {
                self.refuse(at, format!("{name} is captured: {why}: {NOT_CAPTURED}"));
            } else if self.strict && !is_lambda(of) {
                if let Some(why) = self.types.of_data(of) {
                    self.unsupported(at, &format!("{name}, which is captured"), &why);
                }
            }
        }
    }

    /// What a lambda captures by reference, in one error.
    fn references(&mut self, at: Cursor, closure: Type, around: Context) {
        if around.side != Side::Cpu && !self.strict {
            return;
        }
        let place = at.place();
        let mut variables = captured(at);
        // What `[&]` captures is only named in the body.
        variables.extend(variables_in(at.children()).into_iter().filter(|v| v.place() < place));
        let mut names: Vec<String> = Vec::new();
        let mut owner = None;
        let types = closure.canonical().fields().into_iter().filter_map(Cursor::ty);
        for of in types.filter(|of| is_reference(*of) && !is_dependent(*of) && !is_array(of.canonical().pointee())) {
            if let Some(found) = owner_in(of) {
                self.refused_host_classes.add(of);
                owner.get_or_insert(found);
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

    /// Labels are refused where no 'goto' was.
    fn labels(&mut self) {
        for (function, label) in std::mem::take(&mut self.labelled) {
            if !self.jumping.contains(&function) {
                self.not_allowed(label, "a label");
            }
        }
    }

    /// Functions of the amp side that call themselves.
    fn recursion(&mut self) {
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
                self.not_allowed_but(call, &format!("'{}': recursion", call.spelling()), "write a loop");
            }
        }
    }
}

const NOT_CAPTURED: &str = "variable captured has an unsupported type in lambda that is amp restricted (C3596)";

/// A variable's name as `references` begins the text of a capture.
fn quoted(variable: Cursor) -> String {
    format!("'{}' ", variable.spelling())
}

/// True if a captured field is the pointer `this`: a pointer to a class, and the lambda names no variable of that type.
fn is_this(field: Type, variables: &[Cursor]) -> bool {
    let plain = |of: Type| of.canonical().spelling().trim_end_matches("const").trim_end().to_owned();
    let of = field.canonical();
    let is_pointer = of.kind() == ty::POINTER && of.pointee().canonical().kind() == ty::RECORD;
    is_pointer && !variables.iter().filter_map(|v| v.ty()).any(|other| plain(other) == plain(of))
}

/// A base of the class has a virtual function of the method's name and parameters.
fn overrides(method: Cursor, class: Option<Cursor>, depth: u32) -> bool {
    if method.kind() != kind::METHOD || depth > 8 {
        return false;
    }
    let parts = class.and_then(Cursor::definition).map(Cursor::children).unwrap_or_default();
    let bases = parts.into_iter().filter(|c| c.kind() == kind::BASE);
    bases.filter_map(Cursor::ty).map(|of| of.canonical().declaration()).any(|base| {
        let members = base.definition().map(Cursor::children).unwrap_or_default();
        members.into_iter().any(|m| m.is_virtual() && same_parameters(m, method))
            || overrides(method, Some(base), depth + 1)
    })
}

/// The destructor of a class, or the first of its members' and bases'.
fn destructor_of(class: Cursor, depth: u32) -> Option<Cursor> {
    if class.is_of_system() || depth > 8 {
        return None;
    }
    let children = class.definition().map(Cursor::children).unwrap_or_default();
    let own = children.iter().find(|c| c.kind() == kind::DESTRUCTOR);
    own.copied().or_else(|| {
        let parts = children.into_iter().filter(|c| matches!(c.kind(), kind::BASE | kind::FIELD));
        parts.filter_map(Cursor::ty).find_map(|of| destructor_of(of.canonical().declaration(), depth + 1))
    })
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

/// Its line names it within `decltype(...)` or `noexcept(...)`, which the tree does not tell. Clang may have read a copy of the
/// source, with other columns.
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

/// A parameter, or a variable that is neither a constant nor a reference.
fn varies(variable: Cursor) -> bool {
    let of = variable.ty().map(Type::canonical);
    variable.kind() == kind::PARAMETER || of.is_some_and(|of| !of.is_const() && !is_reference(of) && !is_c_array(of))
}

/// The variables that a lambda captures: those of the capture list come before its parameters and its body.
fn captured(lambda: Cursor) -> Vec<Cursor> {
    let before =
        lambda.children().into_iter().take_while(|c| c.kind() != kind::PARAMETER && c.kind() != kind::COMPOUND);
    variables_in(before.collect())
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

/// How a member of a closure is called in a message. The tree does not tell which variable it holds, but its type does.
fn name_of(field: Type, variables: &[Cursor]) -> String {
    let plain = |of: Type| {
        let of = of.canonical();
        let of = if is_reference(of) { of.pointee().canonical() } else { of };
        of.spelling().trim_start_matches("const ").trim_end_matches("const").trim_end().to_owned()
    };
    let wanted = plain(field);
    let fits = |v: &&Cursor| v.ty().is_some_and(|of| plain(of) == wanted);
    variables.iter().find(fits).map_or_else(|| "a variable".into(), |v| format!("'{}'", v.spelling()))
}
