//! The state of a kernel's emission, and operations that many instructions share: values, addresses, loads and barriers.

use super::addresses::{constant_address, steps};
use super::assembler::{Assembler, Scalar, Workgroup};
use super::capture_uses::ThreadBytes;
use super::checked::{Checked, Names};
use super::division;
use super::global_order::{Order, barrier_orders};
use super::late_loads::{LateLoads, late_loads};
use super::memory::{self, Address, GroupVariable};
use super::narrow_addresses::NarrowAddresses;
use super::pointer_sets::PointerClass;
use super::pointers::{NO_CONSTANT, Object, PointerAnalysis};
use super::reach::{self, Provenances};
use super::scalars::{Leaf, ScalarKind, aligned_at, leaves};
use super::store_groups::StoreGroups;
use super::tile_loads;
use super::uniform::Uniform;
use crate::bounds_option::Bounds;
use crate::device_abi::{DeviceFunction, GLOBAL_MEMORY, Position, TILE_MEMORY};
use crate::ir::{BlockId, Constant, Function, GlobalId, LocalId, LocationId, Module, Op, Operand, Type, Value};
use crate::kernel_error::KernelError;
use revamp_image::{DeviceProperty, ImageUse};
use rspirv::dr;
use rspirv::spirv::{self, Op as S, StorageClass, Word};
use std::collections::{HashMap, HashSet};

/// How kernels are compiled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Emits source lines into the module, for the messages of drivers and tools.
    pub lines: bool,
    /// The handling of out-of-bounds accesses to arrays and array_views.
    pub bounds: Bounds,
    /// True for modules whose loops the driver unrolls.
    pub rolled: bool,
}

pub(super) type Lowered<T> = Result<T, KernelError>;

/// True if tiles may exchange data through device memory. Such a kernel has fences around locks, which `passes::lock_fences` inserts, or it
/// has fences from the source and atomic operations on device memory.
fn tiles_communicate(module: &Module, function: &Function, pointers: &PointerAnalysis) -> bool {
    let is_device = |pointer: &Operand| match &pointer.value {
        Value::Local(local) => pointers.class_of(*local) == PointerClass::Device,
        Value::Constant(_) => false,
    };
    let is_global = |memory: &Operand| memory.unsigned().is_some_and(|bits| bits & GLOBAL_MEMORY != 0);
    let global = |op: &Op| match op {
        Op::Call { arguments, .. } if DeviceFunction::called(module, op) == Some(DeviceFunction::MemoryFence) => {
            arguments.iter().any(is_global)
        }
        _ => false,
    };
    let has = |wanted: &dyn Fn(&Op) -> bool| function.instructions().any(|i| wanted(&i.op));
    has(&|op| matches!(op, Op::Fence))
        || has(&global)
            && has(&|op| match op {
                Op::AtomicRmw { pointer, .. } | Op::CmpXchg { pointer, .. } => is_device(pointer),
                _ => false,
            })
}

/// The result of emitting a kernel.
pub(super) struct Emitted {
    pub(super) spirv: Vec<u32>,
    /// The descriptions of the accesses that the kernel can report.
    pub(super) checks: Option<Vec<String>>,
    /// The images that the kernel reads, by binding.
    pub(super) images: Vec<ImageUse>,
}

/// The part of an IR value that a SPIR-V phi holds.
#[derive(Clone, Copy)]
pub(super) enum PhiLeaf {
    /// The leaf (scalar) at this index.
    Value(usize),
    /// For bounds checks: the start of the memory that the pointer may access.
    Start,
    /// For bounds checks: the size of the memory that the pointer may access.
    Size,
    /// The offset from a captured pointer (`narrow_offsets`).
    Offset,
}

/// A phi that was emitted without its operands, because they may be defined later.
pub(super) struct PendingPhi {
    /// The position of the phi in the module.
    pub(super) place: (usize, usize),
    pub(super) local: LocalId,
    pub(super) leaf: PhiLeaf,
    pub(super) incoming: Vec<(Value, BlockId)>,
}

