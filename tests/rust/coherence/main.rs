//! Tests the directory of a data source, which records which locations (the host or accelerator_views) hold which bytes. Random programs
//! compare the directory with a model of the contents of all memories, and with the published coherence protocol.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod published;

use proptest::prelude::*;
use published::{Published, Use};
use revamp::coherence::selection::{Conflict, ViewCandidate, copy_source, dispatch_target};
use revamp::coherence::{Directory, Location, LocationSet, LossId, MemoryId};
use revamp::geometry::Region;
use std::ops::Range;

/// The memory with this number; 0 is the memory of the home location.
fn memory(number: u32) -> MemoryId {
    if number == 0 { MemoryId::Home } else { MemoryId::Block(number) }
}

fn rows(offset: u64, rows: u64, run: u64, stride: u64) -> Region {
    Region::new(offset, run, &[(rows, stride)])
}

/// A directory whose home location is the host, and one added location in each of `memories`.
fn with_devices(bytes: u64, memories: &[u32]) -> (Directory, Vec<Location>) {
    let mut d = Directory::new(bytes, true);
    let at = memories.iter().map(|&m| d.add(memory(m), m == 0)).collect();
    (d, at)
}

/// The location with this number. Home is 0; the other locations are numbered in the order in which they are added.
fn location(number: usize) -> Location {
    let (_, at) = with_devices(1, &vec![1; number]);
    at.last().copied().unwrap_or(Location::HOME)
}

#[test]
fn regions_merge_loops_and_iterate_in_order() {
    let packed = Region::new(8, 4, &[(3, 20), (5, 4)]);
    assert_eq!(packed, Region::linear(8..68));
    let block = Region::new(4, 4, &[(2, 100), (3, 20), (2, 4)]);
    assert_eq!((block.run, block.bytes(), block.runs()), (8, 48, 6));
    let starts: Vec<_> = block.ranges().map(|r| r.start).collect();
    assert_eq!(starts, [4, 24, 44, 104, 124, 144]);
    assert_eq!(block.hull(), 4..152);
}

/// Two column blocks interleave but share no element (docs/spec/array-views.md#parts-and-shapes).
#[test]
fn overlap_is_by_elements() {
    let (left, right) = (rows(0, 4, 8, 32), rows(8, 4, 8, 32));
    assert!(!left.overlaps(&right) && !right.overlaps(&left));
    assert!(left.overlaps(&rows(4, 4, 8, 32)));
    assert!(!left.overlaps(&Region::linear(200..300)));
}

#[test]
fn writes_of_one_block_leave_the_other_valid() {
    let (mut d, at) = with_devices(128, &[1]);
    let (left, right) = (rows(0, 4, 8, 32), rows(8, 4, 8, 32));
    d.written(&left, at[0]);
    assert!(!d.is_valid(&left, Location::HOME));
    assert!(d.is_valid(&right, Location::HOME));
    let steps = d.missing(&Region::linear(0..128), Location::HOME).unwrap();
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert_eq!(steps[0].region, left);
    assert_eq!(d.missing(&left, at[0]).unwrap(), []);
}

#[test]
fn coh_19_between_devices_bytes_pass_home_on_the_host() {
    let (mut d, at) = with_devices(64, &[1, 2]);
    let all = Region::linear(0..64);
    d.written(&all, at[0]);
    let steps = d.missing(&all, at[1]).unwrap();
    assert_eq!(
        steps.iter().map(|s| (s.from, s.to)).collect::<Vec<_>>(),
        [(at[0], Location::HOME), (Location::HOME, at[1])]
    );
}

