//! Tests of strided copies: comparisons with naive loops.
#![allow(unsafe_code)]

use super::*;
use crate::geometry::Layout;
use proptest::prelude::*;

fn span(bytes: &mut [u8]) -> HostSpan {
    // SAFETY: the tests keep the slice alive, and access it only after the operation.
    unsafe { HostSpan::new(bytes.as_mut_ptr(), bytes.len() as u64) }
}

fn numbered(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251 + 1) as u8).collect()
}

/// The source and destination offset of every byte of a plan, by naive loops.
fn naive_offsets(plan: &CopyPlan) -> Vec<(usize, usize)> {
    let mut runs = vec![(plan.source, plan.destination)];
    for d in &plan.dims {
        runs = runs
            .iter()
            .flat_map(|&(s, t)| (0..d.count).map(move |i| (s + i * d.source, t + i * d.destination)))
            .collect();
    }
    runs.iter().flat_map(|&(s, t)| (0..plan.run).map(move |k| ((s + k) as usize, (t + k) as usize))).collect()
}

/// One dimension of a section: its length, the numbers of elements before and after it in the source's box, and the same two
/// numbers for the destination's box.
type Dim = (u64, u64, u64, u64, u64);

/// Plans that copy between sections of the same extent in two boxes of different sizes, each with the byte lengths of both boxes.
fn plans() -> impl Strategy<Value = (CopyPlan, usize, usize)> {
    let element = prop_oneof![Just(1u64), Just(2), Just(3), Just(4), Just(8), Just(12), Just(16), Just(20), Just(32)];
    let dims = proptest::collection::vec((1u64..6, 0u64..3, 0u64..3, 0u64..3, 0u64..3), 1..5);
    (element, dims, 0u64..9, 0u64..9).prop_map(|(element, dims, source_at, destination_at)| {
        let part: Vec<u64> = dims.iter().map(|d| d.0).collect();
        let outer = |at: u64, before: &dyn Fn(&Dim) -> (u64, u64)| {
            let whole: Vec<u64> = dims.iter().map(|d| d.0 + before(d).0 + before(d).1).collect();
            let origin: Vec<u64> = dims.iter().map(|d| before(d).0).collect();
            let layout = Layout::packed(at, element, &whole);
            (layout.section(&origin, &part), layout.hull().end as usize)
        };
        let (s, s_len) = outer(source_at, &|d| (d.1, d.2));
        let (t, t_len) = outer(destination_at, &|d| (d.3, d.4));
        (CopyPlan::new(&s, &t).unwrap(), s_len, t_len)
    })
}

proptest! {
    #[test]
    fn copies_move_exactly_what_naive_loops_move((plan, s_len, t_len) in plans(), cut in 1u64..200) {
        let mut source = numbered(s_len);
        let mut expected = vec![0u8; t_len];
        for (s, t) in naive_offsets(&plan) { expected[t] = source[s]; }
        let mut got = vec![0u8; t_len];
        let (s, t) = (span(&mut source), span(&mut got));
        copy(&plan, s, t, 0, u64::MAX).unwrap();
        prop_assert_eq!(t.to_vec(), expected.clone());
        t.fill(0);
        let mut at = 0;
        while at < plan.bytes() {
            copy(&plan, s, t, at, at + cut).unwrap();
            at += cut;
        }
        prop_assert_eq!(t.to_vec(), expected);
    }

    #[test]
    fn gather_then_scatter_is_copy((plan, s_len, t_len) in plans(), cut in 1u64..200) {
        let mut source = numbered(s_len);
        let offsets = naive_offsets(&plan);
        let (mut expected, mut got) = (vec![0u8; t_len], vec![0u8; t_len]);
        for &(s, t) in &offsets { expected[t] = source[s]; }
        let packed: Vec<u8> = offsets.iter().map(|&(s, _)| source[s]).collect();
        let mut staging = vec![0u8; cut as usize];
        let (s, t, mid) = (span(&mut source), span(&mut got), span(&mut staging));
        let mut at = 0;
        while at < plan.bytes() {
            let to = (at + cut).min(plan.bytes());
            gather(&plan, s, mid, at, to).unwrap();
            prop_assert_eq!(&mid.to_vec()[..(to - at) as usize], &packed[at as usize..to as usize]);
            scatter(&plan, mid, t, at, to).unwrap();
            at = to;
        }
        prop_assert_eq!(t.to_vec(), expected);
    }

    /// If both sides are in the same block, even overlapping, a copy works as if it read the whole source before the first write.
    #[test]
    fn overlapping_copies_are_memmove((mut plan, s_len, t_len) in plans(), shift in 0u64..64, back in any::<bool>()) {
        if back { plan.source += shift } else { plan.destination += shift }
        let mut block = numbered(s_len.max(t_len) + 64);
        let old = block.clone();
        let mut expected = block.clone();
        for (s, t) in naive_offsets(&plan) { expected[t] = old[s]; }
        let all = span(&mut block);
        copy(&plan, all, all, 0, u64::MAX).unwrap();
        prop_assert_eq!(all.to_vec(), expected);
    }
}

