//! Functions: their heads, their blocks, and the names in them.

use super::cursor::{Body, NameUse, Reader, Result, Symbol};
use crate::ir::lexer::{Kind, Name};
use crate::ir::module::{Block, BlockId, Function, Instruction, LocalId, Op, Operand, Parameter, Type, Value};

/// What stands before the type of a function or of a call.
#[derive(Default)]
pub(super) struct Prefix {
    pub space: Option<u32>,
    kernel: bool,
}

/// Whether two types may be one: what an unknown instruction makes is not known.
fn agree(left: &Type, right: &Type) -> bool {
    matches!(left, Type::Other(_)) || matches!(right, Type::Other(_)) || left == right
}

impl<'a> Reader<'a> {
    /// The local that is mentioned here.
    fn local(&mut self, ty: &Type) -> Result<LocalId> {
        let name = self.name();
        let id = match self.body.local_ids.get(&name) {
            Some(id) => {
                if !self.body.locals.get(id.0).is_some_and(|local| agree(&local.ty, ty)) {
                    return Err(self.wrong("a value of that type"));
                }
                *id
            }
            None => self.body.add_local(name, ty, self.position(), false),
        };
        self.bump();
        Ok(id)
    }

    /// The result of an instruction at `position`; its name, or its number if it has none.
    fn define_local(&mut self, name: Option<Name<'a>>, ty: Type, position: usize) -> Result<LocalId> {
        let name = name.unwrap_or_else(|| self.body.take_number());
        self.body.saw(&name);
        let Some(id) = self.body.local_ids.get(&name).copied() else {
            return Ok(self.body.add_local(name, &ty, position, true));
        };
        let (Some(local), Some(mention)) = (self.body.locals.get_mut(id.0), self.body.uses.get_mut(id.0)) else {
            return Err(self.wrong_at(position, "a result"));
        };
        if std::mem::replace(&mut mention.defined, true) {
            return Err(self.wrong_at(position, "a name that is not defined before"));
        }
        if !agree(&local.ty, &ty) {
            return Err(self.wrong_at(position, "a result of the type with which it is used"));
        }
        local.ty = ty;
        Ok(id)
    }

    fn block_id(&mut self, name: Name<'a>, position: usize) -> BlockId {
        let body = &mut self.body;
        *body.block_ids.entry(name).or_insert_with(|| {
            body.block_uses.push(NameUse { first: position, defined: false });
            body.places.push(BlockId(0));
            BlockId(body.block_uses.len() - 1)
        })
    }

    /// `label %name`.
    pub(super) fn label(&mut self) -> Result<BlockId> {
        self.expect_word("label")?;
        self.block_name()
    }

    /// `%name` of a block.
    pub(super) fn block_name(&mut self) -> Result<BlockId> {
        if self.peek().kind != Kind::Local {
            return Err(self.wrong("the name of a block"));
        }
        let (name, position) = (self.name(), self.position());
        self.bump();
        Ok(self.block_id(name, position))
    }

    fn define_block(&mut self, name: Name<'a>, position: usize, place: usize) -> Result<()> {
        self.body.saw(&name);
        let id = self.block_id(name, position);
        let (Some(mention), Some(here)) = (self.body.block_uses.get_mut(id.0), self.body.places.get_mut(id.0)) else {
            return Err(self.wrong_at(position, "a block"));
        };
        *here = BlockId(place);
        if std::mem::replace(&mut mention.defined, true) {
            return Err(self.wrong_at(position, "a name that is not defined before"));
        }
        Ok(())
    }

    /// A value of a type.
    pub(super) fn value(&mut self, ty: &Type) -> Result<Value> {
        match self.peek().kind {
            Kind::Local => self.local(ty).map(Value::Local),
            _ => self.constant(ty).map(Value::Constant),
        }
    }

    /// A type and a value.
    pub(super) fn operand(&mut self) -> Result<Operand> {
        let ty = self.ty()?;
        let value = self.value(&ty)?;
        Ok(Operand { ty, value })
    }
}

// Functions.
impl<'a> Reader<'a> {
    /// Linkage, calling convention, attributes: all before a type.
    pub(super) fn prefix(&mut self) -> Result<Prefix> {
        let mut prefix = Prefix::default();
        while !self.at_type() {
            match self.peek().kind {
                Kind::Word => match self.word() {
                    "addrspace" => prefix.space = self.optional_space()?,
                    word => {
                        prefix.kernel |= matches!(word, "spir_kernel" | "amdgpu_kernel");
                        self.skip_attribute()?;
                    }
                },
                Kind::Text => self.skip_attribute()?,
                // `cc 10`.
                Kind::Number => self.bump(),
                Kind::Meta => {
                    self.attachment()?;
                }
                _ => return Err(self.wrong("a type")),
            }
        }
        Ok(prefix)
    }

