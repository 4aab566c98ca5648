//! Finds the memory that each pointer of a kernel may point to.
//!
//! SPIR-V for Vulkan has no generic pointers. A pointer to device memory is a 64-bit number. A pointer to tile_static memory, to a local
//! variable or to a constant table is an offset into a SPIR-V variable, which must be known. So pointers that flow together (phi, select,
//! arithmetic) form a set. All objects that a set may point to form a group, which is in one SPIR-V variable.

use super::addresses::constant_address;
use super::capture_uses::{CaptureUse, Origin, capture_uses, origins};
use super::pointer_sets::{PointerClass, UnionFind, element_of, is_pointer, is_print_call, node};
use crate::ir::{
    CastOp, Constant, Frame, Function, GlobalId, Instruction, LocalId, LocationId, Module, Op, Type, Value, space,
};
use crate::kernel_error::KernelError;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The kind of memory that a group is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemorySpace {
    /// tile_static.
    Tile,
    /// Local variables of a thread.
    Private,
    /// Constant tables.
    Table,
}

/// A local variable, a tile_static variable or a constant table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Object {
    /// The result of an alloca.
    Alloca(LocalId),
    /// A tile_static variable or a constant table.
    Global(GlobalId),
}

/// Objects that lie in one SPIR-V variable.
pub(super) struct Group {
    pub(super) space: MemorySpace,
    /// The offset of each object in the variable, in bytes.
    pub(super) objects: BTreeMap<Object, u64>,
    pub(super) size: u64,
}

/// The memory that each pointer of a function points to, and the uses of captured pointers.
pub(super) struct PointerAnalysis {
    /// The classes of IR values (by `LocalId`), then of global variables; see `node`.
    class: Vec<PointerClass>,
    /// The number of IR values in `class`.
    locals: usize,
    pub(super) groups: Vec<Group>,
    /// The uses of captured pointers by offset and depth; see `capture_uses`.
    pub(super) uses: BTreeMap<(u32, u32), CaptureUse>,
    /// The root of each IR value's set.
    sets: Vec<usize>,
    /// The origins of the addresses in each set, by the root of the set.
    origins: HashMap<usize, BTreeSet<Origin>>,
    /// The constant offsets of pointers into the argument block.
    argument_block_offset: HashMap<LocalId, i64>,
}

/// The end of the message for a pointer that may point to two kinds of memory.
const TWO_MEMORIES: &str = "the kernel compiler must know which of these memories is used: use two pointers, or choose \
                            between the values (c ? a[i] : b[i]) instead of between their addresses";

/// The message for a constant that has no SPIR-V form. Also used for a null pointer that flows together with pointers to tile_static or
/// local memory.
pub(super) const NO_CONSTANT: &str = "the kernel uses a constant that kernels cannot hold, most likely an address of \
                                      the host: capture the data in an array_view";

impl PointerAnalysis {
    pub(super) fn class_of(&self, local: LocalId) -> PointerClass {
        self.class[local.0]
    }
    /// The origins of the addresses that a pointer may hold.
    pub(super) fn origins_of(&self, local: LocalId) -> &BTreeSet<Origin> {
        static NONE: BTreeSet<Origin> = BTreeSet::new();
        self.origins.get(&self.sets[local.0]).unwrap_or(&NONE)
    }
    /// The offset of a pointer into the argument block, if it is a constant.
    pub(super) fn argument_block_offset(&self, local: LocalId) -> Option<u32> {
        self.argument_block_offset.get(&local).and_then(|&at| u32::try_from(at).ok())
    }
    pub(super) fn class_of_global(&self, global: GlobalId) -> PointerClass {
        self.class[self.locals + global.0]
    }
}

