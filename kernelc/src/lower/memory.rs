//! Emits loads and stores. The kernel accesses device memory through 64-bit addresses. It accesses tile_static memory,
//! local variables and constant tables as SPIR-V variables.

use super::addresses::{constant_address, steps};
use super::assembler::{Assembler, Scalar};
use super::pointer_sets::PointerClass;
use super::pointers::{Group, MemorySpace, Object, PointerAnalysis};
use super::scalars::{ScalarKind, aligned_at, leaves};
use crate::ir::{BinaryOp, CastOp, Constant, Function, Instruction, Module, Op, Operand, Type, Value};
use crate::kernel_error::KernelError;
use rspirv::dr;
use rspirv::spirv::{self, Capability, StorageClass, Word};

/// The SPIR-V variable of a group of objects that the same pointers may point to (see `pointers`; not a workgroup): an
/// array of one scalar type.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupVariable {
    pub(super) variable: Word,
    pub(super) class: StorageClass,
    /// The element type of the array.
    pub(super) element: Scalar,
    /// The unit of pointers into the array, in bytes: the size of an element, or 1.
    pub(super) unit: u64,
}

/// A summary of the accesses to a group, which determines the type of its variable.
#[derive(Clone, Copy)]
struct AccessPattern {
    /// The width of the narrowest access in bytes. If the alignment of an access is smaller than its size, the
    /// alignment counts as its width.
    width: u64,
    /// The type of the accesses, if all have the same type.
    ty: Option<Scalar>,
    /// True if there are accesses.
    any: bool,
    /// All offsets are multiples of this number of bytes.
    step: u64,
}

impl AccessPattern {
    fn access(&mut self, scalar: Scalar, align: u64) {
        let width = scalar.size().min(if align == 0 { 1 } else { 1 << align.trailing_zeros().min(3) });
        if width < scalar.size() || (self.any && self.ty != Some(scalar)) {
            self.ty = None;
        } else if !self.any {
            self.ty = Some(scalar);
        }
        self.any = true;
        self.width = self.width.min(width);
    }
    fn step(&mut self, bytes: u64) {
        if bytes != 0 {
            self.step = self.step.min(1 << bytes.trailing_zeros().min(3));
        }
    }
}

/// The largest power of two, up to 16, that is known to divide a value.
pub(super) fn known_divisor(definitions: &[Option<&Instruction>], value: &Value, depth: u32) -> u64 {
    let of = |op: &Operand| known_divisor(definitions, &op.value, depth + 1);
    match value {
        Value::Constant(Constant::Int(0) | Constant::Zero | Constant::Undef | Constant::Poison) => 16,
        Value::Constant(Constant::Int(v)) => 1 << v.trailing_zeros().min(4),
        Value::Constant(_) => 1,
        Value::Local(_) if depth > 6 => 1,
        Value::Local(id) => match definitions[id.0].map(|made| &made.op) {
            Some(Op::Binary { op: BinaryOp::Mul, left, right, .. }) => (of(left) * of(right)).min(16),
            Some(Op::Binary { op: BinaryOp::Shl, left, right, .. }) => match right.value {
                Value::Constant(Constant::Int(by @ 0..=64)) => (of(left) << by.min(4)).min(16),
                _ => of(left),
            },
            Some(Op::Binary {
                op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor, left, right, ..
            }) => of(left).min(of(right)),
            Some(Op::Binary { op: BinaryOp::And, left, right, .. }) => of(left).max(of(right)),
            Some(Op::Cast { op: CastOp::ZExt | CastOp::SExt | CastOp::Trunc, value, .. }) => of(value),
            Some(Op::Select { yes, no, .. }) => of(yes).min(of(no)),
            Some(Op::Phi { incoming, .. }) if depth < 3 => {
                incoming.iter().map(|(value, _)| known_divisor(definitions, value, depth + 2)).min().unwrap_or(1)
            }
            _ => 1,
        },
    }
}

