//! Tests of the SPIR-V and of the errors for small kernels in LLVM IR. tests/kernels runs kernels and tests their results.

use super::{CompiledKernel, Options, compile_module};
use crate::bounds_option::Bounds;
use crate::ir;
use crate::kernel_error::KernelError;
use revamp_image::Capture;
use rspirv::dr::{self, Operand};
use rspirv::spirv::{Capability, Decoration, Op, StorageClass};

/// A module with a kernel that has this body. The argument block holds two addresses and a number.
fn kernel(body: &str) -> String {
    format!(
        "%block = type {{ ptr addrspace(4), ptr addrspace(4), i32 }}\n\
         @tile = internal addrspace(3) global [16 x i32] undef, align 4\n\
         @table = private addrspace(1) constant [4 x i32] [i32 3, i32 1, i32 4, i32 1], align 4\n\
         @outer = addrspace(1) global i32 0, align 4\n\
         declare void @__revamp_workgroup_auto(i32)\n\
         declare void @__revamp_workgroup_size(i32, i32, i32)\n\
         declare void @__revamp_tile_barrier(i32)\n\
         declare void @__revamp_memory_fence(i32)\n\
         declare i32 @__revamp_global_id(i32)\n\
         declare i32 @helper(i32)\n\
         declare i32 @llvm.smin.i32(i32, i32)\n\
         declare i32 @llvm.umin.i32(i32, i32)\n\
         declare i1 @__revamp_of_device(i32)\n\
         declare i32 @llvm.fptosi.sat.i32.f16(half)\n\
         declare i32 @llvm.fptoui.sat.i32.f16(half)\n\
         declare {{ i32, i1 }} @llvm.sadd.with.overflow.i32(i32, i32)\n\
         @hello = private addrspace(1) constant [10 x i8] c\"%s: %d%%\\0A\\00\", align 1\n\
         @name = private addrspace(1) constant [6 x i8] c\"50% f\\00\", align 1\n\
         @none = private addrspace(1) constant [1 x i8] zeroinitializer, align 1\n\
         declare void @_Z15__revamp_printfIJPKciEEvS1_DpT_(ptr addrspace(4), ptr addrspace(4), i32)\n\
         declare void @_Z15__revamp_errorfIJEEvPKcDpT_(ptr addrspace(4))\n\
         define spir_kernel void @k(ptr addrspace(2) byref(%block) align 8 %0) {{\n\
         entry:\n  call void @__revamp_workgroup_auto(i32 1)\n\
         {body}\n}}\n"
    )
}

fn compiled(body: &str) -> Result<CompiledKernel, Vec<KernelError>> {
    let module = ir::tests::module(&kernel(body));
    compile_module(&module, &Options::default()).map(|mut kernels| kernels.remove(0))
}

pub(super) fn compile_and_load(body: &str) -> (CompiledKernel, dr::Module) {
    let kernel = compiled(body).unwrap_or_else(|r| panic!("{r:?}"));
    let module = dr::load_words(&kernel.spirv).unwrap_or_else(|e| panic!("{e}"));
    (kernel, module)
}

/// The module of a kernel with this body. `rolled`: the form whose loops the driver unrolls.
pub(super) fn compile_form(body: &str, rolled: bool) -> dr::Module {
    let options = Options { rolled, ..Options::default() };
    let kernels = compile_module(&ir::tests::module(&kernel(body)), &options).unwrap_or_else(|r| panic!("{r:?}"));
    dr::load_words(&kernels[0].spirv).unwrap_or_else(|e| panic!("{e}"))
}

fn assert_refused(body: &str, part: &str) {
    let refusals = compiled(body).err().unwrap_or_default();
    assert!(refusals.iter().any(|r| r.message.contains(part)), "{refusals:?}");
}

pub(super) fn count(module: &dr::Module, op: Op) -> usize {
    module.all_inst_iter().filter(|i| i.class.opcode == op).count()
}

pub(super) const LOADS: &str = "  %a = load ptr addrspace(4), ptr addrspace(2) %0, align 8
  %at = getelementptr inbounds i8, ptr addrspace(2) %0, i64 8
  %b = load ptr addrspace(4), ptr addrspace(2) %at, align 8
";

#[test]
fn captures_record_reads_and_writes() {
    let (kernel, _) = compile_and_load(&format!(
        "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)
  %n = sext i32 %i to i64
  %p = getelementptr inbounds float, ptr addrspace(4) %a, i64 %n
  %q = getelementptr inbounds float, ptr addrspace(4) %b, i64 %n
  %v = load float, ptr addrspace(4) %p, align 4
  store float %v, ptr addrspace(4) %q, align 4
  ret void"
    ));
    let capture = |offset, reads, writes| Capture { offset, indirect: false, reads, writes, thread_bytes: 4 };
    assert_eq!(kernel.captures, [capture(0, true, false), capture(8, false, true)]);
    assert_eq!((kernel.block_size, kernel.name.as_str()), (24, "k"));
}

#[test]
fn an_array_is_reached_through_its_reference() {
    let (kernel, _) = compile_and_load(&format!(
        "{LOADS}  %data = load ptr addrspace(4), ptr addrspace(4) %b, align 8
  store i32 1, ptr addrspace(4) %data, align 4
  ret void"
    ));
    let of = |indirect| kernel.captures.iter().find(|c| (c.offset, c.indirect) == (8, indirect)).copied();
    assert_eq!(of(true), Some(Capture { offset: 8, indirect: true, reads: false, writes: true, thread_bytes: 4 }));
    assert!(of(false).is_some_and(|c| c.reads && !c.writes));
}

#[test]
fn the_bytes_of_a_thread_are_known_outside_of_loops() {
    let bytes = |body: &str| {
        let (kernel, _) = compile_and_load(&format!("{LOADS}{body}"));
        kernel.captures.iter().map(|capture| capture.thread_bytes).collect::<Vec<_>>()
    };
    // Both paths of a branch count.
    let branch = "  %i = call i32 @__revamp_global_id(i32 0)
  %c = icmp eq i32 %i, 3
  %v = load <2 x double>, ptr addrspace(4) %a, align 16
  br i1 %c, label %yes, label %no
yes:
  store i32 1, ptr addrspace(4) %b, align 4
  br label %no
no:
  %r = atomicrmw add ptr addrspace(4) %b, i64 1 monotonic, align 8
  ret void";
    assert_eq!(bytes(branch), [16, 12]);
    let a_loop = "  %v = load i32, ptr addrspace(4) %a, align 4
  br label %before
before:
  br label %again
again:
  %n = phi i32 [ 0, %before ], [ %next, %again ]
  store i32 %n, ptr addrspace(4) %b, align 4
  %next = add i32 %n, 1
  %done = icmp eq i32 %next, %v
  br i1 %done, label %end, label %again
end:
  ret void";
    assert_eq!(bytes(a_loop), [4, 0]);
}

#[test]
fn a_pointer_that_may_be_either_view_counts_for_both() {
    let (kernel, _) = compile_and_load(&format!(
        "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)
  %c = icmp eq i32 %i, 3
  %p = select i1 %c, ptr addrspace(4) %a, ptr addrspace(4) %b
  store i32 7, ptr addrspace(4) %p, align 4
  ret void"
    ));
    assert!(kernel.captures.len() == 2 && kernel.captures.iter().all(|c| c.writes && !c.reads));
}

/// The SPIR-V of a kernel with this body and these bounds checks, and the descriptions of the accesses that it can report.
fn checked(body: &str, bounds: Bounds) -> (dr::Module, Option<Vec<String>>) {
    let module = ir::tests::module(&kernel(body));
    let options = Options { bounds, ..Options::default() };
    let kernel = compile_module(&module, &options).unwrap_or_else(|r| panic!("{r:?}")).remove(0);
    (dr::load_words(&kernel.spirv).unwrap_or_else(|e| panic!("{e}")), kernel.checks)
}

