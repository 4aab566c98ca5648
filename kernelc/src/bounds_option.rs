//! The option `-famp-bounds`.

/// What becomes of accesses outside of arrays and array_views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bounds {
    /// They are not checked.
    #[default]
    Off,
    /// Reads give 0, writes are dropped.
    Zero,
    /// Likewise, and the launch fails.
    Report,
}