/// Creates a variable for each group.
pub(super) fn group_variables(
    asm: &mut Assembler,
    module: &Module,
    function: &Function,
    pointers: &PointerAnalysis,
) -> Result<Vec<GroupVariable>, KernelError> {
    let mut patterns = vec![AccessPattern { width: 8, ty: None, any: false, step: 8 }; pointers.groups.len()];
    let definitions = function.definitions();
    let group_of = |value: &Value| -> Option<usize> {
        let class = match value {
            Value::Local(id) => pointers.class_of(*id),
            Value::Constant(constant) => pointers.class_of_global(constant_address(constant)?.0),
        };
        match class {
            PointerClass::Group(group) => Some(group),
            PointerClass::Device => None,
        }
    };
    for Instruction { op, location, .. } in function.blocks.iter().flat_map(|b| &b.instructions) {
        let constants = op.operands().into_iter().filter_map(|value| match value {
            Value::Constant(constant) => constant_address(constant),
            Value::Local(_) => None,
        });
        for (global, at) in constants {
            if let PointerClass::Group(group) = pointers.class_of_global(global) {
                patterns[group].step(at.unsigned_abs());
            }
        }
        match op {
            Op::Load { ty, pointer, align, .. } | Op::Store { value: Operand { ty, .. }, pointer, align, .. } => {
                let Some(group) = group_of(&pointer.value) else { continue };
                let Some(all) = leaves(ty) else { continue };
                for leaf in all {
                    let Some(scalar) = leaf.kind.memory() else {
                        return Err(KernelError::at(
                            module,
                            *location,
                            format!(
                                "internal: SPIR-V has no memory access for type {ty:?}; please report this with the \
                                 source"
                            ),
                        ));
                    };
                    let align = aligned_at(*align, leaf.offset);
                    patterns[group].access(scalar, if align == 0 { scalar.size() } else { align });
                    patterns[group].step(leaf.offset);
                }
            }
            Op::AtomicRmw { pointer, value, .. } | Op::CmpXchg { pointer, new: value, .. } => {
                let Some(group) = group_of(&pointer.value) else { continue };
                let size = value.ty.size().unwrap_or(4);
                patterns[group].access(Scalar::unsigned(size), size);
            }
            Op::Call { arguments, .. } => {
                let pointers = arguments.iter().filter(|argument| matches!(argument.ty, Type::Pointer(_)));
                for group in pointers.filter_map(|argument| group_of(&argument.value)) {
                    patterns[group].access(Scalar::U32, 4);
                }
            }
            Op::Gep { source, base, indices, .. } => {
                let Some(group) = group_of(&base.value) else { continue };
                let Some(steps) = steps(source, indices) else { continue };
                patterns[group].step(steps.offset.unsigned_abs());
                for (index, by) in steps.by {
                    let index_divisor = known_divisor(&definitions, &index.value, 0);
                    patterns[group].step((index_divisor << by.trailing_zeros().min(3)).min(8));
                }
            }
            _ => {}
        }
    }
    // Threads that access one small array at different indices are faster if it is in registers. Several arrays need too many comparisons.
    let are_in_memory = pointers.groups.iter().filter(|group| is_small_array(group)).count() > 1;
    let groups = pointers.groups.iter().zip(patterns);
    groups.map(|(group, pattern)| variable(asm, module, group, pattern, are_in_memory)).collect()
}

/// The size of the smallest local array that drivers with `DeviceProperty::SmallArraysInRegisters` keep in memory.
const MEMORY_ARRAY_BYTES: u64 = 256;

/// True for a local array that these drivers keep in registers.
fn is_small_array(group: &Group) -> bool {
    group.space == MemorySpace::Private && group.size < MEMORY_ARRAY_BYTES
}

