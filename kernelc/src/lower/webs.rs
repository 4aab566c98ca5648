//! What each pointer of a kernel may point to.
//!
//! SPIR-V for Vulkan has no pointers that may point anywhere. Pointers to memory of the device are 64-bit numbers. Those to
//! tile_static memory, to locals and to tables are places in a variable, so it must be known in which: pointers that flow
//! together (phi, select, arithmetic) form a web, and all objects that a web may point to lie in one variable, a group.

use super::printf;
use super::refusal::Refusal;
use super::structure::{makers, operands};
use crate::ir::{
    CastOp, Constant, Function, GlobalId, Instruction, LocalId, LocationId, Module, Op, Operand, Type, Value, space,
};
use revamp_image::ANY_OFFSET;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Where the pointers of a web point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// To memory of the device, or nowhere.
    Device,
    /// Into a group.
    Group(usize),
}

/// What kind of memory a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// tile_static.
    Tile,
    /// Of the thread.
    Private,
    /// A table.
    Table,
}

/// A piece of memory with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Object {
    /// The result of an alloca.
    Alloca(LocalId),
    /// A tile_static variable or a table.
    Global(GlobalId),
}

/// Objects that lie in one variable.
pub(super) struct Group {
    pub(super) space: Space,
    /// Where each begins, in bytes.
    pub(super) objects: BTreeMap<Object, u64>,
    pub(super) size: u64,
}

/// How the kernel uses a pointer that lies in its argument block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// Where the address of a web came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Origin {
    /// It points into the argument block.
    Block,
    /// It was loaded from the block at an offset (depth 0), or through such a pointer (depth 1).
    Capture(u32, u32),
    Unknown,
}

pub(super) struct Webs {
    /// Of locals, then of globals.
    class: Vec<Class>,
    locals: usize,
    pub(super) groups: Vec<Group>,
    /// Of each pointer in the block, by its offset (or [`ANY_OFFSET`]) and depth. 0: memory at the pointer, of a view its
    /// elements. 1: memory at a pointer loaded through it, of a reference to an array its elements.
    pub(super) uses: BTreeMap<(u32, u32), Use>,
}

impl Webs {
    pub(super) fn class_of(&self, local: LocalId) -> Class {
        self.class[local.0]
    }
    pub(super) fn class_of_global(&self, global: GlobalId) -> Class {
        self.class[self.locals + global.0]
    }
}

/// The global variable and the offset that a constant address is made of.
pub(super) fn constant_address(constant: &Constant) -> Option<(GlobalId, i64)> {
    match constant {
        Constant::Global(id) => Some((*id, 0)),
        Constant::Expression(op) => match &**op {
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } => {
                let Value::Constant(inner) = &value.value else { return None };
                constant_address(inner)
            }
            Op::Gep { source, base, indices, .. } => {
                let Value::Constant(inner) = &base.value else { return None };
                let (id, at) = constant_address(inner)?;
                let steps = steps(source, indices)?;
                if steps.by.is_empty() { Some((id, at.checked_add(steps.offset)?)) } else { None }
            }
            _ => None,
        },
        _ => None,
    }
}

/// The arithmetic of a getelementptr.
pub(super) struct Steps<'a> {
    /// In bytes.
    pub(super) offset: i64,
    /// Numbers and the bytes each counts for.
    pub(super) by: Vec<(&'a Operand, u64)>,
}

/// `None` for what has no size, or an offset beyond 64 bits.
pub(super) fn steps<'a>(source: &Type, indices: &'a [Operand]) -> Option<Steps<'a>> {
    let mut result = Steps { offset: 0, by: Vec::new() };
    let mut ty = source.clone();
    for (n, index) in indices.iter().enumerate() {
        let scale = if n == 0 {
            ty.size()?
        } else {
            match ty.clone() {
                Type::Array(_, element) => {
                    ty = (*element).clone();
                    ty.size()?
                }
                Type::Vector(_, element) => {
                    ty = (*element).clone();
                    ty.size()?
                }
                Type::Struct { fields, .. } => {
                    let Value::Constant(Constant::Int(field)) = index.value else {
                        let Value::Constant(Constant::Zero) = index.value else { return None };
                        result.offset = result.offset.checked_add(ty.field_offset(0)? as i64)?;
                        ty = fields.first()?.clone();
                        continue;
                    };
                    let field = usize::try_from(field).ok()?;
                    result.offset = result.offset.checked_add(i64::try_from(ty.field_offset(field)?).ok()?)?;
                    ty = fields.get(field)?.clone();
                    continue;
                }
                _ => return None,
            }
        };
        match &index.value {
            Value::Constant(Constant::Int(by)) => {
                let by = i64::try_from(*by).ok()?;
                result.offset = result.offset.checked_add(by.checked_mul(i64::try_from(scale).ok()?)?)?;
            }
            Value::Constant(Constant::Zero | Constant::Undef) => {}
            _ if scale == 0 => {}
            _ => result.by.push((index, scale)),
        }
    }
    Some(result)
}

