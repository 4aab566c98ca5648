//! The functions and names that the C++ headers and the kernel compiler share. The header `cpp-shim/revamp/detail/device_abi.h` declares
//! and documents them. No other module contains these names. Tests compare the table of functions with the header.
//!
//! A kernel is a function that the header marks with `REVAMP_KERNEL`, the attribute `global`. Clang 22 gives such functions a calling
//! convention of their own, `spir_kernel`, which LLVM's passes keep. The alternatives are worse: `annotate` becomes an entry of the
//! variable `llvm.global.annotations`, and Clang warns of unknown words in `[[omp::assume]]`, which can create custom attributes. The
//! host's processors lack the calling convention, so `passes::host_target` replaces it by an attribute.

use crate::demangle::identifier;
use crate::ir::{Module, Op};
use revamp_image::printf::Function as Print;
use rspirv::spirv::GlslStd450Op as Glsl;

/// The prefix of the functions' names.
pub const PREFIX: &str = "__revamp_";

/// Bits of the argument of barriers and fences. A bit selects a kind of memory to order.
pub const GLOBAL_MEMORY: u64 = 1;
pub const TILE_MEMORY: u64 = 2;

/// A function that the header `device_abi.h` declares, or that a pass inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFunction {
    /// The thread's position in a dimension.
    Position(Position),
    /// The tile's size.
    WorkgroupSize,
    /// Marks a kernel whose workgroup size the compiler chooses.
    WorkgroupAuto,
    TileBarrier,
    MemoryFence,
    EndThread,
    /// Prints its arguments.
    Print(Print),
    /// Returns its first argument, a pointer to an element.
    Element,
    /// Returns whether textures are read as images.
    WithImages,
    ReadImage(ImageRead),
    /// A specialisation constant.
    DeviceProperty,
    /// A fast division with the device's precision. GLSL.std.450 has no instruction for it, and `/` is correctly rounded (`quotients`).
    Quotient,
    /// An instruction of GLSL.std.450 on 32-bit floats; the second operand of `ldexp` is a 32-bit integer.
    Maths(Glsl),
    ForHost,
    Within,
    CopyFunctor,
    HostChecks,
    /// Inserted by `passes::spin_marks` where control flow joins.
    Meet,
}

/// The kinds of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// The thread's position in the domain.
    Global,
    /// The thread's position in its tile.
    Local,
    /// The tile's position.
    Group,
}

/// How an image is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageRead {
    FetchFloats,
    FetchInts,
    FetchUnsigned,
    Sample,
    Gather,
}

/// The side effects of a call, as the attributes of the function's declaration state them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// No side effect, and the result depends only on the arguments and the thread: `const`.
    None,
    /// Waits for the threads of the tile: `convergent`.
    Waits,
    /// Ends the thread: `noreturn`.
    Ends,
    /// Another side effect, or a different body on the host's processor.
    Some,
}

const TABLE: [(&str, DeviceFunction, Effect); 41] = [
    ("__revamp_global_id", DeviceFunction::Position(Position::Global), Effect::None),
    ("__revamp_local_id", DeviceFunction::Position(Position::Local), Effect::None),
    ("__revamp_group_id", DeviceFunction::Position(Position::Group), Effect::None),
    ("__revamp_workgroup_size", DeviceFunction::WorkgroupSize, Effect::Some),
    ("__revamp_workgroup_auto", DeviceFunction::WorkgroupAuto, Effect::Some),
    ("__revamp_tile_barrier", DeviceFunction::TileBarrier, Effect::Waits),
    ("__revamp_memory_fence", DeviceFunction::MemoryFence, Effect::Some),
    ("__revamp_printf", DeviceFunction::Print(Print::Printf), Effect::Some),
    ("__revamp_errorf", DeviceFunction::Print(Print::Errorf), Effect::Some),
    ("__revamp_end_thread", DeviceFunction::EndThread, Effect::Ends),
    ("__revamp_element", DeviceFunction::Element, Effect::None),
    ("__revamp_with_images", DeviceFunction::WithImages, Effect::None),
    ("__revamp_image_fetch_f", DeviceFunction::ReadImage(ImageRead::FetchFloats), Effect::None),
    ("__revamp_image_fetch_i", DeviceFunction::ReadImage(ImageRead::FetchInts), Effect::None),
    ("__revamp_image_fetch_u", DeviceFunction::ReadImage(ImageRead::FetchUnsigned), Effect::None),
    ("__revamp_image_sample", DeviceFunction::ReadImage(ImageRead::Sample), Effect::None),
    ("__revamp_image_gather", DeviceFunction::ReadImage(ImageRead::Gather), Effect::None),
    ("__revamp_of_device", DeviceFunction::DeviceProperty, Effect::None),
    ("__revamp_fast_quotient_f32", DeviceFunction::Quotient, Effect::None),
    ("__revamp_fast_acos_f32", DeviceFunction::Maths(Glsl::Acos), Effect::None),
    ("__revamp_fast_asin_f32", DeviceFunction::Maths(Glsl::Asin), Effect::None),
    ("__revamp_fast_atan2_f32", DeviceFunction::Maths(Glsl::Atan2), Effect::None),
    ("__revamp_fast_atan_f32", DeviceFunction::Maths(Glsl::Atan), Effect::None),
    ("__revamp_fast_cos_f32", DeviceFunction::Maths(Glsl::Cos), Effect::None),
    ("__revamp_fast_cosh_f32", DeviceFunction::Maths(Glsl::Cosh), Effect::None),
    ("__revamp_fast_exp2_f32", DeviceFunction::Maths(Glsl::Exp2), Effect::None),
    ("__revamp_fast_exp_f32", DeviceFunction::Maths(Glsl::Exp), Effect::None),
    ("__revamp_fast_ldexp_f32", DeviceFunction::Maths(Glsl::Ldexp), Effect::None),
    ("__revamp_fast_log2_f32", DeviceFunction::Maths(Glsl::Log2), Effect::None),
    ("__revamp_fast_log_f32", DeviceFunction::Maths(Glsl::Log), Effect::None),
    ("__revamp_fast_pow_f32", DeviceFunction::Maths(Glsl::Pow), Effect::None),
    ("__revamp_fast_rsqrt_f32", DeviceFunction::Maths(Glsl::InverseSqrt), Effect::None),
    ("__revamp_fast_rsqrt_f64", DeviceFunction::Maths(Glsl::InverseSqrt), Effect::None),
    ("__revamp_fast_sin_f32", DeviceFunction::Maths(Glsl::Sin), Effect::None),
    ("__revamp_fast_sinh_f32", DeviceFunction::Maths(Glsl::Sinh), Effect::None),
    ("__revamp_fast_tan_f32", DeviceFunction::Maths(Glsl::Tan), Effect::None),
    ("__revamp_for_host", DeviceFunction::ForHost, Effect::Some),
    ("__revamp_within", DeviceFunction::Within, Effect::Some),
    ("__revamp_own", DeviceFunction::CopyFunctor, Effect::Some),
    ("__revamp_host_checks", DeviceFunction::HostChecks, Effect::Some),
    ("__revamp_meet", DeviceFunction::Meet, Effect::Some),
];

