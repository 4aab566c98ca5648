//! The function that is made of a kernel, with what is the same in all of its regions.

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
    /// Where instructions are written.
    pub build: Builder<'m>,
    /// Of the kernel.
    pub handles: Handles<'m>,
    /// The positions of the tile, or of a row's first thread.
    pub group: [Value<'m>; 3],
    /// The position of the first thread.
    pub first: [Value<'m>; 3],
    /// The threads of a row, or of a piece of one.
    pub count: Value<'m>,
    /// The next region, and the largest and the smallest number of those that threads come to.
    pub next: Value<'m>,
    pub most: Value<'m>,
    pub least: Value<'m>,
    /// The argument block.
    pub block: Value<'m>,
    /// The places of tile_static variables, by LLVM's variable, and by number with what notes that one is stored to.
    pub globals: HashMap<Value<'m>, Value<'m>>,
    pub tile: BTreeMap<GlobalId, (Value<'m>, Value<'m>)>,
    /// Variables of a thread, those kept once, and those kept per thread.
    pub own: BTreeMap<LocalId, Value<'m>>,
    pub once: BTreeMap<LocalId, Value<'m>>,
    pub kept: BTreeMap<LocalId, Value<'m>>,
    pub scopes: Scopes<'m>,
    /// The instructions whose number is hidden, with what has all bits set, and LLVM does not know it.
    pub bits: HashMap<LocalId, Value<'m>>,
    /// The block that a thread goes to that ends the kernel.
    pub ended: Block<'m>,
}

/// What is written of a region.
pub struct Region<'m> {
    pub blocks: BTreeSet<usize>,
    /// The access group of its threads.
    pub group: Node<'m>,
    /// The thread's position in the tile, and in all.
    pub local: [Value<'m>; 3],
    pub global: [Value<'m>; 3],
    /// Where the thread's variables lie.
    pub places: BTreeMap<LocalId, Value<'m>>,
    /// What is stored to tile_static variables behind its loop: by the store at this place.
    pub flags: BTreeMap<GlobalId, (usize, usize)>,
}

impl Region<'_> {
    /// The variable at an address, if what is stored to it is stored behind the loop.
    pub fn flag(&self, address: &Operand) -> Option<GlobalId> {
        match address {
            Operand::Constant(Constant::Global(name)) => self.flags.contains_key(name).then_some(*name),
            _ => None,
        }
    }
}

impl<'k, 'm> Function<'k, 'm> {
    /// Positions, memory and variables, in the first block of the function `to` for the kernel `from`. A thread that ends the kernel goes to `ended`.
    pub fn begin(
        edit: Editor<'m>,
        (kernel, layout): (&'k Kernel, &'k Layout),
        [from, to]: [Value<'m>; 2],
        [entry, ended]: [Block<'m>; 2],
    ) -> Self {
        let [Some(block), Some(memory), Some(position)] = [0, 1, 2].map(|n| to.parameter(n)) else {
            unreachable!("the function has three parameters")
        };
        let (build, handles, int) = (edit.build_at(entry), Handles::of(from), edit.integer_type(32));
        let read = |n: usize, name: &str, [least, most]: [u32; 2]| {
            let made = build.load(int, build.byte_within(position, edit.i64(4 * n as u64), ""), name);
            let range = [least, most].map(|number| edit.constant_part(edit.i32(number)));
            edit.set_metadata(made, "range", Some(edit.node(&range)));
            made
        };
        // Positions are below the extent, which an int holds.
        let limit = |n: usize| i32::MAX.unsigned_abs() / layout.tile.map_or(1, |tile| tile[n]);
        let group = [0, 1, 2].map(|n| read(n, &format!("at.{}", AXES[n]), [0, limit(n)]));
        let first = match layout.tile {
            Some(tile) => [0, 1, 2].map(|n| build.counting(o::MUL, group[n], edit.i32(tile[n]), "origin")),
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
        function.wraps();
        function
    }

    fn variables(&mut self, memory: Value<'m>) {
        let (edit, build, int) = (self.edit, &self.build, self.edit.integer_type(32));
        let at = |place: u64, name: &str| build.byte_within(memory, edit.i64(place), name);
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
                let base = how.place.map(|place| at(place, &name_of));
                self.kept.insert(name, base.unwrap_or_else(|| build.alloca(ty, align(how.align), &name_of)));
            }
        }
    }

    /// What hides numbers.
    fn wraps(&mut self) {
        let mut made: HashMap<Type<'m>, Value<'m>> = HashMap::new();
        for name in self.kernel.wraps() {
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

    /// The smaller or larger of two integers, by the word of LLVM's function for that.
    pub fn either(&self, word: &str, one: Value<'m>, other: Value<'m>, name: &str) -> Value<'m> {
        let ty = one.ty().unwrap_or_else(|| self.int());
        let function = self.edit.external(&format!("llvm.{word}.i{}", ty.width()), Some(ty), &[ty, ty], false);
        self.build.call(function, &[one, other], name)
    }

    pub fn less(&self, one: Value<'m>, other: Value<'m>, name: &str) -> Value<'m> {
        self.build.compare(IntPredicate::Slt as i32, one, other, name)
    }

    /// Whether a plain variable is accessed at this address.
    pub fn is_plain(&self, address: &Operand) -> bool {
        address.local().and_then(|name| self.kernel.variables.get(&name)).is_some_and(|variable| variable.plain)
    }
}
