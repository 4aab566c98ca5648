//! Remarks on expensive mathematical operations. Each remark names the cheaper form.

use super::kernel::Kernel;
use crate::device_abi::{DeviceFunction, PREFIX};
use crate::ir::{BinaryOp, Frame, Instruction, Op, Type};
use crate::report::{Remark, counted, is_library, program_frame};
use std::collections::BTreeMap;

/// The headers with the functions of precise_math.
const PRECISE: [&str; 2] = ["/revamp/detail/device_precise.h", "/revamp/detail/device_close.h"];

/// A function of precise_math gets a remark if it takes at least this many instructions.
const MIN_INSTRUCTIONS: usize = 10;

pub fn remarks(kernel: &Kernel<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut functions: BTreeMap<(String, u32, u32, String), (Frame, usize)> = BTreeMap::new();
    for instruction in kernel.function.instructions() {
        let Some(location) = instruction.location else { continue };
        let frames = kernel.module.frames(location);
        let Some(place) = program_frame(&frames) else { continue };
        let within = frames.iter().take_while(|frame| is_library(&frame.file));
        if let Some(precise) = within.filter(|frame| PRECISE.iter().any(|header| frame.file.ends_with(header))).last() {
            let key = (place.file.clone(), place.line, place.column, precise.function.clone());
            functions.entry(key).or_insert_with(|| (place.clone(), 0)).1 += 1;
        } else if let Some(text) = operation(kernel, instruction) {
            remarks.push(Remark { place: place.clone(), text: text.into() });
        }
    }
    for ((.., name), (place, instructions)) in
        functions.into_iter().filter(|(_, (_, instructions))| *instructions >= MIN_INSTRUCTIONS)
    {
        let mut text = format!("precise_math: {name} takes {} of the kernel", counted(instructions, "instruction"));
        if let Some(fast) = name.strip_suffix("<float>").filter(|name| is_instruction(name)) {
            text += &format!("; fast_math::{fast} is a single instruction of the device");
        }
        remarks.push(Remark { place, text });
    }
    remarks
}

/// True if fast_math has a function of this name that is an instruction of the device.
fn is_instruction(name: &str) -> bool {
    DeviceFunction::of(&format!("{PREFIX}fast_{name}_f32")).is_some()
}

/// The remark on a single expensive operation.
fn operation(kernel: &Kernel<'_>, instruction: &Instruction) -> Option<&'static str> {
    match &instruction.op {
        Op::Binary { op: BinaryOp::FDiv, left, flags, .. } => match left.ty {
            Type::Float if !flags.reciprocal => Some(
                "division of floats: correct rounding takes a reciprocal, two corrections and a branch; with \
                 -ffast-math or #pragma clang fp reciprocal(on), the kernel only multiplies by the device's reciprocal",
            ),
            Type::Double => Some(
                "division of doubles: if several divisions have the same divisor, multiplications by its reciprocal \
                 are cheaper",
            ),
            _ => None,
        },
        Op::Call { callee, returns: Type::Double, .. }
            if kernel.module.functions[callee.0].name.starts_with("llvm.sqrt.") =>
        {
            Some("square root of a double: fast_math::sqrt is cheaper, but has only the precision of float")
        }
        _ => None,
    }
}
