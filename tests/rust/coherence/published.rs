//! A model of the published C++ AMP coherence protocol: the states of views and the number of moved bytes, without data or devices.
//!
//! Tests compare the library's directory with this model: summed from the start of a program, the directory never moves
//! more bytes than the model. A single step may move fewer bytes in the model, because the model wrote views back earlier.
//! docs/spec/coherence.md has the rules and "the table" (of state changes).
//!
//! If the published text is ambiguous, the model takes the reading that moves fewer bytes, and a comment begins with "Open:".

use std::collections::BTreeMap;
use std::ops::Range;

/// Identifies a view of a [`Published`] source. Numbers are not reused.
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
    /// The copy at the location, if any, is stale.
    Invalid,
    /// Valid at the location, with nothing to write back.
    Shared,
    /// Written at the location and not yet written back. Write-only counts as read-write (COH-5).
    Dirty,
}

/// Sorted, disjoint byte ranges, none of them empty.
type Ranges = Vec<Range<usize>>;

/// An entry of the directory (COH-4): a live view, or a hidden mark. A hidden mark is the dirty state that a destroyed view
/// left behind (DST-2).
#[derive(Clone, Debug)]
struct Entry {
    ranges: Ranges,
    /// The states, indexed by location.
    states: Vec<State>,
    /// The bytes that a write-back moves: all of the view, except those discarded since the write. Empty if not dirty.
    dirty: Ranges,
    /// True if the contents are discarded: the view is shared everywhere until the first write of an overlapping view.
    discarded: bool,
    /// False for a hidden mark.
    live: bool,
}

impl Entry {
    /// The location where the entry is dirty. An entry is dirty at one location at most (COH-6).
    fn dirty_on(&self) -> Option<usize> {
        self.states.iter().position(|&state| state == State::Dirty)
    }

    fn valid_on(&self, location: usize) -> bool {
        self.states[location] != State::Invalid
    }
}

/// One data source with a state for each view, as the posts on C++ AMP (docs/posts.md) describe it.
#[derive(Clone, Debug)]
pub struct Published {
    bytes: usize,
    home: usize,
    locations: usize,
    next: View,
    entries: BTreeMap<View, Entry>,
}

impl Published {
    /// A source of `bytes` bytes. `locations` is the number of locations, which are numbered from 0; `home` is one of them.
    pub fn new(bytes: usize, home: usize, locations: usize) -> Self {
        assert!(home < locations, "home {home} is not one of {locations} locations");
        Self { bytes, home, locations, next: 0, entries: BTreeMap::new() }
    }

