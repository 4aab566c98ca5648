//! The C++ AMP model.