#[test]
fn the_bounds_option_selects_the_checks() {
    let body = format!(
        "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)
  %p = getelementptr i32, ptr addrspace(4) %a, i32 %i
  %q = getelementptr i32, ptr addrspace(4) %b, i32 %i
  %v = load i32, ptr addrspace(4) %p, align 4
  store i32 %v, ptr addrspace(4) %q, align 4
  ret void"
    );
    let of = |module: &dr::Module| {
        (count(module, Op::ULessThan), count(module, Op::SelectionMerge), count(module, Op::AtomicUMax))
    };
    let (module, sites) = checked(&body, Bounds::Off);
    assert_eq!((of(&module), sites), ((0, 0, 0), None));
    // An out-of-bounds load reads zeros from the table. A store is guarded by a branch.
    let (module, sites) = checked(&body, Bounds::Zero);
    assert_eq!((of(&module), sites), ((2, 1, 0), Some(vec![])));
    let (module, sites) = checked(&body, Bounds::Report);
    assert_eq!(of(&module).0, 2);
    assert_eq!(of(&module).2, 1, "once, at the end of the thread");
    let of_sites = |what: &str, at: u32| {
        format!("{what} 4 bytes outside of the array_view or array captured at byte {at} of the functor")
    };
    assert_eq!(sites, Some(vec![of_sites("reads", 0), of_sites("writes", 8)]));
}

/// An access that can begin before the memory and end in it needs two comparisons.
#[test]
fn accesses_across_the_start_are_outside() {
    let comparisons = |load: &str| {
        let body = format!(
            "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)
  %p = getelementptr i8, ptr addrspace(4) %a, i32 %i
  %v = load {load}
  store volatile i32 0, ptr addrspace(4) %b, align 4
  ret void"
        );
        count(&checked(&body, Bounds::Zero).0, Op::ULessThan) - 1
    };
    assert_eq!(comparisons("volatile i32, ptr addrspace(4) %p, align 4"), 1);
    assert_eq!(comparisons("volatile i32, ptr addrspace(4) %p, align 2"), 2);
    assert_eq!(comparisons("volatile i16, ptr addrspace(4) %p, align 1"), 2);
    assert_eq!(comparisons("volatile i8, ptr addrspace(4) %p, align 1"), 1);
    assert_eq!(comparisons("volatile i64, ptr addrspace(4) %p, align 8"), 2);
}

#[test]
fn bounds_checks_find_the_memory_of_each_pointer() {
    let of = |body: &str| {
        let (module, _) =
            checked(&format!("{LOADS}  %i = call i32 @__revamp_global_id(i32 0)\n{body}\n  ret void"), Bounds::Zero);
        (count(&module, Op::LoopMerge), count(&module, Op::Select))
    };
    let store = "  store i32 7, ptr addrspace(4) %p, align 4";
    let select = "  %c = icmp eq i32 %i, 3\n  %p = select i1 %c, ptr addrspace(4) %a, ptr addrspace(4) ";
    // A pointer to one view needs no select. For a pointer to one of two views, selects choose the pointer, the start and the size.
    assert_eq!(of(&store.replace("%p", "%a")), (0, 0));
    assert_eq!(of(&format!("{select}%b\n{store}")), (0, 3));
    assert_eq!(of(&format!("{select}%a\n{store}")), (0, 1));
    // The memory of a pointer that is made from a number is looked up by a loop.
    let (loops, _) = of(&format!("  %n = zext i32 %i to i64\n  %p = inttoptr i64 %n to ptr addrspace(4)\n{store}"));
    assert_eq!(loops, 1);
}

#[test]
fn tile_memory_is_a_workgroup_variable_and_barriers_order_it() {
    let (_, module) = compile_and_load(
        "  %i = call i32 @__revamp_global_id(i32 0)
  %n = zext i32 %i to i64
  %p = getelementptr inbounds [16 x i32], ptr addrspace(3) @tile, i64 0, i64 %n
  store i32 %i, ptr addrspace(3) %p, align 4
  call void @__revamp_tile_barrier(i32 3)
  ret void",
    );
    let tile = module.types_global_values.iter().filter(|i| {
        i.class.opcode == Op::Variable && i.operands.first() == Some(&Operand::StorageClass(StorageClass::Workgroup))
    });
    assert_eq!(tile.count(), 1);
    assert_eq!(count(&module, Op::ControlBarrier), 1);
}

#[test]
fn device_properties_are_specialization_constants() {
    let (_, module) = compile_and_load(
        "  %a = call i1 @__revamp_of_device(i32 0)
  %b = call i1 @__revamp_of_device(i32 2)
  %c = call i1 @__revamp_of_device(i32 0)
  ret void",
    );
    assert_eq!(count(&module, Op::SpecConstantFalse), 2);
}

#[test]
fn accesses_after_captured_pointers_have_offsets_of_32_bits() {
    // Each access selects one of two addresses, depending on the device.
    let narrow = |body: &str| {
        count(
            &compile_and_load(&format!("{LOADS}  %i = call i32 @__revamp_global_id(i32 0)\n{body}  ret void")).1,
            Op::Select,
        )
    };
    let steps = "  %n = sext i32 %i to i64
  %m = add i64 %n, -3
  %p = getelementptr float, ptr addrspace(4) %a, i64 %m
  %q = getelementptr i8, ptr addrspace(4) %p, i64 8
";
    assert_eq!(narrow(&format!("{steps}  store float 1.0, ptr addrspace(4) %q, align 4\n")), 1);
    assert_eq!(
        narrow(&format!(
            "{steps}  store float 1.0, ptr addrspace(4) %q, align 4\n  store float 2.0, ptr addrspace(4) %p, align 4\n"
        )),
        2
    );
    let reached = "  %data = load ptr addrspace(4), ptr addrspace(4) %b, align 8
  %p = getelementptr float, ptr addrspace(4) %data, i32 %i
  store float 1.0, ptr addrspace(4) %p, align 4
";
    assert_eq!(narrow(reached), 1);
    // The captured pointer itself needs no offset. A pointer that is selected from two has none, because it may lie before the memory.
    assert_eq!(narrow("  store float 1.0, ptr addrspace(4) %a, align 4\n"), 0);
    let chosen = "  %c = icmp eq i32 %i, 3
  %p = getelementptr float, ptr addrspace(4) %a, i32 %i
  %q = select i1 %c, ptr addrspace(4) %p, ptr addrspace(4) %b
  %r = getelementptr float, ptr addrspace(4) %q, i32 %i
  store float 1.0, ptr addrspace(4) %r, align 4
";
    assert_eq!(narrow(chosen), 1, "only the select of %q");
}

#[test]
fn pointers_of_loops_have_offsets_too() {
    let loop_from = |second: &str| {
        let body = format!(
            "{LOADS}  %p0 = getelementptr float, ptr addrspace(4) {second}, i32 3\n  br label %loop
loop:
  %p = phi ptr addrspace(4) [ %a, %entry ], [ %p1, %loop ]
  %q = phi ptr addrspace(4) [ %p0, %entry ], [ %q1, %loop ]
  %v = load float, ptr addrspace(4) %p, align 4
  store float %v, ptr addrspace(4) %q, align 4
  %p1 = getelementptr i8, ptr addrspace(4) %p, i64 4
  %q1 = getelementptr i8, ptr addrspace(4) %q, i64 8
  %c = fcmp olt float %v, 1.0
  br i1 %c, label %loop, label %end
end:
  ret void"
        );
        let (_, module) = compile_and_load(&body);
        (count(&module, Op::Phi), count(&module, Op::Select))
    };
    assert_eq!([loop_from("%a"), loop_from("%b")], [(4, 2), (4, 2)]);
    assert_eq!(loop_from("null"), (3, 1), "only %p has a narrow address");
}

