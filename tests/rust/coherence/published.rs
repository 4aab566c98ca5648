//! The published C++ AMP coherence protocol as a pure model: states and bytes moved, no data and no device.
//!
//! A yardstick for tests: what the directory of regions moves, summed from the start of a program, is never more than
//! what this moves. Rules and "the table" (state changes): docs/spec/coherence.md. One step alone may be cheaper here,
//! because views were written back earlier: compare running sums.
//!
//! Where the text is open the reading that moves fewer bytes is taken; each such place is marked "Open:".

use std::collections::BTreeMap;
use std::ops::Range;

/// Names a view of a [`Published`] source; never given out twice.
pub type View = usize;

/// How an access uses the view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// `array_view<const T>`, source of a copy, `synchronize()`.
    Read,
    /// The old contents are not needed: destination of a copy, `access_type_write`.
    Write,
    /// `array_view<T>` in a kernel or on the host.
    ReadWrite,
}

/// State of one view on one location (COH-5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The copy there, if any, is stale.
    Invalid,
    /// Valid there, and nothing to write back.
    Shared,
    /// Written there and not yet written back. Write-only counts as read-write (COH-5).
    Dirty,
}

/// Sorted, disjoint, not empty byte ranges.
type Ranges = Vec<Range<usize>>;

/// One line of the directory (COH-4): a live view, or a hidden mark of the source, which is the dirty state that a
/// view left behind (DST-2).
#[derive(Clone, Debug)]
struct Entry {
    ranges: Ranges,
    /// By location.
    states: Vec<State>,
    /// What a write-back moves: all of the view, less what was discarded since the write. Empty when not dirty.
    dirty: Ranges,
    /// Contents worthless: shared everywhere until the first write of an overlapping view.
    discarded: bool,
    /// Not a hidden mark.
    live: bool,
}

impl Entry {
    /// Where it is dirty; one place at most (COH-6).
    fn dirty_on(&self) -> Option<usize> {
        self.states.iter().position(|&state| state == State::Dirty)
    }

    fn valid_on(&self, location: usize) -> bool {
        self.states[location] != State::Invalid
    }
}

/// One data source with per-view states, as the posts describe it.
#[derive(Clone, Debug)]
pub struct Published {
    bytes: usize,
    home: usize,
    locations: usize,
    next: View,
    entries: BTreeMap<View, Entry>,
}

impl Published {
    /// `bytes` of the source, `home`: location that is home, `locations`: how many locations there are (numbered
    /// from 0).
    pub fn new(bytes: usize, home: usize, locations: usize) -> Self {
        assert!(home < locations, "home {home} is not one of {locations} locations");
        Self { bytes, home, locations, next: 0, entries: BTreeMap::new() }
    }

    /// A new view over these elements: a set of byte ranges (sorted, disjoint). No access (AV-20).
    ///
    /// Open: the posts name no first state. A new view is valid where a view that contains it is valid, so it outlives
    /// that view without a transfer, and at home unless an overlapping view is dirty elsewhere (COH-8). A view made
    /// inside a discarded one is discarded (as sections are).
    pub fn add(&mut self, ranges: Vec<Range<usize>>) -> View {
        let ranges: Ranges = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        assert!(
            ranges.windows(2).all(|pair| pair[0].end <= pair[1].start),
            "ranges not sorted and disjoint: {ranges:?}"
        );
        assert!(ranges.last().is_none_or(|last| last.end <= self.bytes), "{ranges:?} outside of {} bytes", self.bytes);
        let mut states = vec![State::Invalid; self.locations];
        let mut discarded = false;
        for outer in self.entries.values().filter(|outer| contains(&outer.ranges, &ranges)) {
            discarded |= outer.discarded;
            for (location, state) in states.iter_mut().enumerate() {
                if outer.valid_on(location) {
                    *state = State::Shared;
                }
            }
        }
        if self.home_may_hold(&ranges) {
            states[self.home] = State::Shared;
        }
        self.insert(Entry { ranges, states, dirty: Ranges::new(), discarded, live: true })
    }

    /// Access to all of `view` on `location` (AV-22). Returns bytes moved (count each hop: X -> home -> Y is two).
    pub fn access(&mut self, view: View, location: usize, kind: Use) -> u64 {
        assert!(location < self.locations, "no location {location}");
        assert!(self.entry(view).live, "view {view} was removed");
        if kind == Use::Write {
            // One row of the table: "discarded, copy destination, access_type_write": a write-only access is a discard
            // and a write. Open: that row does not say whether a partly covered dirty view is saved with or without
            // the part that is about to be overwritten; without.
            self.discard(view);
        }
        let moved = if self.entry(view).discarded {
            if kind == Use::Read {
                return 0;
            }
            // Valid everywhere, so neither step 2 nor 3 is due, but partly covered dirty views are saved. Open:
            // those dirty on this very location may stay so (COH-8), since nothing from home is laid over them.
            self.write_back(view, Some(location))
        } else if self.valid(view, location) {
            0 // COH-10, COH-11
        } else {
            // COH-12. A view dirty on the target itself is no exception: step 3 lays home's bytes over it.
            let saved = self.write_back(view, None);
            // COH-13
            saved + if location == self.home { 0 } else { size(&self.entry(view).ranges) }
        };
        if kind != Use::Read {
            self.written(view, location);
        } else if !self.entry(view).valid_on(location) {
            self.entry_mut(view).states[location] = State::Shared;
        }
        moved
    }