    /// `define` or `declare`.
    pub(super) fn function(&mut self, defined: bool) -> Result<()> {
        self.bump();
        let kernel = self.prefix()?.kernel;
        let returns = self.ty()?;
        let name = self.name();
        match (self.peek().kind, self.symbols.get(&name)) {
            (Kind::Global, Some(Symbol::Function(id))) if id.0 == self.module.functions.len() => {}
            _ => return Err(self.wrong("the name of a function whose definition begins a line")),
        }
        self.bump();
        self.body = Body::default();
        let parameters = self.parameters()?;
        let (mut blocks, mut subprogram) = (Vec::new(), None);
        if defined {
            while !self.at(b'{') {
                match self.peek().kind {
                    Kind::Meta => {
                        let debug = self.attachment()?;
                        subprogram = subprogram.or(debug.map(|id| id.0));
                    }
                    Kind::Word if matches!(self.word(), "prefix" | "prologue" | "personality") => {
                        self.bump();
                        self.constant_operand()?;
                    }
                    _ if self.peek().first => return Err(self.wrong("the body of a function")),
                    _ => self.skip_one()?,
                }
            }
            blocks = self.blocks()?;
        } else {
            self.skip_line()?;
        }
        let body = std::mem::take(&mut self.body);
        self.module.functions.push(Function {
            name: name.to_string(),
            kernel,
            returns,
            parameters,
            locals: body.locals,
            blocks,
            subprogram,
        });
        Ok(())
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>> {
        let mut parameters = Vec::new();
        self.expect(b'(')?;
        if self.eat(b')') {
            return Ok(parameters);
        }
        loop {
            if self.eat_word("...") {
                break;
            }
            let ty = self.ty()?;
            let mut pointee = None;
            while matches!(self.peek().kind, Kind::Word | Kind::Text) {
                if matches!(self.word(), "byref" | "byval") {
                    self.bump();
                    self.expect(b'(')?;
                    pointee = Some(self.ty()?);
                    self.expect(b')')?;
                } else {
                    self.skip_attribute()?;
                }
            }
            let name = (self.peek().kind == Kind::Local).then(|| self.name());
            self.define_local(name.clone(), ty.clone(), self.position())?;
            if name.is_some() {
                self.bump();
            }
            parameters.push(Parameter { ty, pointee });
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        Ok(parameters)
    }

    /// The body, in braces.
    fn blocks(&mut self) -> Result<Vec<Block>> {
        const TERMINATOR: &str = "a terminator (ret, br, ...)";
        self.expect(b'{')?;
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        loop {
            match self.peek().kind {
                Kind::Mark(b'}') => break,
                // `#dbg_value(..)`.
                Kind::Hash => {
                    self.bump();
                    self.skip_line()?;
                    continue;
                }
                Kind::Label => {
                    if open.is_some() {
                        return Err(self.wrong(TERMINATOR));
                    }
                    let name = self.name();
                    open = Some(Block { name: name.to_string(), instructions: Vec::new() });
                    self.define_block(name, self.position(), blocks.len())?;
                    self.bump();
                    continue;
                }
                Kind::Word if self.word() == "uselistorder" => {
                    self.bump();
                    self.skip_line()?;
                    continue;
                }
                Kind::Word | Kind::Local => {}
                _ => return Err(self.wrong("an instruction")),
            }
            let mut block = match open.take() {
                Some(block) => block,
                None => {
                    let name = self.body.take_number();
                    let block = Block { name: name.to_string(), instructions: Vec::new() };
                    self.define_block(name, self.position(), blocks.len())?;
                    block
                }
            };
            let (instruction, last) = self.instruction()?;
            block.instructions.push(instruction);
            if last {
                blocks.push(block);
            } else {
                open = Some(block);
            }
        }
        if open.is_some() || blocks.is_empty() {
            return Err(self.wrong(TERMINATOR));
        }
        self.bump();
        self.all_defined()?;
        for instruction in blocks.iter_mut().flat_map(|block| &mut block.instructions) {
            self.place_blocks(&mut instruction.op);
        }
        Ok(blocks)
    }

    /// One line of a body, and whether it ends its block.
    fn instruction(&mut self) -> Result<(Instruction, bool)> {
        let start = self.position();
        let name = (self.peek().kind == Kind::Local).then(|| self.name());
        if name.is_some() {
            self.bump();
            self.expect(b'=')?;
        }
        let operation = self.operation()?;
        let result = match operation.makes {
            Some(Type::Void) | None => {
                if name.is_some() {
                    return Err(self.wrong_at(start, "an instruction that makes a value"));
                }
                None
            }
            // Only what has a name takes part in the count of an unknown instruction.
            Some(_) if name.is_none() && matches!(operation.op, Op::Other { .. }) => None,
            Some(ty) => Some(self.define_local(name, ty, start)?),
        };
        Ok((Instruction { result, op: operation.op, location: self.tail.location }, operation.last))
    }

    fn all_defined(&self) -> Result<()> {
        let undefined = |uses: &[NameUse]| uses.iter().find(|one| !one.defined).map(|one| one.first);
        if let Some(first) = undefined(&self.body.uses) {
            return Err(self.wrong_at(first, "a value that is defined"));
        }
        match undefined(&self.body.block_uses) {
            Some(first) => Err(self.wrong_at(first, "a block that is defined")),
            None => Ok(()),
        }
    }

    /// Blocks are numbered as they are mentioned until all have their places.
    fn place_blocks(&self, op: &mut Op) {
        let place = |id: &mut BlockId| {
            if let Some(place) = self.body.places.get(id.0) {
                *id = *place;
            }
        };
        match op {
            Op::Br { target } => place(target),
            Op::CondBr { yes, no, .. } => {
                place(yes);
                place(no);
            }
            Op::Switch { default, cases, .. } => {
                place(default);
                cases.iter_mut().for_each(|(_, target)| place(target));
            }
            Op::Phi { incoming, .. } => incoming.iter_mut().for_each(|(_, from)| place(from)),
            _ => {}
        }
    }
}
