//! Remarks on local arrays: whether they become SSA values or stay in memory.

use super::kernel::Kernel;
use crate::ir::{Frame, Function, Instruction, LocalId, Module, Op, Type};
use crate::lower::pointer_sets::{PointerClass, is_pointer};
use crate::lower::pointers::{MemorySpace, Object};
use crate::report::{Remark, counted, is_library, program_frame};
use std::collections::{BTreeMap, BTreeSet};

/// File, line and column.
type SourcePosition = (String, u32, u32);

/// `inlined`: the kernel before LLVM promoted variables to SSA values.
pub fn remarks(kernel: &Kernel<'_>, inlined: Option<(&Module, &Function)>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut in_memory: BTreeSet<SourcePosition> = BTreeSet::new();
    let mut has_unlocated_uses = false;
    for (number, group) in kernel.pointers.groups.iter().enumerate() {
        // Only tile_static memory is skipped. A constant table may be a local variable that LLVM has made constant.
        if group.space == MemorySpace::Tile {
            continue;
        }
        let used = VariableUse::of(kernel, number);
        has_unlocated_uses |= used.has_unlocated_uses;
        in_memory.extend(used.places);
        let Some(place) = used.first.filter(|_| group.space == MemorySpace::Private) else { continue };
        let arrays = group.objects.keys().filter(|object| matches!(object, Object::Alloca(_))).count();
        let what = if arrays == 1 {
            "a local variable is".into()
        } else {
            format!("{} are", counted(arrays, "local variable"))
        };
        let why = if used.indexed { ", because indices are known only at run time" } else { "" };
        let text = format!(
            "{what} not in SSA values, but in one Function variable of {} bytes{why}; the driver may keep that \
             variable in memory",
            group.size
        );
        remarks.push(Remark { place, text });
    }
    if let Some((module, function)) = inlined.filter(|_| !has_unlocated_uses) {
        for array in Arrays::of(function).located(module, function) {
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

/// True if an instruction accesses memory through one of its operands, or computes an address.
fn uses_pointers(module: &Module, op: &Op) -> bool {
    match op {
        Op::Call { callee, .. } => !module.functions[callee.0].name.starts_with("llvm.lifetime."),
        Op::Load { .. } | Op::Store { .. } | Op::Gep { .. } => true,
        op => op.is_atomic_update(),
    }
}

/// How a kernel uses a variable in memory.
#[derive(Default)]
struct VariableUse {
    first: Option<Frame>,
    places: BTreeSet<SourcePosition>,
    /// True if some uses have no location in the program's own sources.
    has_unlocated_uses: bool,
    /// True if addresses in the variable depend on run-time values.
    indexed: bool,
}

impl VariableUse {
    fn of(kernel: &Kernel<'_>, group: usize) -> Self {
        let mut used = Self::default();
        let within = |local: LocalId| kernel.pointers.class_of(local) == PointerClass::Group(group);
        for instruction in kernel.function.instructions() {
            let pointers = instruction.op.typed_operands().into_iter().filter(|(ty, _)| is_pointer(ty));
            if !pointers.filter_map(|(_, value)| value.local()).any(within) {
                continue;
            }
            match &instruction.op {
                Op::Gep { indices, .. } => used.indexed |= indices.iter().any(|index| index.value.local().is_some()),
                Op::Phi { .. } | Op::Select { .. } => used.indexed = true,
                _ => {}
            }
            if !uses_pointers(kernel.module, &instruction.op) {
                continue;
            }
            let frames = instruction.location.map(|location| kernel.module.frames(location)).unwrap_or_default();
            match program_frame(&frames) {
                Some(frame) => {
                    used.places.insert(place(frame));
                    used.first.get_or_insert_with(|| frame.clone());
                }
                None => used.has_unlocated_uses = true,
            }
        }
        used
    }
}

/// A local array of the program.
struct Array {
    size: u64,
    /// The first access in the program's own sources.
    first: Frame,
    places: BTreeSet<SourcePosition>,
}

/// The local arrays of a function, and the pointers that point into a single one of them.
struct Arrays {
    sizes: BTreeMap<LocalId, u64>,
    /// The array that each pointer points into.
    into: BTreeMap<LocalId, LocalId>,
    /// Arrays whose addresses are stored, or merged with the addresses of other arrays.
    escaped: BTreeSet<LocalId>,
}

impl Arrays {
    fn of(function: &Function) -> Self {
        let mut all = Self { sizes: BTreeMap::new(), into: BTreeMap::new(), escaped: BTreeSet::new() };
        for instruction in function.instructions() {
            if let (Op::Alloca { ty: ty @ Type::Array(..), .. }, Some(result)) = (&instruction.op, instruction.result) {
                all.sizes.extend(ty.size().map(|size| (result, size)));
                all.into.insert(result, result);
            }
        }
        let mut previous_count = 0;
        while previous_count != all.into.len() {
            previous_count = all.into.len();
            function.instructions().for_each(|instruction| all.follow(instruction));
        }
        all
    }

    /// Records the pointer that an instruction makes, or the arrays whose addresses escape through the instruction.
    fn follow(&mut self, instruction: &Instruction) {
        let pointers = instruction.op.typed_operands().into_iter().filter(|(ty, _)| is_pointer(ty));
        let arrays: BTreeSet<LocalId> =
            pointers.filter_map(|(_, value)| self.into.get(&value.local()?).copied()).collect();
        match (&instruction.op, instruction.result) {
            (
                Op::Gep { .. } | Op::Cast { .. } | Op::Phi { .. } | Op::Select { .. } | Op::Freeze { .. },
                Some(result),
            ) => {
                if let [array] = arrays.iter().copied().collect::<Vec<_>>()[..] {
                    self.into.insert(result, array);
                } else {
                    self.escaped.extend(arrays);
                }
            }
            (Op::Store { value, .. }, _) => {
                self.escaped.extend(value.value.local().and_then(|local| self.into.get(&local)));
            }
            _ => {}
        }
    }

    /// The arrays with a location in the program's own sources.
    fn located(&self, module: &Module, function: &Function) -> Vec<Array> {
        let mut places: BTreeMap<LocalId, (Option<Frame>, BTreeSet<SourcePosition>)> = BTreeMap::new();
        for instruction in function.instructions().filter(|instruction| uses_pointers(module, &instruction.op)) {
            let frames = instruction.location.map(|location| module.frames(location)).unwrap_or_default();
            let Some(frame) = program_frame(&frames) else { continue };
            for array in instruction.op.operands().iter().filter_map(|value| self.into.get(&value.local()?)) {
                let (first, all) = places.entry(*array).or_default();
                all.insert(place(frame));
                if first.is_none() && !is_library(&frames[0].file) && matches!(instruction.op, Op::Gep { .. }) {
                    *first = Some(frame.clone());
                }
            }
        }
        let array = |(array, size): (&LocalId, &u64)| {
            let (first, places) = places.remove(array)?;
            Some(Array { size: *size, first: first?, places })
        };
        self.sizes.iter().filter(|(array, _)| !self.escaped.contains(array)).filter_map(array).collect()
    }
}