/// `are_in_memory`: small local arrays are in memory.
fn variable(
    asm: &mut Assembler,
    module: &Module,
    group: &Group,
    pattern: AccessPattern,
    are_in_memory: bool,
) -> Result<GroupVariable, KernelError> {
    let width = match (group.space, pattern.width) {
        // Two threads may write different parts of one word, so elements must be as small as the accesses.
        (MemorySpace::Tile, 1) => {
            asm.need(Capability::Int8);
            1
        }
        (MemorySpace::Tile, 2) => {
            asm.need(Capability::Int16);
            2
        }
        // In memory of one thread and in tables, smaller values are parts of 32-bit words.
        (_, width) => width.max(4),
    };
    let element = pattern.ty.filter(|ty| ty.size() == width).unwrap_or(Scalar::unsigned(width));
    let unit = if pattern.step >= width { width } else { 1 };
    let element_type = asm.scalar(element);
    let count = group.size.div_ceil(width);
    let initial = initial(module, group)?;
    let array = if are_in_memory && is_small_array(group) && initial.is_none() {
        asm.array_in_memory(element_type, count, MEMORY_ARRAY_BYTES / width)
    } else {
        asm.array(element_type, count)
    };
    let class = match group.space {
        MemorySpace::Tile => StorageClass::Workgroup,
        MemorySpace::Private => StorageClass::Function,
        MemorySpace::Table => StorageClass::Private,
    };
    let initializer = initial.map(|bytes| {
        let parts = (0..count)
            .map(|n| {
                let at = (n * width) as usize;
                let mut word = [0_u8; 8];
                for (i, byte) in word.iter_mut().take(width as usize).enumerate() {
                    *byte = bytes.get(at + i).copied().unwrap_or(0);
                }
                asm.constant(element, u64::from_le_bytes(word))
            })
            .collect();
        asm.composite(array, parts)
    });
    let variable = asm.variable(class, array, initializer);
    Ok(GroupVariable { variable, class, element, unit })
}

/// The initial bytes of a group, if it contains a constant table.
fn initial(module: &Module, group: &Group) -> Result<Option<Vec<u8>>, KernelError> {
    if group.space == MemorySpace::Tile {
        return Ok(None);
    }
    let mut bytes = vec![0; group.size as usize];
    let mut any = false;
    for (object, &at) in &group.objects {
        let Object::Global(id) = object else { continue };
        let global = &module.globals[id.0];
        if let Some(initializer) = &global.initializer {
            any = true;
            if write(&global.ty, initializer, &mut bytes, at as usize).is_none() {
                return Err(KernelError::new(format!(
                    "the constant '{}' holds addresses of the host, which kernels cannot use: store indices instead",
                    global.name
                )));
            }
        }
    }
    Ok(any.then_some(bytes))
}

fn write(ty: &Type, constant: &Constant, bytes: &mut [u8], at: usize) -> Option<()> {
    match constant {
        Constant::Zero | Constant::Undef | Constant::Poison => Some(()),
        Constant::Bytes(text) => {
            bytes.get_mut(at..at + text.len())?.copy_from_slice(text);
            Some(())
        }
        Constant::Aggregate(parts) => {
            let step = match ty {
                Type::Array(_, element) => element.size(),
                Type::Vector(_, element) => element.store_size(),
                _ => None,
            };
            for (n, part) in parts.iter().enumerate() {
                let offset = match step {
                    Some(step) => n as u64 * step,
                    None => ty.field_offset(n)?,
                };
                let Value::Constant(value) = &part.value else { return None };
                write(&part.ty, value, bytes, at + offset as usize)?;
            }
            Some(())
        }
        scalar => {
            let bits = scalar_bits(ty, scalar)?;
            let size = ty.store_size()? as usize;
            bytes.get_mut(at..at + size)?.copy_from_slice(bits.to_le_bytes().get(..size)?);
            Some(())
        }
    }
}

