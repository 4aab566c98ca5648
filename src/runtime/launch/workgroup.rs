//! The workgroup of a kernel without tiles: from its domain, and from how many threads its compiler thinks best.

/// What every device takes.
const MOST_IN_Z: u32 = 64;

/// Threads along x are neighbours in memory. `threads`: as many as the workgroup that the kernel was compiled with has; both are
/// x, y, z.
pub(super) fn workgroup(compiled: [u32; 3], domain: [u64; 3]) -> [u32; 3] {
    let threads = compiled.iter().product::<u32>().max(1);
    let (two, three) = (domain[1] > 1, domain[2] > 1);
    if !two && !three {
        return [threads, 1, 1];
    }
    // Of two dimensions a block: its rows use what their neighbours have read. Of three a row, which is read in each of them.
    let widest = if three { threads } else { threads.min(32) };
    let x = fitting(widest, domain[0]);
    let y = fitting(threads / x, domain[1]);
    let z = fitting((threads / (x * y)).min(MOST_IN_Z), domain[2]);
    [x, y, z]
}

/// The largest power of two up to `most` with which not more than an eighth of the threads has nothing to do; half of them at
/// least have, if it is less than a warp.
fn fitting(most: u32, extent: u64) -> u32 {
    let fits = |n: u32| extent.next_multiple_of(u64::from(n)) <= extent + extent / 8;
    let mut n = 1 << most.max(1).ilog2();
    while n > 1 && !fits(n) && (n > 32 || u64::from(n / 2) >= extent) {
        n /= 2;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::workgroup;

    #[test]
    fn it_fits_the_domain() {
        let of = |x, y, z| workgroup([256, 1, 1], [x, y, z]);
        assert_eq!(of(1, 1, 1), [256, 1, 1]);
        assert_eq!(of(1 << 20, 1, 1), [256, 1, 1]);
        assert_eq!(workgroup([64, 1, 1], [1 << 20, 1, 1]), [64, 1, 1]);
        assert_eq!(of(4096, 4096, 1), [32, 8, 1]);
        assert_eq!(of(5, 1000, 1), [8, 32, 1]);
        assert_eq!(of(1000, 3, 1), [32, 4, 1]);
        assert_eq!(of(256, 256, 256), [256, 1, 1]);
        assert_eq!(of(100, 100, 100), [32, 8, 1]);
        assert_eq!(of(64, 64, 64), [64, 4, 1]);
        assert_eq!(of(3, 3, 300), [4, 4, 16]);
        assert_eq!(of(1, 1, 300), [1, 1, 64]);
    }
}
