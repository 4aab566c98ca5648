//! The table of the kernels that host threads run, and the function that registers it with the unit's image, as LLVM's text.

use std::collections::BTreeSet;
use std::fmt::Write;

/// A row of the table: `NativeKernel` in src/capi/image.rs.
const ROW: &str = "{ ptr, ptr, ptr, ptr, i64, [4 x i32] }";
/// How many functions a row has: one for each kind of processor.
pub const FUNCTIONS: usize = 3;
/// A flag of a row: the functions check accesses.
pub const CHECKED: u32 = 1;
/// The functions run single threads.
pub const BY_THREADS: u32 = 2;

/// A kernel in the table.
pub struct Row {
    pub kernel: String,
    pub functions: [String; FUNCTIONS],
    pub memory: u64,
    pub tile: [u32; 3],
    pub flags: u32,
}

/// Whose kernels a table has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// The source's number, which tells its functions from those of others.
    pub unit: u64,
    /// Its kernels go by their bare names.
    pub bare: bool,
    /// Which of how many parts of the source it is.
    pub part: usize,
    pub parts: usize,
}

impl Owner {
    /// A source of one part, whose kernels go by their whole names.
    pub fn of_unit(unit: u64) -> Self {
        Self { unit, bare: false, part: 0, parts: 1 }
    }
}

/// `of`: how the names of its variables begin.
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
    // Each part registers the next one's table before its own.
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

/// Declares the functions of a table that another module has.
pub fn declared(rows: &[Row]) -> String {
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| &row.functions).collect();
    names.into_iter().map(|name| format!("declare hidden i32 @\"{name}\"(ptr, ptr, ptr)\n")).collect()
}

/// The library's function that registers an image.
const REGISTER: &str = "revamp_image_register";

/// The function that registers a unit's image with the kernels of this part and of those behind it.
pub fn register_symbol(unit: u64, part: usize) -> String {
    let part = if part == 0 { String::new() } else { format!("_{part}") };
    format!("{REGISTER}_native_{unit:016x}{part}")
}