/// The bits of a scalar constant, in the low bits of the result.
pub(super) fn scalar_bits(ty: &Type, constant: &Constant) -> Option<u64> {
    match (ty, constant) {
        (Type::Int(bits), Constant::Int(value)) => {
            Some(if *bits >= 64 { *value as u64 } else { *value as u64 & ((1 << bits) - 1) })
        }
        (Type::Float, Constant::Float(bits)) => Some(u64::from(float_bits_of_double(*bits))),
        (Type::Double, Constant::Float(bits)) => Some(*bits),
        (Type::Half, Constant::Float(bits)) => Some(u64::from(half(*bits))),
        (_, Constant::Zero) => Some(0),
        _ => None,
    }
}

/// The bits of a float that is given as a double.
fn float_bits_of_double(bits: u64) -> u32 {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        // Keep the payload's upper bits.
        return ((bits >> 32) as u32 & 0x8000_0000) | 0x7f80_0000 | ((bits >> 29) as u32 & 0x007f_ffff).max(1);
    }
    (value as f32).to_bits()
}

/// The bits of a half that is given as a double.
fn half(bits: u64) -> u16 {
    let sign = ((bits >> 48) & 0x8000) as u16;
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mantissa = bits & ((1 << 52) - 1);
    match exponent {
        1024 => sign | 0x7c00 | ((mantissa >> 42) as u16).max(u16::from(mantissa != 0)),
        -14..=15 => sign | (((exponent + 15) as u16) << 10) | (mantissa >> 42) as u16,
        -24..=-15 => sign | ((mantissa | 1 << 52) >> (42 - 14 - exponent)) as u16,
        _ => sign,
    }
}

/// An address in the SPIR-V module.
#[derive(Clone, Copy, Debug)]
pub(super) enum Address {
    /// A 64-bit integer.
    Device(Word),
    /// A 32-bit offset into the variable of a group, in units of [`GroupVariable::unit`] bytes.
    In(GroupVariable, Word),
}

impl Address {
    /// The 64-bit address, or the offset.
    pub(super) fn word(self) -> Word {
        match self {
            Address::Device(at) | Address::In(_, at) => at,
        }
    }

    /// The address `bytes` bytes after this one.
    pub(super) fn plus(self, asm: &mut Assembler, bytes: u64) -> Address {
        if bytes == 0 {
            return self;
        }
        match self {
            Address::Device(at) => {
                let by = asm.constant(Scalar::U64, bytes);
                Address::Device(asm.make(spirv::Op::IAdd, Scalar::U64, &[at, by]))
            }
            // `bytes` is a multiple of the unit: the unit exceeds 1 only if all offsets are multiples of it (see
            // `variable`).
            Address::In(group, at) => {
                let by = asm.constant(Scalar::U32, bytes / group.unit);
                Address::In(group, asm.sum_u32(at, by))
            }
        }
    }
}

/// A pointer to a scalar in device memory.
pub(super) fn device_pointer(asm: &mut Assembler, at: Word, scalar: Scalar) -> Word {
    match scalar {
        Scalar::U8 => asm.need(Capability::StorageBuffer8BitAccess),
        Scalar::U16 | Scalar::F16 => asm.need(Capability::StorageBuffer16BitAccess),
        _ => {}
    }
    let ty = asm.scalar(scalar);
    let pointer = asm.pointer(StorageClass::PhysicalStorageBuffer, ty);
    asm.op(spirv::Op::ConvertUToPtr, pointer, &[at])
}

/// The pointer, scope and semantics of a relaxed atomic access, which bypasses caches that other tiles do not share. With NVIDIA's driver,
/// volatile accesses and accesses after fences still read the L1 cache.
fn coherent_operands(asm: &mut Assembler, at: Word) -> (Word, Word, Word) {
    let device = asm.constant(Scalar::U32, spirv::Scope::Device as u64);
    let relaxed = asm.constant(Scalar::U32, 0);
    (device_pointer(asm, at, Scalar::U32), device, relaxed)
}

