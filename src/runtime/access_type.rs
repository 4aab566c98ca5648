//! `access_type`: how the host may access an array's memory directly.

/// `access_type` (docs/spec/arrays.md#cpu-access-types).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessType {
    /// No access.
    None,
    /// Read.
    Read,
    /// Write.
    Write,
    /// Read and write.
    ReadWrite,
    /// The library chooses.
    Auto,
}

impl AccessType {
    /// The value in C and C++.
    pub fn bits(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Read => 1,
            Self::Write => 2,
            Self::ReadWrite => 3,
            Self::Auto => 1 << 31,
        }
    }

    /// True if everything `other` allows is allowed.
    pub fn allows(self, other: Self) -> bool {
        self.bits() & 3 & other.bits() == other.bits() & 3
    }
}
