//! How a kernel, a copy or the host uses memory, and what a kernel is specialized with.

/// How an access uses its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads.
    Read,
    /// Writes without reading.
    Write,
    /// Both.
    ReadWrite,
}

impl Access {
    /// True unless it only reads.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// Values for specialization constants: id and bytes (4 or 8, or 1 for a bool taken as 4).
pub type SpecValues = Vec<(u32, Vec<u8>)>;