fn aligned(align: u64, scalar: Scalar, volatile: bool) -> Vec<dr::Operand> {
    let mut flags = spirv::MemoryAccess::ALIGNED;
    if volatile {
        flags |= spirv::MemoryAccess::VOLATILE;
    }
    let align = if align == 0 { scalar.size() } else { (1 << align.trailing_zeros()).min(16) };
    vec![dr::Operand::MemoryAccess(flags), dr::Operand::LiteralBit32(align as u32)]
}

/// The width of the pieces into which an access must be split, because Vulkan allows only accesses that are aligned to their size. `None`
/// if the access needs no split.
fn piece(asm: &Assembler, at: Address, scalar: Scalar, align: u64) -> Option<u64> {
    if asm.coherent && matches!(at, Address::Device(_)) && scalar.size() == 8 && (align == 0 || align >= 4) {
        // Not every device has atomic accesses of 8 bytes.
        return Some(4);
    }
    let align = if align == 0 { scalar.size() } else { 1 << align.trailing_zeros().min(3) };
    let needed = match at {
        Address::Device(_) => scalar.size(),
        // All offsets are multiples of the element size, so accesses are aligned.
        Address::In(group, _) if group.unit > 1 => return None,
        Address::In(group, _) => scalar.size().min(group.element.size()),
    };
    (align < needed).then_some(align)
}

/// Loads a scalar into a register.
pub(super) fn load(asm: &mut Assembler, from: Address, kind: ScalarKind, align: u64, volatile: bool) -> Option<Word> {
    let scalar = kind.memory()?;
    if let Some(piece) = piece(asm, from, scalar, align) {
        let whole = Scalar::unsigned(scalar.size()).max(Scalar::U32);
        let mut value = asm.constant(whole, 0);
        for n in 0..scalar.size() / piece {
            let at = from.plus(asm, n * piece);
            let part = load(asm, at, ScalarKind::Int(piece as u32 * 8), piece, volatile)?;
            let wide = if whole == Scalar::U64 { asm.make(spirv::Op::UConvert, whole, &[part]) } else { part };
            let by = asm.constant(Scalar::U32, n * piece * 8);
            let placed = if n == 0 { wide } else { asm.make(spirv::Op::ShiftLeftLogical, whole, &[wide, by]) };
            value = if n == 0 { placed } else { asm.make(spirv::Op::BitwiseOr, whole, &[value, placed]) };
        }
        return Some(match kind.register() {
            Scalar::F16 => shrink(asm, value, Scalar::F16),
            register => recast(asm, value, whole, register),
        });
    }
    let raw = match from {
        Address::Device(at) if asm.coherent && scalar.size() == 4 => {
            let (pointer, scope, relaxed) = coherent_operands(asm, at);
            let raw = asm.make(spirv::Op::AtomicLoad, Scalar::U32, &[pointer, scope, relaxed]);
            recast(asm, raw, Scalar::U32, scalar)
        }
        Address::Device(at) => {
            let pointer = device_pointer(asm, at, scalar);
            let ty = asm.scalar(scalar);
            let id = asm.id();
            let mut operands = vec![dr::Operand::IdRef(pointer)];
            operands.extend(aligned(align, scalar, volatile));
            asm.push(dr::Instruction::new(spirv::Op::Load, Some(ty), Some(id), operands));
            id
        }
        Address::In(group, at) if scalar.size() < group.element.size().min(4) => {
            let part = load_part(asm, group, at, scalar);
            return Some(match kind {
                ScalarKind::Int(1) => {
                    let zero = asm.constant(Scalar::U32, 0);
                    asm.make(spirv::Op::INotEqual, Scalar::Bool, &[part, zero])
                }
                ScalarKind::Half => shrink(asm, part, Scalar::F16),
                _ => part,
            });
        }
        Address::In(group, at) => load_elements(asm, group, at, scalar),
    };
    Some(widen(asm, raw, scalar, kind))
}

