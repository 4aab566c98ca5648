//! `access_type`: how the host may access an array's memory directly.

use crate::error::{Error, Result};
use crate::kernel::Access;

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

    /// The access to memory. Fails for `None` and `Auto`.
    pub fn access(self) -> Result<Access> {
        match self {
            Self::Read => Ok(Access::Read),
            Self::Write => Ok(Access::Write),
            Self::ReadWrite => Ok(Access::ReadWrite),
            Self::None | Self::Auto => {
                Err(Error::invalid("the access must be REVAMP_ACCESS_READ, _WRITE or _READ_WRITE, not _NONE or _AUTO"))
            }
        }
    }

    /// True if it allows every access that `other` allows.
    pub fn allows(self, other: Self) -> bool {
        self.bits() & 3 & other.bits() == other.bits() & 3
    }
}