    /// Adds a view over a set of byte ranges (sorted, disjoint). This is no access (AV-20).
    ///
    /// Open: the posts name no initial state. A new view is valid where a view that contains it is valid, and stays valid when
    /// that view is removed. A new view is also valid at home unless an overlapping view is dirty elsewhere (COH-8). A new view
    /// inside a discarded view is discarded, like a section.
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
        if self.home_may_be_valid(&ranges) {
            states[self.home] = State::Shared;
        }
        self.insert(Entry { ranges, states, dirty: Ranges::new(), discarded, live: true })
    }

    /// Accesses all of `view` on `location` (AV-22). Returns the number of bytes moved, counted for each hop (X -> home -> Y is two
    /// hops).
    pub fn access(&mut self, view: View, location: usize, kind: Use) -> u64 {
        assert!(location < self.locations, "no location {location}");
        assert!(self.entry(view).live, "view {view} was removed");
        if kind == Use::Write {
            // The table has one row for "discarded, copy destination, access_type_write", so a write-only access is a
            // discard and a write. Open: the row does not say whether the write-back of a partly covered dirty view includes
            // the part that is about to be overwritten. Here it does not.
            self.discard(view);
        }
        let moved = if self.entry(view).discarded {
            if kind == Use::Read {
                return 0;
            }
            // A discarded view is valid everywhere, so COH-12 and COH-13 move nothing for it. Dirty views that it covers partly
            // are written back. Open: views that are dirty on this location may stay dirty (COH-8), because no bytes from home
            // overwrite them.
            self.write_back(view, Some(location))
        } else if self.valid(view, location) {
            0 // COH-10, COH-11
        } else {
            // COH-12. Views that are dirty on `location` itself are included, because COH-13 overwrites them with home's bytes.
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

    /// `discard_data`: the bytes that `view` covers become worthless in every view (DST-3). Moves nothing.
    pub fn discard(&mut self, view: View) {
        assert!(self.entry(view).live, "view {view} was removed");
        let ranges = self.entry(view).ranges.clone();
        let mut cleaned = Vec::new();
        for id in self.overlapping(&ranges) {
            let all_shared = vec![State::Shared; self.locations];
            let entry = self.entry_mut(id);
            if entry.live && contains(&ranges, &entry.ranges) {
                // The view itself, its sections and its projections.
                entry.discarded = true;
                entry.states = all_shared;
                entry.dirty.clear();
            } else if let Some(at) = entry.dirty_on() {
                // Open: the table covers only the discarded view. By DST-3, a larger dirty view does not write these bytes back.
                entry.dirty = subtract(&entry.dirty, &ranges);
                if entry.dirty.is_empty() {
                    entry.states[at] = State::Shared;
                    cleaned.push(id);
                }
            }
        }
        self.clean_up(&cleaned);
    }

    /// `refresh`: home has new contents. Moves nothing (the table).
    ///
    /// A write at home (AV-19) would write back the dirty views that `view` covers partly, but the table says that nothing moves.
    /// Therefore the dirty bytes outside of `view` become a hidden mark. The partly covered views become invalid everywhere, because
    /// one state per view cannot express that a copy is partly stale.
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
            // The first later write at any location ends the discard. AV-19 counts a refresh as a write.
            entry.discarded = false;
            let dirty = subtract(&std::mem::take(&mut entry.dirty), &ranges);
            if let Some(at) = pending.filter(|_| !dirty.is_empty()) {
                states[at] = State::Dirty;
                let ranges = subtract(&entry.ranges, &ranges);
                marks.push(self.insert(Entry { ranges, states, dirty, discarded: false, live: false }));
            }
        }
        self.clean_up(&overlapping);
        for mark in marks {
            if self.entries.contains_key(&mark) {
                self.make_hidden_mark(mark);
            }
        }
    }

    /// Removes a view. The last view of the source writes dirty data back to home (DST-1); any other view moves nothing (DST-2).
    /// Returns the number of bytes moved.
    pub fn remove(&mut self, view: View) -> u64 {
        assert!(self.entry(view).live, "view {view} was removed");
        self.entry_mut(view).live = false;
        if !self.entries.values().any(|entry| entry.live) {
            let moved = self.entries.values().map(|entry| self.pending(entry)).sum();
            self.entries.clear();
            return moved;
        }
        if self.pending(self.entry(view)) > 0 {
            self.make_hidden_mark(view);
        } else {
            self.entries.remove(&view); // COH-17
        }
        0
    }

    /// `synchronize(access_type)`: an access at home (AV-18). Returns the bytes moved.
    pub fn synchronize(&mut self, view: View, kind: Use) -> u64 {
        self.access(view, self.home, kind)
    }

    /// The stored state of `view` on `location`. By COH-11, the view may be valid on `location` although this state is invalid.
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

    /// The entries that have at least one byte in common with `ranges` (AV-21).
    fn overlapping(&self, ranges: &Ranges) -> Vec<View> {
        self.entries.iter().filter(|(_, entry)| overlap(&entry.ranges, ranges)).map(|(&id, _)| id).collect()
    }

    /// The number of bytes of `entry` to write back to home.
    fn pending(&self, entry: &Entry) -> u64 {
        entry.dirty_on().filter(|&at| at != self.home).map_or(0, |_| size(&entry.dirty))
    }

    /// True if `view` is valid on `location` by COH-10 or COH-11. Open: a hidden mark is not a live view, but its bytes are valid, so
    /// COH-11 also applies to hidden marks here.
    fn valid(&self, view: View, location: usize) -> bool {
        let ranges = &self.entry(view).ranges;
        self.entry(view).valid_on(location)
            || self.entries.values().any(|outer| outer.valid_on(location) && contains(&outer.ranges, ranges))
    }

    /// True if COH-8 allows a state other than invalid at home: no overlapping view is dirty elsewhere.
    fn home_may_be_valid(&self, ranges: &Ranges) -> bool {
        self.dirty_locations(ranges).all(|at| at == self.home)
    }

    /// The locations where overlapping views are dirty. COH-8 allows a state other than invalid only at these locations.
    fn dirty_locations<'a>(&'a self, ranges: &'a Ranges) -> impl Iterator<Item = usize> + 'a {
        self.entries.values().filter(|entry| overlap(&entry.ranges, ranges)).filter_map(Entry::dirty_on)
    }

    /// COH-12: writes every overlapping dirty view back to home, whole and separately. Two dirty views with a common part move that
    /// part twice, because each view has its own state. Views that are dirty on `except` stay dirty. Returns the number of bytes moved.
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
        self.clean_up(&written);
        moved
    }

    /// Updates entries that are no longer dirty: removes hidden marks, and makes views shared at home too (COH-12).
    ///
    /// COH-12 can contradict COH-8: a view that was written back may overlap a view that stays dirty because the accessed view
    /// does not overlap it. Then COH-8 wins: the view is not valid at home.
    fn clean_up(&mut self, clean: &[View]) {
        for &id in clean {
            if !self.entry(id).live {
                self.entries.remove(&id);
            } else if !self.entry(id).discarded && self.home_may_be_valid(&self.entry(id).ranges) {
                let home = self.home;
                self.entry_mut(id).states[home] = State::Shared;
            }
        }
    }

    /// Records a write of `view` on `location`: `view` becomes dirty there, and all overlapping views become invalid elsewhere.
    fn written(&mut self, view: View, location: usize) {
        let ranges = self.entry(view).ranges.clone();
        for id in self.overlapping(&ranges) {
            let entry = self.entry_mut(id);
            entry.discarded = false; // the first later write at any location ends a discard
            for (at, state) in entry.states.iter_mut().enumerate().filter(|&(at, _)| at != location) {
                debug_assert!(*state != State::Dirty, "view {id} is dirty on {at} and was not written back");
                *state = State::Invalid;
            }
            if !entry.live {
                // Open: a hidden mark belongs to no view, so it keeps only bytes that no live view writes back.
                entry.dirty = subtract(&entry.dirty, &ranges);
                if entry.dirty.is_empty() {
                    self.entries.remove(&id);
                }
            }
        }
        let entry = self.entry_mut(view);
        entry.states[location] = State::Dirty;
        entry.dirty = ranges.clone();
        // A view that was discarded until now may also overlap a view that is dirty elsewhere. By COH-8, the discarded view then
        // becomes invalid everywhere.
        for id in self.overlapping(&ranges) {
            if self.dirty_locations(&self.entry(id).ranges).any(|at| at != location) {
                self.entry_mut(id).states[location] = State::Invalid;
            }
        }
    }

    /// Turns the entry `hidden` into a hidden mark whose dirty bytes are dirty in no other entry.
    fn make_hidden_mark(&mut self, hidden: View) {
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

    /// A source of 100 bytes in host memory, with two accelerator_views.
    fn on_cpu() -> Published {
        Published::new(100, CPU, 3)
    }

    /// A source of 100 bytes: an array on X.
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
        assert_eq!(states(&s, v), [Shared, Shared, Invalid]); // SEL-27: both copies stay valid
        assert_eq!(s.access(v, CPU, Read), 0);
    }

    #[test]
    fn av_3_second_kernel_on_the_same_target_moves_nothing() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        assert_eq!(s.access(v, X, ReadWrite), ALL);
        assert_eq!(s.access(v, X, ReadWrite), 0);
        assert_eq!(s.access(v, X, Read), 0);
        assert_eq!(states(&s, v), [Invalid, Dirty, Invalid]); // a read keeps the view dirty
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
        // `read_write` lets the program write home memory. `write` does so without fetching the old contents.
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
    fn a_new_view_stays_valid_after_the_first_is_removed() {
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
        assert_eq!(s.remove(v), 0); // dirty at home: nothing to write back
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
        assert_eq!(s.remove(v), 0); // the hidden mark was already written back
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
    fn a_hidden_mark_has_only_bytes_that_no_live_view_writes_back() {
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
        assert_eq!(s.access(v, X, Read), ALL); // COH-11 needs a single view that contains `v`
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
    fn coh_12_each_overlapping_dirty_view_is_written_back_whole() {
        let mut s = on_cpu();
        let v = whole(&mut s);
        let (a, b) = (part(&mut s, 0..60), part(&mut s, 40..100));
        assert_eq!(s.access(a, X, ReadWrite), 60);
        assert_eq!(s.access(b, X, ReadWrite), 60 + 60); // `a` is written back, then `b` is uploaded
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
        assert_eq!(s.access(v, X, Read), 10); // the target is home, so only the write-back moves bytes
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
        let new_view = whole(&mut s);
        assert_eq!(s.access(new_view, X, Read), ALL);
        // The same holds after the last view was destroyed.
        let mut s = on_cpu();
        let v = whole(&mut s);
        s.access(v, X, ReadWrite);
        s.remove(v);
        let new_view = whole(&mut s);
        assert_eq!(s.access(new_view, X, Read), ALL);
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
    fn write_only_access_writes_back_partly_covered_views() {
        let mut s = on_cpu();
        let _keep = whole(&mut s);
        let (a, inside, b) = (part(&mut s, 0..60), part(&mut s, 70..80), part(&mut s, 40..100));
        s.access(a, X, ReadWrite);
        s.access(inside, X, ReadWrite);
        assert_eq!(s.access(b, Y, Write), 40); // writes back the bytes of `a` outside of `b`, and none of `inside`
        assert_eq!(states(&s, a), [Invalid; 3]);
        assert_eq!(states(&s, inside), [Invalid, Invalid, Shared]);
        assert_eq!(states(&s, b), [Invalid, Invalid, Dirty]);

        let mut s = on_cpu();
        let (a, b) = (part(&mut s, 0..60), part(&mut s, 40..100));
        s.access(a, X, ReadWrite);
        assert_eq!(s.access(b, X, Write), 0); // two overlapping views may be dirty at the same location
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
        assert_eq!(states(&s, section), [Shared; 3]); // sections of a discarded view are discarded too
        let late = part(&mut s, 0..20);
        assert_eq!(states(&s, late), [Shared; 3]);
        assert_eq!(s.access(v, Y, Read) + s.access(late, CPU, Read) + s.synchronize(v, Read), 0);
        // The first write ends the discard.
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
        assert_eq!(states(&s, v), [Invalid; 3]); // partly stale on X, and home lacks the other bytes
        assert_eq!(s.clone().access(v, CPU, Read), 60);
        assert_eq!(s.clone().access(v, X, Read), 60 + ALL);
        let high = part(&mut s, 50..100);
        assert_eq!(s.access(high, X, Read), 0);
        assert_eq!(s.remove(low) + s.remove(high) + s.remove(v), 60);
    }

    /// A lower bound for protocols that move bytes only when needed, and always by way of home. `holders` has, for each
    /// byte, the set of locations that hold it. The comparison also shows that the model calls no stale copy valid.
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

    /// Checks COH-6 to COH-9 on every pair of entries, and the model's own invariants.
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
                // A discarded view is valid everywhere, whatever overlaps it, and none of its bytes is dirty in another entry.
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

    /// The random number generator xorshift64.
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

        /// An interval, or a block of columns in rows of 8 bytes.
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
    fn random_programs_keep_the_invariants_and_the_lower_bound() {
        const BYTES: usize = 32;
        let (mut published, mut lower_bound) = (0, 0);
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
            // At the end every view is removed, so that pending write-backs count.
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
                    let index = random.below(views.len());
                    let (view, ranges) = views[index].clone();
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
                            views.swap_remove(index);
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
            lower_bound += lower;
        }
        println!("published {published}, least {lower_bound}");
        assert!(lower_bound < published);
    }
}
