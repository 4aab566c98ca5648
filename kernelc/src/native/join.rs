//! Variables of which one is a copy of the other, and that are never needed at once, become one: what a loop sums up in each of a
//! tile's threads would else be copied in each iteration.

use super::text::{Function, Instruction, renamed};
use super::variables::{Flow, Variable, live, plain_name, variables};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// More pairs than this are not looked at.
const MOST_PAIRS: usize = 200;

/// A load or store of a variable.
struct Step<'f> {
    variable: &'f str,
    /// What the load makes, or what is stored.
    value: &'f str,
    stores: bool,
}

impl<'f> Step<'f> {
    fn of(instruction: &'f Instruction, all: &BTreeMap<String, Variable>) -> Option<Self> {
        let access = instruction.access()?;
        let variable = plain_name(access.address).filter(|name| all.get(*name).is_some_and(|v| v.plain))?;
        let value = instruction.result.as_deref().or_else(|| plain_name(access.value)).unwrap_or_default();
        Some(Self { variable, value, stores: instruction.result.is_none() })
    }
}

/// Joins variables of a function.
pub fn joined(function: &mut Function, flow: &[Flow], types: &HashSet<String>) {
    let all = variables(function);
    let mut live = live(function, flow, &all);
    let blocks: Vec<Vec<Step<'_>>> =
        function.blocks.iter().map(|b| b.instructions.iter().filter_map(|i| Step::of(i, &all)).collect()).collect();
    let mut pairs = BTreeSet::new();
    for block in &blocks {
        let loads: HashMap<&str, &str> = block.iter().filter(|s| !s.stores).map(|s| (s.value, s.variable)).collect();
        for (to, from) in block.iter().filter(|s| s.stores).filter_map(|s| Some((s.variable, *loads.get(s.value)?))) {
            // Variables of one value may be computed again instead.
            let several = all[to].stores.len() > 1 || all[from].stores.len() > 1;
            if several && all[to].ty == all[from].ty {
                pairs.insert((to, from));
            }
        }
    }
    let mut names: HashMap<&str, &str> = HashMap::new();
    for (to, from) in pairs.into_iter().take(MOST_PAIRS) {
        let of = |name| names.get(name).copied().unwrap_or(name);
        let (to, from) = (of(to), of(from));
        if to == from || meet(&blocks, flow, &live, &names, [to, from]) {
            continue;
        }
        names.values_mut().filter(|name| **name == from).for_each(|name| *name = to);
        names.insert(from, to);
        for needed in &mut live {
            if needed.remove(from) {
                needed.insert(to.to_owned());
            }
        }
    }
    let names: HashMap<String, String> = names.into_iter().map(|(from, to)| (from.to_owned(), to.to_owned())).collect();
    if !names.is_empty() {
        rename(function, &names, types);
    }
}

/// One of two variables is changed while the other is needed. `names`: of those that have become one.
fn meet(
    blocks: &[Vec<Step<'_>>],
    flow: &[Flow],
    live: &[BTreeSet<String>],
    names: &HashMap<&str, &str>,
    two: [&str; 2],
) -> bool {
    let of = |step: &Step<'_>| {
        two.iter().position(|name| *name == names.get(step.variable).copied().unwrap_or(step.variable))
    };
    blocks.iter().enumerate().any(|(n, block)| {
        let steps: Vec<(usize, &Step<'_>)> = block.iter().filter_map(|s| Some((of(s)?, s))).collect();
        // Whether each store only copies the other variable as it is then.
        let mut fresh: HashMap<&str, usize> = HashMap::new();
        let copies: Vec<bool> = steps
            .iter()
            .map(|&(at, step)| {
                if !step.stores {
                    fresh.insert(step.value, at);
                    return false;
                }
                let copy = fresh.get(step.value) == Some(&(1 - at));
                fresh.retain(|_, of| *of != at);
                copy
            })
            .collect();
        let mut needs = two.map(|name| flow[n].next.iter().chain(&flow[n].barrier).any(|&to| live[to].contains(name)));
        steps.iter().zip(copies).rev().any(|(&(at, step), copy)| {
            needs[at] = !step.stores;
            step.stores && needs[1 - at] && !copy
        })
    })
}

/// Gives variables their names, and leaves out stores of what such a variable is already.
fn rename(function: &mut Function, names: &HashMap<String, String>, types: &HashSet<String>) {
    let kept: HashSet<&String> = names.values().collect();
    for block in &mut function.blocks {
        block
            .instructions
            .retain(|i| !(i.opcode == "alloca" && i.result.as_ref().is_some_and(|r| names.contains_key(r))));
        for instruction in &mut block.instructions {
            if instruction.uses.iter().any(|used| names.contains_key(used)) {
                let other = |name: &super::text::Name| names.get(&name.name).filter(|_| !name.label);
                let text = renamed(&instruction.text, types, |name| Some(format!("%\"{}\"", other(name)?)));
                *instruction = Instruction::new(&text, types);
            }
        }
        let mut fresh: HashMap<String, String> = HashMap::new();
        block.instructions.retain(|i| {
            let Some(access) = i.access() else { return true };
            let Some(name) = plain_name(access.address).filter(|name| kept.iter().any(|k| k == name)) else {
                return true;
            };
            if let Some(result) = &i.result {
                fresh.insert(result.clone(), name.to_owned());
                return true;
            }
            if plain_name(access.value).and_then(|value| fresh.get(value)).is_some_and(|of| of == name) {
                return false;
            }
            fresh.retain(|_, of| of != name);
            true
        });
    }
}
