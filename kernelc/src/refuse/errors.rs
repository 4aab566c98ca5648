//! Decides which of Clang's errors are errors in C++ AMP, and how they are shown.
//!
//! Clang compiles HIP, where restrictions are attributes, and refuses some code that C++ AMP allows. libclang does not
//! give the number of an error. Therefore this module classifies an error by its structure: the cursors at the places
//! of the error and its notes, and the ranges that Clang underlines. If a candidate function is for the other side, its
//! note underlines nothing. If a candidate does not fit the arguments, its note underlines code. If this module drops
//! an error by mistake, the passes that generate code find the error again.

use super::libclang::{Cursor, Diagnostic, Range, Type, Unit, kind, ty};
use super::report::{Finding, Report};
use super::restrictions::Side;
use super::rules::RuleResults;
use super::special_members::SpecialMember;
use super::text::Severity;
use super::tree::Tree;
use super::types::{
    innermost_element, is_amp_only, is_array, is_array_class, is_callable, is_class, is_dependent, is_function,
    is_host_function, is_of_amp, is_reference,
};
use super::wording::{amp_function_text, cpu_function_text};
use crate::amp_warnings::AmpWarning;
use crate::diagnostics::{self, SourceLocation};
use crate::files::is_in_folder;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

/// The option that makes a captured `this` an error.
const CAPTURED_THIS: &str = "-Wgpu-maybe-wrong-side";
/// The option of the warning about an attribute that has no effect in its place.
const IGNORED_ATTRIBUTE: &str = "-Wignored-attributes";

/// How an error of Clang is handled.
enum Verdict {
    /// Not shown: the code is no error in C++ AMP.
    Dropped,
    /// Not shown: a rule has reported the error.
    Reported,
    /// Shown in Clang's words.
    ClangsWords,
    /// Shown as this text at this place of the program.
    OwnWords(SourceLocation, String),
    /// A consequence of an earlier error. Clang does not repeat the notes that lead to the program. Shown in Clang's
    /// words, but only if no earlier error is shown in revamp's words.
    Follows,
}

/// Decides about the errors of a unit.
pub(super) struct Errors<'a> {
    unit: Unit,
    found: &'a RuleResults,
    /// The folder of C++ AMP's headers.
    headers: &'a Path,
    /// True if functions are overloaded by restriction.
    overloaded: bool,
    tree: OnceCell<Tree>,
    names_host_function: bool,
    /// Clang's errors that are shown in Clang's words.
    clang: Vec<Finding>,
    /// Clang's errors that are shown in revamp's words.
    ours: Vec<Finding>,
    /// Attributes in places where they have no effect.
    misplaced: Vec<Finding>,
    /// Lines with an error of Clang that a rule has reported.
    reported: HashSet<(String, u32)>,
}

fn line(place: &SourceLocation) -> (String, u32) {
    (place.file.clone(), place.line)
}

impl<'a> Errors<'a> {
    pub(super) fn of(unit: Unit, found: &'a RuleResults, headers: &'a Path, overloaded: bool) -> Self {
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
        for diagnostic in unit.diagnostics() {
            match diagnostic.severity {
                Severity::Note => {}
                Severity::Warning => errors.misplaced.extend(misplaced_attribute(&diagnostic)),
                Severity::Error | Severity::Fatal => errors.add(&diagnostic),
            }
        }
        errors
    }

    fn add(&mut self, diagnostic: &Diagnostic) {
        match self.verdict(diagnostic) {
            Verdict::ClangsWords => self.clang.push(self.render(diagnostic)),
            Verdict::OwnWords(place, text) => self.ours.push(Finding { place, text }),
            Verdict::Follows if self.ours.is_empty() => self.clang.push(self.render(diagnostic)),
            Verdict::Reported => drop(self.reported.insert(line(&diagnostic.place))),
            Verdict::Follows | Verdict::Dropped => {}
        }
    }

