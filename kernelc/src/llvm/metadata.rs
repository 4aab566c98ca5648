//! Creates and attaches nodes of metadata.
#![allow(unsafe_code)]

use super::Module;
use super::edit::Editor;
use super::number::node::{LOCATION, SUBPROGRAM};
use super::number::{LOOP_METADATA, opcode as o};
use super::value::{Form, Node, Value};
use std::ffi::{c_uint, c_void};

impl<'m> Editor<'m> {
    /// # Safety
    /// `raw` is metadata of the context.
    unsafe fn made(self, raw: *mut c_void) -> Node<'m> {
        // SAFETY: the caller promises metadata.
        unsafe { Node::of(self.module, raw) }.unwrap_or_else(|| unreachable!("LLVM returned no metadata node"))
    }

    /// A text as an operand of a node.
    pub fn word(self, text: &str) -> Node<'m> {
        // SAFETY: the text has that many bytes.
        unsafe {
            self.made((self.llvm.functions.LLVMMDStringInContext2)(self.context.raw, text.as_ptr().cast(), text.len()))
        }
    }

    /// A constant as an operand of a node.
    pub fn constant_operand(self, constant: Value<'m>) -> Node<'m> {
        // SAFETY: the value is one of this module.
        unsafe { self.made((self.llvm.functions.LLVMValueAsMetadata)(self.checked_raw(constant))) }
    }

    /// A node with these operands.
    pub fn node(self, parts: &[Node<'m>]) -> Node<'m> {
        let mut parts: Vec<*mut c_void> = parts.iter().map(|part| part.raw()).collect();
        // SAFETY: the parts are metadata of the context, and their number is right.
        unsafe {
            self.made((self.llvm.functions.LLVMMDNodeInContext2)(self.context.raw, parts.as_mut_ptr(), parts.len()))
        }
    }

    /// A node whose first operand is the node itself, so it differs from all other nodes.
    pub fn distinct(self, parts: &[Node<'m>]) -> Node<'m> {
        let (f, context) = (self.llvm.functions, self.context.raw);
        // SAFETY: LLVM deletes the temporary node when it is replaced.
        unsafe {
            let place = self.made((f.LLVMTemporaryMDNode)(context, std::ptr::null_mut(), 0));
            let all: Vec<Node<'m>> = std::iter::once(place).chain(parts.iter().copied()).collect();
            let node = self.node(&all);
            (f.LLVMMetadataReplaceAllUsesWith)(place.raw(), node.raw());
            node
        }
    }

    /// Attaches a node of metadata of the kind `kind` to an instruction. `None` detaches the attached node.
    pub fn set_metadata(self, one: Value<'m>, kind: &str, node: Option<Node<'m>>) {
        assert!(
            matches!(one.form(), Form::Instruction(_)),
            "only an instruction can have metadata, not {:?}",
            one.form()
        );
        let (f, context) = (self.llvm.functions, self.context.raw);
        // SAFETY: it is an instruction; the name has that many bytes.
        unsafe {
            let kind = (f.LLVMGetMDKindIDInContext)(context, kind.as_ptr().cast(), kind.len() as c_uint);
            let value = node.map_or(std::ptr::null_mut(), |node| (f.LLVMMetadataAsValue)(context, node.raw()));
            (f.LLVMSetMetadata)(self.checked_raw(one), kind, value);
        }
    }

    /// A source location in the function of `subprogram`: the line, and column 1.
    pub fn location(self, subprogram: Node<'m>, line: usize) -> Node<'m> {
        assert!(subprogram.kind() == SUBPROGRAM, "the scope of a source location must be a function");
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
        // SAFETY: the value is an instruction, and the node is a location of the context.
        unsafe { (self.llvm.functions.LLVMInstructionSetDebugLoc)(self.checked_raw(one), place.raw()) }
    }

    /// Replaces the metadata of a loop, at the branch of its latch, by a request to unroll the loop `times` times.
    pub fn unroll(self, branch: Value<'m>, times: u32) {
        assert!(
            branch.form() == Form::Instruction(o::BR),
            "the latch of a loop must end with a branch, not with {:?}",
            branch.form()
        );
        let count = self.node(&[self.word("llvm.loop.unroll.count"), self.constant_operand(self.i32(times))]);
        self.set_metadata(branch, LOOP_METADATA, Some(self.distinct(&[count])));
    }
}

impl Module {
    /// The nodes of the module's named metadata `list`.
    pub fn listed_nodes(&self, list: &std::ffi::CStr) -> Vec<Node<'_>> {
        let f = self.llvm.functions;
        // SAFETY: the module is valid, and the vector has room for all nodes of the list.
        unsafe {
            let mut all =
                vec![std::ptr::null_mut(); (f.LLVMGetNamedMetadataNumOperands)(self.raw, list.as_ptr()) as usize];
            (f.LLVMGetNamedMetadataOperands)(self.raw, list.as_ptr(), all.as_mut_ptr());
            all.into_iter().filter_map(|raw| Value::of(self, raw)?.as_node()).collect()
        }
    }
}

impl<'m> Editor<'m> {
    /// `count` access groups: distinct empty nodes. The C API cannot create them, so LLVM's parser does.
    pub fn access_groups(self, count: usize) -> Result<Vec<Node<'m>>, String> {
        let list: Vec<String> = (0..count).map(|n| format!("!{n}")).collect();
        let nodes: String = list.iter().map(|node| format!("{node} = distinct !{{}}\n")).collect();
        let other = self.parse_in_same_context(&format!("!groups = !{{{}}}\n{nodes}", list.join(", ")))?;
        let found = other.listed_nodes(c"groups");
        // SAFETY: the nodes belong to the context that both modules share.
        Ok(found.into_iter().map(|node| unsafe { self.made(node.raw()) }).collect())
    }
}