pub(super) struct Emitter<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
    pub(super) options: &'m Options,
    pub(super) asm: Assembler,
    pub(super) pointers: &'m PointerAnalysis,
    pub(super) group_variables: Vec<GroupVariable>,
    pub(super) workgroup: Option<Workgroup>,
    /// The SPIR-V ids of the leaves (scalars) of each IR value.
    pub(super) values: HashMap<LocalId, Vec<Word>>,
    pub(super) labels: HashMap<BlockId, Word>,
    pub(super) pending_phis: Vec<PendingPhi>,
    pub(super) files: HashMap<String, Word>,
    pub(super) arguments: Word,
    pub(super) block_size: u64,
    /// The SPIR-V block that is being emitted.
    pub(super) block: Word,
    /// The last SPIR-V block of each IR block.
    pub(super) ends: HashMap<BlockId, Word>,
    /// The location of the instruction that is being emitted.
    pub(super) location: Option<LocationId>,
    /// The block and the index of the instruction that is being emitted.
    pub(super) place: (usize, usize),
    /// The launches in which each barrier must order device memory, by the block and the index of the barrier.
    barriers: HashMap<(usize, usize), Order>,
    pub(super) uniform: Uniform,
    pub(super) provenances: Provenances,
    pub(super) checked: Checked,
    pub(super) names: &'m Names,
    /// The images that the kernel reads, by binding, each with its SPIR-V variable.
    pub(super) images: Vec<(ImageUse, Word)>,
    pub(super) shared_divisors: Vec<LocalId>,
    /// The factors of each product in the current block that may be fused with a sum.
    pub(super) products: HashMap<Word, [Word; 2]>,
    pub(super) narrow_addresses: NarrowAddresses<'m>,
    pub(super) store_groups: StoreGroups,
    pub(super) late_loads: LateLoads<'m>,
    /// See [`tile_loads`].
    blocks_with_adjacent_loads: HashSet<usize>,
}

impl<'m> Emitter<'m> {
    pub(super) fn new(
        module: &'m Module,
        function: &'m Function,
        options: &'m Options,
        pointers: &'m PointerAnalysis,
        block_size: u64,
        names: &'m Names,
    ) -> Lowered<Self> {
        let mut asm = Assembler::new();
        asm.coherent = tiles_communicate(module, function, pointers);
        let group_variables = memory::group_variables(&mut asm, module, function, pointers)?;
        // Checked and coherent stores have forms of their own.
        let store_groups = if options.bounds == Bounds::Off && !asm.coherent {
            StoreGroups::of(module, function, pointers)
        } else {
            StoreGroups::default()
        };
        let barriers = barrier_orders(module, function, pointers);
        let late_loads = if options.rolled && options.bounds == Bounds::Off && !asm.coherent {
            let of_aliases = barriers.iter().filter(|(_, order)| **order == Order::IfShared);
            late_loads(function, pointers, &of_aliases.map(|(&(block, _), _)| block).collect::<Vec<_>>())
        } else {
            LateLoads::default()
        };
        Ok(Emitter {
            module,
            function,
            options,
            asm,
            pointers,
            group_variables,
            workgroup: None,
            values: HashMap::new(),
            labels: HashMap::new(),
            pending_phis: Vec::new(),
            files: HashMap::new(),
            arguments: 0,
            block_size,
            block: 0,
            ends: HashMap::new(),
            location: None,
            place: (0, 0),
            barriers,
            uniform: Uniform::of(function, pointers, block_size, options.bounds),
            provenances: if options.bounds == Bounds::Off {
                Provenances::default()
            } else {
                reach::provenances(module, function, pointers)
            },
            checked: Checked::default(),
            names,
            images: Vec::new(),
            shared_divisors: division::shared_divisors(function),
            products: HashMap::new(),
            narrow_addresses: NarrowAddresses::of(function, pointers, options.rolled),
            store_groups,
            late_loads,
            blocks_with_adjacent_loads: tile_loads::blocks_with_adjacent_loads(function, pointers),
        })
    }