    /// Merges the errors with the findings of the rules. If a line has two errors, only the first is shown: the second
    /// may be its consequence.
    pub(super) fn report(mut self) -> Report {
        let mut amp = self.found.findings.clone();
        let is_first = |all: &[Finding], place: &SourceLocation| {
            all.iter().all(|other| line(&other.place) != line(place) || other.place.column > place.column)
        };
        for finding in self.ours {
            if self.reported.insert(line(&finding.place)) && is_first(&amp, &finding.place) {
                amp.retain(|other| line(&other.place) != line(&finding.place));
                amp.push(finding);
            }
        }
        self.clang.retain(|diagnostic| {
            !self.reported.contains(&line(&diagnostic.place)) && is_first(&amp, &diagnostic.place)
        });
        let clangs: HashSet<_> = self.clang.iter().map(|diagnostic| line(&diagnostic.place)).collect();
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
        let resolved_functions = self.found.resolved_functions.iter().cloned().collect();
        Report { clang: self.clang, amp, warnings, names_host_function: self.names_host_function, resolved_functions }
    }

    fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| Tree::of(self.unit))
    }

    fn verdict(&mut self, diagnostic: &Diagnostic) -> Verdict {
        if let Some(verdict) = self.capture(diagnostic) {
            return verdict;
        }
        // If functions are overloaded by restriction, Clang may make implicit members of a class device-only although the
        // host has them too. The host's pass checks host code of libraries that uses these members, and the device's pass
        // checks device code.
        if self.overloaded && diagnostic.at.is_in_system_header() && self.launch_error(diagnostic).is_none() {
            return Verdict::Dropped;
        }
        let named = diagnostic.at.referenced().into_iter().chain(diagnostic.notes.iter().map(|note| note.at));
        self.names_host_function |= named.into_iter().any(is_host_function);
        if let Some(verdict) = self.implicit_member(diagnostic) {
            return verdict;
        }
        // A member of a local class has the restriction of the enclosing function, unless it has its own.
        let of_local_class = |callee: Cursor| self.found.members_of_local_classes.contains(&callee.place());
        let is_marked = || diagnostic.notes.iter().any(|note| self.found.marked_cpu.contains(&note.place));
        if self.callees(diagnostic).into_iter().any(of_local_class) && !is_marked() {
            return Verdict::Dropped;
        }
        self.shown(diagnostic)
    }

    /// The verdict on a capture by reference or of `this`, which Clang refuses whatever is captured.
    fn capture(&self, diagnostic: &Diagnostic) -> Option<Verdict> {
        let of_this = diagnostic.option == CAPTURED_THIS;
        if !of_this && !diagnostic.ranges.is_empty() {
            return None;
        }
        if let Some(is_refused) = self.found.captures.get(&diagnostic.location) {
            return Some(if *is_refused { Verdict::Reported } else { Verdict::Dropped });
        }
        let text = "'this': by-reference capture or 'this' capture is unsupported if the lambda is amp restricted \
                    (C3590); capture the values of variables instead";
        if of_this {
            return Some(Verdict::OwnWords(diagnostic.place.clone(), text.into()));
        }
        // The rules do not see what a library instantiates from a template of the program. If the type is not known,
        // the launch decides: it refuses references to anything but a live array.
        diagnostic.at.referenced().filter(|named| may_be_array(*named)).map(|_| Verdict::Dropped)
    }

    /// The verdict on a use of a class's implicit member. Clang assigns the implicit member to one side, according to the
    /// members of bases and fields, although those members may exist for each side. The use is an error only if amp code
    /// cannot have the implicit member.
    fn implicit_member(&self, diagnostic: &Diagnostic) -> Option<Verdict> {
        let member_kind = match diagnostic.ranges.as_slice() {
            [] => return None,
            [_, _, ..] => SpecialMember::Assignment,
            [None] => SpecialMember::DefaultConstructor,
            [Some(_)] => SpecialMember::CopyConstructor,
        };
        let is_class =
            |note: &&Diagnostic| is_class(note.at.kind()) && note.at.is_definition() && note.at.place() == note.place;
        let class = unfit_notes(diagnostic).find(is_class).filter(|_| diagnostic.fixes.is_empty())?.at;
        // An assignment to a constant is an error whatever the restriction.
        let assigned = diagnostic
            .at
            .children()
            .first()
            .and_then(|to| to.ty())
            .filter(|_| member_kind == SpecialMember::Assignment);
        if assigned.is_some_and(|of| of.canonical().is_const()) {
            return None;
        }
        let is_template = matches!(class.kind(), kind::CLASS_TEMPLATE | kind::PARTIAL_SPECIALIZATION);
        let of = instantiation_at(class, diagnostic.at).or_else(|| class.ty().filter(|_| !is_template))?;
        let Some(why) = member_kind.why_unavailable(of) else { return Some(Verdict::Dropped) };
        let text = format!(
            "{}: amp code cannot use the functions that the compiler generates for the class: {why} (C3930)",
            diagnostic.text
        );
        Some(Verdict::OwnWords(diagnostic.place.clone(), text))
    }

    /// Why a kernel cannot be called, if the error is about its call in the headers.
    fn launch_error(&self, diagnostic: &Diagnostic) -> Option<&String> {
        let place = program_place(diagnostic).filter(|_| is_in_folder(&diagnostic.place.file, self.headers))?;
        self.found.uncallable.get(&line(place))
    }

    /// How an error is shown.
    fn shown(&self, diagnostic: &Diagnostic) -> Verdict {
        let user_place = program_place(diagnostic);
        let of_headers = diagnostic.in_system_header && is_in_folder(&diagnostic.place.file, self.headers);
        let is_of_host = || self.callees(diagnostic).into_iter().any(is_host_function);
        let place = match user_place {
            // A value of a host-only class leads to calls that the program does not name.
            None if diagnostic.in_system_header && self.found.refused_host_classes.any() && is_of_host() => {
                return Verdict::Reported;
            }
            None if of_headers => return Verdict::Follows,
            None if diagnostic.place.line == 0 => return Verdict::ClangsWords,
            None => &diagnostic.place,
            Some(place) => place,
        };
        let ours = |text: String| Verdict::OwnWords(place.clone(), text);
        let assertion_text = of_headers.then(|| self.tree().assertion(&diagnostic.place)).flatten();
        if let Some(text) = assertion_text.or_else(|| self.launch_error(diagnostic).cloned()) {
            return ours(text);
        }
        if let Some(text) = self.call_error(diagnostic, place, user_place.is_some()) {
            return text.map_or(Verdict::Reported, ours);
        }
        if of_headers {
            return ours(diagnostic.text.to_string());
        }
        match diagnostic.notes.iter().find(|note| is_in_folder(&note.place.file, self.headers)) {
            Some(note) if !diagnostic.in_system_header => ours(header_use_text(diagnostic, note)),
            _ if uses_tile_member_without_tile(diagnostic) => ours(format!(
                "{}: only tiled launches have tiles and barriers; launch over extent.tile<...>() with a tiled_index",
                diagnostic.text
            )),
            _ => Verdict::ClangsWords,
        }
    }

    /// The functions that, according to an error, may be for the other side. An error about a resolved call underlines
    /// nothing, and its place is the name of the function.
    fn callees(&self, diagnostic: &Diagnostic) -> Vec<Cursor> {
        let resolved = diagnostic.at.referenced().filter(|_| diagnostic.ranges.is_empty());
        // The attributes that Clang adds to a C function have the place of its name.
        let function = |at: Cursor| match at.kind() {
            kind::FIRST_ATTRIBUTE..=kind::LAST_ATTRIBUTE => self.tree().function_at(&at.place()),
            found => is_function(found).then_some(at),
        };
        unfit_candidates(diagnostic).chain(resolved).filter_map(function).collect()
    }

    /// The error to show for a call that restrictions forbid; `Some(None)` if a rule has reported it, `None` if the
    /// error is about something else. `is_in_library`: the call is in a library, and the program's line at `place` led to it.
    fn call_error(
        &self,
        diagnostic: &Diagnostic,
        place: &SourceLocation,
        is_in_library: bool,
    ) -> Option<Option<String>> {
        // A redeclaration of a function is not a call.
        let is_call =
            |callee: &Cursor| !is_function(diagnostic.at.kind()) || diagnostic.at.spelling() != callee.spelling();
        let callees: Vec<Cursor> = self
            .callees(diagnostic)
            .into_iter()
            .filter(|c| !c.is_deleted() && !c.is_defaulted())
            .filter(is_call)
            .collect();
        if callees.is_empty() {
            return None;
        }
        if self.tree().side(place) == Side::Cpu {
            let callee = callees.into_iter().find(|callee| is_amp_only(*callee))?;
            return Some(Some(amp_function_text(&callee.spelling())));
        }
        let callee = callees.into_iter().find(|callee| is_host_function(*callee))?;
        if is_in_library {
            let name = callee.spelling();
            return Some(Some(format!(
                "amp code calls a function that needs '{name}', a cpu function of a library (C3930)"
            )));
        }
        let is_reported = self.found.refused_host_classes.explains(callee);
        Some((!is_reported).then(|| cpu_function_text(callee)))
    }

    /// An error as Clang shows it, without notes in C++ AMP's headers.
    fn render(&self, diagnostic: &Diagnostic) -> Finding {
        let (inclusions, notes): (Vec<_>, Vec<_>) =
            diagnostic.notes.iter().filter(|note| !is_in_folder(&note.place.file, self.headers)).partition(|note| {
                note.is_of_the_preprocessor && self.unit.line(&note.place).is_some_and(|l| is_inclusion(&l))
            });
        let mut text = String::new();
        for SourceLocation { file, line, .. } in inclusions.into_iter().map(|note| self.unit.presumed(&note.place)) {
            let _ = writeln!(text, "In file included from {file}:{line}:");
        }
        text += &self.render_without_notes(diagnostic, true);
        let mut last = &diagnostic.place;
        for note in notes {
            text += &self.render_without_notes(note, note.place != *last || note.ranges.iter().any(Option::is_some));
            last = &note.place;
        }
        Finding { place: diagnostic.place.clone(), text }
    }

    /// A diagnostic without its notes. `excerpt`: show its line of the source.
    fn render_without_notes(&self, diagnostic: &Diagnostic, excerpt: bool) -> String {
        let presumed = self.unit.presumed(&diagnostic.place);
        let SourceLocation { file, line: number, column } = &presumed;
        let place = if *number == 0 { String::new() } else { format!("{file}:{number}:{column}: ") };
        let option = if diagnostic.option.is_empty() { String::new() } else { format!(" [{}]", diagnostic.option) };
        let text = format!("{place}{}: {}{option}\n", diagnostic.severity, diagnostic.text);
        let Some(source) = self.unit.line(&diagnostic.place).filter(|_| excerpt) else { return text };
        let is_on_line = |place: &SourceLocation| line(place) == line(&diagnostic.place);
        // A range may begin before the line or end after it.
        let columns = |range: &Range| match (is_on_line(&range.start), is_on_line(&range.end)) {
            (true, true) => Some(range.start.column..range.end.column),
            (true, false) => Some(range.start.column..u32::MAX),
            (false, true) => Some(1..range.end.column),
            (false, false) => None,
        };
        let ranges: Vec<_> = diagnostic.ranges.iter().flatten().filter_map(columns).collect();
        let fix = diagnostic.fixes.iter().find(|(range, text)| is_on_line(&range.start) && !text.is_empty());
        let fix = fix.map(|(range, text)| (range.start.column, text.as_str()));
        text + &diagnostics::marked(&source, &presumed, &ranges, fix)
    }
}