    /// `discard_data`: the part that `view` covers is worthless, in every view (DST-3). Moves nothing.
    pub fn discard(&mut self, view: View) {
        assert!(self.entry(view).live, "view {view} was removed");
        let ranges = self.entry(view).ranges.clone();
        let mut cleaned = Vec::new();
        for id in self.overlapping(&ranges) {
            let all_shared = vec![State::Shared; self.locations];
            let entry = self.entry_mut(id);
            if entry.live && contains(&ranges, &entry.ranges) {
                // Applies to the view and to its sections and projections.
                entry.discarded = true;
                entry.states = all_shared;
                entry.dirty.clear();
            } else if let Some(at) = entry.dirty_on() {
                // Open: the table has the discarded view only; by DST-3 a larger dirty view does not write it back.
                entry.dirty = subtract(&entry.dirty, &ranges);
                if entry.dirty.is_empty() {
                    entry.states[at] = State::Shared;
                    cleaned.push(id);
                }
            }
        }
        self.settle(&cleaned);
    }

    /// `refresh`: home has new contents. Moves nothing (the table).
    ///
    /// A write at home (AV-19) would save the dirty views that `view` covers partly; the row says that nothing moves. So
    /// what they have outside of `view` becomes a hidden mark, and the views are valid nowhere: their copy is stale in
    /// part, which a state per view cannot say.
    pub fn refresh(&mut self, view: View) {
        assert!(self.entry(view).live, "view {view} was removed");
        let ranges = self.entry(view).ranges.clone();
        let overlapping = self.overlapping(&ranges);
        let mut marks = Vec::new();
        for &id in &overlapping {
            let (home, mut states) = (self.home, vec![State::Invalid; self.locations]);
            let entry = self.entry_mut(id);
            let pending = entry.dirty_on().filter(|&at| at != home);
            entry.states.clone_from(&states);
            // The first later write, anywhere, ends the discard; AV-19 counts refresh as one.
            entry.discarded = false;
            let dirty = subtract(&std::mem::take(&mut entry.dirty), &ranges);
            if let Some(at) = pending.filter(|_| !dirty.is_empty()) {
                states[at] = State::Dirty;
                let ranges = subtract(&entry.ranges, &ranges);
                marks.push(self.insert(Entry { ranges, states, dirty, discarded: false, live: false }));
            }
        }
        self.settle(&overlapping);
        for mark in marks {
            if self.entries.contains_key(&mark) {
                self.hide(mark);
            }
        }
    }

    /// Drops a view: the last one writes dirty data home (DST-1), any other moves nothing (DST-2). Returns bytes moved.
    pub fn remove(&mut self, view: View) -> u64 {
        assert!(self.entry(view).live, "view {view} was removed");
        self.entry_mut(view).live = false;
        if !self.entries.values().any(|entry| entry.live) {
            let moved = self.entries.values().map(|entry| self.pending(entry)).sum();
            self.entries.clear();
            return moved;
        }
        if self.pending(self.entry(view)) > 0 {
            self.hide(view);
        } else {
            self.entries.remove(&view); // COH-17
        }
        0
    }

    /// `synchronize(access_type)`: an access at home (AV-18). Returns bytes moved.
    pub fn synchronize(&mut self, view: View, kind: Use) -> u64 {
        self.access(view, self.home, kind)
    }

    /// The directory's own state of `view` on `location`; COH-11 may make it valid there without one.
    pub fn state(&self, view: View, location: usize) -> State {
        self.entry(view).states[location]
    }

    fn entry(&self, id: View) -> &Entry {
        &self.entries[&id]
    }

    fn entry_mut(&mut self, id: View) -> &mut Entry {
        self.entries.get_mut(&id).expect("a view of this source")
    }

    fn insert(&mut self, entry: Entry) -> View {
        let id = self.next;
        self.next += 1;
        self.entries.insert(id, entry);
        id
    }

    /// Entries with at least one byte in common (AV-21).
    fn overlapping(&self, ranges: &Ranges) -> Vec<View> {
        self.entries.iter().filter(|(_, entry)| overlap(&entry.ranges, ranges)).map(|(&id, _)| id).collect()
    }

    /// Bytes to write back to home.
    fn pending(&self, entry: &Entry) -> u64 {
        entry.dirty_on().filter(|&at| at != self.home).map_or(0, |_| size(&entry.dirty))
    }

    /// COH-10 and COH-11. Open: a hidden mark is no live view, but its bytes are there; it serves as one while dirty.
    fn valid(&self, view: View, location: usize) -> bool {
        let ranges = &self.entry(view).ranges;
        self.entry(view).valid_on(location)
            || self.entries.values().any(|outer| outer.valid_on(location) && contains(&outer.ranges, ranges))
    }

    /// COH-8 allows a state other than invalid at home: no overlapping view is dirty elsewhere.
    fn home_may_hold(&self, ranges: &Ranges) -> bool {
        self.confined_to(ranges).all(|at| at == self.home)
    }

    /// Locations of the overlapping dirty views: the only ones where COH-8 allows a state other than invalid.
    fn confined_to<'a>(&'a self, ranges: &'a Ranges) -> impl Iterator<Item = usize> + 'a {
        self.entries.values().filter(|entry| overlap(&entry.ranges, ranges)).filter_map(Entry::dirty_on)
    }

