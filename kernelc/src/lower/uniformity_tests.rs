//! Tests of the uniformity analysis: the levels of branches, and whether all threads reach a barrier.
use super::*;
use crate::ir;

/// A module with a kernel that has this body and tiles of 16 threads. The argument block holds an address `%a` and a number `%n`. `%l` and
/// `%g` are the thread's position in the tile and in the domain, and `%t` is the position of the tile.
fn kernel(body: &str) -> Module {
    let text = format!(
        "%block = type {{ ptr addrspace(1), i32 }}\n\
         @tile = internal addrspace(3) global [16 x i32] undef, align 4\n\
         @table = private addrspace(1) constant [4 x i32] [i32 3, i32 1, i32 4, i32 1], align 4\n\
         declare void @__revamp_workgroup_size(i32, i32, i32)\n\
         declare void @__revamp_tile_barrier(i32)\n\
         declare i32 @__revamp_local_id(i32)\n\
         declare i32 @__revamp_global_id(i32)\n\
         declare i32 @__revamp_group_id(i32)\n\
         declare i32 @llvm.smin.i32(i32, i32)\n\
         declare i32 @llvm.umax.i32(i32, i32)\n\
         declare i32 @reads(ptr)\n\
         declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n\
         define spir_kernel void @k(ptr addrspace(2) byref(%block) align 8 %0) {{\n\
         entry:\n  call void @__revamp_workgroup_size(i32 16, i32 1, i32 1)\n  \
         %v = alloca i32, align 4\n  \
         %l = call i32 @__revamp_local_id(i32 0)\n  %g = call i32 @__revamp_global_id(i32 0)\n  \
         %t = call i32 @__revamp_group_id(i32 0)\n  \
         %a = load ptr addrspace(1), ptr addrspace(2) %0, align 8\n  \
         %at = getelementptr inbounds i8, ptr addrspace(2) %0, i64 8\n  \
         %n = load i32, ptr addrspace(2) %at, align 8\n\
         {body}\n}}\n"
    );
    ir::tests::module(&text)
}

/// The level of the last conditional branch, and true if all threads reach the barrier.
fn branch_and_barrier(body: &str) -> Option<(Level, bool)> {
    let module = kernel(body);
    let function = module.functions.iter().find(|f| f.kernel)?;
    let uniformity = Uniformity::of(&module, function)?;
    let (mut level, mut reached) = (Level::Uniform, true);
    for (number, block) in function.blocks.iter().enumerate() {
        for instruction in &block.instructions {
            match &instruction.op {
                Op::CondBr { .. } | Op::Switch { .. } => level = uniformity.branch(BlockId(number)),
                Op::Call { callee, .. } if module.functions[callee.0].name == "__revamp_tile_barrier" => {
                    reached = uniformity.causes(BlockId(number)).is_empty();
                }
                _ => {}
            }
        }
    }
    Some((level, reached))
}

/// A barrier that a thread reaches only if `%c` holds.
const CONDITIONAL_BARRIER: &str = "\n  br i1 %c, label %in, label %out\nin:\n  call void @__revamp_tile_barrier(i32 3)\n  br label %out\n\
                     out:\n  ret void";

