//! Which errors of Clang are errors of C++ AMP, and how they are shown.
//!
//! Clang's HIP knows restrictions as attributes and refuses some of what C++ AMP allows; libclang gives no numbers of its errors. So
//! what an error is about is decided by its structure: what stands at its place and at those of its notes, and which ranges Clang
//! underlines. Where a candidate is for the other side, its note underlines nothing; where the arguments do not fit, it does.
//! An error that is left out here without need is found again by the passes that make code.

use super::libclang::{Cursor, Diagnostic, Range, Type, Unit, kind, ty};
use super::report::{Finding, Report};
use super::restrictions::Side;
use super::rules::Found;
use super::special_members::SpecialMember;
use super::text::Severity;
use super::tree::Tree;
use super::types::{
    element_of_all, is_amp_only, is_array, is_array_class, is_callable, is_class, is_dependent, is_function,
    is_host_function, is_of_amp, is_reference,
};
use super::wording::{amp_function_text, cpu_function_text};
use crate::amp_warnings::AmpWarning;
use crate::diagnostics::{self, Place};
use crate::files::lies_in;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

/// The option that makes a captured `this` an error.
const CAPTURED_THIS: &str = "-Wgpu-maybe-wrong-side";
/// The option of the warning about an attribute that stands where it means nothing.
const IGNORED_ATTRIBUTE: &str = "-Wignored-attributes";

/// What becomes of an error of Clang.
enum Verdict {
    /// C++ AMP has no such error.
    Dropped,
    /// A rule has reported it.
    Reported,
    /// It is shown as Clang has it.
    Clangs,
    /// It is shown as this text at this place of the program.
    Ours(Place, String),
    /// It is a consequence of an earlier error: Clang does not repeat the notes that lead to the program.
    Follows,
}

/// Judges the errors of a unit.
pub(super) struct Errors<'a> {
    unit: Unit,
    found: &'a Found,
    /// The folder of C++ AMP's headers.
    headers: &'a Path,
    /// Functions differ by restriction.
    overloaded: bool,
    tree: OnceCell<Tree>,
    names_host_function: bool,
    /// Clang's errors that are shown as Clang has them.
    clang: Vec<Finding>,
    /// Clang's errors in our words.
    ours: Vec<Finding>,
    /// Attributes that stand where they mean nothing.
    misplaced: Vec<Finding>,
    /// Lines whose error of Clang a rule has reported.
    reported: HashSet<(String, u32)>,
}

fn line(place: &Place) -> (String, u32) {
    (place.file.clone(), place.line)
}

impl<'a> Errors<'a> {
    pub(super) fn of(unit: Unit, found: &'a Found, headers: &'a Path, overloaded: bool) -> Self {
        let mut errors = Self {
            unit,
            found,
            headers,
            overloaded,
            tree: OnceCell::new(),
            names_host_function: false,
            clang: Vec::new(),
            ours: Vec::new(),
            misplaced: Vec::new(),
            reported: HashSet::new(),
        };
        for one in unit.diagnostics() {
            match one.severity {
                Severity::Note => {}
                Severity::Warning => errors.misplaced.extend(misplaced_attribute(&one)),
                Severity::Error | Severity::Fatal => errors.add(&one),
            }
        }
        errors
    }

    fn add(&mut self, one: &Diagnostic) {
        match self.verdict(one) {
            Verdict::Clangs => self.clang.push(self.rendered(one)),
            Verdict::Ours(place, text) => self.ours.push(Finding { place, text }),
            Verdict::Follows if self.ours.is_empty() => self.clang.push(self.rendered(one)),
            Verdict::Reported => drop(self.reported.insert(line(&one.place))),
            Verdict::Follows | Verdict::Dropped => {}
        }
    }

