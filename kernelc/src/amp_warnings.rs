//! The kernel compiler's own warnings, and the options that turn them on and off.

/// A warning of the kernel compiler that an option turns on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AmpWarning {
    /// A kernel reads, but never writes, an array_view whose element type is not const.
    ReadOnly,
    /// An array_view is destroyed with pending writes.
    Unsynchronized,
}

impl AmpWarning {
    pub const ALL: [Self; 2] = [Self::ReadOnly, Self::Unsynchronized];

    /// The part of the option after `-W` or `-Wno-`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "amp-read-only",
            Self::Unsynchronized => "amp-unsynchronized",
        }
    }
}

/// The warning that a flag turns on or off, and true if the flag turns it on; `None` for other flags.
pub fn named(flag: &str) -> Option<(AmpWarning, bool)> {
    let name = flag.strip_prefix("-W")?;
    let (name, on) = name.strip_prefix("no-").map_or((name, true), |name| (name, false));
    AmpWarning::ALL.into_iter().find(|warning| warning.name() == name).map(|warning| (warning, on))
}