/// Finds the memory that each pointer of a function may point to.
pub(super) fn analyse(module: &Module, function: &Function) -> Result<PointerAnalysis, KernelError> {
    let nodes = UnionFind::new(function.locals.len() + module.globals.len());
    let mut analysis = Analysis { module, function, nodes };
    analysis.unify();
    let device = analysis.device_sets();
    let (groups, group_of) = analysis.groups(&device)?;
    analysis.refuse_stored(&group_of)?;
    let Analysis { mut nodes, .. } = analysis;
    let class: Vec<PointerClass> = (0..nodes.len())
        .map(|n| group_of.get(&nodes.find(n)).map_or(PointerClass::Device, |&group| PointerClass::Group(group)))
        .collect();
    let (origins, argument_block_offset) = origins(module, function, &mut nodes, &class);
    let uses = capture_uses(module, function, &mut nodes, &class, &origins);
    let sets = (0..function.locals.len()).map(|n| nodes.find(n)).collect();
    Ok(PointerAnalysis { class, locals: function.locals.len(), groups, uses, sets, origins, argument_block_offset })
}

/// The state while the sets of a function's pointers are found. A set is identified by its root.
struct Analysis<'m> {
    module: &'m Module,
    function: &'m Function,
    nodes: UnionFind,
}

/// An object before it has an offset in its group.
struct Unplaced<'m> {
    ty: &'m Type,
    align: u64,
    space: MemorySpace,
    count: u64,
}

impl<'m> Analysis<'m> {
    fn refuse<T>(&self, location: Option<LocationId>, message: &str) -> Result<T, KernelError> {
        Err(KernelError::at(self.module, location, message.to_string()))
    }

    fn node(&self, value: &Value) -> Option<usize> {
        node(self.function, value)
    }

    fn join(&mut self, a: Option<usize>, value: &Value) {
        if let (Some(a), Some(b)) = (a, self.node(value)) {
            self.nodes.join(a, b);
        }
    }

    /// Joins the pointers that flow together.
    fn unify(&mut self) {
        let function = self.function;
        for Instruction { result, op, .. } in function.instructions() {
            let result = result.map(|r| r.0);
            match op {
                Op::Gep { base, .. } => self.join(result, &base.value),
                Op::Cast { value, to, .. } if is_pointer(&value.ty) && is_pointer(to) => {
                    self.join(result, &value.value);
                }
                Op::Freeze { value } if is_pointer(&value.ty) => self.join(result, &value.value),
                Op::Phi { ty, incoming } if is_pointer(ty) => {
                    for (value, _) in incoming {
                        self.join(result, value);
                    }
                }
                Op::Select { yes, no, .. } if is_pointer(&yes.ty) => {
                    self.join(result, &yes.value);
                    self.join(result, &no.value);
                }
                Op::ICmp { left, right, .. } if is_pointer(&left.ty) => {
                    self.join(self.node(&left.value), &right.value);
                }
                Op::Call { .. } => {
                    if let Some(pointer) = element_of(self.module, op) {
                        self.join(result, &pointer.value);
                    }
                }
                _ => {}
            }
        }
    }

    /// The global variables whose address the function uses.
    fn used_globals(&self) -> BTreeSet<GlobalId> {
        // Printed text needs no memory in the kernel.
        let all = self.function.instructions().filter(|i| !is_print_call(self.module, &i.op));
        all.flat_map(|i| i.op.operands())
            .filter_map(|value| match value {
                Value::Constant(constant) => constant_address(constant).map(|(id, _)| id),
                Value::Local(_) => None,
            })
            .collect()
    }

    /// The sets that may point to device memory, each with the location of an instruction that makes a pointer to device memory.
    fn device_sets(&mut self) -> HashMap<usize, Option<LocationId>> {
        let function = self.function;
        let mut device = HashMap::new();
        for n in 0..function.parameters.len() {
            if is_pointer(&function.locals[n].ty) {
                device.insert(self.nodes.find(n), None);
            }
        }
        for Instruction { result, op, location } in function.instructions() {
            let Some(result) = result.filter(|r| is_pointer(&function.locals[r.0].ty)) else { continue };
            if element_of(self.module, op).is_some() {
                continue;
            }
            if let Op::Load { .. }
            | Op::Call { .. }
            | Op::ExtractValue { .. }
            | Op::AtomicRmw { .. }
            | Op::Cast { op: CastOp::IntToPtr, .. } = op
            {
                device.entry(self.nodes.find(result.0)).or_insert(*location);
            }
        }
        device
    }

