//! Rules of declarations: functions, parameters, results, variables, destructors.

use super::calls::{ANY_NAMESPACE, scope_and_name};
use super::{Context, Walk, key_of, variables_in};
use crate::files;
use crate::refuse::libclang::{Cursor, Type, kind, ty};
use crate::refuse::restrictions::{Side, restriction, written_restriction};
use crate::refuse::special_members::{
    callable_without_arguments, initializer_of, is_constructor_template, same_parameters,
};
use crate::refuse::types::{
    address_in, has_elements, is_amp_only, is_array, is_c_array, is_callable, is_class, is_function, is_lambda,
    is_of_amp, is_reference, texture_in, texture_in_elements, view_in,
};
use crate::source_rewrite::UNION_PREFIX;
use revamp_source::tokens::{Clauses, Code, Restriction};

impl Walk {
    /// Checks a function with C linkage. All declarations with its name declare the same function.
    pub(super) fn linkage(&mut self, at: Cursor) {
        if at.kind() != kind::FUNCTION || at.mangling() != at.spelling() {
            return;
        }
        let (name, side) = (at.spelling(), written_restriction(&at.children()).unwrap_or(Side::Cpu));
        if self.c_functions.insert(name.clone(), side).is_some_and(|other| other != side) {
            self.refuse(
                at,
                format!("'{name}' is extern \"C\": such functions cannot differ only in their restrictions"),
            );
        } else if self.strict && side == Side::Both {
            let why = "functions with more than one restriction cannot have the linkage of C (C++ AMP, 2.4.2)";
            self.refuse(at, format!("'{name}' is extern \"C\": {why}"));
        }
    }