#[test]
fn a_constant_is_added_to_the_address_of_another_access_of_the_block() {
    // An offset is converted to 64 bits, unless the address is another access's address plus a constant.
    let sums = |before: &str, after: &str| {
        let body = format!(
            "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)
  %p = getelementptr float, ptr addrspace(4) %a, i32 %i
  {before}  %q = getelementptr i8, ptr addrspace(4) %p, i64 -4
  %r = getelementptr i8, ptr addrspace(4) %p, i64 8
  store float 1.0, ptr addrspace(4) %q, align 4
  {after}  ret void"
        );
        count(&compile_and_load(&body).1, Op::UConvert)
    };
    let (p, r) = ("store float 2.0, ptr addrspace(4) %p, align 4\n", "store float 3.0, ptr addrspace(4) %r, align 4\n");
    assert_eq!([sums("", ""), sums("", r), sums(p, ""), sums("", p)], [1; 4]);
    assert_eq!(sums(&format!("{p}  br label %next\nnext:\n"), ""), 2, "an access that another block makes");
}

#[test]
fn an_else_needs_no_second_branch() {
    // An if-else after `structurizecfg`.
    let body = |used: &str| {
        format!(
            "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)\n  %c = icmp eq i32 %i, 3
  br i1 %c, label %first, label %flow
first:
  store i32 1, ptr addrspace(4) %a, align 4
  br label %flow
flow:
  %v = phi i32 [ 1, %first ], [ poison, %entry ]
  %f = phi i1 [ false, %first ], [ true, %entry ]
  br i1 %f, label %second, label %end
second:
  store i32 {used}, ptr addrspace(4) %b, align 4
  br label %end
end:
  %w = phi i32 [ %v, %flow ], [ 2, %second ]
  store i32 %w, ptr addrspace(4) %a, align 4
  ret void"
        )
    };
    let branches = |used: &str| count(&compile_and_load(&body(used)).1, Op::BranchConditional);
    assert_eq!((branches("3"), branches("%v")), (1, 2));
}

#[test]
fn a_clamped_sum_is_a_minimum_and_a_maximum() {
    let choices = |condition: &str, minimum: &str, most: i32, by: i32, other: i32| {
        let chosen =
            if condition.starts_with("sgt") || condition.starts_with("ne") { ("%s", "%o") } else { ("%o", "%s") };
        let (yes, no) = (chosen.0.replace("%o", &other.to_string()), chosen.1.replace("%o", &other.to_string()));
        let body = format!(
            "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)\n  %c = icmp {condition}
  %m = call i32 @llvm.{minimum}.i32(i32 %i, i32 {most})\n  %s = add i32 %m, {by}
  %v = select i1 %c, i32 {yes}, i32 {no}\n  store i32 %v, ptr addrspace(4) %a, align 4\n  ret void"
        );
        count(&compile_and_load(&body).1, Op::Select)
    };
    let clamps = [
        choices("sgt i32 %i, 0", "smin", 256, -1, 0),
        choices("slt i32 %i, -1", "smin", 254, 1, 0),
        choices("eq i32 %i, 0", "umin", 256, -1, 0),
        choices("ne i32 %i, 0", "umin", 9, 5, 6),
    ];
    assert_eq!(clamps, [0; 4]);
    let no_clamps = [
        choices("sgt i32 %i, 0", "smin", 256, -1, 1),
        choices("sgt i32 %i, 5", "smin", 4, -1, 5),
        choices("sgt i32 %i, 0", "umin", 256, -1, 0),
        choices("sgt i32 %i, 2147483647", "smin", 256, -1, 0),
        choices("ult i32 %i, 1", "umin", 256, -1, 0),
        choices("slt i32 3, %i", "smin", 256, -3, 0),
    ];
    assert_eq!(no_clamps, [1; 6]);
}

#[test]
fn bounds_checked_accesses_have_no_narrow_address() {
    let body = format!(
        "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)
  %p = getelementptr float, ptr addrspace(4) %a, i32 %i
  store float 1.0, ptr addrspace(4) %p, align 4
  ret void"
    );
    let constants = |bounds| count(&checked(&body, bounds).0, Op::SpecConstantFalse);
    assert_eq!([Bounds::Off, Bounds::Zero].map(constants), [1, 0]);
}

#[test]
fn accesses_are_atomic_if_tiles_communicate() {
    let body = |fence: &str, ty: &str, swap: &str| {
        format!(
            "{LOADS}  {swap}{fence}%v = load {ty}, ptr addrspace(4) %b, align 4\n  store {ty} %v, ptr addrspace(4) %b, align 4\n  ret void"
        )
    };
    let counts = |body: &str| {
        let (_, module) = compile_and_load(body);
        [Op::AtomicLoad, Op::AtomicStore, Op::MemoryBarrier].map(|op| count(&module, op))
    };
    let (lock, written) = ("fence acq_rel\n  ", "call void @__revamp_memory_fence(i32 1)\n  ");
    let swap = "%old = atomicrmw xchg ptr addrspace(4) %a, i32 1 monotonic, align 4\n  ";
    assert_eq!(counts(&body(lock, "float", "")), [1, 1, 1]);
    assert_eq!(counts(&body(lock, "double", "")), [2, 2, 1]);
    assert_eq!(counts(&body(lock, "i16", "")), [0, 0, 1]);
    assert_eq!(counts(&body(written, "i32", swap)), [1, 1, 1]);
    // Accesses are plain if the kernel has no atomic operation, no fence of device memory, or no fence at all.
    assert_eq!(counts(&body(written, "i32", "")), [0, 0, 1]);
    assert_eq!(counts(&body(&written.replace("i32 1", "i32 2"), "i32", swap)), [0, 0, 1]);
    assert_eq!(counts(&body("", "i32", swap)), [0, 0, 0]);
}

/// The semantics of the barriers of a kernel with this body, in the order of the module.
fn barriers(body: &str) -> Vec<u32> {
    let (_, module) = compile_and_load(body);
    let number = |id: &Operand| match id {
        Operand::IdRef(id) | Operand::IdMemorySemantics(id) => {
            module.types_global_values.iter().find(|i| i.result_id == Some(*id)).map(|i| &i.operands)
        }
        _ => None,
    };
    let all = module.all_inst_iter().filter(|i| i.class.opcode == Op::ControlBarrier);
    all.filter_map(|i| match number(&i.operands[2]).map(Vec::as_slice) {
        Some([Operand::LiteralBit32(semantics)]) => Some(*semantics),
        _ => None,
    })
    .collect()
}