/// Union-find, with what each web holds.
struct Nodes {
    parent: Vec<usize>,
}

impl Nodes {
    fn find(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a] = b;
    }
}

fn is_pointer(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(_))
}

fn holds_pointer(ty: &Type) -> bool {
    match ty {
        Type::Pointer(_) => true,
        Type::Array(_, element) | Type::Vector(_, element) => holds_pointer(element),
        Type::Struct { fields, .. } => fields.iter().any(holds_pointer),
        _ => false,
    }
}

fn is_printed(module: &Module, op: &Op) -> bool {
    matches!(op, Op::Call { callee, .. } if printf::function(&module.functions[callee.0].name).is_some())
}

pub(super) fn webs(module: &Module, function: &Function) -> Result<Webs, Refusal> {
    let locals = function.locals.len();
    let mut nodes = Nodes { parent: (0..locals + module.globals.len()).collect() };
    let node = |value: &Value| -> Option<usize> {
        match value {
            Value::Local(id) => Some(id.0),
            Value::Constant(constant) => constant_address(constant).map(|(id, _)| locals + id.0),
        }
    };
    let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
    let refuse = |location: Option<LocationId>, message: &str| Err(Refusal::at(module, location, message.to_string()));

    // What flows together.
    let mut used_globals: BTreeSet<GlobalId> = BTreeSet::new();
    for Instruction { result, op, .. } in instructions() {
        // Text that is printed lies in no memory of the kernel.
        let held = if is_printed(module, op) { Vec::new() } else { operands(op) };
        for value in held {
            if let Value::Constant(constant) = value {
                if let Some((id, _)) = constant_address(constant) {
                    used_globals.insert(id);
                }
            }
        }
        let mut join = |a: Option<usize>, value: &Value| {
            if let (Some(a), Some(b)) = (a, node(value)) {
                nodes.join(a, b);
            }
        };
        let result = result.map(|r| r.0);
        match op {
            Op::Gep { base, .. } => join(result, &base.value),
            Op::Cast { value, to, .. } if is_pointer(&value.ty) && is_pointer(to) => join(result, &value.value),
            Op::Freeze { value } if is_pointer(&value.ty) => join(result, &value.value),
            Op::Phi { ty, incoming } if is_pointer(ty) => {
                for (value, _) in incoming {
                    join(result, value);
                }
            }
            Op::Select { yes, no, .. } if is_pointer(&yes.ty) => {
                join(result, &yes.value);
                join(result, &no.value);
            }
            Op::ICmp { left, right, .. } if is_pointer(&left.ty) => join(node(&left.value), &right.value),
            _ => {}
        }
    }

    // What each web points to.
    let mut objects: HashMap<usize, BTreeSet<Object>> = HashMap::new();
    let mut device: HashMap<usize, Option<LocationId>> = HashMap::new();
    for id in &used_globals {
        let root = nodes.find(locals + id.0);
        objects.entry(root).or_default().insert(Object::Global(*id));
    }
    for n in 0..function.parameters.len() {
        if is_pointer(&function.locals[n].ty) {
            device.insert(nodes.find(n), None);
        }
    }
    for Instruction { result, op, location } in instructions() {
        let Some(result) = *result else { continue };
        if !is_pointer(&function.locals[result.0].ty) {
            continue;
        }
        let root = nodes.find(result.0);
        match op {
            Op::Alloca { .. } => {
                objects.entry(root).or_default().insert(Object::Alloca(result));
            }
            Op::Load { .. } | Op::Call { .. } | Op::ExtractValue { .. } | Op::AtomicRmw { .. } => {
                device.entry(root).or_insert(*location);
            }
            Op::Cast { op: CastOp::IntToPtr, .. } => {
                device.entry(root).or_insert(*location);
            }
            _ => {}
        }
    }

    // Groups.
    let makers = makers(function);
    let mut class = vec![Class::Device; locals + module.globals.len()];
    let mut groups = Vec::new();
    let mut group_of: HashMap<usize, usize> = HashMap::new();
    let mut roots: Vec<_> = objects.into_iter().collect();
    roots.sort_by(|a, b| a.1.cmp(&b.1));
    for (root, objects) in roots {
        if let Some(location) = device.get(&root) {
            return refuse(
                *location,
                "a pointer may point to memory of the accelerator as well as to tile_static memory or a local variable; \
                 the kernel compiler must know which: use two pointers",
            );
        }
        let mut spaces: Vec<Space> = Vec::new();
        let mut layout = BTreeMap::new();
        let mut size = 0_u64;
        for object in objects {
            let (ty, align, space, count) = match object {
                Object::Alloca(local) => {
                    let Some(Instruction { op: Op::Alloca { ty, count, align, .. }, location, .. }) = makers[local.0]
                    else {
                        continue;
                    };
                    let Value::Constant(Constant::Int(count)) = count.value else {
                        return refuse(*location, "the size of a local array is not known at compile time");
                    };
                    (ty, *align, Space::Private, u64::try_from(count).unwrap_or(u64::MAX))
                }
                Object::Global(id) => {
                    let global = &module.globals[id.0];
                    let space = if global.space == space::TILE {
                        Space::Tile
                    } else if global.constant && global.initializer.is_some() {
                        Space::Table
                    } else {
                        let user = instructions().find(|i| {
                            operands(&i.op).iter().any(|value| match value {
                                Value::Constant(c) => constant_address(c).is_some_and(|(used, _)| used == id),
                                Value::Local(_) => false,
                            })
                        });
                        return refuse(
                            user.and_then(|i| i.location),
                            &format!(
                                "the global variable '{}' is used in amp code; capture a copy of it, or make it constexpr",
                                global.name
                            ),
                        );
                    };
                    (&global.ty, global.align, space, 1)
                }
            };
            let bytes = ty.size().and_then(|one| one.checked_mul(count));
            let Some(bytes) = bytes.filter(|&bytes| bytes <= 1 << 24) else {
                return Err(Refusal::plain("a local variable has more than 16 MiB".into()));
            };
            size = size.next_multiple_of(align.max(ty.align().unwrap_or(8)).clamp(8, 256));
            layout.insert(object, size);
            size += bytes;
            spaces.push(space);
        }
        let tile = spaces.contains(&Space::Tile);
        if tile && spaces.iter().any(|&space| space != Space::Tile) {
            let at = instructions().find(|i| {
                matches!(i.op, Op::Phi { .. } | Op::Select { .. }) && i.result.is_some_and(|r| nodes.find(r.0) == root)
            });
            return refuse(
                at.and_then(|i| i.location),
                "a pointer may point to tile_static memory as well as to a local variable; the kernel compiler must know \
                 which: use two pointers",
            );
        }
        let space = if tile {
            Space::Tile
        } else if spaces.iter().all(|&space| space == Space::Table) {
            Space::Table
        } else {
            Space::Private
        };
        group_of.insert(root, groups.len());
        groups.push(Group { space, objects: layout, size: size.max(4) });
    }
    for (n, class) in class.iter_mut().enumerate() {
        if let Some(&group) = group_of.get(&nodes.find(n)) {
            *class = Class::Group(group);
        }
    }

    // A pointer into a group that is kept in memory is lost.
    for Instruction { op, location, .. } in instructions() {
        let kept = match op {
            Op::Store { value, .. } | Op::AtomicRmw { value, .. } => vec![value],
            Op::InsertValue { element, .. } => vec![element],
            Op::Call { arguments, .. } => {
                // Those that the compiler knows take pointers only to use them.
                let _ = arguments;
                Vec::new()
            }
            Op::Ret { value: Some(value) } => vec![value],
            _ => Vec::new(),
        };
        for operand in kept {
            let into_group = match &operand.value {
                value if is_pointer(&operand.ty) => node(value).is_some_and(|n| group_of.contains_key(&nodes.find(n))),
                _ => false,
            };
            if into_group {
                return refuse(
                    *location,
                    "a pointer to tile_static memory or to a local variable is kept in memory, where the kernel compiler \
                     cannot follow it: keep an index",
                );
            }
        }
    }

    let uses = uses(module, function, &mut nodes, &node, &class);
    Ok(Webs { class, locals, groups, uses })
}