    /// Joins them with the findings of the rules. Of two errors in a line the first is shown: the second may be a consequence.
    pub(super) fn report(mut self) -> Report {
        let mut amp = self.found.findings.clone();
        let is_first = |all: &[Finding], place: &Place| {
            all.iter().all(|other| line(&other.place) != line(place) || other.place.column > place.column)
        };
        for finding in self.ours {
            if self.reported.insert(line(&finding.place)) && is_first(&amp, &finding.place) {
                amp.retain(|other| line(&other.place) != line(&finding.place));
                amp.push(finding);
            }
        }
        self.clang.retain(|one| !self.reported.contains(&line(&one.place)) && is_first(&amp, &one.place));
        let clangs: HashSet<_> = self.clang.iter().map(|one| line(&one.place)).collect();
        amp.extend(self.misplaced);
        amp.retain(|finding| !clangs.contains(&line(&finding.place)));
        amp.sort();
        for Finding { place, text } in &mut amp {
            *text = diagnostics::shown(&self.unit.presumed(place), place, "error", text);
        }
        let shown =
            |(option, finding): &(AmpWarning, Finding)| (*option, self.unit.presumed(&finding.place), finding.clone());
        let mut warnings: Vec<_> = self.found.warnings.iter().map(shown).collect();
        warnings.sort_by(|a, b| (&a.2, a.0).cmp(&(&b.2, b.0)));
        let chosen = self.found.chosen.iter().cloned().collect();
        Report { clang: self.clang, amp, warnings, names_host_function: self.names_host_function, chosen }
    }

    fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| Tree::of(self.unit))
    }

    fn verdict(&mut self, one: &Diagnostic) -> Verdict {
        if let Some(verdict) = self.capture(one) {
            return verdict;
        }
        // Here implicit members of a class may be the device's alone, which the host has too; libraries' host code that uses them is
        // for the host's pass to judge. What is made for the device fails in its pass.
        if self.overloaded && one.at.is_of_system() && self.launch(one).is_none() {
            return Verdict::Dropped;
        }
        let named = one.at.referenced().into_iter().chain(one.notes.iter().map(|note| note.at));
        self.names_host_function |= named.into_iter().any(is_host_function);
        if let Some(verdict) = self.implicit_member(one) {
            return verdict;
        }
        // Members of local classes have the restriction around them, unless they have one of their own.
        let of_local_class = |callee: Cursor| self.found.members_of_local_classes.contains(&callee.place());
        let is_marked = || one.notes.iter().any(|note| self.found.marked_cpu.contains(&note.place));
        if self.callees(one).into_iter().any(of_local_class) && !is_marked() {
            return Verdict::Dropped;
        }
        self.shown(one)
    }

    /// Of a capture by reference or of `this`, which Clang refuses whatever is captured.
    fn capture(&self, one: &Diagnostic) -> Option<Verdict> {
        let of_this = one.option == CAPTURED_THIS;
        if !of_this && !one.ranges.is_empty() {
            return None;
        }
        if let Some(is_refused) = self.found.captures.get(&one.location) {
            return Some(if *is_refused { Verdict::Reported } else { Verdict::Dropped });
        }
        let text = "'this': by-reference capture or 'this' capture is unsupported if the lambda is amp restricted (C3590); capture values";
        if of_this {
            return Some(Verdict::Ours(one.place.clone(), text.into()));
        }
        // The rules do not reach what a library makes of a template of the program. Where the type is not known, the launch decides: a
        // reference to anything but a live array is an error there.
        one.at.referenced().filter(|named| may_be_array(*named)).map(|_| Verdict::Dropped)
    }

    /// Of a class whose implicit members Clang gave to one side: it follows those of bases and members, of which there may be one for
    /// each side. An error if amp code cannot have the member.
    fn implicit_member(&self, one: &Diagnostic) -> Option<Verdict> {
        let wanted = match one.ranges.as_slice() {
            [] => return None,
            [_, _, ..] => SpecialMember::Assignment,
            [None] => SpecialMember::DefaultConstructor,
            [Some(_)] => SpecialMember::CopyConstructor,
        };
        let is_class =
            |note: &&Diagnostic| is_class(note.at.kind()) && note.at.is_definition() && note.at.place() == note.place;
        let class = unfit_notes(one).find(is_class).filter(|_| one.fixes.is_empty())?.at;
        // Nothing is assigned to a constant, whatever the restriction.
        let assigned = one.at.children().first().and_then(|to| to.ty()).filter(|_| wanted == SpecialMember::Assignment);
        if assigned.is_some_and(|of| of.canonical().is_const()) {
            return None;
        }
        let is_template = matches!(class.kind(), kind::CLASS_TEMPLATE | kind::PARTIAL_SPECIALIZATION);
        let of = made_of(class, one.at).or_else(|| class.ty().filter(|_| !is_template))?;
        let Some(why) = wanted.lacks(of) else { return Some(Verdict::Dropped) };
        let text =
            format!("{}: amp code cannot use what the compiler generates for the class: {why} (C3930)", one.text);
        Some(Verdict::Ours(one.place.clone(), text))
    }

    /// Why a kernel cannot be called, if the error is that of its call in the headers.
    fn launch(&self, one: &Diagnostic) -> Option<&String> {
        let place = led_from(one).filter(|_| lies_in(&one.place.file, self.headers))?;
        self.found.uncallable.get(&line(place))
    }

    /// How an error is shown.
    fn shown(&self, one: &Diagnostic) -> Verdict {
        let user = led_from(one);
        let of_headers = one.of_system && lies_in(&one.place.file, self.headers);
        let is_of_host = || self.callees(one).into_iter().any(is_host_function);
        let place = match user {
            // A value of a class that only the host can use leads to calls that the program does not name.
            None if one.of_system && self.found.refused_host_classes.any() && is_of_host() => {
                return Verdict::Reported;
            }
            None if of_headers => return Verdict::Follows,
            None if one.place.line == 0 => return Verdict::Clangs,
            None => &one.place,
            Some(place) => place,
        };
        let ours = |text: String| Verdict::Ours(place.clone(), text);
        let asserted = of_headers.then(|| self.tree().assertion(&one.place)).flatten();
        if let Some(text) = asserted.or_else(|| self.launch(one).cloned()) {
            return ours(text);
        }
        if let Some(text) = self.call(one, place, user.is_some()) {
            return text.map_or(Verdict::Reported, ours);
        }
        if of_headers {
            return ours(one.text.to_string());
        }
        match one.notes.iter().find(|note| lies_in(&note.place.file, self.headers)) {
            Some(note) if !one.of_system => ours(of_use(one, note)),
            _ if is_of_no_tile(one) => ours(format!(
                "{}: only tiled launches have tiles and barriers: launch over extent.tile<...>() with a tiled_index",
                one.text
            )),
            _ => Verdict::Clangs,
        }
    }

    /// The functions that an error may say are for the other side. An error about a call that was resolved underlines nothing, and
    /// stands where the function is named.
    fn callees(&self, one: &Diagnostic) -> Vec<Cursor> {
        let resolved = one.at.referenced().filter(|_| one.ranges.is_empty());
        // Attributes that Clang gives to a function of C stand where its name does.
        let function = |at: Cursor| match at.kind() {
            kind::FIRST_ATTRIBUTE..=kind::LAST_ATTRIBUTE => self.tree().function_at(&at.place()),
            found => is_function(found).then_some(at),
        };
        unfit(one).chain(resolved).filter_map(function).collect()
    }

    /// Of a call that restrictions forbid: what is shown, or nothing where a rule has reported it. `within`: the call stands in a
    /// library, which the program's line at `place` led to.
    fn call(&self, one: &Diagnostic, place: &Place, within: bool) -> Option<Option<String>> {
        // Of two declarations of a function the second is no call.
        let is_call = |callee: &Cursor| !is_function(one.at.kind()) || one.at.spelling() != callee.spelling();
        let callees: Vec<Cursor> =
            self.callees(one).into_iter().filter(|c| !c.is_deleted() && !c.is_defaulted()).filter(is_call).collect();
        if callees.is_empty() {
            return None;
        }
        if self.tree().side(place) == Side::Cpu {
            let callee = callees.into_iter().find(|callee| is_amp_only(*callee))?;
            return Some(Some(amp_function_text(&callee.spelling())));
        }
        let callee = callees.into_iter().find(|callee| is_host_function(*callee))?;
        if within {
            let name = callee.spelling();
            return Some(Some(format!(
                "amp code calls a function that needs '{name}', a cpu function of a library (C3930)"
            )));
        }
        let is_reported = self.found.refused_host_classes.explain(callee);
        Some((!is_reported).then(|| cpu_function_text(callee)))
    }

    /// An error as Clang shows it, without notes in C++ AMP's headers.
    fn rendered(&self, one: &Diagnostic) -> Finding {
        let (inclusions, notes): (Vec<_>, Vec<_>) =
            one.notes.iter().filter(|note| !lies_in(&note.place.file, self.headers)).partition(|note| {
                note.is_of_the_preprocessor && self.unit.line(&note.place).is_some_and(|l| is_inclusion(&l))
            });
        let mut text = String::new();
        for Place { file, line, .. } in inclusions.into_iter().map(|note| self.unit.presumed(&note.place)) {
            let _ = writeln!(text, "In file included from {file}:{line}:");
        }
        text += &self.rendered_alone(one, true);
        let mut last = &one.place;
        for note in notes {
            text += &self.rendered_alone(note, note.place != *last || note.ranges.iter().any(Option::is_some));
            last = &note.place;
        }
        Finding { place: one.place.clone(), text }
    }

    /// A diagnostic without its notes. `excerpt`: with its line of the source.
    fn rendered_alone(&self, one: &Diagnostic, excerpt: bool) -> String {
        let presumed = self.unit.presumed(&one.place);
        let Place { file, line: number, column } = &presumed;
        let place = if *number == 0 { String::new() } else { format!("{file}:{number}:{column}: ") };
        let option = if one.option.is_empty() { String::new() } else { format!(" [{}]", one.option) };
        let text = format!("{place}{}: {}{option}\n", one.severity, one.text);
        let Some(source) = self.unit.line(&one.place).filter(|_| excerpt) else { return text };
        let here = |place: &Place| line(place) == line(&one.place);
        // A range may begin before the line or end behind it.
        let columns = |range: &Range| match (here(&range.start), here(&range.end)) {
            (true, true) => Some(range.start.column..range.end.column),
            (true, false) => Some(range.start.column..u32::MAX),
            (false, true) => Some(1..range.end.column),
            (false, false) => None,
        };
        let ranges: Vec<_> = one.ranges.iter().flatten().filter_map(columns).collect();
        let fix = one.fixes.iter().find(|(range, text)| here(&range.start) && !text.is_empty());
        let fix = fix.map(|(range, text)| (range.start.column, text.as_str()));
        text + &diagnostics::marked(&source, &presumed, &ranges, fix)
    }
}