#[test]
fn barriers_order_device_memory_that_threads_may_share() {
    const TILE: u32 = 0x108;
    const ALL: u32 = 0x148;
    let wait = "  call void @__revamp_tile_barrier(i32 3)\n";
    let read = |of: &str, n: u32| format!("  %r{n} = load i32, ptr addrspace(4) {of}, align 4\n");
    let write = |of: &str| format!("  store i32 1, ptr addrspace(4) {of}, align 4\n");
    let add = |of: &str, n: u32| {
        format!("  %x{n} = atomicrmw add ptr addrspace(4) {of}, i32 1 syncscope(\"agent\") monotonic\n")
    };
    let of = |parts: &[&str]| barriers(&format!("{LOADS}{}  ret void", parts.concat()));
    // No thread writes memory that another thread accesses on the other side of the barrier.
    assert_eq!(of(&[wait]), [TILE]);
    assert_eq!(of(&[&read("%a", 1), wait, &read("%b", 2), wait]), [TILE, TILE]);
    assert_eq!(of(&[wait, &write("%a")]), [TILE]);
    assert_eq!(of(&[&write("%a"), wait]), [TILE]);
    assert_eq!(of(&[&add("%a", 1), wait]), [TILE]);
    // Through one view: read after write, write after write, write after read, atomic operations.
    for parts in [
        [&write("%a"), &read("%a", 1)],
        [&write("%a"), &write("%a")],
        [&read("%a", 1), &write("%a")],
        [&add("%a", 1), &read("%a", 1)],
        [&write("%a"), &add("%a", 1)],
        [&add("%a", 1), &add("%a", 2)],
    ] {
        assert_eq!(of(&[parts[0], wait, parts[1]]), [ALL], "{parts:?}");
    }
    // Through two views that may share memory, which is known at the launch. The kernel has two barriers, and one of them runs.
    for parts in [[&write("%a"), &read("%b", 1)], [&read("%a", 1), &write("%b")], [&write("%a"), &write("%b")]] {
        assert_eq!(of(&[parts[0], wait, parts[1]]), [ALL, TILE], "{parts:?}");
    }
    // The value is already stored in tile memory, so the read is complete. The same holds if a sum with the value is stored.
    let (kept, sum) = ("  store i32 %r1, ptr addrspace(3) @tile, align 4\n", "  %r2 = add i32 %r1, 1\n");
    assert_eq!(of(&[&read("%a", 1), kept, wait, &write("%a")]), [TILE]);
    assert_eq!(of(&[&read("%a", 1), sum, &kept.replace("%r1", "%r2"), wait, &write("%a")]), [TILE]);
    assert_eq!(of(&[&read("%a", 1), wait, kept, &write("%a")]), [ALL]);
    // A pointer that may be either view.
    let either = "  %i = call i32 @__revamp_global_id(i32 0)\n  %c = icmp eq i32 %i, 3\n\
                  %p = select i1 %c, ptr addrspace(4) %a, ptr addrspace(4) %b\n";
    assert_eq!(of(&[either, &write("%p"), wait, &read("%a", 1)]), [ALL]);
    // A pointer that is made from a number.
    let number = "  %n = ptrtoint ptr addrspace(4) %a to i64\n  %m = add i64 %n, 64\n  \
                  %q = inttoptr i64 %m to ptr addrspace(4)\n";
    assert_eq!(of(&[number, &write("%q"), wait, &read("%b", 1)]), [ALL]);
    // An atomic operation observes writes of other tiles, and the barrier passes them on.
    let observes_other_tiles = "  %i = call i32 @__revamp_global_id(i32 0)\n  %c = icmp eq i32 %i, 3\n  \
                  br i1 %c, label %one, label %two\none:\n  store i32 1, ptr addrspace(4) %a, align 4\n  br label %end\n\
                  two:\n  %x = atomicrmw add ptr addrspace(4) %b, i32 1 syncscope(\"agent\") monotonic\n";
    let end = "  br label %end\nend:\n";
    assert_eq!(of(&[observes_other_tiles, wait, &read("%a", 1), end]), [ALL]);
    // So does an atomic load of a flag.
    let flag = observes_other_tiles.replace(
        "atomicrmw add ptr addrspace(4) %b, i32 1 syncscope(\"agent\") monotonic",
        "load atomic i32, ptr addrspace(4) %b syncscope(\"agent\") monotonic, align 4",
    );
    assert_eq!(of(&[&flag, wait, &read("%a", 1), end]), [ALL]);
    assert_eq!(
        of(&[
            &flag.replace("load atomic", "load").replace(" syncscope(\"agent\") monotonic", ""),
            wait,
            &read("%a", 1),
            end
        ]),
        [TILE]
    );
    // An atomic operation may tell other tiles that the accesses before the barrier are complete.
    let set = "  store atomic i32 1, ptr addrspace(4) %b syncscope(\"agent\") monotonic, align 4\n";
    for tells in [&add("%b", 1), set] {
        assert_eq!(of(&[&write("%a"), wait, tells]), [ALL], "{tells}");
    }
    // An atomic operation on tile memory observes no writes of other tiles.
    let of_tile = observes_other_tiles.replace("addrspace(4) %b, i32 1", "addrspace(3) @tile, i32 1");
    assert_eq!(of(&[&of_tile, wait, &read("%a", 1), end]), [TILE]);
    assert_eq!(
        of(&[
            &observes_other_tiles
                .replace("atomicrmw add ptr addrspace(4) %b, i32 1 syncscope(\"agent\") monotonic", "add i32 1, 1"),
            wait,
            &read("%a", 1),
            end
        ]),
        [TILE]
    );
    // The extents of an array and the address of its elements do not change.
    let header = "  %f = load ptr addrspace(4), ptr addrspace(4) %b, align 8\n  %e = getelementptr i8, ptr addrspace(4) %b, i64 8\n";
    assert_eq!(of(&[&write("%a"), header, &read("%f", 2), wait, &read("%e", 1)]), [TILE]);
    assert_eq!(of(&[header, &write("%f"), wait, &read("%f", 1)]), [ALL]);
}

#[test]
fn a_barrier_in_a_loop_orders_accesses_of_the_whole_loop() {
    let of = |before: &str, following: &str| {
        barriers(&format!(
            "{LOADS}  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
{before}  call void @__revamp_tile_barrier(i32 3)
{following}  %next = add i32 %k, 1
  %more = icmp slt i32 %next, 9
  br i1 %more, label %loop, label %end
end:
  ret void"
        ))
    };
    let (read, write) =
        ("  %r = load i32, ptr addrspace(4) %a, align 4\n", "  store i32 1, ptr addrspace(4) %a, align 4\n");
    assert_eq!(of("", write), [0x148]);
    assert_eq!(of(write, ""), [0x148]);
    assert_eq!(of(read, ""), [0x108]);
    assert_eq!(of(read, &write.replace("%a", "%b")), [0x148]);
    // Without a loop, the write after the barrier does not precede a barrier.
    assert_eq!(barriers(&format!("{LOADS}  call void @__revamp_tile_barrier(i32 1)\n{write}  ret void")), [0x108]);
}

#[test]
fn launch_constants_are_loaded_from_the_uniform_buffer() {
    let of = |body: &str| {
        let (_, module) = compile_and_load(&format!("{LOADS}{body}  ret void"));
        let loads = module.all_inst_iter().filter(|i| i.class.opcode == Op::Load && i.operands.len() == 3);
        (loads.count(), count(&module, Op::ConvertUToPtr))
    };
    // Loads of an array's element address and extent, and of a number in the block.
    let header = "  %d = load ptr addrspace(4), ptr addrspace(4) %b, align 8
  %e = getelementptr i8, ptr addrspace(4) %b, i64 8\n  %n = load i32, ptr addrspace(4) %e, align 4
  %m = getelementptr i8, ptr addrspace(2) %0, i64 16\n  %k = load i32, ptr addrspace(2) %m, align 4
  %s = add i32 %n, %k\n  store i32 %s, ptr addrspace(4) %d, align 4\n";
    assert_eq!(of(header), (0, 1));
    // The captured address of a view leads to its elements, which are not in the uniform buffer, even at a constant index.
    assert_eq!(
        of("  %n = load i32, ptr addrspace(4) %a, align 4\n  store i32 %n, ptr addrspace(4) %b, align 4\n"),
        (1, 2)
    );
    // A load at a run-time offset, and a load beyond the header of an array, do not use the uniform buffer.
    let chosen = "  %i = call i32 @__revamp_global_id(i32 0)\n  %p = getelementptr i32, ptr addrspace(2) %0, i32 %i
  %n = load i32, ptr addrspace(2) %p, align 4\n  store i32 %n, ptr addrspace(4) %a, align 4\n";
    assert_eq!(of(chosen), (1, 2));
    assert_eq!(of(&header.replace("%b, i64 8", "%b, i64 48")), (1, 2));
}

