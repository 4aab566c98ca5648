//! Writes a SPIR-V module. Declares each type and constant once, and only the capabilities that the module needs.

use crate::device_abi::Position;
use revamp_image::{DEVICE_PROPERTIES, DeviceProperty, SHARED_CAPTURES, arguments};
use rspirv::dr::{Block, Builder, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, Dim, ExecutionModel, GlslStd450Op as Glsl, ImageFormat,
    MemoryModel, Op, StorageClass, Word,
};
use std::collections::{HashMap, HashSet};

/// Scalar types of SPIR-V values and of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Scalar {
    Bool,
    /// Only in memory.
    U8,
    /// Only in memory.
    U16,
    U32,
    /// Only for texels of images. All other integers are unsigned.
    I32,
    U64,
    F16,
    F32,
    F64,
}

impl Scalar {
    /// The size in bytes.
    pub(super) fn size(self) -> u64 {
        match self {
            Scalar::Bool | Scalar::U8 => 1,
            Scalar::U16 | Scalar::F16 => 2,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// The unsigned integer type with this size in bytes.
    pub(super) fn unsigned(size: u64) -> Scalar {
        match size {
            1 => Scalar::U8,
            2 => Scalar::U16,
            4 => Scalar::U32,
            _ => Scalar::U64,
        }
    }
}

/// Operations that round. The list includes conversions, because Mesa would drop a conversion together with its inverse.
const ROUNDED: [Op; 11] = [
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FRem,
    Op::FMod,
    Op::FConvert,
    Op::ConvertFToS,
    Op::ConvertFToU,
    Op::ConvertSToF,
    Op::ConvertUToF,
];

/// The size of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workgroup {
    /// The size that the program sets.
    Fixed([u32; 3]),
    /// The default size. The library chooses the size with the specialization constants 0, 1 and 2.
    Specialized([u32; 3]),
}

/// A SPIR-V module that is being written.
pub(super) struct Assembler {
    b: Builder,
    glsl: Option<Word>,
    printf: Option<Word>,
    capabilities: Vec<Capability>,
    // Maps of existing types and constants. Without them, the builder would search all types and constants at each request.
    scalars: HashMap<Scalar, Word>,
    vectors: HashMap<(Scalar, u32), Word>,
    constants: HashMap<(Scalar, u64), Word>,
    /// The type and bits of each constant, by its id.
    numbers: HashMap<Word, (Scalar, u64)>,
    pointers: HashMap<(StorageClass, Word), Word>,
    arrays: HashMap<(Word, u64), Word>,
    images: HashMap<(Scalar, usize, bool), Word>,
    position_variables: HashMap<Position, Word>,
    undefs: HashMap<Scalar, Word>,
    decorations: HashMap<(Word, u32), ()>,
    /// The numbers that were converted from integers of at most 32 bits.
    converted_integers: HashSet<Word>,
    interface: Vec<Word>,
    /// The struct type of the two 32-bit halves of a 64-bit product.
    halves: Option<Word>,
    shared_captures: Option<Word>,
    /// True if accesses to device memory must be coherent between tiles.
    pub(super) coherent: bool,
    device_property: HashMap<u32, Word>,
    uniform: Option<Word>,
    /// The push constant that holds the address of the argument block.
    block: Word,
    blocks: Vec<Block>,
    variables: Vec<Instruction>,
    /// The code at the start of the entry point.
    first: Vec<Instruction>,
    /// The hidden zeros that the code in `first` computes (`zero_of_device`).
    zeros: HashMap<Scalar, Word>,
    /// See [`Assembler::hidden_index`].
    hidden_index: Option<Word>,
    functions: HashMap<(&'static str, Scalar), Word>,
}

impl Assembler {
    pub(super) fn new() -> Self {
        let mut b = Builder::new();
        b.set_version(1, 5);
        b.memory_model(AddressingModel::PhysicalStorageBuffer64, MemoryModel::GLSL450);
        let mut this = Assembler {
            b,
            glsl: None,
            printf: None,
            capabilities: Vec::new(),
            scalars: HashMap::new(),
            vectors: HashMap::new(),
            constants: HashMap::new(),
            numbers: HashMap::new(),
            pointers: HashMap::new(),
            arrays: HashMap::new(),
            images: HashMap::new(),
            position_variables: HashMap::new(),
            undefs: HashMap::new(),
            decorations: HashMap::new(),
            converted_integers: HashSet::new(),
            interface: Vec::new(),
            halves: None,
            shared_captures: None,
            coherent: false,
            device_property: HashMap::new(),
            uniform: None,
            block: 0,
            blocks: Vec::new(),
            variables: Vec::new(),
            first: Vec::new(),
            zeros: HashMap::new(),
            hidden_index: None,
            functions: HashMap::new(),
        };
        for capability in [Capability::Shader, Capability::Int64, Capability::PhysicalStorageBufferAddresses] {
            this.need(capability);
        }
        // The only push constant is the address of the argument block.
        let address = this.scalar(Scalar::U64);
        let struct_type = this.b.type_struct([address]);
        this.b.decorate(struct_type, Decoration::Block, []);
        this.b.member_decorate(struct_type, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        this.block = this.variable(StorageClass::PushConstant, struct_type, None);
        this
    }

    pub(super) fn need(&mut self, capability: Capability) {
        if !self.capabilities.contains(&capability) {
            self.capabilities.push(capability);
            self.b.capability(capability);
        }
    }

    pub(super) fn id(&mut self) -> Word {
        self.b.id()
    }

    pub(super) fn scalar(&mut self, scalar: Scalar) -> Word {
        if let Some(&known) = self.scalars.get(&scalar) {
            return known;
        }
        let made = match scalar {
            Scalar::Bool => self.b.type_bool(),
            Scalar::U8 => self.b.type_int(8, 0),
            Scalar::U16 => self.b.type_int(16, 0),
            Scalar::U32 => self.b.type_int(32, 0),
            Scalar::I32 => self.b.type_int(32, 1),
            Scalar::U64 => self.b.type_int(64, 0),
            Scalar::F16 => {
                self.need(Capability::Float16);
                self.b.type_float(16, None)
            }
            Scalar::F32 => self.b.type_float(32, None),
            Scalar::F64 => {
                self.need(Capability::Float64);
                self.b.type_float(64, None)
            }
        };
        self.scalars.insert(scalar, made);
        made
    }

    pub(super) fn vector(&mut self, scalar: Scalar, count: u32) -> Word {
        if let Some(&known) = self.vectors.get(&(scalar, count)) {
            return known;
        }
        let element = self.scalar(scalar);
        let made = self.b.type_vector(element, count);
        self.vectors.insert((scalar, count), made);
        made
    }

    /// The type of an image; with `sampled`, the type of an image with a sampler.
    pub(super) fn image(&mut self, texel: Scalar, rank: usize, sampled: bool) -> Word {
        if let Some(&known) = self.images.get(&(texel, rank, sampled)) {
            return known;
        }
        let made = if sampled {
            let image = self.image(texel, rank, false);
            self.b.type_sampled_image(image)
        } else {
            let dim = match rank {
                1 => Dim::Dim1D,
                2 => Dim::Dim2D,
                _ => Dim::Dim3D,
            };
            if rank == 1 {
                self.need(Capability::Sampled1D);
            }
            let texel = self.scalar(texel);
            self.b.type_image(texel, dim, 0, 0, 0, 1, ImageFormat::Unknown, None)
        };
        self.images.insert((texel, rank, sampled), made);
        made
    }

    /// Sets the descriptor set and binding of a variable.
    pub(super) fn bind(&mut self, variable: Word, set: u32, binding: u32) {
        self.b.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(set)]);
        self.b.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(binding)]);
    }

    pub(super) fn array(&mut self, element: Word, count: u64) -> Word {
        if let Some(&known) = self.arrays.get(&(element, count)) {
            return known;
        }
        let length = self.constant(Scalar::U32, count);
        let made = self.b.type_array(element, length);
        self.arrays.insert((element, count), made);
        made
    }

    /// An array of `count` elements; of `minimum` elements on devices with `DeviceProperty::SmallArraysInRegisters`.
    pub(super) fn array_in_memory(&mut self, element: Word, count: u64, minimum: u64) -> Word {
        let in_registers = self.device_property(DeviceProperty::SmallArraysInRegisters as u32);
        let [minimum, count] = [minimum, count].map(|count| self.constant(Scalar::U32, count));
        let (ty, length) = (self.scalar(Scalar::U32), self.id());
        let operands = [in_registers, minimum, count].map(Operand::IdRef);
        let operands = [Operand::LiteralSpecConstantOpInteger(Op::Select)].into_iter().chain(operands).collect();
        let select = Instruction::new(Op::SpecConstantOp, Some(ty), Some(length), operands);
        self.b.module_mut().types_global_values.push(select);
        self.b.type_array(element, length)
    }

    pub(super) fn pointer(&mut self, class: StorageClass, to: Word) -> Word {
        if let Some(&known) = self.pointers.get(&(class, to)) {
            return known;
        }
        let made = self.b.type_pointer(None, class, to);
        self.pointers.insert((class, to), made);
        made
    }

    /// A variable of the module; for the storage class `Function`, a local variable of the entry point.
    pub(super) fn variable(&mut self, class: StorageClass, ty: Word, initializer: Option<Word>) -> Word {
        let pointer = self.pointer(class, ty);
        let id = self.b.id();
        let mut operands = vec![Operand::StorageClass(class)];
        operands.extend(initializer.map(Operand::IdRef));
        let made = Instruction::new(Op::Variable, Some(pointer), Some(id), operands);
        if class == StorageClass::Function {
            self.variables.push(made);
        } else {
            self.b.module_mut().types_global_values.push(made);
            self.interface.push(id);
        }
        id
    }

    /// The constant with these bits; 0 or 1 for a `Bool`.
    pub(super) fn constant(&mut self, scalar: Scalar, bits: u64) -> Word {
        let bits = match scalar {
            Scalar::Bool => bits & 1,
            _ if scalar.size() < 8 => bits & ((1 << (scalar.size() * 8)) - 1),
            _ => bits,
        };
        if let Some(&known) = self.constants.get(&(scalar, bits)) {
            return known;
        }
        let ty = self.scalar(scalar);
        let made = match scalar {
            Scalar::Bool if bits == 0 => self.b.constant_false(ty),
            Scalar::Bool => self.b.constant_true(ty),
            Scalar::U64 | Scalar::F64 => self.b.constant_bit64(ty, bits),
            _ => self.b.constant_bit32(ty, bits as u32),
        };
        self.constants.insert((scalar, bits), made);
        self.numbers.insert(made, (scalar, bits));
        made
    }

    /// The specialization constant that a launch sets to true if memory that the kernel writes may also be memory of another capture.
    pub(super) fn shared_captures(&mut self) -> Word {
        if let Some(known) = self.shared_captures {
            return known;
        }
        let ty = self.scalar(Scalar::Bool);
        let made = self.b.spec_constant_true(ty);
        self.b.decorate(made, Decoration::SpecId, [Operand::LiteralBit32(SHARED_CAPTURES)]);
        self.shared_captures = Some(made);
        made
    }

    /// The specialization constant `DEVICE_PROPERTIES + number`. The library sets it to a property of the device ([`DeviceProperty`]).
    pub(super) fn device_property(&mut self, number: u32) -> Word {
        if let Some(&known) = self.device_property.get(&number) {
            return known;
        }
        let ty = self.scalar(Scalar::Bool);
        let made = self.b.spec_constant_false(ty);
        self.b.decorate(made, Decoration::SpecId, [Operand::LiteralBit32(DEVICE_PROPERTIES + number)]);
        self.device_property.insert(number, made);
        made
    }

    pub(super) fn composite(&mut self, ty: Word, parts: Vec<Word>) -> Word {
        self.b.constant_composite(ty, parts)
    }

    pub(super) fn undef(&mut self, scalar: Scalar) -> Word {
        if let Some(&known) = self.undefs.get(&scalar) {
            return known;
        }
        let ty = self.scalar(scalar);
        let id = self.b.id();
        self.b.module_mut().types_global_values.push(Instruction::new(Op::Undef, Some(ty), Some(id), vec![]));
        self.undefs.insert(scalar, id);
        id
    }

    /// The value, if `id` is a 32-bit integer constant.
    pub(super) fn constant_u32(&self, id: Word) -> Option<u64> {
        self.numbers.get(&id).filter(|(scalar, _)| *scalar == Scalar::U32).map(|(_, bits)| *bits)
    }

    /// The value, if `id` is a constant float.
    pub(super) fn constant_f32(&self, id: Word) -> Option<f32> {
        let (_, bits) = self.numbers.get(&id).filter(|(scalar, _)| *scalar == Scalar::F32)?;
        Some(f32::from_bits(*bits as u32))
    }

    /// Records that a number was converted from an integer of at most 32 bits.
    pub(super) fn note_converted_integer(&mut self, id: Word) {
        self.converted_integers.insert(id);
    }

    pub(super) fn is_converted_integer(&self, id: Word) -> bool {
        self.converted_integers.contains(&id)
    }

    /// The sum of two 32-bit integers.
    pub(super) fn sum_u32(&mut self, a: Word, b: Word) -> Word {
        match (self.constant_u32(a), self.constant_u32(b)) {
            (Some(a), Some(b)) => self.constant(Scalar::U32, a + b),
            _ => self.make(Op::IAdd, Scalar::U32, &[a, b]),
        }
    }

    pub(super) fn decorate(&mut self, id: Word, decoration: Decoration) {
        if self.decorations.insert((id, decoration as u32), ()).is_none() {
            self.b.decorate(id, decoration, []);
        }
    }

    /// Keeps drivers from fusing and from algebraically simplifying a floating-point operation. Returns the operands to use. The compiler
    /// itself decides on fusion (`instructions`, `intrinsics`), because a driver that may fuse may also reassociate.
    fn rounded(&mut self, id: Word, operands: &[Word]) -> Vec<Word> {
        self.decorate(id, Decoration::NoContraction);
        operands.iter().map(|&word| self.hide_zero(word)).collect()
    }

    /// Replaces the constant zero. On devices with `DeviceProperty::ShortensZeros`, the driver does not recognise the new value as zero. Returns
    /// other values unchanged.
    pub(super) fn hide_zero(&mut self, word: Word) -> Word {
        match [Scalar::F32, Scalar::F64].into_iter().find(|&scalar| self.constants.get(&(scalar, 0)) == Some(&word)) {
            Some(scalar) => self.zero_of_device(scalar),
            None => word,
        }
    }

    /// Returns a copy of `double`. On devices with `DeviceProperty::ShortensZeros`, the driver does not recognise that both values are equal.
    /// Otherwise Mesa would merge two conversions, from an integer to double and from double to float, into one that rounds only once.
    pub(super) fn hide_conversion(&mut self, double: Word) -> Word {
        let zero = self.zero_of_device(Scalar::F64);
        let [bits, zero_bits] = [double, zero].map(|word| self.make(Op::Bitcast, Scalar::U64, &[word]));
        let bits = self.make(Op::BitwiseXor, Scalar::U64, &[bits, zero_bits]);
        self.make(Op::Bitcast, Scalar::F64, &[bits])
    }

    /// A zero that drivers do not recognise on devices with `DeviceProperty::ShortensZeros`; the constant zero on other devices.
    fn zero_of_device(&mut self, scalar: Scalar) -> Word {
        if let Some(&known) = self.zeros.get(&scalar) {
            return known;
        }
        let zero = self.at_entry(|asm| {
            let shortens_zeros = asm.device_property(DeviceProperty::ShortensZeros as u32);
            let constant = asm.constant(scalar, 0);
            let mut hidden = asm.hidden_zero();
            if scalar == Scalar::F32 {
                hidden = asm.make(Op::UConvert, Scalar::U32, &[hidden]);
            }
            let hidden = asm.make(Op::Bitcast, scalar, &[hidden]);
            asm.make(Op::Select, scalar, &[shortens_zeros, hidden, constant])
        });
        self.zeros.insert(scalar, zero);
        zero
    }

    /// A 64-bit zero that drivers do not recognise: bit 63 of an address. Drivers do not know that this bit is 0.
    fn hidden_zero(&mut self) -> Word {
        let address = self.arguments();
        let shift = self.constant(Scalar::U32, 63);
        self.make(Op::ShiftRightLogical, Scalar::U64, &[address, shift])
    }

    /// The index 0 of an array. On devices with `DeviceProperty::MergesOnlyLoads`, the driver only recognises that the index is a multiple
    /// of 16, so that it merges loads from adjacent elements.
    pub(super) fn hidden_index(&mut self) -> Word {
        if let Some(known) = self.hidden_index {
            return known;
        }
        let index = self.at_entry(|asm| {
            let merges = asm.device_property(DeviceProperty::MergesOnlyLoads as u32);
            let hidden = asm.hidden_zero();
            let hidden = asm.make(Op::UConvert, Scalar::U32, &[hidden]);
            let (four, zero) = (asm.constant(Scalar::U32, 4), asm.constant(Scalar::U32, 0));
            let multiple = asm.make(Op::ShiftLeftLogical, Scalar::U32, &[hidden, four]);
            asm.make(Op::Select, Scalar::U32, &[merges, multiple, zero])
        });
        self.hidden_index = Some(index);
        index
    }

    /// Emits instructions at the beginning of the entry point.
    fn at_entry(&mut self, emit: impl FnOnce(&mut Self) -> Word) -> Word {
        let code = std::mem::take(&mut self.blocks);
        self.begin_block(0);
        let word = emit(self);
        let made = std::mem::replace(&mut self.blocks, code);
        self.first.extend(made.into_iter().flat_map(|block| block.instructions));
        word
    }

    // Instructions of the current function.

    pub(super) fn begin_block(&mut self, label: Word) {
        self.blocks.push(Block {
            label: Some(Instruction::new(Op::Label, None, Some(label), vec![])),
            instructions: Vec::new(),
        });
    }

    pub(super) fn push(&mut self, instruction: Instruction) {
        if let Some(block) = self.blocks.last_mut() {
            block.instructions.push(instruction);
        }
    }

    /// The position of the next instruction.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.blocks.len() - 1, self.blocks.last().map_or(0, |block| block.instructions.len()))
    }

    /// The operands of the instruction at a position.
    pub(super) fn operands_at(&mut self, place: (usize, usize)) -> &mut Vec<Operand> {
        &mut self.blocks[place.0].instructions[place.1].operands
    }

    /// Appends an instruction with a result, and returns the result. All operands are ids.
    pub(super) fn op(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        let id = self.b.id();
        self.make_with(id, op, ty, operands);
        id
    }

    fn make_with(&mut self, id: Word, op: Op, ty: Word, operands: &[Word]) {
        let operands = if ROUNDED.contains(&op) { self.rounded(id, operands) } else { operands.to_vec() };
        let operands = operands.into_iter().map(Operand::IdRef).collect();
        self.push(Instruction::new(op, Some(ty), Some(id), operands));
    }

    /// Appends an instruction with a scalar result, and returns the result. All operands are ids.
    pub(super) fn make(&mut self, op: Op, scalar: Scalar, operands: &[Word]) -> Word {
        let ty = self.scalar(scalar);
        self.op(op, ty, operands)
    }

    /// Appends an instruction whose scalar result gets the given id. Other instructions may already use this id.
    pub(super) fn make_as(&mut self, id: Word, op: Op, scalar: Scalar, operands: &[Word]) {
        let ty = self.scalar(scalar);
        self.make_with(id, op, ty, operands);
    }

    /// The upper half of the product of two 32-bit integers.
    pub(super) fn high_product(&mut self, a: Word, b: Word) -> Word {
        let ty = self.scalar(Scalar::U32);
        let halves = *self.halves.get_or_insert_with(|| self.b.type_struct([ty, ty]));
        let product = self.op(Op::UMulExtended, halves, &[a, b]);
        let upper = self.b.id();
        let operands = vec![Operand::IdRef(product), Operand::LiteralBit32(1)];
        self.push(Instruction::new(Op::CompositeExtract, Some(ty), Some(upper), operands));
        upper
    }

    /// Appends an instruction of GLSL.std.450, and returns its result.
    pub(super) fn glsl(&mut self, number: Glsl, ty: Word, operands: &[Word]) -> Word {
        let set = *self.glsl.get_or_insert_with(|| self.b.ext_inst_import("GLSL.std.450"));
        let id = self.b.id();
        let mut all = vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(number as u32)];
        all.extend(operands.iter().map(|&o| Operand::IdRef(o)));
        self.push(Instruction::new(Op::ExtInst, Some(ty), Some(id), all));
        id
    }

    /// a * b + c. The driver may or may not fuse the two operations, but does not simplify them.
    pub(super) fn multiply_add(&mut self, scalar: Scalar, [a, b, c]: [Word; 3]) -> Word {
        let ty = self.scalar(scalar);
        let operands = [a, b, c].map(|word| self.hide_zero(word));
        let word = self.glsl(Glsl::Fma, ty, &operands);
        self.decorate(word, Decoration::NoContraction);
        word
    }

    /// Appends a call of the module's function `name` on scalars of one type. At the first call, `write` writes the function's only block.
    /// Therefore the module contains long code only once.
    pub(super) fn call(
        &mut self,
        scalar: Scalar,
        name: &'static str,
        operands: &[Word],
        write: impl FnOnce(&mut Self, &[Word]) -> Word,
    ) -> Word {
        let ty = self.scalar(scalar);
        let function = match self.functions.get(&(name, scalar)) {
            Some(&known) => known,
            None => self.function(scalar, name, operands.len(), write),
        };
        let all: Vec<Word> = std::iter::once(function).chain(operands.iter().copied()).collect();
        self.op(Op::FunctionCall, ty, &all)
    }

    fn function(
        &mut self,
        scalar: Scalar,
        name: &'static str,
        count: usize,
        write: impl FnOnce(&mut Self, &[Word]) -> Word,
    ) -> Word {
        let ty = self.scalar(scalar);
        let signature = self.b.type_function(ty, vec![ty; count]);
        let id = self.b.id();
        self.b.name(id, name);
        let parameters: Vec<Word> = (0..count).map(|_| self.b.id()).collect();
        let code = std::mem::take(&mut self.blocks);
        let label = self.b.id();
        self.begin_block(label);
        let result = write(self, &parameters);
        self.push(Instruction::new(Op::ReturnValue, None, None, vec![Operand::IdRef(result)]));
        let control = Operand::FunctionControl(rspirv::spirv::FunctionControl::CONST);
        let parameter = |&id: &Word| Instruction::new(Op::FunctionParameter, Some(ty), Some(id), vec![]);
        let function = rspirv::dr::Function {
            def: Some(Instruction::new(Op::Function, Some(ty), Some(id), vec![control, Operand::IdRef(signature)])),
            end: Some(Instruction::new(Op::FunctionEnd, None, None, vec![])),
            parameters: parameters.iter().map(parameter).collect(),
            blocks: std::mem::replace(&mut self.blocks, code),
        };
        self.b.module_mut().functions.push(function);
        self.functions.insert((name, scalar), id);
        id
    }

    /// Appends the instruction DebugPrintf of the set NonSemantic.DebugPrintf.
    pub(super) fn print(&mut self, format: &str, values: &[Word]) {
        let set = match self.printf {
            Some(set) => set,
            None => {
                self.b.extension("SPV_KHR_non_semantic_info");
                let set = self.b.ext_inst_import("NonSemantic.DebugPrintf");
                self.printf = Some(set);
                set
            }
        };
        let format = self.b.string(format);
        let void = self.b.type_void();
        let id = self.b.id();
        let mut all = vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(1), Operand::IdRef(format)];
        all.extend(values.iter().map(|&o| Operand::IdRef(o)));
        self.push(Instruction::new(Op::ExtInst, Some(void), Some(id), all));
    }

    /// A pointer to element `index` of an array variable. `element`: the type of the elements.
    pub(super) fn element(&mut self, class: StorageClass, element: Word, variable: Word, index: Word) -> Word {
        let ty = self.pointer(class, element);
        self.op(Op::AccessChain, ty, &[variable, index])
    }

    /// Component `component` (0 to 2) of the built-in variable for a position.
    pub(super) fn number(&mut self, id: Position, component: u32) -> Word {
        let vector = self.vector(Scalar::U32, 3);
        let variable = match self.position_variables.get(&id) {
            Some(&known) => known,
            None => {
                let made = self.variable(StorageClass::Input, vector, None);
                let kind = match id {
                    Position::Global => BuiltIn::GlobalInvocationId,
                    Position::Local => BuiltIn::LocalInvocationId,
                    Position::Group => BuiltIn::WorkgroupId,
                };
                self.b.decorate(made, Decoration::BuiltIn, [Operand::BuiltIn(kind)]);
                self.position_variables.insert(id, made);
                made
            }
        };
        let all = self.op(Op::Load, vector, &[variable]);
        let ty = self.scalar(Scalar::U32);
        let result = self.b.id();
        let operands = vec![Operand::IdRef(all), Operand::LiteralBit32(component)];
        self.push(Instruction::new(Op::CompositeExtract, Some(ty), Some(result), operands));
        result
    }

    /// The address of the argument block.
    pub(super) fn arguments(&mut self) -> Word {
        let zero = self.constant(Scalar::U32, 0);
        let address = self.scalar(Scalar::U64);
        let ty = self.pointer(StorageClass::PushConstant, address);
        let place = self.op(Op::AccessChain, ty, &[self.block, zero]);
        self.op(Op::Load, address, &[place])
    }

    /// The 32-bit word at byte `at` of the uniform buffer, whose size is `quads` times 16 bytes.
    pub(super) fn uniform_word(&mut self, quads: u64, at: u64) -> Word {
        let word = self.scalar(Scalar::U32);
        let variable = match self.uniform {
            Some(known) => known,
            None => {
                let quad = self.vector(Scalar::U32, 4);
                let array = self.array(quad, quads);
                self.b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(16)]);
                let struct_type = self.b.type_struct([array]);
                self.b.decorate(struct_type, Decoration::Block, []);
                self.b.member_decorate(struct_type, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
                let made = self.variable(StorageClass::Uniform, struct_type, None);
                self.bind(made, 0, 0);
                self.b.name(made, arguments::NAME);
                self.uniform = Some(made);
                made
            }
        };
        let ty = self.pointer(StorageClass::Uniform, word);
        let path = [0, at / 16, at % 16 / 4].map(|n| self.constant(Scalar::U32, n));
        let place = self.op(Op::AccessChain, ty, &[variable, path[0], path[1], path[2]]);
        self.op(Op::Load, word, &[place])
    }

    /// Sets the source location of the next instructions, for messages of drivers and tools.
    pub(super) fn source_line(&mut self, file: Word, line: u32, column: u32) {
        let operands = vec![Operand::IdRef(file), Operand::LiteralBit32(line), Operand::LiteralBit32(column)];
        self.push(Instruction::new(Op::Line, None, None, operands));
    }

    pub(super) fn string(&mut self, text: &str) -> Word {
        self.b.string(text)
    }

    /// Completes the module and returns its words.
    pub(super) fn finish(mut self, name: &str, workgroup: Workgroup) -> Vec<u32> {
        use rspirv::binary::Assemble;
        let void = self.b.type_void();
        let signature = self.b.type_function(void, []);
        let main = self.b.id();
        self.b.entry_point(ExecutionModel::GLCompute, main, "main", std::mem::take(&mut self.interface));
        self.b.name(main, name);
        let (Workgroup::Fixed(size) | Workgroup::Specialized(size)) = workgroup;
        self.b.execution_mode(main, rspirv::spirv::ExecutionMode::LocalSize, size);
        if let Workgroup::Specialized(size) = workgroup {
            let word = self.scalar(Scalar::U32);
            let vector = self.vector(Scalar::U32, 3);
            let mut parts = Vec::new();
            for (n, &count) in size.iter().enumerate() {
                let constant = self.b.spec_constant_bit32(word, count);
                self.b.decorate(constant, Decoration::SpecId, [Operand::LiteralBit32(n as u32)]);
                parts.push(constant);
            }
            let all = self.b.spec_constant_composite(vector, parts);
            self.b.decorate(all, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::WorkgroupSize)]);
        }
        if let Some(first) = self.blocks.first_mut() {
            let start = std::mem::take(&mut self.variables).into_iter().chain(std::mem::take(&mut self.first));
            first.instructions.splice(0..0, start);
        }
        let control = Operand::FunctionControl(rspirv::spirv::FunctionControl::NONE);
        let function = rspirv::dr::Function {
            def: Some(Instruction::new(Op::Function, Some(void), Some(main), vec![control, Operand::IdRef(signature)])),
            end: Some(Instruction::new(Op::FunctionEnd, None, None, vec![])),
            parameters: Vec::new(),
            blocks: std::mem::take(&mut self.blocks),
        };
        self.b.module_mut().functions.push(function);
        self.b.module().assemble()
    }
}
