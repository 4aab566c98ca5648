//! A hash that is the same on every machine and in every version of revamp.

/// FNV-1a. Names of cache files contain the hash, so it must not change with the version of the standard library.
pub(super) fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