    pub(super) fn label(&self, block: BlockId) -> Word {
        self.labels.get(&block).copied().unwrap_or(0)
    }

    pub(super) fn internal(&self, what: &str) -> KernelError {
        KernelError::new(format!("internal: {what}; please report this with the source"))
    }

    pub(super) fn leaves(&self, ty: &Type) -> Lowered<Vec<Leaf>> {
        leaves(ty).ok_or_else(|| {
            KernelError::new(match ty {
                Type::Int(bits) => format!("an integer of {bits} bits is used: the limit in kernels is 64 bits"),
                other => format!("a kernel cannot hold a value of this type ({other:?})"),
            })
        })
    }

    /// The kind of a scalar type.
    pub(super) fn kind(&self, ty: &Type) -> Lowered<ScalarKind> {
        match self.leaves(ty)?.as_slice() {
            [one] => Ok(one.kind),
            _ => Err(self.internal("a value has several components, but must be a scalar")),
        }
    }

    /// The pointer class of an operand; `Device` if it is not a pointer.
    pub(super) fn class_of(&self, operand: &Operand) -> PointerClass {
        match &operand.value {
            Value::Local(local) => self.pointers.class_of(*local),
            Value::Constant(constant) => constant_address(constant)
                .map_or(PointerClass::Device, |(global, _)| self.pointers.class_of_global(global)),
        }
    }

    /// The ids of the leaves of an operand.
    pub(super) fn words(&mut self, operand: &Operand) -> Lowered<Vec<Word>> {
        let class = self.class_of(operand);
        self.value(&operand.ty, &operand.value, class)
    }

    pub(super) fn word(&mut self, operand: &Operand) -> Lowered<Word> {
        match self.words(operand)?.as_slice() {
            [one] => Ok(*one),
            _ => Err(self.internal("a value has several components, but must be a scalar")),
        }
    }

    /// The ids of the leaves of a value. `class`: the pointer class for null pointers, because their value does not determine the class.
    pub(super) fn value(&mut self, ty: &Type, value: &Value, class: PointerClass) -> Lowered<Vec<Word>> {
        match value {
            Value::Local(local) => match self.values.get(local) {
                Some(words) => Ok(words.clone()),
                None => Err(self.internal("a value is used before its definition was lowered")),
            },
            Value::Constant(constant) => self.constant(ty, constant, class),
        }
    }

    pub(super) fn constant(&mut self, ty: &Type, constant: &Constant, class: PointerClass) -> Lowered<Vec<Word>> {
        let all = self.leaves(ty)?;
        match constant {
            Constant::Zero => Ok(all.iter().map(|leaf| self.null(leaf.kind, class)).collect()),
            Constant::Undef | Constant::Poison => Ok(all
                .iter()
                .map(|leaf| {
                    let scalar = self.register(leaf.kind, class);
                    self.asm.undef(scalar)
                })
                .collect()),
            Constant::Aggregate(parts) => {
                let mut words = Vec::new();
                for part in parts.iter() {
                    words.extend(self.value(&part.ty, &part.value, class)?);
                }
                Ok(words)
            }
            Constant::Bytes(bytes) => {
                Ok(bytes.iter().map(|&byte| self.asm.constant(Scalar::U32, u64::from(byte))).collect())
            }
            Constant::Function(_) => Err(KernelError::new(
                "a kernel cannot use the address of a function: restrict(amp) has no calls through pointers".into(),
            )),
            other => {
                if let Some((global, at)) = constant_address(other) {
                    return self.global_address(global, at).map(|word| vec![word]);
                }
                let [leaf] = all.as_slice() else {
                    return Err(self.internal("a constant has a form that the kernel compiler does not know"));
                };
                match memory::scalar_bits(ty, other) {
                    Some(bits) => {
                        let scalar = self.register(leaf.kind, class);
                        Ok(vec![self.asm.constant(scalar, bits)])
                    }
                    None => Err(KernelError::new(NO_CONSTANT.into()).needs_separate_memories()),
                }
            }
        }
    }