/// True for a line with an include directive.
fn is_inclusion(line: &str) -> bool {
    line.trim_start().strip_prefix('#').is_some_and(|directive| directive.trim_start().starts_with("include"))
}

/// For an error in a header: the innermost line of the program that led there.
fn program_place(diagnostic: &Diagnostic) -> Option<&SourceLocation> {
    let leads = |note: &&Diagnostic| !note.in_system_header && !note.is_of_the_preprocessor;
    diagnostic.notes.iter().find(leads).map(|note| &note.place).filter(|_| diagnostic.in_system_header)
}

/// The cursors at the notes that underline nothing: candidates for the other side, and declarations.
fn unfit_candidates(diagnostic: &Diagnostic) -> impl Iterator<Item = Cursor> {
    unfit_notes(diagnostic).map(|note| note.at)
}

fn unfit_notes(diagnostic: &Diagnostic) -> impl Iterator<Item = &Diagnostic> {
    diagnostic.notes.iter().filter(|note| note.ranges.is_empty() && !note.is_of_the_preprocessor)
}

/// The instantiation of the template `class` that is the type of the cursor `at` or of a part of this cursor.
fn instantiation_at(class: Cursor, at: Cursor) -> Option<Type> {
    let instantiation_in =
        |of: Type| instantiation_within(class, if is_reference(of) { of.canonical().pointee() } else { of }, 0);
    at.ty()
        .and_then(instantiation_in)
        .or_else(|| at.children().into_iter().find_map(|part| instantiation_at(class, part)))
}