    pub(super) fn function(&mut self, at: Cursor, outer: Context) {
        let children = at.children();
        let own = restriction(at);
        if at.is_defaulted() {
            self.defaulted.extend(key_of(at).map(|key| (key, at)));
        }
        match own {
            Some(Side::Cpu) => drop(self.marked_cpu.insert(at.place())),
            None if outer.side != Side::Cpu => drop(self.members_of_local_classes.insert(at.place())),
            _ => {}
        }
        let side = own.unwrap_or(outer.side);
        let context =
            Context { side, function: key_of(at), in_print_arguments: false, in_instantiation: outer.in_instantiation };
        if side != Side::Amp {
            if at.kind() == kind::FUNCTION {
                self.of_cpu.insert((ANY_NAMESPACE.into(), at.spelling()));
            }
            self.of_cpu.insert(scope_and_name(at));
        } else if let Some(key) = context.function {
            self.amp.insert(key);
        }
        if side == Side::Both && !context.in_instantiation {
            self.both_sides.extend(context.function);
        }
        let name = at.spelling();
        if at.kind() == kind::DESTRUCTOR && self.strict {
            self.check_constructor_restrictions(at, outer.side);
        }
        if side != Side::Cpu {
            let global = !at.semantic_parent().is_some_and(|p| is_class(p.kind()) || p.kind() == kind::NAMESPACE);
            if name == "main" && at.kind() == kind::FUNCTION && global {
                self.refuse(at, "'main' is a cpu function: it cannot be restrict(amp)".into());
            }
            if at.is_virtual() || overrides(at, at.semantic_parent(), 0) {
                self.refuse(
                    at,
                    format!("'{name}' is virtual: virtual functions cannot be restrict(amp) (C++ AMP, 2.4.2); write a template"),
                );
            }
            match at.kind() {
                kind::CONSTRUCTOR => self.members_without_initializer(at, &children, context),
                kind::DESTRUCTOR => self.destroyed_parts(at, &children, context),
                _ => {}
            }
            if self.strict && at.has_dynamic_exceptions() {
                let text = format!(
                    "'{name}' has an exception specification, which amp functions cannot have (C++ AMP, 2.4.2); write \
                     noexcept"
                );
                self.refuse(at, text);
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
        let launches = self.launches.len();
        for child in children {
            self.code(child, context);
        }
        if self.launches.len() > launches {
            self.unsynchronized(at, launches);
        }
    }

    /// A class has a single destructor, which must have the restrictions of all constructors. An implicit destructor
    /// has the restrictions that its parts allow.
    fn check_constructor_restrictions(&mut self, destructor: Cursor, outer: Side) {
        let Some(class) = destructor.lexical_parent().filter(|parent| is_class(parent.kind())) else { return };
        if destructor.is_defaulted() || destructor.is_deleted() {
            return;
        }
        let side = |function: Cursor| restriction(function).unwrap_or(outer);
        let own = side(destructor);
        let lacks = |c: &Cursor| {
            (c.kind() == kind::CONSTRUCTOR || is_constructor_template(*c, class))
                && !c.is_deleted()
                && !c.is_defaulted()
                && own != Side::Both
                && side(*c) != own
        };
        let Some(constructor) = class.children().into_iter().find(lacks) else { return };
        let text = format!(
            "'{}' lacks a restriction that '{}' has: a destructor needs the restrictions of all constructors (C++ AMP, \
             2.2.2); write restrict(amp, cpu)",
            destructor.spelling(),
            constructor.spelling()
        );
        self.refuse(destructor, text);
    }

    /// Checks the parameters and the result of an amp function, and the class that it is a member of.
    pub(super) fn declarator(&mut self, at: Cursor, children: &[Cursor], context: Context) {
        let Some(function_type) = at.ty() else { return };
        if function_type.is_variadic() {
            self.refuse(
                at,
                format!(
                    "'{}' takes variable arguments, which amp functions cannot take: write a template",
                    at.spelling()
                ),
            );
        }
        if !matches!(at.kind(), kind::CONSTRUCTOR | kind::DESTRUCTOR) {
            self.value(at, function_type.result(), &format!("the result of '{}'", at.spelling()), context);
        }
        for parameter in children.iter().filter(|c| c.kind() == kind::PARAMETER) {
            let Some(of) = parameter.ty() else { continue };
            let what = format!("the parameter '{}'", parameter.spelling());
            if is_array(of) {
                self.refuse(
                    *parameter,
                    format!("{what} is an array by value ('{}'): pass it by reference ('&')", of.spelling()),
                );
            } else {
                self.value(*parameter, of, &what, context);
            }
        }
        if !self.strict {
            return;
        }
        if at.kind() == kind::METHOD
            && function_type.spelling().rsplit(')').next().is_some_and(|tail| tail.contains("volatile"))
        {
            self.unsupported(
                at,
                &format!("the class of '{}'", at.spelling()),
                "the member function is volatile, which amp code does not support",
            );
        }
        let class = at.semantic_parent().filter(|p| is_class(p.kind()) && p.kind() != kind::CLASS_TEMPLATE);
        let is_lambda = class.is_some_and(|class| class.spelling().is_empty() || class.spelling().contains("lambda"));
        if let Some(of) = class.and_then(Cursor::ty).filter(|_| !is_lambda && !at.is_static_method()) {
            if let Some(why) = self.types.class_error(of.canonical()) {
                self.unsupported(at, &format!("the class of '{}'", at.spelling()), &why);
            }
        }
    }

    pub(super) fn variable(&mut self, at: Cursor, context: Context) {
        let children = at.children();
        let name = variable_name(at);
        let has = |wanted| children.iter().any(|c| c.kind() == wanted && c.place().line > 0);
        if has(kind::DEVICE_ATTRIBUTE) || has(kind::HOST_ATTRIBUTE) {
            self.refuse(at, format!("'{name}' is a variable: only functions and lambdas can have restrict(...)"));
        }
        let tile_static = has(kind::SHARED_ATTRIBUTE);
        if let Some(of) = at.ty() {
            if tile_static {
                self.tile_static(at, of, context);
            }
            if context.side != Side::Cpu && !is_lambda(of) {
                self.value(at, of, &format!("the variable '{name}'"), context);
            } else if self.strict && has_elements(of) {
                if let Some(why) = self.types.elements_error(of) {
                    self.unsupported(at, &format!("the variable '{name}'"), &why);
                }
            }
            self.texture_elements(at, of);
            self.function_pointer(at, of, &children, context);
            if context.side != Side::Cpu && !tile_static {
                // CX_SC_Extern and CX_SC_Static.
                let has_static_storage = matches!(at.storage(), Some(2 | 3));
                if has_static_storage && !of.canonical().is_const() || at.is_thread_local() {
                    let what = format!("'{name}': a static, thread_local or extern variable");
                    self.not_allowed_with_hint(at, &what, "store the value in an array_view");
                } else if has_static_storage && variables_in(children.clone()).into_iter().any(varies) {
                    self.not_allowed(at, &format!("'{name}': a static variable that is not a constant"));
                }
            }
            self.destructor(at, of, context);
        }
        for child in children {
            self.code(child, context);
        }
    }

    /// Textures and their views cannot be elements (TEX-30). The headers detect only elements that are textures themselves.
    pub(super) fn texture_elements(&mut self, at: Cursor, of: Type) {
        let Some(path) = texture_in_elements(of) else { return };
        let found = match path.strip_prefix('.') {
            None => "are textures or views of textures".to_owned(),
            Some(member) => format!("hold a texture or a view of a texture in '{member}'"),
        };
        self.refuse(
            at,
            format!("'{}': its elements {found}; capture views by value, not in arrays", variable_name(at)),
        );
    }

    /// A pointer to a function accepts only functions that may be called with its restriction.
    pub(super) fn function_pointer(&mut self, at: Cursor, of: Type, children: &[Cursor], context: Context) {
        let of = of.canonical();
        if of.kind() != ty::POINTER || of.pointee().canonical().kind() != ty::FUNCTION {
            return;
        }
        // Clang's type has no restriction, so the text of the line is searched.
        let place = at.place();
        let line = files::text_of(&place.file);
        let line = line.lines().nth((place.line as usize).saturating_sub(1)).unwrap_or_default().to_owned();
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
            self.amp_calls_by_cpu.push((at, function));
        } else if wanted.amp && !is_callable(function) {
            self.refuse_cpu_call(at, function, context.function);
        }
    }

    pub(super) fn tile_static(&mut self, at: Cursor, of: Type, context: Context) {
        let name = variable_name(at);
        if context.side == Side::Cpu {
            let text = format!(
                "'{name}': tile_static variables exist in amp code only; put the variable into the kernel, or into a \
                 function that is restrict(amp)"
            );
            self.refuse(at, text);
        }
        if context.side == Side::Both && !context.in_instantiation {
            let text = format!(
                "'{name}': tile_static variables exist in amp code only, and this function is restrict(cpu) too"
            );
            self.refuse(at, text);
        }
        let max_bytes = if self.strict { TILE_BYTES } else { 2 * TILE_BYTES };
        if let Some(size) = of.size().filter(|size| *size > max_bytes) {
            let text = format!(
                "'{name}' takes {size} bytes, but C++ AMP limits all tile_static variables of a tile to {TILE_BYTES} \
                 bytes, and devices have little more; make the variable smaller, or use an array_view"
            );
            self.refuse(at, text);
        }
        let mut inner = of.canonical();
        if let Some(value) = inner.fields().first().filter(|_| at.spelling().starts_with(UNION_PREFIX)) {
            inner = value.ty().map_or(inner, Type::canonical);
        }
        while (ty::ARRAY..=ty::ARRAY_WITHOUT_LENGTH).contains(&inner.kind()) {
            inner = inner.element().canonical();
        }
        if texture_in(inner).is_some() {
            let text = format!(
                "'{name}': tile_static variables cannot hold textures or views of textures; store texels instead"
            );
            self.refuse(at, text);
        } else if view_in(inner).is_some() {
            let text = format!(
                "'{name}': tile_static variables cannot hold array_views; capture the view, and store the index of an \
                 element"
            );
            self.refuse(at, text);
        } else if is_array(inner) {
            let text = format!("'{name}': tile_static variables cannot be arrays of C++ AMP; write T name[N]");
            self.refuse(at, text);
        }
        if address_in(inner, 0).is_some() {
            let text = format!(
                "'{name}': tile_static variables cannot be pointers or references ('{}'); store an offset, or the data \
                 itself",
                inner.spelling()
            );
            self.refuse(at, text);
        }
    }

    /// Checks the destructor of a local variable, which must have the restriction of the code that contains the
    /// variable.
    pub(super) fn destructor(&mut self, at: Cursor, of: Type, context: Context) {
        let mut of = of.canonical();
        while is_c_array(of) {
            of = of.element().canonical();
        }
        let class = of.declaration();
        // Members of a local class have the restriction of the function around it.
        let is_local_class = class.semantic_parent().is_some_and(|p| is_function(p.kind()));
        if of.kind() != ty::RECORD || is_local_class || is_of_amp(class) || class.is_in_system_header() {
            return;
        }
        let Some(destructor) = destructor_of(class, 0) else { return };
        match (context.side, written_restriction(&destructor.children())) {
            (Side::Cpu, Some(Side::Amp)) => {
                self.refuse_amp_call(at, destructor);
            }
            (Side::Amp | Side::Both, _) if !is_callable(destructor) => {
                self.refuse_cpu_call(at, destructor, context.function)
            }
            _ => {}
        }
    }

    /// Checks the default initializers and default constructors that construct members without a member initializer.
    pub(super) fn members_without_initializer(&mut self, at: Cursor, children: &[Cursor], context: Context) {
        let Some(class) = at.semantic_parent().filter(|p| is_class(p.kind()) && p.kind() != kind::CLASS_TEMPLATE)
        else {
            return;
        };
        let initialized_members: Vec<String> =
            children.iter().filter(|c| c.kind() == kind::MEMBER_INITIALIZER).map(|c| c.spelling()).collect();
        let has_body = children.iter().any(|c| c.kind() == kind::COMPOUND);
        for field in class.children().into_iter().filter(|c| has_body && c.kind() == kind::FIELD) {
            let is_named = initialized_members.contains(&field.spelling());
            if let Some(initializer) = initializer_of(field).filter(|_| !is_named) {
                self.code(initializer, context);
                continue;
            }
            let Some(of) = field.ty().map(Type::canonical).filter(|of| of.kind() == ty::RECORD) else { continue };
            let made = of.declaration();
            if is_named || made.is_in_system_header() {
                continue;
            }
            let class_members = made.definition().map(Cursor::children).unwrap_or_default();
            let is_default = |c: &Cursor| c.kind() == kind::CONSTRUCTOR && callable_without_arguments(*c);
            let constructors: Vec<Cursor> = class_members.into_iter().filter(is_default).collect();
            // Overload resolution selects the constructor that the restriction allows.
            if let Some(first) = constructors.first().filter(|_| !constructors.iter().any(|c| is_callable(*c))) {
                self.refuse_cpu_call(at, *first, context.function);
            }
        }
    }

    /// Checks the destructors of members and bases, which a destructor calls.
    pub(super) fn destroyed_parts(&mut self, at: Cursor, children: &[Cursor], context: Context) {
        let class = at.semantic_parent().filter(|p| is_class(p.kind()) && p.kind() != kind::CLASS_TEMPLATE);
        let has_body = children.iter().any(|c| c.kind() == kind::COMPOUND);
        let Some(class) = class.filter(|_| has_body && !context.may_be_host_only()) else { return };
        let parts = class.children().into_iter().filter(|c| matches!(c.kind(), kind::BASE | kind::FIELD));
        for of in parts.filter_map(Cursor::ty) {
            self.destructor(at, of, context);
        }
    }
}

/// The variable's name in the program.
fn variable_name(variable: Cursor) -> String {
    let name = variable.spelling();
    name.strip_prefix(UNION_PREFIX).unwrap_or(&name).to_owned()
}

/// Direct3D's limit of tile_static memory for a tile.
const TILE_BYTES: u64 = 32 << 10;

/// True if a base of the class has a virtual function with the method's name and parameters.
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

/// The destructor of a class, or else the first destructor among its members and bases.
fn destructor_of(class: Cursor, depth: u32) -> Option<Cursor> {
    if class.is_in_system_header() || depth > 8 {
        return None;
    }
    let children = class.definition().map(Cursor::children).unwrap_or_default();
    let own = children.iter().find(|c| c.kind() == kind::DESTRUCTOR);
    own.copied().or_else(|| {
        let parts = children.into_iter().filter(|c| matches!(c.kind(), kind::BASE | kind::FIELD));
        parts.filter_map(Cursor::ty).find_map(|of| destructor_of(of.canonical().declaration(), depth + 1))
    })
}

/// True for a parameter, and for a variable that is neither a constant, a reference nor an array.
fn varies(variable: Cursor) -> bool {
    let of = variable.ty().map(Type::canonical);
    variable.kind() == kind::PARAMETER || of.is_some_and(|of| !of.is_const() && !is_reference(of) && !is_c_array(of))
}
