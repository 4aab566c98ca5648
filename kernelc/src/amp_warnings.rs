//! Warnings of the compiler's own, and the options that turn them on and off.

/// A warning of the kernel compiler that an option turns on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AmpWarning {
    /// A kernel only reads an array_view whose elements are not const.
    ReadOnly,
    /// An array_view is destroyed with pending writes.
    Unsynchronized,
}

impl AmpWarning {
    pub const ALL: [Self; 2] = [Self::ReadOnly, Self::Unsynchronized];

    /// The name of its option, after `-W` or `-Wno-`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "amp-read-only",
            Self::Unsynchronized => "amp-unsynchronized",
        }
    }
}

/// The warning that a flag turns on (true) or off.
pub fn named(flag: &str) -> Option<(AmpWarning, bool)> {
    let name = flag.strip_prefix("-W")?;
    let (name, on) = name.strip_prefix("no-").map_or((name, true), |name| (name, false));
    AmpWarning::ALL.into_iter().find(|warning| warning.name() == name).map(|warning| (warning, on))
}