impl DeviceFunction {
    /// The device function with this symbol. Functions that print are templates: their mangled names end with the types of the arguments.
    pub fn of(symbol: &str) -> Option<Self> {
        let is_template = !symbol.starts_with(PREFIX);
        let name = match symbol.strip_prefix("_Z") {
            Some(rest) => identifier(rest).filter(|(_, rest)| rest.starts_with('I'))?.0,
            None => symbol,
        };
        let (_, function, _) = TABLE.iter().find(|(known, ..)| *known == name)?;
        (matches!(function, Self::Print(_)) == is_template).then_some(*function)
    }

    /// The function that an instruction calls.
    pub fn called(module: &Module, op: &Op) -> Option<Self> {
        let Op::Call { callee, .. } = op else { return None };
        Self::of(&module.functions[callee.0].name)
    }

    /// True if LLVM IR, given as text, calls or declares the function. Does not work for functions that print.
    pub fn is_used_in(self, text: &str) -> bool {
        Self::functions_in(text).any(|function| function == self)
    }

    /// The functions that LLVM IR, given as text, calls or declares, except functions that print.
    pub fn functions_in(text: &str) -> impl Iterator<Item = Self> {
        let names = text.split('@').skip(1).filter(|rest| rest.starts_with(PREFIX));
        names.filter_map(|rest| Self::of(rest.split('(').next()?))
    }

    pub fn name(self) -> &'static str {
        TABLE.iter().find(|(_, function, _)| *function == self).map_or("", |(name, ..)| name)
    }

    pub fn reads_image(self) -> bool {
        matches!(self, Self::ReadImage(_))
    }

    /// True if calls may be removed, moved and repeated, and write no memory.
    pub fn is_pure(self) -> bool {
        TABLE.iter().any(|(_, function, effect)| *function == self && *effect == Effect::None)
    }
}

/// The attribute of a kernel for the host's processor.
pub const KERNEL: &str = "revamp-kernel";

/// The attribute by which the header marks a kernel in `Pass::OnHost`.
pub const HOST_KERNEL_MARK: &str = "llvm.assume";

/// True if a line of LLVM IR begins the definition of a kernel.
pub fn begins_kernel(line: &str) -> bool {
    line.starts_with("define ") && (line.contains(" spir_kernel ") || line.contains(" amdgpu_kernel "))
}

/// True if `name` names, in type-based alias information, the type of a view or of an array's header. Kernels do not change members of
/// these types.
pub fn is_view(name: &str) -> bool {
    name.starts_with("_ZTSN6revamp") && VIEWS.iter().any(|class| name.contains(class))
}

const VIEWS: [&str; 2] = ["basic_view", "array_header"];

/// True if the headers define the function with this symbol, or if it is a lambda in a function of the headers.
pub fn is_of_headers(symbol: &str) -> bool {
    let Some(name) = symbol.strip_prefix("_Z") else { return symbol.starts_with(PREFIX) };
    let Some(name) = name.trim_start_matches('Z').strip_prefix('N') else { return false };
    let name = name.trim_start_matches(['K', 'R', 'O']);
    ["11Concurrency", "6revamp"].iter().any(|space| name.starts_with(space))
}

/// The names and the parameters in the symbol of a function of C++ AMP. `_ZN11Concurrency5abi_112precise_math3sinEf` gives the names
/// `precise_math` and `sin`, and the parameters `f`.
pub fn concurrency_symbol_parts(symbol: &str) -> Option<(Vec<&str>, &str)> {
    let (_, mut rest) = identifier(symbol.strip_prefix("_ZN11Concurrency")?)?;
    let mut names = Vec::new();
    while let Some((name, more)) = identifier(rest) {
        names.push(name);
        rest = more;
    }
    Some((names, rest.strip_prefix('E')?))
}

#[cfg(test)]
#[path = "device_abi_tests.rs"]
mod tests;