/// Each of two devices writes its own half of the rows, and reads one row of the other half (the halo). Steps alternate between two
/// fields, as in examples-amp/wave. The directory moves only halo rows, but the published protocol moves whole halves.
#[test]
fn coh_19_a_halo_moves_its_rows_alone() {
    const ROW: u64 = 16;
    const ROWS: u64 = 32;
    let rows = |from: u64, to: u64| from * ROW..to * ROW;
    let halves = [rows(0, ROWS / 2), rows(ROWS / 2, ROWS)];
    let with_halo = [rows(0, ROWS / 2 + 1), rows(ROWS / 2 - 1, ROWS)];
    let mut fields = [0; 2].map(|_| with_devices(ROWS * ROW, &[1, 2]));
    let mut published = [0; 2].map(|_| Published::new((ROWS * ROW) as usize, 0, 3));
    let view = |range: &Range<u64>| std::iter::once(range.start as usize..range.end as usize).collect();
    let views = [0, 1].map(|f: usize| {
        [0, 1].map(|n: usize| (published[f].add(view(&halves[n])), published[f].add(view(&with_halo[n]))))
    });
    let mut step = |now: usize| {
        let (mut moved, mut by_protocol) = (0, 0);
        for device in 0..2 {
            for (field, range) in [(now, &with_halo[device]), (1 - now, &halves[device])] {
                let (directory, at) = &mut fields[field];
                let region = Region::linear(range.clone());
                moved += directory.missing(&region, at[device]).unwrap().iter().map(|s| s.region.bytes()).sum::<u64>();
                directory.holds(&region, at[device]);
            }
            by_protocol += published[now].access(views[now][device].1, device + 1, Use::Read);
            by_protocol += published[1 - now].access(views[1 - now][device].0, device + 1, Use::ReadWrite);
            let (directory, at) = &mut fields[1 - now];
            directory.written(&Region::linear(halves[device].clone()), at[device]);
        }
        (moved, by_protocol)
    };
    let moved: Vec<_> = (0..20).map(|n| step(n % 2)).collect();
    // Each of the two halo rows moves from one device to home, and from home to the other device.
    assert!(moved[4..].iter().all(|&(by_directory, _)| by_directory == 2 * 2 * ROW), "{moved:?}");
    // The protocol writes each half back to home, then uploads a half with its halo row to each device.
    assert!(moved[4..].iter().all(|&(_, protocol)| protocol == 2 * (ROWS / 2 + ROWS / 2 + 1) * ROW), "{moved:?}");
}

#[test]
fn locations_of_one_memory_move_nothing() {
    let (mut d, at) = with_devices(64, &[1, 1]);
    let all = Region::linear(0..64);
    d.written(&all, at[0]);
    assert!(!d.is_valid(&all, at[1]));
    assert_eq!(d.missing(&all, at[1]).unwrap(), []);
    d.holds(&all, at[1]);
    assert!(d.is_valid(&all, at[0]) && d.is_valid(&all, at[1]));
    // COH-6: after a write, only the writer is valid.
    d.written(&all, at[1]);
    assert!(!d.is_valid(&all, at[0]));
}

#[test]
fn worthless_bytes_never_move_until_they_are_written() {
    let (mut d, at) = with_devices(64, &[1]);
    let (all, part) = (Region::linear(0..64), Region::linear(16..32));
    d.written(&all, at[0]);
    d.discard(&part);
    assert!(d.is_discarded(&part) && !d.is_discarded(&all));
    let moved: u64 = d.missing(&all, Location::HOME).unwrap().iter().map(|s| s.region.bytes()).sum();
    assert_eq!(moved, 48);
    d.written(&Region::linear(16..20), at[0]);
    assert_eq!(d.missing(&part, Location::HOME).unwrap().iter().map(|s| s.region.bytes()).sum::<u64>(), 4);
    assert_eq!(d.count(&all, at[0]), (52, 12));
}

#[test]
fn the_epoch_changes_only_with_the_directory() {
    let (mut d, at) = with_devices(64, &[1]);
    let all = Region::linear(0..64);
    let start = d.epoch();
    d.holds(&all, at[0]);
    let shared = d.epoch();
    assert!(shared > start);
    d.holds(&all, at[0]);
    assert_eq!(d.epoch(), shared);
    d.written(&all, at[0]);
    let written = d.epoch();
    assert!(written > shared);
    d.written(&all, at[0]);
    assert_eq!(d.epoch(), written);
}