#[test]
fn large_copies_over_the_pool() {
    for threads in [1, 2, 4] {
        let pool = ThreadPool::new(threads);
        let whole = Layout::packed(0, 4, &[1500, 1000]);
        // A block of columns.
        let tall = whole.section(&[100, 17], &[1399, 701]);
        // Every second element of 4 bytes.
        let every = Layout { offset: 4, element: 4, dims: SmallVec::from_slice(&[(700_000, 8)]) };
        // Runs that are longer than a piece.
        let long = Layout { offset: 0, element: 1, dims: SmallVec::from_slice(&[(4, 1_400_001), (1_400_000, 1)]) };
        let pairs = [
            CopyPlan::linear(5, 0, 5_000_003),
            CopyPlan::new(&tall, &Layout::packed(8, 4, &[1399, 701])).unwrap(),
            CopyPlan::new(&every, &Layout::packed(0, 4, &[700_000])).unwrap(),
            CopyPlan::new(&long, &Layout::packed(0, 1, &[4, 1_400_000])).unwrap(),
        ];
        for plan in pairs {
            let mut source = numbered(6_000_000);
            let mut expected = vec![0u8; 6_000_000];
            for (s, t) in naive_offsets(&plan) {
                expected[t] = source[s];
            }
            let (mut got, mut staging) = (vec![0u8; 6_000_000], vec![0u8; plan.bytes() as usize]);
            let (s, t, mid) = (span(&mut source), span(&mut got), span(&mut staging));
            copy_parallel(&pool, &plan, s, t).unwrap();
            assert!(t.to_vec() == expected);
            t.fill(0);
            gather_parallel(&pool, &plan, s, mid).unwrap();
            scatter_parallel(&pool, &plan, mid, t).unwrap();
            assert!(t.to_vec() == expected);
            // Overlapping copies are not split.
            let mut moved = numbered(6_000_000);
            let old = moved.clone();
            let mut plan = plan;
            plan.destination += 1;
            let mut expected = old.clone();
            for (s, t) in naive_offsets(&plan) {
                expected[t] = old[s];
            }
            let all = span(&mut moved);
            copy_parallel(&pool, &plan, all, all).unwrap();
            assert!(all.to_vec() == expected);
        }
    }
}

#[test]
fn invalid_plans_are_errors_that_contain_the_sizes() {
    let (mut a, mut b) = (vec![0u8; 100], vec![0u8; 50]);
    let (a, b) = (span(&mut a), span(&mut b));
    let e = copy(&CopyPlan::linear(60, 0, 41), a, b, 0, 1).unwrap_err();
    assert!(e.message.contains("60") && e.message.contains("101") && e.message.contains("100"), "{e}");
    let e = copy(&CopyPlan::linear(0, 10, 41), a, b, 0, 1).unwrap_err();
    assert!(e.message.contains("destination") && e.message.contains("51"), "{e}");
    let e = gather(&CopyPlan::linear(0, 0, 60), a, b, 0, 60).unwrap_err();
    assert!(e.message.contains("60") && e.message.contains("50"), "{e}");
    assert!(scatter(&CopyPlan::linear(0, 0, 60), b, a, 0, 60).is_err());
    gather(&CopyPlan::linear(0, 0, 60), a, b, 10, 60).unwrap();
    assert!(copy(&CopyPlan::linear(u64::MAX, 0, 2), a, b, 0, 1).is_err());
    let mut huge = CopyPlan::linear(0, 0, 4);
    huge.dims.push(crate::geometry::CopyDim { count: u64::MAX / 2, source: 4, destination: 4 });
    assert!(copy(&huge, a, b, 0, 1).is_err());
    huge.dims[0].count = 0;
    copy(&huge, a, b, 0, u64::MAX).unwrap();
    assert!(a.sub(90..101).is_err() && a.sub(std::ops::Range { start: 5, end: 4 }).is_err());
    assert_eq!((a.sub(90..100).unwrap().len(), a.sub(90..100).unwrap().address()), (10, a.address() + 90));
}

#[test]
#[cfg(target_pointer_width = "64")]
fn copies_reach_beyond_4_gib() {
    let block = HostBlock::new(5 << 30).unwrap();
    block.span().sub((5 << 30) - 8..5 << 30).unwrap().fill(9);
    let mut end = [0u8; 8];
    copy(&CopyPlan::linear((5 << 30) - 8, 0, 8), block.span(), span(&mut end), 0, 8).unwrap();
    assert_eq!(end, [9; 8]);
}