/// The instantiation of the template `class` that is the type `of` or the type of a base or member of `of`.
fn instantiation_within(class: Cursor, of: Type, depth: u32) -> Option<Type> {
    let of = innermost_element(of);
    if of.kind() != ty::RECORD || depth > 8 {
        return None;
    }
    let template = of.declaration().specialized();
    // For a member of a partial specialization, the note is at the template.
    let primary_template = template.and_then(Cursor::specialized);
    if [template, primary_template].into_iter().flatten().any(|template| template.canonical() == class.canonical()) {
        return Some(of);
    }
    let mut parts = of.bases().into_iter().chain(of.fields()).filter_map(Cursor::ty);
    parts.find_map(|part| instantiation_within(class, part, depth + 1))
}

/// True for a local variable that may be an array or a texture, and for a member function of these classes by which amp
/// code accesses elements.
fn may_be_array(named: Cursor) -> bool {
    let Some(parent) = named.semantic_parent() else { return false };
    match named.kind() {
        kind::VARIABLE | kind::PARAMETER if is_function(parent.kind()) => named.ty().is_some_and(|of| {
            let of = of.canonical();
            is_dependent(of) || is_array(if is_reference(of) { of.pointee() } else { of })
        }),
        kind::METHOD => is_callable(named) && is_array_class(parent),
        _ => false,
    }
}