#[test]
fn more_than_64_locations() {
    let (mut d, at) = with_devices(64, &(1..200).collect::<Vec<_>>());
    let all = Region::linear(0..64);
    for &l in &at {
        d.holds(&all, l);
    }
    assert!(at.iter().all(|&l| d.is_valid(&all, l)));
    d.written(&all, at[150]);
    assert!(d.is_exclusive(&all, at[150]) && !d.is_valid(&all, at[3]));
    assert_eq!(d.valid_at(&all), Some(LocationSet::only(at[150])));
}

#[test]
fn sel_4_5_6_tied_objects_decide() {
    let none = || std::iter::empty::<ViewCandidate<u32>>();
    assert_eq!(dispatch_target(Some(3), &[3, 3], none(), || 9), Ok(3));
    assert_eq!(dispatch_target(Some(3), &[3, 4], none(), || 9), Err(Conflict::NotOnRequestedView(1)));
    assert_eq!(dispatch_target(None, &[4, 4], none(), || 9), Ok(4));
    assert_eq!(dispatch_target(None, &[4, 5], none(), || 9), Err(Conflict::OnDifferentViews(1)));
    assert_eq!(dispatch_target(None, &[], none(), || 9), Ok(9));
}

#[test]
fn sel_9_to_14_the_set_is_filtered_in_order() {
    let c =
        |view, holds_all, on_default_accelerator, fits| ViewCandidate { view, holds_all, on_default_accelerator, fits };
    let choose = |set: &[ViewCandidate<u32>]| dispatch_target(None, &[], set.iter().copied(), || 9).unwrap();
    assert_eq!(choose(&[c(1, true, true, true)]), 1);
    assert_eq!(choose(&[c(1, true, true, true), c(9, true, true, true)]), 9, "SEL-13");
    assert_eq!(choose(&[c(1, true, false, true)]), 9, "SEL-11, SEL-19");
    assert_eq!(choose(&[c(1, true, true, false)]), 9, "SEL-12");
    assert_eq!(choose(&[c(1, false, true, true)]), 9, "SEL-9, SEL-18");
}

#[test]
fn sel_22_23_24_a_copy_reads_the_nearest_valid_copy() {
    let at = [location(0), location(1), location(2)];
    let mut valid = LocationSet::only(at[0]);
    valid.insert(at[1]);
    assert_eq!(copy_source(Some(&valid), Some(at[1]), Some(at[0])), Some(at[1]), "SEL-22, SEL-25");
    assert_eq!(copy_source(Some(&valid), Some(at[2]), Some(at[0])), Some(at[0]), "SEL-23, SEL-26");
    assert_eq!(copy_source(Some(&LocationSet::only(at[2])), Some(at[1]), Some(at[0])), Some(at[2]), "SEL-24");
    assert_eq!(copy_source(Some(&LocationSet::default()), Some(at[1]), None), None);
}

/// An operation of a program on a view.
#[derive(Debug, Clone)]
enum Operation {
    Read,
    Write,
    ReadWrite,
    Discard,
    Refresh,
}

