//! Generates LLVM IR text for the table of the kernels that host threads run, and for the function that registers the
//! table with the unit's image.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The LLVM type of a row of the table. It is the same as `NativeKernel` in src/capi/image.rs.
const ROW: &str = "{ ptr, ptr, ptr, ptr, i64, [4 x i32] }";
/// The number of functions in a row, one for each level of processors.
pub const FUNCTIONS: usize = 3;
/// A flag of a row: the functions check accesses.
pub const CHECKED: u32 = 1;
/// A flag of a row: the functions run the kernel thread by thread.
pub const BY_THREADS: u32 = 2;

/// A kernel in the table.
pub struct Row {
    pub kernel: String,
    pub functions: [String; FUNCTIONS],
    pub memory: u64,
    pub tile: [u32; 3],
    pub flags: u32,
}

/// The source that a table's kernels belong to, and the part of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// The source's number, which distinguishes its functions from the functions of other sources.
    pub unit: u64,
    /// True if the source's kernels are registered by their bare names.
    pub bare: bool,
    /// The number of this part of the source.
    pub part: usize,
    /// The number of parts of the source.
    pub parts: usize,
}

impl Owner {
    /// A source of one part, whose kernels are registered by their full names.
    pub fn of_unit(unit: u64) -> Self {
        Self { unit, bare: false, part: 0, parts: 1 }
    }
}

/// The text of a table. `of`: the prefix of the names of the table's variables.
pub fn text(of: &str, rows: &[Row], owner: &Owner) -> String {
    let (mut text, mut all) = (String::new(), Vec::new());
    for (n, row) in rows.iter().enumerate() {
        let name = if owner.bare { revamp_image::bare_name(&row.kernel) } else { row.kernel.clone() };
        let _ = writeln!(text, "@{of}.name.{n} = internal constant [{} x i8] c\"{name}\\00\"", name.len() + 1);
        let (functions, [x, y, z]) = (row.functions.join("\", ptr @\""), row.tile);
        all.push(format!(
            "{ROW} {{ ptr @{of}.name.{n}, ptr @\"{functions}\", i64 {}, [4 x i32] [i32 {x}, i32 {y}, i32 {z}, i32 {}] }}",
            row.memory, row.flags
        ));
    }
    let (count, rows, register) = (rows.len(), all.join(", "), register_symbol(owner.unit, owner.part));
    // The function of each part registers the tables of the next parts before its own.
    let next = if owner.part + 1 < owner.parts { register_symbol(owner.unit, owner.part + 1) } else { REGISTER.into() };
    text + &format!(
        "@{of}.table = internal constant [{count} x {ROW}] [{rows}]\n\
         declare ptr @{next}(ptr)\n\
         declare void @revamp_image_add_native(ptr, ptr, i64)\n\
         define hidden ptr @{register}(ptr %wrapper) nounwind {{\n  \
         %image = call ptr @{next}(ptr %wrapper)\n  \
         call void @revamp_image_add_native(ptr %image, ptr @{of}.table, i64 {count})\n  \
         ret ptr %image\n}}\n"
    )
}

/// The declarations of the functions in a table's rows. Another module defines these functions.
pub fn declared(rows: &[Row]) -> String {
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| &row.functions).collect();
    names.into_iter().map(|name| format!("declare hidden i32 @\"{name}\"(ptr, ptr, ptr)\n")).collect()
}

/// The library's function that registers an image.
const REGISTER: &str = "revamp_image_register";

/// The name of the function that registers a unit's image with the kernels of this part and of the following parts.
pub fn register_symbol(unit: u64, part: usize) -> String {
    let part = if part == 0 { String::new() } else { format!("_{part}") };
    format!("{REGISTER}_native_{unit:016x}{part}")
}
