//! Chooses the entry point, and walks the call graph to find the reachable functions and the module-scope variables they use.

use super::grammar;
use super::parsed::{Instruction, ParsedModule};
use crate::error::{Error, Result};
use crate::grow::Grow;
use rspirv::spirv::{ExecutionModel, Op};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::CString;

/// The chosen entry point.
pub(super) struct EntryPoint {
    /// The name.
    pub(super) name: CString,
    /// The id of the entry point's function.
    pub(super) function: u32,
    /// The index of the `OpEntryPoint` instruction.
    pub(super) inst: usize,
    /// The position, in the `OpEntryPoint` instruction, of the first word of the interface list.
    pub(super) interface: usize,
    /// Positions of the reachable functions, the entry point's own function first.
    pub(super) functions: Vec<usize>,
    /// Module-scope variables that the reachable functions use.
    pub(super) variables: BTreeSet<u32>,
}

struct Candidate {
    name: Vec<u8>,
    model: u32,
    inst: usize,
    interface: usize,
}

impl Candidate {
    fn is_compute(&self) -> bool {
        self.model == ExecutionModel::GLCompute as u32
    }
    fn show(&self) -> String {
        let model = ExecutionModel::from_u32(self.model).map_or(self.model.to_string(), |model| format!("{model:?}"));
        format!("\"{}\" ({model})", String::from_utf8_lossy(&self.name))
    }
}

/// Finds the entry point, the functions it reaches and the variables they use.
pub(super) fn find(code: &ParsedModule, wanted: Option<&str>) -> Result<EntryPoint> {
    let candidates = candidates(code);
    let selected = choose(&candidates, wanted)?;
    let inst = code.inst(selected.inst);
    let function = inst.word(2);
    let name = CString::new(selected.name.clone())
        .map_err(|_| Error::invalid("the name of the entry point contains a NUL character; rename the entry point"))?;
    if std::str::from_utf8(&selected.name).is_err() {
        return Err(Error::invalid(format!(
            "the name of entry point {} is not UTF-8; rename the entry point",
            selected.show()
        )));
    }
    let Some(at) = code.function(function).filter(|&at| code.functions()[at].has_body) else {
        return Err(Error::invalid(format!(
            "entry point {} names function %{function}, which the module does not have; the module is damaged: check it \
             with spirv-val",
            selected.show()
        )));
    };
    let functions = reachable_functions(code, at)?;
    let variables = used_variables(code, &functions)?;
    Ok(EntryPoint { name, function, inst: selected.inst, interface: selected.interface, functions, variables })
}

fn candidates(code: &ParsedModule) -> Vec<Candidate> {
    let entry_points = code.globals().filter(|inst| inst.is(Op::EntryPoint));
    let candidate = |inst: Instruction<'_>| {
        let name = grammar::string_bytes(&inst.words[3..])?;
        let interface = 3 + grammar::string_words(&inst.words[3..]);
        Some(Candidate { name, model: inst.word(1), inst: inst.index, interface })
    };
    entry_points.filter_map(candidate).collect()
}

fn choose<'a>(candidates: &'a [Candidate], wanted: Option<&str>) -> Result<&'a Candidate> {
    // A module may have hundreds of entry points, so a message shows only the first 16.
    let list = |only_compute: bool| {
        let shown: Vec<String> =
            candidates.iter().filter(|c| !only_compute || c.is_compute()).map(Candidate::show).collect();
        match shown.len() {
            0 => "none".to_owned(),
            n if n > 16 => format!("{} and {} more", shown[..16].join(", "), n - 16),
            _ => shown.join(", "),
        }
    };
    let Some(wanted) = wanted else {
        let mut compute = candidates.iter().filter(|c| c.is_compute());
        return match (compute.next(), compute.next()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => Err(Error::invalid(format!(
                "the SPIR-V module has several compute entry points: {}; name one of these",
                list(true)
            ))),
            (None, _) => Err(Error::invalid(format!(
                "the SPIR-V module has no compute entry point (GLCompute); its entry points are: {}; compile a compute \
                 shader (glslc -fshader-stage=compute)",
                list(false)
            ))),
        };
    };
    let named = || candidates.iter().filter(|c| c.name == wanted.as_bytes());
    if let Some(found) = named().find(|c| c.is_compute()) {
        return Ok(found);
    }
    Err(match named().next() {
        Some(other) => Error::invalid(format!(
            "entry point {} of the SPIR-V module is not a compute shader, expected GLCompute; the entry points of the \
             module are: {}; name a compute entry point",
            other.show(),
            list(false)
        )),
        None => Error::invalid(format!(
            "the SPIR-V module has no entry point \"{wanted}\"; its entry points are: {}; name one of these",
            list(false)
        )),
    })
}

fn reachable_functions(code: &ParsedModule, first: usize) -> Result<Vec<usize>> {
    let mut seen = vec![false; code.functions().len()];
    let mut order = Vec::new();
    let mut queue = VecDeque::from([first]);
    seen[first] = true;
    while let Some(at) = queue.pop_front() {
        let function = &code.functions()[at];
        if !function.has_body {
            return Err(Error::unsupported(format!(
                "the kernel calls function {}, which the SPIR-V module declares but does not contain; link the \
                 function in (spirv-link) before you pass the module to revamp",
                code.show(function.id)
            )));
        }
        order.push(at);
        let mut visit = |id: u32| {
            if let Some(callee) = code.function(id).filter(|&callee| !std::mem::replace(&mut seen[callee], true)) {
                queue.push_back(callee);
            }
        };
        for inst in code.body(at) {
            match inst.op {
                Some(Op::FunctionCall) => visit(inst.word(3)),
                // Instructions of extensions may refer to functions (decode functions of tensor loads).
                _ if inst.opcode > 4096 => inst.words[1..].iter().for_each(|&word| visit(word)),
                _ => {}
            }
        }
    }
    Ok(order)
}

fn used_variables(code: &ParsedModule, functions: &[usize]) -> Result<BTreeSet<u32>> {
    let mut known: HashMap<u32, bool> = HashMap::new();
    for inst in code.globals().filter(|inst| inst.is(Op::Variable)) {
        if let Some(id) = inst.result().filter(|&id| code.variable(id).is_some()) {
            known.make_room(1)?;
            known.insert(id, false);
        }
    }
    for &at in functions {
        // Names and decorations that are misplaced in a function do not count as uses.
        for inst in code.body(at).filter(|inst| !code.is_non_semantic(*inst) && !grammar::is_preamble(inst.op)) {
            inst.for_each_id(|_, id| {
                if let Some(used) = known.get_mut(&id) {
                    *used = true;
                }
            });
        }
    }
    Ok(known.into_iter().filter_map(|(id, used)| used.then_some(id)).collect())
}