    /// COH-12: every overlapping dirty view goes home, wholly and by itself: two dirty views with a common part move it
    /// twice, as the state is per view. Those dirty on `except` stay. Returns bytes moved.
    fn write_back(&mut self, view: View, except: Option<usize>) -> u64 {
        let mut moved = 0;
        let mut written = Vec::new();
        for id in self.overlapping(&self.entry(view).ranges) {
            let Some(at) = self.entry(id).dirty_on().filter(|&at| Some(at) != except) else { continue };
            moved += self.pending(self.entry(id));
            let entry = self.entry_mut(id);
            entry.states[at] = State::Shared;
            entry.dirty.clear();
            written.push(id);
        }
        self.settle(&written);
        moved
    }

    /// After entries lost their dirty state: hidden marks go, views are shared at home too (COH-12).
    ///
    /// COH-12 against COH-8: a view written back may overlap one that stays dirty since the accessed view does not touch
    /// it. The invariant wins: not valid at home then.
    fn settle(&mut self, clean: &[View]) {
        for &id in clean {
            if !self.entry(id).live {
                self.entries.remove(&id);
            } else if !self.entry(id).discarded && self.home_may_hold(&self.entry(id).ranges) {
                let home = self.home;
                self.entry_mut(id).states[home] = State::Shared;
            }
        }
    }

    /// `view` was written on `location`: dirty there, it and overlapping views invalid elsewhere.
    fn written(&mut self, view: View, location: usize) {
        let ranges = self.entry(view).ranges.clone();
        for id in self.overlapping(&ranges) {
            let entry = self.entry_mut(id);
            entry.discarded = false; // the first later write, anywhere
            for (at, state) in entry.states.iter_mut().enumerate().filter(|&(at, _)| at != location) {
                debug_assert!(*state != State::Dirty, "view {id} is dirty on {at} and was not written back");
                *state = State::Invalid;
            }
            if !entry.live {
                // Open: a hidden mark belongs to no view, so it keeps only what no live view writes back.
                entry.dirty = subtract(&entry.dirty, &ranges);
                if entry.dirty.is_empty() {
                    self.entries.remove(&id);
                }
            }
        }
        let entry = self.entry_mut(view);
        entry.states[location] = State::Dirty;
        entry.dirty = ranges.clone();
        // A view that was discarded until now may also overlap one that is dirty elsewhere: COH-8 leaves it nothing.
        for id in self.overlapping(&ranges) {
            if self.confined_to(&self.entry(id).ranges).any(|at| at != location) {
                self.entry_mut(id).states[location] = State::Invalid;
            }
        }
    }

    /// Makes the entry a hidden mark: no byte of it is in the mark of a live view or in another hidden one.
    fn hide(&mut self, hidden: View) {
        let mut mark = self.entries.remove(&hidden).expect("an entry of this source");
        for entry in self.entries.values().filter(|entry| entry.live) {
            mark.dirty = subtract(&mark.dirty, &entry.dirty);
        }
        for entry in self.entries.values_mut().filter(|entry| !entry.live) {
            entry.dirty = subtract(&entry.dirty, &mark.dirty);
        }
        self.entries.insert(hidden, mark);
        self.entries.retain(|_, entry| entry.live || !entry.dirty.is_empty());
    }
}

fn size(ranges: &Ranges) -> u64 {
    ranges.iter().map(|range| range.len() as u64).sum()
}

fn overlap(a: &Ranges, b: &Ranges) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.start < b.end && b.start < a.end))
}

fn contains(outer: &Ranges, inner: &Ranges) -> bool {
    subtract(inner, outer).is_empty()
}

