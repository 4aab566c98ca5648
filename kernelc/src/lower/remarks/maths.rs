//! Mathematics that costs much, and the cheaper form.

use super::kernel::Kernel;
use crate::device_abi::{DeviceFunction, PREFIX};
use crate::ir::{BinaryOp, Frame, Instruction, Op, Type};
use crate::report::{Remark, counted, is_library, users};
use std::collections::BTreeMap;

/// The headers with the functions of precise_math.
const PRECISE: [&str; 2] = ["/revamp/detail/device_precise.h", "/revamp/detail/device_close.h"];

/// Functions of fewer instructions cost little.
const MUCH: usize = 10;

pub fn remarks(kernel: &Kernel<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut functions: BTreeMap<(String, u32, u32, String), (Frame, usize)> = BTreeMap::new();
    for one in kernel.function.instructions() {
        let Some(location) = one.location else { continue };
        let frames = kernel.module.frames(location);
        let Some(place) = users(&frames) else { continue };
        let within = frames.iter().take_while(|frame| is_library(&frame.file));
        if let Some(precise) = within.filter(|frame| PRECISE.iter().any(|header| frame.file.ends_with(header))).last() {
            let key = (place.file.clone(), place.line, place.column, precise.function.clone());
            functions.entry(key).or_insert_with(|| (place.clone(), 0)).1 += 1;
        } else if let Some(text) = operation(kernel, one) {
            remarks.push(Remark { place: place.clone(), text: text.into() });
        }
    }
    for ((.., name), (place, instructions)) in
        functions.into_iter().filter(|(_, (_, instructions))| *instructions >= MUCH)
    {
        let mut text = format!("precise_math: {name} is {} of the kernel", counted(instructions, "instruction"));
        if let Some(fast) = name.strip_suffix("<float>").filter(|name| is_instruction(name)) {
            text += &format!("; fast_math::{fast} is one of the device");
        }
        remarks.push(Remark { place, text });
    }
    remarks
}

/// Whether fast_math has a function of this name that is an instruction of the device.
fn is_instruction(name: &str) -> bool {
    DeviceFunction::of(&format!("{PREFIX}fast_{name}_f32")).is_some()
}

/// A single operation that costs much.
fn operation(kernel: &Kernel<'_>, one: &Instruction) -> Option<&'static str> {
    match &one.op {
        Op::Binary { op: BinaryOp::FDiv, left, flags, .. } => match left.ty {
            Type::Float if !flags.reciprocal => Some(
                "division of floats, rounded correctly: a reciprocal, two corrections and a branch; with -ffast-math or \
                 #pragma clang fp reciprocal(on) it is a product with the device's reciprocal",
            ),
            Type::Double => {
                Some("division of doubles: there is no cheaper form but a product with a reciprocal that is reused")
            }
            _ => None,
        },
        Op::Call { callee, returns: Type::Double, .. }
            if kernel.module.functions[callee.0].name.starts_with("llvm.sqrt.") =>
        {
            Some("square root of a double: fast_math::sqrt has one of floats")
        }
        _ => None,
    }
}