/// A view: a box in a matrix of 8 rows of 16 elements, or a line of elements.
fn any_region() -> impl Strategy<Value = Region> {
    let block = (0u64..8, 0u64..16).prop_flat_map(|(r, c)| (Just((r, c)), 1..=8 - r, 1..=16 - c));
    let block = block.prop_map(|((r, c), h, w)| Region::new((r * 16 + c) * 4, 4, &[(h, 64), (w, 4)]));
    let line = (0u64..128).prop_flat_map(|s| (Just(s), 1..=128 - s));
    prop_oneof![block, line.prop_map(|(s, n)| Region::linear(s * 4..(s + n) * 4))]
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => Just(Operation::Read),
        2 => Just(Operation::Write),
        4 => Just(Operation::ReadWrite),
        1 => Just(Operation::Discard),
        1 => Just(Operation::Refresh),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// The directory's map may have many segments between two runs of a region, or many runs of a region in one segment.
    #[test]
    fn counts_of_a_region_are_those_of_its_runs(
        written in proptest::collection::vec((0u64..3000, 1u64..9, 0u64..9, 1u64..300), 1..6),
        (start, run, gap, lines) in (0u64..1000, 1u64..300, 0u64..1500, 1u64..9),
    ) {
        let (mut d, at) = with_devices(16_384, &[1, 2]);
        for (n, (start, run, gap, count)) in written.into_iter().enumerate() {
            d.written(&rows(start, count, run, run + gap), at[n % 2]);
        }
        let region = rows(start, lines, run, run + gap);
        for at in [Location::HOME, at[0], at[1]] {
            let one_by_one = region.ranges().map(|r| d.count(&Region::linear(r), at).0).sum::<u64>();
            prop_assert_eq!(d.count(&region, at).0, one_by_one);
            let valid = region.ranges().all(|r| d.is_valid(&Region::linear(r), at));
            prop_assert_eq!(d.is_valid(&region, at), valid);
        }
    }


    /// Random programs over several views, with home on the host or on a device, and with locations that share memory. A
    /// read must get the bytes that were written last, the invariants must hold, and each step must move only missing bytes.
    #[test]
    fn programs_read_what_they_wrote(
        views in proptest::collection::vec(any_region(), 1..5),
        home_is_host in any::<bool>(),
        steps in proptest::collection::vec((0usize..5, 0usize..5, any_operation()), 1..30),
    ) {
        const BYTES: usize = 512;
        let mut d = Directory::new(BYTES as u64, home_is_host);
        // The memory of each location. Location 0 is home. Location 1 is a device, or another view of home's device if home
        // is not on the host. Locations 2 and 3 are views of one device. Location 4 is another device, or the host if home
        // is not on the host.
        let memory_of = [0usize, if home_is_host { 1 } else { 0 }, 2, 2, 3];
        for (n, &m) in memory_of.iter().enumerate().skip(1) {
            d.add(memory(m as u32), if m == 0 { home_is_host } else { !home_is_host && n == 4 });
        }
        let mut memories = vec![vec![0u8; BYTES]; 4];
        // The expected value of each byte, or `None` for a discarded byte.
        let mut truth: Vec<Option<u8>> = vec![Some(0); BYTES];
        let mut stamp = 0u8;
        for (v, l, act) in steps {
            let region = &views[v % views.len()];
            let at = location(l);
            match act {
                Operation::Discard => {
                    d.discard(region);
                    region.ranges().flatten().for_each(|b| truth[b as usize] = None);
                }
                Operation::Refresh => {
                    d.refresh(region);
                    region.ranges().flatten().for_each(|b| truth[b as usize] = Some(memories[0][b as usize]));
                }
                Operation::Read | Operation::Write | Operation::ReadWrite => {
                    if !matches!(act, Operation::Write) {
                        let (valid, worthless) = d.count(region, at);
                        let steps = d.missing(region, at).unwrap();
                        let arriving: u64 = steps.iter().filter(|s| s.to == at).map(|s| s.region.bytes()).sum();
                        prop_assert!(arriving <= region.bytes() - valid - worthless, "{:?}", steps);
                        for s in steps {
                            prop_assert!(memory_of[s.from.index()] != memory_of[s.to.index()]);
                            for b in s.region.ranges().flatten() {
                                let byte = memories[memory_of[s.from.index()]][b as usize];
                                memories[memory_of[s.to.index()]][b as usize] = byte;
                            }
                            d.holds(&s.region, s.to);
                        }
                        d.holds(region, at);
                        prop_assert!(d.is_valid(region, at));
                        for b in region.ranges().flatten() {
                            if let Some(right) = truth[b as usize] {
                                prop_assert_eq!(memories[memory_of[l]][b as usize], right, "byte {}", b);
                            }
                        }
                    }
                    if !matches!(act, Operation::Read) {
                        stamp = stamp.wrapping_add(1);
                        for b in region.ranges().flatten() {
                            memories[memory_of[l]][b as usize] = stamp;
                            truth[b as usize] = Some(stamp);
                        }
                        d.written(region, at);
                        // Invariants a and c: only the writer holds the region.
                        prop_assert!(d.is_exclusive(region, at));
                    }
                }
            }
            // Invariants b and d: bytes that are valid at a location have the expected values there.
            for (l, &m) in memory_of.iter().enumerate() {
                for view in &views {
                    if d.is_valid(view, location(l)) {
                        for b in view.ranges().flatten() {
                            if let Some(right) = truth[b as usize] {
                                prop_assert_eq!(memories[m][b as usize], right);
                            }
                        }
                    }
                }
            }
        }
    }
    /// `Region::overlaps` must agree with a comparison of all bytes, also for regions with different strides.
    #[test]
    fn regions_overlap_if_their_bytes_do(
        (start, run, dims) in (0u64..40, 1u64..9, proptest::collection::vec((1u64..5, 0u64..7), 0..3)),
        (start2, run2, dims2) in (0u64..400, 1u64..9, proptest::collection::vec((1u64..5, 0u64..7), 0..3)),
        same in any::<bool>(),
    ) {
        let make = |start, run: u64, dims: &[(u64, u64)]| {
            let mut span = run;
            let mut loops: Vec<_> = dims.iter().map(|&(count, gap)| {
                let stride = span + gap;
                span += (count - 1) * stride;
                (count, stride)
            }).collect();
            loops.reverse();
            Region { start, run, dims: loops.into_iter().collect() }
        };
        let a = make(start, run, &dims);
        let b = if same {
            // A section of the same array has the same strides.
            Region { start: start2 % 60, run: run.min(run2), dims: a.dims.iter().map(|d| (1 + d.0 / 2, d.1)).collect() }
        } else {
            make(start2, run2, &dims2)
        };
        let bytes = |r: &Region| r.ranges().flatten().collect::<std::collections::BTreeSet<_>>();
        let have_common_byte = bytes(&a).intersection(&bytes(&b)).next().is_some();
        prop_assert_eq!(a.overlaps(&b), have_common_byte, "{:?} {:?}", a, b);
        prop_assert_eq!(b.overlaps(&a), have_common_byte);
    }

    /// Over a whole program, the directory moves no more bytes than the published protocol. The locations are home (on the host or
    /// on a device) and two accelerators.
    #[test]
    fn never_more_bytes_than_the_published_protocol(
        regions in proptest::collection::vec(any_region(), 1..5),
        home_is_host in any::<bool>(),
        steps in proptest::collection::vec((0usize..5, 0usize..3, any_operation(), any::<bool>()), 1..30),
    ) {
        const BYTES: usize = 512;
        let mut d = Directory::new(BYTES as u64, home_is_host);
        let location_count = 3;
        for n in 1..location_count {
            d.add(memory(n), false);
        }
        let mut published = Published::new(BYTES, 0, location_count as usize);
        let ranges = |r: &Region| r.ranges().map(|r| r.start as usize..r.end as usize).collect::<Vec<_>>();
        let mut views: Vec<_> = regions.iter().map(|r| (r, published.add(ranges(r)))).collect();
        let (mut directory_bytes, mut protocol_bytes) = (0u64, 0u64);
        let mut read = |d: &mut Directory, region: &Region, at: Location| {
            for s in d.missing(region, at).unwrap() {
                directory_bytes += s.region.bytes();
                d.holds(&s.region, s.to);
            }
            d.holds(region, at);
            directory_bytes
        };
        for (v, l, act, renew) in steps {
            let n = v % views.len();
            let (region, view) = views[n];
            let at = location(l % location_count as usize);
            match act {
                Operation::Discard => {
                    d.discard(region);
                    published.discard(view);
                }
                Operation::Refresh => {
                    d.refresh(region);
                    published.refresh(view);
                }
                Operation::Read => {
                    protocol_bytes += published.access(view, at.index(), Use::Read);
                    read(&mut d, region, at);
                }
                Operation::Write => {
                    protocol_bytes += published.access(view, at.index(), Use::Write);
                    d.written(region, at);
                }
                Operation::ReadWrite => {
                    protocol_bytes += published.access(view, at.index(), Use::ReadWrite);
                    read(&mut d, region, at);
                    d.written(region, at);
                }
            }
            // COH-17: a view is dropped and created again while another view keeps the data source alive.
            if renew && views.len() > 1 {
                protocol_bytes += published.remove(view);
                views[n].1 = published.add(ranges(region));
            }
        }
        for (_, view) in views {
            protocol_bytes += published.remove(view);
        }
        let directory_bytes = read(&mut d, &Region::linear(0..BYTES as u64), Location::HOME);
        prop_assert!(directory_bytes <= protocol_bytes, "ours {} bytes, the published protocol {}", directory_bytes, protocol_bytes);
    }
}

