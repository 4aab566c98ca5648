//! The directory of a data source. It knows which locations hold which bytes, which bytes an access must move, and which locations hold these
//! bytes afterwards.

use super::intervals::Intervals;
use super::locations::{Location, LocationSet, LossId, MemoryId};
use crate::error::Result;
use crate::geometry::region::Region;
use crate::grow::Grow;
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes to be moved from one location to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The bytes, in the data source.
    pub region: Region,
    /// A location that holds the bytes.
    pub from: Location,
    /// The location to which the bytes are moved.
    pub to: Location,
}

/// The memory that a location uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LocationMemory {
    id: MemoryId,
    /// True if the host addresses the memory.
    is_host: bool,
    /// True if the location is an accelerator_view.
    is_accelerator: bool,
}

/// The directory of one data source: the locations that hold its bytes.
#[derive(Debug, Clone)]
pub struct Directory {
    holders: Intervals<LocationSet>,
    memories: Vec<LocationMemory>,
    epoch: u64,
    /// True if bytes may be lost.
    has_losses: bool,
}

impl Directory {
    /// The directory of a data source of `bytes` bytes (at least 1) that are valid at [`Location::HOME`]. `home_is_host`: the host addresses the
    /// memory of this location.
    pub fn new(bytes: u64, home_is_host: bool) -> Self {
        Self::with(bytes, home_is_host, LocationSet::only(Location::HOME))
    }

    /// The directory of a data source that nobody has written yet (docs/spec/array-views.md#views-without-a-data-source).
    pub fn unwritten(bytes: u64, home_is_host: bool) -> Self {
        Self::with(bytes, home_is_host, LocationSet::default())
    }

    fn with(bytes: u64, home_is_host: bool, holders: LocationSet) -> Self {
        Self {
            holders: Intervals::new(bytes, holders),
            memories: vec![LocationMemory { id: MemoryId::Home, is_host: home_is_host, is_accelerator: false }],
            epoch: 1,
            has_losses: false,
        }
    }

    /// Adds the location of an accelerator_view that uses `memory`. `is_host`: the host addresses this memory.
    pub fn add(&mut self, memory: MemoryId, is_host: bool) -> Location {
        self.push(LocationMemory { id: memory, is_host, is_accelerator: true })
    }

    /// Adds the location of the host, for a data source that does not live on the host.
    pub fn add_host(&mut self, memory: MemoryId) -> Location {
        self.push(LocationMemory { id: memory, is_host: true, is_accelerator: false })
    }

    fn push(&mut self, memory: LocationMemory) -> Location {
        self.memories.push(memory);
        Location(self.memories.len() as u32 - 1)
    }

    /// A number that changes whenever the holders of any byte change.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Bytes of the source.
    pub fn bytes(&self) -> u64 {
        self.holders.len()
    }

    /// The number of segments, each a range of bytes with the same holders: 1 if all bytes have the same holders.
    pub fn segments(&self) -> usize {
        self.holders.segments()
    }

    /// Calls `each` for each piece of the region whose bytes have the same holders; stops when `each` returns false.
    /// Iterates over the runs of the region and the segments of the directory in parallel. If many segments lie between
    /// two runs, a search skips them.
    fn visit<'a>(&'a self, region: &Region, mut each: impl FnMut(Range<u64>, &'a LocationSet) -> bool) -> bool {
        let end = region.hull().end;
        let mut runs = region.ranges();
        let mut run = runs.next();
        while let Some(start) = run.as_ref().map(|r| r.start) {
            let mut passed = 0;
            for (segment, set) in self.holders.iter(start..end) {
                passed += 1;
                while let Some(r) = run.as_ref().filter(|r| r.start < segment.end) {
                    passed = 0;
                    if !each(r.start.max(segment.start)..r.end.min(segment.end), set) {
                        return false;
                    }
                    if r.end > segment.end {
                        break;
                    }
                    run = runs.next();
                }
                if passed > HULL_SEGMENTS {
                    break;
                }
            }
        }
        true
    }

    /// True if `holds` is true for all bytes of the region. First tries all segments under the hull of the region, if they are few.
    fn all(&self, region: &Region, holds: impl Fn(&LocationSet) -> bool) -> bool {
        let mut few = self.holders.iter(region.hull()).take(HULL_SEGMENTS + 1);
        let mut seen = 0;
        if few.by_ref().inspect(|_| seen += 1).all(|(_, set)| holds(set)) && seen <= HULL_SEGMENTS {
            return true;
        }
        self.visit(region, |_, set| holds(set))
    }