/// Which pointers of the argument block are read through and written through.
fn uses(
    module: &Module,
    function: &Function,
    nodes: &mut Nodes,
    node: &dyn Fn(&Value) -> Option<usize>,
    class: &[Class],
) -> BTreeMap<(u32, u32), Use> {
    let mut origins: HashMap<usize, BTreeSet<Origin>> = HashMap::new();
    // Pointers into the block with their offset, where it is a constant.
    let mut in_block: HashMap<LocalId, i64> = HashMap::new();
    for n in 0..function.parameters.len() {
        in_block.insert(LocalId(n), 0);
        origins.entry(nodes.find(n)).or_default().insert(Origin::Block);
    }
    let instructions: Vec<&Instruction> = function.blocks.iter().flat_map(|block| &block.instructions).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for Instruction { result, op, .. } in &instructions {
            let Some(result) = *result else { continue };
            match op {
                Op::Gep { source, base, indices, .. } => {
                    let Value::Local(base) = base.value else { continue };
                    let Some(&at) = in_block.get(&base) else { continue };
                    if let Some(Steps { offset, by }) = steps(source, indices) {
                        if by.is_empty() && in_block.insert(result, at + offset).is_none() {
                            changed = true;
                        }
                    }
                }
                Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } => {
                    let Value::Local(from) = value.value else { continue };
                    if let Some(&at) = in_block.get(&from) {
                        changed |= in_block.insert(result, at).is_none();
                    }
                }
                Op::Load { ty, pointer, .. } if holds_pointer(ty) => {
                    let new: Vec<Origin> = match (&pointer.value, node(&pointer.value)) {
                        (Value::Local(from), _) if in_block.contains_key(from) => {
                            vec![
                                u32::try_from(in_block[from])
                                    .map_or(Origin::Unknown, |offset| Origin::Capture(offset, 0)),
                            ]
                        }
                        (_, Some(n)) if class[n] == Class::Device => origins
                            .get(&nodes.find(n))
                            .into_iter()
                            .flatten()
                            .map(|origin| match origin {
                                Origin::Capture(offset, 0) => Origin::Capture(*offset, 1),
                                _ => Origin::Unknown,
                            })
                            .collect(),
                        _ => vec![Origin::Unknown],
                    };
                    let set = origins.entry(nodes.find(result.0)).or_default();
                    for origin in new {
                        changed |= set.insert(origin);
                    }
                }
                Op::Cast { op: CastOp::IntToPtr, .. } | Op::ExtractValue { .. } | Op::Call { .. }
                    if class.get(result.0) == Some(&Class::Device) && is_pointer(&function.locals[result.0].ty) =>
                {
                    changed |= origins.entry(nodes.find(result.0)).or_default().insert(Origin::Unknown);
                }
                _ => {}
            }
        }
    }
    let mut uses: BTreeMap<(u32, u32), Use> = BTreeMap::new();
    let mut mark = |nodes: &mut Nodes, value: &Value, reads: bool, writes: bool| {
        let Some(n) = node(value) else { return };
        if class[n] != Class::Device {
            return;
        }
        for origin in origins.get(&nodes.find(n)).into_iter().flatten() {
            let at = match *origin {
                Origin::Block => continue,
                Origin::Capture(offset, depth) => (offset, depth),
                Origin::Unknown => (ANY_OFFSET, 0),
            };
            let one = uses.entry(at).or_default();
            one.reads |= reads;
            one.writes |= writes;
        }
    };
    for Instruction { op, .. } in &instructions {
        match op {
            Op::Load { pointer, .. } => mark(nodes, &pointer.value, true, false),
            Op::Store { pointer, .. } => mark(nodes, &pointer.value, false, true),
            Op::AtomicRmw { pointer, .. } | Op::CmpXchg { pointer, .. } => mark(nodes, &pointer.value, true, true),
            // What is printed of a pointer is its address.
            Op::Call { .. } if is_printed(module, op) => {}
            Op::Call { arguments, .. } => {
                for (n, argument) in arguments.iter().enumerate() {
                    if is_pointer(&argument.ty) {
                        // memcpy and its kin: the first is written, the second read.
                        mark(nodes, &argument.value, n > 0, n == 0);
                    }
                }
            }
            _ => {}
        }
    }
    uses
}