    /// The sets that point to objects, each with its objects. The sets are sorted by their first object.
    fn objects(&mut self) -> Vec<(usize, BTreeSet<Object>)> {
        let function = self.function;
        let mut objects: HashMap<usize, BTreeSet<Object>> = HashMap::new();
        for id in self.used_globals() {
            let root = self.nodes.find(function.locals.len() + id.0);
            objects.entry(root).or_default().insert(Object::Global(id));
        }
        for Instruction { result, op, .. } in function.instructions() {
            if let (Some(result), Op::Alloca { .. }) = (*result, op) {
                if is_pointer(&function.locals[result.0].ty) {
                    objects.entry(self.nodes.find(result.0)).or_default().insert(Object::Alloca(result));
                }
            }
        }
        let mut sets: Vec<_> = objects.into_iter().collect();
        sets.sort_by(|a, b| a.1.cmp(&b.1));
        sets
    }

    /// The groups, and the group that each set points into.
    fn groups(
        &mut self,
        device: &HashMap<usize, Option<LocationId>>,
    ) -> Result<(Vec<Group>, HashMap<usize, usize>), KernelError> {
        let definitions = self.function.definitions();
        let mut groups = Vec::new();
        let mut group_of = HashMap::new();
        for (root, objects) in self.objects() {
            if let Some(location) = device.get(&root) {
                let at = self.choice_location(root).or(*location);
                let what = "a pointer may point to an element of an array_view or array, or to a tile_static or local variable";
                return self.refuse_memories(at, what);
            }
            group_of.insert(root, groups.len());
            groups.push(self.group(root, objects, &definitions)?);
        }
        Ok((groups, group_of))
    }

    /// Places the objects of a set in one variable.
    fn group(
        &mut self,
        root: usize,
        objects: BTreeSet<Object>,
        definitions: &[Option<&'m Instruction>],
    ) -> Result<Group, KernelError> {
        let mut spaces: Vec<MemorySpace> = Vec::new();
        let mut layout = BTreeMap::new();
        let mut size = 0_u64;
        for object in objects {
            let Some(Unplaced { ty, align, space, count }) = self.unplaced(object, definitions)? else { continue };
            let bytes = ty.size().and_then(|one| one.checked_mul(count));
            let Some(bytes) = bytes.filter(|&bytes| bytes <= 1 << 24) else {
                return Err(KernelError::new(
                    "a local variable is larger than 16 MiB, which is the limit: use an array_view".into(),
                ));
            };
            size = size.next_multiple_of(align.max(ty.align().unwrap_or(8)).clamp(8, 256));
            layout.insert(object, size);
            size += bytes;
            spaces.push(space);
        }
        let space = self.common_space(root, &spaces)?;
        Ok(Group { space, objects: layout, size: size.max(4) })
    }

    /// The type, alignment, memory space and count of an object; `None` if it has no definition.
    fn unplaced(
        &self,
        object: Object,
        definitions: &[Option<&'m Instruction>],
    ) -> Result<Option<Unplaced<'m>>, KernelError> {
        match object {
            Object::Alloca(local) => {
                let Some(Instruction { op: Op::Alloca { ty, count, align, .. }, location, .. }) = definitions[local.0]
                else {
                    return Ok(None);
                };
                let Value::Constant(Constant::Int(count)) = count.value else {
                    return self.refuse(
                        *location,
                        "the length of a local array is not known at compile time: give it a constant length",
                    );
                };
                let count = u64::try_from(count).unwrap_or(u64::MAX);
                Ok(Some(Unplaced { ty, align: *align, space: MemorySpace::Private, count }))
            }
            Object::Global(id) => {
                let global = &self.module.globals[id.0];
                let space = if global.space == space::TILE {
                    MemorySpace::Tile
                } else if global.constant && global.initializer.is_some() {
                    MemorySpace::Table
                } else {
                    return self.refuse(
                        self.user_of(id).and_then(|i| i.location),
                        &format!(
                            "the global variable '{}' is used in amp code; capture a copy of it, or make it constexpr",
                            global.name
                        ),
                    );
                };
                Ok(Some(Unplaced { ty: &global.ty, align: global.align, space, count: 1 }))
            }
        }
    }

    /// The first instruction that uses a global variable.
    fn user_of(&self, global: GlobalId) -> Option<&'m Instruction> {
        self.function.instructions().find(|i| {
            i.op.operands().iter().any(|value| match value {
                Value::Constant(c) => constant_address(c).is_some_and(|(used, _)| used == global),
                Value::Local(_) => false,
            })
        })
    }