/// The error for a restriction or `tile_static` in a place where Clang ignores the attribute.
fn misplaced_attribute(diagnostic: &Diagnostic) -> Option<Finding> {
    let text = match diagnostic.word.as_str() {
        _ if diagnostic.option != IGNORED_ATTRIBUTE => return None,
        "shared" => "only variables can be tile_static",
        "device" | "host" => "only functions and lambdas can have restrict(...)",
        _ => return None,
    };
    Some(Finding { place: diagnostic.place.clone(), text: text.into() })
}

/// The text of an error in the program's use of C++ AMP's headers. `note`: the note of this error that lies in the headers.
fn header_use_text(diagnostic: &Diagnostic, note: &Diagnostic) -> String {
    let is_constant = |element: &Cursor| {
        let of_amp = element.referenced().is_some_and(is_of_amp);
        element.kind() == kind::CALL && of_amp && element.ty().is_some_and(|of| of.canonical().is_const())
    };
    // The note is at the type that the element operator returns.
    let is_at_type = note.at.kind() < kind::FIRST_EXPRESSION && !is_function(note.at.kind());
    if is_at_type && diagnostic.at.children().first().is_some_and(is_constant) {
        return "the elements cannot be assigned to: write array_view<T> instead of array_view<const T>".into();
    }
    let is_property = |to: &Cursor| to.kind() == kind::MEMBER_REFERENCE && to.referenced().is_some_and(is_of_amp);
    if let Some(property) =
        diagnostic.at.children().first().filter(|to| is_property(to) && to.ty().is_some_and(Type::is_const))
    {
        return format!("'{}' is a property that can only be read", property.spelling());
    }
    let why = note.text.reason().filter(|_| is_function(note.at.kind()));
    why.map_or_else(|| diagnostic.text.to_string(), |why| format!("{}: {why}", diagnostic.text))
}

/// True if the program uses a member of tiled_index on a plain index.
fn uses_tile_member_without_tile(diagnostic: &Diagnostic) -> bool {
    let is_index = |c: &Cursor| {
        let class = c.ty().map(|of| of.canonical()).filter(|of| of.kind() == ty::RECORD).map(|of| of.declaration());
        class.is_some_and(|class| class.spelling() == "index" && is_of_amp(class))
    };
    ["barrier", "local", "global", "tile", "tile_origin"].contains(&diagnostic.word.as_str())
        && diagnostic.at.children().first().is_some_and(is_index)
}