#[test]
fn a_local_array_with_a_changing_index_and_a_table_are_variables() {
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  %l = alloca [4 x i32], align 4
  %first = load i32, ptr addrspace(1) @table, align 4
  store i32 %first, ptr %l, align 4
  %i = call i32 @__revamp_global_id(i32 0)
  %n = zext i32 %i to i64
  %p = getelementptr inbounds [4 x i32], ptr %l, i64 0, i64 %n
  store i32 5, ptr %p, align 4
  %q = getelementptr inbounds [4 x i32], ptr addrspace(1) @table, i64 0, i64 %n
  %v = load i32, ptr addrspace(1) %q, align 4
  %w = load i32, ptr %p, align 4
  %s = add i32 %v, %w
  store i32 %s, ptr addrspace(4) %a, align 4
  ret void"
    ));
    let of = |class| {
        let is_variable = |i: &&dr::Instruction| i.class.opcode == Op::Variable;
        let variables = module.all_inst_iter().filter(is_variable);
        variables.filter(|i| i.operands[0] == Operand::StorageClass(class)).count()
    };
    assert_eq!((of(StorageClass::Function), of(StorageClass::Private)), (1, 1));
}

#[test]
fn several_small_local_arrays_are_in_memory() {
    // The number of arrays whose length depends on the device.
    let of = |sizes: &[u32]| {
        let array = |(n, size): (usize, &u32)| {
            format!(
                "  %l{n} = alloca [{size} x i32], align 4
  %p{n} = getelementptr inbounds [{size} x i32], ptr %l{n}, i64 0, i64 %n
  store i32 5, ptr %p{n}, align 4
  %v{n} = load i32, ptr %p{n}, align 4
  store i32 %v{n}, ptr addrspace(4) %a, align 4
"
            )
        };
        let arrays: String = sizes.iter().enumerate().map(array).collect();
        let body = format!(
            "{LOADS}  %i = call i32 @__revamp_global_id(i32 0)
  %n = zext i32 %i to i64
{arrays}  ret void"
        );
        count(&compile_and_load(&body).1, Op::SpecConstantOp)
    };
    assert_eq!(of(&[16]), 0);
    assert_eq!(of(&[16, 64]), 0);
    assert_eq!(of(&[16, 8, 100]), 2);
}

#[test]
fn saturating_conversions_of_halves_compare_values_of_one_type() {
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  %h = load half, ptr addrspace(4) %b, align 2
  %s = call i32 @llvm.fptosi.sat.i32.f16(half %h)
  %u = call i32 @llvm.fptoui.sat.i32.f16(half %h)
  %x = xor i32 %s, %u
  store i32 %x, ptr addrspace(4) %a, align 4
  ret void"
    ));
    let ty = |operand: &Operand| {
        let made = module.all_inst_iter().find(|i| i.result_id.is_some() && i.result_id == operand.id_ref_any());
        made.and_then(|i| i.result_type)
    };
    let is_comparison = |op: Op| [Op::FOrdLessThan, Op::FOrdGreaterThanEqual].contains(&op);
    let comparisons: Vec<_> = module.all_inst_iter().filter(|i| is_comparison(i.class.opcode)).collect();
    assert_eq!(comparisons.len(), 4);
    for one in comparisons {
        assert!(ty(&one.operands[0]).is_some() && ty(&one.operands[0]) == ty(&one.operands[1]), "{one:?}");
    }
}

#[test]
fn constant_indices_of_one_bit_are_signed() {
    let of = |index: &str| {
        let (_, module) = compile_and_load(&format!(
            "{LOADS}  %p = getelementptr i32, ptr addrspace(4) %a, {index}
  store i32 1, ptr addrspace(4) %p, align 4
  ret void"
        ));
        let bits = |i: &dr::Instruction| match i.operands[0] {
            Operand::LiteralBit64(bits) if i.class.opcode == Op::Constant => Some(bits as i64),
            _ => None,
        };
        module.types_global_values.iter().filter(|i| !i.operands.is_empty()).filter_map(bits).any(|bits| bits == -4)
    };
    assert!(of("i64 -1") && of("i1 true") && !of("i64 1") && !of("i1 false"));
}

#[test]
fn a_loop_has_its_merge_and_continue_blocks() {
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %odd = and i32 %k, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %then, label %latch
then:
  store i32 %k, ptr addrspace(4) %a, align 4
  br label %latch
latch:
  %next = add i32 %k, 1
  %again = icmp ult i32 %next, 10
  br i1 %again, label %loop, label %done
done:
  ret void"
    ));
    assert_eq!((count(&module, Op::LoopMerge), count(&module, Op::SelectionMerge)), (1, 1));
}

#[test]
fn a_loop_that_is_one_block_is_split() {
    let (_, module) = compile_and_load(
        "  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %k, 1
  %again = icmp ult i32 %next, 10
  br i1 %again, label %loop, label %done
done:
  ret void",
    );
    assert_eq!(count(&module, Op::LoopMerge), 1);
}

#[test]
fn the_paths_of_a_branch_may_meet_at_the_header_of_a_loop() {
    let (_, module) = compile_and_load(
        "  %i = call i32 @__revamp_global_id(i32 0)
  %c = icmp eq i32 %i, 3
  br i1 %c, label %then, label %loop
then:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ 1, %then ], [ %next, %loop ]
  %next = add i32 %k, 1
  %again = icmp ult i32 %next, 10
  br i1 %again, label %loop, label %done
done:
  ret void",
    );
    let targets = |block: &dr::Block| -> Vec<u32> {
        let last = block.instructions.last().unwrap();
        last.operands.iter().filter_map(|operand| operand.id_ref_any()).collect()
    };
    let blocks = &module.functions[0].blocks;
    let label = |block: &dr::Block| block.label.as_ref().unwrap().result_id.unwrap();
    let is_loop = |block: &&dr::Block| block.instructions.iter().any(|i| i.class.opcode == Op::LoopMerge);
    let header = blocks.iter().position(|block| is_loop(&block)).unwrap();
    // Only the header is the target of a back edge.
    let back: Vec<u32> = blocks
        .iter()
        .enumerate()
        .flat_map(|(n, block)| {
            let earlier: Vec<u32> = blocks[..=n].iter().map(label).collect();
            targets(block).into_iter().filter(move |id| earlier.contains(id))
        })
        .collect();
    assert_eq!(back, [label(&blocks[header])]);
}

#[test]
fn an_early_exit_of_a_loop_may_be_a_break() {
    // The flag at the early exit, and the number of breaks. Only a flag that certainly ends the loop gives a break.
    for (flag, breaks) in [("true", 1), ("%late", 0), ("false", 0)] {
        let (_, module) = compile_and_load(&format!(
            "{LOADS}  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %on, %latch ]
  %c = icmp slt i32 %k, 5
  %late = icmp slt i32 %k, 50
  br i1 %c, label %then, label %latch
then:
  store i32 %k, ptr addrspace(4) %a, align 4
  %next = add i32 %k, 1
  %last = icmp eq i32 %next, 10
  br label %latch
latch:
  %on = phi i32 [ %next, %then ], [ poison, %loop ]
  %early = phi i1 [ false, %then ], [ true, %loop ]
  %end = phi i1 [ %last, %then ], [ {flag}, %loop ]
  %all = xor i1 %early, true
  br i1 %end, label %done, label %loop
done:
  br i1 %all, label %whole, label %out
whole:
  store i32 %on, ptr addrspace(4) %b, align 4
  br label %out
out:
  ret void"
        ));
        assert_eq!(count(&module, Op::SpecConstantFalse), breaks, "{flag}");
        let Some(constant) = module.types_global_values.iter().find(|i| i.class.opcode == Op::SpecConstantFalse) else {
            continue;
        };
        let block = |id| module.functions[0].blocks.iter().find(|block| block.label_id() == id);
        let breaking = module.functions[0].blocks.iter().find(|block| {
            let Some(last) = block.instructions.last() else { return false };
            last.class.opcode == Op::BranchConditional && last.operands[0].id_ref_any() == constant.result_id
        });
        let breaking = breaking.unwrap_or_else(|| panic!("no break in {module:?}"));
        // Values that are used after the loop come from both exits.
        let following = block(breaking.instructions[0].operands[1].id_ref_any());
        let phis: Vec<_> =
            following.iter().flat_map(|b| &b.instructions).take_while(|i| i.class.opcode == Op::Phi).collect();
        assert_eq!(phis.len(), 2);
        for phi in phis {
            assert_eq!(phi.operands.len(), 4);
            assert_eq!(phi.operands[3].id_ref_any(), breaking.label_id());
        }
    }
}