    pub(super) fn global_address(&mut self, global: GlobalId, at: i64) -> Lowered<Word> {
        let PointerClass::Group(group) = self.pointers.class_of_global(global) else {
            return Err(self.internal("no kernel memory was assigned to a global variable"));
        };
        let start = self.pointers.groups[group].objects.get(&Object::Global(global)).copied().unwrap_or(0);
        let unit = self.group_variables[group].unit;
        let bytes = start.wrapping_add(at as u64);
        Ok(self.asm.constant(Scalar::U32, bytes / unit))
    }

    /// The register type of a kind. `class`: the pointer class, if the kind is a pointer.
    pub(super) fn register(&self, kind: ScalarKind, class: PointerClass) -> Scalar {
        match (kind, class) {
            (ScalarKind::Pointer, PointerClass::Group(_)) => Scalar::U32,
            _ => kind.register(),
        }
    }

    pub(super) fn null(&mut self, kind: ScalarKind, class: PointerClass) -> Word {
        match self.register(kind, class) {
            // A null pointer into a group: no offset in a group is this large.
            Scalar::U32 if kind == ScalarKind::Pointer => self.asm.constant(Scalar::U32, u64::from(u32::MAX)),
            scalar => self.asm.constant(scalar, 0),
        }
    }

    /// The address that a pointer holds.
    pub(super) fn address(&mut self, pointer: &Operand) -> Lowered<Address> {
        let word = self.word(pointer)?;
        let class = self.class_of(pointer);
        Ok(match class {
            PointerClass::Device => Address::Device(word),
            PointerClass::Group(group) => Address::In(self.group_variables[group], word),
        })
    }

    pub(super) fn load(&mut self, from: Address, ty: &Type, align: u64, volatile: bool) -> Lowered<Vec<Word>> {
        let from = match from {
            Address::In(group, at)
                if group.class == StorageClass::Workgroup
                    && self.asm.constant_u32(at).is_some()
                    && self.blocks_with_adjacent_loads.contains(&self.place.0) =>
            {
                let base = self.asm.hidden_index();
                Address::In(group, self.asm.sum_u32(base, at))
            }
            other => other,
        };
        let mut words = Vec::new();
        for leaf in self.leaves(ty)? {
            let at = from.plus(&mut self.asm, leaf.offset);
            let align = aligned_at(align, leaf.offset);
            match memory::load(&mut self.asm, at, leaf.kind, align, volatile) {
                Some(word) => words.push(word),
                None => return Err(self.internal("a load has a size that SPIR-V does not support")),
            }
        }
        Ok(words)
    }

    pub(super) fn semantics(&mut self, memory: u64) -> Word {
        let mut bits = spirv::MemorySemantics::ACQUIRE_RELEASE;
        if memory & GLOBAL_MEMORY != 0 {
            bits |= spirv::MemorySemantics::UNIFORM_MEMORY;
        }
        if memory & TILE_MEMORY != 0 {
            bits |= spirv::MemorySemantics::WORKGROUP_MEMORY;
        }
        self.asm.constant(Scalar::U32, u64::from(bits.bits()))
    }

