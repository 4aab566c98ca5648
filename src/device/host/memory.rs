//! (interface draft; being implemented)
/// Memory the host addresses.
#[derive(Debug, Clone, Copy)]
pub struct HostSpan {}