#[test]
fn levels_of_conditions() {
    use Level::{Differs, MayDiffer, Shared, Uniform};
    for (code, expected) in [
        // Conditions on the thread's position.
        ("%c = icmp eq i32 %l, 0", Differs),
        ("%c = icmp slt i32 %l, 16", Uniform),
        ("%c = icmp ult i32 %l, 15", Differs),
        ("%c = icmp eq i32 %g, 3", Differs),
        ("%c = icmp slt i32 %g, 32", Uniform),
        ("%c = icmp slt i32 %g, 33", Differs),
        ("%c = icmp slt i32 %g, %n", Differs),
        ("%q = sdiv i32 %g, 16\n  %c = icmp eq i32 %q, %t", Uniform),
        ("%q = lshr i32 %g, 5\n  %c = icmp eq i32 %q, 1", Uniform),
        ("%q = and i32 %g, 15\n  %c = icmp eq i32 %q, 1", Differs),
        ("%q = and i32 %l, 16\n  %c = icmp eq i32 %q, 0", Uniform),
        ("%q = sub i32 %g, %l\n  %c = icmp eq i32 %q, %n", Uniform),
        ("%q = mul i32 %l, 0\n  %c = icmp eq i32 %q, %n", Uniform),
        ("%q = call i32 @llvm.smin.i32(i32 %l, i32 0)\n  %c = icmp eq i32 %q, 0", Uniform),
        ("%q = sub i32 %l, 8\n  %u = call i32 @llvm.umax.i32(i32 %q, i32 0)\n  %c = icmp slt i32 %u, 0", Differs),
        (
            "%x = icmp slt i32 %l, 8\n  %y = xor i1 %x, true\n  %q = select i1 %y, i32 0, i32 1\n  %c = icmp eq i32 %q, 0",
            Differs,
        ),
        (
            "%x = icmp slt i32 %l, 8\n  %y = icmp eq i1 %x, true\n  %q = select i1 %y, i32 0, i32 1\n  %c = icmp eq i32 %q, 0",
            Differs,
        ),
        ("%x = icmp slt i32 %l, 8\n  %y = sext i1 %x to i32\n  %c = icmp slt i32 %y, 0", Differs),
        ("%y = call i32 @__revamp_local_id(i32 1)\n  %c = icmp eq i32 %y, 0", Uniform),
        ("%y = sext i32 %l to i64\n  %z = trunc i64 %y to i32\n  %c = icmp ne i32 %z, %l", Uniform),
        // Conditions that are the same for all threads.
        ("%c = icmp eq i32 %t, 3", Uniform),
        ("%c = icmp sgt i32 %n, 3", Uniform),
        ("%f = freeze i32 %n\n  %c = icmp sgt i32 %f, %t", Uniform),
        // `&&`.
        ("%x = icmp sgt i32 %n, 3\n  %y = icmp eq i32 %l, 0\n  %c = select i1 %x, i1 %y, i1 false", Differs),
        ("%x = icmp sgt i32 %n, 3\n  %y = icmp eq i32 %t, 0\n  %c = and i1 %x, %y", Uniform),
        // Memory.
        ("%x = load i32, ptr addrspace(1) %a, align 4\n  %c = icmp eq i32 %x, 3", Uniform),
        (
            "%i = sext i32 %l to i64\n  %p = getelementptr i32, ptr addrspace(1) %a, i64 %i\n  \
             %x = load i32, ptr addrspace(1) %p, align 4\n  %c = icmp eq i32 %x, 3",
            MayDiffer,
        ),
        (
            "store i32 3, ptr addrspace(1) %a, align 4\n  %x = load i32, ptr addrspace(1) %a, align 4\n  \
             %c = icmp eq i32 %x, 3",
            Shared,
        ),
        (
            "store i32 3, ptr addrspace(3) @tile, align 4\n  %x = load i32, ptr addrspace(3) @tile, align 4\n  \
             %c = icmp eq i32 %x, 3",
            Shared,
        ),
        ("%x = load i32, ptr addrspace(1) @table, align 4\n  %c = icmp eq i32 %x, 3", Uniform),
        ("%x = load volatile i32, ptr addrspace(1) %a, align 4\n  %c = icmp eq i32 %x, 3", MayDiffer),
        ("%x = atomicrmw add ptr addrspace(1) %a, i32 1 monotonic, align 4\n  %c = icmp eq i32 %x, 3", MayDiffer),
        // A variable of the thread.
        ("store i32 %n, ptr %v, align 4\n  %x = load i32, ptr %v, align 4\n  %c = icmp eq i32 %x, 3", Uniform),
        ("store i32 %l, ptr %v, align 4\n  %x = load i32, ptr %v, align 4\n  %c = icmp eq i32 %x, 3", MayDiffer),
        (
            "call void @llvm.memcpy.p0.p1.i64(ptr %v, ptr addrspace(1) %a, i64 4, i1 false)\n  \
             %x = load i32, ptr %v, align 4\n  %c = icmp eq i32 %x, 3",
            Uniform,
        ),
        ("%x = call i32 @reads(ptr %v)\n  %c = icmp eq i32 %x, 3", MayDiffer),
    ] {
        let body = format!("  {code}{CONDITIONAL_BARRIER}");
        assert_eq!(branch_and_barrier(&body), Some((expected, expected == Uniform)), "{code}");
    }
}