/// A line that includes a file.
fn is_inclusion(line: &str) -> bool {
    line.trim_start().strip_prefix('#').is_some_and(|directive| directive.trim_start().starts_with("include"))
}

/// For an error in a header: the innermost line of the program that led there.
fn led_from(one: &Diagnostic) -> Option<&Place> {
    let leads = |note: &&Diagnostic| !note.of_system && !note.is_of_the_preprocessor;
    one.notes.iter().find(leads).map(|note| &note.place).filter(|_| one.of_system)
}

/// What stands at the notes that underline nothing: candidates that are for the other side, and declarations.
fn unfit(one: &Diagnostic) -> impl Iterator<Item = Cursor> {
    unfit_notes(one).map(|note| note.at)
}

fn unfit_notes(one: &Diagnostic) -> impl Iterator<Item = &Diagnostic> {
    one.notes.iter().filter(|note| note.ranges.is_empty() && !note.is_of_the_preprocessor)
}

/// The type that is made of a template, at whose class an error's note is: that of what stands at the error's place, or of a part of it.
fn made_of(class: Cursor, at: Cursor) -> Option<Type> {
    let own = |of: Type| made_within(class, if is_reference(of) { of.canonical().pointee() } else { of }, 0);
    at.ty().and_then(own).or_else(|| at.children().into_iter().find_map(|part| made_of(class, part)))
}