    /// Emits a tile barrier.
    pub(super) fn barrier(&mut self, memory: u64) {
        let order = self.barriers.get(&self.place).copied().unwrap_or(Order::Always);
        // If device memory needs no order, the barrier orders tile memory, even if the source asks for device memory only: a barrier must order
        // some memory.
        match order {
            Order::Always => self.control_barrier(memory),
            _ if memory & GLOBAL_MEMORY == 0 => self.control_barrier(memory),
            Order::Never => self.control_barrier(TILE_MEMORY),
            Order::IfShared => {
                let shared = self.asm.shared_captures();
                let (yes, no, merge) = (self.asm.id(), self.asm.id(), self.asm.id());
                self.selection(shared, [yes, no], merge);
                for (label, memory) in [(yes, memory), (no, TILE_MEMORY)] {
                    self.begin_block(label);
                    self.control_barrier(memory);
                    self.branch(S::Branch, &[merge]);
                }
                self.begin_block(merge);
            }
        }
    }

    fn control_barrier(&mut self, memory: u64) {
        let tile = self.asm.constant(Scalar::U32, spirv::Scope::Workgroup as u64);
        let semantics = self.semantics(memory);
        let operands = [tile, tile, semantics].map(dr::Operand::IdRef).to_vec();
        self.asm.push(dr::Instruction::new(S::ControlBarrier, None, None, operands));
    }

    pub(super) fn fence(&mut self, memory: u64) {
        let scope = if memory & GLOBAL_MEMORY != 0 { spirv::Scope::Device } else { spirv::Scope::Workgroup };
        let scope = self.asm.constant(Scalar::U32, scope as u64);
        let semantics = self.semantics(memory);
        let operands = [scope, semantics].map(dr::Operand::IdRef).to_vec();
        let barrier = dr::Instruction::new(S::MemoryBarrier, None, None, operands);
        if !self.asm.coherent {
            self.asm.push(barrier);
            return;
        }
        let ordered = self.asm.device_property(DeviceProperty::Ordered as u32);
        let (fence, merge) = (self.asm.id(), self.asm.id());
        self.selection(ordered, [merge, fence], merge);
        self.begin_block(fence);
        self.asm.push(barrier);
        self.branch(S::Branch, &[merge]);
        self.begin_block(merge);
    }

    /// True if the kernel accesses wide elements, as in an array of structs, and many bytes. Accesses of neighbouring threads to wide elements
    /// are far apart and fill more of the cache, so small workgroups are faster. But a device starts only about one workgroup in a clock
    /// cycle: with few bytes in each thread, small workgroups cannot keep its memory busy.
    pub(super) fn prefers_small_workgroups(&self) -> bool {
        let is_wide = |op: &Op| match op {
            Op::Gep { source, base, indices, .. } => {
                self.class_of(base) == PointerClass::Device
                    && steps(source, indices)
                        .is_some_and(|steps| steps.by.iter().any(|(_, bytes)| *bytes >= MIN_WIDE_BYTES))
            }
            _ => false,
        };
        let mut thread_bytes = ThreadBytes::default();
        self.pointers.uses.values().for_each(|used| thread_bytes.add(used.thread_bytes.0));
        let has_few_bytes = thread_bytes.0.is_some_and(|bytes| bytes < MIN_THREAD_BYTES);
        !has_few_bytes && self.function.instructions().any(|i| is_wide(&i.op))
    }

    pub(super) fn number(&mut self, id: Position, component: u32) -> Word {
        self.asm.number(id, component)
    }

    pub(super) fn component(&mut self, vector: Word, n: u32) -> Word {
        let ty = self.asm.scalar(Scalar::U32);
        let id = self.asm.id();
        let operands = vec![dr::Operand::IdRef(vector), dr::Operand::LiteralBit32(n)];
        self.asm.push(dr::Instruction::new(S::CompositeExtract, Some(ty), Some(id), operands));
        id
    }
}

/// The minimum size of a wide element, in bytes.
const MIN_WIDE_BYTES: u64 = 16;
/// The minimum of bytes that each thread accesses in a small workgroup. An H200 starts some 100 threads in a nanosecond if a workgroup has 64,
/// and accesses some 4,800 bytes.
const MIN_THREAD_BYTES: u64 = 32;
