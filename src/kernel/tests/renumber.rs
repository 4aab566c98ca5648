//! Tests of renumbering: the rewritten modules are valid, and only their set and binding numbers differ.

use super::*;
use crate::kernel::dense;
use rspirv::spirv::{Decoration, Op};

/// A module with sparse set and binding numbers. Two of its variables share a binding, one variable is unused, and one variable gets
/// its set and binding from a decoration group.
pub(super) fn grouped() -> Vec<u8> {
    assemble(
        "spv1.3",
        &format!(
            "{HEAD}
            OpEntryPoint GLCompute %10 \"main\"
            OpExecutionMode %10 LocalSize 4 1 1
            OpName %30 \"first\"
            OpDecorate %30 DescriptorSet 4294967295
            OpDecorate %30 Binding 1000000
            OpDecorate %31 DescriptorSet 4294967295
            OpDecorate %31 Binding 1000000
            OpDecorate %32 DescriptorSet 4294967295
            OpDecorate %32 Binding 4294967295
            OpDecorate %33 DescriptorSet 12
            OpDecorate %33 Binding 50000000
            OpDecorate %40 DescriptorSet 3
            OpDecorate %40 Binding 9
            OpDecorate %40 NonWritable
            %40 = OpDecorationGroup
            OpGroupDecorate %40 %34
            OpDecorate %6 ArrayStride 4
            OpDecorate %7 Block
            OpMemberDecorate %7 0 Offset 0
            %1 = OpTypeVoid
            %2 = OpTypeFunction %1
            %3 = OpTypeInt 32 0
            %6 = OpTypeRuntimeArray %3
            %7 = OpTypeStruct %6
            %8 = OpTypePointer StorageBuffer %7
            %9 = OpTypePointer StorageBuffer %3
            %14 = OpConstant %3 0
            %30 = OpVariable %8 StorageBuffer
            %31 = OpVariable %8 StorageBuffer
            %32 = OpVariable %8 StorageBuffer
            %33 = OpVariable %8 StorageBuffer
            %34 = OpVariable %8 StorageBuffer
            %10 = OpFunction %1 None %2
            %11 = OpLabel
            %50 = OpAccessChain %9 %30 %14 %14
            %51 = OpAccessChain %9 %31 %14 %14
            %52 = OpAccessChain %9 %32 %14 %14
            %54 = OpAccessChain %9 %34 %14 %14
            %60 = OpLoad %3 %54
            OpStore %50 %60
            OpStore %51 %60
            OpStore %52 %60
            OpReturn
            OpFunctionEnd"
        ),
    )
}

fn numbers(module: &Module) -> Vec<(u32, u32)> {
    module.bindings().iter().map(|b| (b.set, b.binding)).collect()
}

/// A decoration group has no members, but a hostile module may decorate a member of a group.
#[test]
fn a_member_of_a_group_gives_no_number() {
    let mut words: Vec<u32> = grouped().chunks(4).map(|w| u32::from_ne_bytes(w.try_into().unwrap())).collect();
    let decorated = |w: &[u32]| w[0] & 0xFFFF == Op::Decorate as u32 && w[1..] == [40, Decoration::NonWritable as u32];
    let at = words.windows(3).position(decorated).unwrap();
    let member_decoration = [5 << 16 | Op::MemberDecorate as u32, 40, 2, Decoration::DescriptorSet as u32, 510_803_413];
    words.splice(at..at, member_decoration);
    let before = module(&bytes(&words));
    assert_eq!(numbers(&before), [(3, 9), (u32::MAX, 1_000_000), (u32::MAX, u32::MAX)]);
    assert_eq!(numbers(&before.renumbered().unwrap()), [(0, 0), (1, 0), (1, 1)]);
}

#[test]
fn numbers_become_dense_and_nothing_else_changes() {
    let before = module(&grouped());
    assert_eq!(numbers(&before), [(3, 9), (u32::MAX, 1_000_000), (u32::MAX, u32::MAX)]);
    let after = before.renumbered().unwrap();
    validate(after.words());
    assert_eq!(numbers(&after), [(0, 0), (1, 0), (1, 1)]);
    for (old, new) in before.bindings().iter().zip(after.bindings()) {
        assert_eq!(
            (&old.name, old.access, old.min_size, old.stride),
            (&new.name, new.access, new.min_size, new.stride)
        );
    }
    // An unused variable must not keep a high binding number, because drivers allocate memory in proportion to it.
    assert!(!disassemble(after.words()).contains("50000000"));
    assert_eq!(before.entry_point(), after.entry_point());
    validate(&after.split().unwrap().words);
    assert_eq!(after.renumbered().unwrap().words(), after.words());
}

#[test]
fn dense_numbers_keep_sets_separate() {
    let old = [(0, 0), (0, 5), (2, 1), (7, 1), (7, u32::MAX)];
    assert_eq!(dense(old.into_iter()).collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)]);
}