/// The same among a type, its bases and its members.
fn made_within(class: Cursor, of: Type, depth: u32) -> Option<Type> {
    let of = element_of_all(of);
    if of.kind() != ty::RECORD || depth > 8 {
        return None;
    }
    let template = of.declaration().specialized();
    // The note about a member that is made of a partial specialization stands at the template.
    let whole = template.and_then(Cursor::specialized);
    if [template, whole].into_iter().flatten().any(|template| template.canonical() == class.canonical()) {
        return Some(of);
    }
    let mut parts = of.bases().into_iter().chain(of.fields()).filter_map(Cursor::ty);
    parts.find_map(|part| made_within(class, part, depth + 1))
}

/// A local variable that may be an array or a texture, or a member function of those by which amp code reaches the elements of one.
fn may_be_array(named: Cursor) -> bool {
    let Some(around) = named.semantic_parent() else { return false };
    match named.kind() {
        kind::VARIABLE | kind::PARAMETER if is_function(around.kind()) => named.ty().is_some_and(|of| {
            let of = of.canonical();
            is_dependent(of) || is_array(if is_reference(of) { of.pointee() } else { of })
        }),
        kind::METHOD => is_callable(named) && is_array_class(around),
        _ => false,
    }
}

/// A restriction or `tile_static` that Clang takes for an attribute that means nothing there.
fn misplaced_attribute(one: &Diagnostic) -> Option<Finding> {
    let text = match one.word.as_str() {
        _ if one.option != IGNORED_ATTRIBUTE => return None,
        "shared" => "only variables are tile_static",
        "device" | "host" => "only functions and lambdas have restrict(...)",
        _ => return None,
    };
    Some(Finding { place: one.place.clone(), text: text.into() })
}

/// Of an error in a use of the headers, of which the note is there.
fn of_use(one: &Diagnostic, note: &Diagnostic) -> String {
    let is_constant = |element: &Cursor| {
        let of_amp = element.referenced().is_some_and(is_of_amp);
        element.kind() == kind::CALL && of_amp && element.ty().is_some_and(|of| of.canonical().is_const())
    };
    // The note is at the type that an element's operator gives.
    let is_at_type = note.at.kind() < kind::FIRST_EXPRESSION && !is_function(note.at.kind());
    if is_at_type && one.at.children().first().is_some_and(is_constant) {
        return "the elements cannot be assigned to: write array_view<T> instead of array_view<const T>".into();
    }
    let is_property = |to: &Cursor| to.kind() == kind::MEMBER_REFERENCE && to.referenced().is_some_and(is_of_amp);
    if let Some(property) =
        one.at.children().first().filter(|to| is_property(to) && to.ty().is_some_and(Type::is_const))
    {
        return format!("'{}' is a property that can only be read", property.spelling());
    }
    let why = note.text.reason().filter(|_| is_function(note.at.kind()));
    why.map_or_else(|| one.text.to_string(), |why| format!("{}: {why}", one.text))
}

/// A plain index is asked for what a tiled_index has.
fn is_of_no_tile(one: &Diagnostic) -> bool {
    let is_index = |c: &Cursor| {
        let class = c.ty().map(|of| of.canonical()).filter(|of| of.kind() == ty::RECORD).map(|of| of.declaration());
        class.is_some_and(|class| class.spelling() == "index" && is_of_amp(class))
    };
    ["barrier", "local", "global", "tile", "tile_origin"].contains(&one.word.as_str())
        && one.at.children().first().is_some_and(is_index)
}