#[test]
fn divisions_by_one_number_may_share_its_reciprocal() {
    let operations = |second: &str| {
        format!(
            "{LOADS}  %x = load i32, ptr addrspace(4) %a, align 4
  %by = load i32, ptr addrspace(4) %b, align 4
  %other = add i32 %by, 1
  %p = sdiv i32 %x, %by
  %q = {second}
  %sum = add i32 %p, %q
  store i32 %sum, ptr addrspace(4) %b, align 4
  ret void"
        )
    };
    // A division whose divisor is not shared or is constant is left to the driver.
    for (second, shared) in
        [("urem i32 %x, %by", 1), ("srem i32 %x, %by", 1), ("udiv i32 %x, %other", 0), ("sdiv i32 %x, 12", 0)]
    {
        let (_, module) = compile_and_load(&operations(second));
        assert_eq!(count(&module, Op::SpecConstantFalse), shared, "{second}");
        assert_eq!(count(&module, Op::UMulExtended), 4 * shared, "{second}");
    }
}

#[test]
fn integers_of_any_width_are_in_registers_of_32_and_64_bits() {
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  %v = load i32, ptr addrspace(4) %a, align 4
  %t = trunc i32 %v to i7
  %m = mul i7 %t, 3
  %s = sext i7 %m to i64
  %w = zext i32 %v to i33
  %x = shl i33 %w, 1
  %y = zext i33 %x to i64
  %z = add i64 %s, %y
  store i64 %z, ptr addrspace(4) %b, align 8
  ret void"
    ));
    let widths = module.types_global_values.iter().filter(|i| i.class.opcode == Op::TypeInt);
    assert!(widths.clone().all(|i| matches!(i.operands[0], Operand::LiteralBit32(32 | 64))), "{widths:?}");
}

#[test]
fn underaligned_accesses_are_split() {
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  %v = load i64, ptr addrspace(4) %a, align 4
  store i64 %v, ptr addrspace(4) %b, align 8
  ret void"
    ));
    let loads = module.all_inst_iter().filter(|i| i.class.opcode == Op::Load && i.operands.len() == 3);
    // The load is split into two loads of 4 bytes.
    assert_eq!(loads.count(), 2);
    assert_eq!(count(&module, Op::Store), 1);
}

#[test]
fn the_components_of_a_vector_are_at_their_own_bytes() {
    // All addresses are multiples of 4, but a component is at byte 2.
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  %l = alloca <2 x i16>, align 4
  store volatile <2 x i16> <i16 1, i16 2>, ptr %l, align 4
  %v = load volatile <2 x i16>, ptr %l, align 4
  %w = extractelement <2 x i16> %v, i32 1
  store i16 %w, ptr addrspace(4) %a, align 4
  ret void"
    ));
    // The offsets of the components, of which the store and the load each use the place within a word.
    let number = |id: &Operand| {
        let made = module.types_global_values.iter().find(|i| i.result_id == id.id_ref_any())?;
        (made.class.opcode == Op::Constant).then(|| made.operands[0].unwrap_literal_bit32())
    };
    let places =
        module.all_inst_iter().filter(|i| i.class.opcode == Op::BitwiseAnd && number(&i.operands[1]) == Some(3));
    let places: Vec<_> = places.map(|i| number(&i.operands[0])).collect();
    assert_eq!(places, [0, 2, 0, 2].map(Some));
}

#[test]
fn a_float_becomes_a_bool() {
    for op in ["fptoui", "fptosi"] {
        let (_, module) = compile_and_load(&format!(
            "{LOADS}  %x = load float, ptr addrspace(4) %a, align 4
  %t = {op} float %x to i1
  %w = select i1 %t, i32 3, i32 4
  store i32 %w, ptr addrspace(4) %b, align 4
  ret void"
        ));
        let all: Vec<_> = module.all_inst_iter().collect();
        let bools = all.iter().find(|i| i.class.opcode == Op::TypeBool).and_then(|i| i.result_id);
        let three = all.iter().find(|i| i.class.opcode == Op::Select && i.operands.len() == 3);
        let condition = three.and_then(|i| all.iter().find(|made| made.result_id == i.operands[0].id_ref_any()));
        assert!(bools.is_some() && condition.is_some_and(|i| i.result_type == bools), "{op}: {condition:?}");
    }
}

#[test]
fn minima_and_maxima_of_ieee_order_zeros() {
    let of = |name: &str| {
        let declared = format!("declare float @llvm.{name}.f32(float, float)\n");
        let module = ir::tests::module(
            &(declared
                + &kernel(&format!(
                    "{LOADS}  %x = load float, ptr addrspace(4) %a, align 4
  %y = load float, ptr addrspace(4) %b, align 4
  %m = call float @llvm.{name}.f32(float %x, float %y)
  store float %m, ptr addrspace(4) %b, align 4
  ret void"
                ))),
        );
        let kernels = compile_module(&module, &Options::default()).unwrap_or_else(|r| panic!("{r:?}"));
        let module = dr::load_words(&kernels[0].spirv).unwrap_or_else(|e| panic!("{e}"));
        let loads: Vec<_> =
            module.all_inst_iter().filter(|i| i.class.opcode == Op::Load && i.operands.len() == 3).collect();
        let loads: Vec<_> = loads.iter().map(|i| i.result_id).collect();
        // Which operand a select by the sign of the first operand gives first.
        let by_sign = module
            .all_inst_iter()
            .find(|i| i.class.opcode == Op::Select && i.operands[1..].iter().all(|o| loads.contains(&o.id_ref_any())));
        let first = by_sign.map(|i| loads.iter().position(|load| *load == i.operands[1].id_ref_any()));
        (first.flatten(), count(&module, Op::IsNan))
    };
    assert_eq!(of("minimum"), (Some(0), 2));
    assert_eq!(of("maximum"), (Some(1), 2));
    assert_eq!(of("minimumnum"), (Some(0), 0));
    assert_eq!(of("maximumnum"), (Some(1), 0));
    assert_eq!(of("minnum"), (None, 0));
}

#[test]
fn only_doubles_need_the_float64_capability() {
    let has_float64 = |module: &dr::Module| {
        module.capabilities.iter().any(|i| i.operands[0] == Operand::Capability(Capability::Float64))
    };
    let (_, without) = compile_and_load("  ret void");
    let (_, with) = compile_and_load(&format!(
        "{LOADS}  %v = load double, ptr addrspace(4) %a, align 8
  %w = fmul double %v, 2.5
  store double %w, ptr addrspace(4) %a, align 8
  ret void"
    ));
    assert!(!has_float64(&without) && has_float64(&with));
}

#[test]
fn a_kernel_ends_if_each_block_that_is_reached_leads_to_the_end() {
    let can_exit = |body: &str| {
        let module = ir::tests::module(&kernel(body));
        super::compile::kernels(&module).all(crate::analysis::cfg::can_exit)
    };
    let turn = "  %c = icmp eq i32 1, 2\n  br i1 %c, label %again, label %out\nagain:\n  br label %";
    assert!(can_exit("  ret void"));
    assert!(can_exit(&format!("  br label %loop\nloop:\n{turn}loop\nout:\n  ret void")));
    assert!(!can_exit(&format!("  br label %loop\nloop:\n{turn}again\nout:\n  ret void")));
    assert!(can_exit("  br label %out\nout:\n  ret void\naside:\n  br label %aside"), "an unreachable block");
}

