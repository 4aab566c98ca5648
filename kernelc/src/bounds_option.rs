//! The option `-famp-bounds`.

/// The treatment of accesses outside of arrays and array_views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bounds {
    /// Accesses are not checked.
    #[default]
    Off,
    /// Out-of-bounds reads give 0, and out-of-bounds writes are dropped.
    Zero,
    /// Like `Zero`, and the launch also fails.
    Report,
}