/// Stores a scalar from a register.
pub(super) fn store(
    asm: &mut Assembler,
    to: Address,
    kind: ScalarKind,
    value: Word,
    align: u64,
    volatile: bool,
) -> Option<()> {
    let scalar = kind.memory()?;
    if let Some(piece) = piece(asm, to, scalar, align) {
        let whole = Scalar::unsigned(scalar.size()).max(Scalar::U32);
        let value = match kind.register() {
            Scalar::F16 => {
                asm.need(Capability::Int16);
                let bits = recast(asm, value, Scalar::F16, Scalar::U16);
                asm.make(spirv::Op::UConvert, Scalar::U32, &[bits])
            }
            register => recast(asm, value, register, whole),
        };
        for n in 0..scalar.size() / piece {
            let by = asm.constant(Scalar::U32, n * piece * 8);
            let low = if n == 0 { value } else { asm.make(spirv::Op::ShiftRightLogical, whole, &[value, by]) };
            let part = if whole == Scalar::U64 { asm.make(spirv::Op::UConvert, Scalar::U32, &[low]) } else { low };
            let at = to.plus(asm, n * piece);
            self::store(asm, at, ScalarKind::Int(piece as u32 * 8), part, piece, volatile)?;
        }
        return Some(());
    }
    if let Address::In(group, at) = to {
        if scalar.size() < group.element.size().min(4) {
            let value = match kind {
                ScalarKind::Int(1) => {
                    let (one, zero) = (asm.constant(Scalar::U32, 1), asm.constant(Scalar::U32, 0));
                    asm.make(spirv::Op::Select, Scalar::U32, &[value, one, zero])
                }
                ScalarKind::Half => {
                    asm.need(Capability::Int16);
                    let bits = recast(asm, value, Scalar::F16, Scalar::U16);
                    asm.make(spirv::Op::UConvert, Scalar::U32, &[bits])
                }
                _ => value,
            };
            store_part(asm, group, at, scalar, value);
            return Some(());
        }
    }
    let value = narrow_to(asm, value, scalar, kind);
    match to {
        Address::Device(at) if asm.coherent && scalar.size() == 4 => {
            let raw = recast(asm, value, scalar, Scalar::U32);
            let (pointer, scope, relaxed) = coherent_operands(asm, at);
            let operands = [pointer, scope, relaxed, raw].map(dr::Operand::IdRef).to_vec();
            asm.push(dr::Instruction::new(spirv::Op::AtomicStore, None, None, operands));
        }
        Address::Device(at) => {
            let pointer = device_pointer(asm, at, scalar);
            let mut operands = vec![dr::Operand::IdRef(pointer), dr::Operand::IdRef(value)];
            operands.extend(aligned(align, scalar, volatile));
            asm.push(dr::Instruction::new(spirv::Op::Store, None, None, operands));
        }
        Address::In(group, at) => store_elements(asm, group, at, scalar, value),
    }
    Some(())
}

/// Converts a value from its type in memory to its register type.
fn widen(asm: &mut Assembler, raw: Word, scalar: Scalar, kind: ScalarKind) -> Word {
    match (scalar, kind) {
        (Scalar::U8, ScalarKind::Int(1)) => {
            let wide = asm.make(spirv::Op::UConvert, Scalar::U32, &[raw]);
            let one = asm.constant(Scalar::U32, 1);
            let bit = asm.make(spirv::Op::BitwiseAnd, Scalar::U32, &[wide, one]);
            let zero = asm.constant(Scalar::U32, 0);
            asm.make(spirv::Op::INotEqual, Scalar::Bool, &[bit, zero])
        }
        (Scalar::U8 | Scalar::U16, _) => asm.make(spirv::Op::UConvert, Scalar::U32, &[raw]),
        _ => raw,
    }
}

