//! Remarks on stores to adjacent addresses that the compiler does not merge into vector stores.

use super::addresses::{Access, accesses};
use super::kernel::Kernel;
use crate::lower::scalars::leaves;
use crate::lower::store_groups::{StoreGroups, alignment};
use crate::report::Remark;

/// The smallest alignment of a vector store in bytes.
const MIN_ALIGN: u64 = 8;

/// Remarks on stores of scalars to consecutive addresses in one block.
pub fn remarks(kernel: &Kernel<'_>) -> Vec<Remark> {
    let mut stores: Vec<Access> = accesses(kernel).into_iter().filter(|access| access.writes).collect();
    stores.sort_by(|a, b| {
        (a.block, a.sum.base, &a.sum.by, a.sum.offset).cmp(&(b.block, b.sum.base, &b.sum.by, b.sum.offset))
    });
    let definitions = kernel.function.definitions();
    let groups = StoreGroups::of(kernel.module, kernel.function, &kernel.pointers);
    let mut all = Vec::new();
    for run in stores.chunk_by(follows) {
        let scalars: usize = run.iter().filter_map(|store| leaves(&store.ty)).map(|all| all.len()).sum();
        let bytes: u64 = run.iter().filter_map(|store| store.ty.size()).sum();
        let Some(first) = run.iter().min_by_key(|store| store.at).filter(|_| scalars > 1) else { continue };
        if groups.contains((first.block, first.at)) {
            continue;
        }
        let why = match alignment(&definitions, &first.sum) {
            align if align < MIN_ALIGN => format!("their address is a multiple of only {align} bytes"),
            _ => "the kernel accesses other memory between them, or other bytes surround them".into(),
        };
        let location = kernel.function.blocks[first.block].instructions[first.at].location;
        let text = format!("{scalars} stores to adjacent addresses ({bytes} bytes) are not merged, because {why}");
        all.extend(Remark::at(kernel.module, location, text));
    }
    all
}

/// True if the store `next` begins where the store `one` of the same block ends.
fn follows(one: &Access, next: &Access) -> bool {
    let end = one.ty.size().and_then(|size| one.sum.offset.checked_add_unsigned(size));
    (one.block, one.sum.base, &one.sum.by) == (next.block, next.sum.base, &next.sum.by) && end == Some(next.sum.offset)
}
