//! The processor that the program runs on.

use crate::config::{self, HostKernels};
use std::sync::OnceLock;

/// Which of a native kernel's functions runs: 0, 1, 2 are those for x86-64-v1, -v3, -v4. `None` if none is to.
pub fn level() -> Option<usize> {
    static LEVEL: OnceLock<usize> = OnceLock::new();
    match config::get().host_kernels {
        HostKernels::Coroutines => None,
        HostKernels::Native(most) => Some(most.min(*LEVEL.get_or_init(highest))),
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