    /// Like [`Self::visit`], but without the ranges. Calls `each` only once if all bytes under the hull of the region have the same holders.
    fn visit_holders<'a>(&'a self, region: &Region, mut each: impl FnMut(&'a LocationSet) -> bool) -> bool {
        let mut under = self.holders.iter(region.hull());
        match (under.next(), under.next()) {
            (Some((_, set)), None) => each(set),
            _ => self.visit(region, |_, set| each(set)),
        }
    }

    /// True if all bytes of the region that have a holder are in the memory of `at`.
    pub fn is_in_memory_of(&self, region: &Region, at: Location) -> bool {
        let memory = self.memories[at.index()].id;
        self.all(region, |set| set.is_empty() || set.iter().any(|l| self.memories[l.index()].id == memory))
    }

    /// True if an access that reads at `at` moves nothing (COH-10, COH-11).
    pub fn is_valid(&self, region: &Region, at: Location) -> bool {
        self.all(region, |set| set.is_worthless() || set.contains(at))
    }

    /// True if all bytes are valid at `at` and nowhere else.
    pub fn is_exclusive(&self, region: &Region, at: Location) -> bool {
        self.all(region, |set| set.is_only(at))
    }

    /// True if all contents are worthless.
    pub fn is_discarded(&self, region: &Region) -> bool {
        self.all(region, LocationSet::is_worthless)
    }

    /// The locations where all bytes of the region that are not worthless are valid; `None` if all are worthless.
    pub fn valid_at(&self, region: &Region) -> Option<LocationSet> {
        let mut common: Option<LocationSet> = None;
        self.visit_holders(region, |set| {
            if !set.is_worthless() {
                match &mut common {
                    None => common = Some(set.clone()),
                    Some(c) => c.intersect(set),
                }
            }
            common.as_ref().is_none_or(|c| !c.is_empty())
        });
        common
    }

    /// How many bytes of the region are valid at `at`, and how many are worthless.
    pub fn count(&self, region: &Region, at: Location) -> (u64, u64) {
        let (mut valid, mut worthless) = (0, 0);
        self.visit(region, |piece, set| {
            let bytes = piece.end - piece.start;
            if set.is_worthless() {
                worthless += bytes;
            } else if set.contains(at) {
                valid += bytes;
            }
            true
        });
        (valid, worthless)
    }

    /// Reserves room for the changes that an operation on the region makes. Call it while the operation can still fail: the
    /// changes themselves cannot fail.
    pub fn make_room(&mut self, region: &Region) -> Result<()> {
        // A run of bytes adds at most two segments when it arrives at a location, and two when it is written.
        self.holders.make_room(region.hull(), region.runs().saturating_mul(4))
    }

    /// The moves, in order, that make the region readable at `at`.
    pub fn missing(&self, region: &Region, at: Location) -> Result<Vec<Move>> {
        if self.is_valid(region, at) {
            return Ok(Vec::new());
        }
        // The common case: the whole region moves from one location.
        let mut known: Option<(&LocationSet, Option<Location>)> = None;
        let alike = self.visit_holders(region, |set| match known {
            Some((other, from)) => other == set || self.nearest(set, at) == from,
            None => {
                known = Some((set, self.nearest(set, at)));
                true
            }
        });
        if alike {
            let from = known.and_then(|(_, from)| from);
            let whole = |from| self.route(vec![Move { region: region.clone(), from, to: at }]);
            return from.map_or_else(|| Ok(Vec::new()), whole);
        }
        let mut moves: Vec<Move> = Vec::new();
        let mut room = Ok(());
        self.visit(region, |piece, set| {
            if let Some(from) = self.nearest(set, at) {
                match moves.last_mut() {
                    Some(last) if last.from == from && last.region.hull().end == piece.start => {
                        last.region.run += piece.end - piece.start;
                    }
                    _ => {
                        room = moves.make_room(1);
                        if room.is_err() {
                            return false;
                        }
                        moves.push(Move { region: Region::linear(piece), from, to: at });
                    }
                }
            }
            true
        });
        room?;
        self.route(fold(moves)?)
    }

    /// The holder in `set` from which bytes reach `at` with the fewest hops; `None` if nothing has to be moved.
    fn nearest(&self, set: &LocationSet, at: Location) -> Option<Location> {
        if set.is_empty() || set.contains(at) {
            return None;
        }
        let to = self.memories[at.index()];
        let hops = |l: &Location| {
            let from = self.memories[l.index()];
            match (from.id == to.id, from.is_host || to.is_host) {
                (true, _) => 0,
                (_, true) => 1,
                _ => 2,
            }
        };
        set.iter().min_by_key(hops).filter(|l| hops(l) > 0)
    }

