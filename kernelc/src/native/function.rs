//! The native function of a kernel, with the values that all of its regions share.

use super::analysis::Kernel;
use super::handles::Handles;
use super::layout::Layout;
use super::scopes::Scopes;
use crate::ir::{Constant, GlobalId, IntPredicate, LocalId, Value as Operand};
use crate::llvm::number::opcode as o;
use crate::llvm::{Block, Builder, Editor, Node, Type, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub const AXES: [&str; 3] = ["x", "y", "z"];

pub struct Function<'k, 'm> {
    pub kernel: &'k Kernel,
    pub layout: &'k Layout,
    pub edit: Editor<'m>,
    /// The position at which instructions are emitted.
    pub build: Builder<'m>,
    /// The handles of the kernel's values.
    pub handles: Handles<'m>,
    /// The position of the tile, or of a row's first thread.
    pub group: [Value<'m>; 3],
    /// The position of the first thread.
    pub first: [Value<'m>; 3],
    /// The number of threads in a row, or in a piece of a row.
    pub count: Value<'m>,
    /// The variable for the number of the next region.
    pub next: Value<'m>,
    /// The variable for the largest number of the next regions of all threads.
    pub most: Value<'m>,
    /// The variable for the smallest number of the next regions of all threads.
    pub least: Value<'m>,
    /// The argument block.
    pub block: Value<'m>,
    /// The addresses of tile_static variables, by LLVM's variable.
    pub globals: HashMap<Value<'m>, Value<'m>>,
    /// By the number of a tile_static variable: the address, and the variable that records a store (`flags`).
    pub tile: BTreeMap<GlobalId, (Value<'m>, Value<'m>)>,
    /// The local variables of the current thread.
    pub own: BTreeMap<LocalId, Value<'m>>,
    /// The variables that are kept once for all threads.
    pub once: BTreeMap<LocalId, Value<'m>>,
    /// The variables that are kept per thread.
    pub kept: BTreeMap<LocalId, Value<'m>>,
    pub scopes: Scopes<'m>,
    /// For each instruction whose operand is hidden (`hide_truncated_counters`): a value with all bits set, which LLVM does not know to be
    /// constant.
    pub bits: HashMap<LocalId, Value<'m>>,
    /// The block for a thread that ends the kernel.
    pub ended: Block<'m>,
}

/// The state of a region's emission.
pub struct Region<'m> {
    pub blocks: BTreeSet<usize>,
    /// The access group of the region's threads.
    pub group: Node<'m>,
    /// The thread's position in the tile.
    pub local: [Value<'m>; 3],
    /// The thread's position in the domain.
    pub global: [Value<'m>; 3],
    /// The addresses of the thread's variables.
    pub places: BTreeMap<LocalId, Value<'m>>,
    /// The tile_static variables that are stored to after the region's loop, with the block and index of a store.
    pub flags: BTreeMap<GlobalId, (usize, usize)>,
}

impl Region<'_> {
    /// The variable at an address, if the region moves stores to it after the loop.
    pub fn flag(&self, address: &Operand) -> Option<GlobalId> {
        match address {
            Operand::Constant(Constant::Global(name)) => self.flags.contains_key(name).then_some(*name),
            _ => None,
        }
    }
}

impl<'k, 'm> Function<'k, 'm> {
    /// Emits positions, memory and variables into `entry`, the first block of the function `to` for the kernel `from`. A thread that ends
    /// the kernel branches to `ended`.
    pub fn begin(
        edit: Editor<'m>,
        (kernel, layout): (&'k Kernel, &'k Layout),
        [from, to]: [Value<'m>; 2],
        [entry, ended]: [Block<'m>; 2],
    ) -> Self {
        let [Some(block), Some(memory), Some(position)] = [0, 1, 2].map(|n| to.parameter(n)) else {
            unreachable!("a native function must have three parameters")
        };
        let (build, handles, int) = (edit.build_at(entry), Handles::of(from), edit.integer_type(32));
        let read = |n: usize, name: &str, [least, most]: [u32; 2]| {
            let made = build.load(int, build.byte_address_inbounds(position, edit.i64(4 * n as u64), ""), name);
            let range = [least, most].map(|number| edit.constant_operand(edit.i32(number)));
            edit.set_metadata(made, "range", Some(edit.node(&range)));
            made
        };
        // Positions are below the extent, which fits an int.
        let limit = |n: usize| i32::MAX.unsigned_abs() / layout.tile.map_or(1, |tile| tile[n]);
        let group = [0, 1, 2].map(|n| read(n, &format!("at.{}", AXES[n]), [0, limit(n)]));
        let first = match layout.tile {
            Some(tile) => {
                [0, 1, 2].map(|n| build.binary_without_overflow(o::MUL, group[n], edit.i32(tile[n]), "origin"))
            }
            None => group,
        };
        let count = if layout.tile.is_none() { read(3, "count", [1, i32::MAX.unsigned_abs()]) } else { edit.i32(0) };
        let [next, most, least] = ["next", "most", "least"].map(|name| build.alloca(int, 4, name));
        let own = || build.alloca(edit.array_type(edit.integer_type(8), layout.memory.max(1)), 64, "own");
        let memory = if layout.is_cut_row() { own() } else { memory };
        let scopes = Scopes::of(edit, kernel, layout);
        let maps = (HashMap::new(), BTreeMap::new(), HashMap::new());
        let ((globals, tile, bits), [own, once, kept]) = (maps, [const { BTreeMap::new() }; 3]);
        let mut function = Self {
            kernel,
            layout,
            edit,
            build,
            handles,
            group,
            first,
            count,
            next,
            most,
            least,
            block,
            globals,
            tile,
            own,
            once,
            kept,
            scopes,
            bits,
            ended,
        };
        function.variables(memory);
        function.hide_truncated_counters();
        function
    }

    fn variables(&mut self, memory: Value<'m>) {
        let (edit, build, int) = (self.edit, &self.build, self.edit.integer_type(32));
        let at = |place: u64, name: &str| build.byte_address_inbounds(memory, edit.i64(place), name);
        let globals: Vec<Value<'m>> = edit.globals().collect();
        for (&name, &place) in &self.layout.shared {
            let (global, variable) = (globals[name.0], &self.kernel.code.globals[name.0].name);
            let place = at(place, &format!("tile.{variable}"));
            self.globals.insert(global, place);
            self.tile.insert(name, (place, build.alloca(int, 4, &format!("flag.{variable}"))));
        }
        for (&name, variable) in &self.kernel.variables {
            let word = &self.kernel.function.locals[name.0].name;
            // The variable of a fork has no `alloca` in the kernel.
            let ty = self.handles.locals.get(name.0).and_then(|one| one.allocated_type());
            let ty = ty.unwrap_or_else(|| edit.integer_type(1));
            let align = |align: u64| u32::try_from(align).unwrap_or(0);
            if variable.plain {
                self.own.insert(name, build.alloca(ty, align(variable.align), &format!("v.{word}")));
            }
            if self.layout.uniform.contains(&name) {
                self.once.insert(name, build.alloca(ty, 0, &format!("u.{word}")));
            }
            if let Some(how) = self.layout.kept.get(&name) {
                let name_of = format!("k.{word}");
                let base = how.offset.map(|offset| at(offset, &name_of));
                self.kept.insert(name, base.unwrap_or_else(|| build.alloca(ty, align(how.align), &name_of)));
            }
        }
    }

    /// Makes the values that hide numbers from LLVM.
    fn hide_truncated_counters(&mut self) {
        let mut made: HashMap<Type<'m>, Value<'m>> = HashMap::new();
        for name in self.kernel.truncated_counters() {
            let number = self.handles.locals.get(name.0).and_then(|one| one.operand(0));
            let Some(ty) = number.and_then(Value::ty) else { continue };
            let hide = || self.build.opaque(Some(self.edit.ones(ty)), false, "bits");
            self.bits.insert(name, *made.entry(ty).or_insert_with(hide));
        }
    }

    pub fn at(&mut self, block: Block<'m>) {
        self.build = self.edit.build_at(block);
    }

    pub fn int(&self) -> Type<'m> {
        self.edit.integer_type(32)
    }

    /// The smaller or larger of two integers. `word`: the name of LLVM's intrinsic, such as `smin`.
    pub fn min_or_max(&self, word: &str, one: Value<'m>, other: Value<'m>, name: &str) -> Value<'m> {
        let ty = one.ty().unwrap_or_else(|| self.int());
        let function = self.edit.external(&format!("llvm.{word}.i{}", ty.width()), Some(ty), &[ty, ty], false);
        self.build.call(function, &[one, other], name)
    }

    pub fn less(&self, one: Value<'m>, other: Value<'m>, name: &str) -> Value<'m> {
        self.build.compare(IntPredicate::Slt as i32, one, other, name)
    }

    /// True if the address is the address of a plain variable.
    pub fn is_plain(&self, address: &Operand) -> bool {
        address.local().and_then(|name| self.kernel.variables.get(&name)).is_some_and(|variable| variable.plain)
    }
}
