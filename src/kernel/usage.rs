//! How kernels, copies and the host use memory ([`Access`]), and the values of specialization constants ([`SpecValues`]).

/// How an access uses its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads only.
    Read,
    /// Writes without reading.
    Write,
    /// Reads and writes.
    ReadWrite,
}

impl Access {
    /// True for `Write` and `ReadWrite`.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// Values for specialization constants: the id and the value's bytes. A boolean may have 4 bytes or 1.
pub type SpecValues = Vec<(u32, Vec<u8>)>;
