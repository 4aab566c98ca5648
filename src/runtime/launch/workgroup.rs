//! Chooses the workgroup size of a kernel without tiles, from the domain and the number of threads that the compiler prefers.

/// The maximum size in z. Every device supports this size.
const MAX_IN_Z: u32 = 64;

/// A domain with fewer workgroups would leave multiprocessors of a large GPU idle: an H200 has 132, each of which runs at least four
/// subgroups at a time.
const MIN_WORKGROUPS: u64 = 65;

/// A workgroup size for `domain`. `compiled`: the size with which the kernel was compiled. The result has at most as many threads.
/// `subgroup`: the threads of a subgroup on a GPU; `None` for software, which has few processors. All sizes are in the order x, y, z.
/// Neighbouring threads along x access neighbouring memory.
pub(super) fn workgroup(compiled: [u32; 3], domain: [u64; 3], subgroup: Option<u32>) -> [u32; 3] {
    let threads = compiled.iter().product::<u32>().max(1);
    let is_small = domain.iter().product::<u64>().div_ceil(threads.into()) < MIN_WORKGROUPS;
    // There are only two numbers of threads, because each size of a kernel takes a pipeline.
    let threads = match subgroup {
        Some(subgroup) if is_small => threads.min(subgroup.max(32)),
        _ => threads,
    };
    let (has_y, has_z) = (domain[1] > 1, domain[2] > 1);
    if !has_y && !has_z {
        return [threads, 1, 1];
    }
    // In two dimensions, a workgroup of several rows is faster, because neighbouring rows reuse loaded data. In three dimensions,
    // a workgroup of a single row is faster.
    let widest = if has_z { threads } else { threads.min(32) };
    let x = fitting(widest, domain[0]);
    let y = fitting(threads / x, domain[1]);
    let z = fitting((threads / (x * y)).min(MAX_IN_Z), domain[2]);
    [x, y, z]
}

/// Workgroup sizes that may be faster than `first`, the first choice for this domain. None of these sizes starts more
/// than 9/8 of the domain's threads, unless `first` starts at least as many threads.
pub(super) fn alternatives(first: [u32; 3], domain: [u64; 3]) -> Vec<[u32; 3]> {
    const ROWS: &[[u32; 3]] = &[[32, 1, 1], [64, 1, 1], [128, 1, 1], [256, 1, 1], [512, 1, 1]];
    const PLANES: &[[u32; 3]] = &[[32, 8, 1], [64, 4, 1], [256, 1, 1], [16, 16, 1], [8, 32, 1], [32, 4, 1]];
    const BLOCKS: &[[u32; 3]] = &[[256, 1, 1], [32, 8, 1], [64, 1, 4], [32, 4, 2], [8, 8, 4], [64, 1, 1]];
    let all = match domain {
        [_, 1, 1] => ROWS,
        [_, _, 1] => PLANES,
        _ => BLOCKS,
    };
    let started_threads =
        |size: [u32; 3]| (0..3).map(|k| domain[k].next_multiple_of(size[k].into())).fold(1, u64::saturating_mul);
    let domain_threads = domain.iter().product::<u64>();
    let limit = (domain_threads + domain_threads / 8).max(started_threads(first));
    all.iter().copied().filter(|&size| size != first && started_threads(size) <= limit).collect()
}

/// True if a device supports workgroups of this size. `limit`: the maximum in x, y and z. `invocations`: the maximum of threads.
pub(super) fn fits(size: [u32; 3], limit: [u32; 3], invocations: u32) -> bool {
    size.iter().zip(limit).all(|(&n, limit)| (1..=limit).contains(&n))
        && size.iter().map(|&n| u64::from(n)).product::<u64>() <= u64::from(invocations)
}

/// The largest power of two up to `limit` with which the idle threads are at most an eighth of `extent`. A size of 32 (a warp) or
/// less may leave up to half of all started threads idle.
fn fitting(limit: u32, extent: u64) -> u32 {
    let fits = |n: u32| extent.next_multiple_of(u64::from(n)) <= extent + extent / 8;
    let mut n = 1 << limit.max(1).ilog2();
    while n > 1 && !fits(n) && (n > 32 || u64::from(n / 2) >= extent) {
        n /= 2;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::{alternatives, fits, workgroup};

    #[test]
    fn alternatives_fit_the_domain() {
        assert_eq!(alternatives([256, 1, 1], [1 << 20, 1, 1]), [[32, 1, 1], [64, 1, 1], [128, 1, 1], [512, 1, 1]]);
        assert_eq!(alternatives([64, 1, 1], [40, 1, 1]), [[32, 1, 1]]);
        assert_eq!(alternatives([32, 1, 1], [30, 1, 1]), [[0; 3]; 0]);
        assert_eq!(alternatives([32, 8, 1], [4096, 4096, 1]).len(), 5);
        assert_eq!(alternatives([32, 4, 1], [1000, 3, 1]), [[64, 4, 1], [256, 1, 1]]);
        assert!(alternatives([4, 4, 16], [3, 3, 300]).is_empty());
        assert_eq!(alternatives([64, 4, 1], [64, 64, 64]).len(), 5);
        // tests/kernels/workgroups.cpp needs a search on GPUs too.
        assert_eq!(alternatives([32, 1, 1], [96, 66, 1]), [[32, 8, 1], [32, 4, 1]]);
    }

    #[test]
    fn limits_hold() {
        assert!(fits([64, 4, 1], [1024, 1024, 64], 256) && !fits([64, 4, 1], [1024, 1024, 64], 255));
        assert!(!fits([64, 0, 1], [1024; 3], 1024) && !fits([1, 1, 128], [1024, 1024, 64], 1024));
        assert!(!fits([65535; 3], [65535; 3], 1024));
    }

    #[test]
    fn workgroup_fits_the_domain() {
        let of = |x, y, z| workgroup([256, 1, 1], [x, y, z], None);
        assert_eq!(of(1, 1, 1), [256, 1, 1]);
        assert_eq!(of(1 << 20, 1, 1), [256, 1, 1]);
        assert_eq!(workgroup([64, 1, 1], [1 << 20, 1, 1], Some(32)), [64, 1, 1]);
        assert_eq!(of(4096, 4096, 1), [32, 8, 1]);
        assert_eq!(of(5, 1000, 1), [8, 32, 1]);
        assert_eq!(of(1000, 3, 1), [32, 4, 1]);
        assert_eq!(of(256, 256, 256), [256, 1, 1]);
        assert_eq!(of(100, 100, 100), [32, 8, 1]);
        assert_eq!(of(64, 64, 64), [64, 4, 1]);
        assert_eq!(of(3, 3, 300), [4, 4, 16]);
        assert_eq!(of(1, 1, 300), [1, 1, 64]);
    }

    #[test]
    fn small_domains_use_all_multiprocessors() {
        let of = |domain, subgroup| workgroup([256, 1, 1], domain, Some(subgroup));
        assert_eq!(of([1 << 14, 1, 1], 32), [32, 1, 1]);
        assert_eq!(of([(1 << 14) + 1, 1, 1], 32), [256, 1, 1]);
        assert_eq!(of([100, 100, 1], 32), [32, 1, 1]);
        assert_eq!(of([7, 1000, 1], 8), [8, 4, 1]);
        assert_eq!(of([16, 16, 16], 64), [16, 4, 1]);
        assert_eq!(workgroup([16, 1, 1], [100, 1, 1], Some(64)), [16, 1, 1]);
    }
}