    /// Routes transfers between two accelerators through home. Home is valid afterwards (COH-19).
    fn route(&self, moves: Vec<Move>) -> Result<Vec<Move>> {
        let is_away = |l: Location| {
            let memory = &self.memories[l.index()];
            memory.is_accelerator && memory.id != MemoryId::Home
        };
        let by_home = |s: &Move| is_away(s.from) && is_away(s.to);
        if !moves.iter().any(by_home) {
            return Ok(moves);
        }
        let mut routed = Vec::new();
        routed.make_room(2 * moves.len())?;
        for one in moves {
            if by_home(&one) {
                routed.push(Move { to: Location::HOME, ..one.clone() });
                routed.push(Move { from: Location::HOME, ..one });
            } else {
                routed.push(one);
            }
        }
        Ok(routed)
    }

    fn update(&mut self, region: &Region, f: impl Fn(&LocationSet) -> LocationSet) {
        let changed = self.holders.update(region.ranges(), f);
        self.epoch += u64::from(changed);
    }

    /// Records that `at` also holds the bytes: they arrived, or the memory of `at` had them already. Worthless bytes stay worthless.
    pub fn holds(&mut self, region: &Region, at: Location) {
        if self.is_valid(region, at) {
            return;
        }
        self.update(region, |set| {
            let mut set = set.clone();
            if !set.is_empty() {
                set.insert(at);
            }
            set
        });
    }

    /// Records that the bytes are lost at `at` and at all locations of the same memory. Bytes that no other location holds are
    /// lost altogether; `id` identifies the loss. True if that memory held any of the bytes.
    pub fn lose(&mut self, region: &Region, at: Location, id: LossId) -> bool {
        let memories = &self.memories;
        let memory = memories[at.index()].id;
        let changed = self.holders.update(region.ranges(), |set| {
            if set.is_empty() {
                return set.clone();
            }
            let left = set.filter(|l| memories[l.index()].id != memory);
            if left.is_empty() { LocationSet::lost(id) } else { left }
        });
        self.epoch += u64::from(changed);
        self.has_losses |= changed;
        changed
    }

    /// The first bytes of the region that are lost, and why.
    pub fn loss(&self, region: &Region) -> Option<(Range<u64>, LossId)> {
        let mut found = None;
        if self.has_losses {
            self.visit(region, |piece, set| {
                found = set.loss().map(|id| (piece, id));
                found.is_none()
            });
        }
        found
    }

    /// All bytes that are lost, and why.
    pub fn losses(&self) -> impl Iterator<Item = (Range<u64>, LossId)> {
        let all = self.has_losses.then(|| self.holders.iter(0..self.holders.len()));
        all.into_iter().flatten().filter_map(|(range, set)| Some((range, set.loss()?)))
    }

    /// Records that the bytes were written at `at`: they are valid only there (COH-6).
    pub fn written(&mut self, region: &Region, at: Location) {
        if !self.is_exclusive(region, at) {
            self.update(region, |_| LocationSet::only(at));
        }
    }

    /// Records that the contents are worthless (docs/spec/array-views.md#discard).
    pub fn discard(&mut self, region: &Region) {
        if !self.is_discarded(region) {
            self.update(region, |_| LocationSet::default());
        }
    }

    /// Records that the program changed the bytes at home directly: the bytes at all other locations are stale (docs/spec/array-views.md#refresh).
    pub fn refresh(&mut self, region: &Region) {
        self.written(region, Location::HOME);
    }
}

/// The maximum number of segments under the hull of a region that are checked before the region's own runs, or passed between two runs.
const HULL_SEGMENTS: usize = 8;

/// Joins moves of the same shape at a constant distance into strided moves, until no more moves can be joined.
fn fold(mut moves: Vec<Move>) -> Result<Vec<Move>> {
    loop {
        let before = moves.len();
        let mut folded: Vec<Move> = Vec::new();
        folded.make_room(before)?;
        let mut at = 0;
        while at < moves.len() {
            let first = &moves[at];
            let alike = |s: &Move| {
                s.from == first.from && s.region.run == first.region.run && s.region.dims == first.region.dims
            };
            let stride = moves.get(at + 1).filter(|s| alike(s)).map(|s| s.region.start - first.region.start);
            let mut count = 1;
            if let Some(stride) = stride {
                let fits =
                    |(n, s): (usize, &Move)| alike(s) && s.region.start == first.region.start + n as u64 * stride;
                count = 1 + (1..).zip(&moves[at + 1..]).take_while(|&p| fits(p)).count();
            }
            let mut one = first.clone();
            if let Some(stride) = stride {
                let mut dims: SmallVec<[(u64, u64); 3]> = SmallVec::from_iter([(count as u64, stride)]);
                dims.extend(one.region.dims);
                one.region.dims = dims;
            }
            folded.push(one);
            at += count;
        }
        if folded.len() == before {
            return Ok(folded);
        }
        moves = folded;
    }
}
