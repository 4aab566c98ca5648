//! Nodes of metadata, made and attached.
#![allow(unsafe_code)]

use super::Module;
use super::edit::Editor;
use super::number::node::{LOCATION, SUBPROGRAM};
use super::number::{LOOP, opcode as o};
use super::value::{Form, Node, Value};
use std::ffi::{c_uint, c_void};

impl<'m> Editor<'m> {
    /// # Safety
    /// Metadata of the context.
    unsafe fn made(self, raw: *mut c_void) -> Node<'m> {
        // SAFETY: the caller promises metadata.
        unsafe { Node::of(self.module, raw) }.unwrap_or_else(|| unreachable!("LLVM makes each node"))
    }

    /// A part of a node that is text.
    pub fn word(self, text: &str) -> Node<'m> {
        // SAFETY: the text has that many bytes.
        unsafe {
            self.made((self.llvm.functions.LLVMMDStringInContext2)(self.context.raw, text.as_ptr().cast(), text.len()))
        }
    }

    /// A part of a node that is a constant.
    pub fn constant_part(self, constant: Value<'m>) -> Node<'m> {
        // SAFETY: the value is one of this module.
        unsafe { self.made((self.llvm.functions.LLVMValueAsMetadata)(self.own(constant))) }
    }

    /// A node of these parts.
    pub fn node(self, parts: &[Node<'m>]) -> Node<'m> {
        let mut parts: Vec<*mut c_void> = parts.iter().map(|part| part.raw()).collect();
        // SAFETY: the parts are metadata of the context, and so many.
        unsafe {
            self.made((self.llvm.functions.LLVMMDNodeInContext2)(self.context.raw, parts.as_mut_ptr(), parts.len()))
        }
    }

    /// A node that names itself first, and so is another one than all others.
    pub fn distinct(self, parts: &[Node<'m>]) -> Node<'m> {
        let (f, context) = (self.llvm.functions, self.context.raw);
        // SAFETY: LLVM takes the temporary node away once it is replaced.
        unsafe {
            let place = self.made((f.LLVMTemporaryMDNode)(context, std::ptr::null_mut(), 0));
            let all: Vec<Node<'m>> = std::iter::once(place).chain(parts.iter().copied()).collect();
            let node = self.node(&all);
            (f.LLVMMetadataReplaceAllUsesWith)(place.raw(), node.raw());
            node
        }
    }

    /// Attaches a node to an instruction, or takes away what is attached.
    pub fn set_metadata(self, one: Value<'m>, kind: &str, node: Option<Node<'m>>) {
        assert!(matches!(one.form(), Form::Instruction(_)), "metadata of {:?}", one.form());
        let (f, context) = (self.llvm.functions, self.context.raw);
        // SAFETY: it is an instruction; the name has that many bytes.
        unsafe {
            let kind = (f.LLVMGetMDKindIDInContext)(context, kind.as_ptr().cast(), kind.len() as c_uint);
            let value = node.map_or(std::ptr::null_mut(), |node| (f.LLVMMetadataAsValue)(context, node.raw()));
            (f.LLVMSetMetadata)(self.own(one), kind, value);
        }
    }

    /// A source location: a line of a function with this debug information, in column 1.
    pub fn location(self, subprogram: Node<'m>, line: usize) -> Node<'m> {
        assert!(subprogram.kind() == SUBPROGRAM, "a location in another scope than a function");
        let (f, context) = (self.llvm.functions, self.context.raw);
        let line = c_uint::try_from(line).unwrap_or(0);
        // SAFETY: the scope is a subprogram of the context, and the location is inlined nowhere.
        unsafe {
            self.made((f.LLVMDIBuilderCreateDebugLocation)(context, line, 1, subprogram.raw(), std::ptr::null_mut()))
        }
    }

    /// Gives an instruction another source location.
    pub fn set_location(self, one: Value<'m>, place: Node<'m>) {
        assert!(
            matches!(one.form(), Form::Instruction(_)) && place.kind() == LOCATION,
            "a location of {:?}",
            one.form()
        );
        // SAFETY: it is an instruction, and the node a location of the context.
        unsafe { (self.llvm.functions.LLVMInstructionSetDebugLoc)(self.own(one), place.raw()) }
    }

    /// Gives the branch at a loop's latch metadata that has the loop unrolled so often, in place of what it says of the loop.
    pub fn unroll(self, branch: Value<'m>, times: u32) {
        assert!(branch.form() == Form::Instruction(o::BR), "a loop that ends with {:?}", branch.form());
        let count = self.node(&[self.word("llvm.loop.unroll.count"), self.constant_part(self.i32(times))]);
        self.set_metadata(branch, LOOP, Some(self.distinct(&[count])));
    }
}

impl Module {
    /// The nodes that a named list of the module holds.
    pub fn listed_nodes(&self, list: &std::ffi::CStr) -> Vec<Node<'_>> {
        let f = self.llvm.functions;
        // SAFETY: the module is valid; the list has so many nodes, and the room is for all.
        unsafe {
            let mut all =
                vec![std::ptr::null_mut(); (f.LLVMGetNamedMetadataNumOperands)(self.raw, list.as_ptr()) as usize];
            (f.LLVMGetNamedMetadataOperands)(self.raw, list.as_ptr(), all.as_mut_ptr());
            all.into_iter().filter_map(|raw| Value::of(self, raw)?.as_node()).collect()
        }
    }
}

impl<'m> Editor<'m> {
    /// So many groups of accesses: empty nodes, each another one. The C API cannot make such, so LLVM's parser does.
    pub fn access_groups(self, count: usize) -> Result<Vec<Node<'m>>, String> {
        let list: Vec<String> = (0..count).map(|n| format!("!{n}")).collect();
        let nodes: String = list.iter().map(|node| format!("{node} = distinct !{{}}\n")).collect();
        let other = self.beside(&format!("!groups = !{{{}}}\n{nodes}", list.join(", ")))?;
        let found = other.listed_nodes(c"groups");
        // SAFETY: the nodes are of the context, which both modules have.
        Ok(found.into_iter().map(|node| unsafe { self.made(node.raw()) }).collect())
    }
}
