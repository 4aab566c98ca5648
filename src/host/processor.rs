//! The instruction-set level of the host's processor.

use crate::config::{self, HostKernels};
use std::sync::OnceLock;

/// Selects a native kernel's function for this processor: 0 for x86-64-v1, 1 for -v3, 2 for -v4. `None` if native
/// kernels are disabled.
pub fn level() -> Option<usize> {
    static LEVEL: OnceLock<usize> = OnceLock::new();
    match config::get().host_kernels {
        HostKernels::Coroutines => None,
        HostKernels::Native(max_level) => Some(max_level.min(*LEVEL.get_or_init(highest))),
    }
}

#[cfg(target_arch = "x86_64")]
fn highest() -> usize {
    macro_rules! has {
        ($($feature:tt)*) => { true $(&& std::arch::is_x86_feature_detected!($feature))* };
    }
    if !has!("avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe") {
        return 0;
    }
    if has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl") { 2 } else { 1 }
}

#[cfg(not(target_arch = "x86_64"))]
fn highest() -> usize {
    0
}