/// `from` without `what`.
fn subtract(from: &Ranges, what: &Ranges) -> Ranges {
    let mut rest = Ranges::new();
    for range in from {
        let mut start = range.start;
        for hole in what.iter().filter(|hole| hole.start < range.end && range.start < hole.end) {
            if start < hole.start {
                rest.push(start..hole.start);
            }
            start = start.max(hole.end);
        }
        if start < range.end {
            rest.push(start..range.end);
        }
    }
    rest
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // a view of one range
mod tests {
    use super::Use::{Read, ReadWrite, Write};
    use super::*;

    const CPU: usize = 0;
    const X: usize = 1;
    const Y: usize = 2;
    const ALL: u64 = 100;

    /// 100 bytes of host memory, two accelerator_views.
    fn on_cpu() -> Published {
        Published::new(100, CPU, 3)
    }

    /// 100 bytes of an array on X.
    fn on_x() -> Published {
        Published::new(100, X, 3)
    }

    fn whole(source: &mut Published) -> View {
        source.add(vec![0..100])
    }

    fn part(source: &mut Published, range: Range<usize>) -> View {
        source.add(vec![range])
    }

    fn states(source: &Published, view: View) -> Vec<State> {
        (0..source.locations).map(|at| source.state(view, at)).collect()
    }

    use State::{Dirty, Invalid, Shared};

    #[test]
    fn sel_18_av_2_data_of_a_fresh_view_goes_up_once() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        assert_eq!(states(&s, v), [Shared, Invalid, Invalid]);
        assert_eq!(s.access(v, X, Read), ALL);
        assert_eq!(s.access(v, X, Read), 0);
        assert_eq!(states(&s, v), [Shared, Shared, Invalid]); // SEL-27: both stay valid
        assert_eq!(s.access(v, CPU, Read), 0);
    }

    #[test]
    fn av_3_second_kernel_on_the_same_target_moves_nothing() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        assert_eq!(s.access(v, X, ReadWrite), ALL);
        assert_eq!(s.access(v, X, ReadWrite), 0);
        assert_eq!(s.access(v, X, Read), 0);
        assert_eq!(states(&s, v), [Invalid, Dirty, Invalid]); // a read keeps it dirty
    }

    #[test]
    fn av_4_host_access_brings_the_data_back() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        assert_eq!(s.access(v, CPU, Read), ALL);
        assert_eq!(s.access(v, CPU, Read), 0);
        assert_eq!(states(&s, v), [Shared, Shared, Invalid]);
    }

    #[test]
    fn av_12_dst_5_const_capture_is_a_read() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        assert_eq!(s.access(v, X, Read), ALL);
        assert_eq!(s.remove(v), 0);
    }

    #[test]
    fn av_13_dst_5_capture_is_read_and_write() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        assert_eq!(s.access(v, X, ReadWrite), ALL);
        assert_eq!(s.remove(v), ALL);
    }

    #[test]
    fn av_14_capture_after_discard_copies_nothing_in() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.discard(v);
        assert_eq!(s.access(v, X, ReadWrite), 0);
        assert_eq!(s.access(v, CPU, Read), ALL);
    }

    #[test]
    fn av_15_copy_reads_its_source_and_writes_its_destination() {
        let (mut from, mut to) = (on_cpu(), on_cpu());
        let (source, destination) = (whole(&mut from), whole(&mut to));
        from.access(source, X, ReadWrite);
        to.access(destination, X, ReadWrite);
        assert_eq!(from.access(source, CPU, Read), ALL);
        assert_eq!(to.access(destination, CPU, Write), 0); // SEL-21: the destination is home; its old contents stay on X
        assert_eq!(from.access(source, X, Read), 0);
        assert_eq!(to.access(destination, X, Read), ALL);
    }

    #[test]
    fn av_16_host_read_of_a_const_view_leaves_device_copies_valid() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, Read);
        s.access(v, CPU, Read);
        assert_eq!(s.access(v, X, Read), 0);
    }

    #[test]
    fn av_17_host_access_of_a_mutable_view_makes_device_copies_stale() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, Read);
        assert_eq!(s.access(v, CPU, ReadWrite), 0);
        assert_eq!(states(&s, v), [Dirty, Invalid, Invalid]);
        assert_eq!(s.access(v, X, Read), ALL);
    }

    #[test]
    fn av_18_synchronize_is_a_read_at_home() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        assert_eq!(s.synchronize(v, Read), ALL);
        assert_eq!(s.access(v, X, Read), 0);
        // read_write lets the program write home memory, write does so without fetching it.
        assert_eq!(s.synchronize(v, ReadWrite), 0);
        assert_eq!(s.access(v, X, ReadWrite), ALL);
        assert_eq!(s.synchronize(v, Write), 0);
        assert_eq!(s.access(v, X, Read), ALL);
    }

    #[test]
    fn av_20_making_a_view_is_no_access() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        let before = states(&s, v);
        let alias = whole(&mut s);
        let section = part(&mut s, 10..20);
        assert_eq!(states(&s, v), before);
        assert_eq!(states(&s, alias), [Invalid, Shared, Invalid]);
        assert_eq!(s.access(section, X, Read), 0);
        assert_eq!(s.access(alias, X, ReadWrite), 0);
    }

    #[test]
    fn a_new_view_outlives_the_one_that_was_valid() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, Read);
        let alias = whole(&mut s);
        s.remove(v);
        assert_eq!(s.access(alias, X, Read), 0);
    }

    #[test]
    fn av_21_overlap_is_by_elements_not_by_hull() {
        let mut s = on_cpu();
        let even = s.add((0..10).map(|row| row * 10..row * 10 + 5).collect());
        let odd = s.add((0..10).map(|row| row * 10 + 5..row * 10 + 10).collect());
        assert_eq!(s.access(even, X, ReadWrite), 50);
        assert_eq!(s.access(odd, CPU, ReadWrite), 0);
        assert_eq!(s.access(even, X, Read), 0);
    }

    #[test]
    fn dst_1_4_the_last_view_writes_home() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        assert_eq!(s.remove(v), ALL);

        let mut s = on_x();
        let v = whole(&mut s);
        assert_eq!(s.access(v, CPU, ReadWrite), ALL);
        assert_eq!(s.remove(v), ALL);

        let mut s = on_x();
        let v = whole(&mut s);
        assert_eq!(s.access(v, X, ReadWrite), 0);
        assert_eq!(s.remove(v), 0); // dirty at home
    }

    #[test]
    fn dst_2_a_view_that_is_not_the_last_moves_nothing_and_loses_nothing() {
        let mut s = on_cpu();
        let (v, alias) = (whole(&mut s), whole(&mut s));
        s.access(alias, X, ReadWrite);
        assert_eq!(s.remove(alias), 0);
        assert_eq!(s.remove(v), ALL); // DST-2
    }

    #[test]
    fn a_hidden_mark_serves_as_a_view_while_it_is_dirty() {
        let mut s = on_cpu();
        let (v, alias) = (whole(&mut s), whole(&mut s));
        s.access(alias, X, ReadWrite);
        s.remove(alias);
        assert_eq!(s.access(v, X, Read), 0);
        assert_eq!(s.access(v, CPU, Read), ALL);
        assert_eq!(s.remove(v), 0); // the mark went home
    }

    #[test]
    fn hidden_marks_do_not_pile_up() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        for _ in 0..5 {
            let section = part(&mut s, 10..30);
            s.access(section, X, ReadWrite);
            s.remove(section);
        }
        assert_eq!(s.clone().remove(v), 20);
        s.access(v, X, ReadWrite);
        assert_eq!(s.remove(v), ALL);
    }

    #[test]
    fn a_hidden_mark_is_what_no_live_view_writes_back() {
        let mut s = on_cpu();
        let (a, b) = (part(&mut s, 0..60), part(&mut s, 40..100));
        s.access(a, X, ReadWrite);
        s.access(b, X, ReadWrite);
        s.access(a, X, ReadWrite);
        s.remove(a);
        assert_eq!(s.remove(b), ALL);
    }

    #[test]
    fn dst_3_discarded_changes_are_not_written_back() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        s.discard(v);
        assert_eq!(s.remove(v), 0);
    }

    #[test]
    fn dst_9_nothing_after_synchronize() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        assert_eq!(s.synchronize(v, Read), ALL);
        assert_eq!(s.remove(v), 0);
    }

    #[test]
    fn dst_10_only_inputs_go_up_and_only_the_output_comes_back() {
        let (mut a, mut b, mut sum) = (on_cpu(), on_cpu(), on_cpu());
        let (va, vb, vsum) = (whole(&mut a), whole(&mut b), whole(&mut sum));
        sum.discard(vsum);
        let up = a.access(va, X, Read) + b.access(vb, X, Read) + sum.access(vsum, X, ReadWrite);
        assert_eq!(up, 2 * ALL);
        assert_eq!(sum.synchronize(vsum, Read), ALL);
        assert_eq!(a.remove(va) + b.remove(vb) + sum.remove(vsum), 0);
    }

    #[test]
    fn coh_2_no_more_than_the_accessed_part_and_the_dirty_views() {
        let mut s = on_cpu();
        let _keep = whole(&mut s);
        let (a, b, far) = (part(&mut s, 0..10), part(&mut s, 5..25), part(&mut s, 60..100));
        s.access(a, X, ReadWrite);
        s.access(far, X, ReadWrite);
        assert_eq!(s.access(b, Y, Read), 10 + 20);
        assert_eq!(states(&s, far), [Invalid, Dirty, Invalid]);
    }

    #[test]
    fn coh_3_a_copy_is_reused_until_a_write_elsewhere() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, Read);
        assert_eq!(s.access(v, Y, Read), ALL);
        assert_eq!(s.access(v, X, Read), 0);
        assert_eq!(s.access(v, Y, ReadWrite), 0);
        assert_eq!(states(&s, v), [Invalid, Invalid, Dirty]);
        assert_eq!(s.access(v, X, Read), 2 * ALL);
    }

    #[test]
    fn coh_5_write_only_is_dirty() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        assert_eq!(s.access(v, X, Write), 0);
        assert_eq!(states(&s, v), [Invalid, Dirty, Invalid]);
    }

    #[test]
    fn coh_10_valid_on_the_target() {
        let mut s = on_x();
        let v = whole(&mut s);
        assert_eq!(s.access(v, X, ReadWrite), 0);
        assert_eq!(s.access(v, CPU, Read), ALL);
        assert_eq!(s.access(v, CPU, ReadWrite), 0);
    }

    #[test]
    fn coh_11_a_containing_view_is_valid_on_the_target() {
        let mut s = on_cpu();
        let section = part(&mut s, 20..40);
        let v = whole(&mut s);
        s.access(v, X, Read);
        assert_eq!(s.access(section, X, Read), 0);
        let mut s = on_cpu();
        let v = whole(&mut s);
        let (low, high) = (part(&mut s, 0..50), part(&mut s, 50..100));
        s.access(low, X, Read);
        s.access(high, X, Read);
        assert_eq!(s.access(v, X, Read), ALL); // two views that contain it together do not count
    }

    #[test]
    fn coh_11_only_while_the_containing_view_lives() {
        let mut s = on_cpu();
        let section = part(&mut s, 20..40);
        let v = whole(&mut s);
        s.access(v, X, Read);
        s.remove(v);
        assert_eq!(s.access(section, X, Read), 20);
    }

    #[test]
    fn coh_12_overlapping_dirty_views_go_home_wholly_each_by_itself() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let (a, b) = (part(&mut s, 0..60), part(&mut s, 40..100));
        assert_eq!(s.access(a, X, ReadWrite), 60);
        assert_eq!(s.access(b, X, ReadWrite), 60 + 60); // a goes home, b comes up
        assert_eq!(states(&s, a), [Invalid, Shared, Invalid]);
        assert_eq!(s.access(a, X, ReadWrite), 0);
        assert_eq!((s.state(a, X), s.state(b, X)), (Dirty, Dirty)); // COH-8
        assert_eq!(s.access(v, CPU, Read), 60 + 60);
        assert_eq!(states(&s, a), [Shared, Shared, Invalid]);
        assert_eq!(states(&s, b), [Shared, Shared, Invalid]);
    }

    #[test]
    fn coh_12_on_the_target_too() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let section = part(&mut s, 0..10);
        s.access(section, X, ReadWrite);
        assert_eq!(s.access(v, X, Read), 10 + ALL);
    }

    #[test]
    fn coh_8_a_written_back_view_is_not_valid_at_home_under_one_still_dirty() {
        let mut s = on_cpu();
        let (a, b, tip) = (part(&mut s, 0..60), part(&mut s, 40..100), part(&mut s, 0..10));
        let all = whole(&mut s);
        s.access(all, X, Read);
        s.access(a, X, ReadWrite);
        s.access(b, X, ReadWrite);
        assert_eq!(s.access(tip, CPU, Read), 60);
        assert_eq!(states(&s, a), [Invalid, Shared, Invalid]);
        assert_eq!(states(&s, b), [Invalid, Dirty, Invalid]);
        assert_eq!(s.access(a, CPU, Read), 60);
    }

    #[test]
    fn coh_13_home_to_target() {
        let mut s = on_x();
        let v = whole(&mut s);
        let section = part(&mut s, 0..10);
        assert_eq!(s.access(section, Y, Read), 10);
        assert_eq!(s.access(v, X, ReadWrite), 0);
        assert_eq!(s.access(section, Y, ReadWrite), 10);
        assert_eq!(s.access(v, X, Read), 10); // target = home: the write-back is all
    }

    #[test]
    fn coh_14_15_what_is_captured_is_what_moves() {
        let (rows, columns) = (5, 20);
        let mut s = on_cpu();
        let matrix = whole(&mut s);
        let row = part(&mut s, 2 * columns..3 * columns);
        assert_eq!(s.access(row, X, Read), columns as u64);
        assert_eq!(s.access(matrix, X, Read), (rows * columns) as u64);
        let column = s.add((0..rows).map(|row| row * columns..row * columns + 1).collect());
        assert_eq!(s.access(column, Y, Read), rows as u64);
    }

    #[test]
    fn coh_17_a_new_view_transfers_again() {
        let mut s = on_cpu();
        let _keep = part(&mut s, 0..1);
        let v = whole(&mut s);
        s.access(v, X, Read);
        s.remove(v);
        let again = whole(&mut s);
        assert_eq!(s.access(again, X, Read), ALL);
        // and when it was the last one
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        s.remove(v);
        let again = whole(&mut s);
        assert_eq!(s.access(again, X, Read), ALL);
    }

    #[test]
    fn coh_18_a_view_kept_alive_moves_once() {
        let mut s = on_cpu();
        let kept = whole(&mut s);
        s.access(kept, X, Read);
        for _ in 0..3 {
            let temporary = part(&mut s, 30..70);
            assert_eq!(s.access(temporary, X, Read), 0);
            s.remove(temporary);
        }
        assert_eq!(s.access(kept, X, Read), 0);
    }

    #[test]
    fn coh_19_x_to_home_to_y() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        assert_eq!(s.access(v, Y, Read), 2 * ALL);
        assert_eq!(states(&s, v), [Shared, Shared, Shared]);
        assert_eq!(s.access(v, Y, ReadWrite), 0);
        assert_eq!(s.access(v, X, ReadWrite), 2 * ALL);
        assert_eq!(states(&s, v), [Invalid, Dirty, Invalid]);
    }

    #[test]
    fn coh_20_21_a_chain_moves_nothing_and_one_element_brings_the_whole_dirty_view() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        assert_eq!(s.access(v, X, ReadWrite), ALL);
        for _ in 0..4 {
            assert_eq!(s.access(v, X, ReadWrite), 0);
        }
        let element = part(&mut s, 8..12);
        assert_eq!(s.access(element, CPU, Read), ALL);
    }

    #[test]
    fn coh_22_with_an_array_as_home_one_element_moves() {
        let mut s = on_x();
        let v = whole(&mut s);
        for _ in 0..5 {
            assert_eq!(s.access(v, X, ReadWrite), 0);
        }
        let element = part(&mut s, 8..12);
        assert_eq!(s.access(element, CPU, Read), 4);
    }

    #[test]
    fn write_only_saves_what_it_covers_in_part() {
        let mut s = on_cpu();
        let _keep = whole(&mut s);
        let (a, inside, b) = (part(&mut s, 0..60), part(&mut s, 70..80), part(&mut s, 40..100));
        s.access(a, X, ReadWrite);
        s.access(inside, X, ReadWrite);
        assert_eq!(s.access(b, Y, Write), 40); // a without what is overwritten; inside not at all
        assert_eq!(states(&s, a), [Invalid; 3]);
        assert_eq!(states(&s, inside), [Invalid, Invalid, Shared]);
        assert_eq!(states(&s, b), [Invalid, Invalid, Dirty]);

        let mut s = on_cpu();
        let (a, b) = (part(&mut s, 0..60), part(&mut s, 40..100));
        s.access(a, X, ReadWrite);
        assert_eq!(s.access(b, X, Write), 0); // same location: both may be dirty there
        assert_eq!((s.state(a, X), s.state(b, X)), (Dirty, Dirty));
        assert_eq!(s.remove(a) + s.remove(b), ALL);
    }

    #[test]
    fn discard_is_valid_everywhere_and_dirty_nowhere() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let section = part(&mut s, 0..10);
        s.access(v, X, ReadWrite);
        s.discard(v);
        assert_eq!(states(&s, v), [Shared; 3]);
        assert_eq!(states(&s, section), [Shared; 3]); // sections too
        let late = part(&mut s, 0..20);
        assert_eq!(states(&s, late), [Shared; 3]);
        assert_eq!(s.access(v, Y, Read) + s.access(late, CPU, Read) + s.synchronize(v, Read), 0);
        // transient: the first write ends it
        assert_eq!(s.access(section, Y, ReadWrite), 0);
        assert_eq!(states(&s, v), [Invalid, Invalid, Shared]);
        assert_eq!(states(&s, section), [Invalid, Invalid, Dirty]);
        assert_eq!(s.access(v, CPU, Read), 10);
    }

    #[test]
    fn a_read_of_a_discarded_view_saves_nothing() {
        let mut s = on_cpu();
        let (a, v) = (part(&mut s, 0..60), part(&mut s, 40..100));
        s.access(a, X, ReadWrite);
        s.discard(v);
        assert_eq!(s.access(v, Y, Read), 0);
        assert_eq!(s.state(a, X), Dirty);
        assert_eq!(s.access(v, Y, ReadWrite), 40);
    }

    #[test]
    fn discard_of_sections_leaves_nothing_to_synchronize() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let sections = [part(&mut s, 0..30), part(&mut s, 20..50), part(&mut s, 45..60)];
        for section in sections {
            s.access(section, X, ReadWrite);
        }
        for section in sections {
            s.discard(section);
        }
        assert_eq!(s.synchronize(v, Read), 0);
    }

    #[test]
    fn discard_of_a_part_is_not_written_back_with_the_rest() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let (low, high) = (part(&mut s, 0..50), part(&mut s, 50..100));
        s.access(v, X, ReadWrite);
        s.discard(low);
        assert_eq!(s.clone().remove(low) + s.clone().synchronize(v, Read), 50);
        s.discard(high);
        assert_eq!(states(&s, v), [Shared, Shared, Invalid]);
        assert_eq!(s.synchronize(v, Read), 0);
    }

    #[test]
    fn discard_reaches_hidden_marks() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let alias = whole(&mut s);
        let low = part(&mut s, 0..50);
        s.access(alias, X, ReadWrite);
        s.remove(alias);
        s.discard(low);
        assert_eq!(s.clone().synchronize(v, Read), 50);
        s.discard(v);
        assert_eq!(s.remove(low) + s.remove(v), 0);
    }

    #[test]
    fn a_discarded_view_next_to_a_dirty_one_is_valid_nowhere_after_a_write_elsewhere() {
        let mut s = on_cpu();
        let (a, v, b) = (part(&mut s, 0..40), part(&mut s, 30..70), part(&mut s, 60..100));
        s.access(a, X, ReadWrite);
        s.discard(v);
        s.access(b, Y, ReadWrite);
        assert_eq!(states(&s, v), [Invalid; 3]);
        assert_eq!(s.access(v, Y, Read), 30 + 40 + 40);
    }

    #[test]
    fn refresh_makes_copies_stale_and_drops_pending_changes() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let section = part(&mut s, 0..10);
        s.access(v, X, Read);
        s.access(section, X, Read);
        s.refresh(v);
        assert_eq!(
            (states(&s, v), states(&s, section)),
            (vec![Shared, Invalid, Invalid], vec![Shared, Invalid, Invalid])
        );
        assert_eq!(s.access(v, X, ReadWrite), ALL);
        s.refresh(v);
        assert_eq!(s.synchronize(v, Read), 0);
        assert_eq!(s.access(v, X, Read), ALL);
        s.discard(v);
        s.refresh(v);
        assert_eq!(s.access(v, Y, Read), ALL);
    }

    #[test]
    fn refresh_of_a_part_keeps_the_rest_pending() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let low = part(&mut s, 0..40);
        s.access(v, X, ReadWrite);
        s.refresh(low);
        assert_eq!(states(&s, low), [Shared, Invalid, Invalid]);
        assert_eq!(states(&s, v), [Invalid; 3]); // stale on X in part, the rest is not at home
        assert_eq!(s.clone().access(v, CPU, Read), 60);
        assert_eq!(s.clone().access(v, X, Read), 60 + ALL);
        let high = part(&mut s, 50..100);
        assert_eq!(s.access(high, X, Read), 0);
        assert_eq!(s.remove(low) + s.remove(high) + s.remove(v), 60);
    }

    /// The least that any protocol can move if it moves bytes only when an access needs them, by way of home: for each
    /// byte the set of locations that hold it. It also shows that no view of the model is called valid where it is not.
    struct Lazy {
        home: usize,
        locations: usize,
        holders: Vec<u32>,
    }

    impl Lazy {
        fn fetch(&mut self, ranges: &Ranges, to: usize) -> u64 {
            let mut moved = 0;
            for byte in ranges.iter().cloned().flatten() {
                let holders = &mut self.holders[byte];
                if *holders & 1 << to != 0 {
                    continue;
                }
                for stop in [self.home, to] {
                    moved += u64::from(*holders & 1 << stop == 0);
                    *holders |= 1 << stop;
                }
            }
            moved
        }

        fn set(&mut self, ranges: &Ranges, holders: u32) {
            for byte in ranges.iter().cloned().flatten() {
                self.holders[byte] = holders;
            }
        }
    }

    /// COH-6..9 on every pair of entries, and what the model itself relies on.
    fn check(s: &Published) {
        for (id, entry) in &s.entries {
            let dirty: Vec<usize> = (0..s.locations).filter(|&at| entry.states[at] == Dirty).collect();
            let valid = (0..s.locations).filter(|&at| entry.valid_on(at)).count();
            assert!(dirty.is_empty() || valid == 1, "COH-6, view {id}: {entry:?}");
            assert_eq!(dirty.is_empty(), entry.dirty.is_empty(), "view {id}: {entry:?}");
            assert!(contains(&entry.ranges, &entry.dirty), "view {id}: {entry:?}");
            assert!(entry.live || s.pending(entry) > 0, "hidden mark {id} has nothing to write back: {entry:?}");
            assert!(!entry.discarded || (entry.live && entry.states.iter().all(|&s| s == Shared)), "{id}: {entry:?}");
            for (other_id, other) in s.entries.iter().filter(|&(other_id, _)| other_id != id) {
                if !overlap(&entry.ranges, &other.ranges) {
                    continue;
                }
                // A discarded view is valid everywhere, whatever overlaps it; its own bytes are in no mark.
                if entry.discarded {
                    assert!(!overlap(&entry.ranges, &other.dirty), "{id} is discarded, {other_id} dirty in it");
                } else if let Some(at) = other.dirty_on() {
                    let elsewhere = (0..s.locations).any(|l| l != at && entry.valid_on(l));
                    assert!(!elsewhere, "COH-8, view {id} {entry:?} against {other_id} {other:?}");
                }
                if !entry.live {
                    assert!(!overlap(&entry.dirty, &other.dirty), "hidden mark {id} is in {other_id} too");
                }
            }
        }
    }

    /// xorshift64.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            ((self.0 >> 11) % end as u64) as usize
        }

        fn pick<T: Copy>(&mut self, from: &[T]) -> T {
            from[self.below(from.len())]
        }

        /// An interval, or a block of columns in rows of 8.
        fn ranges(&mut self, bytes: usize) -> Ranges {
            if self.below(3) > 0 {
                let start = self.below(bytes);
                return vec![start..start + 1 + self.below(bytes - start)];
            }
            let first = self.below(8);
            let last = first + 1 + self.below(8 - first);
            (0..bytes / 8).map(|row| row * 8 + first..row * 8 + last).collect()
        }
    }

    #[test]
    fn random_programs_keep_the_invariants_and_move_no_less_than_the_least() {
        const BYTES: usize = 32;
        let (mut published, mut least) = (0, 0);
        for seed in 1..=3000 {
            let mut random = Random(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
            let (home, locations) = (random.below(3), 2 + random.below(3));
            let home = home.min(locations - 1);
            let mut s = Published::new(BYTES, home, locations);
            let mut lazy = Lazy { home, locations, holders: vec![1 << home; BYTES] };
            let mut views: Vec<(View, Ranges)> = Vec::new();
            let (mut upper, mut lower) = (0, 0);
            let mut program = Vec::new();
            let mut steps = 0;
            // At the end every view goes, so that what is pending counts.
            while steps < 60 || !views.is_empty() {
                steps += 1;
                let what = if steps >= 60 { 9 } else { random.below(10) };
                if views.is_empty() || (what < 2 && views.len() < 8) {
                    let ranges = if random.below(4) == 0 && !views.is_empty() {
                        views[0].1.clone()
                    } else {
                        random.ranges(BYTES)
                    };
                    program.push(format!("add {ranges:?}"));
                    views.push((s.add(ranges.clone()), ranges));
                } else {
                    let chosen = random.below(views.len());
                    let (view, ranges) = views[chosen].clone();
                    match what {
                        0..=6 => {
                            let (at, kind) =
                                (random.below(locations), random.pick(&[Read, Read, ReadWrite, ReadWrite, Write]));
                            program.push(format!("{kind:?} {view} on {at}"));
                            let saved: u64 = s.overlapping(&ranges).iter().map(|&id| s.pending(s.entry(id))).sum();
                            let moved = s.access(view, at, kind);
                            assert!(moved <= saved + size(&ranges), "COH-2, seed {seed}: {program:#?}");
                            assert!(s.valid(view, at), "seed {seed}: {program:#?}");
                            assert_eq!(s.clone().access(view, at, kind), 0, "COH-10, seed {seed}: {program:#?}");
                            upper += moved;
                            if kind != Write {
                                lower += lazy.fetch(&ranges, at);
                            }
                            if kind != Read {
                                lazy.set(&ranges, 1 << at);
                            }
                        }
                        7 => {
                            program.push(format!("discard {view}"));
                            s.discard(view);
                            lazy.set(&ranges, (1 << lazy.locations) - 1);
                        }
                        8 => {
                            program.push(format!("refresh {view}"));
                            s.refresh(view);
                            lazy.set(&ranges, 1 << home);
                        }
                        _ => {
                            program.push(format!("remove {view}"));
                            upper += s.remove(view);
                            views.swap_remove(chosen);
                            if views.is_empty() {
                                lower += lazy.fetch(&vec![0..BYTES], home);
                                lazy.set(&vec![0..BYTES], 1 << home);
                            }
                        }
                    }
                }
                check(&s);
                assert!(lower <= upper, "{lower} > {upper}, seed {seed}: {program:#?}");
            }
            published += upper;
            least += lower;
        }
        println!("published {published}, least {least}");
        assert!(least < published);
    }
}
