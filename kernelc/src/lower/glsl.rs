//! Numbers of the instructions of GLSL.std.450.

pub(super) const ROUND_EVEN: u32 = 2;
pub(super) const TRUNC: u32 = 3;
pub(super) const FABS: u32 = 4;
pub(super) const SABS: u32 = 5;
pub(super) const FLOOR: u32 = 8;
pub(super) const CEIL: u32 = 9;
pub(super) const SIN: u32 = 13;
pub(super) const COS: u32 = 14;
pub(super) const TAN: u32 = 15;
pub(super) const POW: u32 = 26;
pub(super) const EXP: u32 = 27;
pub(super) const LOG: u32 = 28;
pub(super) const EXP2: u32 = 29;
pub(super) const LOG2: u32 = 30;
pub(super) const SQRT: u32 = 31;
pub(super) const UMIN: u32 = 38;
pub(super) const SMIN: u32 = 39;
pub(super) const UMAX: u32 = 41;
pub(super) const SMAX: u32 = 42;
pub(super) const FMA: u32 = 50;
pub(super) const LDEXP: u32 = 53;
pub(super) const FIND_LSB: u32 = 73;
pub(super) const FIND_MSB: u32 = 75;
pub(super) const NMIN: u32 = 79;
pub(super) const NMAX: u32 = 80;