/// Converts a value from its register type to its type in memory.
fn narrow_to(asm: &mut Assembler, value: Word, scalar: Scalar, kind: ScalarKind) -> Word {
    match (scalar, kind) {
        (Scalar::U8, ScalarKind::Int(1)) => {
            let one = asm.constant(Scalar::U32, 1);
            let zero = asm.constant(Scalar::U32, 0);
            let wide = asm.make(spirv::Op::Select, Scalar::U32, &[value, one, zero]);
            asm.make(spirv::Op::UConvert, Scalar::U8, &[wide])
        }
        (Scalar::U8 | Scalar::U16, _) => asm.make(spirv::Op::UConvert, scalar, &[value]),
        _ => value,
    }
}

/// The same bits as a value of another type.
pub(super) fn recast(asm: &mut Assembler, value: Word, from: Scalar, to: Scalar) -> Word {
    if from == to { value } else { asm.make(spirv::Op::Bitcast, to, &[value]) }
}

/// A pointer to the element that is `plus` elements after the offset `at`.
pub(super) fn element_pointer(asm: &mut Assembler, group: GroupVariable, at: Word, plus: u64) -> Word {
    let size = group.element.size();
    let mut index = at;
    if group.unit != size {
        let by = asm.constant(Scalar::U32, u64::from(size.trailing_zeros()));
        index = asm.make(spirv::Op::ShiftRightLogical, Scalar::U32, &[index, by]);
    }
    if plus != 0 {
        let by = asm.constant(Scalar::U32, plus);
        index = asm.make(spirv::Op::IAdd, Scalar::U32, &[index, by]);
    }
    let element = asm.scalar(group.element);
    asm.element(group.class, element, group.variable, index)
}

/// The offset of the address `at` within an element of 4 or 8 bytes, in bits.
fn bits_into(asm: &mut Assembler, group: GroupVariable, at: Word) -> Word {
    if group.unit != 1 {
        return asm.constant(Scalar::U32, 0);
    }
    let mask = asm.constant(Scalar::U32, group.element.size() - 1);
    let three = asm.constant(Scalar::U32, 3);
    let byte = asm.make(spirv::Op::BitwiseAnd, Scalar::U32, &[at, mask]);
    asm.make(spirv::Op::ShiftLeftLogical, Scalar::U32, &[byte, three])
}

/// Loads 1 or 2 bytes of a 4-byte element into a 32-bit register.
fn load_part(asm: &mut Assembler, group: GroupVariable, at: Word, scalar: Scalar) -> Word {
    let pointer = element_pointer(asm, group, at, 0);
    let whole = asm.make(spirv::Op::Load, group.element, &[pointer]);
    let whole = recast(asm, whole, group.element, Scalar::U32);
    let bits = bits_into(asm, group, at);
    let low = asm.make(spirv::Op::ShiftRightLogical, Scalar::U32, &[whole, bits]);
    let mask = asm.constant(Scalar::U32, (1 << (scalar.size() * 8)) - 1);
    asm.make(spirv::Op::BitwiseAnd, Scalar::U32, &[low, mask])
}

/// Stores 1 or 2 bytes into a 4-byte element; higher bits of the value are ignored.
fn store_part(asm: &mut Assembler, group: GroupVariable, at: Word, scalar: Scalar, value: Word) {
    let pointer = element_pointer(asm, group, at, 0);
    let whole = asm.make(spirv::Op::Load, group.element, &[pointer]);
    let whole = recast(asm, whole, group.element, Scalar::U32);
    let bits = bits_into(asm, group, at);
    let ones = asm.constant(Scalar::U32, (1 << (scalar.size() * 8)) - 1);
    let part_mask = asm.make(spirv::Op::ShiftLeftLogical, Scalar::U32, &[ones, bits]);
    let rest = asm.make(spirv::Op::Not, Scalar::U32, &[part_mask]);
    let other_bits = asm.make(spirv::Op::BitwiseAnd, Scalar::U32, &[whole, rest]);
    let part = asm.make(spirv::Op::BitwiseAnd, Scalar::U32, &[value, ones]);
    let placed = asm.make(spirv::Op::ShiftLeftLogical, Scalar::U32, &[part, bits]);
    let new = asm.make(spirv::Op::BitwiseOr, Scalar::U32, &[other_bits, placed]);
    let new = recast(asm, new, Scalar::U32, group.element);
    emit_store(asm, pointer, new);
}