    /// The space of a group whose objects are in these spaces. Constant tables and local variables can share a SPIR-V variable. tile_static
    /// memory cannot share one with them.
    fn common_space(&mut self, root: usize, spaces: &[MemorySpace]) -> Result<MemorySpace, KernelError> {
        if !spaces.contains(&MemorySpace::Tile) {
            let only_tables = spaces.iter().all(|&space| space == MemorySpace::Table);
            return Ok(if only_tables { MemorySpace::Table } else { MemorySpace::Private });
        }
        if spaces.iter().all(|&space| space == MemorySpace::Tile) {
            return Ok(MemorySpace::Tile);
        }
        let what = "a pointer may point to a tile_static variable or to a local variable";
        let at = self.choice_location(root);
        self.refuse_memories(at, what)
    }

    fn refuse_memories<T>(&self, location: Option<LocationId>, what: &str) -> Result<T, KernelError> {
        Err(KernelError::at(self.module, location, format!("{what}; {TWO_MEMORIES}")).needs_separate_memories())
    }

    /// The location of a phi or select that chooses between pointers of a set. If there is none, the location of
    /// another use of the set. Lines of the program take precedence over lines of the headers.
    fn choice_location(&mut self, root: usize) -> Option<LocationId> {
        let (function, module) = (self.function, self.module);
        let mut found: Option<(u32, LocationId)> = None;
        for Instruction { result, op, location } in function.instructions() {
            let Some(location) = location else { continue };
            let mut is_in = |node: Option<usize>| node.is_some_and(|node| self.nodes.find(node) == root);
            if !is_in(result.map(|r| r.0)) && !op.operands().into_iter().any(|value| is_in(node(function, value))) {
                continue;
            }
            let frames = module.frames(*location);
            let is_line = frames.first().is_some_and(|first| first.line > 0);
            let of_headers = |frame: &Frame| frame.file.contains("/revamp/detail/") || frame.line == 0;
            let rank = match op {
                _ if !is_line || frames.iter().all(of_headers) => 0,
                Op::Phi { .. } | Op::Select { .. } => 2,
                _ => 1,
            };
            if found.is_none_or(|(best, _)| rank > best) {
                found = Some((rank, *location));
            }
        }
        found.map(|(_, location)| location)
    }

    /// Rejects storing, inserting (`insertvalue`) or returning a pointer to an object of a group: the analysis cannot follow a pointer
    /// through memory.
    fn refuse_stored(&mut self, group_of: &HashMap<usize, usize>) -> Result<(), KernelError> {
        let function = self.function;
        for Instruction { op, location, .. } in function.instructions() {
            let (Op::Store { value: stored, .. }
            | Op::AtomicRmw { value: stored, .. }
            | Op::InsertValue { element: stored, .. }
            | Op::Ret { value: Some(stored) }) = op
            else {
                continue;
            };
            let root = self.node(&stored.value).filter(|_| is_pointer(&stored.ty)).map(|n| self.nodes.find(n));
            if root.is_some_and(|root| group_of.contains_key(&root)) {
                return self.refuse(
                    *location,
                    "a pointer to tile_static memory or to a local variable is stored in memory, where the kernel \
                     compiler cannot track it: store an index instead",
                );
            }
        }
        Ok(())
    }
}
