//! Arrays of a thread: values, or memory.

use super::kernel::Kernel;
use crate::ir::{Frame, Function, Instruction, LocalId, Module, Op, Type};
use crate::lower::pointer_sets::{PointerClass, is_pointer};
use crate::lower::pointers::{MemorySpace, Object};
use crate::report::{Remark, counted, is_library, users};
use std::collections::{BTreeMap, BTreeSet};

/// File, line and column.
type SourcePosition = (String, u32, u32);

/// `inlined`: the kernel before LLVM made values of variables.
pub fn remarks(kernel: &Kernel<'_>, inlined: Option<(&Module, &Function)>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut in_memory: BTreeSet<SourcePosition> = BTreeSet::new();
    let mut unplaced = false;
    for (number, group) in kernel.pointers.groups.iter().enumerate() {
        // LLVM may make a constant table of a variable.
        if group.space == MemorySpace::Tile {
            continue;
        }
        let used = Used::of(kernel, number);
        unplaced |= used.unplaced;
        in_memory.extend(used.places);
        let Some(place) = used.first.filter(|_| group.space == MemorySpace::Private) else { continue };
        let arrays = group.objects.keys().filter(|object| matches!(object, Object::Alloca(_))).count();
        let what = if arrays == 1 {
            "a local variable is".into()
        } else {
            format!("{} are", counted(arrays, "local variable"))
        };
        let why = if used.indexed { ", indexed by values that are known only at run time" } else { "" };
        let text = format!(
            "{what} not in SSA values: one Function variable of {} bytes{why}; the driver may keep it in memory",
            group.size
        );
        remarks.push(Remark { place, text });
    }
    if let Some((module, function)) = inlined.filter(|_| !unplaced) {
        for array in Arrays::of(function).found(module, function) {
            if array.places.is_disjoint(&in_memory) {
                let text = format!("a local array of {} bytes is in registers (SSA values)", array.size);
                remarks.push(Remark { place: array.first, text });
            }
        }
    }
    remarks
}

fn place(frame: &Frame) -> SourcePosition {
    (frame.file.clone(), frame.line, frame.column)
}

/// Whether an instruction accesses memory through one of its operands, or computes an address.
fn uses_pointers(module: &Module, op: &Op) -> bool {
    match op {
        Op::Call { callee, .. } => !module.functions[callee.0].name.starts_with("llvm.lifetime."),
        Op::Load { .. } | Op::Store { .. } | Op::Gep { .. } => true,
        op => op.is_atomic_update(),
    }
}

/// How a kernel uses a variable in memory.
#[derive(Default)]
struct Used {
    first: Option<Frame>,
    places: BTreeSet<SourcePosition>,
    /// Some uses have no place in the program.
    unplaced: bool,
    /// Addresses in it depend on variables.
    indexed: bool,
}

impl Used {
    fn of(kernel: &Kernel<'_>, group: usize) -> Self {
        let mut used = Self::default();
        let within = |local: LocalId| kernel.pointers.class_of(local) == PointerClass::Group(group);
        for one in kernel.function.instructions() {
            let pointers = one.op.typed_operands().into_iter().filter(|(ty, _)| is_pointer(ty));
            if !pointers.filter_map(|(_, value)| value.local()).any(within) {
                continue;
            }
            match &one.op {
                Op::Gep { indices, .. } => used.indexed |= indices.iter().any(|index| index.value.local().is_some()),
                Op::Phi { .. } | Op::Select { .. } => used.indexed = true,
                _ => {}
            }
            if !uses_pointers(kernel.module, &one.op) {
                continue;
            }
            let frames = one.location.map(|location| kernel.module.frames(location)).unwrap_or_default();
            match users(&frames) {
                Some(frame) => {
                    used.places.insert(place(frame));
                    used.first.get_or_insert_with(|| frame.clone());
                }
                None => used.unplaced = true,
            }
        }
        used
    }
}

/// A local array of the program.
struct Array {
    size: u64,
    /// The first access that the program itself writes.
    first: Frame,
    places: BTreeSet<SourcePosition>,
}

/// The pointers of a function that point into one array each.
struct Arrays {
    sizes: BTreeMap<LocalId, u64>,
    into: BTreeMap<LocalId, LocalId>,
    /// Arrays whose addresses are stored, or joined with others.
    lost: BTreeSet<LocalId>,
}

impl Arrays {
    fn of(function: &Function) -> Self {
        let mut all = Self { sizes: BTreeMap::new(), into: BTreeMap::new(), lost: BTreeSet::new() };
        for one in function.instructions() {
            if let (Op::Alloca { ty: ty @ Type::Array(..), .. }, Some(result)) = (&one.op, one.result) {
                all.sizes.extend(ty.size().map(|size| (result, size)));
                all.into.insert(result, result);
            }
        }
        let mut known = 0;
        while known != all.into.len() {
            known = all.into.len();
            function.instructions().for_each(|one| all.follow(one));
        }
        all
    }

    /// Adds the pointer that an instruction makes.
    fn follow(&mut self, one: &Instruction) {
        let pointers = one.op.typed_operands().into_iter().filter(|(ty, _)| is_pointer(ty));
        let arrays: BTreeSet<LocalId> =
            pointers.filter_map(|(_, value)| self.into.get(&value.local()?).copied()).collect();
        match (&one.op, one.result) {
            (
                Op::Gep { .. } | Op::Cast { .. } | Op::Phi { .. } | Op::Select { .. } | Op::Freeze { .. },
                Some(result),
            ) => {
                if let [array] = arrays.iter().copied().collect::<Vec<_>>()[..] {
                    self.into.insert(result, array);
                } else {
                    self.lost.extend(arrays);
                }
            }
            (Op::Store { value, .. }, _) => {
                self.lost.extend(value.value.local().and_then(|local| self.into.get(&local)));
            }
            _ => {}
        }
    }

    /// Those with a place in the program's own sources.
    fn found(&self, module: &Module, function: &Function) -> Vec<Array> {
        let mut places: BTreeMap<LocalId, (Option<Frame>, BTreeSet<SourcePosition>)> = BTreeMap::new();
        for one in function.instructions().filter(|one| uses_pointers(module, &one.op)) {
            let frames = one.location.map(|location| module.frames(location)).unwrap_or_default();
            let Some(frame) = users(&frames) else { continue };
            for array in one.op.operands().iter().filter_map(|value| self.into.get(&value.local()?)) {
                let (first, all) = places.entry(*array).or_default();
                all.insert(place(frame));
                if first.is_none() && !is_library(&frames[0].file) && matches!(one.op, Op::Gep { .. }) {
                    *first = Some(frame.clone());
                }
            }
        }
        let array = |(array, size): (&LocalId, &u64)| {
            let (first, places) = places.remove(array)?;
            Some(Array { size: *size, first: first?, places })
        };
        self.sizes.iter().filter(|(array, _)| !self.lost.contains(array)).filter_map(array).collect()
    }
}