fn emit_store(asm: &mut Assembler, pointer: Word, value: Word) {
    let operands = vec![dr::Operand::IdRef(pointer), dr::Operand::IdRef(value)];
    asm.push(dr::Instruction::new(spirv::Op::Store, None, None, operands));
}

fn load_elements(asm: &mut Assembler, group: GroupVariable, at: Word, scalar: Scalar) -> Word {
    let element = group.element;
    if scalar.size() == element.size() {
        let pointer = element_pointer(asm, group, at, 0);
        let value = asm.make(spirv::Op::Load, element, &[pointer]);
        return recast(asm, value, element, scalar);
    }
    // The value covers several elements. The first element has the lowest bits.
    let whole = Scalar::unsigned(scalar.size());
    let mut value = None;
    for n in 0..scalar.size() / element.size() {
        let pointer = element_pointer(asm, group, at, n);
        let part = asm.make(spirv::Op::Load, element, &[pointer]);
        let part = recast(asm, part, element, Scalar::unsigned(element.size()));
        let wide = if whole == Scalar::U16 || element.size() == whole.size() {
            asm.make(spirv::Op::UConvert, Scalar::U32, &[part])
        } else {
            asm.make(spirv::Op::UConvert, whole, &[part])
        };
        let register = if whole == Scalar::U16 { Scalar::U32 } else { whole };
        let by = asm.constant(Scalar::U32, n * element.size() * 8);
        let placed = if n == 0 { wide } else { asm.make(spirv::Op::ShiftLeftLogical, register, &[wide, by]) };
        value = Some(match value {
            None => placed,
            Some(before) => asm.make(spirv::Op::BitwiseOr, register, &[before, placed]),
        });
    }
    let value = value.unwrap_or_else(|| asm.constant(whole, 0));
    if whole == Scalar::U16 { shrink(asm, value, scalar) } else { recast(asm, value, whole, scalar) }
}

/// Converts a 32-bit value to a narrower type in memory.
pub(super) fn shrink(asm: &mut Assembler, value: Word, to: Scalar) -> Word {
    match to {
        Scalar::U8 => {
            asm.need(Capability::Int8);
            asm.make(spirv::Op::UConvert, Scalar::U8, &[value])
        }
        Scalar::U16 | Scalar::F16 => {
            asm.need(Capability::Int16);
            let half = asm.make(spirv::Op::UConvert, Scalar::U16, &[value]);
            recast(asm, half, Scalar::U16, to)
        }
        other => recast(asm, value, Scalar::U32, other),
    }
}

fn store_elements(asm: &mut Assembler, group: GroupVariable, at: Word, scalar: Scalar, value: Word) {
    let element = group.element;
    if scalar.size() == element.size() {
        let pointer = element_pointer(asm, group, at, 0);
        let value = recast(asm, value, scalar, element);
        emit_store(asm, pointer, value);
        return;
    }
    let whole = Scalar::unsigned(scalar.size());
    let value = recast(asm, value, scalar, whole);
    let (value, register) = if whole == Scalar::U16 {
        (asm.make(spirv::Op::UConvert, Scalar::U32, &[value]), Scalar::U32)
    } else {
        (value, whole)
    };
    for n in 0..scalar.size() / element.size() {
        let by = asm.constant(Scalar::U32, n * element.size() * 8);
        let low = if n == 0 { value } else { asm.make(spirv::Op::ShiftRightLogical, register, &[value, by]) };
        let part = Scalar::unsigned(element.size());
        let part_value = if part == register { low } else { asm.make(spirv::Op::UConvert, part, &[low]) };
        let part_value = recast(asm, part_value, part, element);
        let pointer = element_pointer(asm, group, at, n);
        emit_store(asm, pointer, part_value);
    }
}