#[test]
fn unsupported_kernels_are_refused_with_a_reason() {
    assert_refused("  %v = call i32 @helper(i32 1)\n  ret void", "'helper' is called in amp code but not defined");
    assert_refused("  store i32 1, ptr addrspace(1) @outer, align 4\n  ret void", "the global variable 'outer'");
    assert_refused(&format!("{LOADS}  call addrspace(4) void %a()\n  ret void"), "through a pointer");
    assert_refused("  br label %loop\nloop:\n  br label %loop", "no thread can leave");
    assert_refused(
        &format!(
            "{LOADS}  %v = load i32, ptr addrspace(4) %a, align 4
  %c = icmp eq i32 %v, 0
  %g = addrspacecast ptr addrspace(3) @tile to ptr addrspace(4)
  %p = select i1 %c, ptr addrspace(4) %g, ptr addrspace(4) %b
  store i32 1, ptr addrspace(4) %p, align 4
  ret void"
        ),
        "or to a tile_static or local variable",
    );
    assert_refused(
        &format!(
            "{LOADS}  %l = alloca i32, align 4
  store ptr %l, ptr addrspace(4) %a, align 8
  ret void"
        ),
        "is stored in memory",
    );
    assert_refused(
        &format!(
            "{LOADS}  %v = load i128, ptr addrspace(4) %a, align 8\n  store i128 %v, ptr addrspace(4) %b\n  ret void"
        ),
        "an integer of 128 bits",
    );
}

#[test]
fn an_untiled_kernel_lets_the_runtime_choose_its_workgroup() {
    let (_, module) = compile_and_load("  ret void");
    assert_eq!(count(&module, Op::SpecConstant), 3);
    let (_, module) = compile_and_load("  call void @__revamp_workgroup_size(i32 16, i32 8, i32 1)\n  ret void");
    assert_eq!(count(&module, Op::SpecConstant), 0);
}

/// The IR of an argument that is the address of the global variable `global`.
fn text(global: &str) -> String {
    format!("ptr addrspace(4) addrspacecast (ptr addrspace(1) @{global} to ptr addrspace(4))")
}

fn printed(module: &dr::Module) -> Vec<String> {
    let strings = module.debug_string_source.iter().filter(|i| i.class.opcode == Op::String);
    strings.map(|i| i.operands[0].unwrap_literal_string().to_string()).collect()
}

#[test]
fn printf_becomes_an_instruction_with_its_text() {
    let call = "call void @_Z15__revamp_printfIJPKciEEvS1_DpT_";
    let (kernel, module) = compile_and_load(&format!(
        "  %i = call i32 @__revamp_global_id(i32 0)
  {call}({}, {}, i32 %i)
  call void @_Z15__revamp_errorfIJEEvPKcDpT_({})
  ret void",
        text("hello"),
        text("name"),
        text("none"),
    ));
    // The literal that %s prints is part of the text.
    assert_eq!(printed(&module), ["\u{2}50%% f: %d%%\n\u{3}", "\u{1}\u{3}"]);
    let values: Vec<_> =
        module.all_inst_iter().filter(|i| i.class.opcode == Op::ExtInst).map(|i| i.operands.len()).collect();
    assert_eq!(values, [4, 3]);
    assert_eq!(module.extensions[0].operands[0].unwrap_literal_string(), "SPV_KHR_non_semantic_info");
    assert_eq!(module.ext_inst_imports[0].operands[0].unwrap_literal_string(), "NonSemantic.DebugPrintf");
    // The text needs no variable, and printing a value does not use a capture.
    assert!(kernel.captures.is_empty());
    assert!(!module.types_global_values.iter().any(|i| {
        i.class.opcode == Op::Variable && i.operands.first() == Some(&Operand::StorageClass(StorageClass::Private))
    }));
    let (_, module) = compile_and_load("  ret void");
    assert!(module.extensions.is_empty() && module.ext_inst_imports.is_empty());
}

/// The text that a kernel prints for this format, with arguments of these types and values.
fn print(format: &str, arguments: &str) -> Result<String, Vec<KernelError>> {
    let escaped: String = format.bytes().map(|c| format!("\\{c:02X}")).collect();
    let types: Vec<&str> = arguments.split(", ").map(|a| a.rsplit_once(' ').map_or(a, |(ty, _)| ty)).collect();
    let types = if arguments.is_empty() { String::new() } else { format!(", {}", types.join(", ")) };
    let values = if arguments.is_empty() { String::new() } else { format!(", {arguments}") };
    let body = format!("{LOADS}  call void @_Z15__revamp_printfIJzEEvPKcDpT_({}{values})\n  ret void", text("format"));
    let module = format!(
        "@format = private addrspace(1) constant [{} x i8] c\"{escaped}\\00\", align 1\n\
         declare void @_Z15__revamp_printfIJzEEvPKcDpT_(ptr addrspace(4){types})\n{}",
        format.len() + 1,
        kernel(&body)
    );
    let module = ir::tests::module(&module);
    let kernels = compile_module(&module, &Options::default())?;
    let module = dr::load_words(&kernels[0].spirv).unwrap_or_else(|e| panic!("{e}"));
    Ok(printed(&module).concat().trim_matches(['\u{2}', '\u{3}']).to_string())
}

#[test]
fn conversions_of_printf_become_those_of_debug_printf() {
    for (format, arguments, expected) in [
        ("no end, \u{fc}", "", "no end, \u{fc}"),
        ("100%%", "", "100%%"),
        ("%d %i %u %o", "i32 1, i32 2, i32 3, i32 4", "%d %i %u %o"),
        ("%#x %05d %+i %-3u|", "i32 1, i32 2, i32 3, i32 4", "%#x %05d %+i %-3u|"),
        ("%hd %hhX", "i32 1, i32 2", "%d %X"),
        ("%f %8.3e %G %a", "float 1.0, float 2.0, float 3.0, float 4.0", "%f %8.3e %G %a"),
        // The library formats 64-bit numbers.
        ("%lf %-9.3g", "double 2.5, double 3.5", "\u{4}%%f:%lx\u{5} \u{4}%%-9.3g:%lx\u{5}"),
        ("%ld %#llx %zu", "i64 1, i64 2, i64 3", "\u{4}%%d:%lx\u{5} \u{4}%%#x:%lx\u{5} \u{4}%%u:%lx\u{5}"),
        ("%p", "ptr addrspace(4) %a", "0x%lx"),
        ("%c%c", "i32 65, i32 37", "A%%"),
        // As in C, surplus arguments are allowed.
        ("%d", "i32 1, i32 2", "%d"),
    ] {
        assert_eq!(print(format, arguments).as_deref(), Ok(expected), "{format}");
    }
}

#[test]
fn unsupported_conversions_are_refused() {
    for (format, arguments, part) in [
        ("%d", "", "direct3d_printf: '%d' has no argument"),
        ("%d", "float 1.0", "'%d' takes an int, but the argument is a float (argument 1)"),
        ("%d %x", "i32 1, i64 1", "'%x' takes an int, but the argument is an integer of 64 bits (argument 2)"),
        ("%f", "i32 1", "'%f' takes a float or double, but the argument is an int"),
        ("%lu", "i32 1", "'%lu' takes an integer of 64 bits, but the argument is an int"),
        ("%a", "double 1.0", "'%a' takes only a float in device code"),
        ("%8p", "ptr addrspace(4) %a", "'%8p' cannot have a width in device code"),
        ("%s", "ptr addrspace(4) %a", "'%s' can only print string literals in device code"),
        ("%p", "ptr addrspace(3) @tile", "'%p' prints only addresses in the memory of the accelerator"),
        ("%n", "ptr addrspace(4) %a", "'%n' writes"),
        ("%Lf", "double 1.0", "'%Lf' is not a conversion"),
        ("%*d", "i32 1, i32 2", "'%*d': in device code, width and precision"),
        ("%", "", "'%' is not complete"),
    ] {
        let refusals = print(format, arguments).expect_err(format);
        assert!(refusals.iter().any(|r| r.message.contains(part)), "{refusals:?}");
    }
    let other = "call void @_Z15__revamp_errorfIJEEvPKcDpT_(ptr addrspace(4) %a)";
    assert_refused(&format!("{LOADS}  {other}\n  ret void"), "direct3d_errorf: the format must be a string literal");
}