/// COH-19: bytes move from one accelerator to another by way of home, wherever home is. Bytes move directly between an accelerator
/// and the host.
#[test]
fn accelerators_exchange_by_way_of_home() {
    let all = Region::linear(0..100);
    for home_is_host in [true, false] {
        let mut d = Directory::new(100, home_is_host);
        let (p, q, host) = (d.add(memory(1), false), d.add(memory(2), true), d.add_host(memory(3)));
        let mut routes = |from, to| {
            d.written(&all, from);
            d.missing(&all, to).unwrap().iter().map(|s| (s.from, s.to)).collect::<Vec<_>>()
        };
        assert_eq!(routes(p, q), [(p, Location::HOME), (Location::HOME, q)]);
        assert_eq!(routes(q, p), [(q, Location::HOME), (Location::HOME, p)]);
        assert_eq!(routes(p, host), [(p, host)]);
        assert_eq!(routes(host, q), [(host, q)]);
        assert_eq!(routes(p, Location::HOME), [(p, Location::HOME)]);
    }
}

/// If a location loses bytes that no other location holds, these bytes are lost until the program writes or discards them.
#[test]
fn lost_bytes_stay_lost_until_written_or_discarded() {
    let region = Region::linear;
    let id = LossId(std::num::NonZeroU32::MIN);
    let mut d = Directory::new(100, true);
    let (p, q, home_alias) = (d.add(memory(1), false), d.add(memory(2), false), d.add(memory(0), true));
    d.written(&region(0..50), p);
    d.holds(&region(0..20), q);
    assert_eq!(d.loss(&region(0..100)), None);
    let before = d.epoch();
    assert!(d.lose(&region(0..100), p, id));
    assert!(d.epoch() > before);
    assert!(!d.lose(&region(0..100), p, id));
    // `q` also holds the first 20 bytes, and `p` never held the last 50.
    assert_eq!(d.loss(&region(0..20)), None);
    assert_eq!(d.loss(&region(10..100)), Some((20..50, id)));
    assert_eq!(d.losses().collect::<Vec<_>>(), [(20..50, id)]);
    assert!(d.is_valid(&region(0..20), q) && d.is_valid(&region(50..100), Location::HOME));
    for at in [Location::HOME, p, q] {
        assert!(!d.is_valid(&region(20..50), at) && !d.is_exclusive(&region(20..50), at));
        assert!(d.missing(&region(20..50), at).unwrap().is_empty());
    }
    assert!(!d.is_discarded(&region(20..50)));
    assert_eq!(d.count(&region(0..100), q), (20, 0));
    d.holds(&region(20..50), q);
    assert_eq!(d.losses().collect::<Vec<_>>(), [(20..50, id)]);
    d.written(&region(30..40), q);
    d.discard(&region(40..50));
    assert_eq!(d.losses().collect::<Vec<_>>(), [(20..30, id)]);
    assert!(d.is_valid(&region(40..50), p) && d.is_valid(&region(30..40), q));
    // Home shares this location's memory, so home loses the bytes too.
    assert!(d.lose(&region(50..60), home_alias, id));
    assert_eq!(d.losses().collect::<Vec<_>>(), [(20..30, id), (50..60, id)]);
}