#[test]
fn levels_of_branches() {
    use Level::{Differs, MayDiffer, Uniform};
    for (what, body, expected) in [
        (
            "all threads meet after a divergent branch",
            "  %c = icmp eq i32 %l, 0\n  br i1 %c, label %a1, label %b1\na1:\n  br label %b1\nb1:\n  \
             call void @__revamp_tile_barrier(i32 3)\n  ret void",
            (Differs, true),
        ),
        (
            "some threads returned",
            "  %c = icmp eq i32 %l, 0\n  br i1 %c, label %a1, label %b1\na1:\n  ret void\nb1:\n  \
             call void @__revamp_tile_barrier(i32 3)\n  ret void",
            (Differs, false),
        ),
        (
            "a flag that only some threads set",
            "  %c = icmp eq i32 %l, 0\n  br i1 %c, label %a1, label %b1\na1:\n  br label %b1\nb1:\n  \
             %f = phi i1 [ false, %entry ], [ true, %a1 ]\n  br i1 %f, label %in, label %out\nin:\n  \
             call void @__revamp_tile_barrier(i32 3)\n  br label %out\nout:\n  ret void",
            (Differs, false),
        ),
        (
            "a value that depends on the path taken",
            "  %c = icmp eq i32 %l, 0\n  br i1 %c, label %a1, label %b1\na1:\n  br label %b1\nb1:\n  \
             %f = phi i32 [ %n, %entry ], [ %t, %a1 ]\n  %d = icmp eq i32 %f, 0\n  \
             br i1 %d, label %in, label %out\nin:\n  call void @__revamp_tile_barrier(i32 3)\n  br label %out\n\
             out:\n  ret void",
            (MayDiffer, false),
        ),
        (
            "the same value on both paths",
            "  %c = icmp eq i32 %l, 0\n  br i1 %c, label %a1, label %b1\na1:\n  br label %b1\nb1:\n  \
             %f = phi i32 [ %n, %entry ], [ %n, %a1 ]\n  %d = icmp eq i32 %f, 0\n  \
             br i1 %d, label %in, label %out\nin:\n  call void @__revamp_tile_barrier(i32 3)\n  br label %out\n\
             out:\n  ret void",
            (Uniform, true),
        ),
        (
            "a loop with the same trip count for all threads",
            "  br label %head\nhead:\n  %i = phi i32 [ 0, %entry ], [ %j, %head ]\n  %j = add i32 %i, 1\n  \
             call void @__revamp_tile_barrier(i32 3)\n  %c = icmp slt i32 %j, %n\n  \
             br i1 %c, label %head, label %out\nout:\n  ret void",
            (Uniform, true),
        ),
        (
            "a loop whose trip count depends on the thread's position",
            "  br label %head\nhead:\n  %i = phi i32 [ 0, %entry ], [ %j, %head ]\n  %j = add i32 %i, 1\n  \
             call void @__revamp_tile_barrier(i32 3)\n  %c = icmp slt i32 %j, %l\n  \
             br i1 %c, label %head, label %out\nout:\n  ret void",
            (Differs, false),
        ),
        (
            "a stride of the whole tile",
            "  br label %head\nhead:\n  %i = phi i32 [ %l, %entry ], [ %j, %head ]\n  %j = add i32 %i, 16\n  \
             call void @__revamp_tile_barrier(i32 3)\n  %c = icmp slt i32 %j, 64\n  \
             br i1 %c, label %head, label %out\nout:\n  ret void",
            (Uniform, true),
        ),
        (
            "the counter of a loop that threads leave in different iterations",
            "  br label %head\nhead:\n  %i = phi i32 [ 0, %entry ], [ %j, %head ]\n  %j = add i32 %i, 1\n  \
             %c = icmp slt i32 %j, %l\n  br i1 %c, label %head, label %out\nout:\n  %d = icmp sgt i32 %j, 3\n  \
             br i1 %d, label %in, label %end\nin:\n  call void @__revamp_tile_barrier(i32 3)\n  br label %end\n\
             end:\n  ret void",
            (MayDiffer, false),
        ),
        (
            "a switch whose cases all threads share",
            "  %q = sdiv i32 %l, 16\n  switch i32 %q, label %out [ i32 0, label %in ]\nin:\n  \
             call void @__revamp_tile_barrier(i32 3)\n  br label %out\nout:\n  ret void",
            (Uniform, true),
        ),
        (
            "a switch on the thread's position",
            "  switch i32 %l, label %out [ i32 0, label %in ]\nin:\n  \
             call void @__revamp_tile_barrier(i32 3)\n  br label %out\nout:\n  ret void",
            (Differs, false),
        ),
    ] {
        assert_eq!(branch_and_barrier(body), Some(expected), "{what}");
    }
}

#[test]
fn kernels_that_never_end_have_no_result() {
    assert_eq!(
        branch_and_barrier("  br label %head\nhead:\n  call void @__revamp_tile_barrier(i32 3)\n  br label %head"),
        None
    );
}