#[test]
fn the_error_for_a_wrong_conversion_has_its_line() {
    let source = kernel(&format!(
        "  call void @_Z15__revamp_printfIJPKciEEvS1_DpT_({}, {}, i32 1), !dbg !2\n  ret void",
        text("name"),
        text("name")
    )) + "!0 = !DIFile(filename: \"a.cpp\", directory: \"/src\")\n\
           !1 = distinct !DISubprogram(name: \"k\", scope: !0, file: !0, line: 5, unit: !3, spFlags: DISPFlagDefinition)\n\
           !3 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !0, emissionKind: FullDebug)\n\
           !4 = !{i32 2, !\"Debug Info Version\", i32 3}\n!llvm.module.flags = !{!4}\n!llvm.dbg.cu = !{!3}\n\
           !2 = !DILocation(line: 7, column: 9, scope: !1)\n";
    let refusals = compile_module(&ir::tests::module(&source), &Options::default()).unwrap_err();
    let frame = &refusals[0].frames[0];
    assert_eq!((frame.file.as_str(), frame.line, frame.column), ("/src/a.cpp", 7, 9));
    assert!(
        refusals[0].message.contains("'% f' takes a float or double, but the argument is a pointer"),
        "{refusals:?}"
    );
}

/// The body of a kernel with `count` branches, nested or one after the other. The two paths of each branch meet immediately.
fn branches(count: usize, nested: bool) -> String {
    let mut body = String::from(
        "  %at = getelementptr inbounds i8, ptr addrspace(2) %0, i64 16\n  %n = load i32, ptr addrspace(2) %at\n  br label %b0\n",
    );
    for n in 0..count {
        let (next, other) = (n + 1, if nested { format!("m{n}") } else { format!("b{}", n + 1) });
        body += &format!("b{n}:\n  %c{n} = icmp sgt i32 %n, {n}\n  br i1 %c{n}, label %y{n}, label %{other}\n");
        body += &format!("y{n}:\n  br label %b{next}\n");
    }
    body += &format!("b{count}:\n");
    if nested {
        for n in (0..count).rev() {
            body += &format!("  br label %m{n}\nm{n}:\n");
        }
    }
    body + "  ret void"
}

#[test]
fn many_branches_take_no_cubic_time() {
    // Work that is cubic in the number of branches would not finish.
    compile_and_load(&branches(20_000, false));
    compile_and_load(&branches(1_000, true));
    assert_refused(&branches(20_000, true), "nested more than 1023 deep");
}

#[test]
fn drivers_simplify_no_arithmetic() {
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  %x = load float, ptr addrspace(4) %a, align 4
  %i = load i32, ptr addrspace(4) %b, align 4
  %f = sitofp i32 %i to float
  %p = fmul fast float %x, %f
  %q = fdiv contract float %p, 3.0
  %d = fsub float %q, %x
  %r = fadd contract float %d, %f
  %n = fptoui float %r to i32
  store i32 %n, ptr addrspace(4) %b, align 4
  ret void"
    ));
    let keeps = |i: &&dr::Instruction| i.operands.contains(&Operand::Decoration(Decoration::NoContraction));
    let kept: Vec<_> = module.annotations.iter().filter(keeps).filter_map(|i| i.operands[0].id_ref_any()).collect();
    for op in [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::ConvertSToF, Op::ConvertFToU] {
        let all: Vec<_> = module.all_inst_iter().filter(|i| i.class.opcode == op).collect();
        assert!(!all.is_empty() && all.iter().all(|i| i.result_id.is_some_and(|id| kept.contains(&id))), "{op:?}");
    }
}

#[test]
fn a_product_is_fused_into_a_sum_if_both_allow_contraction() {
    let of = |product: &str, sum: &str| {
        let (_, module) = compile_and_load(&format!(
            "{LOADS}  %x = load float, ptr addrspace(4) %a, align 4
  %y = load float, ptr addrspace(4) %b, align 4
  %p = fmul {product} float %x, %y
  %s = fsub {sum} float %x, %p
  store float %s, ptr addrspace(4) %b, align 4
  ret void"
        ));
        (count(&module, Op::ExtInst), count(&module, Op::FSub))
    };
    assert_eq!(of("contract", "contract"), (1, 0));
    assert_eq!(of("contract", ""), (0, 1));
    assert_eq!(of("", "contract"), (0, 1));
}

#[test]
fn a_constant_zero_operand_is_hidden_from_the_driver() {
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  %x = load float, ptr addrspace(4) %a, align 4
  %s = fadd float %x, 0.0
  store float %s, ptr addrspace(4) %b, align 4
  ret void"
    ));
    let all: Vec<_> = module.all_inst_iter().collect();
    let sum = all.iter().find(|i| i.class.opcode == Op::FAdd);
    let made_by = |word: &Operand| all.iter().find(|i| i.result_id == word.id_ref_any()).map(|i| i.class.opcode);
    let operands: Vec<_> = sum.iter().flat_map(|i| &i.operands).map(made_by).collect();
    assert_eq!(operands, [Some(Op::Load), Some(Op::Select)]);
}

/// A module with a kernel that computes the float %r from the floats %x and %y.
fn of_floats(operations: &str) -> dr::Module {
    let (_, module) = compile_and_load(&format!(
        "{LOADS}  %x = load float, ptr addrspace(4) %a, align 4
  %y = load float, ptr addrspace(4) %b, align 4
{operations}
  store float %r, ptr addrspace(4) %b, align 4
  ret void"
    ));
    module
}

#[test]
fn quotients_of_floats_share_the_slow_path() {
    let of = |divisions: &str| {
        let module = of_floats(divisions);
        (count(&module, Op::Function), count(&module, Op::FunctionCall))
    };
    assert_eq!(of("  %q = fdiv float %x, %y\n  %r = fdiv float %q, 3.0"), (2, 2));
    assert_eq!(of("  %r = fdiv arcp float %x, %y"), (1, 0));
}

#[test]
fn independent_quotients_share_one_branch() {
    let branches = |divisions: &str| count(&of_floats(divisions), Op::BranchConditional);
    let independent = "  %q = fdiv float %x, %y\n  %t = fadd float %x, 1.0\n  %p = fdiv float %y, %t\n";
    assert_eq!(branches(&format!("{independent}  %r = fadd float %p, %q")), 1);
    assert_eq!(branches("  %q = fdiv float %x, %y\n  %r = fdiv float %y, %q"), 2);
}

#[test]
fn quotients_of_converted_integers_need_fewer_comparisons() {
    let comparisons = |operands: &str| {
        let module = of_floats(&format!(
            "  %i = call i32 @__revamp_global_id(i32 0)
  %f = sitofp i32 %i to float
  %u = uitofp i32 %i to float
  %l = sext i32 %i to i64
  %w = sitofp i64 %l to float
  %r = fdiv float {operands}"
        ));
        count(&module, Op::FOrdLessThan) + count(&module, Op::FOrdGreaterThan)
    };
    assert_eq!(comparisons("%x, %y"), 3);
    assert_eq!([comparisons("%f, %y"), comparisons("%x, %u"), comparisons("%f, %u")], [2, 2, 1]);
    assert_eq!([comparisons("%w, %y"), comparisons("2.0, %y"), comparisons("0x3A18000000000000, %y")], [3, 2, 3]);
    assert_eq!([comparisons("%x, 3.0"), comparisons("%u, 3.0"), comparisons("%u, 0x39B8000000000000")], [1, 0, 2]);
    assert_eq!([comparisons("1.0, %y"), comparisons("1.0, %f")], [2, 1]);
}
